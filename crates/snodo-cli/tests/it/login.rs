//! Logging in, being known, and logging out: a server and its authorization server in one, on loopback.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{Ran, command};

/// A request, as far as it matters here.
struct Asked {
    /// `METHOD path?query`
    line: String,
    token: Option<String>,
    body: String,
}

/// Reads a request from a connection.
fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|read| *read > 0)?;
    let mut words = first.split(' ');
    let line = format!("{} {}", words.next()?, words.next()?);
    let (mut token, mut length) = (None, 0);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "authorization" => token = Some(value.to_owned()),
            "content-length" => length = value.parse().ok()?,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { line, token, body: String::from_utf8(body).ok()? })
}

/// What is answered: status, more headers, JSON.
type Answer = (&'static str, String, Value);

fn answer(base: &str, asked: &Asked) -> Answer {
    let plain = |body| ("200 OK", String::new(), body);
    match asked.line.as_str() {
        "GET /.well-known/oauth-protected-resource/mcp" => {
            plain(json!({ "resource": format!("{base}/mcp"), "authorization_servers": [base] }))
        }
        "GET /.well-known/oauth-authorization-server" => plain(json!({
            "issuer": base,
            "authorization_endpoint": format!("{base}/authorize"),
            "token_endpoint": format!("{base}/token"),
            "registration_endpoint": format!("{base}/register"),
            "revocation_endpoint": format!("{base}/revoke"),
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
        })),
        "POST /register" => {
            let mut client: Value = serde_json::from_str(&asked.body).expect("JSON");
            client["client_id"] = json!("client-1");
            ("201 Created", String::new(), client)
        }
        "POST /token" => plain(json!({
            "access_token": "hunter2", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "hunter3",
        })),
        "POST /revoke" => plain(json!({})),
        "POST /mcp" if asked.token.as_deref() != Some("Bearer hunter2") => {
            let place = format!("{base}/.well-known/oauth-protected-resource/mcp");
            let challenge = format!("www-authenticate: Bearer resource_metadata=\"{place}\"\r\n");
            ("401 Unauthorized", challenge, json!({}))
        }
        "POST /mcp" => {
            let message: Value = serde_json::from_str(&asked.body).expect("JSON");
            let mut result = match message["method"].as_str() {
                Some("server/discover") => json!({
                    "supportedVersions": [snodo_version()], "capabilities": { "tools": {} },
                }),
                _ => {
                    json!({ "tools": [{ "name": "secret-tool", "inputSchema": { "type": "object" } }] })
                }
            };
            result["resultType"] = json!("complete");
            plain(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
        }
        _ => ("404 Not Found", String::new(), json!({})),
    }
}

/// The newest version, as `--help` tells it first.
fn snodo_version() -> String {
    let help = Ran::of(command(&["--help"]).output().expect("it runs")).stdout;
    let versions =
        help.split("Speak only these versions of the protocol, of ").nth(1).expect("them");
    versions.split(',').next().expect("one").to_owned()
}

/// Starts both servers; gives their address, and the requests that came.
fn serve() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let base = format!("http://{}", listener.local_addr().expect("an address"));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (own, log) = (base.clone(), Arc::clone(&seen));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let Some(asked) = read(&stream) else { continue };
            let (status, headers, body) = answer(&own, &asked);
            log.lock().expect("no panic").push(asked.line);
            let body = body.to_string();
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    (base, seen)
}

/// Plays the person at the browser: waits for the address, and comes back with a code.
fn visit(file: &Path) {
    let end = Instant::now() + Duration::from_secs(20);
    let url = loop {
        match fs::read_to_string(file) {
            Ok(url) if url.ends_with('\n') => break url.trim().to_owned(),
            _ => assert!(Instant::now() < end, "no page was opened"),
        }
        thread::yield_now();
    };
    let value = |name: &str| {
        let (_, query) = url.split_once('?').expect("a query");
        let pair = query.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}=")));
        pair.expect("it is there").replace("%3A", ":").replace("%2F", "/")
    };
    let (redirect, state) = (value("redirect_uri"), value("state"));
    let place = redirect.strip_prefix("http://").expect("loopback");
    let (host, path) = place.split_once('/').expect("a path");
    let mut stream = TcpStream::connect(host).expect("it listens");
    write!(
        stream,
        "GET /{path}?code=c&state={state} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"
    )
    .expect("it reads");
    let mut page = String::new();
    stream.read_to_string(&mut page).expect("a page");
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
}

#[test]
fn a_login_is_made_once_used_by_later_commands_and_given_up() {
    let (base, seen) = serve();
    let url = format!("{base}/mcp");
    let folder: PathBuf =
        std::env::temp_dir().join(format!("snodo-cli-login-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let store = folder.join("credentials.json");
    let run = |words: &[&str]| {
        let output = command(words).env("SNODO_CREDENTIALS", &store).output();
        Ran::of(output.expect("it runs"))
    };
    let before = run(&["tools", &url]);
    assert_eq!(before.code, 4);
    assert!(before.stderr.contains("try: snodo login"), "{}", before.stderr);

    let (browser, page) = (folder.join("browser.sh"), folder.join("page"));
    fs::write(&browser, format!("printf '%s\\n' \"$1\" > '{}'\n", page.display()))
        .expect("a script");
    let person = {
        let page = page.clone();
        thread::spawn(move || visit(&page))
    };
    let made = run(&["login", &url, "--browser", &format!("sh {}", browser.display())]);
    assert_eq!(
        (made.code, made.stdout),
        (0, format!("logged in at {base} for {url}\n")),
        "{}",
        made.stderr
    );
    assert!(!made.stderr.contains("hunter"), "{}", made.stderr);
    person.join().expect("no panic");

    let tools = run(&["tools", &url]);
    assert_eq!((tools.code, tools.stdout.as_str()), (0, "secret-tool\n"), "{}", tools.stderr);
    let known = run(&["whoami"]);
    assert_eq!(known.stdout, format!("{url}  at {base}, as client-1\n"));
    let wire = run(&["tools", &url, "-vv"]);
    assert!(!wire.stderr.contains("hunter"), "{}", wire.stderr);

    let out = run(&["logout", &url]);
    assert_eq!((out.code, out.stdout), (0, format!("logged out of {url}\n")), "{}", out.stderr);
    assert!(seen.lock().expect("no panic").iter().any(|line| line == "POST /revoke"));
    assert_eq!(run(&["whoami"]).stdout, "");
    let after = run(&["tools", &url]);
    assert_eq!(after.code, 4);
    assert!(after.stderr.contains("snodo login"), "{}", after.stderr);
    fs::remove_dir_all(folder).expect("it is there");
}
