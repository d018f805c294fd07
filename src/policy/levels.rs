//! How bad a verdict is, how much a rule matters, and who may overrule it.

/// How bad a verdict is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// It must not be.
    Deny,
    /// It should not be.
    Warn,
    /// It is worth knowing.
    Note,
}

impl Level {
    /// Returns its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Level::Deny => "deny",
            Level::Warn => "warn",
            Level::Note => "note",
        }
    }

    /// Returns the one of this name.
    pub(super) fn of(name: &str) -> Option<Level> {
        [Level::Deny, Level::Warn, Level::Note].into_iter().find(|it| it.name() == name)
    }
}

/// How much a rule matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Severity {
    Low,
    #[default]
    Medium,
    High,
    Critical,
}

impl Severity {
    /// Returns its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Low => "low",
            Severity::Medium => "medium",
            Severity::High => "high",
            Severity::Critical => "critical",
        }
    }

    /// Returns the one of this name.
    pub(super) fn of(name: &str) -> Option<Severity> {
        [Severity::Low, Severity::Medium, Severity::High, Severity::Critical]
            .into_iter()
            .find(|it| it.name() == name)
    }
}

/// Who may overrule a denial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Enforce {
    /// Nobody.
    Always,
    /// Who says why.
    #[default]
    Overridable,
    /// A denial is a warning.
    Advisory,
}

impl Enforce {
    /// Returns its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Enforce::Always => "always",
            Enforce::Overridable => "overridable",
            Enforce::Advisory => "advisory",
        }
    }

    /// Returns the one of this name.
    pub(super) fn of(name: &str) -> Option<Enforce> {
        [Enforce::Always, Enforce::Overridable, Enforce::Advisory]
            .into_iter()
            .find(|it| it.name() == name)
    }
}
