//! With a seal that transforms bytes, nothing that a run leaves behind is written or read around it.

use std::borrow::Cow;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::options::{ApplyOptions, PlanOptions};
use super::project::Project;
use super::tests::Diary;
use super::{Host, apply, plan};
use crate::backend::local::{Choice, Local};
use crate::backend::seal::{Part, Seal, Seals};
use crate::backend::{LockInfo, Snapshots};
use crate::diagnostic::Sources;
use crate::error::Error;
use crate::request::Request;
use crate::world::World;

/// Writes bytes as hexadecimal digits, behind the name of what they are.
#[derive(Debug)]
struct Digits;

fn name(part: Part<'_>) -> &'static str {
    match part {
        Part::State | Part::RemoteState(_) => "sealed state ",
        Part::Plan => "sealed plan ",
        Part::Line => "sealed line ",
    }
}

impl Seal for Digits {
    fn seals_states(&self) -> bool {
        true
    }

    fn seal<'a>(&self, part: Part<'_>, plain: Cow<'a, [u8]>) -> Result<Cow<'a, [u8]>, Error> {
        let digits: String = plain.iter().map(|it| format!("{it:02x}")).collect();
        Ok((name(part).to_owned() + &digits).into_bytes().into())
    }

    fn open<'a>(&self, part: Part<'_>, sealed: Cow<'a, [u8]>) -> Result<Cow<'a, [u8]>, Error> {
        let digits = sealed.strip_prefix(name(part).as_bytes()).ok_or("it is not sealed")?;
        let pairs = std::str::from_utf8(digits).map_err(Error::of)?.as_bytes().chunks(2);
        let byte = |it: &[u8]| u8::from_str_radix(&String::from_utf8_lossy(it), 16).ok();
        pairs.map(byte).collect::<Option<Vec<u8>>>().map(Cow::from).ok_or("it is torn".into())
    }
}

fn world(folder: &Path) -> World {
    let world = World { root: folder.into(), ..World::of_this_process() };
    world.once(|_| Seals::with(Digits));
    world
}

fn applied(folder: &Path, config: &str) -> super::project::Outcome {
    fs::write(folder.join("main.tf"), config).expect("it is written");
    let project = Project::of(world(folder));
    project.apply(&Request::default(), |_| true).expect("it is carried out")
}

/// Returns how a file begins, and that it does not tell what it holds.
fn start(folder: &Path, file: &str) -> String {
    let bytes = fs::read(folder.join(file)).unwrap_or_else(|it| panic!("{file}: {it}"));
    let text = String::from_utf8_lossy(&bytes);
    assert!(!text.contains("canary") && !text.contains("terraform_data"), "{file}: {text}");
    text.split(' ').take(2).collect::<Vec<_>>().join(" ")
}

#[test]
fn states_backups_plans_journals_and_what_is_kept_after_an_error_are_sealed() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let config = |input: &str| {
        format!(
            "resource \"terraform_data\" \"a\" {{\n  input = \"canary-{input}\"\n}}\noutput \"o\" {{\n  value = terraform_data.a.output\n}}\n"
        )
    };
    assert!(!applied(at, &config("1")).problems.has_errors());
    assert!(!applied(at, &config("2")).problems.has_errors());
    assert_eq!(start(at, "terraform.tfstate"), "sealed state");
    assert_eq!(start(at, "terraform.tfstate.backup"), "sealed state");

    // A saved plan is sealed, shown and carried out.
    fs::write(at.join("main.tf"), config("3")).expect("it is written");
    let (world_of_it, sources, diary) =
        (Arc::new(world(at)), Sources::default(), Diary::new("yes"));
    let host = Host {
        world: &world_of_it,
        sources: &sources,
        tell: &diary,
        ask: &diary,
        stop: &diary.stop,
    };
    let request = Request { carried_out: true, parallelism: 1, ..Request::default() };
    let options = PlanOptions { request, out: Some("saved".into()), ..PlanOptions::default() };
    assert!(!plan::plan(&host, &options).expect("it is planned").failed);
    assert_eq!(start(at, "saved"), "sealed plan");
    let options = ApplyOptions { plan: Some("saved".into()), ..ApplyOptions::default() };
    apply::apply(&host, &options).expect("it is carried out");

    // While a step runs, the journal lies there, with what was done before and the beginning of this step; it is written a moment
    // later than that happens. Then another program writes the state.
    let meddling = format!(
        "resource \"terraform_data\" \"b\" {{\n  input = \"canary-b\"\n  depends_on = [terraform_data.a]\n  provisioner \"local-exec\" {{\n    working_dir = {at:?}\n    command     = \"for i in $(seq 250); do [ $(wc -l < .terraform.tfstate.journal) -ge 5 ] && break; sleep 0.02; done; cp .terraform.tfstate.journal seen; cp terraform.tfstate before; cp terraform.tfstate.backup terraform.tfstate\"\n  }}\n}}\n"
    );
    let outcome = applied(at, &(config("4") + &meddling));
    assert!(outcome.problems.has_errors(), "the state was written over");
    assert_eq!(start(at, "seen"), "sealed line");
    assert_eq!(start(at, "errored.tfstate"), "sealed state");
    let errored = fs::read(at.join("errored.tfstate")).expect("it is read");
    let seals = Seals::of(&world_of_it);
    let kept = seals.read_given_state(&errored).expect("it is opened").expect("it is a state");
    assert_eq!(kept.instances().count(), 2);
    // What `state pull` prints is taken as well.
    let plain = crate::state::write::write(&kept);
    assert!(seals.read_given_state(plain.as_bytes()).expect("it is read").is_some());

    // The journal comes back to the state that it continues.
    fs::copy(at.join("before"), at.join("terraform.tfstate")).expect("it is copied");
    fs::copy(at.join("seen"), at.join(".terraform.tfstate.journal")).expect("it is copied");
    let store = Arc::new(Local::new(world_of_it.clone(), Choice::default()));
    let snapshots = Snapshots::new(world_of_it.clone(), store, "default", None);
    snapshots.lock(&LockInfo::new(&world_of_it, "OperationTypeApply")).expect("it is free");
    assert_eq!(snapshots.read().expect("it is read").recovered, 2);
    snapshots.unlock().expect("it is given back");

    // Another configuration reads the outputs.
    let other = tempfile::tempdir().expect("a folder");
    let reading = format!(
        "data \"terraform_remote_state\" \"a\" {{\n  backend = \"local\"\n  config  = {{ path = {:?} }}\n}}\noutput \"o\" {{\n  value = data.terraform_remote_state.a.outputs.o\n}}\n",
        at.join("terraform.tfstate")
    );
    let outcome = applied(other.path(), &reading);
    let value = outcome.state.outputs.values().next().map(|it| it.value.clone());
    assert!(value.is_some_and(|it| it.as_str().is_some_and(|it| it.starts_with("canary"))));
}
