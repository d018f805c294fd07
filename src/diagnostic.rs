//! A problem, as a user is told of it: severity, summary, detail, and where in which file.
//!
//! A room that finds a problem builds a [`Diagnostic`] by a named function and collects it in [`Diagnostics`];
//! nothing here prints.

use std::fmt;

use crate::address::Instance;
use crate::value::Deprecation;

mod met;
mod source;
mod span;

pub use self::source::{FileId, Position, Source, Sources};
pub use self::span::Span;

use self::met::Met;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Nothing may go on that rests on this.
    Error,
    /// The user should know.
    Warning,
}

/// Which sort of problem it is, where somebody treats that sort in a way of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// One like most.
    #[default]
    Plain,
    /// The value of `count` is no number.
    CountType,
    /// A module wants another version of the program.
    IncompatibleModule,
    /// A key leads to nothing, which `try` catches.
    InvalidIndex,
    /// Something is used that its author advises against.
    Deprecated(Box<Deprecation>),
    /// An assertion of a check block failed, or is not decided yet.
    CheckBlock,
    /// A flag names what is not there.
    Unmatched,
    /// An error message has in it what must not be shown: a `sensitive` or an `ephemeral` value.
    Withheld(&'static str),
    /// A method of encryption is none.
    Unencrypted,
    /// A file that is named is not there.
    NoSuchFile,
    /// A command has more words, or fewer, than it takes.
    Miscounted,
    /// A rule names a relation that is not there.
    UnknownRelation,
    /// A rule that judges has no name.
    UnnamedRule,
    /// Two rules have one name.
    DuplicateRule,
    /// A relation of a policy has the name of a public one.
    PublicName,
}

/// A condition that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCondition {
    /// Whose it is: `var.x`, `output.x`, `check.x`, an instance; with its module before it.
    pub object: String,
    /// How bad that is in itself, whatever the run makes of it.
    pub severity: Severity,
}

/// One problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// The kind of problem, a few words, no stop. Stable: people search for it.
    pub summary: String,
    /// This problem, in whole sentences, the way out last. May be empty.
    pub detail: String,
    /// The exact place: what is underlined.
    pub subject: Option<Span>,
    /// What to show around it, such as a block header. The subject's line when absent.
    pub context: Option<Span>,
    /// The object it is about (`null_resource.a[0]`), where the source place alone does not say.
    pub address: Option<String>,
    /// The values that the failing expression referred to: (`var.x`, `is "text"`). Never a sensitive value.
    pub values: Vec<(String, String)>,
    /// The function that failed: name as called, and its signature where known.
    pub function: Option<(String, Option<String>)>,
    /// The two sides of a failed `==` condition.
    pub difference: Option<Box<(crate::value::Value, crate::value::Value)>>,
    /// Which sort it is, for those who treat some in a way of their own.
    pub sort: Sort,
    /// The condition that failed, where it is one of the configuration's.
    pub condition: Option<Box<FailedCondition>>,
}

impl Diagnostic {
    /// Returns an error with this summary.
    pub fn error(summary: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, summary)
    }

    /// Returns a warning with this summary.
    pub fn warning(summary: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, summary)
    }

    fn new(severity: Severity, summary: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity,
            summary: summary.into(),
            detail: String::new(),
            subject: None,
            context: None,
            address: None,
            values: Vec::new(),
            function: None,
            difference: None,
            sort: Sort::Plain,
            condition: None,
        }
    }

    /// Sets the detail.
    pub fn detail(mut self, detail: impl Into<String>) -> Diagnostic {
        self.detail = detail.into();
        self
    }

    /// Sets the exact place.
    pub fn at(mut self, span: Span) -> Diagnostic {
        if span.file() != FileId(0) {
            self.subject = Some(span);
        }
        self
    }

    /// Sets the place to show around the subject.
    pub fn within(mut self, span: Span) -> Diagnostic {
        self.context = Some(span);
        self
    }

    /// Sets the object it is about.
    pub fn about(mut self, address: impl fmt::Display) -> Diagnostic {
        self.address = Some(address.to_string());
        self
    }

    /// Sets the sort.
    pub fn sort(mut self, sort: Sort) -> Diagnostic {
        self.sort = sort;
        self
    }

    /// Says that it is a condition of this object that failed.
    pub fn failing(mut self, object: impl Into<String>, severity: Severity) -> Diagnostic {
        self.condition = Some(Box::new(FailedCondition { object: object.into(), severity }));
        self
    }

    /// Returns whether this is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.summary)?;
        if self.detail.is_empty() { Ok(()) } else { write!(f, ": {}", self.detail) }
    }
}

