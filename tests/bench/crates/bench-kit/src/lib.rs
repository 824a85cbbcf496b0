//! A driver is a type that implements [`Driver`] and a `main` that calls [`main`].
//! See `tests/bench/README.md` for the command line and the JSON line.

pub mod meter;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[global_allocator]
static ALLOC: meter::Counting = meter::Counting;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Transport {
    Stdio,
    Http,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    Echo,
    Blob(usize),
    ListAll,
    Listen(usize),
    /// Connect and close, one after another.
    Connect,
    /// Hold `count` connected clients at once and weigh them.
    Idle,
}

#[derive(Clone, Debug)]
pub struct Cfg {
    pub transport: Transport,
    /// 1 for `seq`.
    pub conc: usize,
    pub seq: bool,
    pub op: Op,
    pub count: usize,
    pub warmup: usize,
    /// `default`, or a protocol version.
    pub protocol: String,
    pub url: String,
    /// The program to spawn over stdio, and its arguments.
    pub server: Vec<String>,
    pub text: String,
    pub multi: bool,
    pub allocs: bool,
    pub t0_ns: u64,
    pub variant: String,
}

impl Cfg {
    pub fn modern(&self) -> bool {
        self.protocol == "2026-07-28"
    }

    fn parse() -> Cfg {
        let mut c = Cfg {
            transport: Transport::Stdio,
            conc: 1,
            seq: true,
            op: Op::Echo,
            count: 1000,
            warmup: usize::MAX,
            protocol: "2026-07-28".into(),
            url: String::new(),
            server: vec!["mcp-sink".into(), "stdio".into()],
            text: String::new(),
            multi: false,
            allocs: false,
            t0_ns: 0,
            variant: String::new(),
        };
        let mut text_len = 64usize;
        let mut it = std::env::args().skip(1);
        while let Some(a) = it.next() {
            if a == "--allocs" {
                c.allocs = true;
                continue;
            }
            let v = it.next().unwrap_or_else(|| panic!("{a} takes a value"));
            let (head, tail) = v.split_once(':').unwrap_or((v.as_str(), ""));
            match a.as_str() {
                "--transport" => {
                    c.transport = if v == "http" { Transport::Http } else { Transport::Stdio }
                }
                "--mode" => match head {
                    "seq" => (c.seq, c.conc) = (true, 1),
                    "conc" => (c.seq, c.conc) = (false, tail.parse().expect("conc:N")),
                    _ => panic!("--mode seq|conc:N"),
                },
                "--op" => {
                    c.op = match head {
                        "echo" => Op::Echo,
                        "blob" => Op::Blob(tail.parse().expect("blob:SIZE")),
                        "listall" => Op::ListAll,
                        "listen" => Op::Listen(tail.parse().expect("listen:N")),
                        "connect" => Op::Connect,
                        "idle" => Op::Idle,
                        _ => panic!("unknown op {v}"),
                    }
                }
                "--count" => c.count = v.parse().expect("--count"),
                "--warmup" => c.warmup = v.parse().expect("--warmup"),
                "--protocol" => {
                    c.protocol = match v.as_str() {
                        "stateless" => "2026-07-28".into(),
                        "initialize" => "2025-11-25".into(),
                        _ => v,
                    }
                }
                "--url" => c.url = v,
                "--server" => c.server = v.split_whitespace().map(str::to_owned).collect(),
                "--text" => text_len = v.parse().expect("--text"),
                "--rt" => c.multi = v == "multi",
                "--t0-ns" => c.t0_ns = v.parse().expect("--t0-ns"),
                "--variant" => c.variant = v,
                _ => panic!("unknown option {a}"),
            }
        }
        c.text = (0..text_len).map(|i| (b'a' + (i % 26) as u8) as char).collect();
        if c.warmup == usize::MAX {
            c.warmup = match c.op {
                Op::Echo => (c.count / 20).clamp(1, 500),
                Op::Blob(_) => 1,
                _ => 0,
            };
        }
        c
    }
}

/// One client library under test.
pub trait Driver: Send + Sync + 'static {
    type Client: Send + Sync + 'static;
    const NAME: &'static str;
    const VERSION: &'static str;

    /// Makes a client and brings it to the point where a tool can be called.
    fn connect(cfg: Arc<Cfg>) -> impl Future<Output = Result<Self::Client>> + Send;
    /// The protocol version in force.
    fn protocol(c: &Self::Client) -> String;
    /// Calls `echo`; the length of the text that came back.
    fn echo(c: &Self::Client, text: &str) -> impl Future<Output = Result<usize>> + Send;
    /// Calls `blob`; the length of the text that came back.
    fn blob(c: &Self::Client, bytes: usize) -> impl Future<Output = Result<usize>> + Send;
    /// Lists every tool of every page; how many there are (0 where it does not look).
    fn list_all(c: &Self::Client) -> impl Future<Output = Result<usize>> + Send;
    /// Subscribes to `bench://listen/N` and takes notifications to the end; how many came.
    fn listen(c: &Self::Client, n: usize) -> impl Future<Output = Result<usize>> + Send;
    fn close(c: Self::Client) -> impl Future<Output = ()> + Send;

    /// A driver with a loop of its own for `conc:N` echo returns the latencies here.
    fn window(
        _c: &Self::Client,
        _cfg: &Cfg,
        _count: usize,
    ) -> impl Future<Output = Result<Option<Vec<u32>>>> + Send {
        async { Ok(None) }
    }
}

