//! Whether a type is an instance of another that has `Dynamic` parts.

use super::{Kind, Path, PathError, PathStep, Type, Value};

impl Type {
    /// Returns whether values of this type are values of `want`, whose `Dynamic` parts accept anything.
    pub fn conforms(self, want: Type) -> bool {
        if self == want || want == Type::DYNAMIC {
            return true;
        }
        if !want.has_dynamic() && want.without_optional() == want {
            return false;
        }
        match (self.kind(), want.kind()) {
            (Kind::List(a), Kind::List(b))
            | (Kind::Set(a), Kind::Set(b))
            | (Kind::Map(a), Kind::Map(b)) => a.conforms(*b),
            (Kind::Tuple(a), Kind::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.conforms(*b))
            }
            (Kind::Object(a), Kind::Object(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && a.1.conforms(b.1))
            }
            _ => false,
        }
    }

    /// Returns everything that keeps values of this type from being values of `want`.
    pub fn conformance_errors(self, want: Type) -> Vec<PathError> {
        let mut errors = Vec::new();
        if !self.conforms(want) {
            compare(self, want, &mut Vec::new(), &mut errors);
        }
        errors
    }
}

fn compare(have: Type, want: Type, path: &mut Path, errors: &mut Vec<PathError>) {
    if have.conforms(want) {
        return;
    }
    let inside =
        |step: PathStep, have: Type, want: Type, path: &mut Path, errors: &mut Vec<PathError>| {
            path.push(step);
            compare(have, want, path, errors);
            path.pop();
        };
    match (have.kind(), want.kind()) {
        (Kind::Object(had), Kind::Object(wanted)) => {
            for (name, ..) in had.iter().filter(|it| want.attribute(&it.0).is_none()) {
                errors.push(PathError::new(path, format!("unsupported attribute {:?}", &**name)));
            }
            for (name, ..) in wanted.iter().filter(|it| have.attribute(&it.0).is_none()) {
                errors.push(PathError::new(
                    path,
                    format!("missing required attribute {:?}", &**name),
                ));
            }
            for (name, want, _) in wanted {
                if let Some(had) = have.attribute(name) {
                    inside(PathStep::Attribute(name.clone()), had, *want, path, errors);
                }
            }
        }
        (Kind::Tuple(had), Kind::Tuple(wanted)) if had.len() == wanted.len() => {
            for (at, (had, want)) in had.iter().zip(wanted).enumerate() {
                inside(PathStep::index(at), *had, *want, path, errors);
            }
        }
        (Kind::Tuple(had), Kind::Tuple(wanted)) => {
            let message = format!("{} elements are required, but got {}", wanted.len(), had.len());
            errors.push(PathError::new(path, message));
        }
        (Kind::List(a), Kind::List(b)) => inside(any(Type::NUMBER), *a, *b, path, errors),
        (Kind::Map(a), Kind::Map(b)) => inside(any(Type::STRING), *a, *b, path, errors),
        (Kind::Set(a), Kind::Set(b)) => inside(any(*a), *a, *b, path, errors),
        _ => {
            let message =
                format!("{} required, but received {}", want.friendly_name(), have.friendly_name());
            errors.push(PathError::new(path, message));
        }
    }
}

/// The step to any element.
fn any(key: Type) -> PathStep {
    PathStep::Index(Value::unknown(key))
}
