//! `policy test`: judges the configuration of each case in memory, and compares.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::runtime::Runtime;

use super::{Again, judge_session};
use crate::datalog::coverage::{self, Probe};
use crate::datalog::{Domain, Limits};
use crate::diagnostic::{Diagnostics, Span};
use crate::expression::print::format_value;
use crate::operation::policies;
use crate::operation::session::Session;
use crate::policy::cases::{self, Case, Miss};
use crate::policy::judge::Judged;
use crate::policy::proven::check_all;
use crate::policy::{Model, Policies, PolicySource};
use crate::request::Request;
use crate::state::{self, State};
use crate::workflow::judging::judge_plan;
use crate::workflow::{Host, with_room};
use crate::world::{VariableSource, World};

mod problems;

use problems::{no_folder, no_policies, not_proven, not_there, of_library, undeclared, unreadable};

/// How the names of files of cases end.
const ENDING: &str = ".policytest.hcl";

// The only file of a configuration that is written in a case, and the one of the case's variables.
const INLINE: &str = "main.tf";
const VARIABLES: &str = ".policytest.tfvars";

/// What `policy test` is asked.
#[derive(Clone, Debug, Default)]
pub struct TestOptions {
    /// Files and folders with cases; the root module's folder where none is named.
    pub paths: Vec<String>,
    /// `-policy=…`: what is in force beside the files that lie with the cases.
    pub named: Vec<String>,
    /// What the rules may take.
    pub limits: Limits,
    /// Whether to say how far each rule came.
    pub coverage: bool,
    /// Whether to check the proof of each verdict, by a second reading of the rules.
    pub proofs: bool,
    /// Whether to leave out each premise, and to say which of them no case misses.
    pub mutate: bool,
}

/// What came of the cases.
#[derive(Clone, Debug, Default)]
pub struct Tested {
    /// By file.
    pub files: Vec<TestedFile>,
    /// How far rules came, where that was asked.
    pub rules: Vec<TestedRule>,
    /// What is wrong with policies and files of cases.
    pub problems: Diagnostics,
}

/// The cases of a file.
#[derive(Clone, Debug)]
pub struct TestedFile {
    /// Its name.
    pub name: String,
    /// What came of each case.
    pub cases: Vec<TestedCase>,
}

/// What came of a case.
#[derive(Clone, Debug)]
pub struct TestedCase {
    /// Its name.
    pub name: String,
    /// Its line.
    pub line: usize,
    /// What came of it.
    pub outcome: Ended,
}

/// What comes of a case.
#[derive(Clone, Debug)]
pub enum Ended {
    /// It got what was expected.
    Passed,
    /// It got something else.
    Failed(Vec<Miss>),
    /// It could not be judged.
    Faulty(Diagnostics),
}

/// How far a rule came in all cases.
#[derive(Clone, Debug)]
pub struct TestedRule {
    /// Its name, or the relation that it concludes.
    pub name: String,
    /// Its file and line.
    pub place: (String, usize),
    /// What it rests on.
    pub premises: Vec<TestedPremise>,
}

/// How a premise fared.
#[derive(Clone, Debug)]
pub struct TestedPremise {
    /// As it is written.
    pub text: String,
    /// Its line.
    pub line: usize,
    /// Whether some case met it, together with those before it.
    pub is_met: bool,
    /// Whether some case fails without it; nothing where that was not tried, or the rule says nothing without it.
    pub is_missed: Option<bool>,
}

impl Tested {
    /// Returns how many cases passed, failed, and could not be judged.
    pub fn counts(&self) -> (usize, usize, usize) {
        let cases = self.files.iter().flat_map(|it| &it.cases);
        cases.fold((0, 0, 0), |(passed, failed, faulty), it| match it.outcome {
            Ended::Passed => (passed + 1, failed, faulty),
            Ended::Failed(_) => (passed, failed + 1, faulty),
            Ended::Faulty(_) => (passed, failed, faulty + 1),
        })
    }
}

/// Runs the cases beside policies. Nothing is read but the policies, the cases, and the folders that they name.
///
/// # Errors
///
/// If what is named is not there.
pub fn test(host: &Host<'_>, options: &TestOptions) -> Result<Tested, Diagnostics> {
    with_room(|runtime| test_here(host, options, runtime))?
}

/// Policies that cases are judged by, and how their rules fared.
struct Set {
    policies: Policies,
    marks: Vec<Mark>,
}

/// How a rule fared.
struct Mark {
    rule: usize,
    reached: usize,
    missed: Vec<Option<bool>>,
}

