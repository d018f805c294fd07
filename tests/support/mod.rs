//! The case runner: reads a case, runs its commands with the real binary, and compares what they said.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

pub mod binary;
mod case;
pub mod dice;
pub mod faults;
pub mod normal;
pub mod place;
pub mod rules;
pub mod scripted;
mod summary;

use case::Section;
pub use case::{Case, Command as CaseCommand, words};

/// Reads a number from an environment variable; `None` if the variable is not set, or is no number.
pub fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every source file of the workspace: its path from the root, and its text.
pub fn sources(folders: &[&str]) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut open: Vec<PathBuf> = folders.iter().map(|it| root().join(it)).collect();
    while let Some(path) = open.pop() {
        if path.is_dir() && !path.ends_with("target") {
            open.extend(
                std::fs::read_dir(&path).expect("a folder").map(|it| it.expect("an entry").path()),
            );
        } else if path.extension().is_some_and(|it| it == "rs") {
            let name = path.strip_prefix(root()).expect("a path in the repository");
            let name = name.to_string_lossy().replace('\\', "/");
            files.insert(name, std::fs::read_to_string(&path).expect("text"));
        }
    }
    files
}

/// What came of the cases of one group.
struct Outcome {
    cases: usize,
    failures: Vec<(PathBuf, String)>,
    /// The rules that some plan of theirs met.
    rules: BTreeSet<String>,
}

/// Checks every case of `testdata/GROUP`, and tells at the end of each that failed.
///
/// With `UPDATE_EXPECT=1` the goldens are written anew instead. `CASE=part` runs only cases whose name has that part.
pub fn check_group(group: &str) {
    tell(outcome(group));
}

/// Checks each eighth case of `testdata/GROUP` with further environment variables: the goldens are the same. `ENTAIL_CASES=all`
/// checks every case, and `CASE=part` each one that it names.
///
/// - `first`: the case to begin with.
pub fn check_group_with(group: &str, variables: &[(String, String)], first: usize) {
    let is_all = wants_all_cases() || std::env::var_os("CASE").is_some();
    let (first, step) = if is_all { (0, 1) } else { (first, 8) };
    let paths = cases_of(group).into_iter().skip(first).step_by(step).collect();
    tell(&run_cases(paths, variables));
}

/// Returns whether `ENTAIL_CASES=all` asks for what takes too long for every change.
pub fn wants_all_cases() -> bool {
    std::env::var("ENTAIL_CASES").is_ok_and(|it| it == "all")
}

/// Returns the names of the rules that some plan of some case met; nothing where only a part of the cases is wanted.
pub fn rules_met() -> Option<BTreeSet<String>> {
    if std::env::var_os("CASE").is_some() {
        return None;
    }
    let mut groups: Vec<String> = all_cases().iter().filter_map(|it| group_of(it)).collect();
    groups.dedup();
    Some(groups.iter().flat_map(|it| outcome(it).rules.clone()).collect())
}

fn group_of(case: &Path) -> Option<String> {
    Some(case.parent()?.file_name()?.to_string_lossy().into_owned())
}

/// Returns what came of a group, which is run once for all tests of this process.
fn outcome(group: &str) -> &'static Outcome {
    static OUTCOMES: Mutex<BTreeMap<String, &'static OnceLock<Outcome>>> =
        Mutex::new(BTreeMap::new());
    let cell = *OUTCOMES
        .lock()
        .expect("no thread panics")
        .entry(group.to_owned())
        .or_insert_with(|| Box::leak(Box::default()));
    cell.get_or_init(|| run_cases(cases_of(group), &[]))
}

fn tell(outcome: &Outcome) {
    let mut text = String::new();
    for (path, failure) in &outcome.failures {
        let name = path.strip_prefix(root()).unwrap_or(path).display();
        writeln!(text, "\n==== {name}\n{failure}").expect("text");
    }
    assert!(
        outcome.failures.is_empty(),
        "{} of {} cases failed; UPDATE_EXPECT=1 rewrites them\n{text}",
        outcome.failures.len(),
        outcome.cases
    );
}

