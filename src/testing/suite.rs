//! Everything that tests run on: the configuration, the test files, and the modules that runs name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::denied::Judge;
use super::{Coverage, Manner, expected, overriding, problems, serving};
use crate::address::{InstanceKey, ModuleInstance, Provider};
use crate::backend::workspace;
use crate::config::early::{EarlyContext, StaticModule};
use crate::config::inputs::Globals;
use crate::config::testing::{
    MockProvider, TestFile, TestFileName, TestModule, read_tests, test_files,
};
use crate::config::{
    Config, Folder, InstalledModules, ModuleCall, ProviderBlock, call_source, check_providers,
    installed, load_config_of, load_module,
};
use crate::diagnostic::{Diagnostics, Sources};
use crate::install::Requirements;
use crate::observe::provider_sources::ProviderSources;
use crate::operation::session::early_context;
use crate::request::Request;
use crate::syntax::Name;
use crate::world::World;

/// A module that a run has in the place of the one under test.
#[derive(Clone)]
pub struct Helper {
    /// Its source, as it names its state.
    pub key: String,
    /// Its configuration.
    pub config: Arc<Config>,
}

/// All tests of a folder, and what they run on.
pub struct Suite {
    /// Clock, environment, files.
    pub world: Arc<World>,
    /// Every source file read so far.
    pub sources: Sources,
    /// The selected workspace.
    pub workspace: String,
    /// The module under test.
    pub config: Arc<Config>,
    /// The test files, in the order in which they run.
    pub files: Vec<TestFile>,
    /// What is given for variables from outside.
    pub globals: Globals,
    /// Where providers come from.
    pub provider_sources: Arc<ProviderSources>,
    /// What is asked of every run: number of calls at a time.
    pub request: Request,
    /// Where it differs from OpenTofu.
    pub manner: Manner,
    /// Whether plans and states are shown.
    pub verbose: bool,
    /// Whether snapshots are written, not compared.
    pub updates_snapshots: bool,
    /// Who judges plans that policies are to deny.
    pub judge: Option<Arc<dyn Judge>>,
    /// Whether false assertions are explained.
    pub explains: bool,
    /// What was exercised, where that is asked for.
    pub coverage: Option<Coverage>,
    /// Modules of runs, by file and number of the run.
    helpers: BTreeMap<(String, usize), Helper>,
}

/// What is asked when a suite is opened.
pub struct Open<'a> {
    /// Clock, environment, files.
    pub world: &'a Arc<World>,
    /// Every source file that is read.
    pub sources: &'a Sources,
    /// The folder of tests.
    pub directory: &'a Path,
}

