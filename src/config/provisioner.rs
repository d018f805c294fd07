//! `provisioner` and `connection`.

use crate::expression::{Subject, references_of};
use crate::syntax::{Attribute, Block, Body};
use crate::world::PRODUCT;

use super::decode::{Decoder, Schema, is_first};
use super::{Provisioner, escape, problems};

const PROVISIONER: Schema = Schema {
    attributes: &["when", "on_failure"],
    required: &[],
    blocks: &[("_", &[]), ("connection", &[]), ("lifecycle", &[])],
};

/// Reads a `provisioner` block.
pub(super) fn provisioner(decoder: &mut Decoder, block: &Block) -> Option<Provisioner> {
    let (content, rest) = decoder.partial(block.body.clone(), &PROVISIONER);
    let kind = block.labels.first()?.clone();
    if let "chef" | "habitat" | "puppet" | "salt-masterless" = &*kind.text {
        let detail = format!(
            "The {:?} provisioner is deprecated and has been removed from {PRODUCT}.",
            kind.text
        );
        decoder.report(problems::invalid(
            format!("The {:?} provisioner has been removed", kind.text),
            detail,
            kind.span,
        ));
        return None;
    }
    let on_destroy = word(decoder, content.get("when"), "when", ["create", "destroy"]);
    let continue_on_failure =
        word(decoder, content.get("on_failure"), "on_failure", ["fail", "continue"]);
    if on_destroy {
        check_only_self(decoder, &rest);
    }
    let (mut rest, mut connection) = (escape::Rest::new(rest, "provisioner"), None);
    for inner in &content.blocks {
        match &*inner.kind.text {
            "_" => rest.add(decoder, inner),
            "connection" => {
                if is_first(decoder, &mut connection, inner, "This provisioner") && on_destroy {
                    check_only_self(decoder, &inner.body);
                }
            }
            kind => decoder.report(problems::reserved_block(kind, "provisioner", inner.kind.span)),
        }
    }
    let connection = connection.map(|it| it.body.clone());
    Some(Provisioner {
        kind,
        body: rest.body,
        on_destroy,
        continue_on_failure,
        connection,
        declared: block.header,
    })
}

/// Reads one of two keywords: whether it is the second. The first is the default.
fn word(
    decoder: &mut Decoder,
    attribute: Option<&Attribute>,
    name: &str,
    [first, second]: [&str; 2],
) -> bool {
    let Some(attribute) = attribute else { return false };
    match decoder.keyword(&attribute.value) {
        Some(it) if *it == *first => false,
        Some(it) if *it == *second => true,
        _ => {
            let mut words = [first, second];
            words.sort();
            let detail = format!(
                "The {name:?} argument requires one of the following keywords: {} or {}.",
                words[0], words[1]
            );
            decoder.report(problems::invalid(
                format!("Invalid {name:?} keyword"),
                detail,
                attribute.value.span,
            ));
            false
        }
    }
}

/// Complains of references that are not at hand any more when something is destroyed.
pub(super) fn check_only_self(decoder: &mut Decoder, body: &Body) {
    let (attributes, _) = body.just_attributes();
    for attribute in &attributes {
        let (references, _) = references_of(&attribute.value);
        let allowed = |it: Subject<'_>| {
            matches!(
                it,
                Subject::SelfObject
                    | Subject::Path(_)
                    | Subject::Terraform(_)
                    | Subject::CountIndex
                    | Subject::EachKey
            )
        };
        for _ in references.iter().filter(|it| !allowed(it.subject)) {
            let detail = "Destroy-time provisioners and their connection configurations may only reference attributes of the related resource, via 'self', 'count.index', or 'each.key'. References to other resources during the destroy phase can cause dependency cycles and interact poorly with create_before_destroy.";
            decoder.report(problems::invalid(
                "Invalid reference from destroy provisioner",
                detail,
                attribute.value.span,
            ));
        }
    }
}
