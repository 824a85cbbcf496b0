//! Every input that is kept, through what must hold of it; with any compiler.

use std::fs;
use std::path::{Path, PathBuf};

use fuzz::TARGETS;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name)
}

#[test]
fn every_input_that_is_kept_keeps_to_its_rules() {
    for (name, check) in TARGETS {
        let entries = fs::read_dir(folder(name)).expect("a folder");
        let mut inputs = 0;
        for entry in entries {
            let path = entry.expect("an entry").path();
            let input = fs::read(&path).expect("an input");
            // A panic tells what is wrong; this tells with which.
            println!("{}", path.display());
            check(&input);
            inputs += 1;
        }
        assert!(inputs > 0, "{name} has no inputs");
    }
}

#[test]
fn every_folder_has_a_target_and_every_target_is_built() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"));
    let manifest = manifest.expect("the manifest");
    let entries = fs::read_dir(folder("")).expect("the folders");
    let folders: Vec<_> = entries.map(|entry| entry.expect("an entry").file_name()).collect();
    assert_eq!(folders.len(), TARGETS.len(), "{folders:?}");
    for (name, _) in TARGETS {
        assert!(folders.iter().any(|folder| folder == name), "{name}");
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
    }
}

/// Short inputs of every kind, without a fuzzer: enough to show that nothing is wrong at first sight.
#[test]
fn inputs_by_chance_keep_to_the_rules() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut chance = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let words: &[&[u8]] = &[
        b"\n",
        b"\r",
        b"\r\n",
        b":",
        b" ",
        b"data",
        b"id",
        b"retry",
        b"event",
        b"7",
        b"\0",
        b"\xEF\xBB\xBF",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b"\"",
        b"\\u",
        b"\"jsonrpc\":\"2.0\"",
        b"\"id\":1",
        b"\"method\":\"x\"",
        b"\"params\":{}",
        b"\"result\":{}",
        b"\"error\":{}",
        b"null",
        b"1e999",
        b"\"properties\":{",
        b"\"a\":",
        b"\"x-mcp-header\":\"A\"",
        b"\"type\":\"string\"",
        b"Bearer",
        b"=",
        b"realm=\"a\"",
        b"\xff",
        b"\xc3\xa9",
    ];
    for (name, check) in TARGETS {
        // A whole client, or a whole login, takes a thousand times as long as a reader does, and means each byte of its input.
        let whole = matches!(*name, "client" | "metadata");
        for _ in 0..if whole { 1_000 } else { 20_000 } {
            let mut input = vec![0; if whole { chance(120) } else { chance(6) }];
            input.iter_mut().for_each(|byte| *byte = chance(256) as u8);
            for _ in 0..chance(16) {
                input.extend_from_slice(words[chance(words.len())]);
            }
            if std::panic::catch_unwind(|| check(&input)).is_err() {
                panic!("{name}: {input:?}, {:?}", String::from_utf8_lossy(&input));
            }
        }
    }
}
