//! How a plan is read: what of it is shown, and for people at a terminal, what matters first and what is alike once.

use std::collections::BTreeMap;

use entail::address::target::Target;
use entail::diagnostic::Diagnostic;
use entail::event::Summary;
use entail::plan::{Action, Change};

use super::super::progress::summary;

/// How many instances are named that a change is the same for.
const NAMED: usize = 4;

/// How many modules are named at the head.
const MODULES: usize = 12;

/// How a plan is read.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Whether people read it at a terminal; otherwise the text is OpenTofu's, for programs that look for its lines.
    pub for_people: bool,
    /// Whether the plan is all that is shown, and may go through a pager.
    pub pages: bool,
    /// `-full`: each change in full, also where many are alike.
    pub full: bool,
    /// `-only`: what is done; empty for everything.
    pub only: Vec<Only>,
    /// `-module`: in these modules; empty for all.
    pub modules: Vec<Target>,
    /// `-type`: of these types; empty for all.
    pub types: Vec<String>,
}

/// What is done, as `-only` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    /// It is made.
    Create,
    /// It is changed in place.
    Update,
    /// It is made anew, in whichever order.
    Replace,
    /// It is destroyed.
    Delete,
    /// It is read during apply.
    Read,
    /// It leaves the state.
    Forget,
    /// It is imported, whatever else is done.
    Import,
    /// It has moved, whatever else is done.
    Move,
}

/// What `-only` may name.
pub const WORDS: [(&str, Only); 8] = [
    ("create", Only::Create),
    ("update", Only::Update),
    ("replace", Only::Replace),
    ("delete", Only::Delete),
    ("read", Only::Read),
    ("forget", Only::Forget),
    ("import", Only::Import),
    ("move", Only::Move),
];

impl Only {
    /// Reads one word.
    pub fn read(text: &str) -> Result<Only, Diagnostic> {
        let found = WORDS.iter().find(|it| it.0 == text).map(|it| it.1);
        found.ok_or_else(|| {
            let words: Vec<&str> = WORDS.iter().map(|it| it.0).collect();
            Diagnostic::error("Unknown action").detail(format!(
                "\"{text}\" is nothing that a plan does. The -only option takes, separated by commas: {}.",
                words.join(", ")
            ))
        })
    }

    fn is(self, change: &Change) -> bool {
        match self {
            Only::Create => change.action == Action::Create,
            Only::Update => change.action == Action::Update,
            Only::Replace => is_replacement(change.action),
            Only::Delete => change.action == Action::Delete,
            Only::Read => change.action == Action::Read,
            Only::Forget => matches!(change.action, Action::Forget | Action::Drop),
            Only::Import => change.details.importing.is_some(),
            Only::Move => change.details.previous_address.is_some(),
        }
    }
}

/// Returns what is done, in the word of `-only`: what is only imported or only moves, too.
pub fn word(change: &Change) -> &'static str {
    WORDS.iter().find(|it| it.1.is(change)).map_or("no-op", |it| it.0)
}

/// Returns what the texts of changes have in common where they differ in nothing but the instance: the block, and what becomes of the
/// attributes.
pub fn alike_by(change: &Change, text: &str) -> (String, String) {
    let body = text.lines().filter(|it| !it.starts_with("  #")).collect::<Vec<_>>().join("\n");
    (change.address.of().config().to_string(), body)
}

/// Splits the text of a change into what is said of it and what becomes of its attributes.
pub fn split(whole: &str, name: &str) -> (Vec<String>, String) {
    let (said, body): (Vec<&str>, Vec<&str>) = {
        let mut lines = whole.trim_start_matches('\n').lines().peekable();
        let mut said = Vec::new();
        while let Some(line) = lines.next_if(|it| it.starts_with("  #")) {
            said.push(line.trim_start_matches("  #").trim());
        }
        (said, lines.collect())
    };
    let lead = said.iter().map(|it| match it.strip_prefix(name) {
        Some(rest) => rest.trim().to_owned(),
        None => it.trim_start_matches('(').trim_end_matches(')').to_owned(),
    });
    (lead.collect(), body.join("\n"))
}

/// Returns whether nothing more is to be told of a change than what it has in common with others.
pub fn is_plain(change: &Change) -> bool {
    change.details.previous_address.is_none() && change.details.importing.is_none()
}

