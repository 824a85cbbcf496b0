//! The doctor before servers that are broken, each in its own way.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use serde_json::{Value, json};

use crate::{document, snodo, with_server};

/// A server of the initialize era, with lines of a shell in place of some of its answers.
fn server(rules: &str) -> String {
    let script = format!(
        r#"say() {{ printf '%s\n' "$1"; }}
result() {{ say "{{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}}"; }}
refuse() {{ say "{{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{{\"code\":$1,\"message\":\"no\"}}}}"; }}
while IFS= read -r line; do
    id=${{line#*\"id\":}}; id=${{id%%[,\}}]*}}
    version=${{line#*\"protocolVersion\":\"}}; version=${{version%%\"*}}
    case $line in
    {rules}
    *'"initialize"'*) result "{{\"protocolVersion\":\"$version\",\"capabilities\":{{\"tools\":{{}}}},\"serverInfo\":{{\"name\":\"s\",\"version\":\"1\"}}}}";;
    *'"tools/list"'*) result '{{"tools":[{{"name":"t","description":"d","inputSchema":{{"type":"object"}}}}]}}';;
    *'"ping"'*) result '{{}}';;
    *'"id":'*) refuse -32601;;
    esac
done"#
    );
    script
}

/// What the doctor says of such a server: status, verdict, and its findings as one text.
fn examined(rules: &str) -> (i32, String, String) {
    let script = server(rules);
    told(&["doctor", "--timeout", "2", "--", "sh", "-c", &script])
}

fn told(words: &[&str]) -> (i32, String, String) {
    let (code, report) = document(words);
    let verdict = report["verdict"].as_str().expect("a verdict").to_owned();
    let findings = report["findings"].as_array().expect("findings").iter();
    let line = |finding: &Value| {
        format!("{}: {} => {}", finding["level"], finding["what"], finding["fix"])
    };
    (code, verdict, findings.map(line).collect::<Vec<_>>().join("\n"))
}

fn assert_found(found: &(i32, String, String), code: i32, verdict: &str, words: &[&str]) {
    let (had, was, findings) = found;
    assert_eq!((*had, was.as_str()), (code, verdict), "{findings}");
    for words in words {
        assert!(findings.contains(words), "{words} in {findings}");
    }
}

#[test]
fn a_sound_server_works() {
    let found = examined("none) ;;");
    assert_found(&found, 0, "works", &[]);
    assert_eq!(found.2, "");
    assert_found(&told(&["doctor", "demo"]), 0, "works", &[]);
}

#[test]
fn a_server_that_logs_to_its_output_is_told_so() {
    let noisy = r#"*'"tools/list"'*) echo 'INFO listing tools'
        result '{"tools":[{"name":"t","description":"d","inputSchema":{"type":"object"}}]}';;"#;
    assert_found(&examined(noisy), 1, "flawed", &["INFO listing tools", "error stream"]);
}

#[test]
fn a_server_that_ends_at_once_is_told_with_its_last_words() {
    let found = told(&["doctor", "--", "sh", "-c", "echo 'no API key' >&2; exit 7"]);
    assert_found(&found, 4, "broken", &["status 7", "no API key", "by itself"]);
}

#[test]
fn a_server_that_says_nothing_is_told_to_answer() {
    let found =
        told(&["doctor", "--timeout", "0.5", "--", "sh", "-c", "while read -r line; do :; done"]);
    assert_found(&found, 4, "broken", &["is not answered", "answer every request"]);
}

#[test]
fn a_server_whose_version_nobody_speaks_is_told_so() {
    let odd = r#"*'"initialize"'*) result '{"protocolVersion":"1999-12-31","capabilities":{},"serverInfo":{"name":"s","version":"1"}}';;"#;
    let (code, report) = document(&["doctor", "--", "sh", "-c", &server(odd)]);
    assert_eq!((code, &report["verdict"]), (4, &json!("broken")), "{report}");
    assert!(report.to_string().contains("version"), "{report}");
}

#[test]
fn a_list_that_never_ends_and_a_missing_list_are_told_apart() {
    let endless = r#"*'"tools/list"'*) result '{"tools":[],"nextCursor":"again"}';;"#;
    assert_found(&examined(endless), 1, "flawed", &["nextCursor"]);
    let missing = r#"*'"tools/list"'*) refuse -32601;;"#;
    assert_found(
        &examined(missing),
        1,
        "flawed",
        &["it says that it has tools", "leave the capability out"],
    );
}

#[test]
fn tools_that_clients_cannot_use_are_named() {
    let odd = r#"*'"tools/list"'*) result '{"tools":[{"name":"a b","inputSchema":{}},{"name":"a b","inputSchema":{"type":"object"}},{"inputSchema":{}}]}';;"#;
    let words = [
        "twice",
        "is not one of an object",
        "do not take the name",
        "no description",
        "left out of the list",
    ];
    assert_found(&examined(odd), 1, "flawed", &words);
}

#[test]
fn a_tool_that_does_not_exist_has_to_be_refused_and_a_ping_answered() {
    let kind = r#"*'"tools/call"'*) result '{"content":[]}';;
        *'"ping"'*) refuse -32601;;"#;
    let words = ["does not exist is not refused", "a ping is not answered"];
    assert_found(&examined(kind), 1, "flawed", &words);
}

/// Answers every request with this head and body, and gives the address.
fn http(head: &'static str, body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
            let (mut line, mut length) = (String::new(), 0);
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                let lower = line.to_ascii_lowercase();
                if let Some(value) = lower.strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap_or(0);
                }
                line.clear();
            }
            let mut sent = vec![0; length];
            let _ = reader.read_exact(&mut sent);
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 {head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
        }
    });
    url
}

#[test]
fn over_http_a_wrong_path_a_web_page_and_a_bare_401_are_told_apart() {
    let path = told(&["doctor", &http("404 Not Found\r\ncontent-type: text/plain", "nothing")]);
    assert_found(&path, 4, "broken", &["ends in /mcp"]);
    let page = told(&["doctor", &http("200 OK\r\ncontent-type: text/html", "<html></html>")]);
    assert_found(&page, 4, "broken", &["that is a web page"]);
    let bare = told(&["doctor", &http("401 Unauthorized", "")]);
    assert_found(&bare, 4, "broken", &["without WWW-Authenticate", "snodo login"]);
    let gone = told(&["doctor", "http://127.0.0.1:9/mcp"]);
    assert_found(&gone, 4, "broken", &["is the server running"]);
}

#[test]
fn people_read_a_line_for_each_step_and_the_sum() {
    let ran = snodo(&with_server(&["doctor"]));
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    for line in [
        "probe            older  ",
        "initialize       ok ",
        "tools            ok     2 in",
        "wrong: ",
        "  fix: ",
    ] {
        assert!(ran.stdout.contains(line), "{line} in {}", ran.stdout);
    }
    assert!(ran.stdout.ends_with("\nIt works, and breaks the specification.\n"), "{}", ran.stdout);
}
