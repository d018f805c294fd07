//! A plan as JUnit's XML: whether it could be made, its checks and conditions, and the verdicts of policies.

use entail::diagnostic::Diagnostics;
use entail::plan::Plan;
use entail::policy::Report;
use entail::policy::rules::RuleInfo;
use entail::state::CheckResult;

use crate::view::junit::{Case, Outcome, Suite, Told};
use crate::view::policy::junit;

/// What a report is made of.
#[derive(Clone, Copy)]
pub struct Planned<'a> {
    /// The plan; nothing where none could be made.
    pub plan: Option<&'a Plan>,
    /// What policies say of it, and the rules that judged.
    pub judged: Option<(&'a Report, &'a [RuleInfo])>,
    /// What is wrong with it.
    pub problems: &'a Diagnostics,
}

/// Returns the suites: one for planning, one for each block with conditions, one for each rule.
pub fn suites(planned: &Planned<'_>) -> Vec<Suite> {
    let mut suites = vec![planning(planned.problems)];
    let mut checks: Vec<&CheckResult> = planned.plan.iter().flat_map(|it| &it.checks).collect();
    checks.sort_by(|a, b| a.config_address.cmp(&b.config_address));
    suites.extend(checks.into_iter().map(conditions));
    if let Some((report, rules)) = planned.judged {
        suites.extend(junit::suites(report, rules, true));
    }
    suites
}

fn planning(problems: &Diagnostics) -> Suite {
    let errors: Vec<String> =
        problems.iter().filter(|it| it.is_error()).map(|it| it.to_string()).collect();
    let warnings: Vec<String> =
        problems.iter().filter(|it| !it.is_error()).map(|it| it.to_string()).collect();
    let outcome = match (errors.first(), warnings.is_empty()) {
        (Some(first), _) => Outcome::Erred(Told {
            message: first.lines().next().unwrap_or_default().to_owned(),
            text: errors.join("\n"),
            kind: String::new(),
        }),
        (None, false) => Outcome::Warned(warnings.join("\n")),
        (None, true) => Outcome::Passed,
    };
    let case = Case { name: "plan".into(), class: "plan".into(), outcome, ..Case::default() };
    Suite { name: "plan".into(), cases: vec![case] }
}

fn conditions(result: &CheckResult) -> Suite {
    let name = result.config_address.to_string();
    let case = |address: &str, status: &str, messages: &[entail::value::Str]| Case {
        name: address.to_owned(),
        class: name.clone(),
        outcome: outcome(status, messages),
        ..Case::default()
    };
    let cases = match &result.objects {
        Some(objects) => objects.iter().map(|it| case(&it.0, &it.1, &it.2)).collect(),
        None => vec![case(&name, &result.status, &[])],
    };
    Suite { name: name.clone(), cases }
}

fn outcome(status: &str, messages: &[entail::value::Str]) -> Outcome {
    let told = |usual: &str| Told {
        message: messages.first().map_or(usual, |it| it).to_owned(),
        text: messages.iter().map(|it| &**it).collect::<Vec<_>>().join("\n"),
        kind: String::new(),
    };
    match status {
        "fail" => Outcome::Failed(told("the condition does not hold")),
        "error" => Outcome::Erred(told("the condition could not be judged")),
        "unknown" => Outcome::Skipped(Told::because("known after apply")),
        _ => Outcome::Passed,
    }
}

#[cfg(test)]
mod tests {
    use entail::diagnostic::Diagnostic;
    use expect_test::expect;

    use super::*;
    use crate::view::junit::document;

    #[test]
    fn conditions_say_what_came_of_them() {
        let objects = [
            ("check.a", "fail", vec!["not <so>"]),
            ("x.y[0]", "unknown", vec![]),
            ("x.y[1]", "pass", vec![]),
        ];
        let result = |kind: &str, address: &str, objects: &[(&str, &str, Vec<&str>)]| CheckResult {
            kind: kind.into(),
            config_address: address.into(),
            status: "fail".into(),
            objects: Some(
                objects
                    .iter()
                    .map(|it| {
                        (it.0.into(), it.1.into(), it.2.iter().map(|it| (*it).into()).collect())
                    })
                    .collect(),
            ),
        };
        let found = [
            planning(&Diagnostics::from(Diagnostic::warning("Old").detail("Renew it."))),
            conditions(&result("check", "check.a", &objects[..1])),
            conditions(&result("resource", "x.y", &objects[1..])),
        ];
        expect![[r#"
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="plan" tests="4" failures="1" errors="0" skipped="1">
              <testsuite name="plan" tests="1" skipped="0" failures="0" errors="0">
                <testcase name="plan" classname="plan">
                  <system-err>Old: Renew it.</system-err>
                </testcase>
              </testsuite>
              <testsuite name="check.a" tests="1" skipped="0" failures="1" errors="0">
                <testcase name="check.a" classname="check.a">
                  <failure message="not &lt;so&gt;">not &lt;so&gt;</failure>
                </testcase>
              </testsuite>
              <testsuite name="x.y" tests="2" skipped="1" failures="0" errors="0">
                <testcase name="x.y[0]" classname="x.y">
                  <skipped message="known after apply"></skipped>
                </testcase>
                <testcase name="x.y[1]" classname="x.y"></testcase>
              </testsuite>
            </testsuites>
        "#]]
        .assert_eq(&document(Some("plan"), &found));
    }
}
