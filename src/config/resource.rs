//! `resource`, `data` and `ephemeral` blocks.

use std::sync::{Arc, LazyLock};

use crate::address::{Mode, Provider, ResourceName};
use crate::diagnostic::Span;
use crate::rarely::Rarely;
use crate::syntax::{self, Block, Body};
use crate::value::Str;

use super::decode::{Decoder, Schema, is_first};
use super::lifecycle::{self, LifecycleOf};
use super::provider::{check_implied_name, reference};
use super::repetition::Repetitions;
use super::{Lifecycle, Provisioner, Resource, ResourceBesides, escape, problems, provisioner};

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

impl Place<'_> {
    /// The name of the check that a resource here belongs to.
    fn check(self) -> Option<Str> {
        match self {
            Place::Check(name) => Some(name.into()),
            Place::Module => None,
        }
    }
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
    if content.get("provider").is_none() && syntax::is_identifier(&kind.text) {
        check_implied_name(decoder, &kind.text, block.header);
    }
    let depends_on = content.get("depends_on").map(|it| decoder.traversals(it)).unwrap_or_default();
    let mut inner = Inner {
        address: &address,
        place,
        rest: escape::Rest::new(rest, words.block),
        lifecycle: Lifecycle::default(),
        provisioners: Vec::new(),
        seen_lifecycle: None,
        seen_connection: None,
    };
    for it in &content.blocks {
        inner.add(decoder, it, words.block, &mut repetitions);
    }
    let connection = inner.connection(decoder);
    let Inner { rest, lifecycle, provisioners, .. } = inner;
    let besides = ResourceBesides {
        repetition: repetitions.finish(decoder, words.plural),
        provider: provider.map(Box::new),
        lifecycle: Rarely::of(lifecycle),
        depends_on: depends_on.into(),
        provisioners: provisioners.into(),
        connection,
        check: place.check(),
        generated: false,
    };
    Some(Resource {
        name: address,
        declared: block.header,
        labels: (kind.span, name.span),
        body: rest.body,
        // The module decides once its required_providers are known.
        provider_source: UNDECIDED.clone(),
        besides: Rarely::of(besides),
    })
}

/// The provider of every resource that is in no module yet.
static UNDECIDED: LazyLock<Arc<Provider>> = LazyLock::new(|| Provider::implied("").into());

/// What the blocks inside a resource's block say.
struct Inner<'a> {
    address: &'a ResourceName,
    place: Place<'a>,
    rest: escape::Rest,
    lifecycle: Lifecycle,
    provisioners: Vec<Provisioner>,
    seen_lifecycle: Option<&'a Block>,
    seen_connection: Option<&'a Block>,
}

impl<'a> Inner<'a> {
    /// Reads one of them; `owner` is the kind of the block around it.
    fn add(
        &mut self,
        decoder: &mut Decoder,
        block: &'a Block,
        owner: &'static str,
        repetitions: &mut Repetitions,
    ) {
        let kind = &*block.kind.text;
        let is_lent = self.address.mode == Mode::Ephemeral;
        match kind {
            "lifecycle" => self.lifecycle(decoder, block, repetitions),
            "connection" | "provisioner" if is_lent => refuse_in_ephemeral(decoder, block),
            "connection" => {
                is_first(decoder, &mut self.seen_connection, block, "This resource");
            }
            "provisioner" => self.provisioners.extend(provisioner::provisioner(decoder, block)),
            "_" => self.rest.add(decoder, block),
            _ => decoder.report(problems::reserved_block(kind, owner, block.kind.span)),
        }
    }

    fn lifecycle(
        &mut self,
        decoder: &mut Decoder,
        block: &'a Block,
        repetitions: &mut Repetitions,
    ) {
        if let Place::Check(_) = self.place {
            let detail = "Nested data blocks do not support \"lifecycle\" blocks as the lifecycle is managed by the containing block.";
            decoder.report(problems::invalid("Invalid lifecycle block", detail, block.header));
        }
        if is_first(decoder, &mut self.seen_lifecycle, block, "This resource") {
            let owner = LifecycleOf { resource: self.address, block };
            self.lifecycle = lifecycle::lifecycle(decoder, &owner, repetitions);
        }
    }

    /// Returns how provisioners reach the object.
    fn connection(&self, decoder: &mut Decoder) -> Option<Box<Body>> {
        let connection = self.seen_connection.map(|it| Box::new(it.body.clone()))?;
        if self.provisioners.iter().any(|it| it.on_destroy) {
            provisioner::check_only_self(decoder, &connection);
        }
        Some(connection)
    }
}

fn refuse_in_ephemeral(decoder: &mut Decoder, block: &Block) {
    let detail = format!(
        "The block type {:?} cannot be used in ephemeral resources. This is meant to be used strictly in \"resource\" blocks.",
        &*block.kind.text
    );
    let summary = "Invalid configuration block for ephemeral resource";
    decoder.report(problems::invalid(summary, detail, block.header));
}

fn refuse_nested(decoder: &mut Decoder, name: &str, at: Span) {
    let detail = format!("The {name:?} meta-argument is not supported within nested data blocks.");
    decoder.report(problems::invalid(format!("Invalid {name:?} attribute"), detail, at));
}
