//! What came of tests as JUnit writes it down, for programs that collect such reports.

use std::fmt::Write;
use std::path::Path;

use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::testing::{FileOutcome, Status};

/// One file.
#[derive(Clone, Debug)]
pub struct Suite {
    name: String,
    cases: Vec<Case>,
}

#[derive(Clone, Debug)]
struct Case {
    name: String,
    status: Status,
    seconds: f64,
    problems: Vec<(bool, String)>,
}

impl Suite {
    /// Returns what came of a file.
    pub fn of(outcome: &FileOutcome) -> Suite {
        let cases = outcome.runs.iter().map(|run| Case {
            name: run.name.clone(),
            status: run.status,
            seconds: run.elapsed.as_secs_f64(),
            problems: run.problems.iter().map(|it| (it.is_error(), it.to_string())).collect(),
        });
        Suite { name: outcome.path.clone(), cases: cases.collect() }
    }

    fn count(&self, status: Status) -> usize {
        self.cases.iter().filter(|it| it.status == status).count()
    }
}

/// Writes a report.
///
/// # Errors
///
/// If the file cannot be written.
pub fn write(path: &Path, suites: &[Suite]) -> Result<(), Diagnostics> {
    std::fs::write(path, text(suites)).map_err(|why| {
        Diagnostic::error("Failed to write the report of tests")
            .detail(format!(
                "The file that -junit-xml names, {}, could not be written: {why}.",
                path.display()
            ))
            .into()
    })
}

fn text(suites: &[Suite]) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for suite in suites {
        let _ = writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{}\" skipped=\"{}\" failures=\"{}\" errors=\"{}\">",
            escaped(&suite.name),
            suite.cases.len(),
            suite.count(Status::Skip),
            suite.count(Status::Fail),
            suite.count(Status::Error)
        );
        suite.cases.iter().for_each(|it| case(&mut out, &suite.name, it));
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn case(out: &mut String, file: &str, case: &Case) {
    let (name, file) = (escaped(&case.name), escaped(file));
    let _ = write!(
        out,
        "    <testcase name=\"{name}\" classname=\"{file}\" time=\"{:.3}\"",
        case.seconds
    );
    let element = match case.status {
        Status::Fail => "failure",
        Status::Error => "error",
        Status::Skip | Status::Pending => "skipped",
        Status::Pass => "",
    };
    let told: Vec<&str> = case.problems.iter().map(|it| it.1.as_str()).collect();
    match (element, told.is_empty()) {
        ("", true) => return out.push_str("></testcase>\n"),
        ("", false) => {
            let _ = write!(out, ">\n      <system-err>{}</system-err>", escaped(&told.join("\n")));
        }
        (element, true) => {
            let _ = write!(out, ">\n      <{element}></{element}>");
        }
        (element, false) => {
            let first = case.problems.iter().find(|it| it.0).map_or(told[0], |it| it.1.as_str());
            let first = first.lines().next().unwrap_or_default();
            let _ = write!(
                out,
                ">\n      <{element} message=\"{}\">{}</{element}>",
                escaped(first),
                escaped(&told.join("\n"))
            );
        }
    }
    out.push_str("\n    </testcase>\n");
}

/// Returns text as it stands in XML; characters that cannot stand there are left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&#34;"),
            '\n' => out.push_str("&#xA;"),
            '\t' => out.push_str("&#x9;"),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_report_names_files_runs_and_what_failed() {
        let case = |name: &str, status, problems: &[(bool, &str)]| Case {
            name: name.into(),
            status,
            seconds: 0.5,
            problems: problems.iter().map(|it| (it.0, it.1.to_owned())).collect(),
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
        .assert_eq(&text(&[Suite { name: "a.tftest.hcl".into(), cases }]));
    }
}
