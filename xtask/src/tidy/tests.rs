//! Each rule is shown a clean text and one that breaks it.

use super::*;

/// The names of the rules that a tree of these files breaks.
fn broken(files: &[(&str, &str)]) -> Vec<&'static str> {
    let files: Vec<_> = files.iter().map(|(path, text)| File::new(*path, *text)).collect();
    check(&files).findings.iter().map(|finding| finding.rule.name).collect()
}

fn broken_by(path: &str, code: &str) -> Vec<&'static str> {
    broken(&[(path, &format!("//! Words.\n{code}\n"))])
}

#[test]
fn a_clean_tree_has_no_findings() {
    let code = "//! Words.\n\n/// Adds.\npub fn add(a: u8) -> u8 {\n    a\n}\n\n#[cfg(test)]\nmod tests {\n    \
                #[test]\n    fn it_adds_nothing_at_all() {\n        assert_eq!(super::add(1).checked_add(0).unwrap(), 1);\n    }\n}\n";
    let tree = [
        ("Cargo.toml", "[workspace]\n"),
        ("LICENSE-MIT", "words\n"),
        ("crates/snodo-types/Cargo.toml", "description = \"The words of it.\"\n"),
        ("crates/snodo-types/CHANGELOG.md", "# Changes\n"),
        ("crates/snodo-types/src/lib.rs", code),
    ];
    assert_eq!(broken(&tree), [""; 0]);
}

#[test]
fn a_file_without_a_first_sentence_is_found() {
    assert_eq!(broken(&[("crates/a/src/lib.rs", "use std::fmt;\n")]), ["module-docs"]);
    assert_eq!(broken(&[("crates/a/src/lib.rs", "// Words.\n//! Words.\n")]), ["module-docs"]);
}

#[test]
fn a_date_is_found_outside_the_version_modules_only() {
    let code = "const V: &str = \"2025-11-25\";";
    assert_eq!(broken_by("crates/snodo/src/lib.rs", code), ["version-date"]);
    assert_eq!(broken_by("crates/snodo-dialect/src/catalog.rs", code), ["version-date"]);
    assert_eq!(broken_by("crates/snodo-dialect/src/v2025_11_25/mod.rs", code), [""; 0]);
    assert_eq!(broken_by("crates/snodo-types/src/version.rs", code), [""; 0]);
    assert_eq!(broken_by("tests/it/probe.rs", code), [""; 0]);
    assert_eq!(broken_by("crates/snodo/src/client/tests.rs", code), [""; 0]);
}

#[test]
fn a_date_in_a_comment_or_a_test_is_no_finding() {
    let comment = "/// As 2025-11-25 says.\n// 2026-07-28, basic/index\nfn f() {}";
    let test = "#[cfg(test)]\nmod tests {\n    const V: &str = \"2025-11-25\";\n}";
    assert_eq!(broken_by("crates/snodo/src/lib.rs", comment), [""; 0]);
    assert_eq!(broken_by("crates/snodo/src/lib.rs", test), [""; 0]);
    let after = format!("{test}\nconst W: &str = \"2025-11-25\";");
    assert_eq!(broken_by("crates/snodo/src/lib.rs", &after), ["version-date"]);
}

#[test]
fn a_feature_may_gate_modules_imports_and_constructors() {
    let doors = "#[cfg(feature = \"http\")]\nmod http;\n#[cfg(feature = \"http\")]\npub use http::Http;\n\
                 impl A {\n    #[cfg(feature = \"http\")]\n    pub fn http() -> Self {\n        A\n    }\n}";
    assert_eq!(broken_by("crates/a/src/lib.rs", doors), [""; 0]);
}

#[test]
fn a_feature_inside_a_room_is_found() {
    let field = "struct A {\n    #[cfg(feature = \"http\")]\n    http: u8,\n}";
    let method = "impl A {\n    #[cfg(feature = \"http\")]\n    pub fn http(&self) {}\n}";
    let variant = "enum A {\n    #[cfg(not(feature = \"http\"))]\n    Http,\n}";
    let inline = "fn f() -> bool {\n    cfg!(feature = \"http\")\n}";
    for code in [field, method, variant, inline] {
        assert_eq!(broken_by("crates/a/src/lib.rs", code), ["feature-site"], "{code}");
    }
}

#[test]
fn the_fifteenth_feature_site_is_found() {
    let sites = |count: usize| "#[cfg(feature = \"http\")]\nmod http;\n".repeat(count);
    assert_eq!(broken_by("crates/a/src/lib.rs", &sites(14)), [""; 0]);
    assert_eq!(broken_by("crates/a/src/lib.rs", &sites(15)), ["feature-count"]);
}

