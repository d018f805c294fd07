//! `.entail.policies.lock.hcl`: what was installed for each source of policies, so that it is the same wherever it is installed again.
//!
//! The file is written whole, in one form, by the address of the source.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::problems;
use crate::backend::files::{self, Fresh};
use crate::config::version::{Constraint, Version};
use crate::diagnostic::{Diagnostic, Diagnostics, Sources};
use crate::expression::evaluate_constant;
use crate::install::Hash;
use crate::syntax::{self, Attribute, AttributeSchema, Block, BlockSchema};
use crate::world::World;

/// The file's name, in the folder of the root module.
pub const FILE: &str = ".entail.policies.lock.hcl";

/// What was installed for one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PolicyLock {
    /// The version, where a registry has the source.
    pub version: Option<Version>,
    /// The checksum of the names and texts of its files.
    pub digest: Hash,
}

impl PolicyLock {
    /// Returns whether conditions allow its version.
    pub fn meets(&self, conditions: &[Constraint]) -> bool {
        conditions.iter().all(|it| self.version.as_ref().is_some_and(|at| it.allows(at)))
    }
}

/// Everything that was installed, by the address of its source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PolicyLocks(pub BTreeMap<String, PolicyLock>);

impl PolicyLocks {
    /// Reads the file of a folder; nothing is locked where there is none.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is damaged.
    pub fn read(world: &World, sources: &Sources) -> Result<PolicyLocks, Diagnostics> {
        match world.files.read_text(&world.root.join(FILE)) {
            Ok(text) => PolicyLocks::parse(&text, sources),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Default::default()),
            Err(error) => Err(problems::lock_unreadable(&error).into()),
        }
    }

    fn parse(text: &str, sources: &Sources) -> Result<PolicyLocks, Diagnostics> {
        let file = sources.add(FILE, Arc::from(text));
        let (body, mut found) = syntax::parse(file, text);
        let blocks = [BlockSchema { kind: "policies", labels: &["source"] }];
        let (content, more) = body.into_content(&[], &blocks);
        found.extend(more);
        let mut locks = PolicyLocks::default();
        for block in content.blocks_of("policies") {
            let Some((source, lock)) = read_block(block, &mut found) else { continue };
            if locks.0.insert(source, lock).is_some() {
                found.push(problems::locked_twice(block.header));
            }
        }
        if found.has_errors() { Err(found) } else { Ok(locks) }
    }

    fn text(&self) -> String {
        let mut text = String::from(
            "# This file is maintained by \"entail init\": what it has installed for each source of policies.\n",
        );
        for (source, lock) in &self.0 {
            text.push_str(&format!("\npolicies {} {{\n", quoted(source)));
            if let Some(version) = &lock.version {
                text.push_str(&format!("  version = \"{version}\"\n"));
            }
            let gap = if lock.version.is_some() { "  " } else { " " };
            text.push_str(&format!("  digest{gap}= \"{}\"\n}}\n", lock.digest));
        }
        text
    }

    /// Writes the file, whole or not at all.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write(&self, world: &World) -> Result<(), Diagnostic> {
        files::replace(&world.root.join(FILE), self.text().as_bytes(), Fresh::Usual)
            .map_err(|error| problems::lock_not_written(&error))
    }
}

/// A text in quotes: an address may hold whatever the language reads in them.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace("${", "$${").replace("%{", "%%{"))
}

fn read_block(block: &Block, found: &mut Diagnostics) -> Option<(String, PolicyLock)> {
    let label = block.labels.first()?;
    let attributes = [
        AttributeSchema { name: "version", required: false },
        AttributeSchema { name: "digest", required: true },
    ];
    let (body, more) = block.body.content(&attributes, &[]);
    found.extend(more);
    let version = body.attribute("version").map(|it| {
        let version = text_of(it).as_deref().and_then(Version::parse);
        version.ok_or_else(|| problems::no_lock(it.value.span, "a version, such as \"1.2.0\""))
    });
    let version = match version {
        Some(version) => Some(found.take(version)?),
        None => None,
    };
    let digest = body.attribute("digest")?;
    let hash = text_of(digest).as_deref().and_then(Hash::parse).filter(Hash::is_content);
    let hash = hash
        .ok_or_else(|| problems::no_lock(digest.value.span, "a checksum that begins with \"h1:\""));
    Some((label.text.to_string(), PolicyLock { version, digest: found.take(hash)? }))
}

fn text_of(attribute: &Attribute) -> Option<String> {
    evaluate_constant(&attribute.value).ok()?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again_whatever_an_address_holds() {
        let digest = Hash::parse("h1:x").expect("a checksum");
        let lock = PolicyLock { version: None, digest };
        let versioned = PolicyLock { version: Version::parse("1.2.3-rc1"), ..lock.clone() };
        let odd = ["git::https://h/r.git//a b?ref=${x}", "%{if}", "a\"b\\c", "example.com/a/b/c"];
        let mut locks = PolicyLocks::default();
        for (at, address) in odd.into_iter().enumerate() {
            let lock = if at == 3 { &versioned } else { &lock };
            locks.0.insert(address.to_owned(), lock.clone());
        }
        let read = PolicyLocks::parse(&locks.text(), &Sources::default());
        assert_eq!(read.expect("it is in order"), locks, "{}", locks.text());
    }

    #[test]
    fn a_source_is_locked_once() {
        let text = "policies \"x\" {\n  digest = \"h1:x\"\n}\n";
        let found = PolicyLocks::parse(&text.repeat(2), &Sources::default());
        let found = found.expect_err("it is locked twice");
        assert_eq!(found.0[0].summary, "Policies locked twice");
    }
}
