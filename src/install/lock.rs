//! `.terraform.lock.hcl`: which version of each provider was chosen, and the checksums its packages may have.
//!
//! The file is written whole, in one normal form, so that a diff of it shows only what matters.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::hash::Hash;
use super::requirement::is_same;
use crate::address::Provider;
use crate::backend::files::{self, Fresh};
use crate::config::version::{Constraint, Constraints, Version, normal};
use crate::diagnostic::{Diagnostic, Diagnostics, Sources, Span};
use crate::syntax::{self, AttributeSchema, Block, BlockSchema, Expression};
use crate::world::World;

/// The file's name, in the folder of the root module.
pub const FILE: &str = ".terraform.lock.hcl";

/// What was chosen for one provider.
#[derive(Clone, Debug, PartialEq)]
pub struct Lock {
    /// The version.
    pub version: Version,
    /// The conditions at that time. They say why, and decide nothing.
    pub constraints: Vec<Constraint>,
    /// Checksums of packages for this or any other platform.
    pub hashes: BTreeSet<Hash>,
}

impl Lock {
    /// Returns the checksums that this program can compute.
    pub fn usable(&self) -> Vec<Hash> {
        self.hashes.iter().filter(|it| it.is_usable()).cloned().collect()
    }
}

/// Everything that was chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Locks(pub BTreeMap<Provider, Lock>);

impl Locks {
    /// Reads the file of a folder; nothing is locked where there is none.
    pub fn read(world: &World, sources: &Sources) -> (Locks, Diagnostics) {
        let path = path(world);
        match world.files.read_text(&path) {
            Ok(text) => Locks::parse(FILE, &text, sources),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Default::default(),
            Err(error) => (Locks::default(), unreadable(&error).into()),
        }
    }

    /// Reads the text of a lock file.
    pub fn parse(name: &str, text: &str, sources: &Sources) -> (Locks, Diagnostics) {
        let file = sources.add(name, Arc::from(text));
        let (body, mut problems) = syntax::parse(file, text);
        let blocks = [
            BlockSchema { kind: "provider", labels: &["source_addr"] },
            BlockSchema { kind: "module", labels: &["path"] },
        ];
        let (content, found) = body.into_content(&[], &blocks);
        problems.extend(found);
        let mut locks = Locks::default();
        let mut seen: BTreeMap<Provider, Span> = BTreeMap::new();
        for block in content.blocks_of("provider") {
            let Some((provider, lock)) = read_block(block, &mut problems) else { continue };
            match seen.get(&provider) {
                Some(first) => problems.push(duplicate(&provider, &sources.range(*first), block)),
                None => {
                    seen.insert(provider.clone(), block.header);
                    locks.0.insert(provider, lock);
                }
            }
        }
        if let Some(block) = content.blocks_of("module").next() {
            problems.push(modules_locked(block));
        }
        (locks, problems)
    }

    /// Returns whether both choose the same; conditions do not count.
    pub fn choose_alike(&self, other: &Locks) -> bool {
        self.0.len() == other.0.len()
            && self.0.iter().all(|(provider, ours)| {
                other.0.get(provider).is_some_and(|theirs| {
                    is_same(&ours.version, &theirs.version) && ours.hashes == theirs.hashes
                })
            })
    }

    /// Adds an entry under the registry of OpenTofu for each official provider that only another registry's is locked for:
    /// the same version, without checksums, since the packages differ. Returns old and new addresses.
    pub fn adopt(&mut self) -> Vec<(Provider, Provider)> {
        let mut adopted = Vec::new();
        for (old, lock) in self.0.clone() {
            if &*old.host != "registry.terraform.io" || &*old.namespace != "hashicorp" {
                continue;
            }
            let new = Provider::implied(&old.kind);
            if new.is_builtin() || self.0.contains_key(&new) {
                continue;
            }
            self.0.insert(new.clone(), Lock { hashes: BTreeSet::new(), ..lock });
            adopted.push((old, new));
        }
        adopted
    }

    /// Returns the file's text.
    pub fn text(&self) -> String {
        let mut text = String::from(
            "# This file is maintained automatically by \"tofu init\".\n# Manual edits may be lost in future updates.\n",
        );
        for (provider, lock) in &self.0 {
            text.push_str(&format!("\nprovider {:?} {{\n", provider.to_string()));
            let constraints = normal(&lock.constraints);
            // Signs of lines that follow each other stand under each other; a list of several lines is apart.
            let gap = if constraints.is_empty() { " " } else { "     " };
            text.push_str(&format!("  version{gap}= {:?}\n", lock.version.to_string()));
            if !constraints.is_empty() {
                text.push_str(&format!("  constraints = {constraints:?}\n"));
            }
            if !lock.hashes.is_empty() {
                text.push_str("  hashes = [\n");
                for hash in &lock.hashes {
                    text.push_str(&format!("    {:?},\n", hash.to_string()));
                }
                text.push_str("  ]\n");
            }
            text.push_str("}\n");
        }
        text
    }

    /// Writes the file, whole or not at all.
    pub fn write(&self, world: &World) -> Result<(), Diagnostic> {
        files::replace(&path(world), self.text().as_bytes(), Fresh::Usual).map_err(|error| {
            Diagnostic::error("Failed to update dependency lock file").detail(format!(
                "Error while writing new dependency lock information to {FILE}: {error}."
            ))
        })
    }
}

fn path(world: &World) -> PathBuf {
    Path::new(&world.root).join(FILE)
}

