//! What came of a run: as text, JSON, JUnit's XML and Markdown.

use entail::diagnostic::Diagnostics;
use entail_cli::view::junit::{self, Case, Outcome, Suite, Told};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

/// What came of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Something changes, or was changed.
    Changed,
    /// Nothing is to be done.
    Unchanged,
    /// It could not be planned or applied.
    Failed,
    /// It was not run, because of another.
    Skipped,
}

impl Status {
    /// Returns the word.
    pub fn name(self) -> &'static str {
        match self {
            Status::Changed => "changed",
            Status::Unchanged => "unchanged",
            Status::Failed => "failed",
            Status::Skipped => "skipped",
        }
    }
}

/// A stack that was run, or not.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ran {
    /// The stack.
    pub stack: String,
    /// What came of it.
    pub status: Status,
    /// Why it failed, or because of which stacks it was skipped.
    pub because: Option<String>,
    /// The stacks that came before it.
    pub after: Vec<String>,
    /// What the program said of it in the end.
    pub says: Option<String>,
}

impl Ran {
    /// Returns a stack with what came of it, and nothing more.
    pub fn of(stack: &str, status: Status) -> Ran {
        let (stack, after) = (stack.to_owned(), Vec::new());
        Ran { stack, status, because: None, after, says: None }
    }
}

/// What came of a run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The stacks, in the order in which they began.
    pub stacks: Vec<Ran>,
    /// What else is wrong.
    pub problems: Diagnostics,
}

impl Report {
    /// Returns whether something failed.
    pub fn has_failures(&self) -> bool {
        self.problems.has_errors() || self.count(Status::Failed) > 0
    }

    fn count(&self, status: Status) -> usize {
        self.stacks.iter().filter(|it| it.status == status).count()
    }

    fn summary(&self) -> String {
        let count = |it: Status| format!("{} {}", self.count(it), it.name());
        let all = [Status::Changed, Status::Unchanged, Status::Failed, Status::Skipped];
        all.map(count).join(", ")
    }

    /// Returns it as text: each stack on a line.
    pub fn text(&self) -> String {
        let width = self.stacks.iter().map(|it| it.stack.chars().count()).max().unwrap_or(0);
        let mut out = String::new();
        for it in &self.stacks {
            let gap = " ".repeat(width - it.stack.chars().count());
            let more = it.because.as_deref().or(it.says.as_deref()).unwrap_or_default();
            let line = format!("{}{gap}  {:9}  {more}", it.stack, it.status.name());
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out.push_str(&format!("{}.\n", self.summary()));
        out
    }

    /// Returns it as a document.
    pub fn to_json(&self) -> Json {
        let stacks = self.stacks.iter().map(|it| {
            json!({
                "stack": it.stack,
                "status": it.status.name(),
                "because": it.because,
                "after": it.after,
            })
        });
        json!({ "stacks": stacks.collect::<Vec<_>>() })
    }

    /// Returns it as JUnit's XML: a stack is a case.
    pub fn junit(&self) -> String {
        let case = |it: &Ran| {
            let because = || Told::because(it.because.as_deref().unwrap_or_default());
            let outcome = match it.status {
                Status::Failed => Outcome::Failed(because()),
                Status::Skipped => Outcome::Skipped(because()),
                status => Outcome::Said(status.name().to_owned()),
            };
            let name = it.stack.clone();
            Case { class: "fleet".to_owned(), name, outcome, ..Case::default() }
        };
        let cases = self.stacks.iter().map(case).collect();
        junit::document(None, &[Suite { name: "fleet".to_owned(), cases }])
    }

    /// Returns it as Markdown: a table.
    pub fn markdown(&self) -> String {
        let mut out = String::from("| Stack | Status | Because | After |\n|---|---|---|---|\n");
        for it in &self.stacks {
            out.push_str(&format!(
                "| {} | {} | {} | {} |\n",
                plain(&it.stack),
                it.status.name(),
                plain(it.because.as_deref().or(it.says.as_deref()).unwrap_or_default()),
                plain(&it.after.join(", "))
            ));
        }
        out.push_str(&format!("\n{}.\n", self.summary()));
        out
    }
}

/// Returns a text as a cell of a table in Markdown shows it: HTML in it is text.
fn plain(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    escaped.replace('|', "\\|").replace(['\r', '\n'], " ")
}

#[cfg(test)]
mod tests {
    use super::{Ran, Report, Status};

    #[test]
    fn names_and_reasons_put_no_html_into_a_page() {
        let mut ran = Ran::of("live/a<b>&'\"|c", Status::Failed);
        ran.because = Some("<script>alert(1)</script>\nmore".to_owned());
        ran.after = vec!["<i>x".to_owned()];
        let report = Report { stacks: vec![ran], ..Report::default() };
        let markdown = report.markdown();
        assert!(
            markdown.contains(
                "| live/a&lt;b&gt;&amp;'\"\\|c | failed | &lt;script&gt;alert(1)&lt;/script&gt; more | &lt;i&gt;x |"
            ),
            "{markdown}"
        );
        assert!(!markdown.contains(['<', '\r']), "{markdown}");
    }
}
