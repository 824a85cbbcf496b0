//! The credentials of each scenario: what a caller would configure, and nothing more.

use serde_json::Value;
use snodo_oauth::{
    Application, Builder, Enterprise, Error, OAuth, Policy, Registration, Secret, SigningKey,
    Unattended,
};

use crate::{Failure, Task};

pub(crate) fn of(task: &Task) -> Result<OAuth, Failure> {
    // The suite speaks plain HTTP on this machine.
    let policy = Policy::new().allow_loopback();
    Ok(grant(task)?.policy(policy).build())
}

fn grant(task: &Task) -> Result<Builder, Error> {
    let given = |name: &str| task.context[name].as_str().unwrap_or_default();
    let registration = || Registration::new(given("client_id"));
    match task.scenario.as_str() {
        "auth/client-credentials-basic" => {
            Ok(OAuth::client_credentials(registration().secret(given("client_secret"))))
        }
        "auth/client-credentials-jwt" => {
            let key = SigningKey::from_pem(given("private_key_pem"))?;
            Ok(OAuth::client_credentials(registration().key(key)))
        }
        "auth/enterprise-managed-authorization" => {
            let provider = Enterprise::new(
                given("idp_issuer"),
                given("idp_token_endpoint"),
                Registration::new(given("idp_client_id")),
                Secret::new(given("idp_id_token")),
            );
            Ok(OAuth::enterprise(provider, registration().secret(given("client_secret"))))
        }
        "auth/wif-jwt-bearer" => {
            let assertion = Secret::new(given("valid_jwt"));
            Ok(OAuth::workload(assertion).client_id(given("client_id")))
        }
        "auth/dpop" | "auth/dpop-nonce" => Ok(person()?.proof_of_possession()),
        scenario if scenario.starts_with("auth/2025-03-26-") => {
            Ok(person()?.allow_undocumented_servers())
        }
        _ if task.context["client_secret"] != Value::Null => {
            let registration = registration().secret(given("client_secret"));
            let registration = match task.context["issuer"].as_str() {
                Some(issuer) => registration.issuer(issuer),
                None => registration,
            };
            Ok(person()?.registration(registration))
        }
        _ => person(),
    }
}

/// The suite asks nobody: its page is a redirect.
fn person() -> Result<Builder, Error> {
    let application = Application::new("snodo-conformance").metadata_document(DOCUMENT)?;
    Ok(OAuth::person(Unattended::new("http://localhost:3000/callback")).application(application))
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Step(error.to_string())
    }
}

/// Nobody fetches it.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";
