//! Commands without secrets, the critical path, lines that are written and read, and what is found among them.

use pretty_assertions::assert_eq;

use super::*;

fn hidden(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|it| (*it).to_owned()).collect();
    shown(&without_secrets(&words, |name| name != "tag"))
}

#[test]
fn values_are_kept_of_variables_that_are_known_to_be_plain() {
    assert_eq!(hidden(&["apply", "-var", "tag=a b"]), "apply -var 'tag=a b'");
    assert_eq!(hidden(&["apply", "-var", "pw=x=y"]), "apply -var 'pw=(sensitive)'");
    assert_eq!(hidden(&["apply", "--var=pw=x"]), "apply '--var=pw=(sensitive)'");
    assert_eq!(
        hidden(&["apply", "-var=tag=1", "-var=hunter2"]),
        "apply -var=tag=1 '-var=(sensitive)'"
    );
    assert_eq!(hidden(&["apply", "-var-file=x.tfvars", "-var"]), "apply -var-file=x.tfvars -var");
    assert_eq!(hidden(&["-chdir=it's", ""]), "'-chdir=it'\\''s' ''");
}

fn step(address: &str, (at, elapsed): (u64, u64), after: Option<usize>) -> Step {
    let action = "create".into();
    let (deposed, error, because) = (None, None, None);
    let (outcome, address) = (StepOutcome::Done, address.into());
    Step { address, deposed, action, at_ms: at, for_ms: elapsed, outcome, error, because, after }
}

fn run(steps: Vec<Step>) -> Run {
    let origin = Origin {
        operation: "apply",
        began: DateTime::UNIX_EPOCH,
        command: vec!["apply".into()],
        workspace: "default",
        plan: None,
        recovered: 0,
        overridden: Vec::new(),
    };
    origin.with_steps(&World::of_this_process(), &Done::default(), steps)
}

#[test]
fn the_critical_path_leads_to_what_ended_last() {
    let steps = vec![
        step("a.short", (0, 5), None),
        step("a.long", (0, 50), None),
        step("a.late", (50, 50), Some(1)),
        step("a.other", (5, 20), Some(0)),
    ];
    assert_eq!(critical_path(&run(steps)), [1, 2]);
    assert_eq!(critical_path(&run(vec![])), [0; 0]);
    // Somebody has changed the log.
    let circle = vec![step("a.a", (0, 1), Some(1)), step("a.b", (1, 1), Some(0))];
    assert_eq!(critical_path(&run(circle)), [0, 1]);
    assert_eq!(critical_path(&run(vec![step("a.a", (0, 1), Some(7))])), [0]);
}

#[test]
fn what_is_written_is_read_again_and_other_lines_are_none() {
    let run = run(vec![step("a.a[\"x.y\"]", (0, 1), None)]);
    let line = run.to_line();
    assert_eq!(Run::of_line(&line), Some(run));
    assert!(!line.contains('\n'));
    assert_eq!(Run::of_line(&line[..line.len() - 1]), None);
    assert_eq!(Run::of_line("{}"), None);
}

#[test]
fn a_run_is_found_by_its_beginning_and_an_object_by_its_address() {
    let runs = [
        run(vec![step("a.a", (0, 1), None)]),
        run(vec![step("a.a[0]", (0, 2), None), step("a.ab", (0, 3), None)]),
    ];
    assert!(matches!(find(&runs, &runs[0].id), Ok(Found::Run(it)) if it.id == runs[0].id));
    assert!(find(&runs, "").is_err() && find(&runs, "none").is_err());
    let Ok(Found::History(it)) = find(&runs, "a.a") else { panic!("it is there") };
    let found: Vec<&str> = it.steps.iter().map(|it| it.1.address.as_str()).collect();
    assert_eq!(found, ["a.a[0]", "a.a"]);
    assert!(find(&runs, "a.b").is_err());
}
