//! What a state and a configuration say alone, as rules see it: for whoever keeps it to be asked later.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use entail_rules::Tables;

use super::asking::{see_saved, unchanged};
use super::elsewhere::nothing;
use super::policy::structure;
use crate::datalog::{Database, Limits, Program};
use crate::diagnostic::{Diagnostics, Sources};
use crate::operation::models;
use crate::operation::session::Session;
use crate::operation::{plan as operation, saved};
use crate::plan::Plan;
use crate::policy::judge::concluded;
use crate::policy::model::{Memo, Model, Planned};
use crate::policy::{Policies, PolicySource};
use crate::request::Request;
use crate::state::State;
use crate::world::World;

/// Says what rules conclude of states and configurations that nothing is done with. One of it serves many of them, one after the other.
pub struct Recorder {
    session: Session,
    program: Program,
}

/// What rules concluded of one.
pub struct Concluded<'a> {
    /// The nodes and their values.
    pub model: &'a Model<'a>,
    /// The rules.
    pub program: &'a Program,
    /// What they concluded.
    pub database: &'a Database,
}

impl Recorder {
    /// Returns one for these relations of the vocabulary.
    ///
    /// # Errors
    ///
    /// If nothing can be concluded here at all.
    pub fn new(world: &Arc<World>, relations: &[&str]) -> Result<Recorder, Diagnostics> {
        // There need not be a configuration, and what there is says nothing of a state.
        let session = nothing(world, &Sources::default())?;
        let (policies, _) = Policies::read(Vec::<PolicySource>::new(), &session.sources);
        let goals: Vec<usize> =
            relations.iter().filter_map(|it| policies.program.relation(it)).collect();
        Ok(Recorder { session, program: policies.program.for_goals(&goals) })
    }

    /// Concludes what a state says alone.
    ///
    /// # Errors
    ///
    /// If the state says nothing that makes sense.
    pub fn state<T>(
        &self,
        state: State,
        see: impl FnOnce(&Concluded<'_>) -> T,
    ) -> Result<T, Diagnostics> {
        let variables = self.session.variables_or_unknown(&BTreeMap::new())?;
        let request = Request::default();
        let known = operation::whatif(&self.session, &request, state.clone(), &variables)?;
        let plan = unchanged(state, &self.session);
        let lowered = &known.lowered;
        let model = Model {
            state: Some(&plan.previous_state),
            plan: Some(Planned::new(&plan, &lowered.structure, None)),
            memo: Memo::around(&self.session.graph),
            ..models::of_lowered(&self.session, lowered, &variables.values)
        };
        self.concluded(model, &[&lowered.facts], see)
    }

    /// Concludes what a configuration says alone: no init, no provider, no state.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or its variables make no sense.
    pub fn configuration<T>(
        &self,
        world: &Arc<World>,
        sources: &Sources,
        request: &Request,
        see: impl FnOnce(&Session, &Concluded<'_>) -> T,
    ) -> Result<T, Diagnostics> {
        let (session, problems) = Session::open_in_place(world.clone(), sources.clone())?;
        if problems.has_errors() {
            return Err(problems);
        }
        let (inputs, _, problems) = session.given_variables(request);
        if problems.has_errors() {
            return Err(problems);
        }
        let variables = session.variables_or_unknown(&inputs)?;
        let known = structure(&session, request, &variables)?;
        let model = Model {
            memo: Memo::around(&session.graph),
            ..models::of_lowered(&session, &known.lowered, &variables.values)
        };
        self.concluded(model, &[&known.lowered.facts], |it| see(&session, it))
    }

    /// Concludes what a saved plan does: no provider, no configuration.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is of another version.
    pub fn saved<T>(
        &self,
        world: &Arc<World>,
        sources: &Sources,
        path: &Path,
        see: impl FnOnce(&Plan, &Concluded<'_>) -> T,
    ) -> Result<T, Diagnostics> {
        let mut loaded = saved::load(world, sources, path)?;
        see_saved(world, sources, &mut loaded, |loaded, model, tables| {
            self.concluded(model, tables, |it| see(&loaded.plan, it))
        })
    }

    fn concluded<'m, T>(
        &self,
        model: Model<'m>,
        tables: &[&dyn Tables],
        see: impl FnOnce(&Concluded<'_>) -> T,
    ) -> Result<T, Diagnostics> {
        // Values of one are nothing to the next: the numbers that rules mention stay as they are.
        let mut program = self.program.clone();
        program.values = Arc::new((*program.values).clone());
        let model = Model { values: program.values.clone(), ..model };
        let database = concluded(&program, &model, tables, &Limits::NONE)?;
        Ok(see(&Concluded { model: &model, program: &program, database: &database }))
    }
}
