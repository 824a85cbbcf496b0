//! Handlers that tell what becomes of them.

use std::sync::{Arc, Mutex, PoisonError};

use snodo::types::{Content, CreateMessageResult, ElicitResult, Roots};
use snodo::{Builder, Form, HandlerError};

/// Something that became of a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Handling {
    Began {
        method: String,
        /// The properties of a form, as the handler sees them.
        order: Vec<String>,
    },
    /// It was dropped before it had an answer.
    Stopped,
}

/// The handlers of one client, of every kind.
#[derive(Clone)]
pub(crate) struct Handlers {
    there: bool,
    /// They never answer, so that they can be stopped.
    blocking: bool,
    seen: Arc<Mutex<Vec<Handling>>>,
    told: Arc<Mutex<Vec<String>>>,
    faults: Arc<Mutex<Vec<i64>>>,
}

impl Handlers {
    pub(crate) fn new(there: bool, blocking: bool) -> Self {
        Self { there, blocking, seen: Arc::default(), told: Arc::default(), faults: Arc::default() }
    }

    pub(crate) fn install(&self, builder: Builder) -> Builder {
        let told = Arc::clone(&self.told);
        let builder = builder.on_notification(move |notification| {
            told.lock().unwrap_or_else(PoisonError::into_inner).push(notification.method().into());
        });
        let faults = Arc::clone(&self.faults);
        let builder = builder.on_stray_error(move |error| {
            faults.lock().unwrap_or_else(PoisonError::into_inner).push(error.code());
        });
        if !self.there {
            return builder;
        }
        let (forms, pages, messages, roots) =
            (self.clone(), self.clone(), self.clone(), self.clone());
        builder
            .on_form(move |form| forms.clone().form(form))
            .on_url(move |_| {
                pages.clone().answer("elicitation/create", Vec::new(), ElicitResult::decline())
            })
            .on_sampling(move |_| {
                let answer = CreateMessageResult::new("none", Content::text("no"));
                messages.clone().answer("sampling/createMessage", Vec::new(), answer)
            })
            .on_roots(move |_| roots.clone().answer("roots/list", Vec::new(), Roots::new()))
    }

    /// What has become of them since this was asked last.
    pub(crate) fn seen(&self) -> Vec<Handling> {
        std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The methods of the notifications since this was asked last.
    pub(crate) fn told(&self) -> Vec<String> {
        std::mem::take(&mut *self.told.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The codes of the errors that belong to no request, since this was asked last.
    pub(crate) fn faults(&self) -> Vec<i64> {
        std::mem::take(&mut *self.faults.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn form(self, form: Form) -> Result<ElicitResult, HandlerError> {
        let fields = form.fields()?;
        let order = fields.fields().map(|field| field.name.to_owned()).collect();
        self.answer("elicitation/create", order, ElicitResult::decline()).await
    }

    async fn answer<T>(
        self,
        method: &'static str,
        order: Vec<String>,
        answer: T,
    ) -> Result<T, HandlerError> {
        self.note(Handling::Began { method: method.to_owned(), order });
        let mut running = Running { handlers: self, answered: false };
        if running.handlers.blocking {
            std::future::pending::<()>().await;
        }
        running.answered = true;
        Ok(answer)
    }

    fn note(&self, handling: Handling) {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(handling);
    }
}

/// A handler at work.
struct Running {
    handlers: Handlers,
    answered: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.answered {
            self.handlers.note(Handling::Stopped);
        }
    }
}
