//! Who this client is to an authorization server.
//!
//! [`registration`] is what a client id comes with, [`application`] what a program says about
//! itself where it has none yet, [`register`] gets one from a server, [`authenticate`] shows it.

mod application;
pub(crate) mod authenticate;
pub(crate) mod register;
mod registration;

pub use application::{Application, ApplicationType};
pub use registration::Registration;
