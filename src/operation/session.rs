//! What every undertaking on one folder starts from: configuration, workspace, backend, variables.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::backends;
use crate::address::{Mode, Provider};
use crate::backend::local::Choice;
use crate::backend::{Snapshot, Snapshots, workspace};
use crate::config::check;
use crate::config::early::{EarlyContext, StaticModule};
use crate::config::inputs::{self as variables, RootVariables, VariableInput};
use crate::config::{Config, InstalledModules, Variable, calls_without_modules, load_module, uses};
use crate::diagnostic::{Diagnostic, Diagnostics, Sort, Sources};
use crate::encryption;
use crate::install::Requirements;
use crate::lower::BlockGraph;
use crate::lower::trace::providers as provider_keys;
use crate::observe::provider_sources::ProviderSources;
use crate::provider::mock::Mocks;
use crate::reason::{self, EngineRef};
use crate::request::Request;
use crate::state::State;
use crate::value::{Str, Value};
use crate::world::{PROGRAM, World, side_by_side};

mod loaded;
pub use loaded::Readings;
mod looking;
mod tested;
mod unavailable;

/// One folder, opened.
pub struct Session {
    /// Clock, environment, folders.
    pub world: Arc<World>,
    /// Every source file read so far.
    pub sources: Sources,
    /// The selected workspace.
    pub workspace: String,
    /// The configuration.
    pub config: Config,
    /// Its blocks.
    pub graph: BlockGraph,
    /// Where the state lives.
    pub backend: Snapshots,
    /// Where providers come from.
    pub provider_sources: Arc<ProviderSources>,
    /// What stands for providers and objects.
    pub mocks: Arc<Mocks>,
    /// What is required of providers beside what the configuration requires: by its tests.
    pub also_required: Requirements,
    /// Warnings met on the way.
    pub warnings: Diagnostics,
}

impl Session {
    /// Opens the folder of the world's root: reads the configuration and finds the state's place.
    ///
    /// # Errors
    ///
    /// If the configuration cannot be used, or needs `init` first.
    pub fn open(
        world: Arc<World>,
        sources: Sources,
        choice: &Choice,
    ) -> Result<Session, Diagnostics> {
        let provider_sources = Arc::new(ProviderSources::of(&world, &sources));
        Session::open_with(world, sources, choice, provider_sources)
    }

    /// Like [`Session::open`], with providers that may be on their way already.
    ///
    /// # Errors
    ///
    /// As for [`Session::open`].
    pub fn open_with(
        world: Arc<World>,
        sources: Sources,
        choice: &Choice,
        provider_sources: Arc<ProviderSources>,
    ) -> Result<Session, Diagnostics> {
        let data = workspace::data_folder(&world);
        let installed = InstalledModules::read(&world.files, &data)?;
        let context = early_context(&world, &sources)?;
        let (config, mut problems) = sealed_config(&world, &sources, &installed, &context);
        let Some(config) = config else { return Err(problems) };
        // Other programs read the root module's files before they read it with what it calls, and tell each time.
        problems.extend(config.root().of_files.clone());
        if problems.has_errors() {
            if !problems.iter().any(|it| it.sort == Sort::IncompatibleModule) {
                let lost = calls_without_modules(config.root_place(), &installed);
                problems.extend(lost.beyond(&problems));
            }
            return Err(problems);
        }
        let blocks = BlockGraph::unconnected(reason::named(&world)?, &config);
        let (calls, graph) =
            side_by_side(|| check::check_calls(&config), || blocks.connected(&config));
        let fits = !calls.has_errors();
        problems.extend(calls);
        if fits {
            problems.extend(checked(&config, &graph, &sources));
        }
        if problems.has_errors() {
            return Err(problems);
        }
        let place = backends::set_up(config.root_place(), choice, &data)?;
        let workspace = context.workspace.clone();
        let session =
            Session::new((world, sources), workspace, (config, graph), &place, provider_sources);
        Ok(Session { warnings: problems, ..session })
    }

