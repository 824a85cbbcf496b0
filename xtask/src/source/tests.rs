//! What the scanner sees in texts that are easy to misread.

use super::*;

fn source(text: &str) -> Source {
    Source::read(&File::new("crates/a/src/lib.rs", text))
}

fn code(text: &str) -> Vec<String> {
    source(text).lines.into_iter().map(|line| line.code.trim_end().to_owned()).collect()
}

#[test]
fn comments_are_no_code_and_nest() {
    assert_eq!(code("a // b\n/* c /* d */ e */ f"), ["a", " f"]);
    assert_eq!(code("/* a\nb */ c"), ["", " c"]);
}

#[test]
fn what_a_string_holds_is_no_code_but_is_spoken() {
    let read = source("f(\"a // \\\" b\"); g()");
    assert_eq!(read.lines[0].code, "f(\"         \"); g()");
    assert_eq!(read.lines[0].spoken, "f(\"a // \\\" b\"); g()");
}

#[test]
fn raw_strings_end_at_their_own_hashes() {
    assert_eq!(code("f(r#\"a \" { \"#); g()"), ["f(r#\"      \"#); g()"]);
    assert_eq!(code("f(r\"\\\"); g()"), ["f(r\" \"); g()"]);
    assert_eq!(code("br##\"\n\"# {\n\"##; g()"), ["br##\"", "", "\"##; g()"]);
}

#[test]
fn a_brace_as_a_character_opens_nothing_and_a_lifetime_is_no_literal() {
    let read = source("fn f<'a>(x: &'a str) {\n    g('{', '\\'', b'}', '\\u{7b}');\n}\nfn h() {}");
    let spans: Vec<_> = read.functions.iter().map(|f| (f.name.as_str(), f.first, f.last)).collect();
    assert_eq!(spans, [("f", 0, 2), ("h", 3, 3)]);
}

#[test]
fn an_item_that_only_tests_compile_is_marked_to_its_end() {
    let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n#[cfg(test)]\nuse d;\nfn e() {}\n\
                #[test]\nfn f() {\n}\n#[cfg(not(test))]\nfn g() {}";
    let marked: Vec<_> = source(text).lines.iter().map(|line| line.test).collect();
    let t = true;
    let f = false;
    assert_eq!(marked, [f, t, t, t, t, f, t, t, f, t, t, t, f, f]);
}

#[test]
fn a_function_knows_its_modules_attributes_and_top() {
    let text = "mod a {\n    mod b {\n        // S-01\n        #[test]\n        #[cfg(unix)]\n        async fn c() {\n        }\n    }\n    fn d() {}\n}";
    let read = source(text);
    let [c, d] = &read.functions[..] else { panic!("two functions: {:?}", read.functions) };
    assert_eq!(
        (c.name.as_str(), &c.modules[..], c.top),
        ("c", &["a".to_owned(), "b".to_owned()][..], 3)
    );
    assert_eq!(c.attributes, ["test", "cfg(unix)"]);
    assert!(c.is_test() && !d.is_test());
    assert_eq!((&d.modules[..], d.attributes.len(), d.top), (&["a".to_owned()][..], 0, 8));
}

#[test]
fn declarations_and_function_pointers_are_no_functions() {
    let read = source(
        "trait T {\n    fn a(&self);\n    fn b(&self) {}\n}\ntype F = fn(u8) -> [u8; 2];\nfn c(f: fn(u8)) {}",
    );
    let names: Vec<_> = read.functions.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["b", "c"]);
}

#[test]
fn an_attribute_tells_its_strings_and_what_it_stands_on() {
    let read = source(
        "#[cfg(feature = \"x\")]\npub(crate) mod a;\n#[expect(\n    dead_code,\n    reason = \"b\"\n)]\nfn c() {}",
    );
    let seen: Vec<_> =
        read.attributes.iter().map(|a| (a.text.as_str(), a.item.trim(), a.line)).collect();
    assert_eq!(seen[0], ("cfg(feature = \"x\")", "mod a", 0));
    assert!(
        seen[1].0.contains("reason = \"b\"") && seen[1].1 == "fn c()" && seen[1].2 == 2,
        "{seen:?}"
    );
}

#[test]
fn a_word_is_bounded_by_what_is_no_identifier() {
    assert!(has_word("std::env::var(x)", "env::var"));
    assert!(!has_word("env::vars()", "env::var"));
    assert!(has_word("tokio::spawn", "tokio::"));
    assert!(!has_word("my_tokio::spawn", "tokio::"));
}
