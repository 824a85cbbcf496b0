//! A server at the end of a byte pipe.

use std::collections::HashMap;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use snodo_transport::{Connect, Exchange, Incoming, Transport};
use snodo_types::{Body, Concern, Envelope, Message, RequestId, Routing};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

use super::fault::{Faults, Plan};

/// Serves one connection, until either side ends it.
pub(super) async fn serve<C: Connect>(
    connect: &C,
    faults: &Faults,
    pipe: impl AsyncRead + AsyncWrite + Send,
) {
    let Ok(transport) = connect.connect().await else { return };
    let transport = Arc::new(transport);
    let (read, mut write) = tokio::io::split(pipe);
    let (say, said) = mpsc::channel(SAID_WAITING);
    let mut lines = BufReader::new(read).lines();
    let unasked = {
        let (exchange, say) = (transport.unsolicited(Routing::new()), say.clone());
        let faults = faults.clone();
        async move {
            if let Some(exchange) = exchange {
                hand_on(exchange, None, &faults, &say).await;
            }
            // Nothing more that concerns no request says nothing about the pipe.
            pending().await
        }
    };
    let listening = async {
        let mut asked = JoinSet::new();
        let mut running: HashMap<u64, AbortHandle> = HashMap::new();
        loop {
            let line = tokio::select! {
                line = lines.next_line() => line,
                Some(_) = asked.join_next() => continue,
            };
            let Ok(Some(line)) = line else { return };
            // What is no message is skipped, as servers do.
            let Ok(message) = Message::parse(line) else { continue };
            if let Concern::Ends(given_up) = message.concerns()
                && let Some(running) = running.remove(&given_up)
            {
                running.abort();
            }
            let method = method_of(&message);
            let (transport, say, faults) = (Arc::clone(&transport), say.clone(), faults.clone());
            let id = message.id().and_then(RequestId::as_ours).filter(|_| method.is_some());
            running.retain(|_, running| !running.is_finished());
            let answering = asked.spawn(async move {
                let exchange = transport.exchange(envelope(message));
                hand_on(exchange, method.as_deref(), &faults, &say).await;
            });
            if let Some(id) = id {
                running.insert(id, answering);
            }
        }
    };
    tokio::select! {
        () = listening => {}
        () = unasked => {}
        () = write_all(&mut write, said) => {}
    }
    // The client sees the end, if it is there to see it.
    let _ = write.shutdown().await;
}

/// A message as a client of ours would send it.
pub(super) fn envelope(message: Message) -> Envelope {
    let listens = method_of(&message).is_some_and(|method| method == "subscriptions/listen");
    let opens = method_of(&message).is_some_and(|method| method == "initialize");
    let mut envelope = Envelope::from(message);
    (envelope.listen, envelope.opens_session) = (listens, opens);
    envelope
}

/// The method of a request.
pub(super) fn method_of(message: &Message) -> Option<String> {
    match message.body() {
        Body::Request { method, .. } => Some(method.to_owned()),
        _ => None,
    }
}

/// Something for the client, or the end of the pipe.
enum Said {
    End,
    Text(Plan, String),
}

/// Puts what comes on an exchange into the queue, each as late as it is to be.
async fn hand_on(
    mut exchange: Exchange,
    method: Option<&str>,
    faults: &Faults,
    say: &mpsc::Sender<Said>,
) {
    while let Some(next) = exchange.next().await {
        let said = match next {
            Ok(Incoming::Message(message)) => {
                let plan = faults.plan(&message, method);
                tokio::time::sleep(plan.delay).await;
                Said::Text(plan, message.into_text())
            }
            Ok(_) => continue,
            // On a pipe there is only one way to fail.
            Err(_) => Said::End,
        };
        if say.send(said).await.is_err() {
            return;
        }
    }
}

async fn write_all(write: &mut (impl AsyncWrite + Unpin), mut said: mpsc::Receiver<Said>) {
    while let Some(Said::Text(plan, text)) = said.recv().await {
        let mut all: String = plan.junk.iter().map(|junk| format!("{junk}\n")).collect();
        for _ in 0..plan.copies {
            all.push_str(&text);
            all.push('\n');
        }
        let (pieces, breaks) = plan.pieces(&all);
        for (pause, piece) in pieces {
            if pause > Duration::ZERO {
                tokio::time::sleep(pause).await;
            }
            let written = write.write_all(piece.as_bytes()).await;
            if written.is_err() || write.flush().await.is_err() {
                return;
            }
        }
        if breaks {
            return;
        }
    }
}

/// How many messages may wait for the pipe.
const SAID_WAITING: usize = 64;
