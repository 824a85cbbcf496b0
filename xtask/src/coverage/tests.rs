//! Small trees whose rows are proven, or not.

use super::runs::StepRun;
use super::*;

const ROWS: &str = "# Features\n\n| Row | Version | Level | Issue | Duty |\n|---|---|---|---|---|\n\
                    | A-01 | all | MUST | 2 | Do `a \\| b`. |\n| A-02 | 26 | MAY | 4 | Do more. |\n\
                    | A-03 | 26 | FACT | later | It is so. (Nothing to prove.) |\n\ndue = 2\n";

/// Rows, a package `p`, and these files beside.
fn tree(files: &[(&str, &str)]) -> Vec<File> {
    let given =
        [("docs/rows/features.md", ROWS), ("crates/p/Cargo.toml", "[package]\nname = \"p\"\n")];
    let fixed = [("tests/Cargo.toml", "[package]\nname = \"p-tests\"\n")];
    given.iter().chain(&fixed).chain(files).map(|(path, text)| File::new(*path, *text)).collect()
}

fn coverage(files: &[(&str, &str)]) -> Coverage {
    let mut coverage = Coverage::of(&tree(files)).expect("the rows can be read");
    // What the steps prove is about the real rows.
    coverage.proofs.retain(|_, proofs| proofs.iter().all(|proof| matches!(proof, Proof::Test(_))));
    coverage
}

/// What is wrong with a tree whose test runner wrote this log.
fn findings(files: &[(&str, &str)], log: &str) -> Vec<String> {
    let findings = coverage(files).findings(&Runs::read(log));
    findings.into_iter().map(|finding| finding.text).collect()
}

const CITED: (&str, &str) = (
    "crates/p/src/a/mod.rs",
    "//! Words.\n\n#[cfg(test)]\nmod tests {\n    // A-01, A-02\n    #[test]\n    fn it_does_a() {}\n}\n",
);
const PASSED: &str = "        PASS [   0.005s] ( 1/43) p a::tests::it_does_a\n     Summary [   0.1s] 1 test run: 1 passed\n";

#[test]
fn a_due_row_is_proven_by_a_test_that_passed() {
    assert_eq!(findings(&[CITED], PASSED), [""; 0]);
    assert_eq!(findings(&[CITED], "  PASS [   0.005s] p a::tests::it_does_a\n"), [""; 0]);
}

#[test]
fn a_due_row_without_a_citation_fails_and_a_later_one_does_not() {
    assert_eq!(findings(&[], PASSED), ["A-01 is due (issue 2) and nothing proves it"]);
}

#[test]
fn a_cited_test_that_failed_or_did_not_run_fails() {
    let expected = "A-01, A-02: the test `p a::tests::it_does_a` did not run and pass";
    let logs = [
        "",
        "  FAIL [   0.005s] (1/1) p a::tests::it_does_a\n",
        "  PASS [   0.005s] (1/1) q a::tests::it_does_a\n",
        "  PASS [   0.005s] (1/1) p b::tests::it_does_a\n",
    ];
    for log in logs {
        assert_eq!(findings(&[CITED], log), [expected], "{log}");
    }
}

#[test]
fn a_row_that_nobody_wrote_cannot_be_cited() {
    let code = "//! Words.\n// A-01, A-99\n#[test]\nfn it_does_a() {}\n";
    let found = findings(&[("crates/p/src/lib.rs", code)], "PASS [ 0.0s] p it_does_a\n");
    assert_eq!(found, ["crates/p/src/lib.rs:2: there is no row A-99 in docs/rows"]);
}

#[test]
fn a_citation_above_no_test_fails() {
    let above_function = "//! Words.\n// A-01\nfn it_does_a() {}\n";
    let below_attribute = "//! Words.\n#[test]\n// A-01\nfn it_does_a() {}\n";
    let apart = "//! Words.\n// A-01\n\n#[test]\nfn it_does_a() {}\n";
    for code in [above_function, below_attribute, apart] {
        let found = findings(&[("crates/p/src/lib.rs", code)], "PASS [ 0.0s] p it_does_a\n");
        assert!(
            found[0].contains("these rows stand directly above no test: `// A-01`"),
            "{found:?}"
        );
    }
}

#[test]
fn prose_and_strings_are_no_citations() {
    let code = "//! A-01\n/// A-01\n// As A-01 says.\nfn f() {\n    g(\"\n// A-01\n\");\n}\n";
    assert_eq!(
        findings(&[("crates/p/src/lib.rs", code)], ""),
        ["A-01 is due (issue 2) and nothing proves it"]
    );
}

