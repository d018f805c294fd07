//! Mutated files: whatever a state, a plan, a journal, a lock file, or what lies in `.terraform` is made of, commands end in good
//! order, write nothing outside of their folder, and lose nothing.
//!
//! An ordinary run tries some; `ENTAIL_MUTATIONS=600` tries that many, from another beginning with `ENTAIL_SEED`.

use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::support::dice::Dice;
use crate::support::place::Place;
use crate::support::{binary, number};

const CONFIG: &str = "resource \"terraform_data\" \"a\" {\n}\nresource \"terraform_data\" \"b\" {\n  count = 12\n  input = range(30)\n}\nmodule \"m\" {\n  source = \"./m\"\n}\noutput \"o\" {\n  value = terraform_data.a.id\n}\n";
const STATE: &str = "terraform.tfstate";
const JOURNAL: &str = ".terraform.tfstate.journal";

/// A file to mutate, and commands that meet it.
const FILES: &[(&str, &[&str])] = &[
    (
        STATE,
        &[
            "plan",
            "show -json",
            "output -json",
            "state pull",
            "graph",
            "validate",
            "apply -auto-approve",
            "destroy -auto-approve",
            "state rm terraform_data.a",
            "state mv terraform_data.a terraform_data.z",
            "taint terraform_data.a",
            "refresh",
            "workspace new other",
        ],
    ),
    (
        "saved",
        &["show saved", "show -json saved", "why -plan=saved terraform_data.a", "apply saved"],
    ),
    (
        JOURNAL,
        &[
            "plan",
            "state list",
            "apply -auto-approve",
            "state rm terraform_data.a",
            "refresh",
            "apply -auto-approve -lock=false",
        ],
    ),
    (".terraform.lock.hcl", &["plan", "init", "version", "providers", "apply -auto-approve"]),
    (
        ".terraform/environment",
        &["plan", "workspace list", "workspace new x", "apply -auto-approve"],
    ),
    (".terraform/modules/modules.json", &["plan", "init", "get", "apply -auto-approve"]),
];

const LOCKS: &str = "provider \"registry.opentofu.org/hashicorp/null\" {\n  version     = \"3.2.3\"\n  constraints = \">= 3.0.0, < 4.0.0\"\n  hashes = [\n    \"h1:+AnORRgFbRO6qqcfaQyeX80W0eX3VmjadjnUFUJTiXo=\",\n    \"zh:22d062e5278d872fe7aed834f5577ba0a5afe34a3bdac2b81f828d8d3e6706d2\",\n  ]\n}\n";

/// What was done to the bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Harm {
    /// The end is missing: the same as a write that was cut off.
    Cut,
    Other,
}

fn bytewise(bytes: &mut Vec<u8>, dice: &mut Dice) -> Harm {
    if bytes.is_empty() {
        return Harm::Cut;
    }
    let at = dice.below(bytes.len());
    let end = (at + 1 + dice.below(40)).min(bytes.len());
    match dice.below(7) {
        0 => {
            bytes.truncate(at);
            return Harm::Cut;
        }
        1 => drop(bytes.drain(at..end)),
        2 => {
            let part = bytes[at..end].to_vec();
            bytes.splice(at..at, part);
        }
        3 => bytes[at..end].fill(0),
        4 => {
            let strange = [&b"\xff\xfe"[..], b"\0", b"\"", b"{", b"]", b"\n", b"../../x", b"1e999"];
            let part = dice.pick(&strange).to_vec();
            bytes.splice(at..at, part);
        }
        5 => bytes[at] ^= 1 << dice.below(8),
        _ => bytes[at] = u8::try_from(dice.below(256)).expect("a byte"),
    }
    Harm::Other
}

/// Puts something else in the place of some part of a document.
fn structurewise(json: &mut Json, dice: &mut Dice) {
    let deeper = match json {
        Json::Array(it) if !it.is_empty() && dice.below(5) > 0 => {
            let at = dice.below(it.len());
            it.get_mut(at)
        }
        Json::Object(it) if !it.is_empty() && dice.below(5) > 0 => {
            let name = it.keys().nth(dice.below(it.len())).expect("it is there").clone();
            if dice.below(8) == 0 {
                let part = it.remove(&name).expect("it is there");
                it.insert(format!("{name}.."), part);
                return;
            }
            it.get_mut(&name)
        }
        _ => None,
    };
    if let Some(part) = deeper {
        return structurewise(part, dice);
    }
    let nested = (0..200).fold(json!(1), |inner, _| json!([inner]));
    let strange = [
        json!(null),
        json!(-1),
        json!(18_446_744_073_709_551_615_u64),
        json!(""),
        json!("../../outside"),
        json!("/etc/passwd"),
        json!("terraform_data.a"),
        json!("\u{0}\u{202e}"),
        json!([]),
        json!({}),
        json!([null, {"a": []}]),
        json!(true),
        nested,
    ];
    *json = dice.pick(&strange).clone();
}

fn mutated(name: &str, bytes: &[u8], dice: &mut Dice) -> (Vec<u8>, Harm) {
    let mut bytes = bytes.to_vec();
    if name == "saved" && dice.below(4) > 0 {
        return (repacked(&bytes, dice), Harm::Other);
    }
    if let (Ok(mut json), true) = (serde_json::from_slice(&bytes), dice.below(2) == 0) {
        structurewise(&mut json, dice);
        return (json.to_string().into_bytes(), Harm::Other);
    }
    let before = bytes.clone();
    let harms: Vec<Harm> = (0..=dice.below(3)).map(|_| bytewise(&mut bytes, dice)).collect();
    let is_cut = before.starts_with(&bytes) || harms == [Harm::Cut];
    (bytes, if is_cut { Harm::Cut } else { Harm::Other })
}

