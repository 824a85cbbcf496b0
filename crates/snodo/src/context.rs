//! What a connection needs to answer its server.

use std::sync::{Arc, OnceLock};

use snodo_types::{Implementation, Raw};

use crate::handlers::Handlers;
use crate::served::Served;
use crate::subscription::Bridge;

/// The handlers, and what they are told; shared by the attendant and the calls.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) handlers: Arc<Handlers>,
    /// The most questions of the server's that are answered at once.
    pub(crate) max_server_requests: usize,
    /// Known once the connection is open; the first questions may come before.
    pub(crate) server: Arc<OnceLock<Implementation>>,
    pub(crate) served: Arc<Served>,
    /// Who listens to the server's own notifications.
    pub(crate) bridge: Arc<Bridge>,
}

impl Context {
    pub(crate) fn new(handlers: Arc<Handlers>, max_server_requests: usize) -> Self {
        Self {
            handlers,
            max_server_requests,
            server: Arc::default(),
            served: Arc::default(),
            bridge: Arc::default(),
        }
    }

    /// A machine that knows these handlers.
    pub(crate) fn machine(&self) -> snodo_engine::Attendant {
        snodo_engine::Attendant::new(self.handlers.answering(), self.max_server_requests)
    }

    /// Answers one question of the server's. The clock of waiting calls stands meanwhile.
    pub(crate) async fn answer(
        self,
        question: snodo_engine::Question,
    ) -> Result<Raw, snodo_engine::Refusal> {
        let _serving = self.served.begin();
        let server = self.server.get().cloned();
        self.handlers.answer(question, server).await.map_err(|error| {
            tracing::warn!(reason = error.reason(), "a handler did not answer the server");
            if error.is_rejected() {
                snodo_engine::Refusal::Rejected
            } else {
                snodo_engine::Refusal::Failed
            }
        })
    }
}
