//! `why` and `whatif`: questions about decisions, answered from facts.

use std::collections::{BTreeMap, BTreeSet};

use entail_rules::atom::word_text;
use entail_rules::{Atom, Facts, Node, Tables};
use serde_json::{Value as Json, json};

use super::explain_words::Words;
use super::saved::Loaded;
use super::session::Session;
use crate::address::Instance;
use crate::diagnostic::{Diagnostic, Sources, Span};
use crate::explain::{Known, Leaves, render, to_json};
use crate::lower::Structure;
use crate::lower::structure::NodeKind;
use crate::planner::{Finished, Structured};

/// What questions are answered from: a plan just made, or a saved one.
pub struct Ground {
    facts: Facts,
    structure: Structure,
    places: Places,
    flags: Vec<String>,
    words: Words,
    blocks: Vec<(String, String)>,
    forced: BTreeMap<Node, String>,
}

/// A relation: its name, and its rows in words.
pub type Relation = (String, Vec<Vec<String>>);

/// Where reads and declarations stand: as spans where the sources are at hand, else as a plan file says.
enum Places {
    Read { reads: BTreeMap<(Node, Node), Span>, declared: BTreeMap<Node, Span>, sources: Sources },
    Saved { reads: BTreeMap<(Node, Node), String>, declared: BTreeMap<Node, String> },
}

impl Places {
    fn of_read(&self, pair: (Node, Node)) -> Option<String> {
        match self {
            Places::Read { reads, sources, .. } => {
                reads.get(&pair).filter(|it| it.file.0 != 0).map(|it| sources.place(*it))
            }
            Places::Saved { reads, .. } => reads.get(&pair).cloned(),
        }
    }

    fn of_declared(&self, node: Node) -> Option<String> {
        match self {
            Places::Read { declared, sources, .. } => {
                declared.get(&node).map(|it| sources.place(*it))
            }
            Places::Saved { declared, .. } => declared.get(&node).cloned(),
        }
    }
}

impl Ground {
    /// Returns the ground of a plan just made.
    pub fn of_planned(session: &Session, finished: Finished) -> Ground {
        let declared = declared(session, &finished.structure);
        Ground {
            places: Places::Read {
                reads: finished.places,
                declared,
                sources: session.sources.clone(),
            },
            blocks: blocks(session),
            forced: forced(&finished.structure, &finished.plan),
            facts: finished.facts,
            structure: finished.structure,
            flags: finished.flags,
            words: Words::of(&finished.serving, &session.sources),
        }
    }

    /// Returns the ground of a saved plan.
    pub fn of_saved(loaded: Loaded) -> Ground {
        let forced = forced(&loaded.structure, &loaded.plan);
        let places = Places::Saved { reads: loaded.places, declared: loaded.declared };
        Ground {
            facts: loaded.facts,
            structure: loaded.structure,
            places,
            flags: loaded.flags,
            words: loaded.words,
            blocks: loaded.blocks,
            forced,
        }
    }

    /// Returns a relation's rows in words, or those of every relation that has any.
    ///
    /// # Errors
    ///
    /// If there is no relation of that name.
    pub fn relations(&self, name: Option<&str>) -> Result<Vec<Relation>, Diagnostic> {
        let conclusions = crate::datalog::shipped::conclude(&self.facts);
        let mut found: Vec<Relation> = Vec::new();
        let mut names = BTreeSet::new();
        let mut tables: Vec<&dyn Tables> = vec![&self.facts];
        let concluded = conclusions.tables();
        tables.extend(concluded);
        for table in tables {
            table.for_each_relation(&mut |relation, rows| {
                names.insert(relation.name);
                let wanted = name.map_or(rows.count() > 0, |it| it == relation.name);
                if !wanted || found.iter().any(|(known, _)| known == relation.name) {
                    return;
                }
                let mut all = Vec::with_capacity(rows.count());
                let mut row = Vec::new();
                for index in 0..rows.count() {
                    rows.write(index, &mut row);
                    all.push(
                        row.iter()
                            .zip(relation.columns)
                            .map(|(word, kind)| self.word(kind, *word))
                            .collect(),
                    );
                }
                found.push((relation.name.to_owned(), all));
            });
        }
        match name {
            Some(name) if found.is_empty() => {
                let near = names.iter().min_by_key(|it| strsim::levenshtein(it, name));
                let hint = near.map_or_else(String::new, |it| format!(" Did you mean \"{it}\"?"));
                Err(Diagnostic::error("No such relation")
                    .detail(format!("There is no relation called \"{name}\".{hint}")))
            }
            _ => Ok(found),
        }
    }

