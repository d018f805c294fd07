//! What is true of one stack, as rows of the lake: what the rules of the library conclude of its state and its configuration alone,
//! the values of its objects, and what only several stacks together show.
//!
//! Nothing sensitive gets into a row: a value that the state marks, or whose attribute has the name of a secret, is null.

use std::collections::BTreeMap;
use std::sync::Arc;

use entail::address::Mode;
use entail::diagnostic::{Diagnostic, Diagnostics, Sources};
use entail::install::Locks;
use entail::lower::structure::NodeKind;
use entail::operation::session::Session;
use entail::policy::rules::OF_PLANS;
use entail::state::{OutputValue, State};
use entail::value::Str;
use entail::value::json::to_plain_json;
use entail::workflow::recorded::{Concluded, Recorder};
use entail::world::World;
use entail_rules::{Atom, Node};
use rustc_hash::FxHashMap;

mod places;

pub use places::place_of;
use places::states_read;

use crate::lake::{Bucket, Column, table, table_of};
use crate::reading;
use crate::secrets::is_secret;
use crate::stacks::{Place, Stack};
use crate::uses::Mentions;

/// What states alone say, by the relations of the vocabulary.
const OF_STATES: &[&str] = &[
    "resource",
    "data_source",
    "existing",
    "output",
    "module_instance",
    "name",
    "key",
    "module_of",
    "within",
    "provider_of",
    "state_depends_on",
];

/// What only configurations say.
const OF_CONFIGURATIONS: &[&str] = &[
    "variable",
    "local_value",
    "declared_at",
    "reads",
    "reads_at",
    "depends_on",
    "module_call",
    "module_version",
    "provider_version",
];

/// Says what is true of stacks.
pub struct Extractor {
    states: Recorder,
    plans: Recorder,
    configurations: Recorder,
    world: Arc<World>,
}

/// What was found out of a stack beside its rows.
#[derive(Clone, Debug, Default)]
pub struct Extracted {
    /// The places of states that it reads: which stacks these are is known once all were read.
    pub reads: Vec<String>,
    /// Folders whose files its configuration is made of.
    pub folders: Vec<std::path::PathBuf>,
    /// What is wrong with its configuration: its state was taken all the same.
    pub problems: Diagnostics,
    /// Whether it has a saved plan that counts.
    pub is_planned: bool,
    /// Why its saved plan does not.
    pub plan_problems: Diagnostics,
}

impl Extractor {
    /// Returns one for stacks in this world.
    ///
    /// # Errors
    ///
    /// If nothing can be concluded here at all.
    pub fn new(world: &Arc<World>) -> Result<Extractor, Diagnostics> {
        Ok(Extractor {
            states: Recorder::new(world, OF_STATES)?,
            plans: Recorder::new(world, OF_PLANS)?,
            configurations: Recorder::new(world, OF_CONFIGURATIONS)?,
            world: world.clone(),
        })
    }

    /// Adds the rows of a stack.
    ///
    /// # Errors
    ///
    /// If its state says nothing that makes sense. Rows that were added until then are to be thrown away.
    pub fn extract(
        &self,
        stack: &Stack,
        state: State,
        bucket: &mut Bucket,
        mentions: &mut Mentions,
    ) -> Result<Extracted, Diagnostics> {
        let mut extracted = Extracted::default();
        let world = reading::world_of(&self.world, stack);
        let about = (state.lineage.clone(), state.serial, reading::objects(&state));
        let outputs = state.outputs.clone();
        // It fails before it shows anything, or not at all.
        self.states.state(state, |it| {
            let mut rows = Rows { stack, bucket, names: FxHashMap::default() };
            rows.relations(it, OF_STATES);
            rows.values(it, mentions);
            extracted.reads.extend(states_read(it, &world.root, true));
        })?;
        write_outputs(stack, &outputs, bucket);
        if let Some(table) = table("label") {
            let labels = stack.labels.iter();
            labels.for_each(|(name, value)| bucket.add(table, &[&stack.name, name, value]));
        }
        if let Some(table) = table("stack") {
            let (serial, count) = (about.1.to_string(), about.2.to_string());
            bucket.add(table, &[&stack.name, &about.0, &serial, &count]);
        }
        if let Some(path) = stack.plan().filter(|it| it.exists()) {
            let planned = self.plan(&world, stack, (&path, &about.0, about.1), bucket);
            extracted.is_planned = planned.is_ok();
            extracted.plan_problems = planned.err().unwrap_or_default();
        }
        if let Place::Module { .. } = &stack.place {
            let problems = self.configuration(&world, stack, bucket, &mut extracted).err();
            extracted.problems = problems.unwrap_or_default();
        }
        extracted.reads.sort();
        extracted.reads.dedup();
        Ok(extracted)
    }

