//! The study over a child process: slots, one shared buffer, two flush rules.

use crate::model::{Message, Scan, incoming, peek_id, read};
use bench_kit::{Cfg, Result};
use bytes::Bytes;
use std::collections::{HashMap, VecDeque};
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::process::Child;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;

fn spawn(cfg: &Cfg) -> Result<(Child, pipe::Sender, pipe::Receiver)> {
    let mut child = tokio::process::Command::new(&cfg.server[0])
        .args(&cfg.server[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let tx: OwnedFd = child.stdin.take().unwrap().into_owned_fd()?;
    let rx: OwnedFd = child.stdout.take().unwrap().into_owned_fd()?;
    Ok((child, pipe::Sender::from_owned_fd(tx)?, pipe::Receiver::from_owned_fd(rx)?))
}

enum Slot {
    Free(u32),
    Waiting(Option<Waker>),
    Ready(Bytes),
    Gone,
}

struct State {
    /// Requests not yet written, back to back.
    out: Vec<u8>,
    slots: Vec<Slot>,
    free: u32,
    waiting: usize,
    flush_asked: bool,
    closed: bool,
    /// The one subscription this study supports.
    notes: VecDeque<String>,
    note_waker: Option<Waker>,
}

const NONE: u32 = u32::MAX;

struct Shared {
    st: Mutex<State>,
    tx: pipe::Sender,
    flush: Notify,
    eager: bool,
    scan: bool,
}

pub struct Client {
    sh: Arc<Shared>,
    child: Child,
    reader: JoinHandle<()>,
    writer: JoinHandle<()>,
}

/// Gives the slot back if the caller goes away before its answer came.
struct Guard<'a> {
    sh: &'a Shared,
    at: u32,
    taken: bool,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if !self.taken {
            let mut st = self.sh.st.lock().unwrap();
            let free = st.free;
            if let Slot::Waiting(_) = st.slots[self.at as usize] {
                st.slots[self.at as usize] = Slot::Gone;
            } else {
                st.slots[self.at as usize] = Slot::Free(free);
                st.free = self.at;
            }
        }
    }
}

impl Shared {
    /// Reserves a slot and queues a request; the id is the number of the slot.
    fn send(&self, req: impl FnOnce(u64, &mut Vec<u8>)) -> Result<u32> {
        let mut st = self.st.lock().unwrap();
        if st.closed {
            return Err("closed".into());
        }
        let at = st.free;
        let at = if at == NONE {
            st.slots.push(Slot::Waiting(None));
            st.slots.len() as u32 - 1
        } else {
            let Slot::Free(next) =
                std::mem::replace(&mut st.slots[at as usize], Slot::Waiting(None))
            else {
                unreachable!()
            };
            st.free = next;
            at
        };
        let alone = st.waiting == 0 && st.out.is_empty();
        st.waiting += 1;
        req(u64::from(at), &mut st.out);
        st.out.push(b'\n');
        if alone || self.eager {
            // Nobody else has something to say: no detour over the writer.
            if let Ok(n) = self.tx.try_write(&st.out) {
                if n == st.out.len() {
                    st.out.clear();
                    return Ok(at);
                }
                st.out.drain(..n);
            }
        }
        if !st.flush_asked {
            st.flush_asked = true;
            drop(st);
            self.flush.notify_one();
        }
        Ok(at)
    }

    async fn answer(&self, at: u32) -> Result<Bytes> {
        let mut guard = Guard { sh: self, at, taken: false };
        let g = &mut guard;
        std::future::poll_fn(move |cx| {
            let mut st = self.st.lock().unwrap();
            let closed = st.closed;
            let free = st.free;
            match &mut st.slots[at as usize] {
                Slot::Ready(_) => {
                    let Slot::Ready(b) =
                        std::mem::replace(&mut st.slots[at as usize], Slot::Free(free))
                    else {
                        unreachable!()
                    };
                    st.free = at;
                    g.taken = true;
                    Poll::Ready(Ok(b))
                }
                Slot::Waiting(_) if closed => Poll::Ready(Err("closed".into())),
                Slot::Waiting(w) => {
                    if !w.as_ref().is_some_and(|w| w.will_wake(cx.waker())) {
                        *w = Some(cx.waker().clone());
                    }
                    Poll::Pending
                }
                _ => unreachable!(),
            }
        })
        .await
    }

