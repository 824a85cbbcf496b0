//! Messages over a child process: the floor.

use crate::wire::{Kind, Wire, answer, page};
use bench_kit::{Cfg, Result};
use std::io::{Read as _, Write as _};
use std::process::Stdio;
use std::time::Instant;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process as tp;
use tokio::sync::Mutex;

enum Io {
    Tokio {
        child: tp::Child,
        tx: tp::ChildStdin,
        rx: tp::ChildStdout,
    },
    Blocking {
        child: std::process::Child,
        tx: std::process::ChildStdin,
        rx: std::process::ChildStdout,
    },
}

pub struct Inner {
    io: Io,
    /// Bytes read and not yet used: `buf[at..]`, scanned for a newline up to `seen`.
    buf: Vec<u8>,
    at: usize,
    seen: usize,
    out: Vec<u8>,
    id: u64,
}

pub struct Client {
    pub wire: Wire,
    scan: bool,
    inner: Mutex<Inner>,
}

impl Inner {
    async fn flush(&mut self) -> Result<()> {
        match &mut self.io {
            Io::Tokio { tx, .. } => tx.write_all(&self.out).await?,
            Io::Blocking { tx, .. } => tx.write_all(&self.out)?,
        }
        self.out.clear();
        Ok(())
    }

    /// Writes `out`, reading meanwhile: with enough in flight both pipes fill up,
    /// and a side that only writes would wait for one that only writes.
    async fn pump(&mut self) -> Result<()> {
        let mut done = 0;
        while done < self.out.len() {
            self.room();
            let Io::Tokio { tx, rx, .. } = &mut self.io else {
                return self.flush().await;
            };
            tokio::select! {
                biased;
                n = tx.write(&self.out[done..]) => done += n?,
                n = rx.read_buf(&mut self.buf) => if n? == 0 {
                    return Err("the server closed the pipe".into());
                },
            }
        }
        self.out.clear();
        Ok(())
    }

    /// Makes room to read into.
    fn room(&mut self) {
        if self.at == self.buf.len() {
            self.buf.clear();
            (self.at, self.seen) = (0, 0);
        }
        if self.buf.capacity() - self.buf.len() < 32 * 1024 {
            if self.at > 0 {
                self.buf.drain(..self.at);
                self.seen -= self.at;
                self.at = 0;
            }
            self.buf.reserve(64 * 1024.max(self.buf.len()));
        }
    }

    async fn fill(&mut self) -> Result<()> {
        self.room();
        let n = match &mut self.io {
            Io::Tokio { rx, .. } => rx.read_buf(&mut self.buf).await?,
            Io::Blocking { rx, .. } => {
                let len = self.buf.len();
                let cap = self.buf.capacity();
                // Spare capacity is read into and only then counted.
                let spare = unsafe {
                    std::slice::from_raw_parts_mut(self.buf.as_mut_ptr().add(len), cap - len)
                };
                let n = rx.read(spare)?;
                unsafe { self.buf.set_len(len + n) };
                n
            }
        };
        if n == 0 { Err("the server closed the pipe".into()) } else { Ok(()) }
    }

    /// The next whole line already read, as a range of `buf`.
    fn take_line(&mut self) -> Option<(usize, usize)> {
        match memchr::memchr(b'\n', &self.buf[self.seen..]) {
            Some(p) => {
                let (from, to) = (self.at, self.seen + p);
                self.at = to + 1;
                self.seen = self.at;
                Some((from, to))
            }
            None => {
                self.seen = self.buf.len();
                None
            }
        }
    }

    async fn line(&mut self) -> Result<(usize, usize)> {
        loop {
            if let Some(l) = self.take_line() {
                return Ok(l);
            }
            self.fill().await?;
        }
    }
}

