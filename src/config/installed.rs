//! `.terraform/modules/modules.json`: where each module call's module was installed.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::address::{InstanceKey, ModuleInstance};
use crate::diagnostic::Diagnostic;
use crate::value::Str;
use crate::world::Files;

use super::source::{ModuleSource, clean_path};
use crate::error::Error;

/// Where modules were installed, by call path: `net.subnet`; the root under the empty key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstalledModules {
    /// The records, by the call's path, joined with dots.
    pub records: BTreeMap<String, InstalledModule>,
    /// Whether modules of the folder itself are read where they lie, and others that are not there are left out: for who only looks
    /// at a configuration that need not be set up.
    pub in_place: bool,
}

/// One installed module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledModule {
    /// The source address when it was installed, normalised.
    pub source: Str,
    /// The version, for modules of a registry.
    pub version: Option<Str>,
    /// The folder, relative to the root module's.
    pub directory: Str,
}

impl InstalledModule {
    /// Returns the record of a module from there that was installed in that folder.
    pub fn of(source: &str, version: Option<&str>, directory: &str) -> InstalledModule {
        InstalledModule {
            source: source.into(),
            version: version.map(Str::from),
            directory: directory.into(),
        }
    }
}

/// A record as it is written.
#[derive(Serialize, Deserialize)]
struct Written<'t> {
    /// The call's path, joined with dots.
    #[serde(rename = "Key", borrow)]
    key: Cow<'t, str>,
    #[serde(rename = "Source", borrow)]
    source: Cow<'t, str>,
    #[serde(rename = "Version", borrow, skip_serializing_if = "Option::is_none", default)]
    version: Option<Cow<'t, str>>,
    #[serde(rename = "Dir", borrow)]
    directory: Cow<'t, str>,
}

impl<'t> Written<'t> {
    fn of(key: &'t str, module: &'t InstalledModule) -> Written<'t> {
        Written {
            key: key.into(),
            source: module.source.as_str().into(),
            version: module.version.as_deref().map(Cow::from),
            directory: module.directory.as_str().into(),
        }
    }

    fn read(&self) -> InstalledModule {
        let source = ModuleSource::parse(&self.source, false).map(|it| it.recorded());
        let source = source.as_deref().unwrap_or(&*self.source);
        InstalledModule::of(source, self.version.as_deref(), &clean_path(&self.directory))
    }

    fn is_like(&self, other: &Written<'_>) -> bool {
        (&self.source, &self.version, &self.directory)
            == (&other.source, &other.version, &other.directory)
    }
}

#[derive(Serialize, Deserialize)]
struct Document<'t> {
    #[serde(rename = "Modules", borrow, default)]
    modules: Vec<Written<'t>>,
}

impl InstalledModules {
    /// Returns the file's place under a root module's data folder.
    pub fn path(data: &Path) -> PathBuf {
        data.join("modules").join("modules.json")
    }

    /// Reads the file under a data folder (`.terraform`). Without the file nothing is installed.
    pub fn read(files: &Files, data: &Path) -> Result<InstalledModules, Diagnostic> {
        let path = InstalledModules::path(data);
        match files.read_text(&path) {
            Ok(text) => InstalledModules::parse(&text).map_err(|why| corrupt(&path, &why)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Ok(InstalledModules::default())
            }
            Err(error) => Err(corrupt(&path, &error.into())),
        }
    }