    fn word(&self, kind: &str, word: u64) -> String {
        if kind == Node::KIND {
            return Node::from_word(word).map_or(word.to_string(), |it| self.name(it));
        }
        if let Some(name) = self.words.name(kind, word) {
            return name.clone();
        }
        word_text(kind, word).map_or_else(|| self.id(kind, word), str::to_owned)
    }

    /// Where a provider is asked for: where the read of its instance stands.
    fn place_of_key(&self, node: Node) -> Option<String> {
        let reads = &self.facts.reads;
        let start = reads.partition_point(|it| it.0 < node);
        let mut own = reads[start..].iter().take_while(|it| it.0 == node);
        own.find(|it| self.structure.provider(it.1).is_some())
            .and_then(|it| self.places.of_read(*it))
            .or_else(|| self.places.of_declared(node))
    }

    fn find(&self, address: &str) -> Option<Node> {
        if let Some(name) = address.strip_prefix("output.") {
            return self.structure.modules.first()?.outputs.get(name).copied();
        }
        if let Ok(instance) = address.parse::<Instance>()
            && let Some(id) = self.structure.resource_ids.get(&instance.of())
            && let Some(node) = self.structure.resource(*id).instance(&instance.key)
        {
            return Some(node);
        }
        let all = self.structure.nodes.iter().enumerate().map(|(index, _)| Node(index as u32));
        let wanted = all.filter(|it| {
            matches!(
                self.structure.kind(*it),
                NodeKind::Provider(_) | NodeKind::Deposed(..) | NodeKind::Pending(_)
            )
        });
        wanted.into_iter().find(|it| {
            self.structure.name(*it) == address
                || self.structure.name(*it).starts_with(&format!("{address} ("))
        })
    }
}

/// The name and place of each block.
pub(super) fn blocks(session: &Session) -> Vec<(String, String)> {
    (0..session.graph.blocks.len())
        .map(|it| {
            let place = session
                .graph
                .resource(it)
                .and_then(|it| session.config.resource(&it))
                .map(|it| session.sources.place(it.declared));
            (
                session.graph.name(it).trim_end_matches(" (expand)").to_owned(),
                place.unwrap_or_default(),
            )
        })
        .collect()
}

/// The attributes whose change a provider cannot make in place, by the object it would be made to.
fn forced(structure: &Structure, plan: &crate::plan::Plan) -> BTreeMap<Node, String> {
    let replaced =
        plan.changes.iter().filter(|it| !it.replace_paths.is_empty() && it.deposed.is_none());
    replaced
        .filter_map(|it| {
            let node = structure
                .resource(*structure.resource_ids.get(&it.address.of())?)
                .instance(&it.address.key)?;
            let paths: Vec<String> = it
                .replace_paths
                .iter()
                .map(|it| crate::value::ShowPath(it).to_string().trim_start_matches('.').to_owned())
                .collect();
            Some((node, paths.join(", ")))
        })
        .collect()
}

/// Where each declared node stands.
pub(super) fn declared(session: &Session, structure: &Structure) -> BTreeMap<Node, Span> {
    let mut places = BTreeMap::new();
    for (index, kind) in structure.nodes.iter().enumerate() {
        let span = match kind {
            NodeKind::Object(resource, _)
            | NodeKind::Pending(resource)
            | NodeKind::Collection(resource) => {
                let block =
                    session.config.resource(&structure.resource(*resource).address.config());
                block.map(|it| it.declared)
            }
            NodeKind::Repetition(resource) => {
                let block =
                    session.config.resource(&structure.resource(*resource).address.config());
                block.and_then(|it| it.repetition.expression()).map(|it| it.span)
            }
            NodeKind::Output(module, name) => {
                structure.module(*module).config.outputs.get(name).map(|it| it.declared)
            }
            NodeKind::Local(module, name) => {
                structure.module(*module).config.locals.get(name).map(|it| it.name.span)
            }
            NodeKind::Variable(module, name) => {
                structure.module(*module).config.variables.get(name).map(|it| it.declared)
            }
            _ => None,
        };
        if let Some(span) = span {
            places.insert(Node(index as u32), span);
        }
    }
    places
}

