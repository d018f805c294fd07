//! Creations of which no answer came: the objects may exist, and the state has no record of them.
//!
//! The state keeps a note of each until the object is recorded, so that the next plan can warn on any machine.

use crate::address::Instance;
use crate::diagnostic::Diagnostic;
use crate::world::PROGRAM;

use super::State;
use super::text::JsonWriter;

/// An object that a provider was asked to create, and of which no answer came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unconfirmed {
    /// The instance that the object was to become.
    pub address: Instance,
    /// The provider that was asked.
    pub provider: String,
    /// Arguments that help to find the object, by name. None of them is sensitive.
    pub known: Vec<(String, String)>,
}

impl Unconfirmed {
    /// Returns the line of a list that tells of it.
    fn line(&self) -> String {
        line(&self.address.to_string(), &self.provider, NOT_RECORDED, &self.known)
    }
}

const NOT_RECORDED: &str = "may exist, and is not recorded";

/// Returns the line of a list that names an object, what may have become of it, and what is known of it.
pub fn line(address: &str, provider: &str, what: &str, known: &[(String, String)]) -> String {
    let known: Vec<String> =
        known.iter().map(|(name, value)| format!("{name} = {value:?}")).collect();
    let known = if known.is_empty() { String::new() } else { format!(": {}", known.join(", ")) };
    format!("  - {address} of {provider} {what}{known}")
}

/// The warning that objects may exist of which the state has no record.
///
/// - `why`: one sentence that ends in a colon.
pub fn may_exist(notes: &[Unconfirmed], state: &State, why: &str) -> Diagnostic {
    let lines: Vec<String> = notes.iter().map(Unconfirmed::line).collect();
    // Where another object has the address, it is that one that `state rm` would remove.
    let free = notes.iter().find(|it| state.instance(&it.address).is_none());
    let hints = match free.map(|it| crate::value::text::shell_word(&it.address.to_string())) {
        Some(example) => format!(
            "hint: if it exists, run \"{PROGRAM} import {example} ID\", or delete it by hand\n\
             hint: if it does not exist, run \"{PROGRAM} state rm {example}\" to drop this note; the next successful apply of the \
             address drops it too"
        ),
        None => "hint: if it exists, delete it by hand; the next successful apply of the address drops this note".into(),
    };
    Diagnostic::warning("Objects that may exist unrecorded").detail(format!(
        "{why}\n{}\n\nLook for each before the next apply creates it again.\n{hints}",
        lines.join("\n")
    ))
}

impl State {
    /// Notes that an object may exist. One note per instance is kept, the latest.
    pub fn note_unconfirmed(&mut self, note: Unconfirmed) {
        self.confirm(&note.address);
        self.unconfirmed.push(note);
    }

    /// Drops the note of an instance, because its object is recorded now.
    pub fn confirm(&mut self, address: &Instance) {
        self.unconfirmed.retain(|it| it.address != *address);
    }

    /// Returns the warning of what may exist; `None` where there is no note.
    pub fn unconfirmed_warning(&self) -> Option<Diagnostic> {
        const WHY: &str = "An earlier run asked for the following, and no answer came:";
        (!self.unconfirmed.is_empty()).then(|| may_exist(&self.unconfirmed, self, WHY))
    }
}

/// Writes notes as a member.
pub(super) fn write(json: &mut JsonWriter, notes: &[Unconfirmed]) {
    json.key("unconfirmed");
    json.open('[');
    for note in notes {
        json.element();
        json.open('{');
        json.member("address", &note.address.to_string());
        json.member("provider", &note.provider);
        json.key("known");
        json.open('{');
        note.known.iter().for_each(|(name, value)| json.member(name, value));
        json.close('}');
        json.close('}');
    }
    json.close(']');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{names, read, same, write};

    fn note(address: &str, known: &[(&str, &str)]) -> Unconfirmed {
        let known = known.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        Unconfirmed {
            address: names::instance(address).expect("an address"),
            provider: "registry.opentofu.org/hashicorp/x".into(),
            known,
        }
    }

    const RECORDED: &str = r#"{
      "version": 4, "terraform_version": "1.12.6", "serial": 1, "lineage": "l", "outputs": {},
      "resources": [{
        "mode": "managed", "type": "terraform_data", "name": "a",
        "provider": "provider[\"terraform.io/builtin/terraform\"]",
        "instances": [{"schema_version": 0, "attributes": {"id": "x"}}]
      }]
    }"#;

    #[test]
    fn notes_are_written_and_read_again() {
        let mut empty = State::default();
        assert!(empty.is_empty() && empty.unconfirmed_warning().is_none());
        empty.note_unconfirmed(note("x.a", &[]));
        assert!(!empty.is_empty());
        // Of a state without resources nothing is gained by reading it from its end.
        let recorded = read::read(RECORDED.as_bytes()).expect("it is a state");
        let mut state = recorded.expect("it is there");
        let plain = write::write(&state);
        state.note_unconfirmed(note("x.a[\"b\"]", &[("name", "n")]));
        state.note_unconfirmed(note("module.m[0].x.c", &[]));
        let text = write::write(&state);
        let found = read::read(text.as_bytes()).expect("it is a state").expect("it is there");
        assert_eq!(found.unconfirmed, state.unconfirmed, "{text}");
        assert!(same::is_same(&found, &state));
        let from_end = read::read_from_end(&mut text.clone().into_bytes()).expect("it is read");
        assert_eq!(from_end.unconfirmed, state.unconfirmed, "{text}");
        state.confirm(&state.unconfirmed[0].address.clone());
        assert!(!same::is_same(&found, &state));
        state.confirm(&state.unconfirmed[0].address.clone());
        assert_eq!(write::write(&state), plain);
    }

    #[test]
    fn a_second_note_replaces_the_first_of_an_instance() {
        let mut state = State::default();
        state.note_unconfirmed(note("x.a", &[("name", "old")]));
        state.note_unconfirmed(note("x.a", &[("name", "new")]));
        assert_eq!(state.unconfirmed, [note("x.a", &[("name", "new")])]);
        let warning = state.unconfirmed_warning().expect("there is a note");
        assert!(warning.detail.contains("name = \"new\""), "{}", warning.detail);
        assert!(warning.detail.contains("import x.a ID"), "{}", warning.detail);
    }
}