    /// Returns who concludes what the rules say.
    pub fn engine(&self) -> EngineRef {
        reason::engine(&self.world)
    }

    fn new(
        (world, sources): (Arc<World>, Sources),
        workspace: String,
        (config, graph): (Config, BlockGraph),
        place: &backends::Place,
        provider_sources: Arc<ProviderSources>,
    ) -> Session {
        let backend = place.backend(&workspace);
        Session {
            world,
            sources,
            workspace,
            config,
            graph,
            backend,
            provider_sources,
            mocks: Arc::default(),
            also_required: Requirements::default(),
            warnings: Diagnostics::new(),
        }
    }

    /// Opens the folder for `init`: nothing need be set up yet. What the configuration warns of is among the warnings.
    ///
    /// - `reads_state`: whether the state is read, which takes its keys.
    pub fn open_unchecked(
        world: Arc<World>,
        sources: Sources,
        readings: Readings,
        reads_state: bool,
    ) -> Result<Session, Diagnostics> {
        let loaded = Session::load(world.clone(), sources.clone(), readings);
        let (session, mut problems) = loaded.map_err(|problems| match reads_state {
            true => unavailable::with_backend(&world, &sources, problems),
            false => problems,
        })?;
        if reads_state {
            let found = encryption::install(session.config.root_place());
            let warnings = problems.take(found).unwrap_or_default();
            problems.extend(warnings);
        }
        if problems.has_errors() {
            Err(problems)
        } else {
            Ok(Session { warnings: problems, ..session })
        }
    }

    /// Opens the folder, problems of references beside the session, so that others can join them. Calls that do not fit
    /// their modules are an error by themselves.
    pub fn open_for_validation(
        world: Arc<World>,
        sources: Sources,
    ) -> Result<(Session, Diagnostics), Diagnostics> {
        let (session, mut problems) = Session::load_by_itself(world, sources)?;
        match session.check_names() {
            Ok(found) => problems.extend(found),
            Err(found) => {
                problems.extend(found);
                return Err(problems);
            }
        }
        Ok((session, problems))
    }

    /// Returns what is wrong with references and names.
    ///
    /// # Errors
    ///
    /// What is wrong with calls that do not fit their modules: then nothing else is looked at.
    pub fn check_names(&self) -> Result<Diagnostics, Diagnostics> {
        let calls = check::check_calls(&self.config);
        if calls.has_errors() {
            return Err(calls);
        }
        Ok(self.graph.check(&self.config, &self.graph.suspects(), &self.sources))
    }

    /// Opens a configuration that is known already: a saved plan's.
    pub fn of_config(
        world: Arc<World>,
        sources: Sources,
        config: Config,
        workspace: String,
        choice: &Choice,
    ) -> Result<Session, Diagnostics> {
        let data = workspace::data_folder(&world);
        let place = backends::set_up(config.root_place(), choice, &data)?;
        let graph = BlockGraph::of(reason::named(&world)?, &config);
        let provider_sources = Arc::new(ProviderSources::of(&world, &sources));
        Ok(Session::new((world, sources), workspace, (config, graph), &place, provider_sources))
    }

    /// Keeps the state where flags and the working directory say, wherever the configuration lies.
    pub fn keep_state_in(&mut self, world: &Arc<World>, choice: &Choice) {
        self.backend = backends::Place::usual(world, choice).backend(&self.workspace);
    }

    /// Reads the latest snapshot, providers named as the configuration means them, unless the environment says that the state
    /// is to be taken by its words.
    pub fn snapshot(&self) -> Result<Snapshot, Diagnostics> {
        const ADOPTED: &str = "OPENTOFU_STATEFILE_PROVIDER_ADDRESS_TRANSLATION";
        let mut snapshot = self.backend.read()?;
        if let Some(state) = &mut snapshot.state
            && self.world.variable(ADOPTED) != Some("0")
        {
            state.adopt_providers(&self.required_providers());
        }
        Ok(snapshot)
    }

