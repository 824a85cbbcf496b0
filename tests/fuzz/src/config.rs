//! Lists of servers: anything is read or refused, and what is written is read as it was meant.

use std::fmt::Write as _;
use std::path::Path;

use arbitrary::{Result, Unstructured};
use serde_json::{Value, json};
use snodo_config::{Config, Entry, Server};

use crate::tree::Tree;

/// The first byte chooses: a file as it is, or one that is written and read. Whatever it is, the value of no variable is
/// shown.
///
/// # Panics
///
/// Where it is otherwise.
pub fn check(input: &[u8]) {
    let Some((choice, rest)) = input.split_first() else { return };
    if choice % 2 == 0 {
        return read_anything(rest);
    }
    // An input that is used up has said all it had to say.
    let _ = there_and_back(&mut Unstructured::new(rest));
}

fn read_anything(bytes: &[u8]) {
    let read = Config::parse(bytes, lookup);
    let strict = std::str::from_utf8(bytes).ok().and_then(Tree::read);
    let config = match read {
        Ok(config) => config,
        Err(fault) => {
            assert!(!fault.message().is_empty());
            assert!(!fault.to_string().contains(SECRET), "{fault}");
            let lines = 1 + bytes.iter().filter(|byte| **byte == b'\n').count();
            if let Some((line, column)) = fault.place() {
                assert!((1..=lines).contains(&line) && column <= bytes.len(), "{fault}");
            }
            assert!(strict.is_none_or(|tree| tree.members().is_none()), "{fault}");
            return;
        }
    };
    config.entries().iter().for_each(judge);
    let mut names: Vec<_> = config.entries().iter().map(Entry::name).collect();
    if let Some(tree) = strict {
        assert_eq!(names, named(&tree));
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), config.entries().len(), "one name twice");
    assert!(config.warnings().iter().all(|warning| !warning.contains(SECRET)));
}

/// The names of a document that is JSON as it stands, in their order.
fn named(tree: &Tree) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (key, value) in tree.members().unwrap_or_default() {
        let within = value.members().unwrap_or_default();
        let list = match key.as_str() {
            "mcpServers" | "servers" => Some(value),
            "mcp" => {
                let last = within.iter().rev().find(|(name, _)| name == "servers");
                last.map(|(_, list)| list)
            }
            _ => None,
        };
        for (name, _) in list.and_then(Tree::members).unwrap_or_default() {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
    }
    names
}

/// What holds of an entry however it came.
fn judge(entry: &Entry) {
    let shown = format!("{entry:?} {} {}", entry.shown(), entry.warnings().concat());
    assert!(!shown.contains(SECRET), "{shown}");
    match entry.server() {
        Err(fault) => {
            assert!(!fault.message().is_empty() && !fault.to_string().contains(SECRET), "{fault}");
        }
        Ok(Server::Http(http) | Server::Sse(http)) => {
            let (scheme, _) = http.url().split_once("://").expect("a URL");
            assert!(["http", "https"].iter().any(|one| scheme.eq_ignore_ascii_case(one)));
            let texts = http.headers().iter().map(|(_, value)| value.as_str());
            assert!(texts.chain([http.url()]).all(|text| !text.contains('\0')));
        }
        Ok(Server::Stdio(stdio)) => {
            assert!(!stdio.command().trim().is_empty());
            let values = stdio.env().iter().filter_map(|(_, value)| value.as_ref());
            let mut texts = stdio.args().iter().chain(values);
            assert!(texts.all(|text| !text.contains('\0')) && !stdio.command().contains('\0'));
            let mut names = stdio.env().iter().map(|(name, _)| name);
            assert!(names.all(|name| !name.is_empty() && !name.contains(['=', '\0'])));
        }
        Ok(_) => {}
    }
}

/// A text as it is written, and what it stands for.
type Pair = (String, String);

/// A server, as it is meant.
enum Meant {
    Http {
        url: String,
        headers: Vec<Pair>,
    },
    Stdio {
        command: String,
        args: Vec<String>,
        env: Vec<(String, Option<String>)>,
        cwd: Option<String>,
    },
}

fn there_and_back(input: &mut Unstructured<'_>) -> Result<()> {
    let mut meant = Vec::new();
    let mut list = String::new();
    for number in 0..input.int_in_range(1..=3)? {
        if number > 0 {
            list.push_str(separator(input)?);
        }
        let name = format!("{number}{}", literal(input)?);
        let (written, server) = if input.arbitrary()? { stdio(input)? } else { http(input)? };
        let _ = write!(list, "{}{}:{}{written}", blank(input)?, json!(name), blank(input)?);
        meant.push((name, server));
    }
    if input.arbitrary()? {
        // One too many is forgiven.
        list.push_str(separator(input)?);
    }
    let text = match input.int_in_range(0..=2)? {
        0 => format!("{}{{\"mcpServers\":{{{list}}}}}", blank(input)?),
        1 => format!("{{\"other\":[{{}},],\"servers\":{{{list}}}{}}}", blank(input)?),
        _ => format!("{{\"mcp\":{{\"servers\":{{{list}}}}},}}{}", blank(input)?),
    };
    let bytes = match input.int_in_range(0..=3)? {
        0 => text.clone().into_bytes(),
        1 => format!("\u{feff}{text}").into_bytes(),
        2 => format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect(),
        _ => format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_be_bytes).collect(),
    };
    let config = Config::parse(&bytes, lookup).unwrap_or_else(|fault| {
        panic!("{fault} of {text}");
    });
    assert_eq!(config.entries().len(), meant.len(), "{text}");
    for (entry, (name, meant)) in config.entries().iter().zip(meant) {
        assert_eq!(entry.name(), name);
        judge(entry);
        compare(entry.server().unwrap_or_else(|fault| panic!("{fault} of {text}")), &meant);
    }
    Ok(())
}

