//! After every command, the objects that exist are exactly the objects in the state, and a plan names every one of them.
//!
//! Random configurations with a provider whose objects are files (`cli/src/plugin/folder.rs`), and random sequences of
//! commands on them. The provider is configured in every way, objects go in every way, and some calls fail. Each course
//! ends with an apply after which nothing is left to do, and with a destroy after which nothing exists. In other courses
//! an apply is killed, or gets one signal and is killed ten seconds later.
//!
//! `ENTAIL_WORLDS=5000 ENTAIL_SEED=7 cargo test --test it world::` runs 5000 courses, beginning with seed 7. The report of
//! a broken course names its seed: `ENTAIL_WORLDS=1 ENTAIL_SEED=<seed>` repeats it alone. `ENTAIL_TOFU` names the
//! program of OpenTofu, unless `tofu` is on the `PATH`.

#[path = "world/changes.rs"]
mod changes;
#[path = "world/course.rs"]
mod course;
#[path = "world/kills.rs"]
mod kills;
#[path = "world/model.rs"]
mod model;
#[path = "world/run.rs"]
mod run;
#[path = "world/text.rs"]
mod text;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

use course::{Command, Course};
use run::{Place, Program};

use crate::support::{binary, in_parallel, number};

/// How many courses run unless `ENTAIL_WORLDS` says otherwise.
const COURSES: u64 = 40;

/// The first seed unless `ENTAIL_SEED` says otherwise. With it every feature occurs in the first [`COURSES`] courses.
const SEED: u64 = 1;

/// At most this many broken courses are shown in full.
const SHOWN: usize = 3;

/// Returns how many courses run.
fn count() -> u64 {
    number("ENTAIL_WORLDS").unwrap_or(COURSES)
}

/// Returns whether every feature must occur: in the default slice, and in any slice that is ten times as long.
fn has_every_feature() -> bool {
    let is_default = number("ENTAIL_SEED").is_none() && count() >= COURSES;
    is_default || count() >= 10 * COURSES
}

fn courses(count: u64) -> Vec<Course> {
    let first = number("ENTAIL_SEED").unwrap_or(SEED);
    (0..count).map(|it| Course::random(first.wrapping_add(it))).collect()
}

fn report(line: &str) {
    std::io::stderr().write_all(format!("{line}\n").as_bytes()).expect("it is written");
}

/// What came of a course.
struct Outcome {
    /// Why it is broken, with all that was said.
    problem: Option<String>,
    features: Vec<&'static str>,
}

fn run(program: &Program, course: &Course) -> Outcome {
    let mut place = Place::new(program);
    let result = place.go(course);
    let features = course.features.iter().chain(&place.features).copied().collect();
    let problem = result
        .err()
        .map(|it| format!("==== seed {}: {}\n{}\n{}", course.seed, it.0, course.text(), place.log));
    Outcome { problem, features }
}

fn entail(variables: &[(&str, &str)]) -> Program {
    let owned = |it: &(&str, &str)| (it.0.to_owned(), it.1.to_owned());
    Program { path: binary::path().to_owned(), variables: variables.iter().map(owned).collect() }
}

/// Fails if a course is broken.
fn assert_none_broken(outcomes: &[Outcome]) {
    let broken: Vec<&String> = outcomes.iter().filter_map(|it| it.problem.as_ref()).collect();
    let heads: Vec<&str> = broken.iter().filter_map(|it| it.lines().next()).collect();
    let shown: Vec<&str> = broken.iter().take(SHOWN).map(|it| it.as_str()).collect();
    assert!(
        broken.is_empty(),
        "{} of {} courses are broken\n{}\n{}",
        broken.len(),
        outcomes.len(),
        shown.join("\n"),
        heads.join("\n")
    );
}

#[test]
fn after_every_command_what_exists_is_what_the_state_has() {
    let courses = courses(count());
    let program = entail(&[]);
    let outcomes = in_parallel(&courses, |it| run(&program, it));
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    counts.extend(model::Kind::ALL.iter().map(|it| (it.feature(), 0)));
    counts.extend(Command::ALL.iter().map(|it| (it.feature(), 0)));
    counts.extend(model::FEATURES.iter().chain(&["gone: deposed"]).map(|it| (*it, 0)));
    for feature in outcomes.iter().flat_map(|it| &it.features) {
        *counts.entry(feature).or_default() += 1;
    }
    for (feature, count) in &counts {
        report(&format!("{count:6}  {feature}"));
    }
    assert_none_broken(&outcomes);
    let missing: Vec<&&str> = counts.iter().filter(|it| *it.1 == 0).map(|it| it.0).collect();
    assert!(
        missing.is_empty() || !has_every_feature(),
        "these features occur in no course: {missing:?}"
    );
}