    /// Reads the file's text. The error is a phrase.
    pub fn parse(text: &str) -> Result<InstalledModules, Error> {
        if text.is_empty() {
            return Ok(InstalledModules::default());
        }
        let Document { mut modules } = serde_json::from_str(text)?;
        // Programs write them in this order: then a map is made of them without a search for each.
        modules.sort_by(|a, b| a.key.cmp(&b.key));
        if let Some(twice) = modules.windows(2).find(|it| it[0].key == it[1].key) {
            let key = &twice[0].key;
            return Err(format!("snapshot file contains two records for path {key}").into());
        }
        // Many calls lead to one folder.
        let mut last: Option<(&Written<'_>, InstalledModule)> = None;
        let record = |it| match &last {
            Some((written, known)) if written.is_like(it) => known.clone(),
            _ => last.insert((it, it.read())).1.clone(),
        };
        let records = modules.iter().map(record);
        let keys = modules.iter().map(|it| it.key.clone().into_owned());
        Ok(InstalledModules { records: keys.zip(records).collect(), in_place: false })
    }

    /// Returns the file's text.
    pub fn to_json(&self) -> String {
        let written = self.records.iter().map(|it| Written::of(it.0, it.1));
        let document = Document { modules: written.collect() };
        serde_json::to_string(&document).expect("strings can be written as JSON")
    }

    /// Returns the record of a call.
    pub fn get(&self, module: &ModuleInstance) -> Option<&InstalledModule> {
        self.records.get(&key(module))
    }

    /// Returns the record of some instance of a call, where steps of its address stand without their keys.
    pub fn of_an_instance(&self, module: &ModuleInstance) -> Option<&InstalledModule> {
        self.records.iter().find(|it| is_instance(it.0, module)).map(|it| it.1)
    }

    /// Returns the record of a call of this source: where modules are read in place, of a folder beside the caller's.
    pub fn of_source(
        &self,
        module: &ModuleInstance,
        source: &ModuleSource,
        caller: &str,
    ) -> Option<Cow<'_, InstalledModule>> {
        let known = self.get(module).filter(|it| !self.in_place || *it.source == source.recorded());
        let ModuleSource::Local(path) = source else { return known.map(Cow::Borrowed) };
        let beside = || {
            let directory = clean_path(&format!("{caller}/{path}"));
            InstalledModule::of(&source.recorded(), None, &directory)
        };
        known.map(Cow::Borrowed).or_else(|| self.in_place.then(|| Cow::Owned(beside())))
    }

    /// Adds or replaces a record.
    pub fn insert(&mut self, module: &ModuleInstance, record: InstalledModule) {
        self.records.insert(key(module), record);
    }
}

/// The key of a call in the file: `net.subnet`; with the instance where each has its own record: `net["eu"].subnet`.
pub fn key(module: &ModuleInstance) -> String {
    let steps: Vec<String> = module.0.iter().map(|(name, key)| format!("{name}{key}")).collect();
    steps.join(".")
}

/// Whether a key names a call, or an instance of it and of the calls around it that have no key.
fn is_instance(key: &str, module: &ModuleInstance) -> bool {
    let mut rest = key;
    for (at, (name, own)) in module.0.iter().enumerate() {
        let dot = if at == 0 { "" } else { "." };
        let Some(behind) = rest.strip_prefix(&format!("{dot}{name}{own}")) else { return false };
        rest = match own {
            InstanceKey::None => without_key(behind),
            _ => behind,
        };
    }
    rest.is_empty()
}

/// Returns what follows an instance key, where the text begins with one.
fn without_key(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('[') else { return text };
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, letter) in inner.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            ']' if !is_quoted => return &inner[at + 1..],
            _ => {}
        }
    }
    text
}

fn corrupt(path: &Path, why: &Error) -> Diagnostic {
    Diagnostic::error("Failed to read module manifest")
        .detail(format!("The manifest of installed modules, {}, could not be read: {why}. Run init again to write a new one.", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_written_as_it_was_read() {
        let text = r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"a.b","Source":"registry.opentofu.org/a/b/c","Version":"1.2.3","Dir":".terraform/modules/a.b"}]}"#;
        let modules = InstalledModules::parse(text).expect("valid");
        assert_eq!(modules.to_json(), text);
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(InstalledModules::parse("{").is_err());
        assert!(InstalledModules::parse(r#"{"Modules":[{"Key":"a","Source":"","Dir":"."},{"Key":"a","Source":"","Dir":"."}]}"#).is_err());
    }
}
