//! `terraform.io/builtin/terraform`: `terraform_data`, and the outputs of other configurations.

use std::sync::LazyLock;

use super::attribute::{Attribute, any, text};
use super::fields::{Fields, Read};
use super::remote_state::RemoteState;
use super::resource::{Kind, Problem, planned_as};
use super::table::Table;
use crate::provider::{PlanCall, PlannedObject, Response};
use crate::value::json::from_stored_json;
use crate::value::{PathStep, Str, Type, Value};
use crate::world::World;

mod functions;

pub(super) static TABLE: LazyLock<Table> =
    LazyLock::new(|| Table::new(&[&TerraformData], &[&RemoteState], &[], functions::FUNCTIONS));

struct TerraformData;

impl Kind for TerraformData {
    fn name(&self) -> &'static str {
        "terraform_data"
    }

    fn attributes(&self) -> &'static [Attribute] {
        const {
            &[
                text("id").computed(),
                any("input").optional(),
                any("output").computed().repeats("input"),
                any("triggers_replace").optional(),
            ]
        }
    }

    fn validate(&self, config: &Value) -> Vec<Problem> {
        let set = ["id", "output"].into_iter().filter(|it| !config.member(it).is_null());
        set.map(|it| Problem::error(format!("{it:?} attribute is read-only"), "")).collect()
    }

    /// Plans exactly as the table says and more: output has the type of input, and a difference in type is one.
    fn plan(&self, ty: Type, _: &World, call: &PlanCall<'_>) -> Response<Option<PlannedObject>> {
        let (prior, proposed) = (call.prior, call.proposed);
        if proposed.is_null() {
            return planned_as(call, proposed.clone(), Vec::new());
        }
        let changed = |name: &str| prior.member(name) != proposed.member(name);
        let is_replaced = !prior.is_null() && changed("triggers_replace");
        let is_new = prior.is_null() || is_replaced;
        if !is_new && !changed("input") {
            return planned_as(call, proposed.clone(), Vec::new());
        }
        let mut planned = Fields::of(ty, proposed);
        let input = proposed.member("input");
        // An update to null plans an output that only apply finds to be null; a new object has it at once.
        let output =
            if is_new && input.is_null() { input.clone() } else { Value::unknown(input.ty()) };
        planned.set("output", output);
        if is_new {
            planned.set("id", Value::unknown_not_null(Type::STRING));
        }
        let requires_replace = if is_replaced {
            vec![vec![PathStep::Attribute("triggers_replace".into())]]
        } else {
            Vec::new()
        };
        planned_as(call, planned.into_value(), requires_replace)
    }

    fn create(&self, world: &World, planned: &mut Fields) -> Result<(), Problem> {
        if !planned.get("id").is_known() {
            planned.set_text("id", world.uuid());
        }
        self.update(planned)
    }

    fn update(&self, planned: &mut Fields) -> Result<(), Problem> {
        if !planned.get("output").is_known() {
            planned.set("output", planned.get("input").clone());
        }
        Ok(())
    }

    fn import(&self, _: &World, id: &str, object: &mut Fields) -> Option<Result<(), Problem>> {
        object.set_text("id", id);
        Some(Ok(()))
    }

    /// Takes a `null_resource`: its triggers become an object with the same members.
    fn take_over(
        &self,
        from_kind: &str,
        stored: &str,
        object: &mut Fields,
    ) -> Option<Result<(), Problem>> {
        if from_kind != "null_resource" {
            return Some(Err(Problem::error(
                format!(
                    "unsupported move: {from_kind} -> terraform_data; only move from null_resource to terraform_data is supported"
                ),
                "",
            )));
        }
        let ty = Type::object(vec![
            ("id".into(), Type::STRING),
            ("triggers".into(), Type::map(Type::STRING)),
        ]);
        let taken = match from_stored_json(stored, ty) {
            Ok(it) => it,
            Err(why) => {
                return Some(Err(Problem::error("Unable to Move Resource State", why.to_string())));
            }
        };
        object.set("id", taken.member("id").clone());
        let triggers = taken.member("triggers");
        if !triggers.is_null() {
            let members: Vec<(Str, Value)> =
                triggers.entries().into_iter().map(|(key, value)| (key, value.clone())).collect();
            object.set("triggers_replace", Value::object(members));
        }
        Some(Ok(()))
    }
}