impl Leaves for Ground {
    fn name(&self, node: Node) -> String {
        self.structure.name(node)
    }

    fn origin(&self, relation: &str, row: &[u64]) -> Option<String> {
        let node = |at: usize| row.get(at).and_then(|it| Node::from_word(*it));
        let flag = |at: usize| row.get(at).and_then(|it| self.flags.get(*it as usize)).cloned();
        match relation {
            "reads" | "triggers" | "triggers_by_part" | "data_waits" => {
                let pair = (node(0)?, node(1)?);
                self.places.of_read(pair).or_else(|| self.places.of_declared(pair.0))
            }
            "provider_block" | "provider_node" | "repeats_provider" | "each_key" | "passes"
            | "module_parent" => self.words.place(relation, row).cloned(),
            "provider_key" => self.place_of_key(node(0)?),
            "hit" => flag(2),
            "replace_hit" => flag(1),
            "in_state" | "needs" | "deposed_of" | "state_cbd" | "state_keeps_object"
            | "tainted" | "key_kind" | "moved" | "recorded_provider" => Some("state".into()),
            "must_replace" => Some(match node(0).and_then(|it| self.forced.get(&it)) {
                Some(paths) => format!("provider: {paths}"),
                None => "provider".into(),
            }),
            "block_reads" | "value_block" | "knot" | "repeats" | "asks_cbd" | "in_module"
            | "asks_provider" => row
                .first()
                .and_then(|it| self.blocks.get(*it as usize))
                .map(|it| it.1.clone())
                .filter(|it| !it.is_empty()),
            "block_gone" | "module_gone" => Some("state".into()),
            "prior" | "differs" | "marks_differ" | "trigger_differs" | "failed" => {
                Some("provider".into())
            }
            "config_unknown" => node(0).and_then(|it| self.places.of_declared(it)),
            "mode" | "filtered" | "targeting" | "excluding" | "outputs_need_all" => {
                Some("request".into())
            }
            _ => node(0).and_then(|it| self.places.of_declared(it)),
        }
    }

    fn id(&self, kind: &str, word: u64) -> String {
        match kind {
            "Flag" => self.flags.get(word as usize).cloned().unwrap_or_default(),
            "Block" => self.blocks.get(word as usize).map(|it| it.0.clone()).unwrap_or_default(),
            _ if self.words.name(kind, word).is_some() => {
                self.words.name(kind, word).cloned().unwrap_or_default()
            }
            _ => format!("{} {word}", kind.to_lowercase()),
        }
    }
}

/// What is to be explained: conclusions about one node, or one that is missed.
pub struct Question {
    node: Node,
    missed: Option<String>,
    /// Whether the choice of provider is asked for.
    provider: bool,
}

/// The relations that say what was decided of a node, in the order in which people ask.
const DECISIONS: &[&str] = &[
    "excluded",
    "untargeted",
    "action",
    "reads_now",
    "reuses",
    "opens",
    "opens_later",
    "opened",
    "recalculated",
    "keeps_value",
    "selected",
];

impl Question {
    /// Reads a question: an address, and perhaps the action that is missed.
    ///
    /// # Errors
    ///
    /// If nothing has that address.
    pub fn read(
        address: &str,
        missed: Option<&str>,
        ground: &Ground,
    ) -> Result<Question, Diagnostic> {
        let Some(node) = ground.find(address) else { return Err(unknown(address, ground)) };
        Ok(Question { node, missed: missed.map(str::to_owned), provider: false })
    }

    /// Asks which provider instance serves it, instead of what is to be done.
    pub fn about_provider(self) -> Question {
        Question { provider: true, ..self }
    }

