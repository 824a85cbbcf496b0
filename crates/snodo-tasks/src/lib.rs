//! Tasks for clients of the Model Context Protocol: calls of tools that are answered later.
//!
//! A [`TaskClient`] calls a tool and is told either its result or a [`TaskHandle`], by which the task
//! is asked after, answered, cancelled and waited for. The handle can be stored and used by another
//! process.
//!
//! ```
//! use snodo::Client;
//! use snodo_tasks::{Called, TaskClient, TaskOutcome};
//!
//! # async fn run(client: Client) -> Result<(), snodo::Error> {
//! let tasks = TaskClient::new(&client);
//! match tasks.call_tool("report", serde_json::json!({ "year": 2026 })).await? {
//!     Called::Complete(reply) => println!("{}", reply.text()),
//!     Called::Task(task) => match tasks.wait(&task).await? {
//!         TaskOutcome::Cancelled(_) => println!("somebody gave it up"),
//!         TaskOutcome::Complete(result) => println!("{}", result.text()),
//!         TaskOutcome::Failed(error) => println!("{error}"),
//!         TaskOutcome::InputRequired(state) => println!("{} questions", state.requests().count()),
//!     },
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Which versions have tasks
//!
//! - The stateless versions have them as the extension `io.modelcontextprotocol/tasks`: the server
//!   alone decides whether a call becomes one. The extension is declared with each request made
//!   here, and with all of a client's where it is registered ([`Tasks`]).
//! - The version before has them in its core, as an experiment: the client asks for a task, where
//!   the server and the tool allow it. What the tool allows is read from its definition.
//! - Older versions have none: every call is answered at once.
//!
//! The two kinds do not mix: a handle of the one means nothing where the other is spoken.
//!
//! # What it does not do
//!
//! Nothing here runs by itself: a task goes on at the server whether or not anybody waits. Progress
//! is told to a call until that is answered; what comes for a task afterwards is not told. Waiting
//! asks, and does not listen: status that a server pushes ([`TaskClient::listen`]) only ever repeats
//! what asking tells.
//!
//! # Runtime
//!
//! Waiting runs on tokio, with its time enabled.

mod call;
mod client;
mod extension;
mod handle;
mod kind;
mod state;
mod wait;

pub use call::{CallTool, Called};
pub use client::TaskClient;
pub use extension::Tasks;
pub use handle::TaskHandle;
pub use state::TaskState;
pub use wait::{TaskOutcome, Wait};
#[cfg(test)]
mod tests;
