//! What says nothing about the era: it fails, and nothing is made anew.

use serde_json::json;
use snodo_types::{Error, Kind, TransportError, TransportFault};

use super::{HTTP, PIPE, PROBE, Talk, V25B, V26, fault, message, status, with_status};

fn fails(why: TransportError) -> Error {
    let mut talk = Talk::probing(HTTP);
    talk.breaks(why);
    assert_eq!(talk.negotiation.doing(), "server/discover");
    talk.failed()
}

// S-17, VER-15
#[test]
fn what_is_the_network_s_own_fails_and_nothing_is_made_anew() {
    for code in [408, 425, 429, 502, 503, 504] {
        let error = fails(status(code));
        assert_eq!((error.kind(), error.code()), (Kind::Transport, -32000), "{code}");
        assert_eq!(error.transport().and_then(TransportError::status), Some(code));
    }
    let faults = [
        TransportFault::Connect,
        TransportFault::Tls,
        TransportFault::Closed,
        TransportFault::StreamEnded,
    ];
    for class in faults {
        let error = fails(fault(class));
        assert_eq!(error.transport().map(TransportError::fault), Some(class));
    }
    assert_eq!(fails(fault(TransportFault::Timeout)).code(), -32001);
}

// S-17, VER-15
#[test]
fn a_status_of_the_network_s_own_fails_whatever_its_body_says() {
    for code in [403, 408, 425, 429, 502, 503, 504] {
        let mut talk = Talk::probing(HTTP);
        let body =
            json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32000, "message": "busy" } });
        talk.hears(with_status(message(&body), code));
        assert_eq!(talk.failed().message(), "busy", "{code}");
    }
}

// S-17
#[test]
fn a_refused_or_missing_credential_is_about_authorization_and_not_about_the_era() {
    let bearer = |text: &str| vec![text.to_owned()];
    let table = [
        status(401),
        status(403),
        status(403).with_credential_sent(),
        status(401).with_challenges(bearer("Bearer")),
        status(401)
            .with_credential_sent()
            .with_challenges(bearer("bearer error=\"invalid_token\"")),
        status(401).with_credential_sent().with_challenges(vec![
            "DPoP algs=\"ES256\"".to_owned(),
            "Basic realm=\"x\", Bearer scope=\"a\"".to_owned(),
        ]),
    ];
    for why in table {
        let (code, challenges) = (why.status(), why.challenges().to_vec());
        let error = fails(why);
        assert_eq!(error.kind(), Kind::Authorization, "{code:?} {challenges:?}");
        let below = error.transport().expect("its failure");
        assert_eq!((below.status(), below.challenges()), (code, challenges.as_slice()));
    }
}

// S-17
#[test]
fn silence_over_http_is_the_network_s_and_fails() {
    let mut talk = Talk::probing(HTTP);
    talk.waits(PROBE);
    let error = talk.failed();
    assert!(error.is_timeout());
    assert_eq!(super::data(&error), json!({ "timeoutMs": 10_000 }));
}

#[test]
fn what_the_server_hung_up_on_before_it_heard_it_is_sent_once_more() {
    let unheard = || TransportError::new(TransportFault::Closed, "closed").hardly_processed();
    let mut talk = Talk::probing(HTTP);
    talk.negotiation.handle_closed(Some(unheard()));
    talk.asks("server/discover", V26);
    talk.negotiation.handle_closed(Some(unheard()));
    let error = talk.failed();
    assert_eq!(error.transport().map(TransportError::fault), Some(TransportFault::Closed));
}

#[test]
fn a_stream_that_just_ends_is_the_network_s_over_http_and_an_old_server_s_on_a_pipe() {
    let mut talk = Talk::probing(HTTP);
    talk.negotiation.handle_closed(None);
    let error = talk.failed();
    assert_eq!(error.transport().map(TransportError::fault), Some(TransportFault::StreamEnded));

    let mut talk = Talk::probing(PIPE);
    talk.negotiation.handle_closed(None);
    talk.reopens();
    talk.asks("initialize", V25B);
}