fn test_here(
    host: &Host<'_>,
    options: &TestOptions,
    runtime: &Runtime,
) -> Result<Tested, Diagnostics> {
    let world = &**host.world;
    let mut tested = Tested::default();
    let mut sets: BTreeMap<Vec<String>, Set> = BTreeMap::new();
    for path in files_of_cases(world, &options.paths)? {
        let name = policies::shown(world, &path);
        let folder = path.parent().unwrap_or(&world.root).to_owned();
        let found = policies_for(host, &folder, &options.named)?;
        if found.is_empty() {
            tested.problems.push(no_policies(&name));
            continue;
        }
        let key = found.iter().map(|it| it.name.clone()).collect();
        let set = sets.entry(key).or_insert_with(|| {
            let (policies, faults) = Policies::read(found, host.sources);
            tested.problems.extend(faults);
            Set::new(policies)
        });
        let text = world.files.read_text(&path).map_err(|it| unreadable(&name, &it.to_string()))?;
        let file = host.sources.add(name.clone(), Arc::from(text.as_str()));
        let (cases, problems) = cases::read(file, &text);
        tested.problems.extend(problems);
        let cases = cases.iter().map(|case| TestedCase {
            name: case.name.clone(),
            line: host.sources.position(file, case.span.start()).line,
            outcome: run(host, (&folder, case), set, (options, runtime))
                .unwrap_or_else(Ended::Faulty),
        });
        tested.files.push(TestedFile { name, cases: cases.collect() });
    }
    if options.coverage || options.mutate {
        for set in sets.values() {
            tested.rules.extend(set.marks.iter().map(|it| told(host, &set.policies, it, options)));
        }
    }
    Ok(tested)
}

/// Judges a case.
fn run(
    host: &Host<'_>,
    (folder, case): (&Path, &Case),
    set: &mut Set,
    (options, runtime): (&TestOptions, &Runtime),
) -> Result<Ended, Diagnostics> {
    let (world, request) = world_of(host.world, folder, case)?;
    let (session, problems) = Session::open_in_place(Arc::new(world), host.sources.clone())?;
    if problems.has_errors() {
        return Err(problems);
    }
    let declared = &session.config.root().variables;
    if let Some(name) = case.variables.keys().find(|it| !declared.contains_key(*it)) {
        return Err(undeclared(case, name).into());
    }
    let Set { policies, marks } = set;
    for it in &case.expected {
        policies.rules_of_name(&it.rule).map_err(|problem| problem.at(it.span))?;
    }
    let (mut misses, mut unproven) = (Vec::new(), None);
    let look = &mut |model: &Model<'_>, judged: Judged, again: Again<'_>| {
        misses = case.misses(&judged.report.verdicts, &judged.report.not_judged);
        if options.proofs {
            unproven = check_all(&judged, model).err();
        }
        if options.coverage || options.mutate {
            let tries = options.mutate && misses.is_empty();
            mark((policies, marks), model, judged, tries.then_some((case, again)));
        }
    };
    let problems = match case.plan {
        false => judge_session(&session, policies, &request, &options.limits, look)?,
        true => {
            let state = recorded(&session.world, folder, case)?;
            let asked = (&request, state);
            runtime.block_on(judge_plan(&session, policies, asked, &options.limits, look))?
        }
    };
    if problems.has_errors() {
        return Err(problems);
    }
    if let Some(error) = unproven {
        return Err(not_proven(case, &error.to_string()).into());
    }
    Ok(if misses.is_empty() { Ended::Passed } else { Ended::Failed(misses) })
}

/// Returns the state that a case plans from.
fn recorded(world: &World, folder: &Path, case: &Case) -> Result<State, Diagnostics> {
    let Some(name) = &case.state else { return Ok(State::default()) };
    let bytes = world.files.read(&folder.join(name));
    let bytes = bytes.map_err(|it| unreadable(name, &it.to_string()))?;
    Ok(state::read::read(&bytes)?.unwrap_or_default())
}

/// Returns the world that a case sees: no variables but its own, and in its folder no configuration but its own.
fn world_of(world: &World, folder: &Path, case: &Case) -> Result<(World, Request), Diagnostics> {
    let mut seen = World { root: folder.to_owned(), ..world.clone() };
    seen.environment.retain(|it, _| !it.starts_with("TF_VAR_") && it != "TF_WORKSPACE");
    seen.given = Default::default();
    match (&case.directory, &case.configuration) {
        (Some(directory), _) => {
            seen.root = folder.join(directory);
            if !world.files.is_folder(&seen.root) {
                return Err(no_folder(case, directory).into());
            }
        }
        (None, text) => {
            for entry in world.files.entries(folder).unwrap_or_default() {
                let name = entry.name.to_string_lossy();
                let endings = [".tf", ".tofu", ".tf.json", ".tofu.json", ".tfvars", ".tfvars.json"];
                if !entry.is_folder && endings.iter().any(|it| name.ends_with(it)) {
                    seen.files.hide(&folder.join(&entry.name));
                }
            }
            seen.files.lay(&folder.join(INLINE), text.clone().unwrap_or_default());
        }
    }
    let mut request = Request::default();
    if !case.variables.is_empty() {
        let lines =
            case.variables.iter().map(|(name, it)| format!("{name} = {}\n", format_value(it)));
        let path = seen.root.join(VARIABLES);
        seen.files.lay(&path, lines.collect::<String>());
        request.variables.push(VariableSource::File(path));
    }
    Ok((seen, request))
}

