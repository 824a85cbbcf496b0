//! Where the unasked notifications of a session are handed to those who listen.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use snodo_transport::{Inbox, Incoming};
use snodo_types::{Body, InboxLimits, Message, ResourceParams, SubscriptionFilter, TransportError};

/// The listeners of one connection. Without any, a notification costs nothing.
#[derive(Default)]
pub(crate) struct Bridge(Mutex<State>);

#[derive(Default)]
struct State {
    listeners: HashMap<u64, Listener>,
    next: u64,
    /// How many listeners watch a resource.
    watched: HashMap<String, usize>,
    /// The newest connection that fed the bridge; what older ones say of their end is no news.
    epoch: u64,
    /// Why nothing comes any more, until it does again.
    lost: Option<Loss>,
}

/// The end of what a connection told.
#[derive(Clone, Debug)]
pub(super) struct Loss {
    /// Of this connection.
    pub(super) epoch: u64,
    pub(super) why: TransportError,
}

struct Listener {
    filter: SubscriptionFilter,
    inbox: Inbox,
    waker: Option<Waker>,
    /// The connection it heard of last.
    epoch: u64,
    /// What comes next follows a gap of unknown length.
    resumed: bool,
}

/// What a listener finds.
pub(super) enum Heard {
    Event(Incoming),
    /// Nothing comes any more. The listener is woken when it does again.
    Lost(Loss),
    /// It comes again; something may have been missed.
    Resumed,
}

impl Bridge {
    /// Adds a listener that begins with this connection; gives its number.
    pub(super) fn add(&self, epoch: u64, limits: InboxLimits) -> u64 {
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        let (filter, inbox) = (SubscriptionFilter::new(), Inbox::new(limits));
        let listener = Listener { filter, inbox, waker: None, epoch, resumed: false };
        state.listeners.insert(number, listener);
        number
    }

    /// What a listener is to be told.
    pub(super) fn set_filter(&self, number: u64, filter: &SubscriptionFilter) {
        if let Some(listener) = self.lock().listeners.get_mut(&number) {
            listener.filter = filter.clone();
        }
    }

    pub(super) fn remove(&self, number: u64) {
        self.lock().listeners.remove(&number);
    }

    /// One more watches a resource; says whether it is the first.
    pub(super) fn watch(&self, uri: &str) -> bool {
        let mut state = self.lock();
        let watchers = state.watched.entry(uri.to_owned()).or_default();
        *watchers += 1;
        *watchers == 1
    }

    /// One less watches a resource; says whether it was the last.
    pub(super) fn unwatch(&self, uri: &str) -> bool {
        let mut state = self.lock();
        let Some(watchers) = state.watched.get_mut(uri) else { return false };
        *watchers -= 1;
        let last = *watchers == 0;
        if last {
            state.watched.remove(uri);
        }
        last
    }

    /// Whether anybody listens.
    pub(crate) fn is_heard(&self) -> bool {
        !self.lock().listeners.is_empty()
    }

    /// What everybody together watches.
    pub(crate) fn watched(&self) -> Vec<String> {
        self.lock().watched.keys().cloned().collect()
    }

    pub(super) fn poll(&self, number: u64, cx: &Context<'_>) -> Poll<Heard> {
        let mut state = self.lock();
        let lost = state.lost.clone();
        let Some(listener) = state.listeners.get_mut(&number) else { return Poll::Pending };
        if let Some(Ok(next)) = listener.inbox.take() {
            return Poll::Ready(Heard::Event(next));
        }
        listener.waker = Some(cx.waker().clone());
        if let Some(loss) = lost {
            return Poll::Ready(Heard::Lost(loss));
        }
        if std::mem::take(&mut listener.resumed) {
            return Poll::Ready(Heard::Resumed);
        }
        Poll::Pending
    }

    /// Hands a notification to everybody who wants it.
    pub(crate) fn publish(&self, message: &Message) {
        let Body::Notification { method, params } = message.body() else { return };
        let mut wakers = Vec::new();
        for listener in self.lock().listeners.values_mut() {
            if wants(&listener.filter, method, params) {
                listener.inbox.push(message.clone());
                wakers.extend(listener.waker.take());
            }
        }
        wakers.into_iter().for_each(Waker::wake);
    }

    /// So many messages were lost before anybody could see whom they concern.
    pub(crate) fn miss(&self, count: u64) {
        self.change(|listener| listener.inbox.miss(count), |_| {});
    }

    /// What this connection told is over.
    pub(crate) fn lose(&self, epoch: u64, why: TransportError) {
        let lose = |state: &mut State| {
            if epoch >= state.epoch {
                (state.epoch, state.lost) = (epoch, Some(Loss { epoch, why }));
            }
        };
        self.change(|_| {}, lose);
    }

    /// The stream of this connection was opened anew: what came between is not known.
    pub(crate) fn reopened(&self, epoch: u64) {
        self.change(|listener| listener.resumed |= listener.epoch == epoch, |_| {});
    }

    /// It goes on, on this connection.
    pub(crate) fn resume(&self, epoch: u64) {
        let tell = |listener: &mut Listener| {
            listener.resumed |= listener.epoch < epoch;
            listener.epoch = epoch;
        };
        self.change(tell, |state| (state.epoch, state.lost) = (epoch, None));
    }

    fn change(&self, tell: impl Fn(&mut Listener), change: impl FnOnce(&mut State)) {
        let mut wakers = Vec::new();
        let mut state = self.lock();
        change(&mut state);
        for listener in state.listeners.values_mut() {
            tell(listener);
            wakers.extend(listener.waker.take());
        }
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Bridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bridge({} listeners)", self.lock().listeners.len())
    }
}

/// A listener's place, given back when it is dropped.
pub(super) struct Place {
    pub(super) bridge: Arc<Bridge>,
    pub(super) number: u64,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.bridge.remove(self.number);
    }
}

/// What a server tells of a resource may be about a part of what was subscribed to, whose URI goes
/// on behind it.
fn wants(filter: &SubscriptionFilter, method: &str, params: Option<&str>) -> bool {
    match method {
        "notifications/tools/list_changed" => filter.tools_list_changed == Some(true),
        "notifications/prompts/list_changed" => filter.prompts_list_changed == Some(true),
        "notifications/resources/list_changed" => filter.resources_list_changed == Some(true),
        "notifications/resources/updated" => {
            let told =
                params.and_then(|params| serde_json::from_str::<ResourceParams>(params).ok());
            told.is_some_and(|told| {
                filter.resources().iter().any(|uri| told.uri.starts_with(uri.as_str()))
            })
        }
        _ => false,
    }
}
