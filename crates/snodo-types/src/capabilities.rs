//! What the two sides can do.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

use crate::object::{Member, Read, object_text, read_whole};
use crate::{Members, Raw, lens};

/// What a client can do: the text as it is sent, with typed questions.
///
/// ```
/// use snodo_types::ClientCapabilities;
///
/// let mine = ClientCapabilities::new()
///     .with("sampling", serde_json::json!({ "tools": {} }))
///     .with("elicitation", serde_json::json!({}));
/// assert!(mine.sampling() && mine.sampling_tools());
/// assert!(mine.elicitation_form() && !mine.elicitation_url());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ClientCapabilities(Raw);

/// What a server can do: the text as it came, with typed questions.
///
/// The set is open: what is not known here is asked for by [`get`](Self::get).
///
/// ```
/// use snodo_types::ServerCapabilities;
///
/// let text = r#"{"tools": {"listChanged": true}, "completions": {}, "com.example/x": {}}"#;
/// let theirs: ServerCapabilities = serde_json::from_str(text)?;
/// assert!(theirs.tools() && theirs.tools_list_changed() && theirs.completions());
/// assert!(!theirs.resources());
/// assert!(theirs.get(&["com.example/x"]).is_some());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ServerCapabilities(Raw);

impl ClientCapabilities {
    /// A client that can do nothing beside asking: `{}`.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says that the client can do this, with these settings.
    #[must_use]
    pub fn with(self, name: &str, settings: impl Into<Raw>) -> Self {
        Self(with(&self.0, name, settings.into()))
    }

    /// Says that the client speaks an extension, with these settings.
    #[must_use]
    pub fn with_extension(self, id: &str, settings: impl Into<Raw>) -> Self {
        let extensions = self.get(&["extensions"]).unwrap_or_default();
        let extensions = with(&extensions, id, settings.into());
        self.with("extensions", extensions)
    }

    /// The text.
    #[must_use]
    pub fn raw(&self) -> &Raw {
        &self.0
    }

    /// The value at the end of a path of names; `None` for `null`.
    #[must_use]
    pub fn get(&self, path: &[&str]) -> Option<Raw> {
        read(&self.0, path)
    }

    /// Answers `roots/list`.
    #[must_use]
    pub fn roots(&self) -> bool {
        declares(&self.0, &["roots"])
    }

    /// Tells when its roots change; in the versions opened by `initialize`.
    #[must_use]
    pub fn roots_list_changed(&self) -> bool {
        is_true(&self.0, &["roots", "listChanged"])
    }

    /// Answers `sampling/createMessage`.
    #[must_use]
    pub fn sampling(&self) -> bool {
        declares(&self.0, &["sampling"])
    }

    /// Samples with tools.
    #[must_use]
    pub fn sampling_tools(&self) -> bool {
        declares(&self.0, &["sampling", "tools"])
    }

    /// Includes context of servers in sampling.
    #[must_use]
    pub fn sampling_context(&self) -> bool {
        declares(&self.0, &["sampling", "context"])
    }

    /// Asks its user by forms. An empty `elicitation` means just that.
    #[must_use]
    pub fn elicitation_form(&self) -> bool {
        declares(&self.0, &["elicitation", "form"])
            || declares(&self.0, &["elicitation"]) && !self.elicitation_url()
    }

    /// Sends its user to a URL.
    #[must_use]
    pub fn elicitation_url(&self) -> bool {
        declares(&self.0, &["elicitation", "url"])
    }

    /// The settings for an extension the client speaks.
    #[must_use]
    pub fn extension(&self, id: &str) -> Option<Raw> {
        read(&self.0, &["extensions", id])
    }

    /// The settings for something outside the protocol.
    #[must_use]
    pub fn experimental(&self, name: &str) -> Option<Raw> {
        read(&self.0, &["experimental", name])
    }

    /// 2025-11-25: takes this request as a task, written as `sampling/createMessage`.
    #[must_use]
    pub fn task(&self, method: &str) -> bool {
        declares_task(&self.0, method)
    }
}

impl ServerCapabilities {
    /// A server that can do nothing: `{}`.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says that the server can do this, with these settings.
    #[must_use]
    pub fn with(self, name: &str, settings: impl Into<Raw>) -> Self {
        Self(with(&self.0, name, settings.into()))
    }

    /// Says that the server speaks an extension, with these settings.
    #[must_use]
    pub fn with_extension(self, id: &str, settings: impl Into<Raw>) -> Self {
        let extensions = self.get(&["extensions"]).unwrap_or_default();
        let extensions = with(&extensions, id, settings.into());
        self.with("extensions", extensions)
    }

    /// The text.
    #[must_use]
    pub fn raw(&self) -> &Raw {
        &self.0
    }

    /// The value at the end of a path of names; `None` for `null`.
    #[must_use]
    pub fn get(&self, path: &[&str]) -> Option<Raw> {
        read(&self.0, path)
    }

    /// Has tools.
    #[must_use]
    pub fn tools(&self) -> bool {
        declares(&self.0, &["tools"])
    }

    /// Tells when its tools change.
    #[must_use]
    pub fn tools_list_changed(&self) -> bool {
        is_true(&self.0, &["tools", "listChanged"])
    }

    /// Has resources.
    #[must_use]
    pub fn resources(&self) -> bool {
        declares(&self.0, &["resources"])
    }

    /// Tells when the list of its resources changes. Apart from
    /// [`resources_subscribe`](Self::resources_subscribe).
    #[must_use]
    pub fn resources_list_changed(&self) -> bool {
        is_true(&self.0, &["resources", "listChanged"])
    }