/// Returns the files of the cases of a group, sorted.
fn cases_of(group: &str) -> Vec<PathBuf> {
    let folder = root().join("testdata").join(group);
    let wanted = std::env::var("CASE").unwrap_or_default();
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|it| panic!("{}: {it}", folder.display()))
        .map(|it| it.expect("an entry").path())
        .filter(|it| it.extension().is_some_and(|it| it == "txt"))
        .filter(|it| it.to_string_lossy().contains(&wanted))
        .collect();
    paths.sort();
    assert!(!paths.is_empty() || !wanted.is_empty(), "no cases in {}", folder.display());
    paths
}

fn run_cases(paths: Vec<PathBuf>, variables: &[(String, String)]) -> Outcome {
    let update = std::env::var("UPDATE_EXPECT").is_ok_and(|it| it == "1");
    let notes = tempfile::tempdir().expect("a folder");
    let met = notes.path().join("rules");
    let mut further = variables.to_vec();
    further.push((binary::SELF_CHECK.to_owned(), met.to_string_lossy().into_owned()));
    let failures = in_parallel(&paths, |path| {
        binary::set_further(&further);
        check_case(path, update && variables.is_empty())
    });
    let cases = paths.len();
    let failures = paths.into_iter().zip(failures).filter_map(|(it, why)| Some((it, why?)));
    let rules = std::fs::read_to_string(&met).unwrap_or_default();
    Outcome {
        cases,
        failures: failures.collect(),
        rules: rules.lines().map(str::to_owned).collect(),
    }
}

/// Returns the files of all cases, sorted.
pub fn all_cases() -> Vec<PathBuf> {
    let folders = std::fs::read_dir(root().join("testdata")).expect("there is testdata");
    let folders = folders.map(|it| it.expect("an entry").path()).filter(|it| it.is_dir());
    let mut paths: Vec<PathBuf> = folders
        .flat_map(|it| std::fs::read_dir(it).expect("a folder"))
        .map(|it| it.expect("an entry").path())
        .filter(|it| it.extension().is_some_and(|it| it == "txt"))
        .collect();
    paths.sort();
    paths
}

/// Runs a case with further environment variables, and returns whether it says something else than its goldens.
pub fn differs(path: &Path, variables: &[(String, String)]) -> bool {
    binary::set_further(variables);
    check_case(path, false).is_some()
}

/// Runs a function over all items, on as many threads as there are processors.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], check: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    let result = check(item);
                    results.lock().expect("no thread panics").push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no thread panics");
    results.sort_by_key(|it| it.0);
    results.into_iter().map(|it| it.1).collect()
}

/// Returns what is wrong with a case, if anything.
fn check_case(path: &Path, update: bool) -> Option<String> {
    let text = std::fs::read_to_string(path).map_err(|it| it.to_string());
    let result = text.and_then(|text| {
        let case = Case::parse(&text)?;
        let found = run(&case)?;
        let printed = case.with(found).print();
        if printed == text {
            return Ok(None);
        }
        if update {
            std::fs::write(path, printed).map_err(|it| it.to_string())?;
            return Ok(None);
        }
        Ok(Some(pretty_assertions::StrComparison::new(&text, &printed).to_string()))
    });
    result.unwrap_or_else(Some)
}

/// Runs the commands of a case in a fresh folder, and returns one section for each.
fn run(case: &Case) -> Result<Vec<Section>, String> {
    let folder = tempfile::tempdir().map_err(|it| it.to_string())?;
    case.write_files("", folder.path())?;
    let mut normal = normal::Normal::new(folder.path());
    let mut found = Vec::new();
    for command in case.commands()? {
        if let case::Command::Files(stage) = &command {
            case.write_files(stage, folder.path())?;
            continue;
        }
        let text = binary::run(&command, folder.path())?;
        found.push(Section { name: command.title(), text: normal.text(&text) });
    }
    Ok(found)
}
