//! What may be answered to a question.

use serde_json::{Value, json};
use snodo_dialect::Asks;
use snodo_types::{
    Content, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitParams, ElicitResult,
    Resource, Role, Roots,
};

use super::{Answer, Answering, Question, Unanswerable};

fn form() -> Question {
    let name = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    Question::Form(ElicitParams::with_form("?", name))
}

fn page() -> Question {
    Question::Url(ElicitParams::with_url("?", "https://a.example/"))
}

fn roots() -> Question {
    read("roots/list", &json!({})).expect("a question")
}

fn sampling() -> Question {
    Question::Sampling(Box::new(CreateMessageParams::new(Vec::new(), 1)))
}

fn read(method: &str, params: &Value) -> Result<Question, Unanswerable> {
    let everybody =
        Answering { form: true, roots: true, sampling: true, sampling_tools: true, url: true };
    Question::read(method, Some(&params.to_string()), everybody, Asks::ALL)
}

fn written(answer: &Answer, question: &Question) -> Result<Value, String> {
    answer.write(question).map(|raw| raw.decode().expect("JSON"))
}

fn elicited(result: ElicitResult) -> Answer {
    Answer::Elicitation(result)
}

fn said(content: Vec<Content>) -> CreateMessageResult {
    CreateMessageResult::new("m", content)
}

// ELI-06, ELI-08
#[test]
fn a_form_is_answered_with_what_it_asks_for_or_with_nothing() {
    let filled = written(&elicited(ElicitResult::accept(json!({ "n": 1 }))), &form());
    assert_eq!(filled, Ok(json!({ "action": "accept", "content": { "n": 1 } })));
    for (result, action) in
        [(ElicitResult::decline(), "decline"), (ElicitResult::cancel(), "cancel")]
    {
        assert_eq!(written(&elicited(result), &form()), Ok(json!({ "action": action })));
    }
    let wrong = [
        (ElicitResult::accept(json!({ "n": "x" })), "\"n\""),
        (ElicitResult::accept(json!([])), "an object"),
        (ElicitResult::consent(), "required"),
    ];
    for (result, why) in wrong {
        let refused = written(&elicited(result), &form()).expect_err("it is no answer");
        assert!(refused.contains(why), "{refused}");
    }
    for action in [ElicitAction::Decline, ElicitAction::Cancel] {
        let mut result = ElicitResult::accept(json!({ "n": 1 }));
        result.action = action;
        let refused = written(&elicited(result), &form()).expect_err("it is no answer");
        assert!(refused.contains("only an accepted form has content"), "{refused}");
    }
    let mut shrug = ElicitResult::decline();
    shrug.action = ElicitAction::from("shrug");
    assert_eq!(written(&elicited(shrug), &form()), Err("shrug is no action".to_owned()));
}

#[test]
fn a_form_without_a_schema_takes_any_content() {
    let mut asked = ElicitParams::with_form("?", json!({}));
    asked.requested_schema = None;
    let filled =
        written(&elicited(ElicitResult::accept(json!({ "x": 1 }))), &Question::Form(asked));
    assert_eq!(filled, Ok(json!({ "action": "accept", "content": { "x": 1 } })));
}

// ELI-06
#[test]
fn a_page_is_agreed_to_or_not_and_no_more_is_told() {
    assert_eq!(
        written(&elicited(ElicitResult::consent()), &page()),
        Ok(json!({ "action": "accept" }))
    );
    assert_eq!(
        written(&elicited(ElicitResult::cancel()), &page()),
        Ok(json!({ "action": "cancel" }))
    );
    let told = written(&elicited(ElicitResult::accept(json!({}))), &page());
    assert!(told.expect_err("no content").contains("an answer to a page has no content"));
}

// ROOT-02
#[test]
fn roots_are_files_and_climb_nowhere() {
    let answer = |uri: &str| written(&Answer::Roots(Roots::new().with(uri, "work")), &roots());
    assert_eq!(
        answer("file:///srv"),
        Ok(json!({ "roots": [{ "uri": "file:///srv", "name": "work" }] }))
    );
    assert!(answer("https://a.example/").expect_err("no file").contains("file:// URI"));
    assert!(answer("file:///srv/../etc").expect_err("it climbs").contains("without `..`"));
    assert_eq!(written(&Answer::Roots(Roots::new()), &roots()), Ok(json!({ "roots": [] })));
}

