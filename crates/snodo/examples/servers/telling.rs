//! A server that tells two things to whoever listens, in the way of each version.

use serde_json::{Value, json};
use snodo::ProtocolVersion;
use snodo::direct::{Context, Runtime};
use snodo::transport::{Exchange, Incoming};
use snodo::types::{Body, Message, RequestId};

pub(crate) struct Telling;

impl Runtime for Telling {
    fn versions(&self) -> Vec<ProtocolVersion> {
        ProtocolVersion::ALL.to_vec()
    }

    fn dispatch(&self, message: Message, _: Context) -> Exchange {
        let Body::Request { id, method, params } = message.body() else { return Exchange::sent() };
        let params: Value = serde_json::from_str(params.unwrap_or("{}")).unwrap_or_default();
        let resources = json!({ "subscribe": true });
        let capabilities = json!({ "tools": { "listChanged": true }, "resources": resources });
        let (said, answer) = match method {
            "initialize" => {
                let info = json!({ "name": "telling", "version": "1.0.0" });
                let version = &params["protocolVersion"];
                let result = json!({ "protocolVersion": version, "capabilities": capabilities, "serverInfo": info });
                (vec![], Some(result))
            }
            // A stream of its own, which stays open: each thing told names it.
            "subscriptions/listen" => {
                let stream = json!({ "io.modelcontextprotocol/subscriptionId": id });
                let agreed = json!({ "notifications": params["notifications"] });
                let told = [("notifications/subscriptions/acknowledged", agreed)];
                (told.into_iter().chain(news()).map(|news| (news, stream.clone())).collect(), None)
            }
            // The rest of the connection is told whatever happens.
            _ => (news().map(|news| (news, json!({}))).collect::<Vec<_>>(), Some(json!({}))),
        };
        say(id.clone(), answer, said)
    }
}

fn news() -> impl Iterator<Item = (&'static str, Value)> {
    let tools = ("notifications/tools/list_changed", json!({}));
    let note = ("notifications/resources/updated", json!({ "uri": "note://1" }));
    [tools, note].into_iter()
}

fn say(
    id: RequestId,
    answer: Option<Value>,
    said: Vec<((&'static str, Value), Value)>,
) -> Exchange {
    Exchange::generate(|sender| async move {
        if let Some(result) = &answer {
            sender.send(Incoming::Message(Message::result(&id, &result.to_string()))).await;
        }
        for ((method, mut params), meta) in said {
            params["_meta"] = meta;
            let text = json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string();
            sender.send(Incoming::Message(Message::parse(text)?)).await;
        }
        if answer.is_none() {
            std::future::pending::<()>().await;
        }
        Ok(())
    })
}