/// Returns the program of OpenTofu, if there is one.
fn tofu() -> Option<PathBuf> {
    if let Ok(named) = std::env::var("ENTAIL_TOFU") {
        return Some(PathBuf::from(named));
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|it| it.join("tofu")).find(|it| it.is_file())
}

/// OpenTofu reads objects through a provider whose arguments are unknown (`docs/compatibility.md`), so that courses with
/// such a provider are left out.
#[test]
fn the_same_holds_for_opentofu() {
    let Some(path) = tofu() else {
        return report("SKIPPED: there is no `tofu` on the PATH, and ENTAIL_TOFU names none");
    };
    let mut courses = courses(count().div_ceil(4));
    courses.retain(|it| !it.has_unknown_provider());
    let program = Program { path, variables: Vec::new() };
    assert_none_broken(&in_parallel(&courses, |it| run(&program, it)));
}

/// Fails if a course is broken, or if no call of some kind was held when the apply ended.
fn assert_ended(endings: &[kills::Ending], ended: &[Result<kills::Ended, String>]) {
    let broken: Vec<&String> = ended.iter().filter_map(|it| it.as_ref().err()).collect();
    let text: Vec<&str> = broken.iter().take(SHOWN).map(|it| it.as_str()).collect();
    let (wrong, all) = (broken.len(), endings.len());
    assert!(broken.is_empty(), "{wrong} of {all} are broken\n{}", text.join("\n"));
    for verb in ["create", "update", "delete"] {
        let is_held = |it: &kills::Ended| it.is_held;
        let held = endings.iter().zip(ended).filter(|it| it.0.verb == verb);
        let held = held.filter(|it| it.1.as_ref().is_ok_and(is_held)).count();
        report(&format!("{held:6}  an apply ends during {verb}"));
        assert!(held > 0 || !has_every_feature(), "no apply ends during {verb}");
    }
}

fn endings(of: fn(u64) -> kills::Ending) -> Vec<kills::Ending> {
    let first = number("ENTAIL_SEED").unwrap_or(SEED);
    (0..count().div_ceil(4)).map(|it| of(first.wrapping_add(it))).collect()
}

#[test]
fn after_a_kill_only_calls_in_flight_are_unknown() {
    let endings = endings(kills::Ending::killed);
    let ended = kills::run_all(&entail(&[]), &endings, kills::after_kill);
    assert_ended(&endings, &ended);
}

#[test]
fn one_signal_loses_nothing() {
    let endings = endings(kills::Ending::interrupted);
    let ended = kills::run_all(&entail(&[]), &endings, kills::after_interrupt);
    assert_ended(&endings, &ended);
}

/// Facts without which objects are lost although every command succeeds until then.
#[cfg(debug_assertions)]
const PLANTED: [&str; 4] = ["reads", "prior", "in_state", "key_kind"];

/// Without most other facts, commands fail before anything is lost. That does not count.
#[cfg(debug_assertions)]
fn breaks_the_law(course: &Course, program: &Program) -> bool {
    let problem = run(program, course).problem;
    problem.is_some_and(|it| it.contains(run::LOST) || it.contains(run::HIDDEN))
}

#[test]
#[cfg(debug_assertions)]
fn without_these_facts_the_law_is_broken() {
    let courses = courses(COURSES);
    for fact in PLANTED {
        let program = entail(&[("ENTAIL_WITHOUT", fact)]);
        let is_caught = courses.iter().any(|it| breaks_the_law(it, &program));
        assert!(is_caught, "no course is broken without {fact}");
    }
}

/// What an ended run loses without the records of its journal, and without asking providers to stop at the first signal.
#[test]
#[cfg(debug_assertions)]
fn without_these_parts_an_end_loses_objects() {
    let program = |part| entail(&[("ENTAIL_WITHOUT", part)]);
    let is_lost = |ended: Result<kills::Ended, run::Broken>| {
        ended.err().is_some_and(|it| it.0.contains("not in the state"))
    };
    let kill = program("journal:records");
    let is_caught = |seed: u64| {
        is_lost(kills::after_kill(&mut Place::new(&kill), &kills::Ending::killed(seed).late()))
    };
    assert!((SEED..SEED + 16).any(is_caught), "no kill loses anything without journal:records");
    let deaf = program("signal:stop");
    let is_caught = |seed: u64| {
        is_lost(kills::after_interrupt(&mut Place::new(&deaf), &kills::Ending::interrupted(seed)))
    };
    assert!((SEED..SEED + 8).any(is_caught), "no signal loses anything without signal:stop");
}
