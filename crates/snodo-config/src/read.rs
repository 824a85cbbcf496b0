//! From JSON to entries.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::expand::{Lookup, expand};
use crate::{Entry, Fault, Http, Server, Stdio};

/// What a file holds.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) entries: Vec<Entry>,
    pub(crate) warnings: Vec<String>,
}

/// Reads a document. `folder` is what a relative `cwd` is seen from.
pub(crate) fn read(text: &str, lookup: Lookup<'_>, folder: Option<&Path>) -> Result<Read, Fault> {
    if text.trim().is_empty() {
        return Ok(Read { entries: Vec::new(), warnings: vec!["the file is empty".to_owned()] });
    }
    let Pairs(members) = serde_json::from_str(text).map_err(|error| Fault::of_json(&error))?;
    let mut read = Read { entries: Vec::new(), warnings: Vec::new() };
    let mut found = false;
    for (key, value) in members {
        let list = match key.as_str() {
            "mcpServers" | "servers" => {
                found = true;
                pairs(&value)
            }
            "mcp" => {
                let within = pairs(&value).into_iter().flatten();
                let list = within.rev().find(|(name, _)| name == "servers");
                let Some((_, list)) = list else { continue };
                found = true;
                pairs(&list)
            }
            _ => continue,
        };
        match list {
            Some(list) => read.add(list, lookup, folder),
            None => {
                read.warnings.push(format!("`{key}` is no object, and nothing in it was read"));
            }
        }
    }
    if !found {
        read.warnings.push("there is neither `mcpServers` nor `servers` in it".to_owned());
    }
    Ok(read)
}

impl Read {
    fn add(
        &mut self,
        list: Vec<(String, Box<RawValue>)>,
        lookup: Lookup<'_>,
        folder: Option<&Path>,
    ) {
        for (name, value) in list {
            // What is deeper than can be read is no entry either.
            let value = serde_json::from_str(value.get()).unwrap_or_default();
            let entry = Reader { lookup, folder, warnings: Vec::new() }.entry(name, value);
            match self.entries.iter_mut().find(|known| known.name == entry.name) {
                Some(known) => {
                    // As a JSON reader has it: the last one counts.
                    *known = entry;
                    let text = "it stands there twice, and the last one counts";
                    known.warnings.push(text.to_owned());
                }
                None => self.entries.push(entry),
            }
        }
    }
}

/// Reads one entry.
struct Reader<'r> {
    lookup: Lookup<'r>,
    folder: Option<&'r Path>,
    warnings: Vec<String>,
}