fn invalid(summary: &str, detail: String, at: Span) -> Diagnostic {
    Diagnostic::error(summary).detail(detail).at(at)
}

fn read_block(block: &Block, problems: &mut Diagnostics) -> Option<(Provider, Lock)> {
    let label = block.labels.first()?;
    let provider = problems.take(read_address(&label.text, label.span))?;
    let attributes = [
        AttributeSchema { name: "version", required: true },
        AttributeSchema { name: "constraints", required: false },
        AttributeSchema { name: "hashes", required: false },
    ];
    let (body, found) = block.body.content(&attributes, &[]);
    problems.extend(found);
    let version =
        body.attribute("version").and_then(|it| problems.take(read_version(&provider, &it.value)));
    let constraints = body
        .attribute("constraints")
        .and_then(|it| problems.take(read_constraints(&provider, &it.value)));
    let hashes = body.attribute("hashes").map(|it| read_hashes(&it.value, problems));
    let lock = Lock {
        version: version?,
        constraints: constraints.unwrap_or_default(),
        hashes: hashes.unwrap_or_default(),
    };
    Some((provider, lock))
}

fn read_address(text: &str, at: Span) -> Result<Provider, Diagnostic> {
    const SUMMARY: &str = "Invalid provider source address";
    let provider: Provider = text.parse().map_err(|_| {
        let detail = "The provider source address for a provider lock must be a valid, fully-qualified address of the form \"hostname/namespace/type\".";
        invalid(SUMMARY, detail.to_owned(), at)
    })?;
    if provider.is_builtin() {
        let detail = format!(
            "Cannot lock a version for built-in provider {provider}. Built-in providers are part of the program, so you can't select a version for them independently of the program's."
        );
        return Err(invalid(SUMMARY, detail, at));
    }
    if provider.to_string() != text {
        let detail = format!(
            "The provider source address for this provider lock must be written as {:?}, the fully-qualified and normalized form.",
            provider.to_string()
        );
        return Err(invalid("Non-normalized provider source address", detail, at));
    }
    Ok(provider)
}

fn read_text(expression: &Expression) -> Result<String, Diagnostic> {
    let value = crate::expression::evaluate_constant(expression).map_err(|_| {
        invalid(
            "Unsuitable value type",
            "Unsuitable value: a string in quotes is required.".to_owned(),
            expression.span,
        )
    })?;
    value.as_str().map(str::to_owned).ok_or_else(|| {
        invalid(
            "Unsuitable value type",
            "Unsuitable value: string required.".to_owned(),
            expression.span,
        )
    })
}

fn read_version(provider: &Provider, expression: &Expression) -> Result<Version, Diagnostic> {
    const SUMMARY: &str = "Invalid provider version number";
    let text = read_text(expression)?;
    let Some(version) = Version::parse(&text) else {
        let detail = format!(
            "The selected version number for provider {provider} is invalid: {text:?} is no version."
        );
        return Err(invalid(SUMMARY, detail, expression.span));
    };
    if version.to_string() != text {
        let detail = format!(
            "The selected version number for provider {provider} must be written in normalized form: {:?}.",
            version.to_string()
        );
        return Err(invalid(SUMMARY, detail, expression.span));
    }
    Ok(version)
}

fn read_constraints(
    provider: &Provider,
    expression: &Expression,
) -> Result<Vec<Constraint>, Diagnostic> {
    const SUMMARY: &str = "Invalid provider version constraints";
    let text = read_text(expression)?;
    let Some(constraints) = Constraints::parse(&text) else {
        let detail = format!(
            "The recorded version constraints for provider {provider} are invalid: {text:?}."
        );
        return Err(invalid(SUMMARY, detail, expression.span));
    };
    if normal(&constraints.0) != text {
        let detail = format!(
            "The recorded version constraints for provider {provider} must be written in normalized form: {:?}.",
            normal(&constraints.0)
        );
        return Err(invalid(SUMMARY, detail, expression.span));
    }
    Ok(constraints.0)
}

fn read_hashes(expression: &Expression, problems: &mut Diagnostics) -> BTreeSet<Hash> {
    let items = expression.as_tuple().unwrap_or_default();
    if items.is_empty() {
        let detail =
            "The \"hashes\" argument must either be omitted or contain at least one hash value.";
        problems.push(invalid("Invalid provider hash set", detail.to_owned(), expression.span));
    }
    let mut hashes = BTreeSet::new();
    for item in items {
        let Some(text) = problems.take(read_text(item)) else { continue };
        match Hash::parse(&text) {
            Some(hash) => drop(hashes.insert(hash)),
            None => {
                let detail = format!(
                    "Cannot interpret {text:?} as a provider hash: hash string must start with a scheme keyword followed by a colon."
                );
                problems.push(invalid("Invalid provider hash string", detail, expression.span));
            }
        }
    }
    hashes
}

fn duplicate(provider: &Provider, first: &str, block: &Block) -> Diagnostic {
    let detail =
        format!("This lockfile already declared a lock for provider {provider} at {first}.");
    invalid("Duplicate provider lock", detail, block.kind.span)
}

fn modules_locked(block: &Block) -> Diagnostic {
    Diagnostic::warning("Dependency locks for modules are not yet supported")
        .detail("Only providers can be locked, not modules. This lock file may be meant for a later version of the program.")
        .at(block.kind.span)
}

fn unreadable(error: &std::io::Error) -> Diagnostic {
    Diagnostic::error("Failed to read file")
        .detail(format!("The file {FILE:?} could not be read: {error}."))
}