fn compare(server: &Server, meant: &Meant) {
    match (server, meant) {
        (Server::Http(read), Meant::Http { url, headers }) => {
            assert_eq!((read.url(), read.headers()), (url.as_str(), headers.as_slice()));
        }
        (Server::Stdio(read), Meant::Stdio { command, args, env, cwd }) => {
            assert_eq!((read.command(), read.args()), (command.as_str(), args.as_slice()));
            assert_eq!(read.env(), env);
            assert_eq!(read.cwd(), cwd.as_deref().map(Path::new));
        }
        _ => panic!("{server:?} is another kind"),
    }
}

fn stdio(input: &mut Unstructured<'_>) -> Result<(Value, Meant)> {
    let (program, stands) = text(input)?;
    let (program, command) = (format!("x{program}"), format!("x{stands}"));
    let args = (0..input.int_in_range(0..=3)?).map(|_| text(input)).collect::<Result<Vec<_>>>()?;
    let mut written = json!({ "command": program });
    if !args.is_empty() || input.arbitrary()? {
        written["args"] = args.iter().map(|(written, _)| json!(written)).collect();
    }
    let mut env = Vec::new();
    for number in 0..input.int_in_range(0..=3)? {
        let name = format!("V{number}");
        let (value, stands) = text(input)?;
        let absent = input.arbitrary()?;
        written["env"][&name] = if absent { Value::Null } else { json!(value) };
        env.push((name, (!absent).then_some(stands)));
    }
    let cwd = if input.arbitrary()? { Some(text(input)?) } else { None };
    if let Some((folder, _)) = &cwd {
        written["cwd"] = json!(folder);
    }
    let args = args.into_iter().map(|(_, stands)| stands).collect();
    Ok((written, Meant::Stdio { command, args, env, cwd: cwd.map(|(_, stands)| stands) }))
}

fn http(input: &mut Unstructured<'_>) -> Result<(Value, Meant)> {
    let (path, stands) = text(input)?;
    let scheme = ["http", "https", "HTTPS"][input.choose_index(3)?];
    let mut written = json!({});
    written[["url", "httpUrl", "serverUrl"][input.choose_index(3)?]] =
        json!(format!("{scheme}://u:p@h/{path}."));
    if input.arbitrary()? {
        written["type"] =
            json!(["http", "streamable-http", "Streamable_HTTP"][input.choose_index(3)?]);
    }
    let mut headers = Vec::new();
    for number in 0..input.int_in_range(0..=3)? {
        let (value, stands) = text(input)?;
        let name = format!("X-{number}");
        written["headers"][&name] = json!(value);
        headers.push((name, stands));
    }
    Ok((written, Meant::Http { url: format!("{scheme}://u:p@h/{stands}."), headers }))
}

/// A text with variables in it.
fn text(input: &mut Unstructured<'_>) -> Result<Pair> {
    let (mut written, mut stands) = (String::new(), String::new());
    for _ in 0..input.int_in_range(0..=4)? {
        let (piece, value) = piece(input, 0)?;
        written.push_str(&piece);
        stands.push_str(&value);
    }
    Ok((written, stands))
}

fn piece(input: &mut Unstructured<'_>, depth: usize) -> Result<Pair> {
    let name = ["A", "_b", "NAME_1"][input.choose_index(3)?];
    let env = ["", "env:"][input.choose_index(2)?];
    let value = format!("{SECRET}{name}");
    Ok(match input.int_in_range(0..=5)? {
        0 => (format!("${{{env}{name}}}"), value),
        1 => (format!("${{{env}{name}:-{}}}", literal(input)?), value),
        choice @ (2 | 3) if depth < 6 => {
            let (written, stands) = piece(input, depth + 1)?;
            let unset = [UNSET, EMPTY][choice - 2];
            (format!("${{{env}{unset}:-{written}}}"), stands)
        }
        _ => literal(input).map(|text| (text.clone(), text))?,
    })
}

/// A text that is no variable, within one or not.
fn literal(input: &mut Unstructured<'_>) -> Result<String> {
    let length = input.int_in_range(0..=8)?;
    let text = (0..length).map(|_| input.arbitrary::<char>()).collect::<Result<String>>()?;
    Ok(text.replace(['{', '}', '\0'], "$"))
}

fn separator(input: &mut Unstructured<'_>) -> Result<&'static str> {
    Ok([",", ", ", ",/* , */\n", " // }\n,"][input.choose_index(4)?])
}

/// What JSON has no room for, or no meaning.
fn blank(input: &mut Unstructured<'_>) -> Result<&'static str> {
    let blanks = ["", " ", "\n\t", "//,\"}\n", "/* \u{e9} \" */", "/***/"];
    Ok(blanks[input.choose_index(blanks.len())?])
}

/// Every variable has a value of its own that nobody writes by chance, but for two.
fn lookup(name: &str) -> Option<String> {
    match name {
        UNSET => None,
        EMPTY => Some(String::new()),
        name => Some(format!("{SECRET}{name}")),
    }
}

const SECRET: &str = "\u{1f511}hunter2\u{1f511}";
const UNSET: &str = "UNSET";
const EMPTY: &str = "EMPTY";
