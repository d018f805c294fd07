//! Checks what a provider planned against what the user wrote.

use std::collections::BTreeMap;

use super::proposed::is_equal_unrefined;
use super::types::{NestedBlock, Part};
use super::{AttributeSchema, BlockSchema, NestedAttributes, Nesting, attribute, items};
use crate::value::{Notated, Path, PathError, PathStep, Str, Value, unknown};

/// Returns what a planned object may not be: every place where the provider overrules the configuration.
///
/// The provider may choose `computed` attributes that are not configured, and answer with the prior value where a
/// configured one means the same. It may not change the number of blocks.
///
/// `prior`, `config`, `planned`: objects of the schema's type, or null. Source: OpenTofu, `internal/plans/objchange`.
pub fn check_planned(
    schema: &BlockSchema,
    prior: &Value,
    config: &Value,
    planned: &Value,
) -> Vec<PathError> {
    let mut check = Check::default();
    check.block(schema, prior, config, planned);
    check.errors
}

const UNKNOWN_ELEMENT: &str = "element representing nested block must not be unknown itself; set nested attribute values to unknown instead";

/// The three values at one place.
#[derive(Clone, Copy)]
struct Three<'a> {
    prior: &'a Value,
    config: &'a Value,
    planned: &'a Value,
}

#[derive(Default)]
struct Check {
    path: Path,
    errors: Vec<PathError>,
}

impl Check {
    fn error(&mut self, message: impl Into<String>) {
        self.errors.push(PathError::new(&self.path, message));
    }

    fn inside(&mut self, step: PathStep, then: impl FnOnce(&mut Check)) {
        self.path.push(step);
        then(self);
        self.path.pop();
    }

    /// Whether planned and configured agree that there is something, and what they agree on.
    fn exists(&mut self, config: &Value, planned: &Value) -> bool {
        match (config.is_null(), planned.is_null()) {
            (false, true) => self.error("planned for absence but config wants existence"),
            (true, false) => self.error("planned for existence but config wants absence"),
            (is_absent, _) => return !is_absent,
        }
        false
    }

    fn block(&mut self, schema: &BlockSchema, prior: &Value, config: &Value, planned: &Value) {
        if planned.is_same(config) || !self.exists(config, planned) {
            return;
        }
        for (place, (name, part)) in schema.parts().enumerate() {
            let ty = part.ty();
            let at = |value| attribute(value, place, name, ty);
            let (prior, config, planned) = (at(prior), at(config), at(planned));
            let three = Three { prior: &prior, config: &config, planned: &planned };
            match part {
                Part::Attribute(it) => self.attribute(name, it, three),
                Part::Block(it) => {
                    self.inside(PathStep::Attribute(name.clone()), |check| check.blocks(it, three));
                }
            }
        }
    }

    fn attributes(&mut self, schema: &BTreeMap<Str, AttributeSchema>, values: Three<'_>) {
        for (place, (name, it)) in schema.iter().enumerate() {
            let at = |value| attribute(value, place, name, it.ty);
            let (prior, config, planned) =
                (at(values.prior), at(values.config), at(values.planned));
            let three = Three { prior: &prior, config: &config, planned: &planned };
            self.attribute(name, it, three);
        }
    }

    fn attribute(&mut self, name: &Str, schema: &AttributeSchema, values: Three<'_>) {
        let Three { prior, config, planned } = values;
        let is_suppressed =
            || !prior.is_null() && !config.is_null() && is_equal_unrefined(planned, prior);
        let is_chosen = || schema.computed && (!schema.optional || config.is_null());
        if !(is_equal_unrefined(planned, config) || is_suppressed() || is_chosen()) {
            let step = PathStep::Attribute(name.clone());
            self.inside(step, |check| check.differing(schema, values));
        }
    }

    /// Checks an attribute that is neither what was configured nor what the provider may choose.
    fn differing(&mut self, schema: &AttributeSchema, Three { prior, config, planned }: Three<'_>) {
        if config.is_null() && !planned.is_null() {
            return self.error(match schema.sensitive {
                true => "sensitive planned value for a non-computed attribute".to_owned(),
                false => format!("planned value {} for a non-computed attribute", Notated(planned)),
            });
        }
        if planned.is_null() && schema.write_only {
            return;
        }
        if let Some(nested) = &schema.nested {
            return self.nested(nested, Three { prior, config, planned });
        }
        self.error(match (schema.sensitive, prior.is_null()) {
            (true, true) => "sensitive planned value does not match config value".to_owned(),
            (true, false) => {
                "sensitive planned value does not match config value nor prior value".to_owned()
            }
            (false, true) => {
                format!(
                    "planned value {} does not match config value {}",
                    Notated(planned),
                    Notated(config)
                )
            }
            (false, false) => format!(
                "planned value {} does not match config value {} nor prior value {}",
                Notated(planned),
                Notated(config),
                Notated(prior)
            ),
        });
    }

