//! Text to addresses: `module.m["x"].data.t.n[0]`, provider configurations.
//!
//! Every address parses what it prints. Problems have no place: whoever knows the flag or line says where.

#![expect(
    clippy::result_large_err,
    reason = "an address that does not parse is rare, and its problem goes straight to the user"
)]

use std::str::FromStr;

use super::target::Target;
use super::{
    ConfigResource, Instance, InstanceKey, Mode, Module, ModuleInstance, ProviderConfig,
    ProviderInstance, Resource, ResourceName, Str,
};
use crate::diagnostic::{Diagnostic, FileId};
use crate::error::Error;
use crate::syntax::{Expr, Expression, Step, Traversal, is_identifier, parse_traversal};

fn invalid_address(detail: impl Into<String>) -> Diagnostic {
    Diagnostic::error("Invalid address").detail(detail)
}

fn invalid_operator(detail: impl Into<String>) -> Diagnostic {
    Diagnostic::error("Invalid address operator").detail(detail)
}

fn invalid_module(detail: &str) -> Diagnostic {
    Diagnostic::error("Invalid module instance address").detail(detail)
}

fn invalid_provider_config(detail: impl Into<String>) -> Diagnostic {
    Diagnostic::error("Invalid provider configuration address").detail(detail)
}

/// One piece of a path: `name` or `[key]`.
#[derive(Clone, Copy)]
enum Piece<'a> {
    Name(&'a Str),
    Key(&'a Expression),
}

impl<'a> Piece<'a> {
    fn name(self) -> Option<&'a Str> {
        match self {
            Piece::Name(name) => Some(name),
            Piece::Key(_) => None,
        }
    }
}

fn traversal(text: &str) -> Result<Traversal, Diagnostic> {
    parse_traversal(FileId(0), text, 0)
        .map_err(|problems| problems.into_iter().next().unwrap_or_else(|| invalid_address("")))
}

fn pieces(traversal: &Traversal) -> Vec<Piece<'_>> {
    let steps = traversal.steps().iter().filter_map(|step| match step {
        Step::Attribute(name) => Some(Piece::Name(&name.text)),
        Step::Index(it) => Some(Piece::Key(&it.key)),
        // A path has neither.
        Step::LegacyIndex(..) | Step::Splat(_) => None,
    });
    [Piece::Name(&traversal.root().text)].into_iter().chain(steps).collect()
}

/// Reads an instance key: a string, or a whole number of 64 bits.
fn instance_key(key: &Expression) -> Result<InstanceKey, Error> {
    let number = match &key.expr {
        Expr::String(text) => return Ok(InstanceKey::Str(text.clone())),
        Expr::Number(number) => number.as_i64(),
        _ => None,
    };
    number.map(InstanceKey::Int).ok_or_else(|| {
        format!("value must be a whole number, between {} and {}", i64::MIN, i64::MAX).into()
    })
}

/// Takes the modules off the front.
fn module_path<'a, 'b>(
    mut pieces: &'b [Piece<'a>],
) -> Result<(ModuleInstance, &'b [Piece<'a>]), Diagnostic> {
    let mut steps = Vec::new();
    while let [first, rest @ ..] = pieces {
        match first {
            Piece::Key(_) => {
                return Err(invalid_operator(
                    "Module address prefix must be followed by dot and then a name.",
                ));
            }
            Piece::Name(name) if &***name != "module" => break,
            Piece::Name(_) => {}
        }
        let [Piece::Name(name), rest @ ..] = rest else {
            return Err(invalid_operator("Prefix \"module.\" must be followed by a module name."));
        };
        pieces = rest;
        let mut key = InstanceKey::None;
        if let [Piece::Key(it), rest @ ..] = rest {
            key = instance_key(it)
                .map_err(|why| invalid_operator(format!("Invalid module index: {why}.")))?;
            pieces = rest;
        }
        steps.push(((*name).clone(), key));
    }
    Ok((ModuleInstance(steps.into()), pieces))
}

