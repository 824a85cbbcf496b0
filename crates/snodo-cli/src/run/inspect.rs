//! What a server is and can do.

use serde_json::json;
use snodo::dialect::{Era, dialect};
use snodo::types::{Implementation, Members, Raw, ServerCapabilities};
use snodo::{Client, Error, ProtocolVersion};

use super::{Answer, Form, document};
use crate::print;

/// What a server tells of itself.
#[derive(Debug)]
pub(crate) struct Inspection {
    pub(crate) version: ProtocolVersion,
    pub(crate) era: Era,
    pub(crate) server: Option<Implementation>,
    pub(crate) capabilities: ServerCapabilities,
    pub(crate) instructions: Option<String>,
}

pub(super) async fn inspect(client: &Client, form: Form) -> Result<Answer, Error> {
    let inspection = Inspection::of(client).await?;
    Ok(Answer::new(match form {
        Form::Json => inspection.document()?,
        Form::People => print::inspection(&inspection),
    }))
}

impl Inspection {
    /// A connection of one stateless version alone begins without a question; then it is asked now.
    pub(crate) async fn of(client: &Client) -> Result<Self, Error> {
        let (version, server) = (client.protocol(), client.server());
        let era = dialect(version).era();
        if let Some(capabilities) = server.capabilities() {
            let instructions = server.instructions().map(str::to_owned);
            let server = server.info().cloned();
            return Ok(Self {
                version,
                era,
                server,
                capabilities: capabilities.clone(),
                instructions,
            });
        }
        let told = client.discover().await?.into_inner();
        // 2026-07-28 puts it into the metadata; some servers still write it as a member.
        let member = || told.other.get("serverInfo").and_then(|info| info.decode().ok());
        let server = told.meta().server_info().or_else(member);
        let (capabilities, instructions) = (told.capabilities, told.instructions);
        Ok(Self { version, era, server, capabilities, instructions })
    }

    fn document(&self) -> Result<String, Error> {
        let mut object = Members::new();
        object.insert("protocolVersion", json!(self.version.as_str()));
        object.insert("era", json!(self.era.to_string()));
        let server = Raw::of(&self.server).map_err(|error| Error::decode(error.to_string()))?;
        object.insert("serverInfo", server);
        object.insert("capabilities", self.capabilities.raw().clone());
        if let Some(instructions) = &self.instructions {
            object.insert("instructions", json!(instructions));
        }
        Ok(document(Raw::from(&object).text()))
    }
}
