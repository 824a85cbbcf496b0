//! Every command against the demo, at every version it speaks.

use serde_json::json;

use crate::{document, snodo};

const VERSIONS: [&str; 3] = ["2026-07-28", "2025-11-25", "2025-06-18"];

#[test]
fn the_first_command_of_the_readme_says_hello() {
    let ran = snodo(&["call", "demo", "echo", "text=hello"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "hello\n", ""));
}

#[test]
fn every_version_answers_every_command() {
    for version in VERSIONS {
        let ask = |words: &[&str]| {
            let (code, document) = document(&[words, &["--protocol", version]].concat());
            assert_eq!(code, 0, "{version} {words:?}: {document}");
            document
        };
        let told = ask(&["inspect", "demo"]);
        let era = if version == "2026-07-28" { "stateless" } else { "initialize" };
        assert_eq!((&told["protocolVersion"], &told["era"]), (&json!(version), &json!(era)));
        assert_eq!(told["serverInfo"]["name"], "demo");
        assert!(told["capabilities"]["tools"].is_object(), "{told}");
        assert!(told["instructions"].is_string(), "{told}");

        let names = |words: &[&str], list: &str, key: &str| -> Vec<String> {
            let document = ask(words);
            assert_eq!(document.as_object().expect("an object").len(), 1, "{document}");
            let items = document[list].as_array().expect("a list");
            items.iter().map(|item| item[key].as_str().expect("a name").to_owned()).collect()
        };
        assert_eq!(names(&["tools", "demo"], "tools", "name"), ["echo", "add", "slow", "fail"]);
        let resources = names(&["resources", "demo"], "resources", "uri");
        assert_eq!(resources, ["demo://readme", "demo://pixel"]);
        let templates = names(&["templates", "demo"], "resourceTemplates", "uriTemplate");
        assert_eq!(templates, ["demo://greeting/{name}"]);
        assert_eq!(names(&["prompts", "demo"], "prompts", "name"), ["greet", "introduce"]);

        let said = ask(&["call", "demo", "add", "a=1", "b=41"]);
        assert_eq!(said["content"], json!([{ "type": "text", "text": "42" }]));
        assert_eq!(said["structuredContent"], json!({ "sum": 42 }));
        let read = ask(&["read", "demo", "demo://greeting/Ada%20L"]);
        assert_eq!(read["contents"][0]["text"], "Hello, Ada L!\n");
        let rendered = ask(&["prompt", "demo", "greet", "name=7", "language=German"]);
        assert_eq!(rendered["messages"][0]["content"]["text"], "Greet 7 in German.");
        let params = r#"{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"language","value":"E"}}"#;
        let completed = ask(&["request", "demo", "completion/complete", "--params", params]);
        assert_eq!(completed["completion"]["values"], json!(["English", "Esperanto"]));
        assert_eq!(ask(&["ping", "demo"])["protocolVersion"], version);
    }
}

#[test]
fn options_stand_before_the_command_or_after_it() {
    let before = ["--json", "--protocol", "2025-11-25", "--timeout", "5", "inspect", "demo"];
    let after = ["inspect", "demo", "--timeout=5", "--protocol=2025-11-25", "--json"];
    let (before, after) = (snodo(&before), snodo(&after));
    assert_eq!(before.document()["protocolVersion"], "2025-11-25");
    assert_eq!(before.stdout, after.stdout);
}

#[test]
fn a_tool_that_reports_an_error_is_shown_and_ends_with_1() {
    let ran = snodo(&["call", "demo", "fail", "message=out of ink"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, "out of ink\n"));
    assert_eq!(ran.stderr, "snodo: the tool reported an error\n");
    let (code, said) = document(&["call", "demo", "fail"]);
    assert_eq!((code, &said["isError"]), (1, &json!(true)));
}

