//! A server that asks before it answers, in the way of each version; examples share it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};
use snodo::ProtocolVersion;
use snodo::direct::{Context, Runtime, Server};
use snodo::transport::{Exchange, Incoming};
use snodo::types::{Body, Message, RequestId};
use tokio::sync::oneshot;

/// A name, a method and params.
type Question = (&'static str, &'static str, Value);

/// Its one tool, `book`, asks before it books.
pub(crate) struct Asking {
    questions: Vec<Question>,
    /// Who waits for the answer to a question of its own.
    waiting: Arc<Mutex<HashMap<String, oneshot::Sender<Value>>>>,
    rest: Server,
}

impl Asking {
    /// Asks some of `form`, `model`, `page` and `roots`.
    pub(crate) fn new(names: &[&str]) -> Self {
        let mut questions = questions();
        questions.retain(|(name, ..)| names.contains(name));
        Self { questions, waiting: Arc::default(), rest: Server::new("travel", "1.0.0") }
    }

    /// Stateless versions: the questions are an answer of their own, and the call comes again.
    fn ask_first(&self, id: &RequestId, params: &Value) -> Exchange {
        let answers = params["inputResponses"].as_object();
        let result = answers.map(booked).unwrap_or_else(|| {
            let ask = |(name, method, params): &Question| {
                ((*name).to_owned(), json!({ "method": method, "params": params }))
            };
            let requests: Map<_, _> = self.questions.iter().map(ask).collect();
            json!({ "resultType": "input_required", "inputRequests": requests, "requestState": "s1" })
        });
        Exchange::ready(Message::result(id, &result.to_string()))
    }

    /// Versions with a session: the questions are requests of the server's, while the call waits.
    fn ask_meanwhile(&self, id: RequestId) -> Exchange {
        let (questions, waiting) = (self.questions.clone(), Arc::clone(&self.waiting));
        Exchange::generate(|sender| async move {
            let mut answers = Map::new();
            for (name, method, params) in questions {
                let (tell, told) = oneshot::channel();
                waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(name.into(), tell);
                let ask =
                    json!({ "jsonrpc": "2.0", "id": name, "method": method, "params": params });
                let ask = Message::parse(ask.to_string()).expect("a request is written above");
                sender.send(Incoming::Message(ask)).await;
                answers.insert(name.to_owned(), told.await.unwrap_or_default());
            }
            sender
                .send(Incoming::Message(Message::result(&id, &booked(&answers).to_string())))
                .await;
            Ok(())
        })
    }
}

impl Runtime for Asking {
    fn versions(&self) -> Vec<ProtocolVersion> {
        Runtime::versions(&self.rest)
    }

    fn dispatch(&self, message: Message, context: Context) -> Exchange {
        match message.body() {
            Body::Request { id, method: "tools/call", params } => match context.session() {
                Some(_) => self.ask_meanwhile(id.clone()),
                None => {
                    let params = serde_json::from_str(params.unwrap_or("{}")).unwrap_or_default();
                    self.ask_first(id, &params)
                }
            },
            Body::Result { id: RequestId::Text(id), result } => {
                let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(tell) = waiting.remove(id) {
                    // Whoever asked may have been given up meanwhile.
                    let _ = tell.send(serde_json::from_str(result).unwrap_or_default());
                }
                Exchange::sent()
            }
            _ => self.rest.dispatch(message, context),
        }
    }
}

/// What can be asked: a form with a default, a model's opinion, a page to open, the roots.
fn questions() -> Vec<Question> {
    let seats = json!({ "type": "integer", "default": 1 });
    let fields = json!({ "name": { "type": "string" }, "seats": seats });
    let schema = json!({ "type": "object", "properties": fields, "required": ["name"] });
    let form = json!({ "message": "Who travels?", "requestedSchema": schema });
    let user = json!({ "role": "user", "content": { "type": "text", "text": "Which seat?" } });
    let url = "https://pay.example/42";
    let page = json!({ "mode": "url", "message": "Pay", "url": url, "elicitationId": "42" });
    vec![
        ("form", "elicitation/create", form),
        ("model", "sampling/createMessage", json!({ "messages": [user], "maxTokens": 16 })),
        ("page", "elicitation/create", page),
        ("roots", "roots/list", json!({})),
    ]
}

/// The result: what was answered, in words.
fn booked(answers: &Map<String, Value>) -> Value {
    let lines = answers.iter().map(|(name, answer)| format!("  {name}: {answer}"));
    let text = format!("booked with\n{}", lines.collect::<Vec<_>>().join("\n"));
    json!({ "content": [{ "type": "text", "text": text }] })
}
