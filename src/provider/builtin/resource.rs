//! What the embedded kinds have in common: the defaults of each call, in the manner of the plugin framework.
//!
//! A [`Kind`] is a table of attributes and whatever it does differently. The default plan: absent arguments get their
//! defaults; if anything then differs from the prior object, every computed attribute without configuration becomes
//! unknown; kept ones go back to their prior value; last, each difference is asked whether it needs a replacement.

use std::time::Duration;

use super::attribute::{Attribute, Replace, ReplaceCase, Shape};
use super::fields::{Fields, Read, at, same};
use crate::provider::{PlanCall, PlannedObject, ProviderDiagnostic, Response};
use crate::value::{Path, PathStep, Type, Value};
use crate::world::World;

/// A problem that a kind reports.
pub(super) type Problem = ProviderDiagnostic;

/// A type of managed resource.
pub(super) trait Kind: Send + Sync {
    /// Returns its name.
    fn name(&self) -> &'static str;

    /// Returns its attributes.
    fn attributes(&self) -> &'static [Attribute];

    /// Returns the version of its stored objects.
    fn version(&self) -> u64 {
        0
    }

    /// Checks a configuration by rules beyond types. What is unknown waits.
    fn check(&self, config: &Value, found: &mut Vec<Problem>) {
        let _ = (config, found);
    }

    /// Checks a configuration.
    fn validate(&self, config: &Value) -> Vec<Problem> {
        let mut found = Vec::new();
        self.check(config, &mut found);
        check_attributes(self.attributes(), config, &mut found);
        found
    }

    /// Brings an object of an older version up to date; `None` where there is no way.
    fn upgrade(
        &self,
        world: &World,
        version: u64,
        object: &mut Fields,
    ) -> Option<Result<(), Problem>> {
        let _ = (world, version, object);
        None
    }

    /// Returns whether an object is still there.
    fn is_there(&self, world: &World, object: &Value) -> Result<bool, Problem> {
        let _ = (world, object);
        Ok(true)
    }

    /// Plans a change.
    fn plan(
        &self,
        ty: Type,
        world: &World,
        call: &PlanCall<'_>,
    ) -> Response<Option<PlannedObject>> {
        plan_by_table(self, ty, world, call)
    }

    /// Sets planned attributes that follow from the configuration, before replacement is decided.
    fn complete_plan(&self, config: &Value, planned: &mut Fields) -> Result<(), Problem> {
        let _ = (config, planned);
        Ok(())
    }

    /// Sets planned attributes that follow from the other planned ones, after replacement is decided.
    fn refine(&self, prior: &Value, planned: &mut Fields) -> Result<(), Problem> {
        let _ = (prior, planned);
        Ok(())
    }

    /// Returns how long to wait before an object is created (prior null) or deleted (planned null).
    fn pause(&self, prior: &Value, planned: &Value) -> Result<Option<Duration>, Problem> {
        let _ = (prior, planned);
        Ok(None)
    }

    /// Creates an object: `planned` comes as planned and leaves as created.
    fn create(&self, world: &World, planned: &mut Fields) -> Result<(), Problem>;

    /// Updates an object in place: `planned` comes as planned and leaves as updated.
    fn update(&self, planned: &mut Fields) -> Result<(), Problem> {
        let _ = planned;
        Ok(())
    }

    /// Deletes an object.
    fn delete(&self, world: &World, prior: &Value) -> Result<(), Problem> {
        let _ = (world, prior);
        Ok(())
    }

    /// Fills in what an import id tells; `None` where the kind cannot be imported.
    fn import(&self, world: &World, id: &str, object: &mut Fields) -> Option<Result<(), Problem>> {
        let _ = (world, id, object);
        None
    }

    /// Fills in an object from one of another type; `None` where the kind takes none from there.
    fn take_over(
        &self,
        from_kind: &str,
        stored: &str,
        object: &mut Fields,
    ) -> Option<Result<(), Problem>> {
        let _ = (from_kind, stored, object);
        None
    }
}

