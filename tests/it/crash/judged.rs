//! What a run has left that a fault has met: the old or the new state, nothing that was reported is lost, and the next command works.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Output;

use super::scenarios::Scenario;
use crate::support::faults::Fault;
use crate::support::place::Place;

type Names = BTreeSet<String>;

/// Files by their paths, and what is in them.
type Files = BTreeMap<String, Vec<u8>>;

/// What there is before a command, and after one that nothing has met.
pub struct Expected {
    old: Files,
    new: Files,
    /// The names of the files that may lie about after the next command; digits do not count.
    known: Names,
}

impl Expected {
    /// Looks at a place before, and at one after the command; what comes next is done there.
    ///
    /// # Errors
    ///
    /// If the command has not done what it is for.
    pub fn new(scenario: &Scenario, before: &Place, after: &Place) -> Result<Expected, String> {
        let now = objects(after, scenario)?;
        let (old, new) = (files(before.path()), files(after.path()));
        let mut expected = Expected { old, new, known: Names::new() };
        let is_new = now == set(scenario.new) && (scenario.is_done)(after);
        if !is_new {
            return Err(format!("it does not do what it is for: {now:?}"));
        }
        expected.is_one_of(scenario, &expected.new)?;
        next(after, scenario)?;
        scenario.finish.map_or(Ok(()), |it| run(after, it(after)))?;
        let kept = [
            "errored.tfstate",
            "terraform.tfstate.backup",
            "terraform.tfstate.#.backup",
            "terraform.tfstate.#-#.backup",
            "other.tfstate.#.backup",
            "out.tfstate.backup",
            "terraform.tfstate.log",
            "other.tfstate.log",
            "out.tfstate.log",
        ];
        let kept = kept.map(str::to_owned);
        let all = expected.old.keys().chain(expected.new.keys()).cloned();
        let all = all.chain(files(after.path()).into_keys());
        expected.known = all.map(|it| without_digits(&it)).chain(kept).collect();
        Ok(expected)
    }

