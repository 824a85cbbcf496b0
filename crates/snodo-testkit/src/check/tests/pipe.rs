//! A transport over queues to the peer, which can be told to break a rule.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use snodo_transport::{
    Abilities, BoxFuture, Connect, Exchange, Incoming, Pending, Route, Transport,
};
use snodo_types::{Concern, Envelope, Message, Routing, TransportError, TransportFault};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;

use crate::Peer;

/// How the pipe breaks a rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Twist {
    /// It breaks none.
    None,
    /// A full inbox tells nobody that something was lost.
    CountsNothing,
    /// Its own closing does not end what waits.
    EndsNothing,
    /// What concerns no request is dropped.
    ForgetsUnasked,
    /// It lives on when it is dropped.
    HoldsOn,
    /// Its inbox has no bound.
    Hoards,
    /// An answer that nobody waits for breaks it.
    MindsLateAnswers,
    /// Each exchange that is dropped ends all others.
    OneForAll,
    /// It connects once.
    Once,
    /// Messages are written in pairs, the later first.
    SwapsPairs,
    /// Every exchange that is dropped is given up, also one that had its answer.
    TellsAlways,
    /// The same number again takes the place of the first.
    TakesOver,
    /// All connections have one table.
    Together,
    /// The end of the peer is told to nobody.
    UnawareOfTheEnd,
    /// The reader goes on only when what it read was taken.
    WaitsForReaders,
}

#[derive(Debug)]
pub(super) struct Pipes {
    pub(super) peer: Peer,
    pub(super) twist: Twist,
    pub(super) connected: AtomicBool,
    pub(super) together: Shared,
}

impl Pipes {
    pub(super) fn new(peer: &Peer, twist: Twist) -> Self {
        let together = Shared::new(twist, mpsc::channel(1).0);
        Self { peer: peer.clone(), twist, connected: AtomicBool::new(false), together }
    }
}

impl Connect for Pipes {
    type Transport = PipeTransport;

    async fn connect(&self) -> Result<PipeTransport, TransportError> {
        if self.connected.swap(true, Ordering::Relaxed) && self.twist == Twist::Once {
            return Err(TransportError::new(TransportFault::Connect, "once and never again"));
        }
        let (out, heard) = mpsc::channel(64);
        let (say, said) = mpsc::channel(64);
        let mut shared = Shared::new(self.twist, out);
        if self.twist == Twist::Together {
            shared.pending = Arc::clone(&self.together.pending);
        }
        let mut tasks = JoinSet::new();
        tasks.spawn(self.peer.clone().serve(heard, say));
        tasks.spawn(shared.clone().write());
        tasks.spawn(shared.clone().read(said));
        Ok(PipeTransport { shared, tasks: Some(tasks) })
    }
}

#[derive(Debug)]
pub(super) struct PipeTransport {
    shared: Shared,
    tasks: Option<JoinSet<()>>,
}

impl Transport for PipeTransport {
    fn exchange(&self, mut envelope: Envelope) -> Exchange {
        let shared = self.shared.clone();
        let twist = shared.twist;
        if twist == Twist::Hoards {
            envelope.inbox.capacity = usize::MAX;
        }
        Exchange::generate(|sender| async move {
            let mut opened = shared.pending().open(&envelope);
            if let (Err(_), Twist::TakesOver, Some(id)) = (&opened, twist, envelope.id) {
                shared.pending().forget(id);
                opened = shared.pending().open(&envelope);
            }
            opened?;
            shared.put(envelope.message.clone());
            let place = Place { shared, envelope };
            let shared = &place.shared;
            let Some(id) = place.envelope.id else {
                sender.send(Incoming::Sent).await;
                return Ok(());
            };
            while let Some(next) = poll_fn(|cx| shared.pending().poll(id, cx)).await {
                shared.unread.fetch_sub(1, Ordering::Relaxed);
                shared.taken.notify_one();
                let next = next?;
                if twist == Twist::CountsNothing && matches!(next, Incoming::Dropped(_)) {
                    continue;
                }
                sender.send(next).await;
            }
            Ok(())
        })
    }