/// Reads mode, type and name off the front.
fn resource_name<'a, 'b>(
    mut pieces: &'b [Piece<'a>],
) -> Result<(ResourceName, &'b [Piece<'a>]), Diagnostic> {
    let mut mode = Mode::Managed;
    let mut type_required = "A resource type name is required.";
    match pieces {
        // Not written by anyone but Terraform's users; without it there would be three names, which nothing has.
        [Piece::Name(word), Piece::Name(_), Piece::Name(_), ..] if &***word == "resource" => {
            pieces = &pieces[1..]
        }
        [Piece::Name(word), ..] if &***word == "data" => {
            (mode, type_required, pieces) =
                (Mode::Data, "A data source name is required.", &pieces[1..]);
        }
        [Piece::Name(word), ..] if &***word == "ephemeral" => {
            (mode, type_required, pieces) =
                (Mode::Ephemeral, "An ephemeral resource name is required.", &pieces[1..]);
        }
        _ => {}
    }
    let [kind, name, rest @ ..] = pieces else {
        return Err(invalid_address(
            "Resource specification must include a resource type and name.",
        ));
    };
    let kind = kind.name().ok_or_else(|| invalid_address(type_required))?;
    let name = name.name().ok_or_else(|| invalid_address("A resource name is required."))?;
    Ok((ResourceName { mode, kind: kind.clone(), name: name.clone() }, rest))
}

fn target(traversal: &Traversal) -> Result<Target, Diagnostic> {
    let pieces = pieces(traversal);
    let (module, rest) = module_path(&pieces)?;
    if rest.is_empty() {
        return Ok(Target::Module(module));
    }
    let (resource, rest) = resource_name(rest)?;
    match rest {
        [] => Ok(Target::Resource(Resource { module, resource })),
        [Piece::Key(key)] => {
            let key = instance_key(key)
                .map_err(|why| invalid_address(format!("Invalid resource instance key: {why}.")))?;
            Ok(Target::Instance(Instance { module, resource, key }))
        }
        [Piece::Name(_)] => {
            Err(invalid_address("Resource instance key must be given in square brackets."))
        }
        _ => Err(invalid_address("Unexpected extra operators after address.")),
    }
}

/// Reads an address that `-target` or `-exclude` may name. An address without a key is the whole resource. A leading
/// `resource.` may be written.
impl FromStr for Target {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Target, Diagnostic> {
        match plain_resource(text) {
            Some(resource) => Ok(Target::Resource(resource)),
            None => target(&traversal(text)?),
        }
    }
}

/// Reads a type and a name: of the many addresses that a state names nearly all are no more than that.
fn plain_resource(text: &str) -> Option<Resource> {
    let (kind, name) = text.split_once('.').filter(|_| text.is_ascii())?;
    if matches!(kind, "module" | "resource" | "data" | "ephemeral")
        || !is_identifier(kind)
        || !is_identifier(name)
    {
        return None;
    }
    let resource = ResourceName { mode: Mode::Managed, kind: kind.into(), name: name.into() };
    Some(Resource { module: ModuleInstance::default(), resource })
}

impl FromStr for Instance {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Instance, Diagnostic> {
        match text.parse()? {
            Target::Instance(it) => Ok(it),
            Target::Resource(it) => Ok(it.instance(InstanceKey::None)),
            Target::Module(_) => Err(invalid_address(
                "A resource instance address is required here. The module path must be followed by a resource instance \
                 specification.",
            )),
        }
    }
}

impl FromStr for Resource {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Resource, Diagnostic> {
        match text.parse()? {
            Target::Resource(it) => Ok(it),
            Target::Instance(_) => Err(invalid_address(
                "A resource address is required. This instance key identifies a specific resource instance, which is not \
                 expected here.",
            )),
            Target::Module(_) => Err(invalid_address(
                "A resource address is required here. The module path must be followed by a resource specification.",
            )),
        }
    }
}

impl FromStr for ConfigResource {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<ConfigResource, Diagnostic> {
        let it: Resource = text.parse()?;
        if it.module.0.iter().any(|step| step.1 != InstanceKey::None) {
            let detail = "Module address cannot be a module instance (e.g. \"module.a[0]\"), it must be a module instead \
                          (e.g. \"module.a\").";
            return Err(Diagnostic::error("Module instance address with keys is not allowed")
                .detail(detail));
        }
        Ok(it.config())
    }
}

