//! Flags to a [`Request`]: addresses are read, contradictions refused.

use std::path::Path;

use entail::address::target::{Target, invalid_flag, parse_target_lines};
use entail::address::{Instance, Mode};
use entail::backend::local::Choice;
use entail::diagnostic::{Diagnostic, Diagnostics, FileId, Sources, Span};
use entail::request::{PlanMode, Replacement, Request, Selector};
use entail::value::text::shown;
use entail::workflow::{LockOptions, StateOptions};

use super::groups::{LockArgs, PlanningArgs, ReadStateArgs, StateArgs, VariableArgs};

/// What `-parallelism=0` means.
const USUAL_PARALLELISM: usize = 10;

impl From<&LockArgs> for LockOptions {
    fn from(args: &LockArgs) -> LockOptions {
        LockOptions { enabled: args.lock, timeout: args.lock_timeout }
    }
}

impl From<&StateArgs> for StateOptions {
    fn from(args: &StateArgs) -> StateOptions {
        let files = Choice {
            state: args.state.clone(),
            state_out: args.state_out.clone(),
            backup: args.backup.clone(),
            recover: args.recover,
            allows_missing: args.allow_missing_state,
            ..Choice::default()
        };
        StateOptions { files, lock: LockOptions::from(&args.lock) }
    }
}

impl From<&ReadStateArgs> for StateOptions {
    fn from(args: &ReadStateArgs) -> StateOptions {
        let files = Choice {
            state: args.state.clone(),
            recover: args.recover,
            allows_missing: args.allow_missing_state,
            ..Choice::default()
        };
        StateOptions { files, ..StateOptions::default() }
    }
}

/// Builds what a plan is asked to do. Files of addresses are added to `sources`.
pub fn build(
    planning: &PlanningArgs,
    variables: &VariableArgs,
    sources: &Sources,
) -> Result<Request, Diagnostics> {
    let mut problems = Diagnostics::new();
    let request = Request {
        mode: problems.take(mode(planning)).unwrap_or_default(),
        skip_refresh: !planning.refresh,
        targets: selectors(
            "target",
            &planning.target,
            &planning.target_file,
            sources,
            &mut problems,
        ),
        excludes: selectors(
            "exclude",
            &planning.exclude,
            &planning.exclude_file,
            sources,
            &mut problems,
        ),
        replaces: planning
            .replace
            .iter()
            .filter_map(|it| problems.take(replaced(it)))
            .map(|it| Replacement { origin: format!("-replace={it}"), instance: it })
            .collect(),
        shape: Default::default(),
        variables: problems.take(variables.sources()).unwrap_or_default(),
        compat_opentofu: problems.take(compat(planning.compat.as_deref())).unwrap_or_default(),
        parallelism: problems.take(parallelism(planning.parallelism)).unwrap_or(USUAL_PARALLELISM),
        generate_config_out: None,
        lint: Default::default(),
        carried_out: false,
        only_shown: false,
        precedes_destroy: false,
        follows_refresh: false,
        adopts: None,
    };
    if problems.is_empty() { Ok(request) } else { Err(problems) }
}

/// Refuses what would be planned beside a plan that is made already: it holds what it was asked.
///
/// # Errors
///
/// If a flag says what to plan; the message names every such flag.
pub fn beside_plan(request: &Request) -> Result<(), Diagnostic> {
    let named = given(request);
    if named.is_empty() {
        return Ok(());
    }
    Err(Diagnostic::error("Options beside a saved plan").detail(format!(
        "A saved plan holds what it was asked, so that {} cannot be given with -plan. Remove -plan to plan anew, or make a plan with these options and save it.",
        named.join(", ")
    )))
}

/// Checks that nothing else is asked beside a flag for which nothing is planned, but what counts for it.
///
/// # Errors
///
/// If a flag says what to plan; the message names every such flag.
pub fn beside(request: &Request, flag: &str, counts: &[&str]) -> Result<(), Diagnostic> {
    let mut named = given(request);
    named.retain(|it| !counts.contains(it));
    if named.is_empty() {
        return Ok(());
    }
    Err(Diagnostic::error("Options that say what to plan").detail(format!(
        "With {flag} nothing is planned, so that {} cannot be given with it. Remove {flag} to plan.",
        named.join(", ")
    )))
}

/// The flags that say what to plan, as far as they are given.
fn given(request: &Request) -> Vec<&'static str> {
    let mode = match request.mode {
        PlanMode::Normal => None,
        PlanMode::Destroy => Some("-destroy"),
        PlanMode::RefreshOnly => Some("-refresh-only"),
    };
    let given = [
        ("-refresh", request.skip_refresh),
        ("-target", !request.targets.is_empty()),
        ("-exclude", !request.excludes.is_empty()),
        ("-replace", !request.replaces.is_empty()),
        ("-compat", request.compat_opentofu),
        ("-var", !request.variables.is_empty()),
    ];
    mode.into_iter().chain(given.into_iter().filter(|it| it.1).map(|it| it.0)).collect()
}

