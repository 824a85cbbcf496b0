//! The end of a client: of its connection, and of those before.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, PoisonError, Weak};
use std::task::Poll;
use std::time::Duration;

use snodo_transport::BoxFuture;

use crate::client::Core;
use crate::connection::Connection;
use crate::timer;

impl Core {
    /// Ends the connection of today, and beside it those before, on which calls may be under way.
    pub(crate) async fn close(&self, today: Arc<Connection>, limit: Duration) {
        let before = self.before.lock().unwrap_or_else(PoisonError::into_inner).split_off(0);
        let before: Vec<_> = before.iter().filter_map(Weak::upgrade).collect();
        let mut endings: Vec<BoxFuture<'_, ()>> = vec![Box::pin(today.close(limit))];
        endings.push(Box::pin(self.made(limit)));
        for one in &before {
            endings.push(Box::pin(one.leave(limit)));
        }
        poll_fn(|cx| {
            endings.retain_mut(|ending| ending.as_mut().poll(cx).is_pending());
            if endings.is_empty() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    /// Waits for a connection that is being made: who makes it ends it.
    async fn made(&self, limit: Duration) {
        let (mut turn, mut alarm) = (pin!(self.renewal.turn()), pin!(timer::sleep(limit)));
        poll_fn(|cx| {
            let over = turn.as_mut().poll(cx).is_ready() || alarm.as_mut().poll(cx).is_ready();
            if over { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}