#[test]
fn a_server_s_refusal_ends_with_3_and_is_told_in_its_words() {
    let ran = snodo(&["call", "demo", "nothing"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (3, ""));
    assert!(ran.stderr.contains("unknown tool") && ran.stderr.contains("-32602"), "{}", ran.stderr);
    let (code, told) = document(&["read", "demo", "demo://nothing", "--protocol", "2025-06-18"]);
    let data = json!({ "uri": "demo://nothing" });
    let error =
        json!({ "kind": "protocol", "code": -32002, "message": "no such resource", "data": data });
    assert_eq!((code, told), (3, json!({ "error": error })));
}

#[test]
fn a_call_that_takes_too_long_ends_with_4() {
    let words = ["call", "demo", "slow", "steps=1000", "--timeout", "0.05"];
    let ran = snodo(&words);
    assert_eq!((ran.code, ran.stdout.as_str()), (4, ""));
    let (code, told) = document(&words);
    assert_eq!(
        (code, &told["error"]["kind"], &told["error"]["code"]),
        (4, &json!("transport"), &json!(-32001))
    );
    assert_eq!(told["error"]["data"], json!({ "timeoutMs": 50 }));
}

#[test]
fn progress_goes_to_the_error_stream_when_it_is_wanted() {
    let words = ["call", "demo", "slow", "steps=2", "delay_ms=1"];
    let quiet = snodo(&words);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("done after 2 steps\n", ""));
    let told = snodo(&[&words[..], &["-v"]].concat());
    assert_eq!(told.stdout, quiet.stdout);
    let lines: Vec<&str> =
        told.stderr.lines().filter(|line| !line.starts_with(['>', '<', '*'])).collect();
    assert_eq!(lines, ["progress: 1/2 step 1", "progress: 2/2 step 2"]);
}

#[test]
fn lists_and_contents_are_readable() {
    let shown = |words: &[&str]| snodo(words).stdout;
    assert!(
        shown(&["tools", "demo"])
            .starts_with("echo  Says what it is told\nadd   Adds two numbers\n")
    );
    assert_eq!(shown(&["read", "demo", "demo://pixel"]), "[demo://pixel: image/gif, 42 bytes]\n");
    let table = shown(&["inspect", "demo", "--protocol", "2025-11-25"]);
    assert!(table.contains("protocol      2025-11-25 (initialize)\n"), "{table}");
}

#[test]
fn a_request_can_be_shown_and_not_sent() {
    let (code, shown) = document(&["call", "demo", "add", "a=1", "b=2", "--dry-run"]);
    let call = json!({ "name": "add", "arguments": { "a": 1, "b": 2 } });
    assert_eq!((code, shown), (0, json!({ "method": "tools/call", "params": call })));
    // Nothing is started where no schema is needed.
    let words = ["call", "no-such-program", "t", "a:=1", "--dry-run"];
    assert_eq!(document(&words).0, 0);
    let (_, read) = document(&["read", "demo", "a:b", "--dry-run"]);
    assert_eq!(read, json!({ "method": "resources/read", "params": { "uri": "a:b" } }));
    assert_eq!(snodo(&["tools", "demo", "--dry-run"]).code, 2);
}

#[test]
fn what_a_tool_requires_is_told_where_nobody_can_be_asked() {
    let ran = snodo(&["call", "demo", "add", "a=1"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("b (a number)"), "{}", ran.stderr);
}

#[test]
fn an_error_is_three_lines() {
    let ran = snodo(&["read", "demo", "demo://nothing"]);
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!((ran.code, lines.len()), (3, 3), "{}", ran.stderr);
    assert!(lines[0].starts_with("snodo: ") && lines[0].ends_with(" failed"), "{}", ran.stderr);
    assert!(lines[1].starts_with("  why: ") && lines[2].starts_with("  try: "), "{}", ran.stderr);
}

#[test]
fn pictures_are_written_into_a_folder_and_named() {
    let folder = std::env::temp_dir().join(format!("snodo-cli-saved-{}", std::process::id()));
    let path = folder.display().to_string();
    let ran = snodo(&["read", "demo", "demo://pixel", "--save", &path]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let file = folder.join("pixel.gif");
    assert!(ran.stdout.ends_with(&format!("[saved {}]\n", file.display())), "{}", ran.stdout);
    assert!(std::fs::read(&file).expect("a file").starts_with(b"GIF89a"));
    std::fs::remove_dir_all(folder).expect("it is there");
}