impl Reader<'_> {
    fn entry(mut self, name: String, value: Value) -> Entry {
        let Value::Object(mut members) = value else {
            let fault = Fault::new("an entry has to be an object");
            return self.finish(name, String::new(), Err(fault), false);
        };
        let shown = shown(&members);
        let off = is_true(members.remove("disabled").as_ref())
            || members.remove("enabled") == Some(Value::Bool(false));
        let server = self.server(&mut members);
        if server.is_ok() {
            let left = members.keys().filter(|name| !OF_HOSTS.contains(&name.as_str()));
            let left = left.map(|name| format!("`{name}` means nothing here"));
            self.warnings.extend(left);
        }
        self.finish(name, shown, server, off)
    }

    fn finish(
        self,
        name: String,
        shown: String,
        server: Result<Server, Fault>,
        disabled: bool,
    ) -> Entry {
        let warnings = self.warnings;
        Entry { name, shown, server, warnings, disabled, hidden: false, source: None }
    }

    fn server(&mut self, members: &mut Map<String, Value>) -> Result<Server, Fault> {
        let url = URLS.iter().find_map(|name| Some((*name, members.remove(*name)?)));
        let command = members.remove("command");
        let kind = members.remove("type").or_else(|| members.remove("transport"));
        match (Self::kind(kind.as_ref())?, command, url) {
            (Some(Kind::Stdio) | None, Some(command), None) => self.stdio(&command, members),
            (Some(Kind::Http) | None, None, Some((name, url))) => {
                self.http(name, &url, members).map(Server::Http)
            }
            (Some(Kind::Sse), None, Some((name, url))) => {
                self.http(name, &url, members).map(Server::Sse)
            }
            (Some(Kind::Stdio), Some(command), Some((name, _))) => {
                self.warnings.push(format!("`{name}` means nothing beside `command`"));
                self.stdio(&command, members)
            }
            (Some(kind), Some(_), Some((name, url))) => {
                self.warnings.push(format!("`command` means nothing beside `{name}`"));
                let http = self.http(name, &url, members)?;
                Ok(if kind == Kind::Sse { Server::Sse(http) } else { Server::Http(http) })
            }
            (None, Some(_), Some((name, _))) => Err(Fault::new(format!(
                "there is a `command` and a `{name}`: `type` has to say which is meant"
            ))),
            (Some(Kind::Stdio), None, _) => Err(Fault::new("`command` is missing")),
            (Some(Kind::Http | Kind::Sse), _, None) => Err(Fault::new("`url` is missing")),
            (None, None, None) => Err(Fault::new("there is neither a `command` nor a `url`")),
        }
    }

    fn kind(kind: Option<&Value>) -> Result<Option<Kind>, Fault> {
        let Some(kind) = kind else { return Ok(None) };
        let plain = |c: &char| c.is_ascii_alphanumeric();
        let name = kind.as_str().unwrap_or_default().to_ascii_lowercase();
        match name.chars().filter(plain).collect::<String>().as_str() {
            "stdio" | "local" => Ok(Some(Kind::Stdio)),
            "http" | "streamablehttp" | "remote" => Ok(Some(Kind::Http)),
            "sse" => Ok(Some(Kind::Sse)),
            _ => Err(Fault::new(format!("`type` is {kind}; it is \"stdio\", \"http\" or \"sse\""))),
        }
    }

    fn stdio(
        &mut self,
        command: &Value,
        members: &mut Map<String, Value>,
    ) -> Result<Server, Fault> {
        let command = self.text("command", command)?;
        if command.trim().is_empty() {
            return Err(Fault::new("`command` is empty"));
        }
        let args = match members.remove("args") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(args)) => {
                let args = args.iter().enumerate();
                args.map(|(at, arg)| self.text(&format!("args[{at}]"), arg))
                    .collect::<Result<_, _>>()?
            }
            Some(Value::String(arg)) => {
                self.warnings.push("`args` is no list, and is taken as one argument".to_owned());
                vec![self.text("args", &Value::String(arg))?]
            }
            Some(_) => return Err(Fault::new("`args` has to be a list of strings")),
        };
        if args.is_empty() && command.contains(' ') && !command.contains(['/', '\\']) {
            let text = "`command` is taken as one program; its arguments belong into `args`";
            self.warnings.push(text.to_owned());
        }
        let mut env = Vec::new();
        for (name, value) in object("env", members.remove("env"))? {
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(Fault::new(format!("env: {name:?} cannot be the name of a variable")));
            }
            let value = match value {
                Value::Null => None,
                value => Some(self.text(&format!("env.{name}"), &value)?),
            };
            env.push((name, value));
        }
        let cwd = match members.remove("cwd") {
            None | Some(Value::Null) => None,
            Some(cwd) => Some(PathBuf::from(self.text("cwd", &cwd)?)),
        };
        let cwd =
            cwd.map(|cwd| self.folder.map_or_else(|| cwd.clone(), |folder| folder.join(&cwd)));
        Ok(Server::Stdio(Stdio { command, args, env, cwd }))
    }

    fn http(
        &mut self,
        name: &str,
        url: &Value,
        members: &mut Map<String, Value>,
    ) -> Result<Http, Fault> {
        let url = self.text(name, url)?.trim().to_owned();
        let scheme = url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        if !matches!(scheme.as_deref(), Some("http" | "https")) {
            return Err(Fault::new(format!("`{name}` has to begin with http:// or https://")));
        }
        let mut headers = Vec::new();
        for (name, value) in object("headers", members.remove("headers"))? {
            if value.is_null() {
                continue;
            }
            let value = self.text(&format!("headers.{name}"), &value)?;
            headers.push((name, value));
        }
        Ok(Http { url, headers })
    }

    /// A text, its variables put in. Numbers and truth values are taken as they are written.
    fn text(&self, place: &str, value: &Value) -> Result<String, Fault> {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            _ => return Err(Fault::new(format!("`{place}` has to be a string"))),
        };
        let expanded = expand(&text, self.lookup)
            .map_err(|fault| Fault::new(format!("{place}: {}", fault.message())))?;
        if expanded.contains('\0') {
            return Err(Fault::new(format!("`{place}` holds a NUL character")));
        }
        Ok(expanded)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Http,
    Sse,
    Stdio,
}