/// A plan with one of its entries mutated.
fn repacked(bytes: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut old = ZipArchive::new(Cursor::new(bytes)).expect("it is a plan");
    let mut new = ZipWriter::new(Cursor::new(Vec::new()));
    let chosen = dice.below(old.len());
    for at in 0..old.len() {
        let mut entry = old.by_index(at).expect("an entry");
        let mut content = Vec::new();
        entry.read_to_end(&mut content).expect("it is read");
        let name = entry.name().expect("text").into_owned();
        if at == chosen && !content.is_empty() {
            content = mutated(&name, &content, dice).0;
        }
        new.start_file(name, SimpleFileOptions::default()).expect("an entry");
        new.write_all(&content).expect("it is written");
    }
    new.finish().expect("it is written").into_inner()
}

/// A folder with a state, a saved plan, what `init` has left, and the journal of a run that could not write its state.
fn prepared(with_journal: bool) -> Place {
    let place = Place::new(CONFIG);
    std::fs::create_dir(place.path().join("m")).expect("it is made");
    place.write("m/main.tf", "resource \"terraform_data\" \"inner\" {\n}\n");
    place.succeed(&["init"]);
    place.succeed(&["apply", "-auto-approve", "-target=terraform_data.a"]);
    if with_journal {
        let line = format!("ulimit -f 24; exec {} apply -auto-approve", binary::path().display());
        let mut process = binary::process("/bin/sh", place.path());
        process.args(["-c", &line]).output().expect("it runs");
        assert!(place.path().join(JOURNAL).exists(), "the state was too large to be written");
    } else {
        place.succeed(&["plan", "-out=saved"]);
        place.write(".terraform.lock.hcl", LOCKS);
        place.write(".terraform/environment", "default");
    }
    place
}

fn copy(from: &Path, into: &Path) {
    std::fs::create_dir_all(into).expect("it is made");
    for entry in std::fs::read_dir(from).expect("it is read").flatten() {
        let target = into.join(entry.file_name());
        match entry.file_type().expect("it is known").is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).expect("it is copied")),
        }
    }
}

/// Every file below a folder but those of one of its folders.
fn beside(folder: &Path, without: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("it is read").flatten() {
        let path = entry.path();
        match path.is_dir() {
            true if path == without => {}
            true => beside(&path, without, found),
            false => found.push(path),
        }
    }
}

#[test]
fn mutated_files_are_survived() {
    let (plain, interrupted) = (prepared(false), prepared(true));
    let seed = number("ENTAIL_SEED").unwrap_or(1);
    for round in 0..number("ENTAIL_MUTATIONS").unwrap_or(48) {
        // Neighbours are to differ from the first number on.
        let beginning = (seed * 1_000_003 + round + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut dice = Dice(beginning | 1);
        let (name, commands): (&str, &[&str]) =
            FILES[usize::try_from(round).expect("small") % FILES.len()];
        let from = if name == JOURNAL { &interrupted } else { &plain };
        let bytes = std::fs::read(from.path().join(name)).expect("it is read");
        let (bytes, harm) = mutated(name, &bytes, &mut dice);
        attempt(from, name, &bytes, harm, commands[dice.below(commands.len())], round);
    }
}

/// Runs one command over one mutated file.
fn attempt(from: &Place, name: &str, bytes: &[u8], harm: Harm, command: &str, round: u64) {
    let outer = tempfile::tempdir().expect("a folder");
    let inner = outer.path().join("a/b");
    copy(from.path(), &inner);
    std::fs::create_dir(outer.path().join("home")).expect("it is made");
    std::fs::write(inner.join(name), bytes).expect("it is written");
    let state = std::fs::read(inner.join(STATE)).expect("it is read");
    let mut process = binary::process("timeout", &inner);
    process.arg("60").arg(binary::path()).args(command.split(' '));
    process.env("HOME", outer.path().join("home")).env("TF_IN_AUTOMATION", "1");
    let output = process.output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    let kept = std::env::temp_dir().join("entail-mutated");
    let what = format!("round {round}, {name}: {command}: {:?}\n{text}", output.status);
    let fails = |why: &str| -> ! {
        // The file is what shows the failure again.
        drop(std::fs::write(&kept, bytes));
        panic!("{why} (the file is in {}): {what}", kept.display());
    };
    if text.contains("panicked at") || !matches!(output.status.code(), Some(0..=3)) {
        fails("it did not end in good order");
    }
    let mut found = Vec::new();
    beside(outer.path(), &inner, &mut found);
    if !found.is_empty() {
        fails(&format!("written outside: {found:?}"));
    }
    let is_begun =
        ["Creating...", "Modifying...", "Destroying..."].iter().any(|it| text.contains(it));
    if output.status.code() != Some(0) && !is_begun {
        let now = std::fs::read(inner.join(STATE)).unwrap_or_default();
        let is_kept = name == JOURNAL || now == state;
        if !is_kept {
            fails("it fails and has changed the state");
        }
    }
    if name == JOURNAL && harm == Harm::Other && command != "state list" && command != "plan" {
        // What the journal tells is in the state, or the journal is where it was.
        let now = std::fs::read(inner.join(STATE)).unwrap_or_default();
        let all = String::from_utf8_lossy(&now).matches("\"index_key\"").count();
        let is_there = std::fs::read(inner.join(JOURNAL)).is_ok_and(|it| it == bytes);
        if all < 12 && !is_there {
            fails("what the journal told is lost");
        }
    }
}