    /// Answers in text.
    ///
    /// # Errors
    ///
    /// If the missed action is not one.
    pub fn answer(&self, ground: &Ground, depth: Option<usize>) -> Result<String, Diagnostic> {
        if let Some(missed) = &self.missed {
            return self.missing(ground, missed);
        }
        let known = Known::about(&ground.facts, self.relations(ground));
        let mut text = String::new();
        for (relation, row) in self.rows(ground, &known) {
            if let Some(proof) = known.why(relation, &row) {
                if !text.is_empty() {
                    text.push('\n');
                }
                let rendered = render(&proof, ground);
                text.push_str(&shortened(&rendered, depth));
            }
        }
        if text.is_empty() {
            text = self.nothing(ground);
        }
        Ok(text)
    }

    /// What is decided of the node: one row for objects and outputs, or everyone a provider serves.
    fn rows(&self, ground: &Ground, known: &Known) -> Vec<(&'static str, Vec<u64>)> {
        let of = |relation: &'static str, column: usize| {
            let rows = known.rows(relation).into_iter();
            rows.filter(move |row| row.get(column) == Some(&self.node.word()))
                .map(move |row| (relation, row))
                .collect::<Vec<_>>()
        };
        if matches!(ground.structure.kind(self.node), NodeKind::Provider(_)) {
            return of("serves", 0);
        }
        if self.provider {
            return [of("serves", 1), of("lacks", 0)].concat();
        }
        for relation in DECISIONS {
            let found = of(relation, 0);
            if !found.is_empty() {
                return found.into_iter().take(1).collect();
            }
        }
        Vec::new()
    }

    /// The relations that answer it.
    fn relations(&self, ground: &Ground) -> &'static [&'static str] {
        match self.provider || ground.structure.provider(self.node).is_some() {
            true => &["serves", "lacks"],
            false => DECISIONS,
        }
    }

    fn nothing(&self, ground: &Ground) -> String {
        format!(
            "{} {}: it takes no part in this plan.\n",
            if self.provider { "No provider is chosen for" } else { "Nothing is decided about" },
            ground.name(self.node)
        )
    }

    fn missing(&self, ground: &Ground, missed: &str) -> Result<String, Diagnostic> {
        let (relation, rows) = self.goals(missed)?;
        let known = Known::about(&ground.facts, &[relation]);
        let mut text = String::new();
        for row in rows {
            if let Some(proof) = known.why(relation, &row) {
                return Ok(format!("It is so:\n{}", render(&proof, ground)));
            }
            if let Some(why) = known.why_not(relation, &row) {
                text.push_str(&why.render(ground));
            }
        }
        Ok(text)
    }

    /// The rows that would say what is missed.
    fn goals(&self, missed: &str) -> Result<(&'static str, Vec<Vec<u64>>), Diagnostic> {
        use entail_rules::{Action, Reason};
        let node = self.node.word();
        let action = |action: Action, reasons: &[Reason]| {
            Ok((
                "action",
                reasons.iter().map(|reason| vec![node, action.word(), reason.word()]).collect(),
            ))
        };
        match missed {
            "select" | "selected" => Ok(("selected", vec![vec![node]])),
            "exclude" | "excluded" => Ok(("excluded", vec![vec![node]])),
            "recalculate" | "recalculated" => Ok(("recalculated", vec![vec![node]])),
            "create" => action(Action::Create, &[Reason::Plain]),
            "update" => action(Action::Update, &[Reason::Plain]),
            "no-op" => action(Action::NoOp, &[Reason::Plain]),
            "read" => action(Action::Read, &[Reason::ReadBecauseConfigUnknown, Reason::ReadBecauseDependencyPending]),
            "replace" => action(Action::DeleteThenCreate, &[Reason::ReplaceBecauseCannotUpdate]),
            "delete" => action(Action::Delete, &[Reason::Plain, Reason::DeleteBecauseNoResourceConfig]),
            "forget" => action(Action::Forget, &[Reason::DeleteBecauseNoResourceConfig]),
            other => Err(Diagnostic::error("Unknown action").detail(format!(
                "\"{other}\" is nothing that could be missed. Ask for one of: create, read, update, replace, delete, forget, no-op, select, exclude, recalculate."
            ))),
        }
    }

    /// Answers as JSON.
    ///
    /// # Errors
    ///
    /// If the missed action is not one.
    pub fn answer_json(&self, ground: &Ground) -> Result<Json, Diagnostic> {
        let address = ground.name(self.node);
        if let Some(missed) = &self.missed {
            let (relation, rows) = self.goals(missed)?;
            let known = Known::about(&ground.facts, &[relation]);
            let answers: Vec<Json> = rows
                .iter()
                .filter_map(|row| known.why_not(relation, row))
                .map(|it| it.to_json(ground))
                .collect();
            return Ok(json!({"address": address, "missed": missed, "answers": answers}));
        }
        let known = Known::about(&ground.facts, self.relations(ground));
        let proofs: Vec<Json> = self
            .rows(ground, &known)
            .into_iter()
            .filter_map(|(relation, row)| known.why(relation, &row))
            .map(|it| to_json(&it, ground))
            .collect();
        Ok(json!({"address": address, "proofs": proofs}))
    }
}