#[test]
fn several_lines_of_comment_may_stand_above_a_test() {
    let code = "//! Words.\n// A-01\n// As the page says.\n// A-02\n/// Words.\n#[cfg(unix)]\n#[tokio::test]\nasync fn it_does_a() {}\n";
    let coverage = coverage(&[("crates/p/src/lib.rs", code)]);
    assert_eq!(coverage.proofs.keys().collect::<Vec<_>>(), ["A-01", "A-02"]);
}

#[test]
fn a_test_is_named_as_the_runner_names_it() {
    let named = |path: &str| {
        let code = "//! Words.\n// A-01\n#[test]\nfn it_does_a() {}\n";
        coverage(&[(path, code)]).proofs["A-01"].first().cloned().map(|proof| match proof {
            Proof::Test(test) => test.to_string(),
            Proof::Step(step) => step.to_owned(),
        })
    };
    let cases = [
        ("crates/p/src/lib.rs", "p it_does_a"),
        ("crates/p/src/a.rs", "p a::it_does_a"),
        ("crates/p/src/a/mod.rs", "p a::it_does_a"),
        ("crates/p/src/a/tests.rs", "p a::tests::it_does_a"),
        ("crates/p/src/bin/tool.rs", "p it_does_a"),
        ("crates/p/src/bin/tool/main.rs", "p it_does_a"),
        ("crates/p/src/bin/tool/a.rs", "p a::it_does_a"),
        ("crates/p/tests/it/main.rs", "p it_does_a"),
        ("crates/p/tests/it/a.rs", "p a::it_does_a"),
        ("crates/p/tests/it/a/mod.rs", "p a::it_does_a"),
        ("crates/p/tests/small.rs", "p it_does_a"),
        ("crates/p/examples/hello.rs", "p it_does_a"),
        ("crates/p/examples/hello/a.rs", "p a::it_does_a"),
        ("tests/it/main.rs", "p-tests it_does_a"),
        ("tests/it/a/b.rs", "p-tests a::b::it_does_a"),
    ];
    for (path, expected) in cases {
        assert_eq!(named(path).as_deref(), Some(expected), "{path}");
    }
}

#[test]
fn a_test_of_a_package_s_own_integration_binary_is_found_in_the_log() {
    let code = "//! Words.\n// A-01\n#[test]\nfn it_does_a() {}\n";
    let log = "        PASS [   0.005s] ( 1/43) p::it a::it_does_a\n";
    assert_eq!(findings(&[("crates/p/tests/it/a.rs", code)], log), [""; 0]);
}

#[test]
fn a_module_in_a_file_of_another_name_is_named_after_its_line() {
    let test = "//! Words.\n// A-01\n#[test]\nfn it_does_a() {}\n";
    let parent = "//! Words.\n#[cfg(test)]\n#[path = \"b_tests.rs\"]\nmod tests;\n";
    for (path, expected) in [
        ("crates/p/src/a/b.rs", "p a::b::tests::it_does_a"),
        ("crates/p/src/a/mod.rs", "p a::tests::it_does_a"),
    ] {
        let log = format!("PASS [ 0.0s] {expected}\n");
        assert_eq!(findings(&[(path, parent), ("crates/p/src/a/b_tests.rs", test)], &log), [""; 0]);
    }
}

#[test]
fn a_fixture_proves_rows_through_the_test_that_plays_it() {
    let fixture = ("tests/fixtures/v1/probe.txt", "# A-01\n> {}\n");
    let by_name = (
        "tests/it/a.rs",
        "//! Words.\n#[test]\nfn it_plays_one() {\n    play(\"v1/probe.txt\");\n}\n",
    );
    let by_folder = (
        "tests/it/a.rs",
        "//! Words.\n// Plays all of `tests/fixtures/v1/`.\n#[test]\nfn it_plays_one() {}\n",
    );
    for player in [by_name, by_folder] {
        assert_eq!(
            findings(&[fixture, player], "PASS [ 0.0s] p-tests::it a::it_plays_one\n"),
            [""; 0]
        );
        assert!(
            findings(&[fixture, player], "")[0].contains("`p-tests a::it_plays_one` did not run")
        );
    }
}

#[test]
fn a_fixture_that_no_test_plays_fails() {
    let fixture = ("tests/fixtures/v1/probe.txt", "# words\n# A-02\n> {}\n");
    let other = (
        "tests/it/a.rs",
        "//! Words.\n#[test]\nfn it_plays_one() {\n    play(\"v2/probe.txt\");\n}\n",
    );
    let found = findings(&[fixture, other, CITED], PASSED);
    assert_eq!(found.len(), 1);
    assert!(
        found[0].starts_with("tests/fixtures/v1/probe.txt:2: no test plays this fixture"),
        "{found:?}"
    );
}

