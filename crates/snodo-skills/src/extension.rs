//! Skills as an extension of the protocol.

use snodo::dialect::Extension;

/// The extension `io.modelcontextprotocol/skills`.
///
/// [`SkillClient`](crate::SkillClient) declares it with each of its own requests. Registered on a
/// client it is declared with every request of that.
///
/// ```
/// use snodo::Client;
/// use snodo_skills::Skills;
///
/// let builder = Client::builder().extension(Skills);
/// # let _ = builder;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the extension has no settings for clients")]
pub struct Skills;

impl Extension for Skills {
    fn id(&self) -> &str {
        ID
    }

    fn methods(&self) -> &[&str] {
        &[LIST, GET, DIRECTORY]
    }
}

pub(crate) const ID: &str = "io.modelcontextprotocol/skills";
pub(crate) const LIST: &str = "skills/list";
pub(crate) const GET: &str = "skills/get";
pub(crate) const DIRECTORY: &str = "resources/directory/read";
