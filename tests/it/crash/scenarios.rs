//! The commands that write, each with what it starts from and what it makes of that.

use super::packages::PACKAGES;
use super::special::SPECIAL;
use crate::support::faults::{Call, Fault};
use crate::support::place::Place;

/// A command, and what is true before and after it.
pub struct Scenario {
    pub command: &'static str,
    /// What is special about it, where others have the same command.
    pub about: &'static str,
    /// Objects that may be there afterwards: those of the old state, and those of the new one.
    pub old: &'static [&'static str],
    pub new: &'static [&'static str],
    /// Files that hold what they held before or what they hold afterwards, and nothing else. A pattern ends with `*`.
    pub files: &'static [&'static str],
    /// What tells which objects there are.
    pub list: &'static str,
    /// What someone does next: it works, whatever has happened, and nothing lies about then.
    pub next: &'static [&'static str],
    /// What may stay where it is nevertheless.
    pub leaves: &'static [&'static str],
    /// What finishes a command that goes step by step.
    pub finish: Option<fn(&Place) -> &'static str>,
    /// Faults that have shown something before, each with the start of the call's name and path: no run leaves them out.
    pub shown: &'static [(Fault, &'static str)],
    /// Prepares a place in which the objects `a` and `b` exist and others are wanted.
    pub prepare: fn(&Place),
    /// Whether what was asked for is there, beside the objects and the files.
    pub is_done: fn(&Place) -> bool,
}

/// Two objects exist.
pub const BEFORE: &str =
    "resource \"terraform_data\" \"a\" {\n}\nresource \"terraform_data\" \"b\" {\n}\n";
/// Two others are wanted besides.
const AFTER: &str = "resource \"terraform_data\" \"c\" {\n}\nresource \"terraform_data\" \"d\" {\n  input = terraform_data.c.id\n}\n";

impl Scenario {
    /// What it is called.
    pub fn title(&self) -> String {
        match self.about {
            "" => self.command.to_owned(),
            about => format!("{} ({about})", self.command),
        }
    }

    /// Whether a fault at a call has shown something before.
    pub fn has_shown(&self, fault: Fault, call: &Call) -> bool {
        let words = format!("{} {}", call.name, call.path);
        self.shown.iter().any(|(shown, start)| *shown == fault && words.starts_with(start))
    }
}

const AB: &[&str] = &["a", "b"];
pub const ALL: &[&str] = &["a", "b", "c", "d"];

/// What most of them have in common: the objects stay, and a plan comes next.
pub const USUAL: Scenario = Scenario {
    command: "",
    about: "",
    old: AB,
    new: AB,
    files: &[],
    list: "state list",
    next: &["plan"],
    leaves: &[],
    finish: None,
    shown: &[],
    prepare: |_| {},
    is_done: |_| true,
};

/// What finishes an apply.
pub const AGAIN: Option<fn(&Place) -> &'static str> = Some(|_| "apply -auto-approve");

