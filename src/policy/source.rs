//! A text of policies, and where it comes from.

use entail_rules::library::LIBRARY;
use serde::{Deserialize, Serialize};

/// One text of policies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicySource {
    /// The file as it is shown: relative to the root module, or `library:aws/s3.rules`.
    pub name: String,
    /// Whose it is: files of one group share the relations of their own.
    pub group: String,
    /// The whole text.
    pub text: String,
    /// The called modules whose instances it judges, by their calls: `net.subnet`; none where it judges all.
    #[serde(default)]
    pub modules: Vec<String>,
    /// Whether it is asked for by who runs the program, and can neither be left out nor waived.
    #[serde(rename = "required", default)]
    pub is_required: bool,
    /// How it came to be in force.
    #[serde(default)]
    pub origin: Origin,
}

/// How a text of policies came to be in force.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Origin {
    /// It lies in the folder of policies beside the root module.
    #[default]
    Folder,
    /// It lies in the folder of policies beside a called module.
    Module,
    /// A path to it was named.
    Path,
    /// It is part of the library that ships.
    Library,
    /// It was installed from elsewhere.
    Source {
        /// The source's address.
        address: String,
        /// Its version, where a registry has it.
        version: Option<String>,
        /// The checksum of all files of the source.
        digest: String,
    },
}

impl PolicySource {
    /// Returns every file of the library that ships, by name.
    pub fn library() -> impl Iterator<Item = PolicySource> {
        LIBRARY.iter().map(|(file, text)| PolicySource {
            name: format!("library:{file}.rules"),
            group: format!("library:{file}"),
            text: (*text).to_owned(),
            modules: Vec::new(),
            is_required: false,
            origin: Origin::Library,
        })
    }
}
