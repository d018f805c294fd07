//! Checks that what came out is what was planned.

use super::types::{NestedBlock, Part};
use super::{BlockSchema, Nesting, attribute, items};
use crate::value::{Kind, Notated, Path, PathError, PathStep, Type, Value, convert, unknown};

/// Returns every difference between a planned object and the actual one that the plan does not allow.
///
/// What was planned known must be so; what was planned unknown may be anything that the plan did not rule out. Marks
/// do not count, but values under a sensitive mark are not named. Source: OpenTofu, `internal/plans/objchange`.
pub fn check_compatible(schema: &BlockSchema, planned: &Value, actual: &Value) -> Vec<PathError> {
    let mut check = Check::default();
    check.object(schema, planned, actual);
    check.errors
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

    /// Runs a check apart and returns what it found.
    fn apart(&mut self, then: impl FnOnce(&mut Check)) -> Vec<PathError> {
        let before = self.errors.len();
        then(self);
        self.errors.split_off(before)
    }

    fn object(&mut self, schema: &BlockSchema, planned: &Value, actual: &Value) {
        if planned.is_same(actual) {
            return;
        }
        let subject = if self.path.is_empty() { "root object " } else { "" };
        match (planned.is_null(), actual.is_null()) {
            (true, true) => return,
            (true, false) => return self.error(format!("{subject}was absent, but now present")),
            (false, true) => return self.error(format!("{subject}was present, but now absent")),
            (false, false) => {}
        }
        for (at, (name, part)) in schema.parts().enumerate() {
            let ty = part.ty();
            let (planned, actual) =
                (attribute(planned, at, name, ty), attribute(actual, at, name, ty));
            self.inside(PathStep::Attribute(name.clone()), |check| match part {
                Part::Attribute(it) => check.attribute(it.sensitive, &planned, &actual),
                Part::Block(it) => check.blocks(it, planned.bare(), actual.bare()),
            });
        }
    }

    fn attribute(&mut self, is_sensitive: bool, planned: &Value, actual: &Value) {
        let both = planned.to_marked().zip(actual.to_marked());
        let is_sensitive = is_sensitive || both.marks().sensitive;
        let (planned, actual) = both.value();
        let found = self.apart(|check| check.value(planned, actual));
        match found.is_empty() || !is_sensitive {
            true => self.errors.extend(found),
            false => self.error("inconsistent values for sensitive attribute"),
        }
    }

    fn blocks(&mut self, schema: &NestedBlock, planned: &Value, actual: &Value) {
        let block = &schema.block;
        let is_open = !planned.is_known() || planned.is_null() || actual.is_null();
        match schema.nesting {
            Nesting::Single | Nesting::Group if !planned.is_known() && actual.is_null() => {}
            Nesting::Single | Nesting::Group => self.object(block, planned, actual),
            _ if is_open || !actual.is_known() => {}
            Nesting::List => {
                let (planned, actual) = (items(planned), items(actual));
                if self.has_equal_count(planned.len(), actual.len()) {
                    for (at, (planned, actual)) in planned.iter().zip(actual).enumerate() {
                        self.inside(PathStep::index(at), |check| {
                            check.object(block, planned, actual)
                        });
                    }
                }
            }
            Nesting::Map if matches!(planned, Value::Object(_)) => {
                self.map_as_object(block, planned, actual)
            }
            Nesting::Map => self.map(block, planned, actual),
            Nesting::Set => {
                self.sets(items(planned), items(actual), &mut |check, planned, actual| {
                    check.object(block, planned, actual);
                });
                let (planned, actual) = (items(planned).len(), items(actual).len());
                if planned < actual {
                    self.error(format!("block set length changed from {planned} to {actual}"));
                }
            }
        }
    }

    fn has_equal_count(&mut self, planned: usize, actual: usize) -> bool {
        if planned != actual {
            self.error(format!("block count changed from {planned} to {actual}"));
        }
        planned == actual
    }

    fn map(&mut self, block: &BlockSchema, planned: &Value, actual: &Value) {
        if !self.has_equal_count(planned.entries().len(), actual.entries().len()) {
            return;
        }
        for (key, planned) in planned.entries() {
            if let Some(actual) = actual.get(&key) {
                self.inside(PathStep::Index(Value::String(key)), |check| {
                    check.object(block, planned, actual)
                });
            }
        }
    }

    fn map_as_object(&mut self, block: &BlockSchema, planned: &Value, actual: &Value) {
        for (key, planned) in planned.entries() {
            match actual.get(&key) {
                Some(actual) => self
                    .inside(PathStep::Attribute(key), |check| check.object(block, planned, actual)),
                None => self.error(format!("block key {:?} has vanished", &*key)),
            }
        }
        for (key, _) in actual.entries() {
            if planned.get(&key).is_none() {
                self.error(format!("new block key {:?} has appeared", &*key));
            }
        }
    }

    fn value(&mut self, planned: &Value, actual: &Value) {
        let ty = planned.ty();
        if ty == Type::DYNAMIC || planned.is_same(actual) {
            return;
        }
        if !actual.ty().conforms(ty) {
            return self
                .error(format!("wrong final value type: {}", convert::mismatch(actual.ty(), ty)));
        }
        if let Value::Unknown(it) = planned {
            if !unknown::can_become(it, actual) {
                let (actual, planned) = (Notated(actual), Notated(planned));
                self.error(format!(
                    "final value {actual} does not conform to planning placeholder {planned}"
                ));
            }
            return;
        }
        match (planned.is_null(), actual.is_null()) {
            (true, true) => {}
            (false, true) => self.error(format!("was {}, but now null", Notated(planned))),
            (true, false) => self.error(format!("was null, but now {}", Notated(actual))),
            (false, false) if !actual.is_known() => self.error("was known, but now unknown"),
            (false, false) => self.known(planned, actual),
        }
    }

    fn known(&mut self, planned: &Value, actual: &Value) {
        match (planned, planned.ty().kind()) {
            (Value::List(_) | Value::Tuple(_), _) => self.sequence(items(planned), items(actual)),
            (Value::Set(_), _) => {
                self.sets(items(planned), items(actual), &mut Check::value);
                let (planned, actual) = (items(planned).len(), items(actual).len());
                if planned < actual {
                    self.error(format!("length changed from {planned} to {actual}"));
                }
            }
            (Value::Map(_), _) => self.entries(planned, actual),
            (Value::Object(_), Kind::Object(attributes)) => {
                for (at, (name, ty, _)) in attributes.iter().enumerate() {
                    let (planned, actual) =
                        (attribute(planned, at, name, *ty), attribute(actual, at, name, *ty));
                    self.inside(PathStep::Attribute(name.clone()), |check| {
                        check.value(&planned, &actual)
                    });
                }
            }
            _ if planned != actual => {
                self.error(format!("was {}, but now {}", Notated(planned), Notated(actual)));
            }
            _ => {}
        }
    }

    fn sequence(&mut self, planned: &[Value], actual: &[Value]) {
        for (at, planned) in planned.iter().enumerate() {
            match actual.get(at) {
                Some(actual) => {
                    self.inside(PathStep::index(at), |check| check.value(planned, actual))
                }
                None => self.error(format!("element {at} has vanished")),
            }
        }
        for at in planned.len()..actual.len() {
            self.error(format!("new element {at} has appeared"));
        }
    }

    fn entries(&mut self, planned: &Value, actual: &Value) {
        for (key, planned) in planned.entries() {
            match actual.get(&key) {
                Some(actual) => {
                    self.inside(PathStep::Index(Value::String(key)), |check| {
                        check.value(planned, actual)
                    });
                }
                None => self.error(format!("element {:?} has vanished", &*key)),
            }
        }
        for (key, _) in actual.entries() {
            if planned.get(&key).is_none() {
                self.error(format!("new element {:?} has appeared", &*key));
            }
        }
    }

    /// Every element of either set must be what some element of the other may be.
    fn sets(
        &mut self,
        planned: &[Value],
        actual: &[Value],
        compare: &mut dyn FnMut(&mut Check, &Value, &Value),
    ) {
        let mut is_met = vec![false; actual.len()];
        let mut unmet = Vec::new();
        for planned in planned {
            let mut found = false;
            for (at, actual) in actual.iter().enumerate() {
                if self.apart(|check| compare(check, planned, actual)).is_empty() {
                    is_met[at] = true;
                    found = true;
                }
            }
            if !found {
                unmet.push(planned);
            }
        }
        for planned in &unmet {
            let planned = Notated(*planned);
            self.error(format!(
                "planned set element {planned} does not correlate with any element in actual"
            ));
        }
        if unmet.is_empty() {
            for (actual, _) in actual.iter().zip(is_met).filter(|it| !it.1) {
                let actual = Notated(actual);
                self.error(format!(
                    "actual set element {actual} does not correlate with any element in plan"
                ));
            }
        }
    }
}