    /// Tells when a resource changes that somebody asked to watch.
    #[must_use]
    pub fn resources_subscribe(&self) -> bool {
        is_true(&self.0, &["resources", "subscribe"])
    }

    /// Has prompts.
    #[must_use]
    pub fn prompts(&self) -> bool {
        declares(&self.0, &["prompts"])
    }

    /// Tells when its prompts change.
    #[must_use]
    pub fn prompts_list_changed(&self) -> bool {
        is_true(&self.0, &["prompts", "listChanged"])
    }

    /// Sends log messages.
    #[must_use]
    pub fn logging(&self) -> bool {
        declares(&self.0, &["logging"])
    }

    /// Completes arguments.
    #[must_use]
    pub fn completions(&self) -> bool {
        declares(&self.0, &["completions"])
    }

    /// The settings for an extension the server speaks.
    #[must_use]
    pub fn extension(&self, id: &str) -> Option<Raw> {
        read(&self.0, &["extensions", id])
    }

    /// The settings for something outside the protocol.
    #[must_use]
    pub fn experimental(&self, name: &str) -> Option<Raw> {
        read(&self.0, &["experimental", name])
    }

    /// 2025-11-25: takes this request as a task, written as `tools/call`.
    #[must_use]
    pub fn task(&self, method: &str) -> bool {
        declares_task(&self.0, method)
    }
}

impl From<Raw> for ClientCapabilities {
    fn from(raw: Raw) -> Self {
        Self(raw)
    }
}

impl From<Raw> for ServerCapabilities {
    fn from(raw: Raw) -> Self {
        Self(raw)
    }
}

impl Member for ClientCapabilities {
    const EXPECTED: &'static str = "an object";

    fn read<'de, D: Deserializer<'de>>(source: D) -> Result<Read<Self>, D::Error> {
        object_text(source, Self)
    }
}

impl Member for ServerCapabilities {
    const EXPECTED: &'static str = "an object";

    fn read<'de, D: Deserializer<'de>>(source: D) -> Result<Read<Self>, D::Error> {
        object_text(source, Self)
    }
}

impl<'de> Deserialize<'de> for ClientCapabilities {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        read_whole(source)
    }
}

impl<'de> Deserialize<'de> for ServerCapabilities {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        read_whole(source)
    }
}

/// Anything but absence, `null` and `false` declares a capability.
fn declares(raw: &Raw, path: &[&str]) -> bool {
    lens::member(raw.text(), path).is_some_and(|text| text != "false")
}

fn is_true(raw: &Raw, path: &[&str]) -> bool {
    lens::member(raw.text(), path) == Some("true")
}

fn declares_task(raw: &Raw, method: &str) -> bool {
    method
        .split_once('/')
        .is_some_and(|(noun, verb)| declares(raw, &["tasks", "requests", noun, verb]))
}

fn read<T: DeserializeOwned>(raw: &Raw, path: &[&str]) -> Option<T> {
    lens::read(raw.text(), path)
}

fn with(raw: &Raw, name: &str, settings: Raw) -> Raw {
    let mut members: Members = raw.decode().unwrap_or_default();
    members.insert(name, settings);
    Raw::from(&members)
}

#[cfg(test)]
mod tests {
    use super::{ClientCapabilities, ServerCapabilities};

    fn client(text: &str) -> ClientCapabilities {
        serde_json::from_str(text).expect("JSON")
    }

    fn server(text: &str) -> ServerCapabilities {
        serde_json::from_str(text).expect("JSON")
    }

    // ELI-01
    #[test]
    fn an_empty_elicitation_means_forms_only() {
        let both = |text| (client(text).elicitation_form(), client(text).elicitation_url());
        assert_eq!(both("{}"), (false, false));
        assert_eq!(both(r#"{"elicitation":{}}"#), (true, false));
        assert_eq!(both(r#"{"elicitation":{"url":{}}}"#), (false, true));
        assert_eq!(both(r#"{"elicitation":{"form":{},"url":{}}}"#), (true, true));
    }

    // DISC-04, RES-06
    #[test]
    fn a_server_is_known_by_what_it_declares_and_unknown_names_stay() {
        let text = r#"{"tools":{},"resources":{"subscribe":true},"prompts":{"listChanged":true},
            "logging":null,"completions":false,"x":{"y":1},
            "extensions":{"com.example/a":{"b":2}},
            "tasks":{"requests":{"tools":{"call":{}}}}}"#;
        let theirs = server(text);
        assert!(theirs.tools() && !theirs.tools_list_changed());
        assert!(theirs.resources_subscribe() && !theirs.resources_list_changed());
        assert!(theirs.prompts_list_changed());
        assert!(!theirs.logging() && !theirs.completions());
        assert_eq!(theirs.get(&["x", "y"]).expect("kept").text(), "1");
        assert_eq!(theirs.extension("com.example/a").expect("kept").text(), r#"{"b":2}"#);
        assert!(theirs.task("tools/call") && !theirs.task("prompts/get"));
        assert_eq!(serde_json::to_string(&theirs).expect("text"), text);
    }

    // DISC-05
    #[test]
    fn a_client_declares_one_thing_after_another() {
        let mine = ClientCapabilities::new()
            .with("roots", serde_json::json!({}))
            .with_extension("com.example/a", serde_json::json!({}))
            .with_extension("com.example/b", serde_json::json!({ "c": 1 }));
        assert_eq!(
            mine.raw().text(),
            r#"{"roots":{},"extensions":{"com.example/a":{},"com.example/b":{"c":1}}}"#
        );
        assert!(mine.roots() && !mine.roots_list_changed() && !mine.sampling());
    }
}
