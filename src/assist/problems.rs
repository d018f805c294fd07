//! What is wrong with texts that are being written: what `validate` and `policy` say, with places that an editor can show.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use regex::Regex;

use super::Place;
use super::document::{Document, Language, range};
use super::masked::Masked;
use super::workspace::Workspace;
use crate::config::masked;
use crate::diagnostic::{Diagnostic, Diagnostics, FileId, Severity, Sources, Span};
use crate::execute::Stop;
use crate::install::Settings;
use crate::policy::rules::Level;
use crate::policy::{Report, Verdict};
use crate::workflow::policy::check_where_any;
use crate::workflow::policy::lints::{self, Named};
use crate::workflow::validate::{Inspected, inspect};
use crate::workflow::{Host, Nobody};
use crate::world::World;
use crate::world::files::by_name;

/// How often the rest is looked at without what cannot be read: without the insides of blocks, then without the blocks.
const ROUNDS: usize = 3;

/// How many problems are told of one file: nobody reads more at once.
const MOST: usize = 500;

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Nothing may go on that rests on this.
    Error,
    /// The user should know.
    Warning,
    /// It may be of interest.
    Note,
}

/// One problem, where an editor shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// How bad it is.
    pub weight: Weight,
    /// What sort of problem it is, in words joined by hyphens; of a verdict the rule's name.
    pub code: String,
    /// Who says it: `syntax`, `validate`, `policy`.
    pub said_by: &'static str,
    /// What it is, and the way out.
    pub message: String,
    /// Where it is.
    pub place: Place,
    /// Other places that it is about.
    pub related: Vec<(Place, String)>,
    /// Where more is said.
    pub see: Option<String>,
    /// The object that it is about.
    pub address: Option<String>,
}

/// What is wrong in some files, by file, and the texts that its places are in.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// By file; files without problems that were looked at are there, too.
    pub files: BTreeMap<PathBuf, Vec<Problem>>,
    /// The texts as they were looked at.
    pub texts: BTreeMap<PathBuf, Arc<str>>,
}

/// What is to be looked at: a module with all that it calls, or a file that stands alone.
pub struct Task {
    /// The folder, or the file.
    pub root: PathBuf,
    /// The documents of all modules that are reached.
    documents: Vec<Arc<Document>>,
    /// A file of rules, or a folder of them.
    rules: Option<PathBuf>,
    world: World,
}

/// Returns what is to be looked at for a folder of configuration.
pub fn of_folder(workspace: &Workspace, root: &Path) -> Task {
    let mut world = workspace.world(root);
    let mut documents = Vec::new();
    for folder in workspace.reached(root) {
        documents.extend(workspace.module(&folder).documents.iter().cloned());
    }
    for document in &documents {
        if let Some(text) = &document.mended {
            world.files.lay(&document.path, text.as_str());
        }
    }
    Task { root: root.to_owned(), documents, rules: None, world }
}

/// Returns what is to be looked at for a file that belongs to no folder of configuration: rules, or what has no file yet.
pub fn of_file(workspace: &Workspace, path: &Path) -> Option<Task> {
    let document = workspace.document(path)?;
    let root = path.parent().unwrap_or(path).to_owned();
    if document.language == Language::Rules {
        let rules = if root.ends_with("policies") { root.clone() } else { path.to_owned() };
        let world = workspace.world(&root);
        let documents = vec![document];
        return Some(Task { root: rules.clone(), documents, rules: Some(rules), world });
    }
    if path.is_absolute() {
        return None;
    }
    // It is a configuration of its own, in memory.
    let root = PathBuf::from("/");
    let text = document.mended.as_deref().unwrap_or(&document.text);
    let mut world = workspace.world(&root);
    world.files = crate::world::Files::of_texts(&root, [("main.tf", text)]);
    let is_config = document.language == Language::Config;
    let root = path.to_owned();
    is_config.then(|| Task { root, documents: vec![document], rules: None, world })
}

