//! What a function takes, where a call of it is being written.

use std::ops::Range;
use std::path::Path;

use super::module::Module;
use super::workspace::Workspace;
use crate::expression::functions::{self, Parameter, SPECIAL};
use crate::schema::{FunctionParameter, FunctionSignature};
use crate::syntax::{At, cursor};

/// How a function is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// The whole: `join(separator: string, lists…: list of string): string`.
    pub label: String,
    /// Where each parameter stands in that, and what it means.
    pub parameters: Vec<(Range<usize>, String)>,
    /// What the function does.
    pub about: String,
    /// The parameter whose argument is being written.
    pub active: usize,
}

/// Returns the signature of the function whose arguments are being written at a byte of a file.
pub fn signature(workspace: &Workspace, path: &Path, at: usize) -> Option<Signature> {
    let document = workspace.document(path).filter(|it| it.language.is_native())?;
    let At::Value(written) = cursor(&document.text, at).at else { return None };
    let (name, complete) = written.call?;
    let mut found = of(workspace, &workspace.module_of(path), &name)?;
    // All further arguments are for the last parameter.
    found.active = complete.min(found.parameters.len().saturating_sub(1));
    Some(found)
}

/// Returns the signature of a function by its name.
pub(super) fn of(workspace: &Workspace, module: &Module, name: &str) -> Option<Signature> {
    if let Some(rest) = name.strip_prefix("provider::") {
        let (local, function) = rest.split_once("::")?;
        let schemas = workspace.schemas(&module.folder);
        let schema = schemas.provider(&module.provider(local))?;
        return Some(of_provider(name, schema.functions.get(function)?));
    }
    let bare = name.strip_prefix("core::").unwrap_or(name);
    let one = |it: &Parameter, more: &str| {
        let about = it.about.unwrap_or_default().to_owned();
        (format!("{}{more}: {}", it.name, it.shape.ty().friendly_constraint()), about)
    };
    let (parameters, variadic, about, returns) = match functions::find(bare) {
        Some(it) => (it.parameters, &it.variadic, it.description, it.usual_type()),
        None => {
            let it = SPECIAL.iter().find(|it| it.name == bare)?;
            (it.parameters, &it.variadic, it.description, it.returns.ty())
        }
    };
    let all = parameters.iter().map(|it| one(it, "")).chain(variadic.iter().map(|it| one(it, "…")));
    Some(written(name, all.collect(), &returns.friendly_constraint(), about))
}

fn of_provider(name: &str, it: &FunctionSignature) -> Signature {
    let one = |it: &FunctionParameter, more: &str| {
        let about = it.description.as_ref().map(ToString::to_string).unwrap_or_default();
        (format!("{}{more}: {}", it.name, it.ty.friendly_constraint()), about)
    };
    let all =
        it.parameters.iter().map(|it| one(it, "")).chain(it.variadic.iter().map(|it| one(it, "…")));
    let about = it.description.as_ref().or(it.summary.as_ref()).map_or("", |it| it.as_str());
    written(name, all.collect(), &it.returns.friendly_constraint(), about)
}

fn written(name: &str, all: Vec<(String, String)>, returns: &str, about: &str) -> Signature {
    let mut found =
        Signature { label: format!("{name}("), about: about.to_owned(), ..Signature::default() };
    for (at, (text, meaning)) in all.into_iter().enumerate() {
        if at > 0 {
            found.label.push_str(", ");
        }
        let start = found.label.len();
        found.label.push_str(&text);
        found.parameters.push((start..found.label.len(), meaning));
    }
    found.label.push_str(&format!("): {returns}"));
    found
}