    /// Returns the places of states that the configuration of a stack reads.
    ///
    /// # Errors
    ///
    /// If its configuration cannot be read.
    pub fn reads(&self, stack: &Stack) -> Result<Vec<String>, Diagnostics> {
        let world = reading::world_of(&self.world, stack);
        let (sources, request) = (Sources::default(), reading::request(stack));
        self.configurations
            .configuration(&world, &sources, &request, |_, it| states_read(it, &world.root, false))
    }

    /// Adds what the saved plan of a stack says: one that holds for its state as it is.
    fn plan(
        &self,
        world: &Arc<World>,
        stack: &Stack,
        (path, lineage, serial): (&std::path::Path, &str, u64),
        bucket: &mut Bucket,
    ) -> Result<(), Diagnostics> {
        let sources = Sources::default();
        self.plans.saved(world, &sources, path, |plan, it| {
            let now = State { lineage: lineage.to_owned(), serial, ..State::default() };
            plan.check_current(Some(&now))?;
            if plan.errored {
                return Err(unfinished(path));
            }
            let mut rows = Rows { stack, bucket, names: FxHashMap::default() };
            rows.relations(it, OF_PLANS);
            rows.planned(it);
            Ok(())
        })??;
        Ok(())
    }

    /// Adds what the configuration of a stack says.
    fn configuration(
        &self,
        world: &Arc<World>,
        stack: &Stack,
        bucket: &mut Bucket,
        extracted: &mut Extracted,
    ) -> Result<(), Diagnostics> {
        let sources = Sources::default();
        let request = reading::request(stack);
        self.configurations.configuration(world, &sources, &request, |session, it| {
            let mut rows = Rows { stack, bucket, names: FxHashMap::default() };
            rows.relations(it, OF_CONFIGURATIONS);
            rows.modules(it);
            rows.versions(world, session);
            extracted.reads.extend(states_read(it, &world.root, false));
            let folders = session.config.modules.values().map(|it| &it.directory);
            extracted.folders = folders.map(|it| world.root.join(it)).collect();
            extracted.folders.sort();
            extracted.folders.dedup();
        })
    }
}

fn unfinished(path: &std::path::Path) -> Diagnostic {
    Diagnostic::error("Saved plan of a failed run").detail(format!(
        "{} was saved by a run that failed, and says only a part of what is to be done. Make a new plan.",
        path.display()
    ))
}

/// The outputs of the root module, with their values.
fn write_outputs(stack: &Stack, outputs: &BTreeMap<Str, OutputValue>, bucket: &mut Bucket) {
    let Some(attribute) = table("attribute") else { return };
    for (name, output) in outputs {
        let json = (!output.sensitive && !is_secret("output", name, &output.value))
            .then(|| to_plain_json(&output.value).ok())
            .flatten();
        let node = format!("output.{name}");
        let texts = [&*stack.name, &node, "output", "value"].map(|it| Some(bucket.text(it)));
        let is_sensitive = Some(bucket.text(if json.is_none() { "true" } else { "false" }));
        let value = json.map(|it| bucket.text(&it));
        let [stack, node, kind, name] = texts;
        bucket.row(attribute.number(), &[stack, node, kind, name, value, is_sensitive]);
    }
}

struct Rows<'a> {
    stack: &'a Stack,
    bucket: &'a mut Bucket,
    /// The numbers of the addresses of nodes.
    names: FxHashMap<u64, u32>,
}