    fn settle(&self, lines: &mut Vec<Bytes>, wake: &mut Vec<Waker>) {
        let mut st = self.st.lock().unwrap();
        for line in lines.drain(..) {
            match incoming(&line, self.scan) {
                Message::Answer(id) if (id as usize) < st.slots.len() => {
                    let free = st.free;
                    match &mut st.slots[id as usize] {
                        Slot::Waiting(w) => {
                            wake.extend(w.take());
                            st.slots[id as usize] = Slot::Ready(line);
                            st.waiting -= 1;
                        }
                        Slot::Gone => {
                            st.slots[id as usize] = Slot::Free(free);
                            st.free = id as u32;
                            st.waiting -= 1;
                        }
                        _ => {}
                    }
                }
                Message::Update(uri) => {
                    st.notes.push_back(uri);
                    wake.extend(st.note_waker.take());
                }
                _ => {}
            }
        }
        drop(st);
        for w in wake.drain(..) {
            w.wake();
        }
    }
}

/// Lines up to this long are copied out of the buffer; a longer one takes it along.
const MOVE: usize = 16 * 1024;

/// What was read and not yet handed on; `seen` is how far it was looked at.
struct Inbox {
    buf: Vec<u8>,
    seen: usize,
}

impl Inbox {
    fn new() -> Self {
        Inbox { buf: Vec::with_capacity(64 * 1024), seen: 0 }
    }

    async fn read(&mut self, rx: &mut pipe::Receiver) -> bool {
        if self.buf.capacity() - self.buf.len() < 8 * 1024 {
            // Growing a large block remaps it; nothing is copied.
            self.buf.reserve(64 * 1024.max(self.buf.len()));
        }
        matches!(rx.read_buf(&mut self.buf).await, Ok(n) if n > 0)
    }

    /// Hands on the whole lines.
    fn lines(&mut self, mut f: impl FnMut(Bytes)) {
        let mut at = 0;
        while let Some(p) = memchr::memchr(b'\n', &self.buf[self.seen..]) {
            let end = self.seen + p;
            if end - at <= MOVE {
                f(Bytes::copy_from_slice(&self.buf[at..end]));
                (at, self.seen) = (end + 1, end + 1);
            } else {
                let mut rest = Vec::with_capacity(64 * 1024);
                rest.extend_from_slice(&self.buf[end + 1..]);
                let whole = std::mem::replace(&mut self.buf, rest);
                f(Bytes::from(whole).slice(at..end));
                (at, self.seen) = (0, 0);
            }
        }
        if at > 0 {
            self.buf.drain(..at);
        }
        self.seen = self.buf.len();
    }
}

impl Client {
    pub fn spawn(cfg: &Cfg, eager: bool, scan: bool) -> Result<Client> {
        let (child, tx, mut rx) = spawn(cfg)?;
        let st = State {
            out: Vec::with_capacity(4096),
            slots: Vec::new(),
            free: NONE,
            waiting: 0,
            flush_asked: false,
            closed: false,
            notes: VecDeque::new(),
            note_waker: None,
        };
        let sh = Arc::new(Shared { st: Mutex::new(st), tx, flush: Notify::new(), eager, scan });
        let s = sh.clone();
        let reader = tokio::spawn(async move {
            let mut inbox = Inbox::new();
            let (mut lines, mut wake) = (Vec::new(), Vec::new());
            while inbox.read(&mut rx).await {
                inbox.lines(|l| lines.push(l));
                if !lines.is_empty() {
                    s.settle(&mut lines, &mut wake);
                }
            }
            let mut st = s.st.lock().unwrap();
            st.closed = true;
            for slot in &mut st.slots {
                if let Slot::Waiting(Some(w)) = slot {
                    w.wake_by_ref();
                }
            }
        });
        let s = sh.clone();
        let writer = tokio::spawn(async move {
            let mut mine: Vec<u8> = Vec::with_capacity(4096);
            loop {
                s.flush.notified().await;
                loop {
                    {
                        let mut st = s.st.lock().unwrap();
                        st.flush_asked = false;
                        if st.out.is_empty() {
                            break;
                        }
                        // While this batch is on its way the next one gathers in the other buffer.
                        std::mem::swap(&mut mine, &mut st.out);
                    }
                    let mut at = 0;
                    while at < mine.len() {
                        match s.tx.try_write(&mine[at..]) {
                            Ok(n) => at += n,
                            Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {
                                if s.tx.writable().await.is_err() {
                                    return;
                                }
                            }
                            Err(_) => return,
                        }
                    }
                    mine.clear();
                }
            }
        });
        Ok(Client { sh, child, reader, writer })
    }