#[test]
fn a_step_proves_its_rows_only_when_it_passed() {
    let runs = |run| Runs::default().with_step("zoo", run).objection(&Proof::Step("zoo"));
    assert_eq!(runs(StepRun::Passed), None);
    assert_eq!(runs(StepRun::Failed).as_deref(), Some("`cargo xtask zoo` failed"));
    assert_eq!(runs(StepRun::Stale).as_deref(), Some("`cargo xtask zoo` ran on an older tree"));
    let never = Runs::default().objection(&Proof::Step("zoo"));
    assert_eq!(never.as_deref(), Some("`cargo xtask zoo` has not run"));
}

#[test]
fn findings_are_counted_by_kind() {
    let code =
        "//! Words.\n// A-02\n#[test]\nfn it_does_a() {}\n// A-02\nfn f() {}\n// A-03\nfn g() {}\n";
    let findings = coverage(&[("crates/p/src/lib.rs", code)]).findings(&Runs::default());
    assert_eq!(
        counts(&findings),
        "1 row due without a proof, 1 proof that does not stand, 2 citations that are wrong"
    );
}

#[test]
fn the_page_tells_what_is_proven_what_is_not_and_what_comes_later() {
    let page = coverage(&[]).page();
    assert!(page.contains("\n0 of 1 rows that are due are proven, 0 of all 3.\n"), "{page}");
    assert!(page.contains("\n## [Features](rows/features.md)\n"), "{page}");
    assert!(page.contains("| A-01 | MUST | **not covered** |\n| A-02 | MAY | later: issue 4 |\n| A-03 | FACT | not due |\n"));
    let page = coverage(&[CITED]).page();
    assert!(page.contains("| A-01 | MUST | p `a::tests::it_does_a` |\n"), "{page}");
}

#[test]
fn a_row_is_put_off_with_a_reason_alone_and_no_must_is_but_to_the_host() {
    let row = |level: &str, issue: &str, duty: &str| {
        let text = format!("| A-01 | all | {level} | {issue} | {duty} |\ndue = 2\n");
        let rows = Rows::read(&[File::new("docs/rows/a.md", text)]).expect("rows");
        let row = rows.all().next().expect("a row");
        [row.objection(false), row.objection(true)].map(|objection| objection.unwrap_or_default())
    };
    let reason = "is put off: say why, in brackets at its end";
    let must = "is a MUST: it is proven, or it is the host's";
    let proven = "is proven, so it is due: give it the number of an issue";
    assert_eq!(row("MUST", "2", "Do."), ["", ""]);
    assert_eq!(row("MUST NOT", "later", "Do. (Not done.)"), [must, proven]);
    assert_eq!(row("MUST", "host", "Do. (The host's: it shows.)"), ["", ""]);
    assert_eq!(row("MUST", "host", "Do (it)."), [reason, reason]);
    assert_eq!(row("MAY", "later", "Do."), [reason, proven]);
    assert_eq!(row("MAY", "later", "Do. (Not done.)"), ["", proven]);
    let page = Coverage::of(&tree(&[])).expect("rows").page();
    assert!(page.contains("| A-03 | FACT | not due |"), "{page}");
    let host =
        ROWS.replace("| later | It is so. (Nothing to prove.)", "| host | It shows. (The host's.)");
    let files = [File::new("docs/rows/features.md", host)];
    assert!(Coverage::of(&files).expect("rows").page().contains("| A-03 | FACT | the host's |"));
}

#[test]
fn rows_that_cannot_be_read_are_refused() {
    let read = |text: &str| Rows::read(&[File::new("docs/rows/a.md", text)]).err();
    assert!(
        read("| A-01 | all | MUST | soon | Do. |\ndue = 2\n")
            .is_some_and(|error| error.contains("docs/rows/a.md:1"))
    );
    let twice = "| A-01 | all | MUST | 2 | Do. |\n";
    assert!(
        read(&format!("{twice}{twice}due = 2\n"))
            .is_some_and(|error| error.contains("A-01 stands there twice"))
    );
    assert!(read(twice).is_some_and(|error| error.contains("due = NUMBER")));
}

#[test]
fn the_committed_rows_hold_every_family_and_the_rows_of_the_steps() {
    let rows =
        Rows::read(&shell::tree().expect("git lists the tree")).expect("the rows can be read");
    assert!(rows.all().count() > 600);
    for id in ["S-01", "S-66", "BASE-01", "VER-05", "AUTH-01", "TASKL-01"] {
        assert!(rows.contains(id), "{id}");
    }
    assert!(STEPS.iter().flat_map(|(_, rows)| *rows).all(|id| rows.contains(id)));
}
