//! A folder opened by who only looks at its configuration: nothing need be set up, and what is wrong keeps nobody from the rest.

use std::sync::Arc;

use super::{Session, early_context, unavailable};
use crate::backend::local::Choice;
use crate::backend::workspace;
use crate::config::{Config, InstalledModules, check};
use crate::diagnostic::{Diagnostic, Diagnostics, Severity, Sources};
use crate::encryption;
use crate::lower::BlockGraph;
use crate::observe::provider_sources::ProviderSources;
use crate::operation::backends;
use crate::reason;
use crate::world::World;

impl Session {
    /// Opens the folder for `console`: as for `validate`, with the state where flags and the backend block say that it is.
    pub fn open_for_console(
        world: Arc<World>,
        sources: Sources,
        choice: &Choice,
    ) -> Result<(Session, Diagnostics), Diagnostics> {
        let opened = Session::open_for_validation(world.clone(), sources.clone());
        let (mut session, mut problems) =
            opened.map_err(|it| unavailable::with_backend(&world, &sources, it))?;
        problems.extend(encryption::install(session.config.root_place())?);
        let data = workspace::data_folder(&session.world);
        let place = backends::likely(session.config.root_place(), choice, &data)?;
        session.backend = place.backend(&session.workspace);
        Ok((session, problems))
    }

    /// Opens the folder for who only looks at its configuration: nothing need be set up, and modules of the folder itself are read where
    /// they lie. What is wrong comes beside the session, which holds what could be read.
    ///
    /// # Errors
    ///
    /// If there is no configuration that could be looked at.
    pub fn open_in_place(
        world: Arc<World>,
        sources: Sources,
    ) -> Result<(Session, Diagnostics), Diagnostics> {
        let (session, mut problems) = Session::load_in_place(world, sources)?;
        if !problems.has_errors() {
            let found = session.check_all_names();
            // What does not fit together is not known here, and keeps nobody from looking at the rest.
            let told = found.into_iter().map(|it| Diagnostic { severity: Severity::Warning, ..it });
            problems.extend(told.collect::<Vec<_>>());
        }
        Ok((session, problems))
    }

    /// Like [`Session::open_in_place`], with what does not fit together still to be looked at.
    ///
    /// # Errors
    ///
    /// As for that.
    pub fn load_in_place(
        world: Arc<World>,
        sources: Sources,
    ) -> Result<(Session, Diagnostics), Diagnostics> {
        let data = workspace::data_folder(&world);
        let mut installed = InstalledModules::read(&world.files, &data).unwrap_or_default();
        installed.in_place = true;
        let context = early_context(&world, &sources)?;
        let (config, problems) =
            crate::config::load_config(&world.files, &world.root, &sources, &installed, &context);
        let Some(config) = config.map(Config::with_given_aliases) else { return Err(problems) };
        let graph = BlockGraph::of(reason::named(&world)?, &config).without_circles();
        let place = backends::Place::usual(&world, &Choice::default());
        let workspace = context.workspace.clone();
        let provider_sources = Arc::new(ProviderSources::of(&world, &sources));
        let session =
            Session::new((world, sources), workspace, (config, graph), &place, provider_sources);
        Ok((session, problems))
    }

    /// Opens the folder for who asks for a single value: as [`Session::open_in_place`], with the state where the backend block says that it
    /// is. A state that is sealed stays so: opening it may run programs, which nobody has asked for.
    ///
    /// # Errors
    ///
    /// If the configuration cannot be read, or there is no telling where its state is.
    pub fn open_to_peek(world: Arc<World>, sources: Sources) -> Result<Session, Diagnostics> {
        let (mut session, problems) = Session::load_in_place(world, sources)?;
        if problems.has_errors() {
            return Err(problems);
        }
        let data = workspace::data_folder(&session.world);
        let place = backends::likely(session.config.root_place(), &Choice::default(), &data)?;
        session.backend = place.backend(&session.workspace);
        Ok(session)
    }

    /// Returns what is wrong with references and names, and with calls that do not fit their modules.
    pub fn check_all_names(&self) -> Diagnostics {
        let mut found = check::check_calls(&self.config);
        let suspects = self.graph.suspects();
        found.extend(check::check_selves(&self.config, &suspects));
        found.extend(self.graph.check(&self.config, &suspects, &self.sources));
        found
    }
}
