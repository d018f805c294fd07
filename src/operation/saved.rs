//! Saved plans: everything that applying and explaining need, in one file.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use entail_rules::order::Order;
use entail_rules::spread::Spread;
use entail_rules::{Facts, Node};

use self::rows::rows;
use super::explain::causes::origin::{Given, given};
use super::plan::Planned;
use super::session::Session;
use crate::backend::local::Choice;
use crate::backend::seal::Seals;
use crate::backend::workspace;
use crate::config::early::EarlyContext;
use crate::config::{Config, InstalledModules, load_config};
use crate::diagnostic::{Diagnostic, Diagnostics, FileId, Sources, Span};
use crate::install::{Locks, Requirements, lock, problems};
use crate::lower::{ReadPlaces, Structure};
use crate::plan::file::{Exchange, PlanExtras};
use crate::plan::signature::{Signer, SigningKey};
use crate::plan::{EvaluatedValues, Plan};
use crate::policy::model::Secrets;
use crate::policy::verdict::Overruling;
use crate::policy::{Policies, PolicySource, Report};
use crate::value::{Str, Value};
use crate::world::{Files, PROGRAM, World};

mod load;
mod rows;

pub use load::{load, load_and, load_to_apply};

/// The file in a plan that holds the blocks written for its imports.
const GENERATED: &str = "__generated__.tf";

/// What policies said of a plan, and their texts.
const POLICIES: &str = "policies";

/// A plan as loaded from a file.
pub struct Loaded {
    /// The plan.
    pub plan: Plan,
    /// What was evaluated while planning.
    pub evaluated: EvaluatedValues,
    /// The expanded configuration.
    pub structure: Arc<Structure>,
    /// The order of steps.
    pub order: Order,
    /// Every fact it rests on.
    pub facts: Arc<Facts>,
    /// Where `create_before_destroy` spreads.
    pub spread: Spread,
    /// Where each read stands: `file:line,column`.
    pub places: Arc<BTreeMap<(Node, Node), String>>,
    /// What each flag's number stands for.
    pub flags: Vec<String>,
    /// Where each node is declared: `file:line,column`.
    pub declared: Arc<BTreeMap<Node, String>>,
    /// Where the argument stands that may forbid to destroy each object.
    pub protected: Arc<BTreeMap<Node, String>>,
    /// The name and place of each block.
    pub blocks: Vec<(String, String)>,
    /// What the numbers of provider configurations and their keys stand for.
    pub(super) words: super::explain::words::Words,
    /// Where the root module's variables were given.
    pub given: BTreeMap<Str, Given>,
    /// What providers call sensitive.
    pub secrets: Secrets,
    extras: PlanExtras,
}

/// The configuration that a plan was made from.
pub struct Written {
    /// The configuration.
    pub config: Config,
    /// Where each read stands.
    pub places: ReadPlaces,
    /// The values of the root variables, as the plan recorded them.
    pub variables: BTreeMap<Str, Value>,
}

/// Saves a plan, with what it rests on.
///
/// - `key`: signs it, where there is one.
pub fn save(
    session: &Session,
    planned: &Planned,
    judged: Option<&(Report, &Policies)>,
    path: &Path,
    key: Option<&SigningKey>,
) -> Result<(), Diagnostics> {
    let finished = &planned.finished;
    let mut extras = PlanExtras {
        sources: sources(session),
        exchange: PROGRAM.is_in_place_of_another().then(|| exchange(session)),
        ..PlanExtras::default()
    };
    if let Some(name) = &planned.generated_file {
        // Each block was read on its own; what the plan rests on is the file with all of them.
        extras.sources.remove(name);
        if let Some(text) = super::generate::text(&finished.plan) {
            extras.sources.insert(GENERATED.to_owned(), text);
        }
    }
    let (data, files) = (workspace::data_folder(&session.world), &session.world.files);
    extras.modules = files.read_text(&InstalledModules::path(&data)).ok();
    extras.lock_file = files.read_text(&session.world.root.join(lock::FILE)).ok();
    let places: Vec<(u32, u32, String)> = finished
        .places
        .iter()
        .filter(|it| it.1.file().0 != 0)
        .map(|(pair, span)| (pair.0.0, pair.1.0, session.sources.place(span)))
        .collect();
    let placed = |found: BTreeMap<Node, Span>| -> Vec<(u32, String)> {
        let all = found.into_iter();
        all.map(|(node, span)| (node.0, session.sources.place(span))).collect()
    };
    let declared = placed(super::explain::declared(session, &finished.structure));
    let protected = placed(super::explain::protected(session, &finished.structure));
    extras.facts = BTreeMap::from([
        ("structure".to_owned(), finished.structure.save().into_bytes()),
        ("facts".to_owned(), rows(&finished.facts)),
        ("order".to_owned(), rows(planned.order()?)),
        ("spread".to_owned(), rows(&finished.spread)),
        ("values".to_owned(), finished.evaluated.encode()),
        ("places".to_owned(), serde_json::to_vec(&places).unwrap_or_default()),
        (
            "blocks".to_owned(),
            serde_json::to_vec(&super::explain::blocks(session)).unwrap_or_default(),
        ),
        ("protected".to_owned(), serde_json::to_vec(&protected).unwrap_or_default()),
        ("declared".to_owned(), serde_json::to_vec(&declared).unwrap_or_default()),
        (
            "words".to_owned(),
            serde_json::to_vec(&super::explain::words::Words::of(
                &finished.serving,
                &finished.statements,
                &session.sources,
            ))
            .unwrap_or_default(),
        ),
        ("flags".to_owned(), serde_json::to_vec(&finished.flags).unwrap_or_default()),
        (
            "secrets".to_owned(),
            serde_json::to_vec(&super::models::secrets(planned)).unwrap_or_default(),
        ),
        ("given".to_owned(), {
            let given = given(&session.config, &planned.variables, &session.sources);
            serde_json::to_vec(&given).unwrap_or_default()
        }),
    ]);
    if let Some((report, policies)) = judged {
        let report = report.to_json(true, &session.sources);
        let document = json!({ "report": report, "sources": policies.sources });
        extras.facts.insert(POLICIES.to_owned(), document.to_string().into_bytes());
    }
    Ok(finished.plan.save(path, &extras, (key, &Seals::of(&session.world)))?)
}

