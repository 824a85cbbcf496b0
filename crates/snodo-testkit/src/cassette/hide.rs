//! What must not stand in a file.

/// Finds secrets in texts: those it was told, and what looks like one.
#[derive(Clone, Debug, Default)]
pub(super) struct Hide {
    /// Texts that are secret wherever they stand.
    texts: Vec<Secret>,
    /// Names of members, as [`plain`] writes them.
    members: Vec<String>,
}

#[derive(Clone)]
struct Secret(String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Hide {
    pub(super) fn text(&mut self, secret: &str) {
        // An empty text stands everywhere and is nobody's secret.
        if !secret.is_empty() {
            self.texts.push(Secret(secret.to_owned()));
        }
    }

    pub(super) fn member(&mut self, name: &str) {
        self.members.push(plain(name));
    }

    /// Whether what stands in a member of this name is secret.
    pub(super) fn is_secret(&self, name: &str) -> bool {
        let name = plain(name);
        let known = SECRET_ENDS.iter().any(|end| name.ends_with(end));
        known && !PUBLIC.contains(&name.as_str()) || self.members.contains(&name)
    }

    /// The text without the secrets in it; `None` if there are none.
    pub(super) fn within(&self, text: &str) -> Option<String> {
        let mut hidden = text.to_owned();
        for Secret(secret) in &self.texts {
            hidden = hidden.replace(secret, HIDDEN);
        }
        let hidden = self.hide_words(&hide_users(&hidden));
        (hidden != text).then_some(hidden)
    }

    /// The text without the secrets that were told, wherever they stand: in names too.
    pub(super) fn told(&self, mut line: String) -> String {
        for Secret(secret) in &self.texts {
            let quoted = super::json::quote(secret);
            let escaped = &quoted[1..quoted.len() - 1];
            line = line.replace(escaped, HIDDEN).replace(secret, HIDDEN);
        }
        line
    }

    /// Hides words that look like a credential, or stand behind what announces one.
    fn hide_words(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        // The word before, and what stands between it and this one.
        let (mut before, mut between) = ("", "");
        while let Some(start) = rest.find(is_word_character) {
            out.push_str(&rest[..start]);
            let word = &rest[start..];
            let word = &word[..word.find(|c| !is_word_character(c)).unwrap_or(word.len())];
            if looks_secret(word) || self.announces(before, between, word) {
                out.push_str(HIDDEN);
            } else {
                out.push_str(word);
            }
            rest = &rest[start + word.len()..];
            let gap = rest.find(is_word_character).unwrap_or(rest.len());
            (before, between) = (word, &rest[..gap]);
        }
        out.push_str(rest);
        out
    }

    fn announces(&self, before: &str, between: &str, word: &str) -> bool {
        let is_scheme =
            before.eq_ignore_ascii_case("bearer") || before.eq_ignore_ascii_case("basic");
        match between {
            " " if is_scheme => word.len() >= 8 && word.contains(|c: char| !c.is_ascii_lowercase()),
            // An option of a command line.
            " " => before.starts_with('-') && self.is_secret(before),
            "=" | "=\"" | "\":\"" | "\": \"" => self.is_secret(before),
            _ => false,
        }
    }
}

/// Letters and digits of a name, in lower case: `access_token` and `accessToken` are the same.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

fn is_word_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || "-._~+/".contains(character)
}

/// A JSON Web Token, or a key with a well-known beginning.
fn looks_secret(word: &str) -> bool {
    let is_jwt = word.starts_with("eyJ") && word.matches('.').count() >= 2 && word.len() > 30;
    is_jwt || KEYS.iter().any(|key| word.starts_with(key) && word.len() >= key.len() + 16)
}

/// Hides the user in `scheme://user:password@host`.
fn hide_users(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(found) = rest.find("://") {
        let (before, after) = rest.split_at(found + 3);
        out.push_str(before);
        let end = after.find(|c: char| c.is_whitespace() || "/?#\"'<>".contains(c));
        let authority = &after[..end.unwrap_or(after.len())];
        rest = after;
        if let Some(at) = authority.rfind('@') {
            out.push_str(HIDDEN);
            rest = &after[at..];
        }
    }
    out.push_str(rest);
    out
}

pub(super) const HIDDEN: &str = "(hidden)";

const SECRET_ENDS: [&str; 12] = [
    "accesskey",
    "apikey",
    "authorization",
    "clientsecret",
    "cookie",
    "credential",
    "passphrase",
    "password",
    "privatekey",
    "secret",
    "sessionid",
    "token",
];

/// Names with such an end that hold no secret.
const PUBLIC: [&str; 1] = ["progresstoken"];

const KEYS: [&str; 10] =
    ["AIza", "AKIA", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "sk-", "xoxb-", "xoxp-"];

#[cfg(test)]
mod tests {
    use super::Hide;

    fn hidden(text: &str) -> String {
        Hide::default().within(text).unwrap_or_else(|| "nothing".to_owned())
    }

    #[test]
    fn members_are_secret_by_their_names_however_they_are_written() {
        let hide = Hide::default();
        for name in ["access_token", "accessToken", "API-Key", "Authorization", "db.password"] {
            assert!(hide.is_secret(name), "{name}");
        }
        for name in ["progressToken", "maxTokens", "author", "tokens", "name", ""] {
            assert!(!hide.is_secret(name), "{name}");
        }
    }

    #[test]
    fn what_looks_like_a_credential_is_hidden_where_it_stands() {
        assert_eq!(
            hidden("Authorization: Bearer abcDEF123456=="),
            "Authorization: Bearer (hidden)=="
        );
        assert_eq!(
            hidden("see https://ann:pw@example.com/a?b=c"),
            "see https://(hidden)@example.com/a?b=c"
        );
        assert_eq!(
            hidden("https://x.test/?access_token=abc&n=1"),
            "https://x.test/?access_token=(hidden)&n=1"
        );
        assert_eq!(hidden(r#"{"password": "hunter2","n":1}"#), r#"{"password": "(hidden)","n":1}"#);
        assert_eq!(
            hidden("server --api-key k1 --token=t1"),
            "server --api-key (hidden) --token=(hidden)"
        );
        assert_eq!(hidden("key sk-0123456789abcdefXYZ!"), "key (hidden)!");
        assert_eq!(hidden("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"), "(hidden)");
    }

    #[test]
    fn what_only_sounds_like_one_stays() {
        for text in
            ["the bearer of good news", "A token: any word", "https://example.com/@ann", "sk-1", ""]
        {
            assert_eq!(hidden(text), "nothing", "{text}");
        }
    }

    #[test]
    fn what_it_was_told_is_hidden_everywhere() {
        let mut hide = Hide::default();
        hide.text("s3cr3t");
        hide.text("");
        hide.member("pin");
        assert_eq!(hide.within("a s3cr3ts3cr3t b").as_deref(), Some("a (hidden)(hidden) b"));
        assert!(hide.is_secret("PIN"));
        hide.text("a\"b");
        let line = r#"{"s3cr3t":1,"c":"a\"b"}"#;
        assert_eq!(hide.told(line.to_owned()), r#"{"(hidden)":1,"c":"(hidden)"}"#);
        assert!(!format!("{hide:?}").contains("s3cr3t"));
    }
}
