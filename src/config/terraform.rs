//! `terraform` and `language` blocks: backend, required providers, versions.

use crate::address::Provider;
use crate::diagnostic::Span;
use crate::syntax::{Attribute, Block, Expression, Name, Step};

use super::decode::{Content, Decoder, Schema};
use super::provider::{check_local_name, version_constraint};
use super::version::{Constraints, OPENTOFU_VERSION, Version};
use super::{Backend, ProviderMeta, RequiredProvider, problems, settle};

const TERRAFORM: Schema = Schema {
    attributes: &["required_version", "experiments", "language"],
    required: &[],
    blocks: &[
        ("backend", &["type"]),
        ("cloud", &[]),
        ("required_providers", &[]),
        ("provider_meta", &["provider"]),
        ("encryption", &[]),
    ],
};
const LANGUAGE: Schema = Schema {
    attributes: &["edition", "experiments"],
    required: &[],
    blocks: &[("compatible_with", &[])],
};
const COMPATIBLE: Schema = Schema { attributes: &["opentofu"], required: &[], blocks: &[] };

/// What one `terraform` block says.
#[derive(Default)]
pub(super) struct TerraformBlock {
    pub backends: Vec<Backend>,
    pub clouds: Vec<Backend>,
    pub encryptions: Vec<Backend>,
    pub required_providers: Vec<RequiredProviders>,
    pub provider_metas: Vec<ProviderMeta>,
    pub required_versions: Vec<(String, Span)>,
}

/// One `required_providers` block.
pub(super) struct RequiredProviders {
    pub entries: Vec<RequiredProvider>,
    pub declared: Span,
}

/// Reads a `terraform` block.
pub(super) fn terraform(decoder: &mut Decoder, block: &Block) -> TerraformBlock {
    let content = decoder.content(block, &TERRAFORM);
    let mut said = TerraformBlock::default();
    // Elsewhere the constraint is meant for another program, and is not even read.
    if decoder.file.is_tofu {
        said.required_versions.extend(required_version(decoder, &content, "required_version"));
    }
    for inner in &content.blocks {
        match &*inner.kind.text {
            "backend" => said.backends.extend(backend(inner)),
            "cloud" => said.clouds.push(Backend {
                kind: inner.kind.clone(),
                is_cloud: true,
                body: inner.body.clone(),
                declared: inner.header,
            }),
            "required_providers" => {
                let entries = decoder
                    .constants(&inner.body)
                    .iter()
                    .filter_map(|it| required_provider(decoder, it))
                    .collect();
                said.required_providers.push(RequiredProviders { entries, declared: inner.header });
            }
            "provider_meta" => said.provider_metas.extend(provider_meta(decoder, inner)),
            _ => said.encryptions.push(Backend {
                kind: inner.kind.clone(),
                is_cloud: false,
                body: inner.body.clone(),
                declared: inner.header,
            }),
        }
    }
    said
}

fn backend(block: &Block) -> Option<Backend> {
    Some(Backend {
        kind: block.labels.first()?.clone(),
        is_cloud: false,
        body: block.body.clone(),
        declared: block.header,
    })
}

/// Reads and checks a constraint on the program's own version.
fn required_version(
    decoder: &mut Decoder,
    content: &Content,
    name: &str,
) -> Option<(String, Span)> {
    let attribute = content.literal(name)?;
    let (text, _) = version_constraint(decoder, &attribute.value)?;
    let at = attribute.span();
    let constraints = Constraints::parse(&text)?;
    if let Some(it) = constraints.0.iter().find(|it| it.has_prerelease()) {
        decoder.report(problems::prerelease_constraint(&it.to_string(), at));
        return None;
    }
    let version = Version::parse(OPENTOFU_VERSION)?;
    if !constraints.allow(&version) {
        decoder.report(problems::incompatible_module(OPENTOFU_VERSION, at));
    }
    Some((text, at))
}

/// Reads a `language` block.
pub(super) fn language(decoder: &mut Decoder, block: &Block) -> Vec<(String, Span)> {
    if decoder.file.is_override {
        let detail = "Language-related settings in \"language\" blocks are not allowed in override files. Place these settings in a normal configuration file.";
        decoder.report(problems::invalid(
            "Language selections in override file",
            detail,
            block.header,
        ));
        return Vec::new();
    }
    let content = decoder.content(block, &LANGUAGE);
    if let Some(it) = content.get("edition") {
        check_edition(decoder, &it.value);
    }
    if let Some(it) = content.get("experiments") {
        check_experiments(decoder, &it.value);
    }
    let mut versions: Vec<(String, Span)> = Vec::new();
    for inner in &content.blocks {
        if let Some(first) = versions.first() {
            let detail = format!(
                "Each language block may have at most one compatible_with block referring to OpenTofu. The OpenTofu version constraint was already declared at {}.",
                decoder.place(first.1)
            );
            decoder.report(problems::invalid(
                "Duplicate compatible_with block",
                detail,
                block.header,
            ));
            continue;
        }
        let (content, _) = decoder.partial(inner.body.clone(), &COMPATIBLE);
        let Some((text, at)) = required_version(decoder, &content, "opentofu") else { continue };
        let reaches_back = Version::parse("1.11.0")
            .is_some_and(|it| Constraints::parse(&text).is_some_and(|all| all.allow(&it)));
        if reaches_back {
            let detail = "The compatible_with block exists since OpenTofu v1.12.0, so a constraint in it should exclude earlier versions. For those, use required_version in a \"terraform\" block in a file with the .tofu suffix.";
            decoder.report(problems::questionable("Ineffective version constraint", detail, at));
        }
        versions.push((text, at));
    }
    versions
}