/// What the plan's entry for OpenTofu's library has besides.
fn exchange(session: &Session) -> Exchange {
    let root = session.config.root();
    let backend = root.backend.as_ref().map(|it| it.kind.text.to_string());
    let ephemeral = root.variables.iter().filter(|it| it.1.ephemeral);
    Exchange {
        backend: backend.unwrap_or_else(|| "local".to_owned()),
        ephemeral_variables: ephemeral.map(|it| it.0.to_string()).collect(),
    }
}

/// The configuration's files, by their names relative to the root module.
fn sources(session: &Session) -> BTreeMap<String, String> {
    let names: Vec<String> = session.config.all().map(|it| it.1.directory.clone()).collect();
    let mut files = BTreeMap::new();
    let mut number = 1;
    while let Some(source) = session.sources.get(FileId(number)) {
        let folder = source.name.rsplit_once('/').map_or(".", |it| it.0);
        let is_config =
            [".tf", ".tf.json", ".tofu", ".tofu.json"].iter().any(|it| source.name.ends_with(it));
        if is_config && names.iter().any(|it| it == folder) {
            files.insert(source.name.clone(), source.text().to_string());
        }
        number += 1;
    }
    files
}

impl Loaded {
    /// Returns what policies said of the plan when it was made, as a document; nothing where there were none.
    pub fn verdicts(&self) -> Option<Json> {
        let document: Json = serde_json::from_slice(self.extras.facts.get(POLICIES)?).ok()?;
        document.get("report").cloned()
    }

    /// Reads the configuration that the plan was made from, and what stands where in it.
    ///
    /// # Errors
    ///
    /// If the plan is damaged.
    pub fn written(
        &mut self,
        world: &Arc<World>,
        sources: &Sources,
    ) -> Result<Written, Diagnostics> {
        let config = self.fit(world, sources)?;
        let places = self.spans(sources);
        let variables = self.variables(&config, &BTreeMap::new());
        Ok(Written { config, places, variables })
    }

    /// Opens the configuration that the plan was made from, and fits the structure to it. Asks for no place of states.
    ///
    /// # Errors
    ///
    /// If the plan is damaged.
    pub fn fit(&mut self, world: &Arc<World>, sources: &Sources) -> Result<Config, Diagnostics> {
        let (config, _) = self.config_and_warnings(world, sources)?;
        Arc::make_mut(&mut self.structure).fit(|it| config.module_of(it).cloned());
        Ok(config)
    }

    /// Returns where each read stands, in files that have been read.
    pub fn spans(&self, sources: &Sources) -> ReadPlaces {
        let mut files = BTreeMap::new();
        let mut number = 1;
        while let Some(source) = sources.get(FileId(number)) {
            files.insert(source.name.clone(), FileId(number));
            number += 1;
        }
        let span = |place: &str| {
            let (name, at) = place.rsplit_once(':')?;
            let (line, column) = at.split_once(',')?;
            sources.span(*files.get(name)?, line.parse().ok()?, column.parse().ok()?)
        };
        let all = self.places.iter();
        all.filter_map(|(pair, place)| Some((*pair, span(place)?))).collect()
    }

    /// Returns what policies said of the plan when it was made.
    pub fn report(&self) -> Option<Report> {
        self.verdicts().map(|it| Report::of_json(&it))
    }

    /// Returns the policies that the plan was judged by.
    ///
    /// # Errors
    ///
    /// If the plan has some, and they cannot be read.
    pub fn policies(&self) -> Result<Vec<PolicySource>, Diagnostic> {
        let Some(text) = self.extras.facts.get(POLICIES) else { return Ok(Vec::new()) };
        let document: Json = serde_json::from_slice(text).unwrap_or_default();
        serde_json::from_value(document["sources"].clone()).map_err(|why| {
            Diagnostic::error("Invalid plan file")
                .detail(format!("The plan's policies could not be read: {why}."))
        })
    }

