//! What was planned, saved or only lowered, as rules over values and questions about values see it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::plan::Planned;
use super::saved::Loaded;
use super::session::Session;
use crate::config::Config;
use crate::diagnostic::Sources;
use crate::lower::{Lowered, ReadPlaces, judged_run};
use crate::policy::model::{Model, Planned as PlannedModel, Secrets, secrets_key};
use crate::reason;
use crate::schema::sensitive_names;
use crate::value::{Str, Value};
use crate::world::World;

/// Returns what is known before any provider is asked. There is neither plan nor state.
pub fn of_lowered<'a>(
    session: &'a Session,
    lowered: &'a Lowered,
    variables: &'a BTreeMap<Str, Value>,
) -> Model<'a> {
    Model {
        config: &session.config,
        structure: &lowered.structure,
        sources: &session.sources,
        world: &session.world,
        workspace: &session.workspace,
        variables,
        places: &lowered.places,
        plan: None,
        state: None,
        elsewhere: None,
        secrets: Default::default(),
        values: Default::default(),
        memo: Default::default(),
    }
}

/// Returns a plan just made.
pub fn of_planned<'a>(session: &'a Session, planned: &'a Planned) -> Model<'a> {
    let finished = &planned.finished;
    Model {
        config: &session.config,
        structure: &finished.structure,
        sources: &session.sources,
        world: &session.world,
        workspace: &session.workspace,
        variables: &planned.variables.values,
        places: &finished.places,
        plan: Some(
            PlannedModel::new(&finished.plan, &finished.structure, Some(&finished.evaluated))
                .of_run(&finished.instances),
        ),
        state: Some(&finished.plan.previous_state),
        elsewhere: None,
        secrets: secrets(planned),
        values: Default::default(),
        memo: Default::default(),
    }
}

/// Returns what the providers of a plan call sensitive.
pub fn secrets(planned: &Planned) -> Secrets {
    let mut found = Secrets::new();
    for resource in &planned.finished.structure.resources {
        let key = secrets_key(&resource.address.resource);
        if found.contains_key(&key) {
            continue;
        }
        if let Some(schema) = planned.pool.schema_of(resource) {
            found.insert(key, sensitive_names(&schema.block).cloned().collect());
        }
    }
    found.retain(|_, names| !names.is_empty());
    found
}

/// What a saved plan was made from.
pub struct Basis<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// Its files.
    pub sources: &'a Sources,
    /// Clock and environment.
    pub world: &'a Arc<World>,
    /// The root module's variables.
    pub variables: &'a BTreeMap<Str, Value>,
    /// Where reads stand.
    pub places: &'a ReadPlaces,
}

/// Returns a saved plan.
pub fn of_saved<'a>(loaded: &'a Loaded, basis: &Basis<'a>) -> Model<'a> {
    let judged = judged_run(reason::engine(basis.world), &loaded.facts);
    let plan = PlannedModel::new(&loaded.plan, &loaded.structure, Some(&loaded.evaluated));
    Model {
        config: basis.config,
        structure: &loaded.structure,
        sources: basis.sources,
        world: basis.world,
        workspace: &loaded.plan.workspace,
        variables: basis.variables,
        places: basis.places,
        plan: Some(plan.of_run(&judged)),
        state: Some(&loaded.plan.previous_state),
        elsewhere: None,
        secrets: loaded.secrets.clone(),
        values: Default::default(),
        memo: Default::default(),
    }
}
