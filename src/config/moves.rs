//! `moved`, `removed` and `import`.

use crate::address::{Instance, InstanceKey, Mode, ModuleInstance, ResourceName};
use crate::diagnostic::{Diagnostic, Span};
use crate::syntax::{Block, Expr, Expression, Name, Step};

use super::decode::{Content, Decoder, Schema, is_first};
use super::provider::reference;
use super::{Import, MoveEndpoint, Moved, Removed, problems, provisioner};

const MOVED: Schema =
    Schema { attributes: &["from", "to"], required: &["from", "to"], blocks: &[] };
const REMOVED: Schema = Schema {
    attributes: &["from"],
    required: &["from"],
    blocks: &[("lifecycle", &[]), ("provisioner", &["type"])],
};
const REMOVED_LIFECYCLE: Schema = Schema { attributes: &["destroy"], required: &[], blocks: &[] };
const IMPORT: Schema = Schema {
    attributes: &["provider", "id", "identity", "to", "for_each"],
    required: &["to"],
    blocks: &[],
};

/// Reads a `moved` block.
pub(super) fn moved(decoder: &mut Decoder, block: &Block) -> Option<Moved> {
    let content = decoder.content(block, &MOVED);
    let from = endpoint_of(decoder, &content, "from");
    let to = endpoint_of(decoder, &content, "to");
    let (from, to) = (from?, to?);
    let mut allowed = true;
    for (name, end) in [("from", &from), ("to", &to)] {
        if end.0.mode() == Some(Mode::Ephemeral) {
            let detail = format!(
                "The resource referenced by the {name:?} attribute is not allowed to be moved."
            );
            decoder.report(problems::invalid("Invalid \"moved\" address", detail, block.header));
            allowed = false;
        }
    }
    if from.0.mode().is_some() != to.0.mode().is_some() {
        let detail = "The \"from\" and \"to\" addresses must either both refer to resources or both refer to modules.";
        decoder.report(problems::invalid("Invalid \"moved\" addresses", detail, block.header));
        allowed = false;
    }
    allowed.then_some(Moved { from, to, declared: block.header })
}

/// Reads a `removed` block.
pub(super) fn removed(decoder: &mut Decoder, block: &Block) -> Option<Removed> {
    let before = decoder.problems.0.len();
    let content = decoder.content(block, &REMOVED);
    let key = content.get("from").and_then(|it| {
        let (_, steps) = it.value.as_traversal()?;
        steps.iter().rfind(|it| !matches!(it, Step::Attribute(_))).map(Step::span)
    });
    let from = endpoint_of(decoder, &content, "from").and_then(|it| removable(decoder, it, key));
    let (mut lifecycle, mut destroy, mut provisioners) = (None, None, Vec::new());
    for inner in &content.blocks {
        if &*inner.kind.text == "lifecycle" {
            if is_first(decoder, &mut lifecycle, inner, "The removed block") {
                let content = decoder.content(inner, &REMOVED_LIFECYCLE);
                destroy = content.literal("destroy").and_then(|it| decoder.flag(it));
            }
            continue;
        }
        let Some(provisioner) = provisioner::provisioner(decoder, inner) else { continue };
        let is_module = matches!(from, Some((MoveEndpoint::Module(_), _)));
        match (provisioner.on_destroy, is_module) {
            (false, _) => {
                let detail = "\"removed\" blocks can only contain destroy provisioners. \"removed.provisioner.when = destroy\" expected";
                decoder.report(problems::invalid(
                    "Invalid \"removed.provisioner\" block",
                    detail,
                    inner.header,
                ));
            }
            (true, true) => {
                let detail = "\"removed\" blocks containing \"provisioner\"s can only target resources. Found one block that is targeting a module";
                decoder.report(problems::invalid(
                    "Invalid \"removed\" block",
                    detail,
                    block.header,
                ));
            }
            (true, false) => provisioners.push(provisioner),
        }
    }
    if !decoder.problems.0[before..].iter().any(Diagnostic::is_error) {
        warn_of_removal(decoder, destroy, !provisioners.is_empty(), block.header);
    }
    Some(Removed { from: from?, destroy, provisioners, declared: block.header })
}

fn warn_of_removal(decoder: &mut Decoder, destroy: Option<bool>, has_provisioners: bool, at: Span) {
    let (summary, detail) = match (destroy, has_provisioners) {
        (None, _) => (
            "Missing lifecycle from the removed block",
            "It is recommended for each 'removed' block configured to have also the 'lifecycle' block defined. By not specifying if the resource should be destroyed or not, could lead to unwanted behavior.",
        ),
        (Some(false), true) => (
            "Removed block provisioners will not be executed",
            "The 'removed' block has marked the resource to be forgotten and not destroyed. Therefore, the provisioners configured for it will not be executed.",
        ),
        _ => return,
    };
    decoder.report(problems::questionable(summary, detail, at));
}