fn mode(planning: &PlanningArgs) -> Result<PlanMode, Diagnostic> {
    match (planning.destroy, planning.refresh_only) {
        (true, true) => Err(Diagnostic::error("Incompatible plan mode options")
            .detail("The -destroy and -refresh-only options are mutually-exclusive.")),
        (false, true) if !planning.refresh => Err(Diagnostic::error("Incompatible refresh options").detail(
            "It doesn't make sense to use -refresh-only at the same time as -refresh=false, because there would be nothing to do.",
        )),
        (true, false) | (false, true) if !planning.replace.is_empty() => {
            Err(replaces_only_normally())
        }
        (true, false) => Ok(PlanMode::Destroy),
        (false, true) => Ok(PlanMode::RefreshOnly),
        (false, false) => Ok(PlanMode::Normal),
    }
}

/// `-replace` where nothing is made.
pub fn replaces_only_normally() -> Diagnostic {
    Diagnostic::error("Unsupported plan mode").detail(
        "Forcing resource instance replacement (with -replace=...) is allowed only in normal planning mode.",
    )
}

/// Returns whether a flag names the other program.
pub fn compat(program: Option<&str>) -> Result<bool, Diagnostic> {
    match program {
        None => Ok(false),
        Some("opentofu") => Ok(true),
        Some(other) => Err(Diagnostic::error("Invalid -compat option").detail(format!(
            "There is no reading called {}. The one there is: -compat=opentofu.",
            shown(other)
        ))),
    }
}

/// Brings `-parallelism` into range: 0 is the usual number.
pub fn parallelism(number: i64) -> Result<usize, Diagnostic> {
    match usize::try_from(number) {
        Ok(0) => Ok(USUAL_PARALLELISM),
        Ok(number) => Ok(number),
        Err(_) => Err(Diagnostic::error("Invalid parallelism value")
            .detail(format!("The parallelism must be a positive value. Not {number}."))),
    }
}

fn replaced(text: &str) -> Result<Instance, Diagnostic> {
    let invalid = |detail: &str| {
        Diagnostic::error(format!("Invalid force-replace address {}", shown(text))).detail(detail)
    };
    let address: Instance = text.parse().map_err(|it: Diagnostic| invalid(&it.detail))?;
    match address.resource.mode {
        Mode::Managed => Ok(address),
        Mode::Data | Mode::Ephemeral => {
            Err(invalid("Only managed resources can be used with the -replace=... option."))
        }
    }
}

fn selectors(
    flag: &str,
    given: &[String],
    files: &[impl AsRef<Path>],
    sources: &Sources,
    problems: &mut Diagnostics,
) -> Vec<Selector> {
    let mut selectors = Vec::new();
    for text in given {
        let target = text.parse().map_err(|it| invalid_flag(flag, text, &it));
        let origin = format!("-{flag}={text}");
        selectors.extend(problems.take(target).map(|target| Selector {
            target,
            text: text.clone(),
            origin,
            is_of_policy: false,
        }));
    }
    for file in files {
        let read = from_file(file.as_ref(), sources, problems);
        selectors.extend(problems.take(read).unwrap_or_default());
    }
    selectors
}

/// Reads a file of addresses, one a line.
fn from_file(
    path: &Path,
    sources: &Sources,
    problems: &mut Diagnostics,
) -> Result<Vec<Selector>, Diagnostic> {
    let text = entail::world::text_given(path).map_err(|it| unreadable(path, &it))?;
    let name = path.display().to_string();
    let file = sources.add(name.clone(), text.as_str().into());
    let mut selectors = Vec::new();
    for (number, target) in parse_target_lines(&text) {
        let (line, span) = line(&text, number, file);
        match target {
            Ok(target) => selectors.push(Selector {
                target,
                text: line.to_owned(),
                origin: format!("{name}:{number}"),
                is_of_policy: false,
            }),
            Err(problem) => problems.push(problem.at(span)),
        }
    }
    Ok(selectors)
}

/// Returns a line without blanks around it, and its place.
fn line(text: &str, number: usize, file: FileId) -> (&str, Span) {
    let whole = text.split('\n').nth(number - 1).unwrap_or_default();
    let line = whole.trim_start_matches('\u{feff}').trim();
    let start = line.as_ptr() as usize - text.as_ptr() as usize;
    (line, Span::new(file, start, start + line.len()))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::error("Failed to read file")
        .detail(format!("The file of addresses `{}` cannot be read: {error}.", path.display()))
}

/// Reads one target, as commands on the state take them.
pub fn target(text: &str) -> Result<Target, Diagnostic> {
    text.parse()
}
