//! `policies "NAME"`: rules that whoever runs the program wants in force, whatever the configuration.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::hcl::{Item, Object, Setting};
use super::labelled;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::error::Error;

/// One `policies` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyBlock {
    /// `source`: a path, `library:NAME`, or the source address of a module.
    pub source: String,
    /// `version`: conditions on versions, where a registry has the source.
    pub version: Option<String>,
    /// `required`: whether nobody may leave them out, waive or overrule them.
    pub is_required: bool,
    /// The folder of the file that says so: paths are relative to it.
    pub folder: PathBuf,
}

/// All `policies` blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyBlocks {
    /// By name.
    pub by_name: BTreeMap<String, PolicyBlock>,
    /// What is wrong with them. Other settings have defaults; who asks for policies wants those, so that whoever judges stops here.
    pub problems: Diagnostics,
}

impl PolicyBlocks {
    /// Returns whether nothing is said of policies, right or wrong.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty() && self.problems.is_empty()
    }

    /// Notes that a file cannot be parsed: nobody knows what it requires, if it speaks of policies at all.
    pub(super) fn note_unparsable(&mut self, file: &Path, text: &str) {
        if text.contains("policies") {
            self.problems.push(unparsable(file));
        }
    }

    /// Adds a block of a file, for each of its labels.
    pub(super) fn add(&mut self, file: &Path, item: &Item) {
        let all = labelled(item);
        if all.is_empty() {
            self.problems.push(invalid(file, item, &"must have one label, their name.".into()));
        }
        for (name, body) in all {
            match read(file, &name, body) {
                Err(why) => self.problems.push(invalid(file, item, &why)),
                Ok(_) if self.by_name.contains_key(&name) => {
                    let why = format!("has the name {name:?}, as another has.").into();
                    self.problems.push(invalid(file, item, &why));
                }
                Ok(block) => drop(self.by_name.insert(name, block)),
            }
        }
    }
}

/// Reads a block. The error ends the sentence about it.
fn read(file: &Path, name: &str, body: &Object) -> Result<PolicyBlock, Error> {
    let is_word = |it: char| it.is_alphanumeric() || it == '_' || it == '-';
    if name.is_empty() || !name.chars().all(is_word) {
        return Err(
            format!("has the name {name:?}; a name is made of letters, digits, _ and -.").into()
        );
    }
    let folder = file.parent().unwrap_or(Path::new("")).to_owned();
    let (mut source, mut version, mut is_required) = (None, None, false);
    for item in &body.0 {
        match (&*item.keys[0], &item.value) {
            ("source", Setting::Text(text)) if !text.is_empty() => source = Some(text.clone()),
            ("version", Setting::Text(text)) => version = Some(text.clone()),
            ("required", Setting::Bool(it)) => is_required = *it,
            ("source" | "version", _) => {
                return Err(format!("needs text in quotes as its {}.", item.keys[0]).into());
            }
            ("required", _) => return Err("needs true or false as its required.".into()),
            (other, _) => {
                return Err(format!(
                    "has an unknown argument {other:?}; known are source, version and required."
                )
                .into());
            }
        }
    }
    let source = source.ok_or("has no source: where the policies are.")?;
    Ok(PolicyBlock { source, version, is_required, folder })
}

fn unparsable(file: &Path) -> Diagnostic {
    Diagnostic::error("Policies of the CLI configuration are not known").detail(format!(
        "{} speaks of policies and cannot be parsed, so that it is not known which it requires. Mend it first.",
        file.display()
    ))
}

fn invalid(file: &Path, item: &Item, why: &Error) -> Diagnostic {
    Diagnostic::error("Invalid policies block in the CLI configuration").detail(format!(
        "The policies block at {} of {} {why}",
        item.place(),
        file.display()
    ))
}
