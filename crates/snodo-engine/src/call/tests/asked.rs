//! What a server wants to know or to have before it answers.

use serde_json::{Value, json};
use snodo_dialect::{Carrier, ParamHeaders, Params, Request};
use snodo_types::{
    Cause, ElicitResult, Error, ErrorObject, InputResponses, Kind, Outcome, ProtocolVersion, Raw,
    TransportError, TransportFault,
};

use super::{Limits, Line, SECOND, V25B, V26, patient};
use crate::HandlerFailure;
use crate::call::Call;
use crate::{Answering, Step};

fn everybody() -> Answering {
    Answering { form: true, roots: true, sampling: true, sampling_tools: true, url: true }
}

/// A call of a tool on its way that was told something before.
fn on(version: ProtocolVersion, limits: Limits, told: impl FnOnce(Call) -> Call) -> Line {
    let params = Params::new().with("name", "echo").expect("JSON");
    let mut line = Line::new(version, Request::new("tools/call", params), limits);
    let fresh = Call::new(Request::new("", Params::new()), limits);
    line.call = told(std::mem::replace(&mut line.call, fresh));
    line.sends();
    line
}

/// A call on its way whose questions are answered here, in so many rounds.
fn answering(rounds: usize, limits: Limits) -> Line {
    on(V26, limits, |call| call.answering(everybody(), rounds))
}

fn asks(line: &mut Line, state: Option<&str>) {
    let form = json!({ "message": "?", "requestedSchema": { "type": "object", "properties": {} } });
    let mut result = json!({
        "resultType": "input_required",
        "inputRequests": { "q": { "method": "elicitation/create", "params": form } },
    });
    if let Some(state) = state {
        result["requestState"] = json!(state);
    }
    line.result(&result);
}

fn asked(line: &mut Line) -> Vec<(String, &'static str)> {
    let step = line.step();
    let Some(Step::Ask(questions)) = step else { panic!("it asks: {step:?}") };
    line.rests();
    questions.into_iter().map(|(id, question)| (id, question.kind())).collect()
}

fn accepted() -> InputResponses {
    InputResponses::new().with("q", &ElicitResult::accept(json!({})))
}

fn sent(line: &mut Line) -> Value {
    serde_json::from_str(&line.sends().message).expect("JSON")
}

// MRTR-04, MRTR-06, MRTR-07, MRTR-17
#[test]
fn answers_go_out_with_the_newest_state_under_a_new_id() {
    let mut line = answering(3, patient());
    assert!(line.call.is_waiting() && !line.call.was_inquired());
    asks(&mut line, Some("one"));
    assert!(!line.call.is_waiting(), "somebody is to be asked");
    assert_eq!(asked(&mut line), [("q".to_owned(), "form")]);
    assert!(line.call.is_waiting());
    assert_eq!(line.call.asked().map(|asked| asked.requests().count()), Some(1));
    line.call.handle_answers(Ok(accepted()));
    assert!(!line.call.is_waiting() && line.call.asked().is_none());
    let again = sent(&mut line);
    assert_eq!(again["params"]["requestState"], "one");
    assert_eq!(again["params"]["inputResponses"]["q"]["action"], "accept");

    asks(&mut line, None);
    asked(&mut line);
    line.call.handle_answers(Ok(InputResponses::new()));
    let again = sent(&mut line);
    assert_eq!(again["params"].get("requestState"), None, "an old state is not sent");
    line.result(&json!({ "content": [] }));
    line.complete();
    assert!(line.call.was_inquired());
    assert_eq!(line.call.request().method, "tools/call");
}

// MRTR-14
#[test]
fn a_server_that_asks_once_more_than_it_may_ends_the_call() {
    let mut line = answering(1, patient());
    asks(&mut line, None);
    asked(&mut line);
    line.call.handle_answers(Ok(accepted()));
    line.sends();
    asks(&mut line, None);
    let error = line.failed();
    assert!(matches!(error.cause(), Some(Cause::MaxInputRounds { .. })), "{error:?}");
}

// S-55, MRTR-09
#[test]
fn a_state_without_questions_is_sent_back_after_a_pause() {
    let limits = Limits { deadline: Some(60 * SECOND), ..patient() };
    let mut line = answering(2, limits);
    line.result(&json!({ "resultType": "input_required", "requestState": "s" }));
    line.rests();
    assert_eq!(line.patience(), Some(SECOND / 4));
    line.waits(SECOND / 8);
    line.rests();
    line.waits(SECOND / 8);
    assert_eq!(sent(&mut line)["params"]["requestState"], "s");
    assert_eq!(line.patience(), Some(30 * SECOND));
}

