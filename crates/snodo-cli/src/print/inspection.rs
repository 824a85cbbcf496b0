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
    for (number, line) in inspection.instructions.iter().flat_map(|text| text.lines()).enumerate() {
        row(&mut lines, if number == 0 { "instructions" } else { "" }, line);
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
