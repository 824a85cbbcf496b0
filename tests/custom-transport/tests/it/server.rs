//! The server's side of WebSocket, which only the tests need.

use std::future::Future;
use std::net::Ipv4Addr;

use custom_transport::WebSocket;
use futures_util::{SinkExt, StreamExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};
use tokio_tungstenite::accept_async;
use tokio_tungstenite::tungstenite::Message as Frame;

/// A server on the loopback interface; it ends when it is dropped.
pub(crate) struct Server {
    port: u16,
    task: JoinHandle<()>,
}

impl Server {
    /// Serves each connection by calling a function with two queues of messages: what comes in, and
    /// what goes out. The connection ends when its future does.
    pub(crate) async fn start<F, G>(serve: F) -> Self
    where
        F: Fn(mpsc::Receiver<String>, mpsc::Sender<String>) -> G + Clone + Send + 'static,
        G: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                connections.spawn(bridge(socket, serve.clone()));
            }
        });
        Self { port, task }
    }

    pub(crate) fn target(&self) -> WebSocket {
        WebSocket::new(format!("ws://127.0.0.1:{}/mcp", self.port))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn bridge<F, G>(socket: TcpStream, serve: F)
where
    F: Fn(mpsc::Receiver<String>, mpsc::Sender<String>) -> G,
    G: Future<Output = ()>,
{
    let Ok(stream) = accept_async(socket).await else { return };
    let (mut sink, mut stream) = stream.split();
    let (hear, heard) = mpsc::channel(64);
    let (say, mut said) = mpsc::channel::<String>(64);
    let reading = async {
        while let Some(Ok(frame)) = stream.next().await {
            if let Frame::Text(text) = frame
                && hear.send(text.as_str().to_owned()).await.is_err()
            {
                return;
            }
        }
    };
    let writing = async {
        while let Some(text) = said.recv().await {
            if sink.send(Frame::text(text)).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = reading => {}
        () = writing => {}
        () = serve(heard, say) => {}
    }
}
