//! JUnit's XML, which build servers collect: suites of cases, whatever was tested.

use std::fmt::Write;
use std::path::Path;

use entail::backend::files;
use entail::diagnostic::Diagnostic;

/// Cases that belong together.
#[derive(Clone, Debug, Default)]
pub struct Suite {
    /// What it is called.
    pub name: String,
    /// Its cases.
    pub cases: Vec<Case>,
}

/// One case.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// What it is called.
    pub name: String,
    /// What it belongs to.
    pub class: String,
    /// Where what it is about stands: a file and a line.
    pub place: Option<(String, usize)>,
    /// How long it took.
    pub seconds: Option<f64>,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a case.
#[derive(Clone, Debug, Default)]
pub enum Outcome {
    /// Nothing is wrong, and nothing is to be said.
    #[default]
    Passed,
    /// Nothing is wrong, and this was said.
    Said(String),
    /// Nothing is wrong, and this was said of it as a warning.
    Warned(String),
    /// It says nothing, for this reason where there is one.
    Skipped(Told),
    /// It is not as it should be.
    Failed(Told),
    /// It could not be found out.
    Erred(Told),
}

/// What is told of a case that has not passed; what is empty is left out.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// What kind of failure it is.
    pub kind: String,
    /// What is wrong, in a line.
    pub message: String,
    /// Everything there is to say.
    pub text: String,
}

impl Told {
    /// A reason, and no more.
    pub fn because(message: impl Into<String>) -> Told {
        Told { message: message.into(), ..Told::default() }
    }
}

impl Suite {
    fn count(&self, is: impl Fn(&Outcome) -> bool) -> usize {
        self.cases.iter().filter(|it| is(&it.outcome)).count()
    }

    fn counts(&self) -> [usize; 4] {
        [
            self.cases.len(),
            self.count(|it| matches!(it, Outcome::Skipped(_))),
            self.count(|it| matches!(it, Outcome::Failed(_))),
            self.count(|it| matches!(it, Outcome::Erred(_))),
        ]
    }
}

/// Returns the document.
///
/// - `name`: what all of it is called; with it, the numbers of all suites are told. Reports of tests have neither, as in other programs.
pub fn document(name: Option<&str>, suites: &[Suite]) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
    if let Some(name) = name {
        let all = suites.iter().map(Suite::counts);
        let [tests, skipped, failures, errors] =
            all.fold([0; 4], |sum, own| std::array::from_fn(|it| sum[it] + own[it]));
        let _ = write!(
            out,
            " name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\"",
            escaped(name)
        );
    }
    out.push_str(">\n");
    for suite in suites {
        let [tests, skipped, failures, errors] = suite.counts();
        let _ = writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{tests}\" skipped=\"{skipped}\" failures=\"{failures}\" errors=\"{errors}\">",
            escaped(&suite.name),
        );
        suite.cases.iter().for_each(|it| push_case(&mut out, it));
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

/// Writes the document of a report.
///
/// - `(flag, what)`: the flag that names the file, and what the report is of.
///
/// # Errors
///
/// If the file cannot be written.
pub fn write(path: &Path, document: &str, (flag, what): (&str, &str)) -> Result<(), Diagnostic> {
    files::write_private(path, document.as_bytes()).map_err(|why| {
        Diagnostic::error(format!("Failed to write the report of {what}")).detail(format!(
            "The file that -{flag} names, {}, could not be written: {why}.",
            path.display()
        ))
    })
}

fn push_case(out: &mut String, case: &Case) {
    let (name, class) = (escaped(&case.name), escaped(&case.class));
    let _ = write!(out, "    <testcase name=\"{name}\" classname=\"{class}\"");
    if let Some((file, line)) = &case.place {
        let _ = write!(out, " file=\"{}\" line=\"{line}\"", escaped(file));
    }
    if let Some(seconds) = case.seconds {
        let _ = write!(out, " time=\"{seconds:.3}\"");
    }
    match &case.outcome {
        Outcome::Passed => return out.push_str("></testcase>\n"),
        Outcome::Said(text) => element(out, "system-out", &Told::default(), text),
        Outcome::Warned(text) => element(out, "system-err", &Told::default(), text),
        Outcome::Skipped(told) => element(out, "skipped", told, &told.text),
        Outcome::Failed(told) => element(out, "failure", told, &told.text),
        Outcome::Erred(told) => element(out, "error", told, &told.text),
    }
    out.push_str("\n    </testcase>\n");
}

fn element(out: &mut String, name: &str, told: &Told, text: &str) {
    let _ = write!(out, ">\n      <{name}");
    for (attribute, value) in [("type", &told.kind), ("message", &told.message)] {
        if !value.is_empty() {
            let _ = write!(out, " {attribute}=\"{}\"", escaped(value));
        }
    }
    let _ = write!(out, ">{}</{name}>", escaped(text));
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
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_stand_in_xml_does_not() {
        assert_eq!(escaped("a<&>\"\n\t\u{1}\u{ffff}'é"), "a&lt;&amp;&gt;&#34;&#xA;&#x9;'é");
    }
}
