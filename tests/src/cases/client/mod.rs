//! The client's side of a scripted case: how it is made, what it does, what it should show.

mod act;
mod expect;
mod heard;
mod make;
mod measure;
mod result;
mod script;
mod step;

pub(crate) use act::Stage;
pub(crate) use expect::{Evidence, Expect};
pub(crate) use heard::Heard;
pub(crate) use make::{HttpStage, Target};
pub(crate) use measure::{Gauge, settle};
pub(crate) use result::{Expected, StepResult};
pub(crate) use script::{Baseline, ClientScript};
pub(crate) use step::{Action, Step};