#[test]
fn a_pause_that_would_outlast_the_call_ends_with_it() {
    let limits = Limits { deadline: Some(SECOND / 8), ..patient() };
    let mut line = answering(2, limits);
    line.result(&json!({ "resultType": "input_required", "requestState": "s" }));
    assert_eq!(line.patience(), Some(SECOND / 8));
    line.waits(SECOND / 8);
    assert!(line.failed().is_timeout());
}

#[test]
fn while_somebody_is_asked_only_the_clock_of_the_whole_call_runs() {
    let limits = Limits { deadline: Some(600 * SECOND), ..patient() };
    let mut line = answering(2, limits);
    assert_eq!(line.call.ends(), Some(line.now + 600 * SECOND));
    asks(&mut line, None);
    asked(&mut line);
    assert_eq!(line.patience(), Some(600 * SECOND));
    line.waits(599 * SECOND);
    line.rests();
    line.waits(SECOND);
    assert!(line.failed().is_timeout());
    line.call.handle_answers(Ok(accepted()));
    line.rests();
}

#[test]
fn without_a_limit_on_the_whole_nobody_hurries_the_person_who_is_asked() {
    let mut line = answering(2, patient());
    asks(&mut line, None);
    asked(&mut line);
    assert_eq!((line.patience(), line.call.ends()), (None, None));
    line.waits(100_000 * SECOND);
    line.rests();
}

// S-54
#[test]
fn a_handler_that_fails_ends_the_call_with_what_was_asked() {
    let mut line = answering(2, patient());
    asks(&mut line, None);
    asked(&mut line);
    let failure = HandlerFailure { id: "q".to_owned(), reason: "it broke".to_owned() };
    line.call.handle_answers(Err(failure));
    let error = line.failed();
    assert_eq!((error.kind(), error.code()), (Kind::Execution, -32603));
    let Some(Cause::InputHandler { id, reason, asked }) = error.cause() else {
        panic!("{error:?}")
    };
    assert_eq!((id.as_str(), reason.as_str(), asked.requests().count()), ("q", "it broke", 1));
}

#[test]
fn without_handlers_a_question_is_the_caller_s() {
    let mut line = Line::calling(V26);
    asks(&mut line, Some("s"));
    let outcome = line.done().expect("a question is no failure");
    assert!(matches!(outcome, Outcome::InputRequired(asked) if asked.requests().count() == 1));
}

fn wants_a_page(line: &mut Line, elicitations: &Value) {
    let data = json!({ "elicitations": elicitations });
    line.error(&json!({ "code": ErrorObject::URL_ELICITATION_REQUIRED, "message": "log in", "data": data }));
}

fn page() -> Value {
    json!([
        { "mode": "form", "message": "no page" },
        { "mode": "url", "message": "in", "url": "https://a.example/", "elicitationId": "e" },
    ])
}

fn on_the_older_version() -> Line {
    on(V25B, patient(), |call| call.answering(everybody(), 2))
}

// SRV-14
#[test]
fn a_request_that_needs_a_page_is_sent_once_more_where_every_page_was_agreed_to() {
    let consent = InputResponses::new().with("1", &ElicitResult::consent());
    let mut line = on_the_older_version();
    wants_a_page(&mut line, &page());
    assert_eq!(asked(&mut line), [("1".to_owned(), "url")]);
    assert_eq!(line.patience(), None);
    assert!(line.call.asked().is_none(), "no result asked for it");
    line.call.handle_answers(Ok(consent));
    line.sends();
    wants_a_page(&mut line, &page());
    assert_eq!(line.failed().message(), "log in", "it is asked for once");
    assert!(line.call.was_inquired());
}

#[test]
fn a_page_that_nobody_agrees_to_leaves_the_error_as_it_was() {
    let declined = InputResponses::new().with("1", &ElicitResult::decline());
    let failure = HandlerFailure { id: "1".to_owned(), reason: "nobody".to_owned() };
    for answers in [Ok(declined), Err(failure)] {
        let mut line = on_the_older_version();
        wants_a_page(&mut line, &page());
        asked(&mut line);
        line.call.handle_answers(answers);
        assert_eq!(line.failed().code(), ErrorObject::URL_ELICITATION_REQUIRED);
    }
    // Nothing in it can be opened, or nobody is there to open it.
    for (mut line, pages) in [
        (on_the_older_version(), json!([])),
        (Line::calling(V25B), page()),
        (answering(2, patient()), page()),
    ] {
        wants_a_page(&mut line, &pages);
        assert_eq!(line.failed().message(), "log in");
    }
}