    pub async fn call<R: Scan + serde::de::DeserializeOwned>(
        &self,
        req: impl FnOnce(u64, &mut Vec<u8>),
    ) -> Result<R> {
        let at = self.sh.send(req)?;
        read(&self.sh.answer(at).await?, self.sh.scan)
    }

    pub async fn listen(&self, req: impl FnOnce(u64, &mut Vec<u8>)) -> Result<usize> {
        let at = self.sh.send(req)?;
        let mut end = std::pin::pin!(self.sh.answer(at));
        let mut got = 0;
        let mut batch = VecDeque::new();
        std::future::poll_fn(|cx| {
            {
                let mut st = self.sh.st.lock().unwrap();
                std::mem::swap(&mut batch, &mut st.notes);
                st.note_waker = Some(cx.waker().clone());
            }
            for uri in batch.drain(..) {
                got += usize::from(uri.starts_with("bench://"));
            }
            match end.as_mut().poll(cx) {
                Poll::Ready(r) => Poll::Ready(r.map(|_| ())),
                Poll::Pending => Poll::Pending,
            }
        })
        .await?;
        let rest = std::mem::take(&mut self.sh.st.lock().unwrap().notes);
        Ok(got + rest.len())
    }

    pub async fn close(mut self) {
        self.writer.abort();
        let _ = (&mut self.writer).await;
        let _ = self.child.start_kill();
        let _ = self.child.wait().await;
        let _ = self.reader.await;
    }
}

/// The usual shape, for comparison.
pub struct Actor {
    tx: mpsc::Sender<Vec<u8>>,
    pending: Arc<Mutex<HashMap<u64, oneshot::Sender<Bytes>>>>,
    next: AtomicU64,
    child: Child,
}

impl Actor {
    pub fn spawn(cfg: &Cfg) -> Result<Actor> {
        let (child, mut wr, mut rx) = spawn(cfg)?;
        let (tx, mut inbox) = mpsc::channel::<Vec<u8>>(1024);
        tokio::spawn(async move {
            let mut batch = Vec::new();
            let mut out = Vec::new();
            while inbox.recv_many(&mut batch, 256).await > 0 {
                for b in batch.drain(..) {
                    out.extend_from_slice(&b);
                }
                if wr.write_all(&out).await.is_err() {
                    return;
                }
                out.clear();
            }
        });
        let pending: Arc<Mutex<HashMap<u64, oneshot::Sender<Bytes>>>> = Default::default();
        let p = pending.clone();
        tokio::spawn(async move {
            let mut inbox = Inbox::new();
            while inbox.read(&mut rx).await {
                inbox.lines(|l| {
                    if let Some(t) = peek_id(&l).and_then(|id| p.lock().unwrap().remove(&id)) {
                        let _ = t.send(l);
                    }
                });
            }
            p.lock().unwrap().clear();
        });
        Ok(Actor { tx, pending, next: AtomicU64::new(1), child })
    }

    pub async fn call<R: Scan + serde::de::DeserializeOwned>(
        &self,
        req: impl FnOnce(u64, &mut Vec<u8>),
    ) -> Result<R> {
        let id = self.next.fetch_add(1, Relaxed);
        let (tx, rx) = oneshot::channel();
        self.pending.lock().unwrap().insert(id, tx);
        let mut o = Vec::with_capacity(512);
        req(id, &mut o);
        o.push(b'\n');
        self.tx.send(o).await.map_err(|_| "closed")?;
        read(&rx.await?, false)
    }

    pub async fn close(mut self) {
        let _ = self.child.start_kill();
        let _ = self.child.wait().await;
    }
}
