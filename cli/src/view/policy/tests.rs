//! What came of the tests of policies.

use entail::diagnostic::{Diagnostic, Sources};
use entail::workflow::policy::testing::{Ended, TestOptions, Tested, TestedRule};
use serde_json::{Value as Json, json};

/// Returns it for people.
pub fn text(tested: &Tested, options: &TestOptions, sources: &Sources) -> String {
    let mut out = String::new();
    for file in &tested.files {
        out.push_str(&format!("{}\n", file.name));
        for case in &file.cases {
            match &case.outcome {
                Ended::Passed => out.push_str(&format!("  passed  {}\n", case.name)),
                Ended::Failed(misses) => {
                    out.push_str(&format!("  FAILED  {} (line {})\n", case.name, case.line));
                    for miss in misses {
                        let place = sources.place(miss.span);
                        out.push_str(&format!("    {}\n      at {place}\n", miss.says));
                    }
                }
                Ended::Faulty(problems) => {
                    out.push_str(&format!("  FAULTY  {} (line {})\n", case.name, case.line));
                    for problem in problems.iter().filter(|it| it.is_error()) {
                        out.push_str(&format!("    {}\n", words(problem)));
                        if let Some(span) = problem.subject {
                            out.push_str(&format!("      at {}\n", sources.place(span)));
                        }
                    }
                }
            }
        }
    }
    let (passed, failed, faulty) = tested.counts();
    out.push_str(&format!("{passed} passed, {failed} failed"));
    out.push_str(&if faulty > 0 { format!(", {faulty} faulty.\n") } else { ".\n".to_owned() });
    if options.coverage {
        coverage(&mut out, &tested.rules);
    }
    if options.mutate {
        mutants(&mut out, &tested.rules);
    }
    out
}

fn words(problem: &Diagnostic) -> String {
    match problem.detail.is_empty() {
        true => problem.summary.clone(),
        false => format!("{}: {}", problem.summary, problem.detail),
    }
}

fn is_met(rule: &TestedRule) -> bool {
    rule.premises.iter().all(|it| it.is_met)
}

fn coverage(out: &mut String, rules: &[TestedRule]) {
    let premises = || rules.iter().flat_map(|it| &it.premises);
    out.push_str(&format!(
        "Coverage: {} of {} rules met, {} of {} premises.\n",
        rules.iter().filter(|it| is_met(it)).count(),
        rules.len(),
        premises().filter(|it| it.is_met).count(),
        premises().count()
    ));
    for rule in rules {
        let (file, line) = &rule.place;
        if is_met(rule) {
            let all = rule.premises.len();
            out.push_str(&format!(
                "  met: {} ({file}:{line}), {all} of {all} premises\n",
                rule.name
            ));
            continue;
        }
        out.push_str(&format!("  no case meets {} ({file}:{line})\n", rule.name));
        for premise in rule.premises.iter().filter(|it| !it.is_met) {
            out.push_str(&format!("    {file}:{}: {}\n", premise.line, premise.text));
        }
    }
}

fn mutants(out: &mut String, rules: &[TestedRule]) {
    let tried = rules.iter().flat_map(|it| &it.premises).filter_map(|it| it.is_missed);
    let (missed, all) = tried.fold((0, 0), |(missed, all), it| (missed + usize::from(it), all + 1));
    out.push_str(&format!(
        "Mutants: {missed} of {all} premises are missed by a test when they are left out.\n"
    ));
    for rule in rules {
        for premise in rule.premises.iter().filter(|it| it.is_missed == Some(false)) {
            out.push_str(&format!(
                "  no test misses, in {}:\n    {}:{}: {}\n",
                rule.name, rule.place.0, premise.line, premise.text
            ));
        }
    }
}

/// Returns it as a document.
pub fn json(tested: &Tested, options: &TestOptions, sources: &Sources) -> String {
    let files = tested.files.iter().map(|file| {
        let cases = file.cases.iter().map(|case| {
            let (status, failures) = outcome(&case.outcome, sources);
            json!({ "name": case.name, "line": case.line, "status": status, "failures": failures })
        });
        json!({ "file": file.name, "cases": cases.collect::<Vec<_>>() })
    });
    let (passed, failed, faulty) = tested.counts();
    let mut document = json!({
        "format_version": "1.0",
        "files": files.collect::<Vec<_>>(),
        "diagnostics": tested.problems.iter().map(|it| problem(it, sources)).collect::<Vec<_>>(),
        "summary": { "passed": passed, "failed": failed, "errors": faulty },
    });
    if options.coverage || options.mutate {
        document["rules"] = tested.rules.iter().map(rule).collect();
    }
    format!("{document:#}\n")
}

fn outcome(outcome: &Ended, sources: &Sources) -> (&'static str, Vec<Json>) {
    match outcome {
        Ended::Passed => ("pass", Vec::new()),
        Ended::Failed(misses) => {
            let failures = misses.iter().map(|it| {
                json!({
                    "kind": it.kind.name(),
                    "rule": it.rule,
                    "address": it.address,
                    "message": it.says,
                    "line": sources.position(it.span.file(), it.span.start()).line,
                })
            });
            ("fail", failures.collect())
        }
        Ended::Faulty(problems) => {
            ("error", problems.iter().map(|it| problem(it, sources)).collect())
        }
    }
}

fn problem(it: &Diagnostic, sources: &Sources) -> Json {
    json!({
        "severity": if it.is_error() { "error" } else { "warning" },
        "summary": it.summary,
        "detail": it.detail,
        "place": it.subject.filter(|it| it.file().0 != 0).map(|it| sources.place(it)),
    })
}

fn rule(rule: &TestedRule) -> Json {
    let premises = rule.premises.iter().map(
        |it| json!({ "text": it.text, "line": it.line, "met": it.is_met, "missed": it.is_missed }),
    );
    json!({
        "rule": rule.name,
        "file": rule.place.0,
        "line": rule.place.1,
        "met": is_met(rule),
        "premises": premises.collect::<Vec<_>>(),
    })
}