async fn one<D: Driver>(c: &D::Client, cfg: &Cfg) -> Result<usize> {
    match cfg.op {
        Op::Echo => {
            let n = D::echo(c, &cfg.text).await?;
            if n != cfg.text.len() {
                return Err(format!("echo returned {n} bytes").into());
            }
            Ok(1)
        }
        Op::Blob(size) => {
            let n = D::blob(c, size).await?;
            if n < size {
                return Err(format!("blob returned {n} bytes").into());
            }
            Ok(1)
        }
        Op::ListAll => D::list_all(c).await,
        Op::Listen(n) => {
            let got = D::listen(c, n).await?;
            if got != n {
                return Err(format!("{got} of {n} notifications arrived").into());
            }
            Ok(got)
        }
        Op::Connect | Op::Idle => unreachable!(),
    }
}

/// Runs `count` operations; returns (latencies in ns, sum of what they returned).
async fn work<D: Driver>(
    c: &Arc<D::Client>,
    cfg: &Arc<Cfg>,
    count: usize,
) -> Result<(Vec<u32>, usize)> {
    if cfg.op == Op::Echo && !cfg.seq {
        if let Some(lat) = D::window(c, cfg, count).await? {
            let n = lat.len();
            return Ok((lat, n));
        }
    }
    if cfg.seq {
        let mut lat = Vec::with_capacity(count);
        let mut sum = 0;
        for _ in 0..count {
            let t = Instant::now();
            sum += one::<D>(c, cfg).await?;
            lat.push(t.elapsed().as_nanos().min(u32::MAX as u128) as u32);
        }
        return Ok((lat, sum));
    }
    let next = Arc::new(AtomicUsize::new(0));
    let mut set = Vec::with_capacity(cfg.conc);
    for _ in 0..cfg.conc {
        let (c, cfg, next) = (c.clone(), cfg.clone(), next.clone());
        set.push(tokio::spawn(async move {
            let mut lat = Vec::with_capacity(count / cfg.conc + 16);
            let mut sum = 0;
            while next.fetch_add(1, Relaxed) < count {
                let t = Instant::now();
                sum += one::<D>(&c, &cfg).await?;
                lat.push(t.elapsed().as_nanos().min(u32::MAX as u128) as u32);
            }
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>((lat, sum))
        }));
    }
    let mut lat = Vec::with_capacity(count);
    let mut sum = 0;
    for h in set {
        let (l, s) = h.await??;
        lat.extend_from_slice(&l);
        sum += s;
    }
    Ok((lat, sum))
}

fn pct(sorted: &[u32], p: f64) -> f64 {
    if sorted.is_empty() {
        return 0.0;
    }
    let i = ((sorted.len() as f64 * p) as usize).min(sorted.len() - 1);
    (sorted[i] as f64 / 10.0).round() / 100.0
}

/// Opens many clients: one after another, or all at once to weigh them.
async fn connect_many<D: Driver>(
    cfg: &Arc<Cfg>,
    o: &mut serde_json::Map<String, serde_json::Value>,
) -> Result<()> {
    // One client first, so that what is paid once per process is not counted.
    let c = D::connect(cfg.clone()).await?;
    o.insert("protocol".into(), D::protocol(&c).into());
    D::close(c).await;
    let (rss_base, _) = meter::rss();
    let (u0, s0) = meter::cpu();
    let t = Instant::now();
    let mut lat = Vec::new();
    let mut held = Vec::new();
    meter::count(cfg.allocs);
    for _ in 0..cfg.count {
        let t = Instant::now();
        let c = D::connect(cfg.clone()).await?;
        lat.push(t.elapsed().as_nanos().min(u32::MAX as u128) as u32);
        if cfg.op == Op::Idle { held.push(c) } else { D::close(c).await }
    }
    meter::count(false);
    let wall = t.elapsed().as_secs_f64();
    let (u1, s1) = meter::cpu();
    let (rss_now, peak) = meter::rss();
    lat.sort_unstable();
    let a = meter::allocations();
    o.extend([
        ("ops".to_string(), cfg.count.into()),
        ("wall_s".into(), wall.into()),
        ("cpu_s".into(), (u1 - u0 + s1 - s0).into()),
        ("user_s".into(), (u1 - u0).into()),
        ("sys_s".into(), (s1 - s0).into()),
        ("p50_us".into(), pct(&lat, 0.5).into()),
        ("p99_us".into(), pct(&lat, 0.99).into()),
        ("rss_peak_kib".into(), peak.into()),
        (
            "rss_per_client_kib".into(),
            ((rss_now as f64 - rss_base as f64) / cfg.count as f64).into(),
        ),
    ]);
    if cfg.allocs {
        o.insert("allocs_per_op".into(), (a.0 as f64 / cfg.count as f64).into());
        o.insert("alloc_bytes_per_op".into(), (a.1 as f64 / cfg.count as f64).into());
    }
    for c in held {
        D::close(c).await;
    }
    Ok(())
}