/// Reads a module instance. Empty text is the root module.
impl FromStr for ModuleInstance {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<ModuleInstance, Diagnostic> {
        if text.is_empty() {
            return Ok(ModuleInstance::default());
        }
        let traversal = traversal(text)?;
        let pieces = pieces(&traversal);
        match module_path(&pieces)? {
            (module, []) => Ok(module),
            (module, _) if module.is_root() => {
                Err(invalid_module("A module instance address must begin with \"module.\"."))
            }
            _ => Err(invalid_module(
                "The module instance address is followed by additional invalid content.",
            )),
        }
    }
}

/// Reads a module path without keys. Empty text is the root module.
impl FromStr for Module {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Module, Diagnostic> {
        let instance: ModuleInstance = text.parse()?;
        if instance.0.iter().any(|step| step.1 != InstanceKey::None) {
            return Err(invalid_module("A module address without instance keys is required here."));
        }
        Ok(instance.module())
    }
}

/// Reads what a state file records for a resource: `module.m.provider["registry.opentofu.org/hashicorp/aws"].west["k"]`.
impl FromStr for ProviderInstance {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<ProviderInstance, Diagnostic> {
        let traversal = traversal(text)?;
        let pieces = pieces(&traversal);
        let (module, rest) = module_path(&pieces)?;
        if module.0.iter().any(|step| step.1 != InstanceKey::None) {
            return Err(invalid_provider_config(
                "A provider configuration must not appear in a module instance that uses count or for_each.",
            ));
        }
        let [Piece::Name(word), source, rest @ ..] = rest else {
            return Err(not_a_provider());
        };
        if &***word != "provider" {
            return Err(not_a_provider());
        }
        let provider = match source {
            Piece::Key(Expression { expr, .. }) => match expr {
                Expr::String(source) => source.parse()?,
                _ => return Err(source_required()),
            },
            Piece::Name(_) => return Err(source_required()),
        };
        let (alias, key) = match rest {
            [] => (None, InstanceKey::None),
            [Piece::Key(_), ..] => {
                return Err(invalid_provider_config(
                    "Provider type name must be followed by a configuration alias name.",
                ));
            }
            [Piece::Name(alias)] => (Some((*alias).clone()), InstanceKey::None),
            [Piece::Name(alias), Piece::Key(key)] => {
                let why =
                    |why| invalid_provider_config(format!("Invalid provider instance key: {why}."));
                (Some((*alias).clone()), instance_key(key).map_err(why)?)
            }
            [_, Piece::Name(_)] => {
                return Err(invalid_provider_config(
                    "A provider configuration alias can be followed only by an instance key in brackets.",
                ));
            }
            _ => {
                return Err(invalid_provider_config(
                    "Extraneous operators after provider configuration reference.",
                ));
            }
        };
        Ok(ProviderInstance {
            config: ProviderConfig { module: module.module(), provider, alias },
            key,
        })
    }
}

fn not_a_provider() -> Diagnostic {
    invalid_provider_config(
        "Provider address must begin with \"provider.\", followed by a provider type name.",
    )
}

fn source_required() -> Diagnostic {
    invalid_provider_config("The prefix \"provider.\" must be followed by a provider type name.")
}

impl FromStr for ProviderConfig {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<ProviderConfig, Diagnostic> {
        let it: ProviderInstance = text.parse()?;
        match it.key {
            InstanceKey::None => Ok(it.config),
            _ => {
                Err(invalid_provider_config("A provider address must not include an instance key."))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_type_and_a_name_are_read_as_the_parser_reads_them(
            kind in "module|data|true|null|for|[a-z_-][a-z0-9_.é\\[-]{0,4}|.{0,3}",
            name in "[a-zA-Z_0-9-]{0,5}|.{0,3}",
        ) {
            let text = format!("{kind}.{name}");
            if let Some(found) = plain_resource(&text) {
                let parsed = traversal(&text).and_then(|it| target(&it));
                prop_assert_eq!(parsed, Ok(Target::Resource(found)));
            }
        }
    }
}