    fn abilities(&self) -> Abilities {
        Abilities { listen: true, ..Abilities::default() }
    }

    fn unsolicited(&self, _: Routing) -> Option<Exchange> {
        let shared = self.shared.clone();
        let first = shared.pending().take_unsolicited();
        first.then(|| {
            Exchange::generate(|sender| async move {
                while let Some(next) = poll_fn(|cx| shared.pending().poll_unsolicited(cx)).await {
                    sender.send(next?).await;
                }
                Ok(())
            })
        })
    }

    fn close(&self, _: Routing, _: Duration) -> BoxFuture<'static, ()> {
        let shared = self.shared.clone();
        Box::pin(async move {
            match shared.twist {
                Twist::EndsNothing => shared.deaf.store(true, Ordering::Relaxed),
                _ => shared.end("closed"),
            }
        })
    }
}

impl Drop for PipeTransport {
    fn drop(&mut self) {
        if self.shared.twist == Twist::HoldsOn {
            self.tasks.take().into_iter().for_each(|mut tasks| tasks.detach_all());
        } else {
            self.shared.end("dropped");
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Shared {
    twist: Twist,
    pending: Arc<Mutex<Pending>>,
    /// Waits to be written.
    queue: Arc<Mutex<VecDeque<String>>>,
    more: Arc<Notify>,
    out: mpsc::Sender<String>,
    deaf: Arc<AtomicBool>,
    unread: Arc<AtomicUsize>,
    taken: Arc<Notify>,
}

impl Shared {
    fn new(twist: Twist, out: mpsc::Sender<String>) -> Self {
        Self {
            twist,
            pending: Arc::default(),
            queue: Arc::default(),
            more: Arc::default(),
            out,
            deaf: Arc::default(),
            unread: Arc::default(),
            taken: Arc::default(),
        }
    }

    fn put(&self, text: String) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).push_back(text);
        self.more.notify_one();
    }

    async fn write(self) {
        loop {
            let waiting = {
                let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
                std::mem::take(&mut *queue)
            };
            let mut waiting = Vec::from(waiting);
            if self.twist == Twist::SwapsPairs {
                waiting.chunks_mut(2).for_each(<[_]>::reverse);
            }
            for text in waiting {
                if self.out.send(text).await.is_err() {
                    return;
                }
            }
            self.more.notified().await;
        }
    }

    async fn read(self, mut said: mpsc::Receiver<String>) {
        while let Some(text) = said.recv().await {
            let Ok(message) = Message::parse(text) else { continue };
            while self.twist == Twist::WaitsForReaders && self.unread.load(Ordering::Relaxed) > 8 {
                self.taken.notified().await;
            }
            self.unread.fetch_add(1, Ordering::Relaxed);
            let concern = message.concerns();
            let is_lost = self.deaf.load(Ordering::Relaxed)
                || self.twist == Twist::ForgetsUnasked && concern == Concern::Nobody;
            if is_lost {
                continue;
            }
            let route = self.pending().deliver(message);
            match route {
                Route::Delivered(Some(reader)) => reader.wake(),
                Route::Delivered(None) => {}
                Route::Late if self.twist == Twist::MindsLateAnswers => self.end("late"),
                Route::Late => {}
            }
        }
        if self.twist != Twist::UnawareOfTheEnd {
            self.end("the peer went away");
        }
    }

    fn end(&self, why: &str) {
        let readers = self.pending().close(TransportError::new(TransportFault::Closed, why));
        readers.into_iter().for_each(Waker::wake);
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Place {
    shared: Shared,
    envelope: Envelope,
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(id) = self.envelope.id else { return };
        let unfinished = self.shared.pending().forget(id);
        if unfinished && self.shared.twist == Twist::OneForAll {
            self.shared.end("another exchange was dropped");
        }
        let tells = unfinished || self.shared.twist == Twist::TellsAlways;
        if let Some(abandon) = self.envelope.abandon.as_ref().filter(|_| tells) {
            self.shared.put(abandon.message(id));
        }
    }
}