    fn nested(&mut self, schema: &NestedAttributes, values: Three<'_>) {
        let Three { config, planned, .. } = values;
        if !self.exists(config, planned) {
            return;
        }
        if !planned.is_known() {
            return self.error("planned unknown for configured value");
        }
        match schema.nesting {
            Nesting::Single | Nesting::Group => self.attributes(&schema.attributes, values),
            Nesting::List if self.has_equal_length(config, planned) => {
                let each = |at: usize| PathStep::index(at);
                self.each_item(values, each, &mut |check, values| {
                    check.attributes(&schema.attributes, values)
                });
            }
            Nesting::Map if self.has_equal_length(config, planned) => {
                let step = |key: Str| PathStep::Attribute(key);
                let noun = "map key";
                self.each_entry(values, noun, step, &mut |check, it| {
                    check.attributes(&schema.attributes, it)
                });
            }
            Nesting::List | Nesting::Map => {}
            Nesting::Set => {
                let ((least, greatest), (lowest, highest)) =
                    (unknown::length_bounds(planned), unknown::length_bounds(config));
                if greatest.is_some_and(|it| lowest > it) || highest.is_some_and(|it| it < least) {
                    self.error(count_differs(planned, config));
                }
            }
        }
    }

    fn has_equal_length(&mut self, config: &Value, planned: &Value) -> bool {
        let length = |it: &Value| items(it).len() + it.entries().len();
        let is_equal = config.is_known() && length(config) == length(planned);
        if !is_equal {
            self.error(count_differs(planned, config));
        }
        is_equal
    }

    fn each_item(
        &mut self,
        Three { prior, config, planned }: Three<'_>,
        step: impl Fn(usize) -> PathStep,
        visit: &mut dyn FnMut(&mut Check, Three<'_>),
    ) {
        for (at, (planned, config)) in items(planned).iter().zip(items(config)).enumerate() {
            let prior = items(prior).get(at).unwrap_or(&Value::NULL);
            self.inside(step(at), |check| visit(check, Three { prior, config, planned }));
        }
    }

    fn each_entry(
        &mut self,
        Three { prior, config, planned }: Three<'_>,
        noun: &str,
        step: impl Fn(Str) -> PathStep,
        visit: &mut dyn FnMut(&mut Check, Three<'_>),
    ) {
        for (key, planned) in planned.entries() {
            let message = format!("{noun} {:?} from plan is not present in config", &*key);
            let prior = prior.get(&key).unwrap_or(&Value::NULL);
            match (config.get(&key), step(key)) {
                (Some(config), step) => {
                    self.inside(step, |check| visit(check, Three { prior, config, planned }))
                }
                (None, step @ PathStep::Index(_)) => {
                    self.inside(step, |check| check.error(message))
                }
                (None, PathStep::Attribute(_)) => self.error(message),
            }
        }
        for (key, _) in config.entries() {
            if planned.get(&key).is_none() {
                self.error(format!("{noun} {:?} from config is not present in plan", &*key));
            }
        }
    }

    fn blocks(&mut self, schema: &NestedBlock, values: Three<'_>) {
        let Three { prior, config, planned } = values;
        if planned == config {
            return;
        }
        if !config.is_known() {
            return self
                .error(format!("planned value {} for unknown dynamic block", Notated(planned)));
        }
        if !planned.is_known() {
            return self.error(
                "attribute representing nested block must not be unknown itself; set nested attribute values to unknown instead",
            );
        }
        let noun = match schema.nesting {
            Nesting::Single | Nesting::Group => {
                return self.block(&schema.block, prior, config, planned);
            }
            Nesting::List => "list",
            Nesting::Map => "map",
            Nesting::Set => "set",
        };
        if planned.is_null() {
            return self.error(format!(
                "attribute representing a {noun} of nested blocks must be empty to indicate no blocks, not null"
            ));
        }
        let mut visit =
            |check: &mut Check, Three { prior, config, planned }: Three<'_>| match planned
                .is_known()
            {
                true => check.block(&schema.block, prior, config, planned),
                false => check.error(UNKNOWN_ELEMENT),
            };
        match schema.nesting {
            Nesting::List if self.has_equal_block_count(config, planned) => {
                self.each_item(values, PathStep::index, &mut visit);
            }
            Nesting::Map if matches!(planned.bare(), Value::Object(_)) => {
                self.each_entry(values, "block key", PathStep::Attribute, &mut visit);
            }
            Nesting::Map if self.has_equal_block_count(config, planned) => {
                self.each_entry(
                    values,
                    "block key",
                    |key| PathStep::Index(Value::String(key)),
                    &mut visit,
                );
            }
            Nesting::Set => self.set_blocks(planned),
            _ => {}
        }
    }

    /// Planned blocks in a set cannot be told which configured ones they are, so only their existence is checked.
    fn set_blocks(&mut self, planned: &Value) {
        for item in items(planned).iter().filter(|it| !it.is_known()) {
            self.inside(PathStep::Index(item.clone()), |check| check.error(UNKNOWN_ELEMENT));
        }
    }

    fn has_equal_block_count(&mut self, config: &Value, planned: &Value) -> bool {
        let count = |it: &Value| items(it).len() + it.entries().len();
        let (planned, config) = (count(planned), count(config));
        if planned != config {
            self.error(format!(
                "block count in plan ({planned}) disagrees with count in config ({config})"
            ));
        }
        planned == config
    }
}

fn count_differs(planned: &Value, config: &Value) -> String {
    let count = |it: &Value| match unknown::length_bounds(it) {
        (least, Some(greatest)) if least == greatest => least.to_string(),
        (least, Some(greatest)) => format!("{least} to {greatest}"),
        (least, None) => format!("{least} or more"),
    };
    format!("count in plan ({}) disagrees with count in config ({})", count(planned), count(config))
}
