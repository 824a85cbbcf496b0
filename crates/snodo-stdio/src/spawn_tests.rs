//! Real processes.

use std::time::Duration;

use snodo_transport::{Connect, Incoming, Transport};
use snodo_types::{Envelope, Message, Routing, TransportError, TransportFault};

use super::Stdio;
use crate::{Pipe, Shutdown};

fn sh(script: &str) -> Stdio {
    let waits = Shutdown {
        after_stdin: Duration::from_millis(200),
        after_terminate: Duration::from_millis(200),
    };
    Stdio::new("sh").args(["-c", script]).shutdown(waits)
}

fn request(id: u64) -> Envelope {
    Envelope::request(id, format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#))
}

async fn call(pipe: &Pipe, id: u64) -> Result<Message, TransportError> {
    let mut exchange = pipe.exchange(request(id));
    loop {
        let next = exchange.next().await.expect("not over before the answer")?;
        if let Incoming::Message(message) = next {
            return Ok(message);
        }
    }
}

#[tokio::test]
async fn a_process_answers() {
    let server = sh(r#"while read line; do echo '{"jsonrpc":"2.0","id":1,"result":{}}'; done"#);
    let pipe = server.connect().await.expect("started");
    assert!(call(&pipe, 1).await.is_ok());
    let id = pipe.process_id().expect("it runs");
    pipe.close(Routing::new(), Duration::from_secs(5)).await;
    assert!(!std::path::Path::new(&format!("/proc/{id}")).exists());
}

#[tokio::test]
async fn a_process_that_dies_says_how() {
    let pipe = sh("echo 'cannot open database' >&2; exit 3").connect().await.expect("started");
    let error = call(&pipe, 1).await.expect_err("dead");
    assert_eq!(error.fault(), TransportFault::Exited);
    assert_eq!(error.exit(), Some("exit status 3"));
    assert_eq!(
        error.message(),
        "the server process exited with status 3; its error output ends: cannot open database"
    );
}
