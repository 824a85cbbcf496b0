//! Blocks of every kind, early and late, whole and broken.

use serde_json::Value;

use super::Content;
use crate::CallToolResult;

fn read(text: &str) -> Content {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn text(block: &Content) -> String {
    serde_json::to_string(block).expect("text")
}

#[test]
fn the_kind_may_come_anywhere() {
    for blocks in [
        [
            r#"{"type":"text","text":"a","_meta":{"k":1.50},"x":[1]}"#,
            r#"{"text":"a","_meta":{"k":1.50},"x":[1],"type":"text"}"#,
            r#"{"x":[1],"_meta":{"k":1.50},"type":"text","text":"a"}"#,
        ],
        [
            r#"{"type":"image","data":"AA==","mimeType":"image/png","annotations":{"priority":1}}"#,
            r#"{"annotations":{"priority":1},"data":"AA==","mimeType":"image/png","type":"image"}"#,
            r#"{"data":"AA==","type":"image","mimeType":"image/png","annotations":{"priority":1}}"#,
        ],
        [
            r#"{"type":"resource","resource":{"uri":"r","text":"x","y":null},"_meta":{}}"#,
            r#"{"_meta":{},"resource":{"text":"x","uri":"r","y":null},"type":"resource"}"#,
            r#"{"resource":{"uri":"r","y":null,"text":"x"},"type":"resource","_meta":{}}"#,
        ],
        [
            r#"{"type":"resource_link","uri":"r","name":"n","size":7,"text":"own"}"#,
            r#"{"name":"n","size":7,"text":"own","type":"resource_link","uri":"r"}"#,
            r#"{"text":"own","uri":"r","type":"resource_link","size":7,"name":"n"}"#,
        ],
        [
            r#"{"type":"tool_use","id":"1","name":"t","input":{"a":{"b":[]}}}"#,
            r#"{"id":"1","input":{"a":{"b":[]}},"name":"t","type":"tool_use"}"#,
            r#"{"name":"t","id":"1","type":"tool_use","input":{"a":{"b":[]}}}"#,
        ],
        [
            r#"{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"z"}],"structuredContent":null,"isError":true}"#,
            r#"{"content":[{"text":"z","type":"text"}],"isError":true,"structuredContent":null,"toolUseId":"1","type":"tool_result"}"#,
            r#"{"isError":true,"type":"tool_result","content":[{"type":"text","text":"z"}],"structuredContent":null,"toolUseId":"1"}"#,
        ],
    ] {
        let [first, rest @ ..] = blocks.map(read);
        assert!(!matches!(first, Content::Other(_)), "{first:?}");
        for block in &rest {
            assert_eq!(block, &first);
        }
        assert_eq!(
            serde_json::from_str::<Value>(&text(&first)).expect("JSON"),
            serde_json::from_str::<Value>(blocks[0]).expect("JSON")
        );
    }
}

// TOOL-09
#[test]
fn a_kind_that_is_not_known_keeps_everything_in_its_place() {
    for block in [
        r#"{"type":"hologram","text":"a","data":[1.50],"_meta":null}"#,
        r#"{"text":"a","data":{"b":2},"type":"hologram","size":1e2}"#,
        r#"{"data":null,"text":5,"z":"\u00e9","type":"hologram"}"#,
    ] {
        let read = read(block);
        assert_eq!(read.kind(), "hologram");
        assert_eq!(text(&read), block);
    }
}

#[test]
fn a_block_without_a_kind_or_with_one_that_is_no_word_is_kept() {
    for block in
        [r#"{"text":"a","x":1}"#, "{}", r#"{"type":5,"text":"a"}"#, r#"{"a":1,"type":null}"#]
    {
        let read = read(block);
        assert_eq!(read.kind(), "");
        assert_eq!(text(&read), block);
    }
}

#[test]
fn a_block_that_lacks_what_its_kind_needs_loses_nothing_and_no_other_block() {
    for block in [
        r#"{"type":"text"}"#,
        r#"{"type":"text","text":{"en":"a"},"x":1}"#,
        r#"{"type":"image","data":"AA=="}"#,
        r#"{"type":"resource","resource":{"text":"x"}}"#,
        r#"{"type":"resource","resource":"r"}"#,
        r#"{"type":"resource_link","name":"n"}"#,
        r#"{"type":"tool_use","id":1,"name":"t","input":{}}"#,
        r#"{"type":"tool_result","toolUseId":"1","content":"z"}"#,
    ] {
        let list: Vec<Content> =
            serde_json::from_str(&format!(r#"[{block},{{"type":"text","text":"after"}}]"#))
                .expect("a list");
        assert!(matches!(list[0], Content::Other(_)), "{block}");
        assert_eq!(list[1].as_text(), Some("after"));
        assert_eq!(
            serde_json::from_str::<Value>(&text(&list[0])).expect("JSON"),
            serde_json::from_str::<Value>(block).expect("JSON")
        );
    }
}

#[test]
fn what_is_no_block_loses_no_other_block() {
    let list = r#"[null,5,"text",[1.50],{"type":"text","text":"a"},true]"#;
    let result: CallToolResult =
        serde_json::from_str(&format!(r#"{{"content":{list}}}"#)).expect("a result");
    assert_eq!(result.text(), "a");
    assert_eq!(serde_json::to_string(&result.content).expect("text"), list);
}

#[test]
fn of_two_kinds_the_last_counts() {
    let block = read(r#"{"type":"image","text":"a","type":"text"}"#);
    assert_eq!(text(&block), r#"{"type":"text","text":"a"}"#);
    let block = read(r#"{"type":"text","text":"a","type":"image"}"#);
    assert_eq!((block.kind(), block.as_text()), ("image", None));
    let block = read(r#"{"type":"x","text":"a","type":"text"}"#);
    assert_eq!(block.as_text(), Some("a"));
    let block = read(r#"{"type":"text","type":"y","text":"a"}"#);
    assert_eq!(text(&block), r#"{"type":"y","text":"a"}"#);
}

#[test]
fn only_an_object_is_a_block() {
    for other in ["null", "5", "\"text\"", "[]", "true"] {
        assert!(serde_json::from_str::<Content>(other).is_err(), "{other}");
    }
}

#[test]
fn it_reads_from_a_tree_in_which_the_kind_comes_last() {
    let tree: Value =
        serde_json::json!({ "type": "text", "text": "a", "annotations": { "priority": 0.5 } });
    let block: Content = serde_json::from_value(tree.clone()).expect("a block");
    assert_eq!(block.as_text(), Some("a"));
    assert_eq!(serde_json::to_value(&block).expect("JSON"), tree);
}
