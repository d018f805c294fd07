//! `resource`, `data` and `ephemeral` blocks.

use crate::address::{Mode, Provider, ResourceName};
use crate::diagnostic::Span;
use crate::syntax::Block;

use super::condition::owner;
use super::decode::{Decoder, Schema};
use super::lifecycle::{self, LifecycleOf};
use super::provider::reference;
use super::repetition::Repetitions;
use super::{Lifecycle, Resource, escape, problems, provisioner};

const MANAGED: Schema = Schema {
    attributes: &["count", "for_each", "provider", "depends_on"],
    required: &[],
    blocks: &[
        ("locals", &[]),
        ("lifecycle", &[]),
        ("connection", &[]),
        ("provisioner", &["type"]),
        ("_", &[]),
    ],
};
const DATA: Schema = Schema {
    attributes: &["count", "for_each", "provider", "depends_on"],
    required: &[],
    blocks: &[("lifecycle", &[]), ("locals", &[]), ("_", &[])],
};

/// Where a data source stands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place<'a> {
    /// At the top of a file.
    Module,
    /// Inside the `check` block of this name.
    Check(&'a str),
}

/// The words for one mode.
struct Words {
    kind_summary: &'static str,
    name_summary: &'static str,
    block: &'static str,
    plural: &'static str,
}

fn words(mode: Mode) -> Words {
    match mode {
        Mode::Managed => Words {
            kind_summary: "Invalid resource type name",
            name_summary: "Invalid resource name",
            block: "resource",
            plural: "resources",
        },
        Mode::Data => Words {
            kind_summary: "Invalid data source name",
            name_summary: "Invalid data resource name",
            block: "data",
            plural: "data sources",
        },
        Mode::Ephemeral => Words {
            kind_summary: "Invalid ephemeral resource type name",
            name_summary: "Invalid ephemeral resource name",
            block: "ephemeral",
            plural: "ephemeral resources",
        },
    }
}

/// Reads a `resource` block.
pub(super) fn managed(decoder: &mut Decoder, block: Block) -> Option<Resource> {
    resource(decoder, block, Mode::Managed, Place::Module)
}

/// Reads a `data` block.
pub(super) fn data(decoder: &mut Decoder, block: Block, place: Place<'_>) -> Option<Resource> {
    resource(decoder, block, Mode::Data, place)
}

/// Reads an `ephemeral` block.
pub(super) fn ephemeral(decoder: &mut Decoder, block: Block) -> Option<Resource> {
    resource(decoder, block, Mode::Ephemeral, Place::Module)
}

fn resource(decoder: &mut Decoder, block: Block, mode: Mode, place: Place<'_>) -> Option<Resource> {
    let words = words(mode);
    let (content, rest) =
        decoder.partial(block.body, if mode == Mode::Data { &DATA } else { &MANAGED });
    let [kind, name, ..] = &block.labels[..] else { return None };
    decoder.check_name(kind, words.kind_summary);
    decoder.check_name(name, words.name_summary);
    let address = ResourceName { mode, kind: kind.text.clone(), name: name.text.clone() };

    let mut repetitions = match place {
        Place::Module => Repetitions::of(&content),
        Place::Check(_) => {
            for it in ["count", "for_each"].into_iter().filter_map(|it| content.get(it)) {
                refuse_nested(decoder, &it.name.text, it.name.span);
            }
            Repetitions::default()
        }
    };
    let provider = content.get("provider").and_then(|it| reference(decoder, &it.value, "provider"));
    let depends_on = content.get("depends_on").map(|it| decoder.traversals(it)).unwrap_or_default();
    let mut rest = escape::Rest::new(rest, words.block);
    let (mut seen_lifecycle, mut seen_connection): (Option<&Block>, Option<&Block>) = (None, None);
    let (mut lifecycle, mut provisioners) = (Lifecycle::default(), Vec::new());
    for inner in &content.blocks {
        let kind = &*inner.kind.text;
        match kind {
            "lifecycle" => {
                if let Place::Check(_) = place {
                    let detail = "Nested data blocks do not support \"lifecycle\" blocks as the lifecycle is managed by the containing block.";
                    decoder.report(problems::invalid(
                        "Invalid lifecycle block",
                        detail,
                        inner.header,
                    ));
                }
                if !is_first(decoder, &mut seen_lifecycle, inner, "This resource") {
                    continue;
                }
                let owner = LifecycleOf { resource: &address, block: inner };
                lifecycle = lifecycle::lifecycle(decoder, &owner, &mut repetitions);
            }
            "connection" | "provisioner" if mode == Mode::Ephemeral => {
                let detail = format!(
                    "The block type {kind:?} cannot be used in ephemeral resources. This is meant to be used strictly in \"resource\" blocks."
                );
                decoder.report(problems::invalid(
                    "Invalid configuration block for ephemeral resource",
                    detail,
                    inner.header,
                ));
            }
            "connection" => {
                is_first(decoder, &mut seen_connection, inner, "This resource");
            }
            "provisioner" => provisioners.extend(provisioner::provisioner(decoder, inner)),
            "_" => rest.add(decoder, inner),
            _ => decoder.report(problems::reserved_block(kind, words.block, inner.kind.span)),
        }
    }
    let connection = seen_connection.map(|it| Box::new(it.body.clone()));
    if let Some(connection) = &connection
        && provisioners.iter().any(|it| it.on_destroy)
    {
        provisioner::check_only_self(decoder, connection);
    }
    Some(Resource {
        repetition: repetitions.finish(decoder, words.plural),
        name: address,
        declared: block.header,
        labels: (kind.span, name.span),
        body: rest.body,
        provider: provider.map(Box::new),
        // The module decides once its required_providers are known.
        provider_source: Provider::implied(super::provider::implied_provider(&kind.text)),
        depends_on,
        lifecycle,
        provisioners,
        connection,
        check: owner(place),
        generated: false,
    })
}

/// Remembers the first block of a kind and complains of others.
pub(super) fn is_first<'a>(
    decoder: &mut Decoder,
    seen: &mut Option<&'a Block>,
    block: &'a Block,
    owner: &str,
) -> bool {
    let Some(first) = seen else {
        *seen = Some(block);
        return true;
    };
    let first = decoder.place(first.header);
    decoder.report(problems::duplicate_block(&block.kind.text, owner, &first, block.header));
    false
}

fn refuse_nested(decoder: &mut Decoder, name: &str, at: Span) {
    let detail = format!("The {name:?} meta-argument is not supported within nested data blocks.");
    decoder.report(problems::invalid(format!("Invalid {name:?} attribute"), detail, at));
}