    fn required_providers(&self) -> BTreeSet<Provider> {
        let modules = self.config.all().map(|it| it.1);
        modules
            .flat_map(|it| {
                it.required_providers
                    .values()
                    .filter(|it| it.is_explicit)
                    .map(|it| it.source.clone())
            })
            .collect()
    }

    /// Returns every provider that the configuration or the state needs.
    pub fn needed_providers(&self, state: &State) -> BTreeSet<Provider> {
        let mut needed: BTreeSet<Provider> = BTreeSet::new();
        for module in self.config.all().map(|it| it.1) {
            needed.extend(module.resource_providers().cloned());
            needed.extend(module.providers.iter().map(|it| it.source.clone()));
        }
        let managed = state.resources.iter().filter(|it| it.0.resource.mode == Mode::Managed);
        let mut last = None;
        let providers = managed.map(|it| &it.1.provider.provider);
        needed.extend(providers.filter(|it| last.replace(*it) != Some(*it)).cloned());
        for module in self.config.modules.values() {
            let is_idle = |it: &Provider| !needed.contains(it);
            if module.required_providers.values().any(|it| is_idle(&it.source)) {
                // It may be required for its functions alone.
                let called = uses::called_providers(module);
                needed.extend(called.iter().map(|it| module.provider_of(it)));
            }
        }
        needed
    }

    /// Returns the providers that expressions of the root module may turn to, whatever they will be.
    pub fn callable_providers(&self, state: &State) -> BTreeSet<Provider> {
        let required = self.config.root().required_providers.values().map(|it| it.source.clone());
        self.needed_providers(state).into_iter().chain(required).collect()
    }

    /// Returns what is given for the root variables, and the names of those that need a value and have none.
    pub fn given_variables(
        &self,
        request: &Request,
    ) -> (BTreeMap<Str, VariableInput>, Vec<Str>, Diagnostics) {
        let root = self.config.root();
        let (inputs, problems) = variables::collect_variables(
            root,
            &self.world.root,
            &request.variables,
            &self.world,
            &self.sources,
        );
        let missing =
            variables::missing(root, &inputs).iter().map(|it| it.name.text.clone()).collect();
        (inputs, missing, problems)
    }

    /// Returns the root variables: converted, completed, validated later in the walk.
    pub fn variables(
        &self,
        inputs: &BTreeMap<Str, VariableInput>,
    ) -> Result<RootVariables, Diagnostics> {
        self.variables_or(inputs, |_| None)
    }

    /// Returns the root variables, unknown where they need a value and have none.
    pub fn variables_or_unknown(
        &self,
        inputs: &BTreeMap<Str, VariableInput>,
    ) -> Result<RootVariables, Diagnostics> {
        self.variables_or(inputs, |it| Some(variables::unknown_of(it)))
    }

    /// `missing` gives the value of a variable that needs one and has none; otherwise that is an error.
    fn variables_or(
        &self,
        inputs: &BTreeMap<Str, VariableInput>,
        missing: impl Fn(&Variable) -> Option<Value>,
    ) -> Result<RootVariables, Diagnostics> {
        let mut problems = Diagnostics::new();
        let mut variables = RootVariables::default();
        for (name, variable) in &self.config.root().variables {
            let input = inputs.get(name);
            let is_missing = input.is_none() && variable.default.is_none();
            let finished = match is_missing.then(|| missing(variable)).flatten() {
                Some(value) => Ok(value),
                None => {
                    variables::finish(variable, &format_args!("var.{name}"), input, &self.sources)
                }
            };
            if let Some(value) = problems.take(finished) {
                variables.values.insert(name.clone(), value);
                variables.given.extend(input.map(|it| (name.clone(), it.value.clone())));
                variables.origins.extend(input.map(|it| (name.clone(), it.origin.clone())));
            }
        }
        if problems.has_errors() { Err(problems) } else { Ok(variables) }
    }
}