impl Open<'_> {
    /// Reads configuration and test files. What is wrong comes beside the suite.
    ///
    /// # Errors
    ///
    /// If nothing can run.
    pub fn suite(
        &self,
        request: &Request,
        manner: Manner,
        verbose: bool,
    ) -> Result<(Suite, Diagnostics), Diagnostics> {
        let (world, sources) = (self.world, self.sources);
        let tests = world.root.join(self.directory);
        let place = (&*world.root, Some(&*tests));
        let (globals, mut problems) = Globals::collect(place, &request.variables, world, sources);
        if problems.has_errors() {
            return Err(problems);
        }
        let (config, loaded) = self.load()?;
        problems.extend(loaded.problems);
        if manner == Manner::OPENTOFU {
            problems.extend(problems::ours_alone(&loaded.files));
        }
        if problems.has_errors() {
            return Err(problems);
        }
        let suite = Suite {
            world: world.clone(),
            sources: sources.clone(),
            workspace: workspace::selected(world)?,
            config: Arc::new(config),
            files: loaded.files,
            globals,
            provider_sources: Arc::new(ProviderSources::of(world, sources)),
            request: request.clone(),
            manner,
            verbose,
            updates_snapshots: false,
            judge: None,
            explains: false,
            coverage: None,
            helpers: loaded.helpers,
        };
        Ok((suite, problems))
    }

    /// Reads the tests of a module that is read already, for whoever only checks them. Returns what is wrong, and the modules of runs
    /// that lie beside it; these not where the tests cannot be read, which is the error.
    ///
    /// # Errors
    ///
    /// What is wrong with the tests themselves.
    pub fn check(&self, config: &Config) -> Result<(Diagnostics, Vec<Arc<Config>>), Diagnostics> {
        let tests = self.tests(config)?;
        let mut found = tests.problems;
        if found.has_errors() {
            return Err(found);
        }
        for file in &tests.files {
            found.extend(overriding::check(&file.overrides));
            for run in &file.runs {
                found.extend(overriding::check(&run.overrides));
                found.extend(expected::check(run));
            }
        }
        let mut beside: Vec<Arc<Config>> = Vec::new();
        for helper in tests.helpers.into_values().filter(|it| it.key.starts_with('.')) {
            if !beside.iter().any(|it| Arc::ptr_eq(it, &helper.config)) {
                beside.push(helper.config);
            }
        }
        Ok((found, beside))
    }

    /// Returns what the tests of a module need of providers, beside what the module itself does, and warnings.
    ///
    /// # Errors
    ///
    /// If the tests cannot be read.
    pub fn requirements(
        &self,
        config: &Config,
    ) -> Result<(Requirements, Diagnostics), Diagnostics> {
        let (needs, warnings) = self.needs(config)?;
        let mut needed = Requirements::default();
        for (_, helper) in needs.iter().flat_map(|it| &it.runs) {
            needed = needed.and(Requirements::of(helper).0);
        }
        let configured = needs.into_iter().flat_map(|it| it.providers).collect::<Vec<_>>();
        Ok((needed.also(configured), warnings))
    }

    /// Returns what each test file needs by itself, and warnings. What is only mocked need not be there.
    ///
    /// # Errors
    ///
    /// If the tests cannot be read.
    pub fn needs(&self, config: &Config) -> Result<(Vec<FileNeeds>, Diagnostics), Diagnostics> {
        let tests = self.tests(config)?;
        if tests.problems.has_errors() {
            return Err(tests.problems);
        }
        let root = config.root();
        let of_file = |file: &TestFile| {
            let helper = |index: usize| tests.helpers.get(&(file.path.clone(), index));
            let runs = file.runs.iter().enumerate().filter_map(|(index, run)| {
                Some((run.name.text.to_string(), helper(index)?.config.clone()))
            });
            let mut providers = Vec::new();
            for block in &file.providers {
                let provider = root.provider_of(&block.name.text);
                if !providers.contains(&provider) {
                    providers.push(provider);
                }
            }
            let name = TestFileName { path: file.path.clone() };
            FileNeeds { name: installed::key(&address_of(&name)), providers, runs: runs.collect() }
        };
        Ok((tests.files.iter().map(of_file).collect(), tests.problems))
    }

    fn load(&self) -> Result<(Config, Tests), Diagnostics> {
        let (world, sources) = (self.world, self.sources);
        let read = readable_files(world, self.directory, sources)?;
        let installed = InstalledModules::read(&world.files, &workspace::data_folder(world))?;
        let context = early_context(world, sources)?;
        let root = Folder { root: &world.root, directory: "." };
        let (config, mut problems) =
            load_config_of(&world.files, root, sources, &installed, &context);
        let Some(config) = config else { return Err(problems) };
        let mut tests = self.prepared(read, &config, problems.has_errors())?;
        problems.extend(std::mem::take(&mut tests.problems));
        if !problems.has_errors() {
            problems.extend(check_with_tests(&config, &tests.files, sources));
        }
        tests.problems = problems.once();
        Ok((config, tests))
    }

    /// Reads test files, and the modules of their runs.
    fn tests(&self, config: &Config) -> Result<Tests, Diagnostics> {
        self.prepared(files(self.world, self.directory, self.sources), config, false)
    }

    /// Reads the modules of the runs of test files; these not where something `is_broken` before.
    fn prepared(
        &self,
        (files, mut problems): (Vec<TestFile>, Diagnostics),
        config: &Config,
        is_broken: bool,
    ) -> Result<Tests, Diagnostics> {
        let (world, sources) = (self.world, self.sources);
        let installed = InstalledModules::read(&world.files, &workspace::data_folder(world))?;
        let context = early_context(world, sources)?;
        let mut helpers = BTreeMap::new();
        let mut known = BTreeMap::new();
        let is_broken = is_broken || problems.has_errors();
        for file in files.iter().filter(|_| !is_broken) {
            let name = TestFileName { path: file.path.clone() };
            for (index, run) in file.runs.iter().enumerate() {
                let Some(module) = &run.module else { continue };
                let place = key_of(&name, &run.name.text);
                let helper = self.helper(
                    module,
                    (&place, config.root_place()),
                    (&installed, &context),
                    &mut known,
                );
                if let Some(helper) = problems.take(helper) {
                    helpers.insert((file.path.clone(), index), helper);
                }
            }
        }
        if !is_broken && !problems.has_errors() {
            for file in &files {
                let module = |run| helpers.get(&(file.path.clone(), run)).map(|it| &*it.config);
                let modules: Vec<Option<&Config>> = (0..file.runs.len()).map(module).collect();
                problems.extend(serving::check(file, config, &modules));
            }
        }
        Ok(Tests { files, helpers, problems })
    }

    /// Reads the module of a run; each folder once.
    fn helper(
        &self,
        module: &TestModule,
        (place, place_of_tests): (&str, &StaticModule),
        (installed, context): (&InstalledModules, &Arc<EarlyContext>),
        known: &mut BTreeMap<String, Option<Arc<Config>>>,
    ) -> Result<Helper, Diagnostics> {
        let name = Name::new("module".into(), module.declared);
        let source = call_source(&module.call(&name), place_of_tests, None)?.source;
        let Some(record) = installed.records.get(place) else {
            return Err(problems::not_installed(module.declared).into());
        };
        if record.source != source.recorded() {
            return Err(problems::source_changed(module.source.span).into());
        }
        let key = source.recorded();
        if let Some(config) = known.get(&*record.directory) {
            // What is wrong with it was told when it was read.
            let config = config.clone().ok_or_else(Diagnostics::new)?;
            return Ok(Helper { key, config });
        }
        let folder = Folder { root: &self.world.root, directory: &record.directory };
        // What its callers inside rest on is given by runs, and by nobody when it is read.
        let context = EarlyContext::new(
            context.world.clone(),
            context.workspace.clone(),
            context.sources.clone(),
        );
        let context = Arc::new(context.recorded(BTreeMap::new()));
        let below = below(installed, place);
        let (config, problems) =
            load_config_of(&self.world.files, folder, self.sources, &below, &context);
        let config = config.filter(|_| !problems.has_errors()).map(Arc::new);
        known.insert(record.directory.to_string(), config.clone());
        match config {
            Some(config) => Ok(Helper { key, config }),
            None => Err(problems),
        }
    }
}

