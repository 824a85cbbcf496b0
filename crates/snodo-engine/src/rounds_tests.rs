//! What the rounds of a call make of what a server asks.

use snodo_types::{Cause, Error, InputRequired, Kind};

use super::{Answering, Question, Round, Rounds};

const ALL: Answering =
    Answering { form: true, roots: true, sampling: true, sampling_tools: false, url: true };

fn asked(members: &str) -> InputRequired {
    serde_json::from_str(&format!(r#"{{"resultType":"input_required",{members}}}"#))
        .expect("an input-required result")
}

fn first(answering: Answering, members: &str) -> Result<Round, Error> {
    Rounds::new(answering, 10).next(&asked(members))
}

fn requests(entries: &str) -> String {
    format!(r#""inputRequests":{{{entries}}}"#)
}

const FORM: &str = r#"{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}"#;
const URL: &str = r#"{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://example.com"}}"#;

// S-54, MRTR-03
#[test]
fn questions_are_asked_in_the_string_order_of_their_ids() {
    let entries = requests(&format!(r#""2":{FORM},"10":{URL},"a":{{"method":"roots/list"}}"#));
    let Ok(Round::Ask(questions)) = first(ALL, &entries) else { panic!("questions") };
    let kinds: Vec<_> =
        questions.iter().map(|(id, question)| (id.as_str(), question.kind())).collect();
    assert_eq!(kinds, [("10", "url"), ("2", "form"), ("a", "roots")]);
    assert!(matches!(&questions[1].1, Question::Form(asked) if asked.message == "m"));
}

// S-55, MRTR-09
#[test]
fn a_state_alone_is_sent_again_after_a_pause_and_counts() {
    let mut rounds = Rounds::new(ALL, 1);
    let state = asked(r#""requestState":"s","inputRequests":{}"#);
    assert!(matches!(rounds.next(&state), Ok(Round::Wait(pause)) if pause.as_millis() == 250));
    let error = rounds.next(&state).expect_err("the limit");
    assert!(matches!(error.cause(), Some(Cause::MaxInputRounds { .. })));
}

// S-56, MRTR-14
#[test]
fn the_round_limit_holds_the_last_result() {
    let error = Rounds::new(ALL, 0)
        .next(&asked(&requests(&format!(r#""q":{FORM}"#))))
        .expect_err("no round");
    assert_eq!((error.kind(), error.code()), (Kind::Transport, -32000));
    assert_eq!(error.data().map(ToString::to_string).as_deref(), Some(r#"{"maxInputRounds":0}"#));
    assert!(
        matches!(error.cause(), Some(Cause::MaxInputRounds { asked }) if asked.requests().count() == 1)
    );
}

// S-56, MRTR-16, SAM-08, ELI-16
#[test]
fn a_question_nobody_answers_stops_the_call_and_names_its_kind() {
    let url_only = Answering { url: true, ..Answering::default() };
    let tools =
        r#"{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"tools":[]}}"#;
    let table = [
        (url_only, format!(r#""a":{URL},"b":{FORM}"#), Some("form")),
        (ALL, r#""a":{"method":"new/thing","params":{}}"#.to_owned(), Some("new/thing")),
        (
            ALL,
            r#""a":{"method":"elicitation/create","params":{"mode":"voice"}}"#.to_owned(),
            Some("elicitation/create"),
        ),
        (ALL, r#""a":{"params":{}}"#.to_owned(), None),
        (ALL, format!(r#""a":{tools}"#), Some("sampling/createMessage with tools")),
    ];
    for (answering, entries, wanted) in table {
        let error = first(answering, &requests(&entries)).expect_err(&entries);
        assert_eq!((error.kind(), error.code()), (Kind::Protocol, -32602), "{entries}");
        let Some(Cause::NoInputHandler { kind, .. }) = error.cause() else {
            panic!("{entries}: {error:?}")
        };
        assert_eq!(kind.as_deref(), wanted, "{entries}");
    }
}

// S-56, S-57, MRTR-01, MRTR-19
#[test]
fn a_malformed_question_is_asked_of_nobody() {
    let create =
        |params: &str| format!(r#""a":{{"method":"elicitation/create","params":{params}}}"#);
    let table = [
        String::new(),
        create("7"),
        create(r#"{"message":"m"}"#),
        create(r#"{"requestedSchema":{}}"#),
        create(r#"{"mode":"url","message":"m"}"#),
        r#""a":{"method":"elicitation/create"}"#.to_owned(),
        r#""a":{"method":"sampling/createMessage","params":{"messages":[]}}"#.to_owned(),
        r#""a":{"method":"sampling/createMessage","params":{"maxTokens":1}}"#.to_owned(),
        r#""a":5"#.to_owned(),
    ];
    for entries in table {
        let error = first(ALL, &requests(&entries)).expect_err(&entries);
        assert_eq!((error.kind(), error.code()), (Kind::Transport, -32000), "{entries}");
        assert!(
            matches!(error.cause(), Some(Cause::MalformedInput { .. })),
            "{entries}: {error:?}"
        );
    }
    let list = first(ALL, r#""inputRequests":[]"#).expect_err("a list");
    assert!(matches!(list.cause(), Some(Cause::MalformedInput { .. })));
}

// SAM-09
#[test]
fn results_of_tools_have_to_follow_their_use() {
    let sampling = |messages: &str| {
        let params = format!(r#"{{"messages":{messages},"maxTokens":1}}"#);
        first(
            ALL,
            &requests(&format!(r#""a":{{"method":"sampling/createMessage","params":{params}}}"#)),
        )
    };
    let used =
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{}}]}"#;
    let result = r#"{"type":"tool_result","toolUseId":"t","content":[]}"#;
    assert!(sampling(&format!(r#"[{used},{{"role":"user","content":[{result}]}}]"#)).is_ok());
    let mixed =
        format!(r#"[{used},{{"role":"user","content":[{result},{{"type":"text","text":"x"}}]}}]"#);
    assert!(sampling(&mixed).is_err());
    assert!(sampling(&format!("[{used}]")).is_err());
    assert!(
        sampling(&format!(r#"[{used},{{"role":"user","content":{{"type":"text","text":"x"}}}}]"#))
            .is_err()
    );
}