fn object(name: &str, value: Option<Value>) -> Result<Map<String, Value>, Fault> {
    match value {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(members)) => Ok(members),
        Some(_) => Err(Fault::new(format!("`{name}` has to be an object"))),
    }
}

fn is_true(value: Option<&Value>) -> bool {
    value == Some(&Value::Bool(true))
}

/// The command line or the URL as it was written, without what a URL says of a user.
fn shown(members: &Map<String, Value>) -> String {
    if let Some(url) = URLS.iter().find_map(|name| members.get(*name)?.as_str()) {
        let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let host = rest[..end].rfind('@').map_or(0, |at| at + 1);
        let path = rest.find(['?', '#']).unwrap_or(rest.len());
        return format!("{scheme}://{}", &rest[host..path]);
    }
    let args = members.get("args").and_then(Value::as_array);
    let words = members.get("command").into_iter().chain(args.into_iter().flatten());
    let words: Vec<String> =
        words.map(|word| word.as_str().map_or_else(|| word.to_string(), str::to_owned)).collect();
    words.join(" ")
}

/// The members of an object in their order, not looked into yet.
struct Pairs(Vec<(String, Box<RawValue>)>);

/// The members of a value, if it is an object.
fn pairs(value: &RawValue) -> Option<Vec<(String, Box<RawValue>)>> {
    let text = value.get();
    let pairs = text.starts_with('{').then(|| serde_json::from_str::<Pairs>(text));
    Some(pairs?.ok()?.0)
}

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Pairs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Pairs(members))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// Where the URL of a server stands.
const URLS: [&str; 3] = ["url", "httpUrl", "serverUrl"];

/// What hosts write for themselves, and for which there is nothing to do here.
const OF_HOSTS: [&str; 21] = [
    "alwaysAllow",
    "auth",
    "autoApprove",
    "cwd",
    "description",
    "dev",
    "disabledTools",
    "env",
    "excludeTools",
    "gallery",
    "headers",
    "icon",
    "id",
    "includeTools",
    "name",
    "oauth",
    "timeout",
    "tools",
    "trust",
    "version",
    "$schema",
];

#[cfg(test)]
mod tests {
    use super::{Read, read};
    use crate::{Entry, Server};

    fn reading(text: &str) -> Read {
        let lookup = |name: &str| (name == "T").then(|| "t0".to_owned());
        read(text, &lookup, None).expect("a document")
    }

    fn entry(text: &str) -> Entry {
        reading(&format!("{{ \"mcpServers\": {{ \"x\": {text} }} }}")).entries.remove(0)
    }

    fn fault(text: &str) -> String {
        entry(text).server().expect_err(text).message().to_owned()
    }

