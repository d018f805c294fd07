//! Proofs of verdicts, checked by a second reading of the rules: those of the library's cases, and of the whole cases.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::judge_session;
use super::testing::{Ended, TestOptions, test};
use crate::datalog::Limits;
use crate::diagnostic::Sources;
use crate::execute::Stop;
use crate::operation::policies::{self, PolicyChoice};
use crate::operation::session::Session;
use crate::policy::judge::Judged;
use crate::policy::proof::check::check;
use crate::policy::proof::{By, Explainer, Premise, Proof};
use crate::policy::proven::check_all;
use crate::policy::{Model, Policies};
use crate::request::Request;
use crate::state::State;
use crate::workflow::judging::judge_plan;
use crate::workflow::{Host, Nobody, with_room};
use crate::world::{Files, World};

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every case of the library, with the proofs of its verdicts.
#[test]
fn the_proofs_of_the_library_hold() {
    let root = repository().join("rules/library");
    let world = World { cwd: root.clone(), root, ..World::of_this_process() };
    let (world, stop, sources) = (Arc::new(world), Stop::default(), Sources::default());
    let host = Host { world: &world, sources: &sources, tell: &Nobody, ask: &Nobody, stop: &stop };
    let options = TestOptions { proofs: true, ..TestOptions::default() };
    let tested = test(&host, &options).expect("the library has tests");
    let cases: Vec<_> = tested.files.iter().flat_map(|it| &it.cases).collect();
    assert!(cases.len() > 100, "{} cases are not all", cases.len());
    for case in cases {
        assert!(matches!(case.outcome, Ended::Passed), "{}: {:?}", case.name, case.outcome);
    }
}

/// The files of a whole case: those before its script.
fn files_of(path: &Path) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(path).expect("a case");
    let mut files: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        let name = line.strip_prefix("-- ").and_then(|it| it.strip_suffix(" --"));
        match name {
            Some("run") => break,
            Some(name) => files.push((name.to_owned(), String::new())),
            None => {
                if let Some((_, text)) = files.last_mut() {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
    }
    files
}

fn session_of(files: &[(String, String)]) -> Session {
    let root = PathBuf::from("/root-of-proofs");
    let texts = files.iter().map(|it| (it.0.as_str(), it.1.as_str()));
    let files = Files::of_texts(&root, texts);
    let world = World { cwd: root.clone(), root, files, ..World::of_this_process() };
    Session::open_in_place(Arc::new(world), Sources::default()).expect("a configuration").0
}

#[test]
fn the_proofs_of_the_whole_cases_hold() {
    let mut proven = 0;
    for entry in std::fs::read_dir(repository().join("testdata/policies")).expect("the cases") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|it| it != "txt") {
            continue;
        }
        let session = session_of(&files_of(&path));
        let found = policies::find(&session, &PolicyChoice::default()).expect("policies");
        let (policies, faults) = Policies::read(found, &session.sources);
        if faults.has_errors() {
            continue;
        }
        let mut look = |model: &Model<'_>, judged: Judged, _: super::Again<'_>| {
            check_all(&judged, model).unwrap_or_else(|it| panic!("{}: {it}", path.display()));
            proven += judged.report.verdicts.len();
        };
        let (request, limits) = (Request::default(), Limits::default());
        let judged = judge_session(&session, &policies, &request, &limits, &mut look);
        judged.unwrap_or_else(|it| panic!("{}: {it}", path.display()));
        // What needs a plugin, or a module that is not there, is judged as a configuration alone.
        let asked = (&request, State::default());
        let _ = with_room(|runtime| {
            runtime.block_on(judge_plan(&session, &policies, asked, &limits, &mut look))
        });
    }
    assert!(proven > 30, "{proven} proofs are not all");
}

const MAIN: &str = r#"
resource "bucket" "a" {
  acl  = "public"
  tags = { team = "web" }
  rules = [{ port = 22 }, { port = 443 }]
}
resource "bucket" "b" {
  acl = bucket.a.id
}
"#;

const RULES: &str = r#"
// @rule s3.open: `b` is open
deny(b, "{b} is open on {p}") <-- is_open(b), r in b.rules, r.port == p, if p < 80, !is_fine(b);
is_open(b) <-- resource(b, "bucket"), b.acl == "public";
is_fine(b) <-- resource(b, "bucket"), b.tags.public;

// @rule s3.count: there are `t`
warn(p, "{t} are open") <-- plan(p), agg t = count() in resource(_, "bucket");
"#;

/// Shows judged rules.
fn judged(look: &mut (dyn FnMut(&Judged, &Model<'_>) + Send)) {
    let files = [("main.tf", MAIN), ("policies/a.rules", RULES)];
    let session = session_of(&files.map(|it| (it.0.to_owned(), it.1.to_owned())));
    let found = policies::find(&session, &PolicyChoice::default()).expect("policies");
    let (policies, faults) = Policies::read(found, &session.sources);
    assert_eq!(faults.0, []);
    let mut look = |model: &Model<'_>, judged: Judged, _: super::Again<'_>| look(&judged, model);
    let (request, limits) = (Request::default(), Limits::default());
    judge_session(&session, &policies, &request, &limits, &mut look).expect("it is judged");
}

/// Whoever changes a proof anywhere has one that does not hold.
#[test]
fn a_proof_that_is_changed_is_refused() {
    let mut tried = 0;
    judged(&mut |judged, model| {
        let Judged { program, database, report } = judged;
        let core = |_: &str, _: &[u64]| Vec::new();
        let explainer = Explainer { program, database, model, core: &core, deepest: usize::MAX };
        for verdict in &report.verdicts {
            let proof = explainer.proof(verdict.row.0, verdict.row.1);
            let accepts = |proof: &Proof| check(proof, program, database, model);
            accepts(&proof).unwrap_or_else(|it| panic!("{}: {it}", verdict.name));
            for (what, changed) in changes(&proof) {
                assert!(accepts(&changed).is_err(), "{}: {what} is not noticed", verdict.name);
                tried += 1;
            }
        }
    });
    assert!(tried > 20, "{tried} changes are not all");
}

/// The same proof with one thing in it changed that matters.
fn changes(proof: &Proof) -> Vec<(String, Proof)> {
    let mut all = Vec::new();
    let mut change = |what: String, how: &dyn Fn(&mut Proof)| {
        let mut changed = proof.clone();
        how(&mut changed);
        all.push((what, changed));
    };
    for (at, step) in proof.steps.iter().enumerate() {
        change(format!("another row of step {at}"), &|it| it.steps[at].row[0] ^= 1);
        if !step.is_certain {
            change(format!("certainty of step {at}"), &|it| it.steps[at].is_certain = true);
        }
        let By::Rule(application) = &step.by else { continue };
        change(format!("step {at} told"), &|it| it.steps[at].by = By::Told);
        for variable in 0..application.words.len() {
            let Some(word) = application.words[variable] else { continue };
            change(format!("variable {variable} of step {at}"), &|it| {
                if let By::Rule(it) = &mut it.steps[at].by {
                    it.words[variable] = Some(word ^ 1);
                }
            });
        }
        for (number, premise) in application.premises.iter().enumerate() {
            let other = match premise {
                Premise::Step(_) => Premise::Step(at),
                Premise::Absent => Premise::Condition,
                Premise::Condition => Premise::Absent,
            };
            change(format!("premise {number} of step {at}"), &|it| {
                if let By::Rule(it) = &mut it.steps[at].by {
                    it.premises[number] = other;
                }
            });
        }
    }
    all
}
