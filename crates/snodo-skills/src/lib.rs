//! Agent Skills over the Model Context Protocol: instructions that a server serves for a model, with
//! the files that belong to them (extension `io.modelcontextprotocol/skills`).
//!
//! A [`SkillClient`] lists what a server offers, and loads a skill when it is needed:
//!
//! ```
//! use snodo::Client;
//! use snodo_skills::SkillClient;
//!
//! # async fn run(client: Client) -> Result<(), snodo_skills::Error> {
//! let skills = SkillClient::new(&client);
//! for skill in skills.list().await? {
//!     println!("{}: {}", skill.name(), skill.description());
//! }
//! let skill = skills.get("skill://pdf-processing/SKILL.md").await?;
//! let loaded = skills.load(&skill).await?;
//! println!("{}", loaded.body());
//! let forms = loaded.read("references/FORMS.md").await?;
//! # let _ = forms;
//! # Ok(())
//! # }
//! ```
//!
//! # What is verified
//!
//! An entry tells a skill's frontmatter and every file of it, with size and digest. What is read is held
//! against the entry it was loaded from: another size, another digest, another frontmatter, a file that
//! is not listed are all [`ErrorKind::Mismatch`], and nothing of what came is given out. Nothing is
//! fetched ahead of need: a list is one thing, its skills are another.
//!
//! A digest comes from the server that the content comes from. It shows that both agree, and nothing
//! else: what a skill says is the word of a stranger.
//!
//! # What is the host's
//!
//! - Asking the person before a skill is loaded, and binding a lasting consent to
//!   [`Skill::binding`]: another binding is another skill.
//! - Knowing a skill by its server *and* its URI, and telling the model where it comes from.
//! - Running nothing because a skill says so, and passing over `allowed-tools`, unless the person agreed
//!   to that.
//!
//! # Which versions have skills
//!
//! 2026-07-28 and later, where the server declares the extension.

mod client;
mod content;
mod error;
mod extension;
mod frontmatter;
mod loaded;
mod skill;
#[cfg(test)]
mod tests;
mod yaml;

pub use client::SkillClient;
pub use error::{Error, ErrorKind};
pub use extension::Skills;
pub use loaded::Loaded;
pub use skill::{Skill, SkillFile};