/// Accepts what `removed` can name: managed resources and modules, without instance keys.
fn removable(
    decoder: &mut Decoder,
    (end, whole): (MoveEndpoint, Span),
    key: Option<Span>,
) -> Option<(MoveEndpoint, Span)> {
    let mut at = whole;
    let path = match &end {
        MoveEndpoint::Module(path) => path,
        MoveEndpoint::Resource(instance) => &instance.module,
    };
    let has_key = path.0.iter().any(|it| it.1 != InstanceKey::None)
        || matches!(&end, MoveEndpoint::Resource(it) if it.key != InstanceKey::None);
    if has_key {
        at = key.unwrap_or(whole);
    }
    let (summary, detail) = if path.0.iter().any(|it| it.1 != InstanceKey::None) {
        (
            "Module instance address with keys is not allowed",
            "Module address cannot be a module instance (e.g. \"module.a[0]\"), it must be a module instead (e.g. \"module.a\").",
        )
    } else {
        match &end {
            MoveEndpoint::Resource(it) if it.key != InstanceKey::None => (
                "Resource instance address with keys is not allowed",
                "Resource address cannot be a resource instance (e.g. \"null_resource.a[0]\"), it must be a resource instead (e.g. \"null_resource.a\").",
            ),
            MoveEndpoint::Resource(it) if it.resource.mode == Mode::Data => (
                "Data source address is not allowed",
                "Data sources cannot be destroyed, and therefore, 'removed' blocks are not allowed to target them. To remove data sources from the state, you should remove the data source block from the configuration.",
            ),
            MoveEndpoint::Resource(it) if it.resource.mode == Mode::Ephemeral => (
                "Ephemeral resource address is not allowed",
                "Ephemeral resources cannot be destroyed, and therefore, 'removed' blocks are not allowed to target them. To remove ephemeral resources from the state, you should remove the ephemeral resource block from the configuration.",
            ),
            _ => return Some((end, whole)),
        }
    };
    decoder.report(problems::invalid(summary, detail, at));
    None
}

/// Reads an `import` block.
pub(super) fn import(decoder: &mut Decoder, block: &Block) -> Option<Import> {
    let content = decoder.content(block, &IMPORT);
    let to = content
        .value("to")
        .and_then(|it| decoder.written(&it))
        .and_then(|it| import_target(decoder, &it).map(|target| (it, target)));
    let provider = content.get("provider").and_then(|it| {
        if to.as_ref().is_some_and(|(_, target)| !target.0.is_root()) {
            decoder.report(problems::provider_of_import(it.span()));
        }
        reference(decoder, &it.value, "provider")
    });
    match (content.get("id"), content.get("identity")) {
        (None, None) => {
            let detail = "One of 'id' or 'identity' must be specified in an import block to identify the resource instance to import.";
            decoder.report(problems::invalid(
                "Missing required import argument",
                detail,
                block.header,
            ));
        }
        (Some(id), Some(identity)) => {
            let detail = "Only one of 'id' or 'identity' can be specified in an import block.";
            decoder.report(problems::invalid(
                "Conflicting import arguments",
                detail,
                id.span().to(identity.span()),
            ));
        }
        _ => {}
    }
    Some(Import {
        to: to?.0,
        id: content.value("id"),
        identity: content.value("identity"),
        for_each: content.value("for_each"),
        provider,
        declared: block.header,
    })
}

/// Returns module and resource that an import names, whatever the keys.
pub(super) fn import_target(
    decoder: &mut Decoder,
    expression: &Expression,
) -> Option<(crate::address::Module, ResourceName)> {
    let Some((root, steps)) = expression.as_traversal() else {
        let detail = "Import address must be a reference to a resource's address, and only allows for indexing with dynamic keys. For example: module.my_module[expression1].aws_s3_bucket.my_buckets[expression2] for resources inside of modules, or simply aws_s3_bucket.my_bucket for a resource in the root module";
        decoder.report(problems::invalid(
            "Invalid import address expression",
            detail,
            expression.span,
        ));
        return None;
    };
    for step in steps {
        if let Step::Index(it) = step
            && matches!(&it.key.expr, Expr::Null | Expr::Bool(_))
        {
            let detail =
                "Invalid resource instance key: either a string or an integer is required.";
            decoder.report(problems::invalid("Invalid address", detail, it.key.span));
            return None;
        }
    }
    // Keys may be anything here, so they are left out before the address is read.
    let without_keys: Vec<Step> =
        steps.iter().filter(|it| matches!(it, Step::Attribute(_))).cloned().collect();
    match endpoint(&root.name(), &without_keys, expression.span) {
        Ok(MoveEndpoint::Resource(it)) => Some((it.module.module(), it.resource)),
        Ok(MoveEndpoint::Module(_)) => {
            let detail = "A resource instance address is required here. The module path must be followed by a resource instance specification.";
            decoder.report(problems::invalid("Invalid address", detail, expression.span));
            None
        }
        Err(problem) => {
            decoder.report(problem);
            None
        }
    }
}

