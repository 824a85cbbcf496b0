//! Cases over stdio: a scripted child process.

mod check;
mod child;
mod diary;
mod run;
mod script;

pub use child::play as play_child;
pub use run::{ChildFiles, program};
pub(crate) use run::{neighbour, run};
