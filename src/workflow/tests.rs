//! Workflows without a terminal: what they tell, ask, do and leave behind.

use std::fs;
use std::sync::Arc;

use expect_test::{Expect, expect};
use parking_lot::Mutex;

use super::apply::{Applied, apply};
use super::options::ApplyOptions;
use super::project::Project;
use super::refresh::refresh;
use super::{Ahead, Ask, Host, Schemas, StateOptions, Tell};
use crate::diagnostic::{Diagnostic, Diagnostics, Sources};
use crate::event::{Event, Sink};
use crate::execute::Stop;
use crate::plan::Plan;
use crate::request::{PlanMode, Request};
use crate::world::World;

mod checked;
mod memory;

fn folder(config: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("main.tf"), config).expect("it is written");
    folder
}

/// What a host was told and asked, one line each, in order.
pub(super) struct Diary {
    lines: Mutex<Vec<String>>,
    answer: &'static str,
    pub(super) stop: Stop,
    /// Whether the wish to stop comes as soon as steps are carried out.
    stops: bool,
}

impl Diary {
    pub(super) fn new(answer: &'static str) -> Diary {
        Diary { lines: Mutex::default(), answer, stop: Stop::default(), stops: false }
    }

    fn note(&self, line: impl Into<String>) {
        self.lines.lock().push(line.into());
    }

    fn text(&self) -> String {
        self.lines.lock().join("\n") + "\n"
    }
}

impl Sink for Diary {
    fn event(&self, event: Event) {
        if let Event::ApplyComplete(subject, action, _) = event {
            self.note(format!("{action:?} {}", subject.address));
        }
    }
}

impl Tell for Diary {
    fn problems(&self, problems: Diagnostics) {
        problems.iter().for_each(|it| self.note(it.summary.clone()));
    }

    fn planned(&self, plan: &Plan, schemas: &Schemas, problems: Diagnostics) {
        let schemas: Vec<_> = schemas.keys().map(|it| it.kind.to_string()).collect();
        self.note(format!("planned {} with {}", plan.changes.len(), schemas.join(", ")));
        self.problems(problems);
    }

    fn carries_out(&self, _: &dyn Fn() -> Ahead) {
        self.note("carries out");
        if self.stops {
            self.stop.ask();
        }
    }
}

impl Ask for Diary {
    fn may_ask(&self) -> bool {
        true
    }

    fn variable(&self, name: &str, description: Option<&str>, _: bool) -> Option<String> {
        self.note(format!("asked for {name}: {}", description.unwrap_or_default()));
        Some("given".into())
    }

    fn approves(&self, mode: PlanMode, workspace: &str) -> Result<bool, Diagnostic> {
        self.note(format!("asked for approval: {mode:?} in {workspace}"));
        Ok(self.answer == "yes")
    }

    fn agrees(&self, question: &str, _: &str) -> Option<bool> {
        self.note(question);
        None
    }
}