/// What a test file needs beside what the module under test does.
pub struct FileNeeds {
    /// `test`, and the steps of the file's path.
    pub name: String,
    /// The providers that it configures, as they stand there.
    pub providers: Vec<Provider>,
    /// The modules of runs that have one of their own, with the names of the runs.
    pub runs: Vec<(String, Arc<Config>)>,
}

/// The tests that were read.
struct Tests {
    files: Vec<TestFile>,
    helpers: BTreeMap<(String, usize), Helper>,
    problems: Diagnostics,
}

impl Suite {
    /// Returns every configuration that runs of a file work on.
    pub fn configs<'a>(&'a self, file: &'a TestFile) -> impl Iterator<Item = &'a Arc<Config>> {
        (0..file.runs.len()).map(|run| self.helper(file, run).map_or(&self.config, |it| &it.config))
    }

    /// Returns the folders, relative to the root module's, whose files a test file rests on.
    pub fn reach(&self, file: &TestFile) -> BTreeSet<String> {
        let modules = self.configs(file).flat_map(|it| it.all());
        let mut folders: BTreeSet<String> = modules.map(|it| it.1.directory.clone()).collect();
        // Values of variables lie beside the module under test.
        folders.insert(".".to_owned());
        folders
    }

    /// Returns the module of a run that has one of its own.
    pub fn helper(&self, file: &TestFile, run: usize) -> Option<&Helper> {
        self.helpers.get(&(file.path.clone(), run))
    }
}

/// Checks provider configurations as they are with every block of every test file.
fn check_with_tests(config: &Config, files: &[TestFile], sources: &Sources) -> Diagnostics {
    let mut config = config.clone();
    for file in files {
        let mocked = file.mocks.iter().map(MockProvider::block);
        let blocks: Vec<ProviderBlock> = file.providers.iter().cloned().chain(mocked).collect();
        config.with_providers(blocks);
    }
    check_providers(&config, sources)
}

/// The key under which the module of a run is installed.
fn key_of(file: &TestFileName, run: &str) -> String {
    installed::key(&address_of(file).child(run, InstanceKey::None))
}

fn address_of(file: &TestFileName) -> ModuleInstance {
    let start = ModuleInstance::default().child("test", InstanceKey::None);
    file.steps().iter().fold(start, |at, step| at.child(step, InstanceKey::None))
}

/// Returns what is installed below a key, as if the module of that key were the root.
fn below(installed: &InstalledModules, place: &str) -> InstalledModules {
    let start = format!("{place}.");
    let inside = installed
        .records
        .iter()
        .filter_map(|(key, record)| Some((key.strip_prefix(&start)?.to_owned(), record.clone())));
    InstalledModules { records: inside.collect(), in_place: installed.in_place }
}

/// Reads the test files of a folder, as far as they can be read.
fn files(world: &World, directory: &Path, sources: &Sources) -> (Vec<TestFile>, Diagnostics) {
    let (names, mut problems) = test_files(&world.files, &world.root, directory);
    let (files, found) = read_tests(&world.files, &world.root, &names, sources);
    problems.extend(found);
    (files, problems)
}

/// Returns the test files of a folder, and warnings.
///
/// # Errors
///
/// If one cannot be read: what is wrong with the root module itself is told, too, and nothing of what it calls.
fn readable_files(
    world: &World,
    directory: &Path,
    sources: &Sources,
) -> Result<(Vec<TestFile>, Diagnostics), Diagnostics> {
    let (files, problems) = files(world, directory, sources);
    if problems.has_errors() {
        let (_, mut all) = load_module(&world.files, &world.root, ".", sources);
        all.extend(problems);
        return Err(all);
    }
    Ok((files, problems))
}

/// Returns the modules of the runs of all test files, each with the place under which it is installed.
///
/// # Errors
///
/// If a test file cannot be read: what is wrong with the root module itself is told, too, and nothing of what it calls.
pub fn helpers_of(
    world: &World,
    directory: &Path,
    sources: &Sources,
) -> Result<Vec<(ModuleInstance, ModuleCall)>, Diagnostics> {
    let (files, _) = readable_files(world, directory, sources)?;
    let mut calls = Vec::new();
    for file in &files {
        let at = address_of(&TestFileName { path: file.path.clone() });
        for run in &file.runs {
            let module = run.module.iter();
            calls.extend(module.map(|it| (at.clone(), it.call(&run.name))));
        }
    }
    Ok(calls)
}