#[test]
fn a_file_over_the_limit_is_found_and_its_tests_do_not_count() {
    let lines = |count: usize| format!("//! Words.\n{}", "fn f() {}\n".repeat(count - 1));
    let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "fn f() {}\n".repeat(600));
    assert_eq!(broken(&[("crates/a/src/lib.rs", &lines(600))]), [""; 0]);
    assert_eq!(broken(&[("crates/a/src/lib.rs", &format!("{}{tests}", lines(600)))]), [""; 0]);
    assert_eq!(
        broken(&[("crates/a/src/lib.rs", &format!("{}{tests}", lines(601)))]),
        ["long-file"]
    );
}

#[test]
fn a_function_over_the_limit_is_found() {
    let function = |lines: usize| format!("fn f() {{\n{}}}", "    g();\n".repeat(lines - 2));
    assert_eq!(broken_by("crates/a/src/lib.rs", &function(100)), [""; 0]);
    assert_eq!(broken_by("crates/a/src/lib.rs", &function(101)), ["long-function"]);
}

#[test]
fn an_exception_with_a_reason_excuses_one_place() {
    let long = format!("//! Words.\nfn f() {{\n{}}}\n", "    g();\n".repeat(200));
    let list = "long-function | crates/a/src/lib.rs::f | one table, read from top to bottom\n";
    assert_eq!(broken(&[("crates/a/src/lib.rs", &long), (EXCEPTIONS, list)]), [""; 0]);
    let other = [("crates/a/src/other.rs", long.as_str()), (EXCEPTIONS, list)];
    assert_eq!(broken(&other), ["long-function", "unused-exception"]);
}

#[test]
fn an_exception_without_a_reason_is_found() {
    assert_eq!(
        broken(&[(EXCEPTIONS, "# words\n\nlong-file | crates/a/src/lib.rs | because\n")]),
        ["exception"]
    );
    assert_eq!(broken(&[(EXCEPTIONS, "long-file\n")]), ["exception"]);
}

#[test]
fn the_world_is_not_touched_in_a_pure_crate() {
    let calls = [
        "let now = std::time::Instant::now();",
        "let now = SystemTime::now();",
        "thread::spawn(|| ());",
        "std::env::var(NAME);",
        "std::process::Command::new(NAME);",
        "tokio::task::yield_now().await;",
    ];
    for call in calls {
        let code = format!("fn f() {{\n    {call}\n}}");
        for pure in ["snodo-types", "snodo-dialect", "snodo-engine"] {
            assert_eq!(
                broken_by(&format!("crates/{pure}/src/lib.rs"), &code),
                ["pure-crate"],
                "{call}"
            );
        }
        assert_eq!(broken_by("crates/snodo/src/lib.rs", &code), [""; 0], "{call}");
        let test = format!("#[cfg(test)]\nmod tests {{\n{code}\n}}");
        assert_eq!(broken_by("crates/snodo-engine/src/lib.rs", &test), [""; 0], "{call}");
    }
}

#[test]
fn a_panic_outside_a_test_is_found() {
    for panic in ["x.unwrap();", "todo!();", "unimplemented!()"] {
        let code = format!("fn f() {{\n    {panic}\n}}");
        assert_eq!(broken_by("crates/a/src/lib.rs", &code), ["panic"], "{panic}");
        assert_eq!(broken_by("tests/it/a.rs", &code), [""; 0], "{panic}");
    }
    assert_eq!(
        broken_by("crates/a/src/lib.rs", "// x.unwrap()\nconst X: &str = \"x.unwrap()\";"),
        [""; 0]
    );
}

#[test]
fn an_allow_outside_a_test_is_found() {
    assert_eq!(broken_by("crates/a/src/lib.rs", "#[allow(dead_code)]\nfn f() {}"), ["allow"]);
    assert_eq!(broken_by("crates/a/src/lib.rs", "#![cfg_attr(unix, allow(dead_code))]"), ["allow"]);
    assert_eq!(
        broken_by("crates/a/src/lib.rs", "#[expect(dead_code, reason = \"soon\")]\nfn f() {}"),
        [""; 0]
    );
}

