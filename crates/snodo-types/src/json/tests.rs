//! Our reader against `serde_json`: equal results, and equal refusals.

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Unsure, read_json, read_known, read_quickly};
use crate::{
    CallToolResult, CreateMessageParams, DiscoverResult, GetPromptResult, ListResourcesResult,
    ListToolsResult, Message, ProgressToken, Raw, ReadResourceResult,
};

/// What both say of a text, as one type.
fn compare<T: DeserializeOwned + Debug>(text: &str) -> Result<(), Unsure> {
    let theirs = serde_json::from_str::<T>(text);
    let both = read_json::<T>(text);
    let shown = |read: &Result<T, serde_json::Error>| format!("{read:?}");
    assert_eq!(shown(&both), shown(&theirs), "{text}");
    if serde_json::from_str::<&RawValue>(text).is_ok() {
        assert_eq!(shown(&read_known::<T>(text)), shown(&theirs), "{text}, known to be JSON");
    }
    let ours = read_quickly::<T>(text)?;
    let theirs = theirs.unwrap_or_else(|error| panic!("{text} was read as {ours:?}: {error}"));
    assert_eq!(format!("{ours:?}"), format!("{theirs:?}"), "{text}");
    Ok(())
}

/// The same as every type that goes over the wire in bulk, and as whatever else a caller may ask for.
fn compare_all(text: &str) {
    let _ = compare::<Value>(text);
    let _ = compare::<Raw>(text);
    let _ = compare::<Vec<Raw>>(text);
    let _ = compare::<BTreeMap<String, Raw>>(text);
    let _ = compare::<Vec<f64>>(text);
    let _ = compare::<Option<Vec<i8>>>(text);
    let _ = compare::<BTreeMap<u8, bool>>(text);
    let _ = compare::<(String, char)>(text);
    let _ = compare::<Plain>(text);
    let _ = compare::<ProgressToken>(text);
    let _ = compare::<CallToolResult>(text);
    let _ = compare::<ListToolsResult>(text);
    let _ = compare::<ListResourcesResult>(text);
    let _ = compare::<ReadResourceResult>(text);
    let _ = compare::<GetPromptResult>(text);
    let _ = compare::<DiscoverResult>(text);
    let _ = compare::<CreateMessageParams>(text);
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "shown by Debug alone")]
struct Plain {
    a: Option<u64>,
    #[serde(default)]
    b: Vec<Choice>,
    c: Option<Box<Self>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "shown by Debug alone")]
enum Choice {
    One,
    Two(u8),
}

/// Of what is tried in all its forms, an interpreter tries some.
const EACH: usize = if cfg!(miri) { 5 } else { 1 };

const SEEDS: &[&str] = &[
    r#"{"resultType":"complete","content":[{"type":"text","text":"a\nb \"c\" \\ \u00e9 \ud83d\ude00"}],"isError":false}"#,
    r#"{"content":[{"text":"early","type":"text","annotations":{"priority":0.5}},{"type":"image","data":"aGk=","mimeType":"x/y"}],"structuredContent":{"n":[1,-2,3.5e2,null]}}"#,
    r#"{"tools":[{"name":"a","title":"A","inputSchema":{"type":"object","properties":{"x":{"type":"string"}}}},{"name":5},null,{"name":"\ud800","inputSchema":{}}],"nextCursor":"c","ttlMs":0,"_meta":{"k":[{}]}}"#,
    r#"{"resources":[{"uri":"file:///a","name":"n","size":12345678901234567890}],"nextCursor":null}"#,
    r#"{"contents":[{"uri":"u","text":"t"},{"uri":"v","blob":"AA=="}],"ttlMs":1e3}"#,
    r#"{"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"description":7}"#,
    r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"_meta":{}}"#,
    r#"{"a":18446744073709551615,"b":["one",{"two":2}],"c":{"a":null}}"#,
    r#"[0,-0,1.0,-1e-7,123456789012345678,1234567890123456789,0.1,1E+2]"#,
    r#"["x","y"]"#,
    r#"{"1":true,"2":false}"#,
    r#"  {"a" : 1 ,	"a":2}  "#,
    r#""only a string""#,
    "null",
    "[[[[[[[[]]]]]]]]",
];

