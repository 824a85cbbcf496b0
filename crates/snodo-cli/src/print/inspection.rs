//! What a server is, as a small table.

use snodo::types::{Implementation, Members, Raw};

use crate::run::Inspection;
use crate::safe;

pub(crate) fn inspection(inspection: &Inspection) -> String {
    let mut lines = String::new();
    let name = inspection.server.as_ref().map_or_else(|| "(not told)".to_owned(), describe);
    row(&mut lines, "server", &name);
    row(&mut lines, "protocol", &format!("{} ({})", inspection.version, inspection.era));
    row(&mut lines, "capabilities", &capabilities(inspection.capabilities.raw()));
    let instructions = inspection.instructions.as_deref().unwrap_or_default();
    let mut more = instructions.lines().filter(|line| !line.trim().is_empty());
    for (number, line) in more.by_ref().take(LINES).enumerate() {
        row(&mut lines, if number == 0 { "instructions" } else { "" }, line);
    }
    if more.next().is_some() {
        row(&mut lines, "", "… (--json shows all of it)");
    }
    lines
}

fn describe(server: &Implementation) -> String {
    let named = format!("{} {}", server.name, server.version);
    match server.title.as_deref().filter(|title| *title != server.name) {
        Some(title) => format!("{title} ({named})"),
        None => named,
    }
}

/// The names, each with the features it switches on.
fn capabilities(raw: &Raw) -> String {
    let capabilities: Members = raw.decode().unwrap_or_default();
    let shown: Vec<String> = capabilities
        .iter()
        .map(|(name, settings)| {
            let settings: Members = settings.decode().unwrap_or_default();
            let on = settings.iter().filter(|(_, value)| value.text() != "false");
            let on: Vec<&str> = on.map(|(name, _)| name).collect();
            if on.is_empty() { name.to_owned() } else { format!("{name} ({})", on.join(", ")) }
        })
        .collect();
    if shown.is_empty() { "(none)".to_owned() } else { shown.join(", ") }
}

fn row(lines: &mut String, name: &str, value: &str) {
    let line = format!("{name:14}{}", safe::line(value));
    lines.push_str(line.trim_end());
    lines.push('\n');
}

/// How many lines of a server's instructions are shown.
const LINES: usize = 4;

#[cfg(test)]
mod tests {
    use serde_json::json;
    use snodo::ProtocolVersion;
    use snodo::dialect::Era;
    use snodo::types::{Implementation, Raw};

    use super::inspection;
    use crate::run::Inspection;

    #[test]
    fn a_server_is_told_in_a_small_table() {
        let capabilities = json!({ "tools": { "listChanged": true, "x": false }, "logging": {} });
        let mut shown = Inspection {
            version: ProtocolVersion::V2025_11_25,
            era: Era::Initialize,
            server: Some(Implementation::new("s\u{1b}", "1").with_title("Server")),
            capabilities: Raw::from(capabilities).into(),
            instructions: Some("one\n\ntwo\nthree\nfour".to_owned()),
        };
        let table = "server        Server (s\\u{1b} 1)\n\
                     protocol      2025-11-25 (initialize)\n\
                     capabilities  logging, tools (listChanged)\n\
                     instructions  one\n              two\n              three\n              four\n";
        assert_eq!(inspection(&shown), table);
        shown.instructions = Some("one\n".repeat(5));
        assert!(inspection(&shown).ends_with("  one\n              … (--json shows all of it)\n"));
        (shown.server, shown.capabilities, shown.instructions) = (None, Default::default(), None);
        let table = "server        (not told)\nprotocol      2025-11-25 (initialize)\ncapabilities  (none)\n";
        assert_eq!(inspection(&shown), table);
    }
}
