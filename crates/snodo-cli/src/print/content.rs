//! What tools, resources and prompts say.

use snodo::types::{
    CallToolResult, CompleteResult, Content, GetPromptResult, ReadResourceResult, Resource,
    ResourceContents,
};

use super::document::pretty;
use crate::safe;

/// What a tool said: its text, and of other kinds what they are.
pub(crate) fn tool(result: &CallToolResult) -> String {
    let mut lines = String::new();
    for content in &result.content {
        add(&mut lines, content);
    }
    if let (true, Some(structured)) = (result.content.is_empty(), &result.structured_content) {
        lines.push_str(&pretty(structured.text()));
    }
    lines
}

/// What a resource holds.
pub(crate) fn resource(result: &ReadResourceResult) -> String {
    let mut lines = String::new();
    for contents in &result.contents {
        add_contents(&mut lines, contents);
    }
    lines
}

/// The messages of a prompt, each after its role.
pub(crate) fn prompt(result: &GetPromptResult) -> String {
    let mut lines = String::new();
    for message in &result.messages {
        lines.push_str(&safe::line(message.role.as_str()));
        lines.push_str(": ");
        add(&mut lines, &message.content);
    }
    lines
}

/// The values that an argument may have, one a line.
pub(crate) fn completion(result: &CompleteResult) -> String {
    let values = result.completion.values.iter();
    let mut lines: String = values.map(|value| format!("{}\n", safe::line(value))).collect();
    if result.completion.has_more() {
        lines.push_str("…\n");
    }
    lines
}

fn add(lines: &mut String, content: &Content) {
    match content {
        Content::Text(block) => add_text(lines, &block.text),
        Content::Audio(block) | Content::Image(block) => {
            add_note(lines, &format!("{}, {}", block.mime_type, size_of_base64(&block.data)));
        }
        Content::Resource(block) => add_contents(lines, &block.resource),
        Content::ResourceLink(link) => add_note(lines, &describe(link)),
        other => add_note(lines, other.kind()),
    }
}

fn add_contents(lines: &mut String, contents: &ResourceContents) {
    match (&contents.text, &contents.blob) {
        (Some(text), _) => add_text(lines, text),
        (None, blob) => {
            let kind = contents.mime_type.as_deref().unwrap_or("application/octet-stream");
            let size = size_of_base64(blob.as_deref().unwrap_or_default());
            add_note(lines, &format!("{}: {kind}, {size}", contents.uri));
        }
    }
}

fn describe(link: &Resource) -> String {
    match &link.mime_type {
        Some(kind) => format!("{}: {kind}", link.uri),
        None => link.uri.clone(),
    }
}

fn add_text(lines: &mut String, text: &str) {
    lines.push_str(&safe::text(text));
    if !text.ends_with('\n') {
        lines.push('\n');
    }
}

/// What cannot be shown is named.
fn add_note(lines: &mut String, note: &str) {
    lines.push('[');
    lines.push_str(&safe::line(note));
    lines.push_str("]\n");
}

/// How much a base64 text stands for.
fn size_of_base64(data: &str) -> String {
    let digits = data.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=').count();
    let bytes = digits / 4 * 3 + digits % 4 * 3 / 4;
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KiB", bytes.div_ceil(1024)),
        _ => format!("{}.{} MiB", bytes / 1_048_576, bytes % 1_048_576 * 10 / 1_048_576),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use snodo::types::{CallToolResult, Content, GetPromptResult, ReadResourceResult};

    use super::{prompt, resource, size_of_base64, tool};

    #[test]
    fn text_is_shown_and_other_kinds_are_named() {
        let result: CallToolResult = serde_json::from_value(json!({ "content": [
            { "type": "text", "text": "one\ntwo" },
            { "type": "image", "mimeType": "image/png", "data": "A".repeat(16_384) },
            { "type": "audio", "mimeType": "audio/wav\u{1b}", "data": "AAA=" },
            { "type": "resource", "resource": { "uri": "a:b", "text": "inner\n" } },
            { "type": "resource", "resource": { "uri": "a:b", "blob": "AAAA" } },
            { "type": "resource_link", "uri": "c:d", "name": "n", "mimeType": "text/plain" },
            { "type": "hologram", "x": 1 },
        ] }))
        .expect("a result");
        assert_eq!(
            tool(&result),
            "one\ntwo\n[image/png, 12 KiB]\n[audio/wav\\u{1b}, 2 bytes]\ninner\n\
             [a:b: application/octet-stream, 3 bytes]\n[c:d: text/plain]\n[hologram]\n"
        );
    }

    #[test]
    fn structure_is_shown_where_nothing_else_is_said() {
        let both = CallToolResult::from_structured(json!({ "a": 1 }));
        assert_eq!(tool(&both), "{\"a\":1}\n");
        let alone = CallToolResult::default().with_structured(json!({ "a": 1 }));
        assert_eq!(tool(&alone), "{\n  \"a\": 1\n}\n");
        assert_eq!(tool(&CallToolResult::new(vec![Content::text("")])), "\n");
    }

    #[test]
    fn messages_stand_after_their_role_and_contents_one_after_another() {
        let rendered: GetPromptResult = serde_json::from_value(json!({ "messages": [
            { "role": "user", "content": { "type": "text", "text": "hi\u{9b}" } },
            { "role": "assistant", "content": { "type": "image", "mimeType": "i/x", "data": "" } },
        ] }))
        .expect("a result");
        assert_eq!(prompt(&rendered), "user: hi\\u{9b}\nassistant: [i/x, 0 bytes]\n");
        let read: ReadResourceResult = serde_json::from_value(json!({ "contents": [
            { "uri": "a:b", "text": "one" },
            { "uri": "a:c", "mimeType": "image/gif", "blob": "AAAA" },
        ] }))
        .expect("a result");
        assert_eq!(resource(&read), "one\n[a:c: image/gif, 3 bytes]\n");
    }

    #[test]
    fn sizes_are_those_of_the_decoded_bytes() {
        let sizes = ["", "QQ==", "QUI=", "QUJD", "QU\r\nJD"].map(size_of_base64);
        assert_eq!(sizes, ["0 bytes", "1 bytes", "2 bytes", "3 bytes", "3 bytes"]);
        assert_eq!(size_of_base64(&"A".repeat(1366)), "1 KiB");
        assert_eq!(size_of_base64(&"A".repeat(2_097_152)), "1.5 MiB");
    }
}