impl Task {
    /// Finds everything that is wrong.
    pub fn run(&self) -> Found {
        let mut run = Run { task: self, found: Found::default() };
        for it in &self.documents {
            run.syntax(it);
        }
        match &self.rules {
            Some(path) => run.rules(path),
            None => {
                run.configuration();
                if run.has_policies() {
                    run.verdicts();
                }
            }
        }
        for problems in run.found.files.values_mut() {
            problems.sort_by_key(|it| (it.place.range.start, it.weight, it.message.clone()));
            problems.dedup();
        }
        run.found
    }
}

/// Returns what keeps a text from being read, and nothing else: for an answer at once.
pub fn of_text(document: &Document) -> Vec<Problem> {
    let problems = document.problems.iter();
    let place = |span: Option<Span>| document.place(span.unwrap_or_default());
    problems.map(|it| problem(it, "syntax", place(it.subject))).collect()
}

/// Nobody stops what looks at texts.
static STOP: LazyLock<Stop> = LazyLock::new(Stop::default);

fn host<'a>(world: &'a Arc<World>, sources: &'a Sources, stop: &'a Stop) -> Host<'a> {
    Host { world, sources, tell: &Nobody, ask: &Nobody, stop }
}

struct Run<'a> {
    task: &'a Task,
    found: Found,
}

