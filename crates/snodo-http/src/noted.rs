//! A future whose notes go ahead of its outcome.

use std::task::{Context, Poll};

use snodo_transport::{BoxFuture, Incoming};

use crate::credentials::Notes;

/// A request under way, while which credentials may wait for a person.
pub(crate) struct Noted<T> {
    step: Step<T>,
    notes: Option<Notes>,
}

/// What comes of it: notes first, the outcome last and once.
pub(crate) enum Heard<T> {
    Note(Incoming),
    Outcome(T),
}

enum Step<T> {
    Running(BoxFuture<'static, T>),
    Over(Option<T>),
}

impl<T> Noted<T> {
    pub(crate) fn new(
        future: impl Future<Output = T> + Send + 'static,
        notes: Option<Notes>,
    ) -> Self {
        Self { step: Step::Running(Box::pin(future)), notes }
    }

    /// The next note, or the outcome. Nobody polls again behind that.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Heard<T>> {
        // What was noted is heard before anything else is done.
        if let Some(note) = self.notes.as_ref().and_then(Notes::take) {
            return Poll::Ready(Heard::Note(note));
        }
        if let Step::Running(future) = &mut self.step
            && let Poll::Ready(outcome) = future.as_mut().poll(cx)
        {
            self.step = Step::Over(Some(outcome));
        }
        if let Some(note) = self.notes.as_ref().and_then(Notes::take) {
            return Poll::Ready(Heard::Note(note));
        }
        match &mut self.step {
            Step::Over(outcome) => {
                outcome.take().map_or(Poll::Pending, |outcome| Poll::Ready(Heard::Outcome(outcome)))
            }
            Step::Running(_) => Poll::Pending,
        }
    }
}
