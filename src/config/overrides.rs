//! Override files: what they say replaces what ordinary files say, part by part.

use std::sync::Arc;

use crate::address::Mode;
use crate::diagnostic::Span;
use crate::syntax::{Block, Body, Expression};

use super::decode::Decoder;
use super::draft::Draft;
use super::file::File;
use super::named::{OutputBlock, VariableBlock};
use super::{
    IgnoreChanges, Lifecycle, Local, ModuleCall, ProviderBlock, Repetition, Resource, problems,
};

/// Merges an override file into the module.
pub(super) fn merge(decoder: &mut Decoder, draft: &mut Draft, file: File) {
    decoder.file = file.kind;
    merge_settings(decoder, draft, &file);
    for entry in file.terraform.required_providers.into_iter().flat_map(|it| it.entries) {
        draft.module.required_providers.insert(entry.name.text.clone(), entry);
    }
    draft.module.required_versions.extend(file.terraform.required_versions);
    for it in file.providers {
        merge_provider(decoder, draft, it);
    }
    merge_variables(decoder, draft, file.variables);
    merge_locals(decoder, draft, file.locals);
    merge_outputs(decoder, draft, file.outputs);
    merge_calls(decoder, draft, file.calls);
    for it in file.resources {
        match draft.module.resources.get_mut(&it.name) {
            Some(base) => merge_resource(decoder, Arc::make_mut(base), Arc::unwrap_or_clone(it)),
            None => missing_resource(decoder, &it),
        }
    }
    for (kind, at) in file.misplaced {
        let (kind, what) = match kind {
            "moved" => (kind, "Records of moved objects"),
            "import" => (kind, "Import blocks"),
            _ => ("Removed", "Removed blocks"),
        };
        decoder.report(problems::cannot_override(kind, what, at));
    }
}

fn merge_variables(decoder: &mut Decoder, draft: &mut Draft, variables: Vec<VariableBlock>) {
    for it in variables {
        match draft.variables.get_mut(&it.name.text) {
            Some(base) => merge_variable(base, it),
            None => missing(
                decoder,
                "Missing base variable declaration to override",
                &format!("variable named {:?}", it.name.text),
                "a variable that was already declared",
                it.declared,
            ),
        }
    }
}

fn merge_locals(decoder: &mut Decoder, draft: &mut Draft, locals: Vec<Local>) {
    for it in locals {
        let at = it.name.span.to(it.value.span);
        match draft.module.locals.get_mut(&it.name.text) {
            Some(base) => *base = it,
            None => missing(
                decoder,
                "Missing base local value definition to override",
                &format!("local value named {:?}", it.name.text),
                "a local value that was already defined",
                at,
            ),
        }
    }
}

fn merge_outputs(decoder: &mut Decoder, draft: &mut Draft, outputs: Vec<OutputBlock>) {
    for it in outputs {
        match draft.outputs.get_mut(&it.name.text) {
            Some(base) => merge_output(decoder, base, it),
            None => missing(
                decoder,
                "Missing base output definition to override",
                &format!("output named {:?}", it.name.text),
                "an output that was already defined",
                it.declared,
            ),
        }
    }
}

fn merge_calls(decoder: &mut Decoder, draft: &mut Draft, calls: Vec<ModuleCall>) {
    for it in calls {
        match draft.module.calls.get_mut(&it.name.text) {
            Some(base) => merge_call(decoder, Arc::make_mut(base), it),
            None => missing(
                decoder,
                "Missing module call to override",
                &format!("module call named {:?}", it.name.text),
                "a module call that was defined",
                it.declared,
            ),
        }
    }
}

/// Backend and cloud replace each other.
fn merge_settings(decoder: &mut Decoder, draft: &mut Draft, file: &File) {
    for (blocks, is_cloud) in [(&file.terraform.backends, false), (&file.terraform.clouds, true)] {
        let (summary, what) = match is_cloud {
            false => (
                "Duplicate backend configuration",
                "Each override file may have only one backend configuration. A backend was previously configured",
            ),
            true => (
                "Duplicate cloud configurations",
                "Each override file may have only one 'cloud' block. A cloud backend was previously configured",
            ),
        };
        match &blocks[..] {
            [] => {}
            [one] => {
                (draft.module.backend, draft.cloud) =
                    if is_cloud { (None, Some(one.clone())) } else { (Some(one.clone()), None) };
            }
            [first, second, ..] => {
                let place = decoder.place(first.declared);
                decoder.report(problems::duplicate(summary, what, "", &place, second.declared));
            }
        }
    }
}

fn missing(decoder: &mut Decoder, summary: &str, what: &str, declared: &str, at: Span) {
    decoder.report(problems::nothing_to_override(summary, what, declared, at));
}

fn missing_resource(decoder: &mut Decoder, resource: &Resource) {
    let (kind, name) = (&resource.name.kind, &resource.name.name);
    let (summary, adjective, block) = match resource.name.mode {
        Mode::Managed => ("Missing resource to override", "resource", "a resource block defined"),
        Mode::Data => {
            ("Missing data resource to override", "data resource", "a data block defined")
        }
        Mode::Ephemeral => (
            "Missing ephemeral resource to override",
            "ephemeral resource",
            "an ephemeral block defined",
        ),
    };
    missing(
        decoder,
        summary,
        &format!("{kind} {adjective} named {name:?}"),
        block,
        resource.declared,
    );
}

fn refuse_depends_on(decoder: &mut Decoder, depends_on: &[Expression]) {
    if let Some(first) = depends_on.first() {
        decoder.report(problems::depends_on_override(first.span));
    }
}

