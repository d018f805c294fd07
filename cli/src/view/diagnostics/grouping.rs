//! Which problems are shown: which are left out, and which are put together.

use std::collections::{HashMap, HashSet};

use entail::diagnostic::{Diagnostic, Severity, Sort};

/// Which problems are put together, and whether warnings are shortened.
#[derive(Clone, Copy, Debug)]
pub struct Grouping {
    /// `-compact-warnings`
    pub compact_warnings: bool,
    /// `-consolidate-warnings`, on where absent.
    pub consolidate_warnings: bool,
    /// `-consolidate-errors`
    pub consolidate_errors: bool,
    /// `-deprecation`
    pub deprecated: Modules,
}

/// The modules whose authors' advice against variables and outputs is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Modules {
    /// Each of them.
    #[default]
    All,
    /// Those that are called by a path alone.
    Local,
    /// None of them.
    None,
}

impl Default for Grouping {
    fn default() -> Grouping {
        Grouping {
            compact_warnings: false,
            consolidate_warnings: true,
            consolidate_errors: false,
            deprecated: Modules::All,
        }
    }
}

/// Keeps one warning for each deprecated source, however often it is used, of the modules that are asked about.
pub(super) fn deprecated_once(mut problems: Vec<Diagnostic>, shown: Modules) -> Vec<Diagnostic> {
    let mut told = HashSet::new();
    problems.retain(|it| match &it.sort {
        Sort::Deprecated(source) => {
            let is_shown = match shown {
                Modules::All => true,
                Modules::Local => !source.is_remote,
                Modules::None => false,
            };
            is_shown && told.insert((source.source.clone(), source.advice.clone()))
        }
        _ => true,
    });
    problems
}

/// A problem and others like it.
pub(super) struct Group {
    /// The one that is shown.
    pub(super) first: Diagnostic,
    /// Those that are counted.
    pub(super) others: Vec<Diagnostic>,
}

impl Group {
    /// Returns the first with a remark about the others.
    pub(super) fn shown(&self) -> Diagnostic {
        let mut shown = self.first.clone();
        let kind = if shown.is_error() { "error" } else { "warning" };
        let remark = match self.others.len() {
            0 => return shown,
            1 => format!("(and one more similar {kind} elsewhere)"),
            more => format!("(and {more} more similar {kind}s elsewhere)"),
        };
        if !shown.detail.is_empty() {
            shown.detail.push_str("\n\n");
        }
        shown.detail.push_str(&remark);
        shown
    }
}

/// Puts problems of one summary together; only those with a place in a file, and never those of checks. What is deprecated is told
/// of one by one, but in the arguments of objects.
pub(super) fn consolidate(problems: Vec<Diagnostic>, grouping: Grouping) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut by_summary: HashMap<(Severity, String), usize> = HashMap::new();
    for problem in problems {
        let is_wanted = match problem.severity {
            Severity::Warning => grouping.consolidate_warnings,
            Severity::Error => grouping.consolidate_errors,
        };
        let stands_alone = match &problem.sort {
            Sort::CheckBlock => true,
            Sort::Deprecated(_) => problem.address.is_none(),
            _ => false,
        };
        if is_wanted && problem.subject.is_some() && !stands_alone {
            let key = (problem.severity, problem.summary.clone());
            if let Some(&index) = by_summary.get(&key) {
                groups[index].others.push(problem);
                continue;
            }
            by_summary.insert(key, groups.len());
        }
        groups.push(Group { first: problem, others: Vec::new() });
    }
    groups
}