    #[test]
    fn one_bad_entry_hides_no_other_and_the_order_stays() {
        let read = reading(
            r#"{ "mcpServers": { "z": { "command": "z" }, "bad": 7, "a": { "command": "${NO}" },
                "m": { "url": "http://m/" } }, "servers": { "b": { "command": "b" } },
                "mcp": { "servers": { "c": { "command": "c" } } } }"#,
        );
        let told: Vec<_> = read.entries.iter().map(|e| (e.name(), e.server().is_ok())).collect();
        let expected =
            [("z", true), ("bad", false), ("a", false), ("m", true), ("b", true), ("c", true)];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_fault_names_what_is_wrong() {
        for (text, words) in [
            ("[]", "an entry has to be an object"),
            ("{}", "neither a `command` nor a `url`"),
            (r#"{ "command": 7, "url": "http://x/" }"#, "`type` has to say"),
            (r#"{ "type": "http", "command": "x" }"#, "`url` is missing"),
            (r#"{ "type": "stdio", "url": "http://x/" }"#, "`command` is missing"),
            (r#"{ "type": "carrier pigeon", "url": "http://x/" }"#, "carrier pigeon"),
            (r#"{ "url": "ftp://x/" }"#, "http://"),
            (r#"{ "url": ["http://x/"] }"#, "`url` has to be a string"),
            (r#"{ "command": " " }"#, "empty"),
            (r#"{ "command": "x", "args": [["y"]] }"#, "args[0]"),
            (r#"{ "command": "x", "args": { "y": 1 } }"#, "args"),
            (r#"{ "command": "x", "env": ["A=1"] }"#, "env"),
            (r#"{ "command": "x", "env": { "A=B": "1" } }"#, "A=B"),
            (r#"{ "command": "x", "env": { "K": "${NO}" } }"#, "env.K: the variable NO is not set"),
            (
                r#"{ "url": "http://x/", "headers": { "A": "${NO}" } }"#,
                "headers.A: the variable NO",
            ),
            (r#"{ "command": "x\u0000y" }"#, "NUL"),
        ] {
            assert!(fault(text).contains(words), "{text}: {}", fault(text));
        }
    }

    #[test]
    fn what_is_meant_is_taken_and_what_is_odd_is_told() {
        let entry_of = |text: &str| {
            let entry = entry(text);
            assert!(entry.server().is_ok(), "{text}: {entry:?}");
            entry
        };
        for kind in ["http", "streamable-http", "streamableHttp", "STREAMABLE_HTTP"] {
            let entry = entry_of(&format!(r#"{{ "type": "{kind}", "url": "http://x/" }}"#));
            assert!(entry.warnings().is_empty(), "{entry:?}");
        }
        let sse = entry_of(r#"{ "type": "sse", "url": "http://x/" }"#);
        assert!(matches!(sse.server(), Ok(Server::Sse(http)) if http.url() == "http://x/"));
        for (text, words) in [
            (r#"{ "command": "npx -y x" }"#, "args"),
            (r#"{ "command": "x", "args": "y" }"#, "one argument"),
            (r#"{ "command": "x", "comand": "y" }"#, "`comand`"),
            (r#"{ "type": "http", "command": "x", "url": "http://x/" }"#, "`command`"),
        ] {
            let warnings = entry_of(text).warnings().concat();
            assert!(warnings.contains(words), "{text}: {warnings}");
        }
        let odd = r#"{ "command": "x", "args": [7, true], "env": { "A": 1, "B": null }, "disabled": true }"#;
        let odd = entry_of(odd);
        let Ok(Server::Stdio(stdio)) = odd.server() else { panic!("a process") };
        assert_eq!(stdio.args(), ["7", "true"]);
        assert_eq!(stdio.env(), [("A".to_owned(), Some("1".to_owned())), ("B".to_owned(), None)]);
        assert!(odd.is_disabled());
    }

    #[test]
    fn what_is_shown_holds_no_value_of_a_variable() {
        let secret = entry(
            r#"{ "command": "x", "args": ["--k=${T}"], "env": { "K": "${T}" }, "cwd": "/srv/${T}" }"#,
        );
        assert_eq!(secret.shown(), "x --k=${T}");
        assert!(!format!("{secret:?}").contains("t0"), "{secret:?}");
        let secret = entry(r#"{ "url": "https://u:p@x/${T}?key=k", "headers": { "A": "${T}" } }"#);
        assert_eq!(secret.shown(), "https://x/${T}");
        let told = format!("{secret:?}");
        assert!(!["t0", "u:p", "key=k"].iter().any(|word| told.contains(word)), "{told}");
    }

    #[test]
    fn a_name_that_stands_twice_is_told() {
        let read =
            reading(r#"{ "servers": { "x": { "command": "a" }, "x": { "command": "b" } } }"#);
        assert_eq!((read.entries.len(), read.entries[0].shown()), (1, "b"));
        assert!(read.entries[0].warnings()[0].contains("twice"));
    }

    #[test]
    fn a_document_without_servers_is_told_and_one_that_is_no_object_refused() {
        for text in ["", " \n", "{}", r#"{ "mcpServers": [] }"#, r#"{ "servers": null }"#] {
            let read = reading(text);
            assert_eq!((read.entries.len(), read.warnings.len()), (0, 1), "{text}");
        }
        for text in ["[]", "7", "{"] {
            assert!(read(text, &|_| None, None).is_err(), "{text}");
        }
        let text =
            format!("{{ \"servers\": {{ \"x\": {} }} }}", "[".repeat(5_000) + &"]".repeat(5_000));
        let entries = reading(&text).entries;
        assert!(entries[0].server().is_err(), "it is deeper than can be read");
    }
}