fn replace<T>(base: &mut Option<T>, with: Option<T>) {
    if with.is_some() {
        *base = with;
    }
}

fn merge_provider(decoder: &mut Decoder, draft: &mut Draft, with: ProviderBlock) {
    let base = draft.module.providers.iter_mut().find(|it| it.local_name() == with.local_name());
    match (base, &with.alias) {
        (Some(base), _) => {
            replace(&mut base.version, with.version);
            merge_bodies(&mut base.body, with.body);
        }
        // A default configuration that is not written is an empty one, and that can be overridden.
        (None, None) => draft.module.providers.push(with),
        (None, Some(alias)) => {
            let what = format!(
                "{} provider configuration with the alias {:?}",
                with.name.text, alias.text
            );
            missing(
                decoder,
                "Missing base provider configuration for override",
                &what,
                "an aliased provider configuration that was already defined",
                with.declared,
            );
        }
    }
}

fn merge_variable(base: &mut VariableBlock, with: VariableBlock) {
    replace(&mut base.description, with.description);
    if let (true, None, Some((_, at))) = (with.ty.is_some(), &with.default, &mut base.default) {
        // Where it does not fit, the type that came later is to blame.
        *at = with.declared;
    }
    replace(&mut base.ty, with.ty);
    replace(&mut base.default, with.default);
    replace(&mut base.sensitive, with.sensitive);
    replace(&mut base.ephemeral, with.ephemeral);
    replace(&mut base.nullable, with.nullable);
    replace(&mut base.deprecated, with.deprecated);
    replace(&mut base.constant, with.constant);
}

fn merge_output(decoder: &mut Decoder, base: &mut OutputBlock, with: OutputBlock) {
    refuse_depends_on(decoder, &with.depends_on);
    replace(&mut base.description, with.description);
    replace(&mut base.value, with.value);
    replace(&mut base.ty, with.ty);
    replace(&mut base.sensitive, with.sensitive);
    replace(&mut base.ephemeral, with.ephemeral);
    replace(&mut base.deprecated, with.deprecated);
}

/// `count` and `for_each` replace each other; `enabled` is part of `lifecycle` and cannot be overridden.
fn merge_repetition(base: &mut Repetition, with: Repetition) {
    if let Repetition::Count(_) | Repetition::ForEach(_) = with {
        *base = with;
    }
}

fn merge_call(decoder: &mut Decoder, base: &mut ModuleCall, with: ModuleCall) {
    let besides = with.besides.into_inner();
    refuse_depends_on(decoder, &besides.depends_on);
    replace(&mut base.source, with.source);
    replace(&mut base.besides.version, besides.version);
    merge_repetition(&mut base.repetition, with.repetition);
    base.inputs.extend(with.inputs);
    base.besides.unexpected.extend(besides.unexpected);
    if !besides.providers.is_empty() {
        base.besides.providers = besides.providers;
    }
}

fn merge_resource(decoder: &mut Decoder, base: &mut Resource, with: Resource) {
    let besides = with.besides.into_inner();
    refuse_depends_on(decoder, &besides.depends_on);
    merge_repetition(&mut base.besides.repetition, besides.repetition);
    replace(&mut base.besides.provider, besides.provider);
    replace(&mut base.besides.connection, besides.connection);
    if !besides.provisioners.is_empty() {
        base.besides.provisioners = besides.provisioners;
    }
    merge_lifecycle(&mut base.besides.lifecycle, besides.lifecycle.into_inner());
    merge_bodies(&mut base.body, with.body);
}

fn merge_lifecycle(base: &mut Lifecycle, with: Lifecycle) {
    if with.create_before_destroy.is_some() {
        base.create_before_destroy = with.create_before_destroy;
        base.create_before_destroy_span = with.create_before_destroy_span;
    }
    replace(&mut base.prevent_destroy, with.prevent_destroy);
    replace(&mut base.destroy, with.destroy);
    match with.ignore_changes {
        IgnoreChanges::None => {}
        IgnoreChanges::Paths(paths) if paths.is_empty() => {}
        it => base.ignore_changes = it,
    }
}

/// Replaces attribute by attribute; a type of block that occurs in `with`, written out or as `dynamic`, replaces all
/// blocks of that type.
pub fn merge_bodies(base: &mut Body, with: Body) {
    let attributes: Vec<&str> = with.attributes.iter().map(|it| &*it.name.text).collect();
    let blocks: Vec<&str> = with.blocks.iter().map(block_type).collect();
    let members: Vec<&str> =
        with.json.iter().flat_map(|it| &it.members).map(|it| &*it.0.text).collect();
    base.attributes
        .retain(|it| !attributes.contains(&&*it.name.text) && !members.contains(&&*it.name.text));
    base.blocks
        .retain(|it| !blocks.contains(&block_type(it)) && !members.contains(&block_type(it)));
    if let Some(json) = &mut base.json {
        json.members.retain(|(name, _)| {
            let name = &&*name.text;
            !attributes.contains(name) && !blocks.contains(name) && !members.contains(name)
        });
    }
    base.attributes.extend(with.attributes);
    base.blocks.extend(with.blocks);
    match (&mut base.json, with.json) {
        (Some(own), Some(more)) => own.members.extend(more.members),
        (own @ None, Some(more)) => *own = Some(more),
        (_, None) => {}
    }
}

/// The type of block that a block makes.
fn block_type(block: &Block) -> &str {
    match (&*block.kind.text, block.labels.first()) {
        ("dynamic", Some(label)) => &label.text,
        (kind, _) => kind,
    }
}
