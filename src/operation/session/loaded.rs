//! Configurations that are read without a word on how their parts fit together.

use std::sync::Arc;

use super::{Session, early_context};
use crate::backend::local::Choice;
use crate::backend::workspace;
use crate::config::{Config, InstalledModules, load_config};
use crate::diagnostic::{Diagnostics, Sources};
use crate::encryption;
use crate::lower::BlockGraph;
use crate::lower::trace::providers as provider_keys;
use crate::observe::provider_sources::ProviderSources;
use crate::operation::backends;
use crate::reason;
use crate::world::World;

/// How often a configuration is read where OpenTofu does the same: it tells each time what is wrong, and so are programs told that read
/// it; people are told once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readings {
    /// Once.
    One,
    /// The files of the root module are read before everything is.
    FilesFirst,
    /// Like that, with everything read when modules are installed and again when they are there.
    Installing,
}

impl Session {
    /// Reads the configuration without checking how its parts fit together; what is wrong with it comes beside it.
    pub fn load(
        world: Arc<World>,
        sources: Sources,
        readings: Readings,
    ) -> Result<(Session, Diagnostics), Diagnostics> {
        Session::load_as(world, sources, |it| it, readings)
    }

    /// Like [`Session::load`], for a module that may be meant to be called by others: provider configurations that it
    /// wants to be given are there.
    pub fn load_by_itself(
        world: Arc<World>,
        sources: Sources,
    ) -> Result<(Session, Diagnostics), Diagnostics> {
        Session::load_as(world, sources, Config::with_given_aliases, Readings::One)
    }

    fn load_as(
        world: Arc<World>,
        sources: Sources,
        seen_as: fn(Config) -> Config,
        readings: Readings,
    ) -> Result<(Session, Diagnostics), Diagnostics> {
        let installed = InstalledModules::read(&world.files, &workspace::data_folder(&world))?;
        let context = early_context(&world, &sources)?;
        let (config, mut problems) =
            load_config(&world.files, &world.root, &sources, &installed, &context);
        if readings == Readings::Installing {
            if problems.has_errors() {
                // Then nothing is read again.
                return Err(problems);
            }
            problems.extend(problems.clone());
        }
        if let Some(config) = config.as_ref().filter(|_| readings != Readings::One) {
            problems.extend(config.root().of_files.clone());
        }
        let Some(config) = config.filter(|_| !problems.has_errors()) else { return Err(problems) };
        problems.extend(encryption::check(config.root_place()));
        problems.extend(provider_keys::problems(&config, &sources));
        let data = workspace::data_folder(&world);
        // What is wrong with the backend is told to who uses it.
        let choice = Choice::default();
        let place = backends::likely(config.root_place(), &choice, &data)
            .unwrap_or_else(|_| backends::Place::usual(&world, &choice));
        let config = seen_as(config);
        let graph = BlockGraph::of(reason::named(&world)?, &config);
        let workspace = context.workspace.clone();
        let provider_sources = Arc::new(ProviderSources::of(&world, &sources));
        let session =
            Session::new((world, sources), workspace, (config, graph), &place, provider_sources);
        Ok((session, problems))
    }
}