fn is_replacement(action: Action) -> bool {
    matches!(action, Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate)
}

impl Reading {
    /// Returns whether a change is shown.
    pub fn shows(&self, change: &Change) -> bool {
        let kind = &*change.address.resource.kind;
        (self.only.is_empty() || self.only.iter().any(|it| it.is(change)))
            && (self.types.is_empty() || self.types.iter().any(|it| it == kind))
            && (self.modules.is_empty()
                || self.modules.iter().any(|it| it.contains(&change.address)))
    }

    /// Returns whether everything is shown.
    pub fn is_whole(&self) -> bool {
        self.only.is_empty() && self.types.is_empty() && self.modules.is_empty()
    }

    /// Returns changes in the order in which they are shown: for people, what destroys comes first.
    pub fn ordered<'c>(&self, shown: &[&'c Change]) -> Vec<&'c Change> {
        let mut all: Vec<&Change> = shown.iter().copied().filter(|it| self.shows(it)).collect();
        if self.for_people {
            all.sort_by_key(|it| rank(it.action));
        }
        all
    }

    /// Returns the line that says what is not shown; nothing where everything is.
    pub fn hidden(&self, all: usize, shown: usize) -> Option<String> {
        let hidden = all.checked_sub(shown).filter(|it| *it > 0)?;
        let what = if hidden == 1 {
            "One more change is".to_owned()
        } else {
            format!("{hidden} more changes are")
        };
        Some(format!(
            "{what} planned and not shown: -only, -module or -type leave them out of this list.\n"
        ))
    }

    /// Returns the lines at the head: how much is done, and where.
    pub fn head(&self, whole: &Summary, changes: &[&Change]) -> String {
        let mut modules: BTreeMap<String, Summary> = BTreeMap::new();
        for change in changes {
            let own = modules.entry(change.address.module.to_string()).or_default();
            own.import += usize::from(change.details.importing.is_some());
            own.count(change.action);
        }
        let mut out = format!("\n{}\n", summary(whole));
        let replaced = changes.iter().filter(|it| is_replacement(it.action)).count();
        if replaced > 0 {
            out.push_str(&format!("  {replaced} of them replaced\n"));
        }
        if modules.len() > 1 {
            for (module, own) in modules.iter().take(MODULES) {
                let name = if module.is_empty() { "the root module" } else { module };
                let own = summary(own);
                out.push_str(&format!("  in {name}: {}\n", own.trim_start_matches("Plan: ")));
            }
            let more = modules.len().saturating_sub(MODULES);
            if more > 0 {
                out.push_str(&format!("  in {more} more modules\n"));
            }
        }
        out
    }

    /// Returns whether changes that differ in nothing but the instance are shown once.
    pub fn folds(&self) -> bool {
        self.for_people && !self.full
    }
}

/// Texts of changes, those together that differ in nothing but the instance.
#[derive(Debug, Default)]
pub struct Folded {
    /// Each text, and the other instances that it is for.
    all: Vec<(String, Vec<String>)>,
    places: BTreeMap<(String, String), usize>,
}

impl Folded {
    /// Adds a change. Its text begins with an empty line and lines of comment.
    pub fn add(&mut self, change: &Change, text: String) {
        let alike = alike_by(change, &text);
        match self.places.get(&alike).filter(|_| is_plain(change)) {
            Some(&at) => self.all[at].1.push(change.address.to_string()),
            None => {
                self.places.insert(alike, self.all.len());
                self.all.push((text, Vec::new()));
            }
        }
    }

    /// Returns the texts in order.
    pub fn texts(self) -> impl Iterator<Item = String> {
        self.all.into_iter().map(|(text, others)| text + &alike(&others))
    }
}

/// The line that names the instances for which a change is the same.
fn alike(others: &[String]) -> String {
    if others.is_empty() {
        return String::new();
    }
    let named: Vec<&str> = others.iter().take(NAMED).map(String::as_str).collect();
    let more = others.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let count = others.len() + 1;
    format!("  # {count} × the same change: also {}{more} (-full shows each)\n", named.join(", "))
}

/// What cannot be undone comes first.
fn rank(action: Action) -> u8 {
    match action {
        Action::Delete => 0,
        Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate => 1,
        Action::Forget | Action::Drop => 2,
        Action::Update => 3,
        Action::Create => 4,
        Action::Read => 5,
        Action::NoOp => 6,
    }
}