impl Set {
    fn new(policies: Policies) -> Set {
        let mark = |rule: usize| {
            let written = &policies.program.rules[rule];
            let premises = 0..written.body.len();
            let missed = premises.map(|it| coverage::without(written, it).map(|_| false));
            Mark { rule, reached: 0, missed: missed.collect() }
        };
        let marks = policies.written_rules().into_iter().map(mark).collect();
        Set { policies, marks }
    }
}

/// Notes how far each rule came, and which of its premises the case misses.
fn mark(
    (policies, marks): (&Policies, &mut Vec<Mark>),
    model: &Model<'_>,
    judged: Judged,
    tries: Option<(&Case, Again<'_>)>,
) {
    let Judged { program, mut database, .. } = judged;
    let domain: &dyn Domain = model;
    let mut probe = Probe::new(&program, &mut database, Some(domain));
    for mark in marks {
        let rule = &policies.program.rules[mark.rule];
        let heads: Vec<usize> =
            (0..program.rules.len()).filter(|it| program.rules[*it].span == rule.span).collect();
        let Some(first) = heads.first() else { continue };
        if mark.reached < rule.body.len() {
            mark.reached = mark.reached.max(probe.reached(*first));
        }
        let Some((case, again)) = tries else { continue };
        for premise in 0..rule.body.len() {
            if mark.missed[premise] != Some(false) {
                continue;
            }
            // What concludes nothing new changes no verdict.
            let gains = heads.iter().any(|it| probe.gains_without(*it, premise) == Some(true));
            let Some(less) = gains.then(|| policies.without(mark.rule, premise)).flatten() else {
                continue;
            };
            let is_missed = again(&less).map_or(true, |it| {
                !case.misses(&it.report.verdicts, &it.report.not_judged).is_empty()
            });
            mark.missed[premise] = Some(is_missed);
        }
    }
}

/// Returns how a rule fared, in words and places.
fn told(host: &Host<'_>, policies: &Policies, mark: &Mark, options: &TestOptions) -> TestedRule {
    let rule = &policies.program.rules[mark.rule];
    let line = |it: Span| host.sources.position(it.file(), it.start()).line;
    let premises = rule.places.iter().enumerate().map(|(at, place)| TestedPremise {
        text: words(host, *place),
        line: line(*place),
        is_met: at < mark.reached,
        is_missed: mark.missed[at].filter(|_| options.mutate),
    });
    TestedRule {
        name: policies.called(mark.rule),
        place: (rule.source.clone(), line(rule.span)),
        premises: premises.collect(),
    }
}

/// A premise as it is written, with what stands before its place.
fn words(host: &Host<'_>, place: Span) -> String {
    let text = host.sources.text(place).unwrap_or_default();
    let whole = host.sources.get(place.file());
    let before = whole.as_ref().and_then(|it| it.text().get(..place.start() as usize));
    let before = before.unwrap_or_default().trim_end();
    let sign = ["!", "if", "let", "agg"].into_iter().find(|it| {
        let rest = before.strip_suffix(it);
        rest.is_some_and(|it| !it.ends_with(|it: char| it.is_alphanumeric() || it == '_'))
    });
    match sign {
        Some("!") => format!("!{text}"),
        Some(word) => format!("{word} {text}"),
        None => text,
    }
}

/// Returns the policies that cases of a folder are judged by: those in force by name, and those that lie with the cases. In a
/// folder `policies`, these are all of its files.
fn policies_for(
    host: &Host<'_>,
    folder: &Path,
    named: &[String],
) -> Result<Vec<PolicySource>, Diagnostics> {
    let world = &**host.world;
    let mut found = policies::named(world, host.sources, named)?;
    let whole = folder
        .ancestors()
        .take_while(|it| it.starts_with(&world.root))
        .find(|it| it.file_name().is_some_and(|it| it == policies::FOLDER))
        .unwrap_or(folder);
    if !policies::files_below(world, whole, policies::ENDING).is_empty() {
        let name = policies::shown(world, whole);
        let name = if name.is_empty() { ".".to_owned() } else { name };
        for source in policies::named(world, host.sources, &[name])? {
            if !found.iter().any(|it| it.name == source.name) {
                found.push(source);
            }
        }
    }
    Ok(found)
}

/// Returns the files of cases that are named, and those in folders that are, at any depth.
fn files_of_cases(world: &World, paths: &[String]) -> Result<Vec<PathBuf>, Diagnostics> {
    let mut found = Vec::new();
    let named: Vec<&str> = match paths.is_empty() {
        true => vec![""],
        false => paths.iter().map(String::as_str).collect(),
    };
    for name in named {
        if name.starts_with("library:") {
            return Err(of_library(name).into());
        }
        let path = match name {
            "" | "." => world.root.clone(),
            name => world.root.join(name),
        };
        if world.files.is_folder(&path) {
            found.extend(policies::files_below(world, &path, ENDING));
        } else if world.files.is_file(&path) {
            found.push(path);
        } else {
            return Err(not_there(name).into());
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}
