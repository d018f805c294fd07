//! A text of policies, and where it comes from.

use entail_rules::library::LIBRARY;

/// One text of policies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicySource {
    /// The file as it is shown: relative to the root module, or `library:aws/s3.rules`.
    pub name: String,
    /// Whose it is: files of one group share the relations of their own.
    pub group: String,
    /// The whole text.
    pub text: String,
    /// The called module whose instances it judges; nothing where it judges all.
    pub module: Option<String>,
    /// Whether it is asked for by who runs the program, and can neither be left out nor waived.
    pub is_required: bool,
}

impl PolicySource {
    /// Returns every file of the library that ships, by name.
    pub fn library() -> impl Iterator<Item = PolicySource> {
        LIBRARY.iter().map(|(file, text)| PolicySource {
            name: format!("library:{file}.rules"),
            group: format!("library:{file}"),
            text: (*text).to_owned(),
            module: None,
            is_required: false,
        })
    }
}