impl Run<'_> {
    fn syntax(&mut self, document: &Document) {
        self.found.texts.insert(document.path.clone(), document.text.clone());
        self.found.files.insert(document.path.clone(), of_text(document));
    }

    /// What `validate` says of the folder. Where blocks cannot be read, the others are looked at without them.
    fn configuration(&mut self) {
        let has_tests = self.task.documents.iter().any(|it| it.language == Language::Test);
        let tests = has_tests.then(|| Path::new("tests"));
        let mut masked = Masked::default();
        let mut world = self.task.world.clone();
        for round in 0..ROUNDS {
            let (here, sources) = (Arc::new(world.clone()), Sources::default());
            let host = host(&here, &sources, &STOP);
            let inspected = inspect(&host, tests);
            let Inspected { problems, is_whole } =
                inspected.unwrap_or_else(|problems| Inspected { problems, is_whole: true });
            let mut fresh = Diagnostics::new();
            for it in problems.iter() {
                let place = it.subject.and_then(|it| self.place(it, &sources));
                let comes_of_masking = round > 0
                    && place.as_ref().is_none_or(|place| masked.holds(place) || masked.names(it));
                if !comes_of_masking {
                    fresh.push(it.clone());
                }
                if let (true, Some(place)) = (it.is_error(), place) {
                    masked.add(&self.task.documents, &place, round);
                }
            }
            self.told(&fresh, &sources, "validate");
            if is_whole || !masked.lay(&mut world) {
                break;
            }
        }
    }

    /// Whether there may be policies: of a folder, or of the CLI configuration.
    fn has_policies(&self) -> bool {
        let has_rules = |it: &Arc<Document>| {
            let folder = it.path.parent();
            it.language == Language::Rules
                || folder.is_some_and(|it| self.task.world.files.is_folder(&it.join("policies")))
        };
        let in_settings = !Settings::of(&self.task.world).policies.is_empty();
        in_settings || self.task.documents.iter().any(has_rules)
    }

    /// What policies say of the folder, where there are any.
    fn verdicts(&mut self) {
        let world = Arc::new(self.task.world.clone());
        let sources = Sources::default();
        let host = host(&world, &sources, &STOP);
        match check_where_any(&host) {
            Ok(Some(checked)) => {
                let is_rule = |it: &&Diagnostic| self.is_of_rules(it, &sources);
                let faults: Vec<Diagnostic> =
                    checked.problems.iter().filter(is_rule).cloned().collect();
                self.told(&faults.into(), &sources, "policy");
                self.judged(&checked.report);
            }
            Ok(None) => {}
            // What is wrong with the configuration is told already.
            Err(problems) => {
                let is_rule = |it: &&Diagnostic| self.is_of_rules(it, &sources);
                let faults: Vec<Diagnostic> = problems.iter().filter(is_rule).cloned().collect();
                self.told(&faults.into(), &sources, "policy");
            }
        }
    }

    fn is_of_rules(&self, it: &Diagnostic, sources: &Sources) -> bool {
        let source = it.subject.and_then(|it| sources.get(it.file()));
        source.is_some_and(|it| it.name.ends_with(".rules"))
    }

    fn judged(&mut self, report: &Report) {
        let counting =
            report.verdicts.iter().filter(|it| it.waived.is_none() && it.overridden.is_none());
        for verdict in counting {
            let Some((file, line, column)) = &verdict.place else { continue };
            let Some(place) = self.line(file, *line, *column) else { continue };
            let rule = self.line(&verdict.rule.file, verdict.rule.line, 1);
            let related = rule.map(|it| (it, format!("The rule {}.", verdict.name)));
            let problem = Problem {
                weight: weight_of(verdict),
                code: verdict.name.clone(),
                said_by: "policy",
                message: words(verdict),
                place: place.clone(),
                related: related.into_iter().collect(),
                see: verdict.rule.see.first().cloned(),
                address: Some(verdict.address.clone()).filter(|it| !it.is_empty()),
            };
            self.found.files.entry(place.path).or_default().push(problem);
        }
    }

    /// The rest of a line of a file, from a column on.
    fn line(&mut self, file: &str, line: usize, column: usize) -> Option<Place> {
        let path = by_name(&self.task.world.root.join(file));
        let text = self.text(&path)?;
        let start: usize =
            text.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
        let whole = text[start..].lines().next().unwrap_or_default();
        let skipped: usize = whole.chars().take(column.saturating_sub(1)).map(char::len_utf8).sum();
        let end = start + whole.trim_end().trim_end_matches('{').trim_end().len();
        Some(Place { path, range: start + skipped..end.max(start + skipped) })
    }

    fn text(&mut self, path: &Path) -> Option<Arc<str>> {
        if let Some(known) = self.found.texts.get(path) {
            return Some(known.clone());
        }
        let text: Arc<str> = self.task.world.files.read_text(path).ok()?.into();
        self.found.texts.insert(path.to_owned(), text.clone());
        Some(text)
    }

    /// What is wrong with rules, and what is most likely not meant.
    fn rules(&mut self, path: &Path) {
        let world = Arc::new(self.task.world.clone());
        let sources = Sources::default();
        let host = host(&world, &sources, &STOP);
        let named = Named { words: vec![path.to_string_lossy().into_owned()], ..Named::default() };
        let Ok((findings, _)) = lints::find(&host, &named) else { return };
        for it in findings {
            let Some(place) = self.place(it.span, &sources) else { continue };
            let is_fault = matches!(it.lint, "fault" | "misspelt-name" | "no-sentence");
            let weight = if is_fault { Weight::Error } else { Weight::Warning };
            let problem = Problem {
                weight,
                code: it.lint.to_owned(),
                said_by: "policy",
                message: it.says,
                place: place.clone(),
                related: Vec::new(),
                see: None,
                address: None,
            };
            let file = self.found.files.entry(place.path).or_default();
            // What cannot be read was told by reading it.
            if !file.iter().any(|it| it.said_by == "syntax" && it.place.range == place.range) {
                file.push(problem);
            }
        }
    }

    fn told(&mut self, problems: &Diagnostics, sources: &Sources, said_by: &'static str) {
        for it in problems.iter() {
            let place = match it.subject {
                Some(span) => self.place(span, sources),
                None => self.named(&it.detail).or_else(|| self.first()),
            };
            let Some(place) = place else { continue };
            let count = self.found.files.get(&place.path).map_or(0, Vec::len);
            if count >= MOST || self.is_mended(&place) {
                continue;
            }
            let mut found = problem(it, said_by, place.clone());
            found.related = self.related(&found.message);
            self.found.files.entry(place.path).or_default().push(found);
        }
    }

    /// Whether something stands in a block of which a part could not be read: what is said of it may come of that alone.
    fn is_mended(&self, place: &Place) -> bool {
        let document = self.task.documents.iter().find(|it| it.path == place.path);
        let Some(document) = document.filter(|it| it.mended.is_some()) else { return false };
        let broken =
            document.problems.iter().filter_map(|it| it.subject).map(|it| it.start() as usize);
        let block =
            document.blocks_at(place.range.start).first().map(|it| super::document::whole(it));
        block.is_some_and(|block| broken.into_iter().any(|it| block.contains(&it)))
    }

    fn place(&mut self, span: Span, sources: &Sources) -> Option<Place> {
        if span.file() == FileId(0) {
            return self.first();
        }
        let source = sources.get(span.file())?;
        let mut path = by_name(&self.task.world.root.join(&source.name));
        // What has no file yet was looked at under another name.
        if let [only] = &*self.task.documents
            && !only.path.is_absolute()
        {
            path = only.path.clone();
        }
        if !self.found.texts.contains_key(&path) {
            self.found.texts.insert(path.clone(), source.text().clone());
        }
        Some(Place { path, range: range(span) })
    }

    /// The file of values that a message names, and the value that it is about.
    fn named(&self, message: &str) -> Option<Place> {
        let is_named = |it: &str| message.contains(&format!("{it:?}"));
        let values = self.task.documents.iter().filter(|it| {
            matches!(it.language, Language::Values | Language::JsonValues)
                && it.path.file_name().and_then(|it| it.to_str()).is_some_and(is_named)
        });
        let mut given = values.flat_map(|it| it.index.uses.iter().map(move |used| (it, used)));
        let (document, found) = given.find(|it| is_named(it.1.entity.name()))?;
        Some(Place { path: document.path.clone(), range: found.name.clone() })
    }

    /// Where what has no place is shown: at the top of the root module.
    fn first(&self) -> Option<Place> {
        let of_root = |it: &&Arc<Document>| {
            it.language.is_config() && it.path.parent() == Some(&self.task.root)
        };
        let mut files = self.task.documents.iter().filter(of_root);
        let first = files.clone().find(|it| it.path.ends_with("main.tf")).or_else(|| files.next());
        let first = first.or_else(|| self.task.documents.first())?;
        Some(Place { path: first.path.clone(), range: 0..0 })
    }

    /// The places that a message names: `main.tf:3,1-20`.
    fn related(&mut self, message: &str) -> Vec<(Place, String)> {
        static NAMED: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"([^\s:(]+):(\d+),(\d+)-").expect("a valid expression"));
        let mut found = Vec::new();
        for named in NAMED.captures_iter(message) {
            let number = |at: usize| named[at].parse().unwrap_or(1);
            found.extend(self.line(&named[1], number(2), number(3)));
        }
        found.into_iter().map(|it| (it, "It is about this, too.".to_owned())).collect()
    }
}