/// Opens the place of the selected workspace's state. Of the configuration only the root module's `backend` block counts.
///
/// # Errors
///
/// If the root module cannot be read, or its backend needs `init` first.
pub fn open_backend(
    world: &Arc<World>,
    sources: &Sources,
    choice: &Choice,
) -> Result<Snapshots, Diagnostics> {
    let root = root_place(world, sources)?;
    let place = backends::set_up(&root, choice, &workspace::data_folder(world));
    let place = place.map_err(|it| unavailable::with_sources(&root, it))?;
    Ok(place.backend(&workspace::selected(world)?))
}

/// Opens the place of all workspaces' states.
///
/// # Errors
///
/// As for [`open_backend`].
pub fn open_place(world: &Arc<World>, sources: &Sources) -> Result<backends::Place, Diagnostics> {
    let root = root_place(world, sources)?;
    let data = workspace::data_folder(world);
    backends::set_up(&root, &Choice::default(), &data)
}

/// Returns what values rest on that are needed before there is a plan.
pub fn early_context(
    world: &Arc<World>,
    sources: &Sources,
) -> Result<Arc<EarlyContext>, Diagnostic> {
    Ok(Arc::new(EarlyContext::new(world.clone(), workspace::selected(world)?, sources.clone())))
}

/// Reads the root module alone.
pub fn root_place(world: &Arc<World>, sources: &Sources) -> Result<StaticModule, Diagnostics> {
    let context = early_context(world, sources)?;
    let (root, problems) = load_module(&world.files, &world.root, ".", sources);
    let Some(root) = root.filter(|_| !problems.has_errors()) else { return Err(problems) };
    let place = StaticModule::root(root, context);
    encryption::install(&place)?;
    Ok(place)
}

/// Returns what is wrong with the files of the root module, each by itself.
pub fn of_root_files(world: &World, sources: &Sources) -> Diagnostics {
    let (root, _) = load_module(&world.files, &world.root, ".", sources);
    root.map(|it| it.of_files.clone()).unwrap_or_default()
}

/// Reads the configuration, and lets the world seal as it says.
fn sealed_config(
    world: &World,
    sources: &Sources,
    installed: &InstalledModules,
    context: &Arc<EarlyContext>,
) -> (Option<Config>, Diagnostics) {
    let (config, mut problems) =
        crate::config::load_config(&world.files, &world.root, sources, installed, context);
    if let Some(config) = config.as_ref().filter(|_| !problems.has_errors()) {
        match encryption::install(config.root_place()) {
            Ok(found) | Err(found) => problems.extend(found),
        }
    }
    (config, problems)
}

/// Lets the world open a saved plan that may be sealed. A folder without a configuration can have `TF_ENCRYPTION` besides.
///
/// # Errors
///
/// If the folder's configuration cannot be read, or its encryption makes no sense.
pub fn unseal(world: &Arc<World>, sources: &Sources) -> Result<(), Diagnostics> {
    root_place(world, sources).map(drop)
}

/// Refuses a folder without any configuration: whoever wants to destroy everything must say so.
///
/// # Errors
///
/// If there is no configuration file.
pub fn needs_configuration(world: &World) -> Result<(), Diagnostics> {
    let found = crate::config::files::config_files(&world.files, &world.root);
    match found.is_some_and(|it| it.is_empty()) {
        false => Ok(()),
        true => Err(Diagnostic::error("No configuration files")
            .detail(format!(
                "{} holds no configuration, and without one everything that exists would be destroyed. Where that is wanted, run \
                 \"{PROGRAM} destroy\", or plan it with -destroy. Otherwise change to the folder that has the configuration, or \
                 write one (a .tf file).",
                world.root.display()
            ))
            .into()),
    }
}

/// Returns what is wrong with a configuration whose calls fit their modules, as far as no provider is needed to tell.
fn checked(config: &Config, graph: &BlockGraph, sources: &Sources) -> Diagnostics {
    let suspects = graph.suspects();
    let mut problems = graph.check(config, &suspects, sources);
    problems.extend(check::check_for_plan(config, &suspects, sources));
    problems.extend(provider_keys::problems(config, sources));
    problems
}
