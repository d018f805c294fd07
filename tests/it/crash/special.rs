//! The same commands where states are links, have two names or a journal beside them, and where objects are files.

use super::scenarios::{AGAIN, ALL, Scenario, USUAL};
use crate::support::faults::{self, Fault};
use crate::support::place::Place;

pub const SPECIAL: &[Scenario] = &[
    Scenario {
        command: "state rm terraform_data.a",
        about: "a state with two names",
        new: &["b"],
        prepare: with_two_names,
        ..USUAL
    },
    Scenario {
        command: "apply -auto-approve -json",
        about: "a state with two names",
        new: ALL,
        finish: AGAIN,
        prepare: with_two_names,
        ..USUAL
    },
    Scenario {
        command: "state rm terraform_data.a",
        about: "a state that is a link",
        shown: &[(Fault::Kill, "fchmod real/.entail-")],
        new: &["b"],
        prepare: |it| {
            it.write("real/one.tfstate", &it.text("terraform.tfstate"));
            let state = it.path().join("terraform.tfstate");
            std::fs::remove_file(&state).expect("it is removed");
            std::os::unix::fs::symlink("real/one.tfstate", &state).expect("a link");
        },
        ..USUAL
    },
    Scenario {
        command: "state rm terraform_data.a",
        about: "a journal",
        // What the journal has of an apply is in the state first.
        new: &["b", "c", "d"],
        old: ALL,
        prepare: interrupted,
        ..USUAL
    },
    Scenario {
        command: "apply -auto-approve -json",
        about: "a journal",
        new: ALL,
        finish: AGAIN,
        prepare: interrupted,
        ..USUAL
    },
    Scenario {
        command: "apply -auto-approve -json -recover=aside",
        about: "a journal",
        // One that cannot be read is set aside, and kept.
        leaves: &[".terraform.tfstate.journal."],
        new: ALL,
        finish: AGAIN,
        prepare: interrupted,
        ..USUAL
    },
    Scenario {
        command: "apply -auto-approve -json",
        about: "files as objects",
        new: &["a", "b", "c", "d", "f", "g"],
        finish: AGAIN,
        prepare: |it| {
            it.add("resource \"local_file\" \"f\" {\n  filename = \"made/f.txt\"\n  content = \"what f holds\"\n}\n");
            it.add("resource \"local_sensitive_file\" \"g\" {\n  filename = \"made/g.txt\"\n  content = \"what g holds\"\n}\n");
        },
        is_done: |it| {
            it.text("made/f.txt") == "what f holds" && it.text("made/g.txt") == "what g holds"
        },
        ..USUAL
    },
];

fn with_two_names(place: &Place) {
    let name = |name: &str| place.path().join(name);
    std::fs::hard_link(name("terraform.tfstate"), name("second.tfstate")).expect("a name");
}

/// Leaves the journal of an apply that was killed before it could store the state.
fn interrupted(place: &Place) {
    let apply = |place: &Place, fault| {
        let mut command = place.command(&["apply", "-auto-approve"]);
        faults::watch(&mut command, place.path(), fault).expect("it ends").1
    };
    let calls = apply(&place.copied(), None);
    let stored = calls.iter().find(|it| it.name == "rename" && it.path == "terraform.tfstate");
    apply(place, Some((Fault::Kill, stored.expect("it is stored").number)));
    assert!(place.path().join(".terraform.tfstate.journal").exists(), "a journal is left");
}