impl Rows<'_> {
    fn name(&mut self, it: &Concluded<'_>, word: u64) -> u32 {
        if let Some(known) = self.names.get(&word) {
            return *known;
        }
        let address = Node::from_word(word).map_or_else(String::new, |node| it.model.address(node));
        let number = self.bucket.text(&address);
        self.names.insert(word, number);
        number
    }

    fn relations(&mut self, it: &Concluded<'_>, names: &[&str]) {
        let stack = self.bucket.text(&self.stack.name);
        let mut cells = Vec::new();
        for name in names {
            let (Some(table), Some(number)) = (table_of(name), it.program.relation(name)) else {
                continue;
            };
            let rows = it.database.table(number);
            for position in rows.positions().filter(|at| rows.is_certain(*at)) {
                cells.clear();
                cells.push(Some(stack));
                let words = rows.row(position).iter().zip(&table.columns[1..]);
                for (word, (_, column)) in words {
                    cells.push(self.cell(it, *word, *column));
                }
                self.bucket.row(table.number(), &cells);
            }
        }
    }

    fn cell(&mut self, it: &Concluded<'_>, word: u64, column: Column) -> Option<u32> {
        if column == Column::Node {
            return Some(self.name(it, word));
        }
        let value = it.program.values.value(word)?;
        if value.contains_sensitive() {
            return None;
        }
        match (column, value.as_str()) {
            (Column::Text, Some(text)) => Some(self.bucket.text(text)),
            _ => to_plain_json(&value).ok().map(|it| self.bucket.text(&it)),
        }
    }

    /// `planned`: the objects that a plan is about, with their types.
    fn planned(&mut self, it: &Concluded<'_>) {
        let Some(table) = table("planned") else { return };
        let stack = Some(self.bucket.text(&self.stack.name));
        let structure = it.model.structure;
        for number in 0..structure.nodes.len() as u32 {
            let node = Node(number);
            let Some(address) = structure.instance(node) else { continue };
            if address.resource.mode != Mode::Managed
                || matches!(structure.kind(node), NodeKind::Deposed(..))
            {
                continue;
            }
            let name = Some(self.name(it, node.word()));
            let kind = Some(self.bucket.text(&address.resource.kind));
            self.bucket.row(table.number(), &[stack, name, kind]);
        }
    }

    /// The values of all objects, attribute by attribute.
    fn values(&mut self, it: &Concluded<'_>, mentions: &mut Mentions) {
        let (Some(table), Some(state)) = (table("attribute"), it.model.state) else { return };
        let stack = Some(self.bucket.text(&self.stack.name));
        let structure = it.model.structure;
        for number in 0..structure.nodes.len() as u32 {
            let node = Node(number);
            let Some(address) = structure.instance(node) else { continue };
            let Some(value) = it.model.recorded(node, state) else { continue };
            let name = Some(self.name(it, node.word()));
            let type_name = address.resource.kind.to_string();
            let kind = Some(self.bucket.text(&type_name));
            let is_managed = address.resource.mode == Mode::Managed;
            let mut known = mentions.object(is_managed);
            for (attribute, value) in value.entries() {
                if value.is_null() {
                    continue;
                }
                let is_hidden =
                    value.contains_sensitive() || is_secret(&type_name, &attribute, value);
                let json = (!is_hidden).then(|| to_plain_json(value).ok()).flatten();
                if json.is_some() {
                    known.attribute(&attribute, value);
                }
                let flag = self.bucket.text(if json.is_none() { "true" } else { "false" });
                let text = Some(self.bucket.text(&attribute));
                let json = json.map(|it| self.bucket.text(&it));
                self.bucket.row(table.number(), &[stack, name, kind, text, json, Some(flag)]);
            }
            known.done(&self.stack.name, &address.to_string());
        }
    }

    /// `calls_module`: what the modules of a stack call, with the versions that they ask for.
    fn modules(&mut self, it: &Concluded<'_>) {
        let Some(table) = table("calls_module") else { return };
        let texts = |relation: &str| -> BTreeMap<(u64, u64), String> {
            let Some(number) = it.program.relation(relation) else { return BTreeMap::new() };
            let rows = it.database.table(number);
            let all = rows.positions().filter_map(|at| {
                let row = rows.row(at);
                Some(((row[0], row[1]), it.program.values.as_text(row[2])?))
            });
            all.collect()
        };
        let versions = texts("module_version");
        for (call, source) in texts("module_call") {
            let version = versions.get(&call).map_or("", String::as_str);
            self.bucket.add(table, &[&self.stack.name, &source, version]);
        }
    }

    /// `provider_version`: what is locked; where nothing is, what modules ask for.
    fn versions(&mut self, world: &World, session: &Session) {
        let Some(table) = table("stack_provider_version") else { return };
        let (locks, _) = Locks::read(world, &Sources::default());
        for (provider, lock) in &locks.0 {
            let row = [&*self.stack.name, &provider.to_string(), &lock.version.to_string()];
            self.bucket.add(table, &row);
        }
        let required =
            session.config.modules.values().flat_map(|it| it.required_providers.values());
        for it in required.filter(|it| !locks.0.contains_key(&it.source)) {
            if let Some((version, _)) = &it.version {
                let row = [&*self.stack.name, &it.source.to_string(), version];
                self.bucket.add(table, &row);
            }
        }
    }
}