impl Import {
    /// Returns the address of the target, where its keys are all written out.
    pub fn fixed_target(&self) -> Option<Instance> {
        let (root, steps) = self.to.as_traversal()?;
        match endpoint(&root.name(), steps, self.to.span) {
            Ok(MoveEndpoint::Resource(it)) => Some(it),
            _ => None,
        }
    }
}

impl MoveEndpoint {
    /// Returns the mode, where it names a resource.
    pub fn mode(&self) -> Option<Mode> {
        match self {
            MoveEndpoint::Module(_) => None,
            MoveEndpoint::Resource(it) => Some(it.resource.mode),
        }
    }
}

fn endpoint_of(
    decoder: &mut Decoder,
    content: &Content,
    name: &str,
) -> Option<(MoveEndpoint, Span)> {
    let attribute = content.get(name)?;
    if matches!(&attribute.value.expr, Expr::String(_)) && !decoder.file.is_json {
        decoder.report(problems::not_a_reference(attribute.value.span));
        return None;
    }
    let traversal = decoder.traversal(&attribute.value)?;
    let (root, steps) = traversal.as_traversal()?;
    match endpoint(&root.name(), steps, traversal.span) {
        Ok(it) => Some((it, traversal.span)),
        Err(problem) => {
            decoder.report(problem);
            None
        }
    }
}

/// Reads the address of a module or resource, with literal keys.
fn endpoint(root: &Name, steps: &[Step], whole: Span) -> Result<MoveEndpoint, Diagnostic> {
    let refuse = |detail: &str, at: Span| Err(problems::invalid("Invalid address", detail, at));
    let mut steps = Walk { root: Some(root), steps };
    let mut module = ModuleInstance::default();
    while steps.peek_name() == Some("module") {
        let word = steps.next_name().map_or(whole, |it| it.span);
        let Some(name) = steps.next_name() else {
            return Err(problems::invalid(
                "Invalid address operator",
                "Prefix \"module.\" must be followed by a module name.",
                word,
            ));
        };
        module = module.child(&name.text, steps.next_key()?);
    }
    let Some(first) = steps.next_name() else {
        return if steps.is_done() {
            Ok(MoveEndpoint::Module(module))
        } else {
            refuse("A resource type name is required.", whole)
        };
    };
    let (mode, kind) = match &*first.text {
        "data" => (Mode::Data, steps.next_name()),
        "ephemeral" => (Mode::Ephemeral, steps.next_name()),
        "resource" => (Mode::Managed, steps.next_name()),
        _ => (Mode::Managed, Some(first)),
    };
    let Some((kind, name)) = kind.and_then(|kind| Some((kind, steps.next_name()?))) else {
        return refuse("Resource specification must include a resource type and name.", whole);
    };
    let resource = ResourceName { mode, kind: kind.text.clone(), name: name.text.clone() };
    let key = steps.next_key()?;
    if !steps.is_done() {
        return refuse("Unexpected extra operators after address.", whole);
    }
    Ok(MoveEndpoint::Resource(Instance { module, resource, key }))
}

/// A traversal, read step by step.
struct Walk<'a> {
    root: Option<&'a Name>,
    steps: &'a [Step],
}

impl<'a> Walk<'a> {
    fn peek_name(&self) -> Option<&'a str> {
        match (self.root, self.steps) {
            (Some(name), _) | (None, [Step::Attribute(name), ..]) => Some(&name.text),
            _ => None,
        }
    }

    fn next_name(&mut self) -> Option<&'a Name> {
        match (self.root.take(), self.steps) {
            (Some(name), _) => Some(name),
            (None, [Step::Attribute(name), rest @ ..]) => {
                self.steps = rest;
                Some(name)
            }
            _ => None,
        }
    }

    /// Takes a key in brackets, if one is next.
    fn next_key(&mut self) -> Result<InstanceKey, Diagnostic> {
        let (key, rest) = match (self.root, self.steps) {
            (None, [Step::Index(it), rest @ ..]) => (instance_key(&it.key, it.span)?, rest),
            (None, [Step::LegacyIndex(it), rest @ ..]) => match i64::try_from(it.index) {
                Ok(index) => (InstanceKey::Int(index), rest),
                Err(_) => {
                    return Err(problems::invalid(
                        "Invalid address",
                        "Invalid instance key: it is too large.",
                        it.span,
                    ));
                }
            },
            _ => return Ok(InstanceKey::None),
        };
        self.steps = rest;
        Ok(key)
    }

    fn is_done(&self) -> bool {
        self.root.is_none() && self.steps.is_empty()
    }
}

fn instance_key(key: &Expression, at: Span) -> Result<InstanceKey, Diagnostic> {
    match &key.expr {
        Expr::String(text) => Ok(InstanceKey::Str(text.clone())),
        Expr::Number(number) => match number.as_i64() {
            Some(index) => Ok(InstanceKey::Int(index)),
            None => Err(problems::invalid(
                "Invalid address",
                "Invalid resource instance key: must be a whole number.",
                at,
            )),
        },
        _ => Err(problems::invalid(
            "Invalid address",
            "Invalid resource instance key: must be a string or a whole number.",
            at,
        )),
    }
}