    /// Which of the two the scenario's files are; those of one pattern go together.
    fn is_one_of(&self, scenario: &Scenario, now: &Files) -> Result<Age, String> {
        let mut ages = Vec::new();
        for pattern in scenario.files {
            let of = |all: &Files| -> Files {
                let is_meant = |it: &str| match pattern.strip_suffix('*') {
                    Some(start) => it.starts_with(start),
                    None => it == *pattern,
                };
                all.iter()
                    .filter(|it| is_meant(it.0))
                    .map(|it| (it.0.clone(), it.1.clone()))
                    .collect()
            };
            let (old, new, now) = (of(&self.old), of(&self.new), of(now));
            // A folder that is replaced may be gone for a moment; a file never is.
            let is_away = pattern.ends_with('*') && now.is_empty();
            ages.push(match () {
                () if now == new => Age::New,
                () if now == old || is_away => Age::Old,
                () => {
                    let names: Vec<_> =
                        now.iter().map(|it| format!("{} has {} bytes", it.0, it.1.len())).collect();
                    return Err(format!("{pattern} is neither the old nor the new one: {names:?}"));
                }
            });
        }
        Ok(if ages.contains(&Age::Old) { Age::Old } else { Age::New })
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Age {
    Old,
    New,
}

/// Looks at what a run has left.
///
/// # Errors
///
/// What is wrong with it.
pub fn judge(
    place: &Place,
    scenario: &Scenario,
    expected: &Expected,
    (fault, output): (Fault, &Output),
) -> Result<(), String> {
    let code = ended(fault, output)?;
    let (old, new) = (set(scenario.old), set(scenario.new));
    let found = files(place.path());
    let age = expected.is_one_of(scenario, &found)?;
    let (text, listed) = place.run(&words(scenario.list));
    let needs_next = listed != Some(0) && !text.contains("No state file was found");
    if needs_next && code == Some(0) {
        return Err(format!("it ended well, and no state can be listed: {text}"));
    }
    if needs_next {
        next(place, scenario)?;
    }
    let now = objects(place, scenario)?;
    let is_gradual = scenario.finish.is_some();
    let between = || {
        let (all, both): (Names, Names) = (&old | &new, &old & &new);
        now.is_subset(&all) && now.is_superset(&both)
    };
    if !(now == old || now == new || is_gradual && between()) {
        return Err(format!("the objects are neither the old nor the new ones: {now:?}"));
    }
    let is_new = now == new && age == Age::New && (scenario.is_done)(place);
    if code == Some(0) && !is_new {
        return Err(format!("it ended well, and what was asked for is not there: {now:?}"));
    }
    // Whatever has gone from the state is where it was to go.
    if old != new && now == new && !is_gradual && !is_new && !needs_next {
        return Err("the objects are the new ones, and the rest is not".to_owned());
    }
    nothing_is_lost(place, output, &now)?;
    next(place, scenario)?;
    if let Some(finish) = scenario.finish {
        let finish = finish(place);
        run(place, finish)?;
        let now = objects(place, scenario)?;
        if now != new {
            return Err(format!("`{finish}` does not finish it: {now:?}"));
        }
    }
    let left = files(place.path());
    nothing_is_made_anew(&left, output)?;
    let is_known = |it: &&String| {
        expected.known.contains(&without_digits(it))
            || scenario.leaves.iter().any(|start| it.starts_with(start))
    };
    let left: Vec<&String> = left.keys().filter(|it| !is_known(it)).collect();
    match left.is_empty() {
        true => Ok(()),
        false => Err(format!("these lie about: {left:?}")),
    }
}

/// How the run ended; where it failed it says so.
fn ended(fault: Fault, output: &Output) -> Result<Option<i32>, String> {
    let said = String::from_utf8_lossy(&output.stderr);
    let told = String::from_utf8_lossy(&output.stdout);
    let code = output.status.code();
    match code {
        _ if said.contains("panicked at") => Err(format!("it panics: {said}")),
        None if fault != Fault::Kill => Err(format!("{}: {said}", output.status)),
        Some(1..) if fault == Fault::Half => {
            Err(format!("nothing was wrong, and it failed: {said}"))
        }
        Some(1..) if !said.contains("Error") && !told.to_lowercase().contains("error") => {
            Err(format!("it failed and gives no reason: {told}{said}"))
        }
        _ => Ok(code),
    }
}

/// What a run has reported as made is in the state, or kept beside it; and what it has reported as destroyed is not.
fn nothing_is_lost(place: &Place, output: &Output, now: &Names) -> Result<(), String> {
    let errored = place.text("errored.tfstate");
    // Who lists a state where there is none looks at no journal.
    let kept = format!("{errored}{}", place.text(".out.tfstate.journal"));
    for step in finished(output) {
        let name = step["resource"]["resource_name"].as_str().unwrap_or_default();
        let is_kept = match step["id_value"].as_str() {
            Some(id) => kept.contains(id),
            None => kept.contains(&format!("\"{name}\"")),
        };
        match step["action"] == "delete" {
            true if now.contains(name) && (errored.is_empty() || is_kept) => {
                return Err(format!("{name} was reported as destroyed, and is in the state"));
            }
            false if !now.contains(name) && !is_kept => {
                return Err(format!("{name} was reported as made, and is lost"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// What a run has reported as made is in some state when all is finished: it was not made for a second time.
fn nothing_is_made_anew(left: &Files, output: &Output) -> Result<(), String> {
    let states: Vec<_> = left.iter().filter(|it| it.0.ends_with(".tfstate")).collect();
    for step in finished(output).filter(|it| it["action"] == "create") {
        let id = step["id_value"].as_str().unwrap_or_default();
        let knows = |it: &[u8]| String::from_utf8_lossy(it).contains(id);
        if !states.iter().any(|it| knows(it.1)) {
            return Err(format!(
                "in the end another has taken the place of what was reported: {step}"
            ));
        }
    }
    Ok(())
}

/// The steps that a run has reported as finished.
fn finished(output: &Output) -> impl Iterator<Item = serde_json::Value> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<serde_json::Value> =
        text.lines().filter_map(|it| serde_json::from_str(it).ok()).collect();
    let finished = lines.into_iter().filter(|it| it["type"] == "apply_complete");
    finished.map(|mut it| it["hook"].take())
}

fn next(place: &Place, scenario: &Scenario) -> Result<(), String> {
    scenario.next.iter().try_for_each(|it| run(place, it))
}

fn run(place: &Place, command: &str) -> Result<(), String> {
    match place.run(&words(command)) {
        (_, Some(0)) => Ok(()),
        (text, _) => Err(format!("then `{command}` fails: {text}")),
    }
}

/// The names of the objects in the state; nothing where there is none.
fn objects(place: &Place, scenario: &Scenario) -> Result<Names, String> {
    let (text, code) = place.run(&words(scenario.list));
    if code != Some(0) && !text.contains("No state file was found") {
        return Err(format!("`{}` fails: {text}", scenario.list));
    }
    // What is said beside has spaces.
    let names = text.lines().filter(|it| !it.contains(' ')).filter_map(|it| it.split_once('.'));
    Ok(names.map(|it| it.1.to_owned()).collect())
}

fn set(names: &[&str]) -> Names {
    names.iter().map(|it| (*it).to_owned()).collect()
}

pub fn words(command: &str) -> Vec<&str> {
    command.split(' ').collect()
}

fn without_digits(name: &str) -> String {
    let mut text = String::new();
    for part in name.chars().map(|it| if it.is_ascii_digit() { '#' } else { it }) {
        if part != '#' || !text.ends_with('#') {
            text.push(part);
        }
    }
    text
}

/// Every file and every empty folder below a folder. Of a link, where it leads.
fn files(root: &Path) -> Files {
    let mut files = Files::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(path),
                // Whoever is killed leaves what he has there, as everybody does.
                _ if name.starts_with("home/temporary") => {}
                Ok(kind) if kind.is_symlink() => drop(files.insert(name, Vec::new())),
                _ => drop(files.insert(name, std::fs::read(&path).unwrap_or_default())),
            }
        }
    }
    files
}
