//! A state as `show` and `state show` print it: every object as a block, then outputs.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use entail::address::{Instance, Mode, ModuleInstance, Provider};
use entail::schema::{BlockSchema, mark_sensitive, sensitive_names};
use entail::state::{Attributes, Object, OutputValue, State, Status};
use entail::value::json::{from_json_implied, from_stored_json};
use entail::value::{MarkPaths, Path, PathStep, Str, Value};

use super::plan::change::Sides;
use super::plan::diff;
use super::plan::render::{Options, Renderer};
use super::plan::{Look, Schemas, schema_of, schema_of_values};

#[cfg(test)]
mod tests;

/// An object as it is shown.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Its address.
    pub address: Instance,
    /// The key of a deposed object.
    pub deposed: Option<Str>,
    /// Whether the next plan replaces it.
    pub tainted: bool,
    /// Its provider.
    pub provider: Provider,
    /// Its value, marked.
    pub value: Value,
    /// Whether it fits the schema of its kind.
    pub has_form: bool,
}

/// Returns every object of a state, deposed ones behind the current one: in address order within a module, and each module
/// before those inside it.
pub fn objects(state: &State, schemas: &Schemas) -> Vec<Shown> {
    let mut all = Vec::new();
    for (address, resource, instance) in state.instances() {
        let provider = &resource.provider.provider;
        let deposed = instance.deposed.iter().map(|(key, it)| (Some(key), it));
        let objects = instance.current.iter().map(|it| (None, it)).chain(deposed);
        all.extend(objects.map(|(key, it)| object((&address, key), provider, it, schemas)));
    }
    all.sort_by_cached_key(|it| {
        let module = &it.address.module;
        let inwards = std::iter::once(module.clone()).chain(ancestors(module));
        let mut path: Vec<String> = inwards.map(|it| it.to_string()).collect();
        path.reverse();
        path
    });
    all
}

/// Returns one object.
pub fn object(
    (address, deposed): (&Instance, Option<&Str>),
    provider: &Provider,
    object: &Object,
    schemas: &Schemas,
) -> Shown {
    let schema = schema_of(schemas, provider, address.resource.mode, &address.resource.kind);
    let fitting = fitting(&object.attributes, schema);
    let has_form = fitting.is_some();
    let value = match fitting {
        Some(value) => value.mark_at(&MarkPaths::sensitive(&object.besides.sensitive)),
        None => covered(&formless(&object.attributes), &object.besides.sensitive, schema),
    };
    Shown {
        address: address.clone(),
        deposed: deposed.cloned(),
        tainted: object.status == Status::Tainted,
        provider: provider.clone(),
        value,
        has_form,
    }
}

/// Decodes attributes along a schema, if they fit it.
fn fitting(attributes: &Attributes, schema: Option<&BlockSchema>) -> Option<Value> {
    match attributes {
        Attributes::Json(text) => from_stored_json(text, schema?.ty()).ok(),
        Attributes::Flat(_) => None,
    }
}

/// Decodes attributes as they are.
fn formless(attributes: &Attributes) -> Value {
    match attributes {
        Attributes::Json(text) => from_json_implied(text).unwrap_or(Value::NULL),
        Attributes::Flat(entries) => Value::object(
            entries.iter().map(|(name, text)| (Str::from(name.as_str()), Value::string(text))),
        ),
    }
}

/// Marks every attribute in which anything is sensitive: where in it cannot be told of an object that fits no schema.
fn covered(value: &Value, marked: &[Path], schema: Option<&BlockSchema>) -> Value {
    let below = marked.iter().map(|it| it.iter().take(1).cloned().collect::<Path>());
    let named = schema.into_iter().flat_map(sensitive_names);
    let attributes = named.map(|it| vec![PathStep::Attribute(it.clone())]);
    let paths: Vec<Path> = below.chain(attributes).collect();
    value.clone().mark_at(&MarkPaths::sensitive(&paths))
}

/// Writes a whole state.
pub fn write(
    out: &mut dyn Write,
    objects: &[Shown],
    outputs: &BTreeMap<Str, OutputValue>,
    schemas: &Schemas,
    look: Look,
) -> io::Result<()> {
    if objects.is_empty() && outputs.is_empty() {
        return writeln!(out, "The state file is empty. No resources are represented.");
    }
    let mut modules: BTreeSet<&ModuleInstance> = BTreeSet::new();
    for shown in objects {
        let module = &shown.address.module;
        // As OpenTofu does it: what stands first in a module is set off if a module around it shows something.
        let blank_lines = match modules.contains(module) {
            true => 1,
            false if ancestors(module).any(|it| modules.contains(&it)) => 2,
            false => 0,
        };
        out.write_all(&b"\n\n"[..blank_lines])?;
        write_object(out, shown, schemas, look)?;
        modules.insert(module);
    }
    if outputs.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n\nOutputs:\n")?;
    for (name, output) in outputs {
        let sides = Sides::unchanged(&output.value);
        let sides = Sides {
            before_sensitive: sides.before_sensitive || output.sensitive,
            after_sensitive: sides.after_sensitive || output.sensitive,
            ..sides
        };
        let mut text = format!("{name} = ");
        let diff = diff::value(&sides, output.value.ty(), 0);
        Renderer { style: look.style }.diff(&mut text, &diff, 0, options(look));
        writeln!(out, "{text}")?;
    }
    Ok(())
}

/// The modules around a module, the nearest first.
fn ancestors(module: &ModuleInstance) -> impl Iterator<Item = ModuleInstance> {
    std::iter::successors(module.parent().map(|it| it.0), |it| it.parent().map(|it| it.0))
}

/// Writes one object as a block.
pub fn write_object(
    out: &mut dyn Write,
    shown: &Shown,
    schemas: &Schemas,
    look: Look,
) -> io::Result<()> {
    let remark = match &shown.deposed {
        Some(key) => format!(" (deposed object {key})"),
        None if shown.tainted => " (tainted)".to_owned(),
        None => String::new(),
    };
    let name = &shown.address.resource;
    let kind = if name.mode == Mode::Managed { "resource" } else { "data" };
    let schema = schema_of(schemas, &shown.provider, name.mode, &name.kind);
    let diff = match schema.filter(|_| shown.has_form) {
        Some(schema) => {
            let marked = mark_sensitive(&shown.value, schema);
            diff::block(&Sides::unchanged(&marked), schema, 0)
        }
        None => {
            let schema = schema_of_values(&[&shown.value]);
            diff::block(&Sides::unchanged(&shown.value), &schema, 0)
        }
    };
    let mut text =
        format!("# {}:{remark}\n{kind} \"{}\" \"{}\" ", shown.address, name.kind, name.name);
    Renderer { style: look.style }.diff(&mut text, &diff, 0, options(look));
    writeln!(out, "{text}")
}

fn options(look: Look) -> Options {
    Options {
        show_unchanged: true,
        hide_symbols: true,
        show_sensitive: look.show_sensitive,
        ..Options::default()
    }
}