// A few bytes are changed here and there, many times over, always the same way.
#[test]
fn whatever_is_changed_in_a_text_both_readers_say_the_same_of_it() {
    let spare = br#"{}[]",:\ntrufalse0123456789.-+eE u "#;
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for seed in SEEDS.iter().step_by(EACH) {
        compare_all(seed);
        for _ in 0..200 / EACH.pow(3) {
            let mut bytes = seed.as_bytes().to_vec();
            for _ in 0..=random(3) {
                let at = random(bytes.len());
                let byte = match random(40) {
                    0 => 0x1F,
                    1 => 0x7F,
                    _ => spare[random(spare.len())],
                };
                match random(3) {
                    0 => bytes[at] = byte,
                    1 => bytes.insert(at, byte),
                    _ if bytes.len() > 1 => drop(bytes.remove(at)),
                    _ => {}
                }
            }
            if let Ok(text) = String::from_utf8(bytes) {
                compare_all(&text);
            }
        }
    }
}

#[test]
fn every_text_cut_short_is_refused_in_the_same_words() {
    for seed in SEEDS.iter().step_by(EACH) {
        let ends = (0..seed.len()).step_by(EACH.pow(3));
        for end in ends.filter(|end| seed.is_char_boundary(*end)) {
            compare_all(&seed[..end]);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "it takes many minutes")]
fn depth_is_left_to_serde_long_before_it_refuses() {
    for depth in [99, 100, 101, 126, 127, 128, 129, 300] {
        let lists = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        compare_all(&lists);
        compare_all(&format!(r#"{{"content":{lists},"other":{lists}}}"#));
        compare_all(&format!(r#"{}1{}"#, r#"{"c":"#.repeat(depth), "}".repeat(depth)));
    }
}

#[test]
fn what_servers_send_every_day_is_read_without_a_second_look() {
    assert_eq!(compare::<CallToolResult>(SEEDS[0]), Ok(()));
    assert_eq!(compare::<CallToolResult>(SEEDS[1]), Ok(()));
    assert_eq!(compare::<ReadResourceResult>(SEEDS[4]), Ok(()));
    assert_eq!(compare::<DiscoverResult>(SEEDS[6]), Ok(()));
    let page = r#"{"tools":[{"name":"a","inputSchema":{}},{"title":"nameless"}],"nextCursor":"2"}"#;
    assert_eq!(compare::<ListToolsResult>(page), Ok(()));
}

#[test]
fn a_long_text_with_an_escape_in_each_line_comes_out_whole() {
    let line = "all the letters of a line that is as long as lines are in most texts of tools é";
    let whole = format!("{line}\n").repeat(if cfg!(miri) { 20 } else { 2000 });
    let text = serde_json::to_string(&whole).expect("text");
    assert_eq!(read_quickly::<String>(&text), Ok(whole));
}

#[test]
fn a_message_says_of_what_type_its_result_is() {
    let of = |result: &str| {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
        let read = Message::parse(text).expect("a message");
        let written = Message::result(&1.into(), result);
        assert_eq!(read.result_type(), written.result_type(), "{result}");
        read.result_type().map(str::to_owned)
    };
    assert_eq!(of(r#"{"resultType":"complete"}"#).as_deref(), Some(r#""complete""#));
    assert_eq!(
        of(r#"{"a":{"resultType":"x"},"resultType":"b","resultType":5}"#).as_deref(),
        Some("5")
    );
    assert_eq!(of(r#"{"result\u0054ype":"x"}"#).as_deref(), Some(r#""x""#));
    assert_eq!(of(r#"{"resultType":null}"#), None);
    assert_eq!(of("{}"), None);
}

#[test]
fn every_kind_of_number_and_name_is_read_as_serde_reads_it() {
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "shown by Debug alone")]
    struct Pair(u8, String);

    #[derive(Debug, Deserialize)]
    struct Nothing;

    for text in [
        "1",
        "-1",
        "300",
        "70000",
        "5000000000",
        "1.5",
        "1e3",
        "-0",
        "\"1\"",
        "null",
        "[1]",
        "[1,\"a\"]",
        "\"\\/\\f\\b\"",
    ] {
        let _ = compare::<i8>(text);
        let _ = compare::<i16>(text);
        let _ = compare::<i32>(text);
        let _ = compare::<i64>(text);
        let _ = compare::<u8>(text);
        let _ = compare::<u16>(text);
        let _ = compare::<u32>(text);
        let _ = compare::<u64>(text);
        let _ = compare::<f32>(text);
        let _ = compare::<f64>(text);
        let _ = compare::<String>(text);
        let _ = compare::<Pair>(text);
        let _ = compare::<Nothing>(text);
        let _ = compare::<()>(text);
        let _ = compare::<serde_json::Map<String, Value>>(text);
    }
    assert_eq!(Unsure.to_string(), "not sure");
}
