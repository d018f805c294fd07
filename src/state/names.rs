//! The names that stand in state files: module instances, resources, instances and provider configurations in their
//! canonical, printed form.
//!
//! A file holds one such name for each instance and more, so they are scanned by hand; what people type goes through
//! [`crate::address::parse`].

use crate::address::{
    Instance, InstanceKey, Mode, Module, ModuleInstance, Provider, ProviderConfig, Resource,
    ResourceName, Str,
};
use crate::syntax::is_identifier;

/// Reads `module.a["k"].module.b[0]`; the empty text is the root.
pub fn module(text: &str) -> Option<ModuleInstance> {
    if text.is_empty() {
        return Some(ModuleInstance::default());
    }
    let mut scan = Scan { rest: text };
    let steps = scan.module_steps()?;
    (scan.rest.is_empty() && !steps.is_empty()).then(|| ModuleInstance(steps.into()))
}

/// Reads `module.a[0].data.t.n["k"]`.
pub fn instance(text: &str) -> Option<Instance> {
    let mut scan = Scan { rest: text };
    let steps = scan.module_steps()?;
    let mode = scan.mode();
    let kind = scan.name()?;
    scan.take(".")?;
    let name = scan.name()?;
    let key = scan.key()?;
    let resource = ResourceName { mode, kind: kind.into(), name: name.into() };
    scan.rest.is_empty().then(|| Instance { module: ModuleInstance(steps.into()), resource, key })
}

/// Reads `module.a[0].t.n`.
pub fn resource(text: &str) -> Option<Resource> {
    let address = instance(text)?;
    (address.key == InstanceKey::None).then(|| address.of())
}

/// Reads `module.a.provider["host/namespace/type"].alias["key"]`, the same without the alias, and the form of older states:
/// `provider.type.alias`.
pub fn provider(text: &str) -> Option<(ProviderConfig, InstanceKey)> {
    let mut scan = Scan { rest: text };
    let steps = scan.module_steps()?;
    if steps.iter().any(|(_, key)| *key != InstanceKey::None) {
        return None;
    }
    let module = ModuleInstance(steps.into()).module();
    scan.take("provider")?;
    let provider = match scan.key()? {
        InstanceKey::Str(source) => source.parse().ok()?,
        InstanceKey::None => {
            scan.take(".")?;
            legacy_source(scan.name()?)?
        }
        InstanceKey::Int(_) => return None,
    };
    let alias = match scan.take(".") {
        Some(()) => Some(Str::from(scan.name()?)),
        None => None,
    };
    let key = scan.key()?;
    // A key without an alias: of a configuration that repeats without one.
    let alias = alias.or_else(|| (key != InstanceKey::None).then(|| "".into()));
    scan.rest.is_empty().then_some((ProviderConfig { module, provider, alias }, key))
}

/// Returns what a bare provider name of a state before version 0.13 means; `None` where it cannot be one.
fn legacy_source(name: &str) -> Option<Provider> {
    if name == "terraform" {
        return Some(Provider::implied(name));
    }
    format!("-/{name}").parse().ok()
}

/// Returns a provider configuration of an old state, in the module of its resource; `None` where its name cannot be one.
pub fn legacy_provider(module: Module, name: &str, alias: Option<&str>) -> Option<ProviderConfig> {
    let is_named = alias.is_none_or(is_identifier);
    let provider = legacy_source(name).filter(|_| is_named)?;
    Some(ProviderConfig { module, provider, alias: alias.map(Str::from) })
}

struct Scan<'a> {
    rest: &'a str,
}

impl<'a> Scan<'a> {
    fn take(&mut self, text: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(text)?;
        Some(())
    }

    fn mode(&mut self) -> Mode {
        match () {
            () if self.take("data.").is_some() => Mode::Data,
            () if self.take("ephemeral.").is_some() => Mode::Ephemeral,
            () => Mode::Managed,
        }
    }

    /// Reads `module.a[0].` as often as it stands there, the last dot included where there is one.
    fn module_steps(&mut self) -> Option<Vec<(Str, InstanceKey)>> {
        let mut steps = Vec::new();
        while self.take("module.").is_some() {
            let name = Str::from(self.name()?);
            steps.push((name, self.key()?));
            if self.rest.is_empty() {
                break;
            }
            self.take(".")?;
        }
        Some(steps)
    }

    fn name(&mut self) -> Option<&'a str> {
        let end = self.rest.find(['.', '[', '"', ']']).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        is_identifier(name).then_some(name)
    }

    /// Reads `[0]`, `["text"]` or nothing.
    fn key(&mut self) -> Option<InstanceKey> {
        if self.take("[").is_none() {
            return Some(InstanceKey::None);
        }
        let key = match self.take("\"") {
            Some(()) => InstanceKey::Str(self.quoted()?),
            None => {
                let (digits, _) = self.rest.split_once(']')?;
                self.rest = &self.rest[digits.len()..];
                InstanceKey::Int(digits.parse().ok()?)
            }
        };
        self.take("]")?;
        Some(key)
    }

    /// Reads the rest of a quoted text, escapes resolved.
    fn quoted(&mut self) -> Option<Str> {
        let plain = self.rest.find(['"', '\\', '$', '%'])?;
        if self.rest.as_bytes()[plain] == b'"' {
            let text = Str::from(&self.rest[..plain]);
            self.rest = &self.rest[plain + 1..];
            return Some(text);
        }
        let mut text = String::new();
        let mut chars = self.rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Some(text.into());
                }
                '\\' => text.push(escape(&mut chars)?),
                '$' | '%' => {
                    text.push(c);
                    // `$${` is a literal `${`.
                    if self.rest[at + 1..].starts_with(c) && self.rest[at + 2..].starts_with('{') {
                        chars.next();
                    }
                }
                c => text.push(c),
            }
        }
        None
    }
}

fn escape(chars: &mut std::str::CharIndices<'_>) -> Option<char> {
    let digits = match chars.next()?.1 {
        'n' => return Some('\n'),
        'r' => return Some('\r'),
        't' => return Some('\t'),
        c @ ('"' | '\\') => return Some(c),
        'u' => 4,
        'U' => 8,
        _ => return None,
    };
    let code: String = chars.by_ref().take(digits).map(|it| it.1).collect();
    char::from_u32(u32::from_str_radix(&code, 16).ok()?)
}
