//! The conversations of an MCP client, as state machines.
//!
//! Each machine is one conversation: [`Negotiation`] for a connection, [`Call`] for a request,
//! [`Lookup`] for one that may be answered by what is kept, [`Pages`] for a list, [`Attendant`] for
//! what comes while nobody calls. A driver feeds it what
//! happened (`handle_message`, `handle_closed`, `handle_timeout`), takes out what is to be done
//! (`poll`), and sleeps until `deadline`. `now` is always an argument; nothing here waits, spawns
//! or asks a clock.
//!
//! What this crate never does: IO, async, locks, channels.

mod attend;
mod cache;
mod call;
mod deadline;
mod form;
mod negotiate;
mod page;
mod pages;
mod question;
mod rounds;
mod step;
mod subscribe;
mod verdict;

pub use attend::{Attendant, Duty, Refusal};
pub use cache::{
    Asking, Claim, Facts, Found, Group, Key, Leaving, Lookup, LookupStep, Turn, Whose, made_stale,
};
pub use call::{Call, Limits, Waits};
pub use form::fill_defaults;
pub use negotiate::{Negotiation, Opened, Plan, Session};
pub use page::page_host;
pub use pages::Pages;
pub use question::{Answer, Answering, Question};
pub use rounds::{HandlerFailure, handler_failed, questions};
pub use step::{Step, Terms};
pub use subscribe::{Ending, Subscription, Tidings};
