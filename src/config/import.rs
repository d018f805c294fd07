//! What an `import` block names: the resource that is to adopt, and what that rests on.

use super::Import;
use crate::address::{ConfigResource, Mode, Module, ResourceName};
use crate::syntax::{Expression, Step};
use crate::value::Str;

impl Import {
    /// Returns the block that an import is for, without keys, as the module that the import is in names it.
    pub fn target(&self) -> Option<ConfigResource> {
        self.named().filter(|it| it.resource.mode == Mode::Managed)
    }

    /// Returns the block that an import is for, without keys.
    ///
    /// - `module`: the module that the import is in.
    pub fn target_from(&self, module: &Module) -> Option<ConfigResource> {
        let named = self.target()?;
        Some(ConfigResource { module: named.module.within(module), ..named })
    }

    /// Returns what an import names, be it no managed resource, which nothing can be imported into.
    pub fn named(&self) -> Option<ConfigResource> {
        let (root, steps) = self.to.as_traversal()?;
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
        let (mode, kind, name) = match rest {
            [kind, name] => (Mode::Managed, kind, name),
            [word, kind, name] if &***word == "data" => (Mode::Data, kind, name),
            _ => return None,
        };
        let resource = ResourceName { mode, kind: (*kind).clone(), name: (*name).clone() };
        Some(ConfigResource { module: Module(path.into()), resource })
    }

    /// Returns the expressions that an import rests on: keys, id, `for_each`.
    pub fn expressions(&self) -> Vec<&Expression> {
        let mut found: Vec<&Expression> =
            self.id.iter().chain(&self.for_each).chain(&self.identity).collect();
        if let Some((_, steps)) = self.to.as_traversal() {
            found.extend(steps.iter().filter_map(|it| match it {
                Step::Index(it) => Some(&it.key),
                _ => None,
            }));
        }
        found
    }
}