/// Keeps the first lines of a proof that are at most `depth` steps deep.
fn shortened(text: &str, depth: Option<usize>) -> String {
    let Some(depth) = depth else { return text.to_owned() };
    let kept: Vec<&str> =
        text.lines().filter(|it| (it.len() - it.trim_start().len()) / 2 <= depth).collect();
    let mut kept = kept.join("\n");
    kept.push('\n');
    kept
}

fn unknown(address: &str, ground: &Ground) -> Diagnostic {
    let names = (0..ground.structure.nodes.len() as u32).map(Node).filter(|it| {
        matches!(ground.structure.kind(*it), NodeKind::Object(..) | NodeKind::Pending(_))
            || matches!(ground.structure.kind(*it), NodeKind::Output(module, _) if *module == Structure::ROOT)
    });
    let near = names
        .map(|it| ground.name(it))
        .filter(|it| it.len().abs_diff(address.len()) <= 6)
        .min_by_key(|it| strsim::levenshtein(it, address));
    let hint = near.map_or_else(String::new, |it| format!(" Did you mean {it}?"));
    Diagnostic::error("Nothing has that address")
        .detail(format!("{address} is neither declared nor in the state.{hint}"))
}

/// The three outcomes of selection, in address order.
#[derive(Debug, Default)]
pub struct Parts {
    /// What takes part.
    pub selected: Vec<String>,
    /// What is left out, and through whom: nothing for what the request itself names.
    pub excluded: Vec<(String, Option<String>)>,
    /// What no target wants.
    pub untargeted: Vec<String>,
}

/// Lists what takes part in a run, and what does not.
pub fn parts(known: &Structured) -> Parts {
    let structure = &known.lowered.structure;
    let mut through: BTreeMap<Node, Node> = BTreeMap::new();
    for (node, cause) in &known.selection.excluded_by {
        let entry = through.entry(*node).or_insert(*cause);
        // What the request names itself is its own cause.
        if cause == node {
            *entry = *cause;
        }
    }
    let sorted = |rows: &[(Node,)]| {
        let mut nodes: Vec<Node> = rows.iter().map(|it| it.0).collect();
        nodes.sort_by_key(|it| structure.instance(*it));
        nodes
    };
    Parts {
        selected: sorted(&known.selection.selected)
            .into_iter()
            .map(|it| structure.name(it))
            .collect(),
        excluded: sorted(&known.selection.excluded)
            .into_iter()
            .map(|it| {
                (
                    structure.name(it),
                    through
                        .get(&it)
                        .filter(|cause| **cause != it)
                        .map(|cause| structure.name(*cause)),
                )
            })
            .collect(),
        untargeted: sorted(&known.selection.untargeted)
            .into_iter()
            .map(|it| structure.name(it))
            .collect(),
    }
}

impl Parts {
    /// Returns the lists as people read them.
    pub fn text(&self) -> String {
        let mut text = format!("Selected: {}\n", self.selected.len());
        self.selected.iter().for_each(|it| text.push_str(&format!("  {it}\n")));
        text.push_str(&format!("\nExcluded: {}\n", self.excluded.len()));
        for (address, through) in &self.excluded {
            match through {
                Some(through) => text.push_str(&format!("  {address}  through {through}\n")),
                None => text.push_str(&format!("  {address}  named by the request\n")),
            }
        }
        text.push_str(&format!("\nNot targeted: {}\n", self.untargeted.len()));
        self.untargeted.iter().for_each(|it| text.push_str(&format!("  {it}\n")));
        text
    }
}