// SAM-03
#[test]
fn a_message_of_a_model_says_something_that_a_model_says() {
    let good = vec![
        Content::text("x"),
        Content::image("aGk=", "image/png"),
        Content::audio("aGk=", "audio/wav"),
        Content::tool_use("t", "n", json!({})),
        Content::tool_result("t", Vec::new()),
    ];
    let answer =
        |result: CreateMessageResult| written(&Answer::Sampling(Box::new(result)), &sampling());
    let count = good.len();
    let written = answer(said(good)).expect("an answer");
    assert_eq!(written["content"].as_array().map(Vec::len), Some(count));
    assert!(answer(said(Vec::new())).expect_err("nothing").contains("at least one"));
    let link = Content::resource_link(Resource::new("file:///a", "a"));
    let link = vec![Content::text("x"), link];
    assert!(answer(said(link)).expect_err("a link").contains("no model says"));
    let mut system = said(vec![Content::text("x")]);
    system.role = Role::User;
    assert!(answer(system.clone()).is_ok());
    system.role = Role::from("system");
    assert_eq!(answer(system), Err("system is no role".to_owned()));
}

#[test]
fn an_answer_to_another_question_is_none() {
    let answers = [
        elicited(ElicitResult::decline()),
        Answer::Roots(Roots::new()),
        Answer::Sampling(Box::new(said(vec![Content::text("x")]))),
    ];
    let questions = [form(), page(), roots(), sampling()];
    for answer in &answers {
        for question in &questions {
            let fits = matches!(
                (answer, question),
                (Answer::Elicitation(_), Question::Url(_) | Question::Form(_))
                    | (Answer::Roots(_), Question::Roots(_))
                    | (Answer::Sampling(_), Question::Sampling(_))
            );
            let written = written(answer, question);
            assert_eq!(written.is_ok(), fits, "{answer:?} to {question:?}");
            let why = format!("it is no answer to a question of kind {}", question.kind());
            assert!(fits || written == Err(why), "{answer:?} to {question:?}");
        }
    }
}

// ELI-18
#[test]
fn a_page_that_is_neither_safe_nor_here_is_shown_to_nobody() {
    let read = |url: &str| {
        let params = json!({ "mode": "url", "message": "?", "url": url });
        read("elicitation/create", &params)
    };
    assert!(matches!(read("https://a.example/"), Ok(Question::Url(_))));
    for url in ["http://a.example/", "javascript:alert(1)", "a.example", ""] {
        assert!(matches!(read(url), Err(Unanswerable::Malformed(_))), "{url}");
    }
}

#[test]
fn whom_nobody_answers_is_told_by_what_there_is_somebody_for() {
    let one = |answering, method: &str, params: Value| {
        Question::read(method, Some(&params.to_string()), answering, Asks::ALL)
    };
    let nobody = Answering::default();
    let params = json!({ "message": "?", "requestedSchema": {} });
    let asked = one(nobody, "elicitation/create", params.clone());
    assert_eq!(asked, Err(Unanswerable::Nobody("form".to_owned())));
    let pages = Answering { url: true, ..nobody };
    assert_eq!(
        one(pages, "elicitation/create", params),
        Err(Unanswerable::Mode("form".to_owned()))
    );
    for (answering, any) in [
        (nobody, false),
        (Answering { form: true, ..nobody }, true),
        (Answering { roots: true, ..nobody }, true),
        (Answering { sampling: true, ..nobody }, true),
        (pages, true),
        // Tools alone are no way to answer.
        (Answering { sampling_tools: true, ..nobody }, false),
    ] {
        assert_eq!(answering.any(), any, "{answering:?}");
    }
    assert_eq!(one(nobody, "roots/list", json!({})), Err(Unanswerable::Nobody("roots".to_owned())));
    let message = json!({ "messages": [], "maxTokens": 1 });
    let asked = one(nobody, "sampling/createMessage", message);
    assert_eq!(asked, Err(Unanswerable::Nobody("sampling".to_owned())));
}