async fn run<D: Driver>(cfg: Arc<Cfg>) -> Result<serde_json::Value> {
    let (rss0, _) = meter::rss();
    let cpu_start = meter::cpu();
    let mut out = serde_json::json!({
        "driver": D::NAME, "version": D::VERSION, "variant": cfg.variant,
        "transport": if cfg.transport == Transport::Http { "http" } else { "stdio" },
        "mode": if cfg.seq { "seq".to_string() } else { format!("conc:{}", cfg.conc) },
        "op": format!("{:?}", cfg.op), "count": cfg.count,
        "rt": if cfg.multi { "multi" } else { "current" },
    });
    let o = out.as_object_mut().unwrap();

    if cfg.op == Op::Idle || cfg.op == Op::Connect {
        connect_many::<D>(&cfg, o).await?;
        return Ok(out);
    }

    let t = Instant::now();
    let c = Arc::new(D::connect(cfg.clone()).await?);
    let connect_us = t.elapsed().as_nanos() as f64 / 1e3;
    let ready_ns = meter::mono_ns();
    let cpu_ready = meter::cpu();
    let (rss_ready, _) = meter::rss();
    if cfg.warmup > 0 {
        work::<D>(&c, &cfg, cfg.warmup).await?;
    }
    meter::count(cfg.allocs);
    let a0 = meter::allocations();
    let (u0, s0) = meter::cpu();
    let t = Instant::now();
    let (mut lat, sum) = work::<D>(&c, &cfg, cfg.count).await?;
    let wall = t.elapsed().as_secs_f64();
    let (u1, s1) = meter::cpu();
    let a1 = meter::allocations();
    meter::count(false);
    let (_, peak) = meter::rss();
    lat.sort_unstable();
    let ops = if let Op::Listen(_) = cfg.op { sum } else { cfg.count };
    o.extend([
        ("protocol".to_string(), D::protocol(&c).into()),
        ("ops".into(), ops.into()),
        ("items".into(), sum.into()),
        ("wall_s".into(), wall.into()),
        ("cpu_s".into(), (u1 - u0 + s1 - s0).into()),
        ("user_s".into(), (u1 - u0).into()),
        ("sys_s".into(), (s1 - s0).into()),
        ("p50_us".into(), pct(&lat, 0.5).into()),
        ("p99_us".into(), pct(&lat, 0.99).into()),
        ("rss_start_kib".into(), rss0.into()),
        ("rss_ready_kib".into(), rss_ready.into()),
        ("rss_peak_kib".into(), peak.into()),
        ("connect_us".into(), connect_us.into()),
        (
            "connect_cpu_us".into(),
            ((cpu_ready.0 + cpu_ready.1 - cpu_start.0 - cpu_start.1) * 1e6).into(),
        ),
        ("cold_cpu_us".into(), ((cpu_ready.0 + cpu_ready.1) * 1e6).into()),
    ]);
    if cfg.t0_ns > 0 {
        o.insert("cold_ready_us".into(), ((ready_ns - cfg.t0_ns) as f64 / 1e3).into());
    }
    if cfg.allocs {
        o.insert("allocs_per_op".into(), ((a1.0 - a0.0) as f64 / ops as f64).into());
        o.insert("alloc_bytes_per_op".into(), ((a1.1 - a0.1) as f64 / ops as f64).into());
    }
    if let Ok(c) = Arc::try_unwrap(c) {
        D::close(c).await;
    }
    Ok(out)
}

pub fn main<D: Driver>() {
    let cfg = Arc::new(Cfg::parse());
    let rt = if cfg.multi {
        tokio::runtime::Builder::new_multi_thread().enable_all().build()
    } else {
        tokio::runtime::Builder::new_current_thread().enable_all().build()
    }
    .expect("runtime");
    match rt.block_on(run::<D>(cfg)) {
        Ok(v) => println!("{v}"),
        Err(e) => {
            println!("{}", serde_json::json!({"driver": D::NAME, "error": e.to_string()}));
            std::process::exit(1);
        }
    }
    rt.shutdown_timeout(std::time::Duration::from_millis(200));
}
