//! `test`: runs the tests of a module, tells of each file when it is over, and names what is left behind.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::host::Host;
use super::judging::{PolicyOptions, in_force};
use super::with_room;
use crate::backend::files::{self, Fresh};
use crate::config::suggest;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::operation::plan::Planned;
use crate::operation::session::Session;
use crate::policy::Verdict;
use crate::policy::rules::Level;
use crate::request::Request;
use crate::state::{State, write};
use crate::testing::{Coverage, Denial, FileOutcome, Judge, Open, Suite};

mod side_by_side;

pub use crate::testing::{Exercised, Interrupted, Left, Manner, RunOutcome, Shown, Status};

/// Where a state is kept that could not be destroyed.
pub const LEFT_BEHIND: &str = "errored_test.tfstate";

/// What `test` is asked.
#[derive(Clone, Debug)]
pub struct TestOptions {
    /// The folder of tests.
    pub directory: PathBuf,
    /// The files that run; all where none is named.
    pub filter: Vec<String>,
    /// Whether plans and states are shown.
    pub verbose: bool,
    /// Where it differs from OpenTofu.
    pub manner: Manner,
    /// Whether snapshots are written, not compared.
    pub updates_snapshots: bool,
    /// Whether false assertions are explained.
    pub explains: bool,
    /// Whether it is noted what the tests exercise.
    pub covers: bool,
    /// Variables, and how many calls run at a time.
    pub request: Request,
}

/// How many runs went how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// How all of them went.
    pub status: Status,
    /// Everything was as asserted.
    pub passed: usize,
    /// An assertion was false.
    pub failed: usize,
    /// It could not be carried out.
    pub errored: usize,
    /// It was left out.
    pub skipped: usize,
    /// Whether something was left behind.
    pub leaves_objects: bool,
}

/// What came of tests, and what they rest on.
#[derive(Clone, Debug, Default)]
pub struct Tested {
    /// How many runs went how.
    pub counts: Counts,
    /// The files that there are, filtered or not, and the folders whose files each rests on.
    pub reach: Vec<(String, BTreeSet<String>)>,
    /// What was exercised, where that was asked for.
    pub exercised: Option<Vec<Exercised>>,
}

impl Tested {
    /// Returns the test files that a change of other files touches.
    ///
    /// - `changed`: paths relative to the root module's folder.
    pub fn touched(&self, changed: &BTreeSet<PathBuf>) -> Vec<String> {
        let is_test = |it: &Path| self.reach.iter().any(|(file, _)| Path::new(file) == it);
        let folder = |it: &Path| match it.parent().map(|it| it.to_string_lossy().into_owned()) {
            Some(parent) if !parent.is_empty() => parent,
            _ => ".".to_owned(),
        };
        let is_known = |it: &Path| self.reach.iter().any(|(_, at)| at.contains(&folder(it)));
        // Nobody knows who reads a file that belongs to no module, or is a test that was not there.
        let is_open = |it: &Path| !is_test(it) && (!is_known(it) || !is_of_module(it));
        let all = changed.iter().any(|it| is_open(it));
        let named = self.reach.iter().filter(|(file, folders)| {
            let own = changed.contains(Path::new(file));
            let below = changed.iter().any(|it| !is_test(it) && folders.contains(&folder(it)));
            all || own || below
        });
        named.map(|it| it.0.clone()).collect()
    }
}

/// Whether a file is one of those that make a module.
fn is_of_module(path: &Path) -> bool {
    let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
    [".tf", ".tofu", ".tf.json", ".tofu.json"].iter().any(|it| name.ends_with(it))
}

/// Who is told of tests.
pub trait TellTests: Sync {
    /// Takes the files that will run, each with the names of its runs.
    fn found(&self, files: &[(String, Vec<String>)]);

    /// Takes what came of a file and its runs.
    fn file(&self, outcome: &FileOutcome);

    /// Takes what became of a state of a file; it is told which file, and whether the state was written.
    fn left(&self, file: &str, left: &Left, written: Option<&Result<(), Diagnostics>>);

    /// Takes what was there when a file was ended early.
    fn interrupted(&self, outcome: &FileOutcome, seen: &Interrupted);

    /// Takes how it all went.
    fn concluded(&self, counts: &Counts);
}

/// Runs the tests of the world's root.
///
/// # Errors
///
/// If the configuration or a test file cannot be read: then nothing was run.
pub fn test(
    host: &Host<'_>,
    options: &TestOptions,
    tell: &dyn TellTests,
) -> Result<Tested, Diagnostics> {
    let open = Open { world: host.world, sources: host.sources, directory: &options.directory };
    let opened = with_room(|_| {
        host.asking(|| open.suite(&options.request, options.manner, options.verbose))
    })?;
    let (mut suite, mut problems) = opened?;
    let reach = suite.files.iter().map(|it| (it.path.clone(), suite.reach(it))).collect();
    select(&mut suite, options, &mut problems)?;
    if !problems.is_empty() {
        host.tell.problems(problems);
    }
    let named = suite.files.iter().map(|file| {
        let runs = file.runs.iter().map(|it| it.name.text.to_string());
        (file.path.clone(), runs.collect())
    });
    tell.found(&named.collect::<Vec<_>>());
    suite.updates_snapshots = options.updates_snapshots;
    suite.judge = Some(Arc::new(Policies));
    suite.explains = options.explains;
    suite.coverage = options.covers.then(|| Coverage::of(&suite.config));
    let mut counts = Counts { status: Status::Pass, ..Counts::default() };
    side_by_side::run(host, &suite, &mut |outcome| finish(host, &outcome, tell, &mut counts))?;
    if options.manner.cleanup_counts && counts.leaves_objects {
        counts.status = Status::Error;
    }
    if host.stop.asked() < 2 {
        tell.concluded(&counts);
    }
    let exercised = suite.coverage.as_ref().map(|it| it.report(&suite.sources));
    Ok(Tested { counts, reach, exercised })
}

