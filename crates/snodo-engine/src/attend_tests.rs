//! What becomes of what a server asks and tells of its own accord.

use snodo_dialect::{Asks, Carrier, Extensions, Identity, Outfit, dialect};
use snodo_types::{Message, ProtocolVersion, Raw};

use super::{Answering, Attendant, Duty, Refusal};
use crate::Question;

const FORM: Answering =
    Answering { form: true, roots: false, sampling: false, sampling_tools: false, url: false };
const ROOTS: Answering = Answering { roots: true, ..FORM };

fn outfit() -> Outfit {
    let identity = Identity {
        client_info: Raw::empty_object(),
        capabilities: Raw::empty_object(),
        extensions: Extensions::new(),
    };
    let http = Carrier { routes: true, own_stream: true };
    dialect(ProtocolVersion::V2025_11_25).outfit(&identity, http, None)
}

fn hear(attendant: &mut Attendant, text: &str) -> Vec<Duty> {
    hear_of(Asks::ALL, attendant, text)
}

fn hear_of(asks: Asks, attendant: &mut Attendant, text: &str) -> Vec<Duty> {
    attendant.handle_message(Message::parse(text).expect(text), asks, &outfit());
    std::iter::from_fn(|| attendant.poll()).collect()
}

/// The one reply that comes of it.
fn reply(duties: &[Duty]) -> &str {
    let [Duty::Send(reply)] = duties else { panic!("one reply: {duties:?}") };
    assert_eq!(
        reply.routing.value("MCP-Protocol-Version"),
        Some(ProtocolVersion::V2025_11_25.as_str())
    );
    assert_eq!(reply.id, None);
    &reply.message
}

fn ask_roots(id: u64) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"roots/list"}}"#)
}

// INIT-17, SRV-01
#[test]
fn ping_is_answered_under_the_server_s_own_id() {
    let duties = hear(
        &mut Attendant::new(Answering::default(), 0),
        r#"{"jsonrpc":"2.0","id":"p-1","method":"ping"}"#,
    );
    assert_eq!(reply(&duties), r#"{"jsonrpc":"2.0","id":"p-1","result":{}}"#);
}

// S-59, SRV-02, SRV-03
#[test]
fn what_nobody_handles_is_refused() {
    let duties = hear(&mut Attendant::new(FORM, 16), &ask_roots(0));
    let said = reply(&duties);
    assert!(said.contains(r#""id":0"#) && said.contains("-32601"), "{said}");
}

// S-59, SRV-09
#[test]
fn bad_parameters_and_undeclared_modes_are_told_apart_from_unknown_methods() {
    let mut attendant = Attendant::new(FORM, 16);
    let create = |params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{params}}}"#)
    };
    for params in
        [r#"{"message":"m"}"#, r#"{"mode":"url","message":"m","url":"https://example.com"}"#]
    {
        let duties = hear(&mut attendant, &create(params));
        assert!(reply(&duties).contains("-32602"), "{params}: {duties:?}");
    }
}

fn create_message(params: &str) -> String {
    let messages = r#""messages":[],"maxTokens":5"#;
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{{{messages}{params}}}}}"#
    )
}

// SRV-07
#[test]
fn tools_for_a_model_that_was_not_declared_to_use_them_are_refused() {
    let model = Answering { sampling: true, ..Answering::default() };
    for params in [r#","tools":[]"#, r#","tools":[{"name":"t"}]"#, r#","toolChoice":{}"#] {
        let duties = hear(&mut Attendant::new(model, 16), &create_message(params));
        assert!(reply(&duties).contains("-32602"), "{params}: {duties:?}");
        let tools = Answering { sampling_tools: true, ..model };
        let duties = hear(&mut Attendant::new(tools, 16), &create_message(params));
        assert!(matches!(duties.as_slice(), [Duty::Ask(..)]), "{params}: {duties:?}");
    }
    let duties = hear(&mut Attendant::new(model, 16), &create_message(""));
    assert!(matches!(duties.as_slice(), [Duty::Ask(..)]), "{duties:?}");
}

