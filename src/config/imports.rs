//! What an `import` block is for, and what it rests on, as written.

use super::Import;
use crate::address::{ConfigResource, Mode, Module, ResourceName};
use crate::syntax::{Expr, Expression, Step};
use crate::value::Str;

/// Returns the block that an import is for, whatever the keys.
pub fn target(to: &Expression) -> Option<ConfigResource> {
    let Expr::Traversal { root, steps } = &*to.expr else { return None };
    let names: Vec<&Str> = std::iter::once(&root.text)
        .chain(steps.iter().filter_map(|it| match it {
            Step::Attribute(name) => Some(&name.text),
            _ => None,
        }))
        .collect();
    let mut path = Vec::new();
    let mut rest = &names[..];
    while let [module, name, more @ ..] = rest
        && &***module == "module"
    {
        path.push((*name).clone());
        rest = more;
    }
    match rest {
        [kind, name] => Some(ConfigResource { module: Module(path.into()), resource: ResourceName { mode: Mode::Managed, kind: (*kind).clone(), name: (*name).clone() } }),
        _ => None,
    }
}

/// Returns the expressions that an import rests on: keys, id, `for_each`.
pub fn expressions(import: &Import) -> Vec<&Expression> {
    let mut found: Vec<&Expression> = import.id.iter().chain(&import.for_each).chain(&import.identity).collect();
    if let Expr::Traversal { steps, .. } = &*import.to.expr {
        found.extend(steps.iter().filter_map(|it| match it {
            Step::Index(key, _) => Some(key),
            _ => None,
        }));
    }
    found
}
