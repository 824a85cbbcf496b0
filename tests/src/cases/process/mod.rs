//! Cases over stdio: a scripted child process.

mod check;
mod child;
mod diary;
mod run;
mod script;

pub use child::play as play_child;
pub(crate) use run::run;
pub use run::{ChildFiles, program};