#[test]
fn a_test_that_does_not_run_is_found() {
    for attribute in
        ["ignore", "ignore = \"slow\"", "should_panic", "should_panic(expected = \"x\")"]
    {
        let code = format!("#[test]\n#[{attribute}]\nfn it_does_all_this() {{}}");
        assert_eq!(broken_by("tests/it/a.rs", &code), ["skipped-test"], "{attribute}");
    }
}

#[test]
fn a_test_name_that_is_no_sentence_is_found() {
    assert_eq!(broken_by("tests/it/a.rs", "#[test]\nfn parse_works() {}"), ["test-name"]);
    assert_eq!(
        broken_by("tests/it/a.rs", "#[tokio::test(start_paused = true)]\nasync fn parse() {}"),
        ["test-name"]
    );
    assert_eq!(
        broken_by("tests/it/a.rs", "fn parse() {}\n#[test]\nfn a_line_ends_it() {}"),
        [""; 0]
    );
}

#[test]
fn the_third_macro_is_found() {
    let makro = "macro_rules! m {\n    () => {};\n}\n";
    assert_eq!(broken_by("crates/a/src/lib.rs", &makro.repeat(2)), [""; 0]);
    let two = format!("//! Words.\n{}", makro.repeat(2));
    let one = format!("//! Words.\n{makro}");
    assert_eq!(broken(&[("crates/a/src/lib.rs", &two), ("tests/it/a.rs", &one)]), ["macro-count"]);
}

#[test]
fn registry_hosts_are_found_except_in_the_lock_files_of_cargo() {
    for host in [
        ["crates", "io"],
        ["registry.npmjs", "org"],
        ["pypi", "org"],
        ["files.pythonhosted", "org"],
    ] {
        let text = format!("see {}\n", host.join("."));
        assert_eq!(broken(&[("docs/a.md", &text)]), ["registry-host"]);
        assert_eq!(broken(&[("tests/zoo/package-lock.json", &text)]), ["registry-host"]);
        assert_eq!(broken(&[("Cargo.lock", &text), ("tests/zoo/Cargo.lock", &text)]), [""; 0]);
    }
}

#[test]
fn paths_of_one_machine_are_found() {
    for home in ["work", "root", "home"] {
        let text = |before: &str| format!("{before}/{home}/ada\n");
        assert_eq!(broken(&[("docs/a.md", &text(" "))]), ["machine-path"]);
        assert_eq!(broken(&[("docs/a.md", &text("file://"))]), ["machine-path"]);
        assert_eq!(broken(&[("docs/a.md", &text("https://example.com"))]), [""; 0]);
    }
}

#[test]
fn a_path_out_of_the_tree_is_found() {
    assert_eq!(
        broken(&[("docs/a.md", &["see ..", "shared", "spec"].join("/"))]),
        ["outside-the-tree"]
    );
}

#[test]
fn a_published_crate_needs_a_changelog_and_a_sentence() {
    let manifest = ("crates/a/Cargo.toml", "[package]\nname = \"a\"\n");
    assert_eq!(broken(&[manifest]), ["description", "changelog"]);
    assert_eq!(broken(&[manifest, ("crates/a/CHANGELOG.md", "# a\n")]), ["description"]);
    assert_eq!(
        broken(&[("crates/a/Cargo.toml", "description = \"\"\n"), ("crates/a/CHANGELOG.md", "")]),
        ["description"]
    );
    assert_eq!(broken(&[("crates/a/Cargo.toml", "publish = false\n")]), [""; 0]);
}

#[test]
fn a_module_file_beside_its_folder_is_found() {
    let file = ("crates/a/src/http.rs", "//! Words.\n");
    assert_eq!(broken(&[file, ("crates/a/src/http/post.rs", "//! Words.\n")]), ["folder-module"]);
    assert_eq!(broken(&[file, ("crates/a/src/http2/post.rs", "//! Words.\n")]), [""; 0]);
}

#[test]
fn what_would_run_during_a_build_is_found() {
    let manifest = |more: &str| format!("[package]\nname = \"a\"\n{more}");
    let beside = ("tests/a/Cargo.toml", manifest(""));
    let script = ("tests/a/build.rs", "//! Words.\n");
    assert_eq!(broken(&[(beside.0, &beside.1), script]), ["build-script"]);
    for more in ["build = \"make.rs\"\n", "build= \"x/y.rs\"\n", "[lib]\nproc-macro = true\n"] {
        assert_eq!(broken(&[("tests/a/Cargo.toml", &manifest(more))]), ["build-script"], "{more}");
    }
    let harmless = "build = false\n[lib]\nproc-macro = false\n[dependencies]\nbuilder = \"1\"\n";
    assert_eq!(broken(&[("tests/a/Cargo.toml", &manifest(harmless))]), [""; 0]);
    assert_eq!(broken(&[("crates/a/src/build.rs", "//! Words.\n")]), [""; 0], "a module");
}