/// Checks what a table says of each attribute: read-only, required, whole numbers, deprecation.
pub(super) fn check_attributes(attributes: &[Attribute], config: &Value, found: &mut Vec<Problem>) {
    for attribute in attributes {
        let value = config.member(attribute.name);
        if attribute.required && value.is_null() {
            found.push(required_attribute(attribute.name));
        }
        if value.is_null() {
            continue;
        }
        if !attribute.required && !attribute.optional {
            found.push(read_only_attribute(attribute.name));
        } else if attribute.shape == Shape::Whole && value.is_known() && value.as_int().is_none() {
            found.push(not_whole(attribute.name));
        } else if let Some(instead) = attribute.deprecated
            && value.is_known()
        {
            found.push(Problem::warning("Attribute Deprecated", instead).at(at(attribute.name)));
        }
    }
}

/// Plans a change as the table of attributes says.
pub(super) fn plan_by_table<K: Kind + ?Sized>(
    kind: &K,
    ty: Type,
    world: &World,
    call: &PlanCall<'_>,
) -> Response<Option<PlannedObject>> {
    let mut planned = Fields::of(ty, call.proposed);
    if call.proposed.is_null() {
        return planned_as(call, call.proposed.clone(), Vec::new());
    }
    let attributes = kind.attributes();
    for attribute in attributes {
        if let Some(preset) = attribute.preset
            && call.config.member(attribute.name).is_null()
        {
            planned.set(attribute.name, preset.value());
        }
    }
    if call.prior.is_null()
        || !planned.values().iter().zip(call.prior.children()).all(|(a, b)| same(a, b))
    {
        forget_computed(attributes, call.config, &mut planned);
    }
    if let Err(problem) = kind.complete_plan(call.config, &mut planned) {
        return failed(problem);
    }
    let mut requires_replace = Vec::new();
    if !call.prior.is_null() {
        restore_kept(attributes, call.prior, &mut planned);
        requires_replace = replacements(attributes, world, call, &planned);
    }
    match kind.refine(call.prior, &mut planned) {
        Ok(()) => planned_as(call, planned.into_value(), requires_replace),
        Err(problem) => failed(problem),
    }
}

fn forget_computed(attributes: &[Attribute], config: &Value, planned: &mut Fields) {
    for attribute in attributes {
        if attribute.computed
            && attribute.preset.is_none()
            && config.member(attribute.name).is_null()
        {
            planned.set(attribute.name, Value::unknown(attribute.shape.ty()));
        }
    }
}

fn restore_kept(attributes: &[Attribute], prior: &Value, planned: &mut Fields) {
    for attribute in attributes.iter().filter(|it| it.kept) {
        if !planned.get(attribute.name).is_known() {
            planned.set(attribute.name, prior.member(attribute.name).clone());
        }
    }
}

fn replacements(
    attributes: &[Attribute],
    world: &World,
    call: &PlanCall<'_>,
    planned: &Fields,
) -> Vec<Path> {
    let needs = |attribute: &&Attribute| {
        let prior = call.prior.member(attribute.name);
        if same(prior, planned.get(attribute.name)) {
            return false;
        }
        match attribute.replace {
            Replace::Never => false,
            Replace::Changed => true,
            Replace::When(answer) => answer(&ReplaceCase {
                prior,
                config: call.config.member(attribute.name),
                now: world.now(),
            }),
        }
    };
    attributes.iter().filter(needs).map(|it| vec![PathStep::Attribute(it.name.into())]).collect()
}

/// Returns a plan.
pub(super) fn planned_as(
    call: &PlanCall<'_>,
    planned: Value,
    requires_replace: Vec<Path>,
) -> Response<Option<PlannedObject>> {
    Response::ok(Some(PlannedObject {
        planned,
        requires_replace,
        private: call.private.to_vec(),
        identity: None,
        legacy_types: false,
    }))
}

/// Returns a failure.
pub(super) fn failed<T>(problem: Problem) -> Response<Option<T>> {
    Response { value: None, diagnostics: vec![problem] }
}

fn required_attribute(name: &str) -> Problem {
    Problem::error(
        "Missing Configuration for Required Attribute",
        format!("The argument {name:?} is required, so it must not be null."),
    )
    .at(at(name))
}

fn read_only_attribute(name: &str) -> Problem {
    Problem::error(
        "Invalid Configuration for Read-Only Attribute",
        format!(
            "The attribute {name:?} is decided by the provider. Remove it from the configuration."
        ),
    )
    .at(at(name))
}

fn not_whole(name: &str) -> Problem {
    Problem::error(
        "Configuration Read Error",
        format!("The argument {name:?} must be a whole number of at most 64 bits."),
    )
    .at(at(name))
}
