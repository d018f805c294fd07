//! What came of tests as JUnit writes it down: a suite for each file, a case for each run.

use entail::testing::{FileOutcome, Status};

use crate::view::junit::{Case, Outcome, Suite, Told};

/// Returns what came of a file.
pub fn suite(outcome: &FileOutcome) -> Suite {
    let cases = outcome.runs.iter().map(|run| {
        let problems: Vec<(bool, String)> =
            run.problems.iter().map(|it| (it.is_error(), it.to_string())).collect();
        Case {
            name: run.name.clone(),
            class: outcome.path.clone(),
            seconds: Some(run.elapsed.as_secs_f64()),
            outcome: outcome_of(run.status, &problems),
            place: None,
        }
    });
    Suite { name: outcome.path.clone(), cases: cases.collect() }
}

fn outcome_of(status: Status, problems: &[(bool, String)]) -> Outcome {
    let all: Vec<&str> = problems.iter().map(|it| it.1.as_str()).collect();
    let text = all.join("\n");
    let first = problems.iter().find(|it| it.0).or(problems.first());
    let message = first.and_then(|it| it.1.lines().next()).unwrap_or_default().to_owned();
    match status {
        Status::Pass if problems.is_empty() => Outcome::Passed,
        Status::Pass => Outcome::Warned(text),
        Status::Fail => Outcome::Failed(Told { message, text, kind: String::new() }),
        Status::Error => Outcome::Erred(Told { message, text, kind: String::new() }),
        Status::Skip | Status::Pending => {
            Outcome::Skipped(Told { message, text, kind: String::new() })
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::view::junit::document;

    #[test]
    fn a_report_names_files_runs_and_what_failed() {
        let case = |name: &str, status, problems: &[(bool, &str)]| {
            let problems: Vec<(bool, String)> =
                problems.iter().map(|it| (it.0, it.1.to_owned())).collect();
            let outcome = outcome_of(status, &problems);
            let (name, class) = (name.to_owned(), "a.tftest.hcl".to_owned());
            Case { name, class, seconds: Some(0.5), outcome, place: None }
        };
        let cases = vec![
            case("good", Status::Pass, &[]),
            case("bad", Status::Fail, &[(false, "W"), (true, "Test assertion failed: 1 < \"2\"")]),
            case("left", Status::Skip, &[]),
        ];
        expect![[r#"
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites>
              <testsuite name="a.tftest.hcl" tests="3" skipped="1" failures="1" errors="0">
                <testcase name="good" classname="a.tftest.hcl" time="0.500"></testcase>
                <testcase name="bad" classname="a.tftest.hcl" time="0.500">
                  <failure message="Test assertion failed: 1 &lt; &#34;2&#34;">W&#xA;Test assertion failed: 1 &lt; &#34;2&#34;</failure>
                </testcase>
                <testcase name="left" classname="a.tftest.hcl" time="0.500">
                  <skipped></skipped>
                </testcase>
              </testsuite>
            </testsuites>
        "#]]
        .assert_eq(&document(None, &[Suite { name: "a.tftest.hcl".into(), cases }]));
    }
}