fn check_edition(decoder: &mut Decoder, expression: &Expression) {
    const EDITION: &str = "tofu2024";
    let edition = decoder.written(expression);
    let problem = match edition.as_ref().and_then(Expression::as_keyword) {
        Some(EDITION) => return,
        None => problems::invalid(
            "Invalid language edition",
            format!(
                "The \"edition\" argument expects a bare language edition keyword. Only language edition {EDITION} is supported, which is the default."
            ),
            expression.span,
        ),
        Some(other) => problems::invalid(
            "Unsupported language edition",
            format!(
                "Language edition {other:?} is not supported; the only one is {EDITION}. This module requires a different program or version."
            ),
            expression.span,
        ),
    };
    decoder.report(problem);
}

fn check_experiments(decoder: &mut Decoder, expression: &Expression) {
    for item in decoder.list(expression) {
        let word = decoder.written(&item);
        let problem = match word.as_ref().and_then(Expression::as_keyword) {
            Some(name) => problems::invalid(
                "Unknown experiment keyword",
                format!("There is no current experiment with the keyword {name:?}."),
                item.span,
            ),
            None => problems::invalid(
                "Invalid experiment keyword",
                "Elements of \"experiments\" must all be keywords representing active experiments.",
                item.span,
            ),
        };
        decoder.report(problem);
    }
}

fn provider_meta(decoder: &mut Decoder, block: &Block) -> Option<ProviderMeta> {
    let attributes = decoder.constants(&block.body);
    let constants = attributes.iter().filter_map(|it| decoder.constant(&it.value)).count();
    let name = block.labels.first()?.clone();
    check_local_name(decoder, &name.text, block.header)?;
    let is_constant = constants == attributes.len();
    is_constant.then(|| ProviderMeta { name, body: block.body.clone(), declared: block.header })
}

/// Reads one entry: a version constraint alone, or an object of source, version and aliases.
fn required_provider(decoder: &mut Decoder, attribute: &Attribute) -> Option<RequiredProvider> {
    let name = attribute.name.clone();
    let at = attribute.value.span;
    let source = Provider::implied(&name.text);
    let Some(pairs) = decoder.pairs(&attribute.value) else {
        let Ok(value) = crate::expression::evaluate_constant(&attribute.value) else {
            let detail = "required_providers entries must be strings or objects.";
            decoder.report(problems::invalid("Invalid required_providers object", detail, at));
            return None;
        };
        if !value.ty().is_primitive() {
            let detail = "required_providers entries must be strings or objects.";
            decoder.report(problems::invalid("Invalid required_providers object", detail, at));
            return None;
        }
        check_local_name(decoder, &name.text, at)?;
        let version = version_constraint(decoder, &attribute.value);
        return Some(RequiredProvider {
            name,
            source,
            is_explicit: false,
            version,
            version_from: None,
            configuration_aliases: Vec::new(),
        });
    };
    check_local_name(decoder, &name.text, at)?;
    let before = decoder.problems.0.len();
    let mut entry = RequiredProvider {
        name,
        source,
        is_explicit: false,
        version: None,
        version_from: None,
        configuration_aliases: Vec::new(),
    };
    for (key, value) in &pairs {
        match key.as_keyword().or(key.as_static_string().map(|it| &**it)) {
            Some("version") if settle::is_open(value) => entry.version_from = Some(value.clone()),
            Some("version") => entry.version = version_constraint(decoder, value),
            Some("source") => {
                if let Some(source) = provider_source(decoder, value) {
                    (entry.source, entry.is_explicit) = (source, true);
                }
            }
            Some("configuration_aliases") => {
                entry.configuration_aliases = aliases(decoder, &entry.name, value)
            }
            _ => {
                let detail = "required_providers objects can only contain \"version\", \"source\" and \"configuration_aliases\" attributes. To configure a provider, use a \"provider\" block.";
                decoder.report(problems::invalid(
                    "Invalid required_providers object",
                    detail,
                    key.span,
                ));
                break;
            }
        }
    }
    let failed = decoder.problems.0[before..].iter().any(|it| it.is_error());
    if failed { None } else { Some(entry) }
}

fn provider_source(decoder: &mut Decoder, expression: &Expression) -> Option<Provider> {
    let text = crate::expression::evaluate_constant(expression)
        .ok()
        .and_then(|it| it.as_str().map(str::to_owned));
    let Some(text) = text else {
        decoder.report(problems::invalid(
            "Invalid source",
            "Source must be specified as a string.",
            expression.span,
        ));
        return None;
    };
    match text.parse::<Provider>() {
        Ok(provider) => Some(provider),
        Err(problem) => {
            decoder.report(problem.at(expression.span));
            None
        }
    }
}

fn aliases(
    decoder: &mut Decoder,
    name: &Name,
    expression: &Expression,
) -> Vec<(crate::value::Str, crate::value::Str, Span)> {
    let mut found = Vec::new();
    for item in decoder.list(expression) {
        let Some(traversal) = decoder.traversal(&item) else { continue };
        let Some((root, steps)) = traversal.as_traversal() else { continue };
        let detail = match steps {
            // An index says nothing here.
            [Step::Attribute(alias)] | [Step::Attribute(alias), Step::Index(..)]
                if root.text == name.text =>
            {
                found.push((root.text.clone(), alias.text.clone(), traversal.span));
                continue;
            }
            // A bare name asks for no alias.
            [] if root.text == name.text => continue,
            [] | [Step::Attribute(_)] => format!("Configuration aliases must be prefixed with the provider name. Expected {:?}, but found {:?}.", name.text, root.text),
            _ => "Configuration aliases can only contain references to local provider configuration names in the format of provider.alias".to_owned(),
        };
        decoder.report(problems::invalid(
            "Invalid configuration_aliases value",
            detail,
            expression.span,
        ));
    }
    found
}