#[test]
fn a_stranger_at_the_top_is_found_once() {
    assert_eq!(broken(&[("Makefile", "all:\n")]), ["top-level"]);
    assert_eq!(broken(&[("scripts/a.sh", ""), ("scripts/b.sh", "")]), ["top-level"]);
    assert_eq!(
        broken(&[
            (".gitignore", ""),
            (".ci/run", ""),
            ("README.md", ""),
            ("SECURITY.md", ""),
            ("docs/a.md", "")
        ]),
        [""; 0]
    );
}

#[test]
fn a_public_type_without_an_example_is_found() {
    let example = "/// Words.\n///\n/// ```\n/// let a = A {};\n/// ```\n";
    let attributes =
        "#[derive(Debug)]\n#[expect(\n    exhaustive_structs,\n    reason = \"so\"\n)]\n";
    let path = "crates/a/src/lib.rs";
    assert_eq!(broken_by(path, &format!("{example}{attributes}pub struct A {{}}")), [""; 0]);
    for item in ["enum A {}", "struct A;", "trait A {}", "type A = u8;"] {
        let bare = format!("{example}pub struct Before {{}}\n/// Words.\n{attributes}pub {item}");
        assert_eq!(broken_by(path, &bare), ["type-example"], "{item}");
        assert_eq!(broken_by(path, &format!("pub(crate) {item}\n{item}")), [""; 0], "{item}");
        assert_eq!(broken_by("tests/it/main.rs", &bare), [""; 0], "{item}");
        assert_eq!(broken_by("crates/a/src/internal.rs", &bare), [""; 0], "{item}");
    }
    assert_eq!(broken_by(path, "mod sealed {\n    pub trait Sealed {}\n}"), [""; 0]);
}

#[test]
fn an_asynchronous_function_that_is_silent_on_dropping_is_found() {
    let path = "crates/a/src/lib.rs";
    let says = "impl A {\n    /// Waits.\n    ///\n    /// # Cancel safety\n    ///\n    /// Yes.\n    \
                #[must_use]\n    pub async fn wait() {}\n}";
    assert_eq!(broken_by(path, says), [""; 0]);
    let silent = "impl A {\n    /// Waits.\n    pub async fn wait() {}\n    async fn own() {}\n}";
    assert_eq!(broken_by(path, silent), ["cancel-safety"]);
    assert_eq!(broken_by("xtask/src/main.rs", silent), [""; 0]);
}

#[test]
fn a_message_names_the_place_the_rule_the_reason_and_the_way_out() {
    let files = [File::new("crates/a/src/lib.rs", "//! Words.\n\nfn f() {\n    x.unwrap();\n}\n")];
    let shown = check(&files).findings[0].to_string();
    assert!(
        shown.starts_with("crates/a/src/lib.rs:4: [panic] `.unwrap()` outside a test\n"),
        "{shown}"
    );
    assert!(
        shown.contains("why: nothing that a peer") && shown.contains("do:  return an error"),
        "{shown}"
    );
}

#[test]
fn a_rule_broken_all_over_a_file_is_printed_a_few_times() {
    let code = format!("//! Words.\n{}", "fn f() {\n    x.unwrap();\n}\n".repeat(9));
    let shown = check(&[File::new("crates/a/src/lib.rs", code)]).shown();
    assert_eq!(shown.matches("[panic] `.unwrap()`").count(), 3, "{shown}");
    assert!(shown.contains("crates/a/src/lib.rs: [panic] 6 more"), "{shown}");
}

#[test]
fn the_sizes_name_the_share_of_tests() {
    let code = "//! Words.\nfn f() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn it_is_a_test() {}\n}\n";
    let shown = check(&[File::new("crates/a/src/lib.rs", code)]).sizes.to_string();
    assert!(shown.contains("5 test lines to 1 code lines: 5.00"), "{shown}");
    assert!(shown.contains("function lines: p50 1, p90 1, p99 1, longest 1 of 1"), "{shown}");
}

#[test]
fn this_very_tree_is_what_the_command_reads() {
    let files = shell::tree().expect("git lists the tree");
    assert!(files.iter().any(|file| file.path == "xtask/src/tidy/tests.rs"));
    assert!(files.iter().all(|file| !file.path.starts_with("target/")));
}