/// Judges plans by the policies that are in force.
struct Policies;

impl Judge for Policies {
    fn judge(
        &self,
        session: &Session,
        request: &Request,
        planned: &Planned,
    ) -> Result<Vec<Denial>, Diagnostics> {
        let options = PolicyOptions::default();
        let run = in_force(session, &options, request, &planned.state, &planned.variables)?;
        let Some((report, _)) = run.judge(session, planned, &options)? else {
            return Err(no_policies().into());
        };
        let denials = report.verdicts.iter().filter(|it| it.level == Level::Deny && it.counts());
        let denial = |it: &Verdict| Denial { rule: it.name.clone(), message: it.message.clone() };
        Ok(denials.map(denial).collect())
    }
}

fn no_policies() -> Diagnostic {
    Diagnostic::error("No policies").detail(
        "A run expects its plan to be denied, and there are no policies that could deny it. Policies lie in the folder `policies`, or are named in the CLI configuration.",
    )
}

/// Tells of a file, and writes down what it has left behind.
fn finish(host: &Host<'_>, outcome: &FileOutcome, tell: &dyn TellTests, counts: &mut Counts) {
    counts.status = counts.status.max(outcome.status);
    for run in &outcome.runs {
        match run.status {
            Status::Pass => counts.passed += 1,
            Status::Fail => counts.failed += 1,
            Status::Error => counts.errored += 1,
            Status::Skip => counts.skipped += 1,
            Status::Pending => {}
        }
    }
    if let Some(seen) = &outcome.interrupted {
        tell.interrupted(outcome, seen);
        return;
    }
    if host.stop.asked() > 1 {
        return;
    }
    tell.file(outcome);
    for left in &outcome.left {
        let written = left.has_objects().then(|| keep(host, &left.state));
        counts.leaves_objects |= left.has_objects() || left.problems.has_errors();
        tell.left(&outcome.path, left, written.as_ref());
    }
}

/// Writes a state that could not be destroyed into the working directory.
fn keep(host: &Host<'_>, state: &State) -> Result<(), Diagnostics> {
    let mut state = state.clone();
    if state.lineage.is_empty() {
        state.lineage = host.world.uuid();
    }
    let path = host.world.root.join(LEFT_BEHIND);
    let text = write::write_as(&state, &state.lineage, state.serial.max(1));
    files::replace(&path, text.as_bytes(), Fresh::Private).map_err(|why| {
        Diagnostic::error("Failed to persist state")
            .detail(format!(
                "The state of what is left behind could not be written to {LEFT_BEHIND}: {why}. It follows on the standard error, so that nothing is lost; keep it in a file of that name.\n\n{text}"
            ))
            .into()
    })
}

/// Leaves the files that are asked for.
fn select(
    suite: &mut Suite,
    options: &TestOptions,
    problems: &mut Diagnostics,
) -> Result<(), Diagnostics> {
    if options.filter.is_empty() {
        return Ok(());
    }
    if suite.manner.filters_count {
        let unknown =
            options.filter.iter().filter(|it| !suite.files.iter().any(|at| at.path == **it));
        let found: Vec<Diagnostic> = unknown.map(|it| unknown_filter(it, suite)).collect();
        if !found.is_empty() {
            return Err(found.into());
        }
    }
    suite.files.retain(|it| options.filter.contains(&it.path));
    if suite.files.is_empty() {
        problems.push(Diagnostic::warning("No tests were found").detail(
            "-filter is being used but no tests were found. Make sure you're using a relative path to the current working directory.",
        ));
    }
    Ok(())
}

fn unknown_filter(name: &str, suite: &Suite) -> Diagnostic {
    let known: Vec<&str> = suite.files.iter().map(|it| it.path.as_str()).collect();
    let base = Path::new(name).file_name().and_then(|it| it.to_str()).unwrap_or(name);
    let alike = known.iter().copied().find(|it| it.ends_with(base) || it.starts_with(base));
    let hint = match alike.or_else(|| suggest(name, known.iter().copied())) {
        Some(it) => format!(" Did you mean {it:?}?"),
        None if known.is_empty() => " There are no test files.".to_owned(),
        None => format!(" The test files are: {}.", known.join(", ")),
    };
    Diagnostic::error("Unknown test file").detail(format!(
        "-filter names {name:?}, and there is no test file of that path.{hint} Paths are relative to the configuration's folder."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_touches_the_files_that_rest_on_it() {
        let folders = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect();
        let reach = vec![
            ("a.tftest.hcl".to_owned(), folders(&[".", "aid"])),
            ("b.tftest.hcl".to_owned(), folders(&["."])),
        ];
        let tested = Tested { reach, ..Tested::default() };
        let touched = |it: &str| tested.touched(&BTreeSet::from([PathBuf::from(it)])).join(" ");
        assert_eq!(touched("aid/main.tf"), "a.tftest.hcl");
        assert_eq!(touched("b.tftest.hcl"), "b.tftest.hcl");
        assert_eq!(touched("main.tf"), "a.tftest.hcl b.tftest.hcl");
        assert_eq!(touched("templates/page.txt"), "a.tftest.hcl b.tftest.hcl");
    }
}
