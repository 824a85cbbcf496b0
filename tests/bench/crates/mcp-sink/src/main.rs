//! `mcp-sink stdio|http [--port P] [--reply json|sse] [--pages N] [--per-page M]`
//!
//! `PAGES`, `PER_PAGE` and `REPLY` in the environment do the same as the options.
//! Over HTTP the first line on stdout is `listening 127.0.0.1:PORT`.

mod http;
mod proto;
mod stdio;

fn main() -> std::io::Result<()> {
    let env = |k: &str| std::env::var(k).ok();
    let mut transport = String::from("stdio");
    let mut port = 0u16;
    let mut reply = env("REPLY").unwrap_or_else(|| "json".into());
    let mut pages: usize = env("PAGES").and_then(|v| v.parse().ok()).unwrap_or(1);
    let mut per_page: usize = env("PER_PAGE").and_then(|v| v.parse().ok()).unwrap_or(0);
    let mut args = std::env::args().skip(1);
    while let Some(a) = args.next() {
        let mut val = || args.next().unwrap_or_else(|| panic!("{a} takes a value"));
        match a.as_str() {
            "stdio" | "http" => transport = a,
            "--port" => port = val().parse().expect("--port"),
            "--reply" => reply = val(),
            "--pages" => pages = val().parse().expect("--pages"),
            "--per-page" => per_page = val().parse().expect("--per-page"),
            _ => panic!("unknown argument {a}"),
        }
    }
    let sink = proto::Sink::new(proto::Config { pages, per_page });
    if transport == "stdio" {
        return stdio::run(sink);
    }
    let as_ = if reply == "sse" { http::ReplyAs::Sse } else { http::ReplyAs::Json };
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(http::run(sink, port, as_))
}