    /// Returns whether a denial may turn out to hold while the plan is carried out.
    pub fn has_possible_denials(&self) -> bool {
        self.listed().iter().any(|it| it["level"] == "deny" && it["certainty"] == "possible")
    }

    /// Returns the denials that were overruled when the plan was made.
    pub fn overruled(&self) -> Vec<Overruling> {
        let of = |it: &Json| {
            Some(Overruling {
                rule: it["rule"].as_str()?.to_owned(),
                address: Some(it["address"].as_str()?.to_owned()),
                because: it["overridden"]["because"].as_str()?.to_owned(),
            })
        };
        self.listed().iter().filter_map(of).collect()
    }

    fn listed(&self) -> Vec<Json> {
        let report = self.verdicts().unwrap_or_default();
        report["verdicts"].as_array().cloned().unwrap_or_default()
    }

    /// Opens the configuration that the plan was made from, and fits the structure to it.
    pub fn open(
        &mut self,
        world: Arc<World>,
        sources: Sources,
        choice: &Choice,
    ) -> Result<Session, Diagnostics> {
        let (config, warnings) = self.config_and_warnings(&world, &sources)?;
        Arc::make_mut(&mut self.structure).fit(|it| config.module_of(it).cloned());
        let workspace = self.plan.workspace.clone();
        let mut session = Session::of_config(world, sources, config, workspace, choice)?;
        session.warnings = warnings;
        Ok(session)
    }

    /// Checks that the providers chosen now are those that the plan was made with, and fit its configuration.
    ///
    /// # Errors
    ///
    /// If the lock file, or the one in the plan, cannot be read.
    pub fn check_locks(&self, session: &Session) -> Result<Diagnostics, Diagnostics> {
        let plugins = session.provider_sources.plugins()?;
        let (required, _) = Requirements::of(&session.config);
        let mut found = plugins.check_saved(&required);
        let text = self.extras.lock_file.as_deref().unwrap_or_default();
        let (locks, unreadable) = Locks::parse(lock::FILE, text, &session.sources);
        if unreadable.has_errors() {
            return Err(unreadable);
        }
        if !locks.choose_alike(&plugins.locks) {
            found.push(problems::other_locks());
        }
        Ok(found)
    }

    /// Reads the configuration from the texts in the plan.
    pub fn config(&self, world: &Arc<World>, sources: &Sources) -> Result<Config, Diagnostics> {
        Ok(self.config_and_warnings(world, sources)?.0)
    }

    /// Returns who has signed the plan.
    pub fn signer(&self) -> Option<Signer> {
        self.extras.signer
    }

    /// Reads the configuration from memory, and what it is warned of.
    fn config_and_warnings(
        &self,
        world: &Arc<World>,
        sources: &Sources,
    ) -> Result<(Config, Diagnostics), Diagnostics> {
        let installed = match &self.extras.modules {
            Some(text) => InstalledModules::parse(text).map_err(|why| {
                Diagnostic::error("Invalid plan file")
                    .detail(format!("The plan's list of modules could not be read: {why}."))
            })?,
            None => InstalledModules::default(),
        };
        let context =
            EarlyContext::new(world.clone(), self.plan.workspace.clone(), sources.clone());
        let context = Arc::new(context.recorded(self.plan.variables.clone()));
        let texts = self.extras.sources.iter().map(|it| (it.0.as_str(), it.1.as_str()));
        let files = Files::of_texts(&world.root, texts);
        let (config, problems) = load_config(&files, &world.root, sources, &installed, &context);
        match config.filter(|_| !problems.has_errors()) {
            Some(mut config) => {
                self.note_generated(&mut config, sources);
                Ok((config, problems))
            }
            None => Err(problems),
        }
    }

    /// Blocks that the plan wrote itself are none of the configuration that it was made from.
    fn note_generated(&self, config: &mut Config, sources: &Sources) {
        if !self.extras.sources.contains_key(GENERATED) {
            return;
        }
        let root = crate::address::Module::default();
        for block in config
            .modules
            .get_mut(&root)
            .into_iter()
            .flat_map(|it| Arc::make_mut(it).resources.values_mut().map(Arc::make_mut))
        {
            let file = sources.get(block.declared.file());
            block.besides.generated = file.is_some_and(|it| it.name == GENERATED);
        }
    }

    /// Returns the root variables as the plan recorded them, marked as the configuration says. Ephemeral ones are in no plan: they
    /// are given again, or have their defaults.
    pub fn variables(&self, config: &Config, given: &BTreeMap<Str, Value>) -> BTreeMap<Str, Value> {
        let mut values = BTreeMap::new();
        for (name, variable) in &config.root().variables {
            let known = self.plan.variables.get(name).or_else(|| given.get(name));
            let value = known.or(variable.default.as_ref()).cloned();
            let marks = crate::value::Marks {
                sensitive: variable.sensitive,
                ephemeral: variable.ephemeral,
                ..Default::default()
            };
            values.insert(name.clone(), value.unwrap_or(Value::Null(variable.ty)).mark(&marks));
        }
        values
    }
}
