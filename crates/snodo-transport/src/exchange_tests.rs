//! What an exchange that is written as a function promises.

use std::future::{Future, pending};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use futures_core::Stream;
use snodo_types::{TransportError, TransportFault};

use super::{Exchange, Incoming, Sender};

fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("ready at once"),
    }
}

/// A task that counts how often it is woken.
#[derive(Default)]
struct Task(AtomicUsize);

impl Task {
    fn new() -> (Arc<Self>, Waker) {
        let task = Arc::new(Self::default());
        (Arc::clone(&task), Waker::from(task))
    }

    fn woken(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// An exchange whose function waits for ever, and its sender.
fn waiting() -> (Exchange, Arc<Sender>) {
    let place = Arc::new(Mutex::new(None));
    let given = Arc::clone(&place);
    let exchange = Exchange::generate(move |sender| {
        *given.lock().expect("not poisoned") = Some(Arc::new(sender));
        pending()
    });
    let sender = place.lock().expect("not poisoned").take().expect("given at once");
    (exchange, sender)
}

fn poll(exchange: &mut Exchange, waker: &Waker) -> Option<u64> {
    match Pin::new(exchange).poll_next(&mut Context::from_waker(waker)) {
        Poll::Ready(Some(Ok(Incoming::Dropped(number)))) => Some(number),
        Poll::Ready(other) => panic!("unexpected: {other:?}"),
        Poll::Pending => None,
    }
}

#[test]
fn what_a_function_gave_before_it_failed_comes_first() {
    let mut exchange = Exchange::generate(|sender| async move {
        sender.send(Incoming::Dropped(1)).await;
        sender.send(Incoming::Dropped(2)).await;
        Err(TransportError::new(TransportFault::Closed, "over"))
    });
    assert!(matches!(now(exchange.next()), Some(Ok(Incoming::Dropped(1)))));
    assert!(matches!(now(exchange.next()), Some(Ok(Incoming::Dropped(2)))));
    assert!(matches!(now(exchange.next()), Some(Err(error)) if error.message() == "over"));
    assert!(now(exchange.next()).is_none());
    assert!(now(exchange.next()).is_none(), "the end stays the end");
}

#[test]
fn a_message_that_nothing_answers_is_over_once_it_is_sent() {
    let mut exchange = Exchange::sent();
    assert!(matches!(now(exchange.next()), Some(Ok(Incoming::Sent))));
    assert!(now(exchange.next()).is_none());
}

#[test]
fn a_sender_in_another_task_wakes_the_reader_and_is_woken_for_room() {
    let (mut exchange, sender) = waiting();
    let (reader, reader_waker) = Task::new();
    let (writer, writer_waker) = Task::new();
    let mut writing = Context::from_waker(&writer_waker);

    assert_eq!(poll(&mut exchange, &reader_waker), None);
    assert!(pin!(sender.send(Incoming::Dropped(1))).poll(&mut writing).is_ready());
    assert_eq!(reader.woken(), 1);

    let mut second = pin!(sender.send(Incoming::Dropped(2)));
    assert!(second.as_mut().poll(&mut writing).is_pending());
    assert_eq!(poll(&mut exchange, &reader_waker), Some(1));
    assert_eq!(writer.woken(), 1);
    assert!(second.as_mut().poll(&mut writing).is_ready());
    assert_eq!(poll(&mut exchange, &reader_waker), Some(2));
}

#[test]
fn a_function_that_sends_in_the_reader_s_task_does_not_wake_it_needlessly() {
    let mut exchange = Exchange::generate(|sender| async move {
        for number in 1..=3 {
            sender.send(Incoming::Dropped(number)).await;
        }
        pending().await
    });
    let (reader, waker) = Task::new();
    for number in 1..=3 {
        assert_eq!(poll(&mut exchange, &waker), Some(number));
    }
    assert_eq!(poll(&mut exchange, &waker), None);
    assert_eq!(reader.woken(), 0);
}

#[test]
fn nobody_waits_for_a_reader_that_is_gone() {
    let (exchange, sender) = waiting();
    let (writer, waker) = Task::new();
    let mut writing = Context::from_waker(&waker);
    now(sender.send(Incoming::Dropped(1)));
    let mut second = pin!(sender.send(Incoming::Dropped(2)));
    assert!(second.as_mut().poll(&mut writing).is_pending());
    drop(exchange);
    assert_eq!(writer.woken(), 1);
    assert!(second.as_mut().poll(&mut writing).is_ready());
    now(sender.send(Incoming::Dropped(3)));
}
