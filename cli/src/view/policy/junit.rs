//! Verdicts as JUnit's XML: a rule is a suite, a verdict a case, a denial a failure.

use entail::policy::rules::{Level, RuleInfo};
use entail::policy::{Report, Verdict};

use crate::view::junit::{Case, Outcome, Suite, Told};

/// Returns the suites. A rule without a verdict is a case that passed.
pub fn suites(report: &Report, rules: &[RuleInfo], with_possible: bool) -> Vec<Suite> {
    rules.iter().map(|it| suite(report, it, with_possible)).collect()
}

fn suite(report: &Report, rule: &RuleInfo, with_possible: bool) -> Suite {
    let of_rule = |it: &&Verdict| it.rule.name == rule.name && it.rule.group == rule.group;
    let is_shown = |it: &&Verdict| it.is_certain || with_possible;
    let verdicts = report.verdicts.iter().filter(of_rule).filter(is_shown);
    let mut cases: Vec<Case> = verdicts.map(case).collect();
    if cases.is_empty() {
        let is_left_out = report.not_judged.iter().any(|it| it.ends_with(&rule.name));
        cases.push(Case {
            name: rule.name.clone(),
            class: rule.name.clone(),
            place: Some((rule.file.clone(), rule.line)),
            seconds: None,
            outcome: match is_left_out {
                true => Outcome::Skipped(Told::because("judged with a plan only")),
                false => Outcome::Passed,
            },
        });
    }
    Suite { name: rule.name.clone(), cases }
}

fn case(verdict: &Verdict) -> Case {
    let name = match verdict.address.is_empty() {
        true => "plan",
        false => &verdict.address,
    };
    Case {
        name: name.to_owned(),
        class: verdict.name.clone(),
        place: verdict.place.as_ref().map(|it| (it.0.clone(), it.1)),
        seconds: None,
        outcome: outcome(verdict),
    }
}

fn outcome(verdict: &Verdict) -> Outcome {
    let skipped = |why: String| Outcome::Skipped(Told::because(why));
    match (verdict.level, &verdict.waived, &verdict.overridden) {
        (_, Some(waived), _) => skipped(format!("waived: {}", waived.reason)),
        (_, _, Some(because)) => skipped(format!("overridden: {because}")),
        _ if !verdict.is_certain => skipped(format!(
            "possible, waits for {}: {}",
            verdict.waits_for.join(", "),
            verdict.message
        )),
        (Level::Deny, ..) => {
            let rule = &verdict.rule;
            let help = rule.help.as_ref().map_or(String::new(), |it| format!("\n{it}"));
            Outcome::Failed(Told {
                kind: rule.severity.name().to_owned(),
                message: verdict.message.clone(),
                text: format!("{}{help}\n{}:{}", verdict.sentence, rule.file, rule.line),
            })
        }
        (level, ..) => Outcome::Said(format!("{}: {}", level.name(), verdict.message)),
    }
}