type Workflow = fn(&Host<'_>, &ApplyOptions) -> Result<Applied, Diagnostics>;

/// Runs a workflow and returns what its host was told and asked, and what came of it.
fn told(folder: &tempfile::TempDir, diary: &Diary, run: Workflow) -> String {
    let mut world = World::of_this_process();
    world.root = folder.path().into();
    let (world, sources) = (Arc::new(world), Sources::default());
    let host =
        Host { world: &world, sources: &sources, tell: diary, ask: diary, stop: &diary.stop };
    let mode = match std::ptr::fn_addr_eq(run, refresh as Workflow) {
        true => PlanMode::RefreshOnly,
        false => PlanMode::Normal,
    };
    let request = Request { mode, carried_out: true, parallelism: 1, ..Request::default() };
    let options = ApplyOptions { request, state: StateOptions::default(), ..Default::default() };
    match run(&host, &options) {
        Ok(Applied::Refused) => diary.note("refused"),
        Ok(Applied::Declined(mode)) => diary.note(format!("declined {mode:?}")),
        Ok(Applied::Done(done)) => {
            diary.note(format!("done, {} in the state", done.state.instances().count()));
            done.problems.iter().for_each(|it| diary.note(it.summary.clone()));
        }
        Err(problems) => diary.note(problems.to_string()),
    }
    diary.text()
}

#[track_caller]
fn check(config: &str, diary: Diary, expected: Expect) -> tempfile::TempDir {
    let folder = folder(config);
    expected.assert_eq(&told(&folder, &diary, apply));
    folder
}

const ASKS: &str = r#"
    variable "word" {
      type        = string
      description = "Any word"
    }
    resource "terraform_data" "a" { input = var.word }
"#;

#[test]
fn a_host_is_asked_for_values_then_told_the_plan_then_asked_for_approval() {
    let folder = check(
        ASKS,
        Diary::new("yes"),
        expect![[r#"
            asked for word: Any word
            planned 1 with terraform
            asked for approval: Normal in default
            carries out
            Create terraform_data.a
            done, 1 in the state
        "#]],
    );
    let state = fs::read_to_string(folder.path().join("terraform.tfstate")).expect("a state");
    assert!(state.contains("given"), "{state}");
}

#[test]
fn what_is_not_approved_is_not_done() {
    let folder = check(
        ASKS,
        Diary::new("no"),
        expect![[r#"
            asked for word: Any word
            planned 1 with terraform
            asked for approval: Normal in default
            declined Normal
        "#]],
    );
    assert!(!folder.path().join("terraform.tfstate").exists());
}

#[test]
fn a_plan_with_errors_is_told_and_not_asked_about() {
    let config = r#"
        locals { never = false }
        resource "terraform_data" "a" {
          input = "x"
          lifecycle {
            precondition {
              condition     = local.never
              error_message = "Never."
            }
          }
        }
    "#;
    check(
        config,
        Diary::new("yes"),
        expect![[r#"
            planned 0 with terraform
            Resource precondition failed
            refused
        "#]],
    );
}

#[test]
fn what_was_finished_before_a_failure_or_a_stop_is_in_the_state() {
    let config = r#"
        resource "terraform_data" "a" { input = "x" }
        resource "local_file" "b" {
          filename = "${path.module}/main.tf/${terraform_data.a.output}"
          content  = "never"
        }
    "#;
    let folder = folder(config);
    let project = Project::open(folder.path());
    let outcome = project.apply(&Request::default(), |_| true).expect("it is carried out");
    assert!(outcome.approved && outcome.problems.has_errors() && outcome.unwritten.is_none());
    let kept: Vec<_> = outcome.state.instances().map(|it| it.0.to_string()).collect();
    assert_eq!(kept, ["terraform_data.a"]);

    let diary = Diary { stops: true, ..Diary::new("yes") };
    let stopped = told(&folder, &diary, apply);
    assert!(stopped.ends_with("done, 1 in the state\nexecution halted\n"), "{stopped}");
}

#[test]
fn a_refresh_asks_nothing_and_tells_no_plan() {
    let folder = check(
        "resource \"terraform_data\" \"a\" { input = 1 }",
        Diary::new("yes"),
        expect![[r#"
            planned 1 with terraform
            asked for approval: Normal in default
            carries out
            Create terraform_data.a
            done, 1 in the state
        "#]],
    );
    expect![[r#"
        done, 1 in the state
    "#]]
    .assert_eq(&told(&folder, &Diary::new("no"), refresh));
}

#[test]
fn a_project_gives_errors_with_their_places_and_stops_when_asked() {
    let folder = folder("output \"x\" {\n  value = terraform_data.nowhere.id\n}\n");
    let project = Project::open(folder.path());
    let problems = project.plan(&Request::default()).expect_err("there is no such resource");
    let place = problems.0[0].subject.map(|it| project.sources().place(it));
    assert_eq!(place.as_deref(), Some("main.tf:2,11"), "{problems}");

    fs::write(folder.path().join("main.tf"), "resource \"terraform_data\" \"a\" {}").expect("text");
    assert_eq!(project.plan(&Request::default()).map(|it| it.changes.len()), Ok(1));
    project.stop().ask();
    let problems = project.plan(&Request::default()).expect_err("it was stopped");
    assert_eq!(problems.to_string(), "execution halted");
    assert!(!folder.path().join("terraform.tfstate").exists());
}
