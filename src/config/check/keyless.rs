//! Uses of a provider configuration that repeats without an alias, where the use names no key.

use super::super::{Config, Module, ModuleCall, ProviderBlock, ProviderRef, Variant};
use super::repeating;
use crate::address::Module as ModuleAddr;
use crate::config::expansion::key_text;
use crate::config::serving::BlocksServed;
use crate::diagnostic::{Diagnostic, Diagnostics, Sources};

/// The most keys that a message lists.
const LISTED: usize = 10;

/// Checks references in the module of the repeating block: `provider = aws` and `providers = { aws = aws }`.
pub fn check_references(config: &Config, sources: &Sources) -> Diagnostics {
    let mut problems = Diagnostics::new();
    for (variant, module) in config.all_variants() {
        for block in repeating_blocks(config, &variant, module) {
            let repeating = Repeating { config, sources, module: &variant.path, block };
            for resource in module.resources.values() {
                let reference = resource.besides.provider.as_deref();
                if let Some(reference) = reference.filter(|it| is_plain(it, block)) {
                    let user = address_of(&variant, &resource.name);
                    let hint = repeating.hint_for_resource(&user);
                    let detail = repeating.describe(&user, &hint);
                    problems.push(problem("resource", detail).at(reference.span));
                }
            }
            for (name, call) in &module.calls {
                let user = variant.path.child(name).to_string();
                for (child, own) in
                    call.besides.providers.iter().filter(|it| is_plain(&it.1, block))
                {
                    let hint = repeating.hint_for_call(&user, &child.local_name());
                    let detail = repeating.describe(&format!("The call of {user}"), &hint);
                    problems.push(problem("module", detail).at(own.span));
                }
            }
        }
    }
    problems.once()
}

/// Checks resources that use such a configuration implicitly, in its module or in modules that inherit it.
pub fn check_resources(config: &Config, served: &BlocksServed, sources: &Sources) -> Diagnostics {
    if served.without_key.is_empty() {
        return Diagnostics::new();
    }
    let mut found = Diagnostics::new();
    for (variant, module) in config.all_variants() {
        for resource in module.resources.values() {
            let of = (variant.clone(), resource.name.clone());
            let Some((above, name)) = served.without_key.get(&of) else { continue };
            let blocks = config.variant(above).into_iter().flat_map(|it| &it.providers);
            let Some(block) = blocks.into_iter().find(|it| it.local_name() == *name) else {
                continue;
            };
            let repeating = Repeating { config, sources, module: &above.path, block };
            let address = address_of(&variant, &resource.name);
            let hint = match called_from(&above.path, &variant.path) {
                None if resource.besides.generated => {
                    repeating.hint_for_resource("the import block")
                }
                None => repeating.hint_for_resource(&address),
                Some(call) => repeating.hint_for_call(&call.to_string(), &block.name.text),
            };
            let reference = resource.besides.provider.as_ref();
            let place = reference.map_or(resource.declared, |it| it.span);
            found.push(problem("resource", repeating.describe(&address, &hint)).at(place));
        }
    }
    found.once()
}

/// Returns the blocks that repeat without an alias in a module without another configuration of that name.
fn repeating_blocks<'m>(
    config: &Config,
    variant: &Variant,
    module: &'m Module,
) -> Vec<&'m ProviderBlock> {
    let caller = config.caller(variant);
    let call = caller.as_ref().and_then(|(above, name)| config.variant(above)?.calls.get(name));
    let is_passed = |it: &ProviderBlock| {
        let passes =
            |call: &&ModuleCall| call.besides.providers.iter().any(|given| is_plain(&given.0, it));
        call.map(|it| &**it).as_ref().is_some_and(passes)
    };
    let blocks = module.providers.iter().filter(|it| repeats_without_alias(it));
    let alone = blocks.filter(|it| module.provider_block(&it.name.text, None).is_none());
    alone.filter(|it| !is_passed(it)).collect()
}

fn repeats_without_alias(block: &ProviderBlock) -> bool {
    block.alias.as_ref().is_some_and(|it| it.text.is_empty())
}

/// Returns whether a reference is the name of a block, without alias and key.
fn is_plain(reference: &ProviderRef, block: &ProviderBlock) -> bool {
    reference.name.text == block.name.text && reference.alias.is_none() && reference.key.is_none()
}

fn address_of(variant: &Variant, name: &crate::address::ResourceName) -> String {
    match variant.path.is_root() {
        true => name.to_string(),
        false => format!("{}.{name}", variant.path),
    }
}

/// Returns the module that `above` calls on the way to `below`; `None` if both are the same.
fn called_from(above: &ModuleAddr, below: &ModuleAddr) -> Option<ModuleAddr> {
    let mut at = below.clone();
    while let Some((parent, _)) = at.parent() {
        if parent == *above {
            return Some(at);
        }
        at = parent;
    }
    None
}

/// A `provider` block that repeats without an alias.
struct Repeating<'a> {
    config: &'a Config,
    sources: &'a Sources,
    /// The module of the block.
    module: &'a ModuleAddr,
    block: &'a ProviderBlock,
}

impl Repeating<'_> {
    fn describe(&self, user: &str, hint: &str) -> String {
        let name = &self.block.name.text;
        let place = self.sources.place(self.block.declared);
        let keys = match self.keys() {
            None => String::new(),
            Some(keys) if keys.is_empty() => " It has no instances.".to_owned(),
            Some(keys) => format!(" Its instances: {}.", self.list(&keys)),
        };
        format!(
            "{user} names no instance of the provider {name:?} block at {place}. That block repeats without an alias, so that each use requires an instance key.{keys}\n\nhint: {hint}"
        )
    }

    fn hint_for_resource(&self, user: &str) -> String {
        format!("add to {user}: provider = {}", self.first())
    }

    fn hint_for_call(&self, called: &str, child: &str) -> String {
        format!("add to the call of {called}: providers = {{ {child} = {} }}", self.first())
    }

    fn first(&self) -> String {
        let key = self.keys().and_then(|it| it.into_iter().next());
        self.instance(key.as_deref().unwrap_or("KEY"))
    }

    fn instance(&self, key: &str) -> String {
        format!("{}[{key:?}]", self.block.name.text)
    }

    fn list(&self, keys: &[String]) -> String {
        let shown: Vec<String> = keys.iter().take(LISTED).map(|it| self.instance(it)).collect();
        let more = match keys.len().saturating_sub(LISTED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        shown.join(", ") + &more
    }

    /// Returns the keys; `None` where they cannot be evaluated, which is reported elsewhere.
    fn keys(&self) -> Option<Vec<String>> {
        let all = repeating::instances(self.config, self.module, self.block).ok()?;
        Some(all.iter().map(|it| key_text(&it.key).to_string()).collect())
    }
}

fn problem(kind: &str, detail: String) -> Diagnostic {
    Diagnostic::error(format!("Invalid {kind} provider configuration")).detail(detail)
}