/// Returns what the system says of an error, in the form in which OpenTofu repeats it.
pub fn system_words(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

/// Returns what is to be done where a part of the program is needed that was left out when it was built.
pub fn left_out(feature: &str) -> String {
    format!(
        "this program was built without the feature {feature:?}. Use one that has it: `cargo install --locked --path cli --features {feature}`, or without `--no-default-features`"
    )
}

/// Problems in the order in which they were found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Returns an empty list.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds all of `more`.
    pub fn extend(&mut self, more: impl IntoIterator<Item = Diagnostic>) {
        self.0.extend(more);
    }

    /// Returns whether any of them is an error.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(Diagnostic::is_error)
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over them.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter()
    }

    /// Returns them with each problem only where it stands first.
    pub fn once(self) -> Diagnostics {
        let mut met = Met::default();
        let is_first = self.0.iter().map(|it| met.add(it)).collect();
        self.only(is_first)
    }

    /// Returns those that are not among others.
    pub fn beyond(self, others: &Diagnostics) -> Diagnostics {
        let met = Met::of(&others.0);
        let is_new = self.0.iter().map(|it| !met.has(it)).collect();
        self.only(is_new)
    }

    /// Adds those that are not said here already, at their place or at none.
    pub fn join(&mut self, more: Diagnostics) {
        let mut met = Met::of(&self.0);
        let mut is_new = Vec::with_capacity(more.0.len());
        for problem in &more.0 {
            is_new.push(!met.says(problem));
            met.add(problem);
        }
        drop(met);
        self.extend(more.only(is_new));
    }

    fn only(mut self, which: Vec<bool>) -> Diagnostics {
        let mut which = which.into_iter();
        self.0.retain(|_| which.next() == Some(true));
        self
    }

    /// Returns what was found side by side in one order, whoever was first: by place, then by object. What was found of
    /// one object stays as it was found.
    pub fn settled(mut self, sources: &Sources) -> Diagnostics {
        self.0.sort_by_cached_key(|it| {
            let words = (it.summary.clone(), it.detail.clone());
            let object = it.address.as_ref().map(|it| (it.parse::<Instance>().ok(), it.clone()));
            (it.subject.map(|it| sources.rank(it)), object.ok_or(words))
        });
        self
    }

    /// Takes the value of a result, or keeps its problems and returns nothing.
    pub fn take<T>(&mut self, result: Result<T, impl Into<Diagnostics>>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(problems) => {
                self.extend(problems.into());
                None
            }
        }
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.iter().enumerate() {
            let gap = if index == 0 { "" } else { "\n" };
            write!(f, "{gap}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Diagnostics {
        Diagnostics(vec![diagnostic])
    }
}

impl From<Vec<Diagnostic>> for Diagnostics {
    fn from(problems: Vec<Diagnostic>) -> Diagnostics {
        Diagnostics(problems)
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_told_once_and_not_where_it_was_told_elsewhere() {
        let about = |object: &str| Diagnostic::error("of an object").about(object);
        let found = || Diagnostics(vec![about("a"), about("b"), about("a")]);
        assert_eq!(found().once().0, [about("a"), about("b")]);
        let others = Diagnostics(vec![about("c"), about("b")]);
        assert_eq!(found().beyond(&others).0, [about("a"), about("a")]);
        assert_eq!(found().beyond(&Diagnostics::new()), found());
    }

    #[test]
    fn what_is_said_at_its_place_or_without_one_is_not_said_again() {
        let file = Sources::default().add("main.tf", "a\nb\n".into());
        let at = |start| Diagnostic::error("words").at(Span::new(file, start, start + 1));
        let nowhere = || Diagnostic::error("words");
        let joined = |first: Diagnostic, more: Vec<Diagnostic>| {
            let mut all = Diagnostics::from(first);
            all.join(more.into());
            all.0
        };
        assert_eq!(joined(at(0), vec![at(0), at(2), nowhere()]), [at(0), at(2)]);
        assert_eq!(joined(nowhere(), vec![at(0), at(2)]), [nowhere()]);
        assert_eq!(joined(at(0), vec![Diagnostic::error("others"); 2]).len(), 2);
    }

    #[test]
    fn what_was_found_side_by_side_has_one_order_whoever_was_first() {
        let sources = Sources::default();
        let file = sources.add("main.tf", "a\nb\n".into());
        let place = |start| Span::new(file, start, start + 1);
        let of = |key: u32, words: &str| {
            Diagnostic::warning(words).about(format!("null_resource.a[{key}]")).at(place(2))
        };
        let orderly = [
            Diagnostic::warning("of nothing"),
            Diagnostic::warning("of the first line").at(place(0)),
            of(2, "told first"),
            of(2, "and then"),
            of(10, "of a later object"),
        ];
        // What is said of one object is said in turn: those two are not torn apart.
        for first in [0, 1, 2, 4] {
            let mut found = Diagnostics::new();
            found.extend(orderly[first..].iter().chain(&orderly[..first]).cloned());
            assert_eq!(found.settled(&sources).0, orderly);
        }
    }
}