fn weight_of(verdict: &Verdict) -> Weight {
    match verdict.level {
        _ if !verdict.is_certain => Weight::Note,
        Level::Deny => Weight::Error,
        Level::Warn => Weight::Warning,
        Level::Note => Weight::Note,
    }
}

fn words(verdict: &Verdict) -> String {
    let possible = if verdict.is_certain { "" } else { "Possibly: " };
    let help = verdict.rule.help.as_ref().map_or(String::new(), |it| format!("\n{it}"));
    format!("{possible}{}{help}", verdict.message)
}

fn problem(it: &Diagnostic, said_by: &'static str, place: Place) -> Problem {
    let weight = match it.severity {
        Severity::Error => Weight::Error,
        Severity::Warning => Weight::Warning,
    };
    let mut message = it.summary.clone();
    if !it.detail.is_empty() {
        message = format!("{message}: {}", masked(&it.detail));
    }
    for (name, statement) in &it.values {
        message.push_str(&format!("\n{name} {statement}"));
    }
    let (code, address) = (code(&it.summary), it.address.clone());
    Problem { weight, code, said_by, message, place, related: Vec::new(), see: None, address }
}

/// The summary of a problem as a code: `Unsupported argument` is `unsupported-argument`.
fn code(summary: &str) -> String {
    let words = summary.split(|it: char| !it.is_ascii_alphanumeric()).filter(|it| !it.is_empty());
    words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}
