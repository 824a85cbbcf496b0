//! What stands between a client and its server in the field: a TLS proxy, proxies that buffer, time
//! out, limit and redirect, and forward proxies. All are Debian's own programs, with configurations
//! of these tests on free ports of this machine; `cargo xtask peers` installs them.

mod forward;
mod nginx;
mod program;
mod upstream;

use snodo::http::Http;
use snodo::{Client, Error, ProtocolVersion};

use program::Program;
use upstream::Upstream;

const AUTHORITY: &str = include_str!("certificates/ca.pem");
const CLIENT: &str = include_str!("certificates/client.pem");
const CLIENT_KEY: &str = include_str!("certificates/client.key");
const SERVER: &str = include_str!("certificates/server.pem");
const SERVER_KEY: &str = include_str!("certificates/server.key");

/// A client of the stateless version: connecting sends nothing.
async fn client(http: Http) -> Result<Client, Error> {
    Client::builder().protocol([ProtocolVersion::V2026_07_28]).connect(http).await
}

/// nginx with servers of ours before an upstream; `@PORT@` is where it listens.
async fn nginx(servers: &str) -> Program {
    let http = "
        access_log off;
        client_body_temp_path @FOLDER@/body; proxy_temp_path @FOLDER@/proxy;
        fastcgi_temp_path @FOLDER@/fastcgi; uwsgi_temp_path @FOLDER@/uwsgi;
        scgi_temp_path @FOLDER@/scgi;
        proxy_http_version 1.1;
    ";
    let configuration = format!(
        "daemon off; master_process off; pid @FOLDER@/pid; error_log @FOLDER@/log;
         events {{ worker_connections 512; }}
         http {{ {http} {servers} }}"
    );
    let files = [
        ("nginx.conf", configuration.as_str()),
        ("ca.pem", AUTHORITY),
        ("server.pem", SERVER),
        ("server.key", SERVER_KEY),
    ];
    let arguments = ["-p", "@FOLDER@", "-c", "@FOLDER@/nginx.conf", "-e", "@FOLDER@/log"];
    Program::start("nginx", &files, &arguments).await
}

/// What nginx needs to speak TLS and HTTP/2.
const TLS: &str = "
    listen 127.0.0.1:@PORT@ ssl http2;
    ssl_certificate @FOLDER@/server.pem; ssl_certificate_key @FOLDER@/server.key;
";