impl Client {
    pub async fn connect(cfg: &Cfg) -> Result<Client> {
        let wire = Wire::new(&cfg.protocol);
        let io = if cfg.variant == "blocking" {
            let mut child = std::process::Command::new(&cfg.server[0])
                .args(&cfg.server[1..])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()?;
            let (tx, rx) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
            Io::Blocking { child, tx, rx }
        } else {
            let mut child = tp::Command::new(&cfg.server[0])
                .args(&cfg.server[1..])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()?;
            let (tx, rx) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
            Io::Tokio { child, tx, rx }
        };
        let inner = Inner {
            io,
            buf: Vec::with_capacity(64 * 1024),
            at: 0,
            seen: 0,
            out: Vec::new(),
            id: 0,
        };
        let c = Client { wire, scan: cfg.variant == "scan", inner: Mutex::new(inner) };
        if c.wire.modern {
            c.call(Kind::Discover).await?;
        } else {
            let mut i = c.inner.lock().await;
            i.out.extend_from_slice(c.wire.initialize().as_bytes());
            i.out.push(b'\n');
            i.flush().await?;
            i.line().await?;
            i.out.extend_from_slice(
                b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
            );
            i.flush().await?;
        }
        Ok(c)
    }

    async fn ask(&self, i: &mut Inner, k: Kind<'_>) -> Result<(usize, usize)> {
        i.id += 1;
        let id = i.id;
        self.wire.write(&mut i.out, id, k);
        i.out.push(b'\n');
        i.flush().await?;
        let l = i.line().await?;
        Ok(l)
    }

    pub async fn call(&self, k: Kind<'_>) -> Result<usize> {
        let mut i = self.inner.lock().await;
        let (a, b) = self.ask(&mut i, k).await?;
        let r = answer(&i.buf[a..b], self.scan)?;
        match (r.id, r.result) {
            (Some(id), Some(n)) if id == i.id => Ok(n),
            _ => Err("not the answer".into()),
        }
    }

    pub async fn list_all(&self) -> Result<usize> {
        let mut i = self.inner.lock().await;
        let mut cursor: Option<String> = None;
        let mut pages = 0;
        loop {
            let (a, b) = self.ask(&mut i, Kind::List(cursor.as_deref())).await?;
            cursor = page(&i.buf[a..b], self.scan)?;
            pages += 1;
            if cursor.is_none() {
                return Ok(pages);
            }
        }
    }

    pub async fn listen(&self, n: usize) -> Result<usize> {
        let mut i = self.inner.lock().await;
        let (a, b) = self.ask(&mut i, Kind::Listen(n)).await?;
        answer(&i.buf[a..b], self.scan)?;
        let mut got = 0;
        loop {
            let (a, b) = i.line().await?;
            let r = answer(&i.buf[a..b], self.scan)?;
            if r.id.is_some() {
                return Ok(got);
            }
            got += usize::from(r.update);
        }
    }

    /// Keeps `conc` requests in flight from one loop; all that is ready goes out in one write.
    pub async fn window(&self, text: &str, conc: usize, count: usize) -> Result<Vec<u32>> {
        let mut i = self.inner.lock().await;
        let i = &mut *i;
        // Blocking pipes cannot be pumped both ways.
        let conc = if let Io::Blocking { .. } = i.io { conc.min(64) } else { conc };
        let mut started: Vec<Option<Instant>> = vec![None; conc];
        let mut lat = Vec::with_capacity(count);
        let mut sent = 0;
        while sent < conc.min(count) {
            self.wire.write(&mut i.out, sent as u64, Kind::Echo(text));
            i.out.push(b'\n');
            started[sent] = Some(Instant::now());
            sent += 1;
        }
        i.pump().await?;
        while lat.len() < count {
            while let Some((a, b)) = i.take_line() {
                let r = answer(&i.buf[a..b], self.scan)?;
                let slot = r.id.ok_or("no id")? as usize;
                let t = started.get_mut(slot).and_then(Option::take).ok_or("unknown id")?;
                if r.result.is_none() {
                    return Err("no result".into());
                }
                lat.push(t.elapsed().as_nanos().min(u32::MAX as u128) as u32);
                if sent < count {
                    self.wire.write(&mut i.out, slot as u64, Kind::Echo(text));
                    i.out.push(b'\n');
                    started[slot] = Some(Instant::now());
                    sent += 1;
                }
            }
            if !i.out.is_empty() {
                i.pump().await?;
            }
            if lat.len() < count {
                i.fill().await?;
            }
        }
        i.id = i.id.max(conc as u64);
        Ok(lat)
    }

    pub async fn close(self) {
        match self.inner.into_inner().io {
            Io::Tokio { mut child, tx, rx } => {
                drop((tx, rx));
                let _ = child.wait().await;
            }
            Io::Blocking { mut child, tx, rx } => {
                drop((tx, rx));
                let _ = child.wait();
            }
        }
    }
}