// INIT-13
#[test]
fn what_the_version_lacks_is_refused_whatever_was_declared() {
    let all =
        Answering { form: true, roots: true, sampling: true, sampling_tools: true, url: true };
    let page = r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://example.com"}}"#;
    let asks = dialect(ProtocolVersion::V2025_06_18).asks();
    for answering in [all, Answering { form: false, ..all }] {
        for asked in [page, &create_message(r#","tools":[{"name":"t"}]"#)] {
            let mut attendant = Attendant::new(answering, 16);
            let duties = hear_of(asks, &mut attendant, asked);
            assert!(reply(&duties).contains("-32602"), "{asked}: {duties:?}");
            let asks = dialect(ProtocolVersion::V2025_11_25).asks();
            let duties = hear_of(asks, &mut attendant, asked);
            assert!(matches!(duties.as_slice(), [Duty::Ask(..)]), "{asked}: {duties:?}");
        }
    }
}

// BASE-04
#[test]
fn a_notification_is_passed_on_and_never_answered() {
    let mut attendant = Attendant::new(Answering::default(), 16);
    let duties =
        hear(&mut attendant, r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    assert!(matches!(duties.as_slice(), [Duty::Notify(_)]));
    assert!(hear(&mut attendant, r#"{"jsonrpc":"2.0","id":9,"result":{}}"#).is_empty());
}

// BASE-11
#[test]
fn an_error_of_no_request_is_told_and_never_answered() {
    let mut attendant = Attendant::new(Answering::default(), 16);
    for id in ["", r#""id":null,"#] {
        let text = format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":-32600,"message":"bad"}}}}"#);
        let duties = hear(&mut attendant, &text);
        let [Duty::Fault(error)] = duties.as_slice() else { panic!("{duties:?}") };
        assert_eq!((error.code(), error.message()), (-32600, "bad"));
    }
    let odd = r#"{"jsonrpc":"2.0","error":{"code":"x"}}"#;
    assert!(matches!(hear(&mut attendant, odd).as_slice(), [Duty::Fault(_)]));
    let other = r#"{"jsonrpc":"2.0","id":"s-1","error":{"code":1,"message":"m"}}"#;
    assert!(hear(&mut attendant, other).is_empty(), "it names a request, which is none of ours");
}

// S-59
#[test]
fn a_handler_s_answer_goes_out_under_the_id_of_its_request() {
    let mut attendant = Attendant::new(ROOTS, 16);
    let duties = hear(&mut attendant, &ask_roots(7));
    let [Duty::Ask(key, Question::Roots(_))] = duties.as_slice() else { panic!("{duties:?}") };
    attendant.handle_answer(
        *key,
        Raw::parse(r#"{"roots":[]}"#).map_err(|_| Refusal::Failed),
        &outfit(),
    );
    let duties: Vec<_> = std::iter::from_fn(|| attendant.poll()).collect();
    assert_eq!(reply(&duties), r#"{"jsonrpc":"2.0","id":7,"result":{"roots":[]}}"#);
    attendant.handle_answer(*key, Ok(Raw::empty_object()), &outfit());
    assert!(attendant.poll().is_none(), "answered once");
}

// S-59
#[test]
fn a_failing_handler_tells_the_server_nothing_of_why() {
    let mut attendant = Attendant::new(ROOTS, 16);
    let duties = hear(&mut attendant, &ask_roots(7));
    let [Duty::Ask(key, _)] = duties.as_slice() else { panic!("{duties:?}") };
    attendant.handle_answer(*key, Err(Refusal::Failed), &outfit());
    let duties: Vec<_> = std::iter::from_fn(|| attendant.poll()).collect();
    assert!(reply(&duties).contains("-32603"));
}

// S-59, S-10
#[test]
fn past_the_limit_requests_are_refused_until_one_is_answered() {
    let mut attendant = Attendant::new(ROOTS, 1);
    let duties = hear(&mut attendant, &ask_roots(1));
    let [Duty::Ask(first, _)] = duties.as_slice() else { panic!("{duties:?}") };
    assert!(reply(&hear(&mut attendant, &ask_roots(2))).contains("-32603"));
    attendant.handle_answer(*first, Ok(Raw::empty_object()), &outfit());
    attendant.poll();
    assert!(matches!(hear(&mut attendant, &ask_roots(3)).as_slice(), [Duty::Ask(..)]));
}

// SRV-16, SRV-17
#[test]
fn what_the_server_gives_up_is_stopped_and_not_answered() {
    let mut attendant = Attendant::new(ROOTS, 16);
    let duties = hear(&mut attendant, &ask_roots(5));
    let [Duty::Ask(key, _)] = duties.as_slice() else { panic!("{duties:?}") };
    let cancel = |params: &str| {
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#)
    };
    assert!(hear(&mut attendant, &cancel("{}")).is_empty());
    assert!(hear(&mut attendant, &cancel(r#"{"requestId":6}"#)).is_empty());
    let duties = hear(&mut attendant, &cancel(r#"{"requestId":5}"#));
    assert!(matches!(duties.as_slice(), [Duty::Stop(stopped)] if stopped == key), "{duties:?}");
    attendant.handle_answer(*key, Ok(Raw::empty_object()), &outfit());
    assert!(attendant.poll().is_none());
}

// TASKL-07, TASKL-11
#[test]
fn an_answer_to_a_question_of_a_task_names_the_task() {
    let related = r#""io.modelcontextprotocol/related-task":{"taskId":"t-1","x":1}"#;
    let ask = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"roots/list","params":{{"task":{{"ttl":1}},"_meta":{{{related}}}}}}}"#
    );
    for (said, written) in [
        (r#"{"roots":[]}"#, format!(r#"{{"roots":[],"_meta":{{{related}}}}}"#)),
        (
            r#"{"_meta":{"k":1},"roots":[]}"#,
            format!(r#"{{"_meta":{{"k":1,{related}}},"roots":[]}}"#),
        ),
    ] {
        let mut attendant = Attendant::new(ROOTS, 16);
        let duties = hear(&mut attendant, &ask);
        let [Duty::Ask(key, _)] = &duties[..] else { panic!("{duties:?}") };
        attendant.handle_answer(*key, Ok(Raw::parse(said).expect("JSON")), &outfit());
        let duties: Vec<_> = std::iter::from_fn(|| attendant.poll()).collect();
        assert_eq!(reply(&duties), format!(r#"{{"jsonrpc":"2.0","id":7,"result":{written}}}"#));
    }
}