/// A call over HTTP of 2026-07-28, where arguments may travel as headers.
fn routed() -> Line {
    let mut line = Line::calling(V26);
    line.agreed.carrier = Carrier { routes: true, ..Carrier::default() };
    line
}

fn misses_headers(line: &mut Line) {
    line.error(&json!({ "code": ErrorObject::HEADER_MISMATCH, "message": "headers" }));
}

fn headers() -> ParamHeaders {
    let schema = json!({ "properties": { "a": { "type": "string", "x-mcp-header": "A" } } });
    ParamHeaders::of(&Raw::from(schema)).expect("a schema")
}

// HDR-15, S-31
#[test]
fn a_tool_whose_headers_are_missed_is_looked_up_and_called_once_more() {
    let mut line = routed();
    misses_headers(&mut line);
    let step = line.step();
    assert!(matches!(&step, Some(Step::Define(name)) if name == "echo"), "{step:?}");
    line.rests();
    assert_eq!(line.patience(), None);
    line.call.handle_definition(Some(headers()));
    line.sends();
    misses_headers(&mut line);
    assert_eq!(line.failed().message(), "headers", "it is looked up once");
}

#[test]
fn a_tool_without_headers_or_unknown_leaves_the_error_as_it_was() {
    for found in [None, Some(ParamHeaders::default())] {
        let mut line = routed();
        misses_headers(&mut line);
        line.step();
        line.call.handle_definition(found);
        assert_eq!(line.failed().code(), ErrorObject::HEADER_MISMATCH);
    }
    let mut elsewhere = Line::calling(V26);
    misses_headers(&mut elsewhere);
    assert_eq!(elsewhere.failed().code(), ErrorObject::HEADER_MISMATCH);
    let mut list = Line::asking(V26, "tools/list", patient());
    list.agreed.carrier = Carrier { routes: true, ..Carrier::default() };
    misses_headers(&mut list);
    assert_eq!(list.failed().code(), ErrorObject::HEADER_MISMATCH);
}

#[test]
fn what_is_told_at_the_wrong_time_changes_nothing() {
    let mut line = Line::calling(V26);
    line.call.handle_answers(Ok(accepted()));
    line.call.handle_definition(Some(headers()));
    line.call.handle_reopened(Ok(()));
    line.call.again();
    line.rests();
    assert_eq!(line.patience(), patient().timeout);
    line.result(&json!({ "content": [] }));
    line.complete();
    line.call.again();
    line.sends();
    line.call.stop(Error::decode("over"));
    assert!(line.failed().message().contains("over"));
}

#[test]
fn a_session_that_cannot_be_had_again_tells_of_both_ends() {
    let mut line = on(V25B, patient(), Call::restarting);
    let gone = TransportError::new(TransportFault::Exited, "it exited").not_processed();
    line.call.handle_failure(gone, line.now);
    assert!(matches!(line.step(), Some(Step::Reopen)));
    assert_eq!(line.patience(), patient().timeout, "the clock of the call runs on");
    let refused = TransportError::new(TransportFault::Connect, "refused");
    line.call.handle_reopened(Err(Error::from(refused)));
    let error = line.failed();
    let text = error.message();
    assert!(
        text.contains("refused (the connection was lost: ") && text.contains("it exited"),
        "{text}"
    );
    assert!(error.cause().is_some());
}

#[test]
fn what_waited_in_a_queue_has_less_time_for_its_first_sending_alone() {
    let mut line = on(V26, patient(), |call| call.spent(10 * SECOND).answering(everybody(), 2));
    assert_eq!(line.patience(), Some(20 * SECOND));
    asks(&mut line, None);
    asked(&mut line);
    line.call.handle_answers(Ok(accepted()));
    line.sends();
    assert_eq!(line.patience(), Some(30 * SECOND));
}

#[test]
fn time_in_which_the_server_s_questions_were_answered_is_not_the_server_s() {
    let mut line = Line::calling(V25B);
    line.call.handle_served(10 * SECOND);
    assert_eq!(line.patience(), Some(40 * SECOND));
    line.call.handle_served(100_000 * SECOND);
    assert_eq!(line.patience(), Some(600 * SECOND), "up to ten minutes after the sending");
    line.call.handle_served(SECOND);
    assert_eq!(line.patience(), Some(600 * SECOND));
}