/// Commands on states, settings and sources.
const STATES: &[Scenario] = &[
    Scenario { command: "apply -auto-approve -json", new: ALL, finish: AGAIN, ..USUAL },
    Scenario {
        command: "destroy -auto-approve -json",
        new: &[],
        finish: Some(|_| "destroy -auto-approve"),
        prepare: |it| it.write("main.tf", BEFORE),
        ..USUAL
    },
    Scenario { command: "import terraform_data.c anything", new: &["a", "b", "c"], ..USUAL },
    Scenario { command: "state mv terraform_data.a terraform_data.c", new: &["b", "c"], ..USUAL },
    Scenario { command: "state rm terraform_data.a", new: &["b"], ..USUAL },
    Scenario {
        command: "state rm -backup=kept.tfstate terraform_data.a",
        new: &["b"],
        files: &["kept.tfstate"],
        ..USUAL
    },
    Scenario { command: "state push pushed.tfstate", new: &["b"], prepare: pushed, ..USUAL },
    Scenario {
        command: "state replace-provider -auto-approve terraform.io/builtin/terraform registry.opentofu.org/hashicorp/null",
        // Without the other provider there is no plan; whoever takes the lock clears as well.
        next: &["state rm terraform_data.b"],
        is_done: |it| it.text("terraform.tfstate").contains("hashicorp/null"),
        ..USUAL
    },
    Scenario {
        command: "taint terraform_data.a",
        is_done: |it| it.text("terraform.tfstate").contains("\"tainted\""),
        ..USUAL
    },
    Scenario {
        command: "untaint terraform_data.a",
        prepare: |it| drop(it.succeed(&["taint", "terraform_data.a"])),
        is_done: |it| !it.text("terraform.tfstate").contains("\"tainted\""),
        ..USUAL
    },
    Scenario { command: "refresh", ..USUAL },
    Scenario {
        command: "plan -out=saved",
        is_done: |it| it.run(&["show", "saved"]).1 == Some(0),
        ..USUAL
    },
    Scenario {
        command: "workspace new other",
        new: &[],
        files: &[".terraform/environment"],
        is_done: |it| it.run(&["workspace", "show"]).0.trim() == "other",
        ..USUAL
    },
    Scenario {
        command: "workspace new -state=terraform.tfstate filled",
        files: &[".terraform/environment"],
        next: &["plan", "workspace select -or-create=true filled", "plan"],
        is_done: |it| it.run(&["workspace", "show"]).0.trim() == "filled",
        ..USUAL
    },
    Scenario {
        command: "workspace select empty",
        new: &[],
        files: &[".terraform/environment"],
        prepare: with_workspace,
        is_done: |it| it.run(&["workspace", "show"]).0.trim() == "empty",
        ..USUAL
    },
    Scenario {
        command: "workspace delete empty",
        prepare: with_workspace,
        next: &["plan", "workspace select -or-create=true empty", "plan"],
        // Whoever locks a state has a file, and that is empty.
        leaves: &["terraform.tfstate.d/empty/terraform.tfstate"],
        is_done: |it| !it.run(&["workspace", "list"]).0.contains("empty"),
        ..USUAL
    },
    Scenario { command: "state rm terraform_data.a terraform_data.b", new: &[], ..USUAL },
    Scenario {
        command: "state mv -state-out=other.tfstate terraform_data.a terraform_data.x",
        new: &["b"],
        next: &["plan", "state mv -state-out=other.tfstate terraform_data.b terraform_data.y"],
        is_done: |it| it.text("other.tfstate").contains("\"x\""),
        ..USUAL
    },
    Scenario {
        command: "force-unlock -force 11111111-2222-3333-4444-555555555555",
        prepare: locked,
        is_done: |it| !it.path().join(".terraform.tfstate.lock.info").exists(),
        ..USUAL
    },
    Scenario {
        command: "apply -json made",
        new: ALL,
        finish: AGAIN,
        prepare: |it| drop(it.succeed(&["plan", "-out=made"])),
        ..USUAL
    },
    Scenario {
        command: "apply -auto-approve -json -state-out=out.tfstate",
        old: &[],
        new: ALL,
        list: "state list -state=out.tfstate",
        // What was noted belongs to the state that it began with, as long as there is no other.
        finish: Some(|it| match it.text("out.tfstate").is_empty() {
            true => "apply -auto-approve -state-out=out.tfstate",
            false => "apply -auto-approve -state=out.tfstate",
        }),
        ..USUAL
    },
    Scenario {
        command: "plan -generate-config-out=made.tf",
        files: &["made.tf"],
        prepare: |it| it.add("import {\n  to = terraform_data.e\n  id = \"x\"\n}\n"),
        // Without that file there is no plan; whoever takes the lock clears as well.
        next: &["state rm terraform_data.b"],
        ..USUAL
    },
    Scenario {
        command: "init -force-copy",
        prepare: |it| it.add(&local("elsewhere/moved.tfstate")),
        next: &["init -force-copy", "plan"],
        is_done: |it| it.text("elsewhere/moved.tfstate").contains("terraform_data"),
        ..USUAL
    },
    Scenario {
        command: "init -migrate-state -force-copy",
        prepare: |it| {
            let from = it.text("main.tf");
            it.write("main.tf", &format!("{from}{}", local("first/one.tfstate")));
            it.succeed(&["init", "-force-copy"]);
            it.write("main.tf", &format!("{from}{}", local("second/two.tfstate")));
        },
        next: &["init -migrate-state -force-copy", "plan"],
        // Nobody looks there any more.
        leaves: &["first/"],
        is_done: |it| it.text("second/two.tfstate").contains("terraform_data"),
        ..USUAL
    },
    Scenario {
        command: "fmt -recursive",
        files: &["main.tf", "inner/more.tf"],
        prepare: |it| {
            it.add("locals   {\n a=1\n     bcd = 2\n}\n");
            it.write("inner/more.tf", "locals{\nxyz   =   3\n}\n");
        },
        next: &["fmt -recursive"],
        ..USUAL
    },
];

fn local(path: &str) -> String {
    format!("terraform {{\n  backend \"local\" {{\n    path = \"{path}\"\n  }}\n}}\n")
}

fn pushed(place: &Place) {
    let state = place.text("terraform.tfstate");
    place.succeed(&["state", "rm", "-backup=-", "terraform_data.a"]);
    let pushed = place.text("terraform.tfstate").replace("\"serial\": 2", "\"serial\": 9");
    place.write("pushed.tfstate", &pushed);
    place.write("terraform.tfstate", &state);
}

fn with_workspace(place: &Place) {
    place.succeed(&["workspace", "new", "empty"]);
    place.succeed(&["workspace", "select", "default"]);
}

fn locked(place: &Place) {
    place.write(
        ".terraform.tfstate.lock.info",
        "{\"ID\": \"11111111-2222-3333-4444-555555555555\", \"Operation\": \"\", \"Info\": \"\", \"Who\": \"\", \"Version\": \"\", \"Created\": \"2025-01-01T00:00:00Z\", \"Path\": \"terraform.tfstate\"}",
    );
}

/// Every command.
pub fn all() -> impl Iterator<Item = &'static Scenario> {
    STATES.iter().chain(SPECIAL).chain(PACKAGES)
}

/// Prepares the place that a command starts from.
pub fn prepared(scenario: &Scenario) -> Place {
    let place = Place::new(BEFORE);
    place.write("home/temporary/kept", "");
    place.succeed(&["apply", "-auto-approve"]);
    place.write("main.tf", &format!("{BEFORE}{AFTER}"));
    (scenario.prepare)(&place);
    place
}
