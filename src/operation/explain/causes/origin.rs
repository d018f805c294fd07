//! Where the root module's variables were given.

use std::collections::BTreeMap;

use super::shown;
use crate::config::Config;
use crate::config::inputs::{Origin, RootVariables};
use crate::diagnostic::Sources;
use crate::value::Str;

/// Where a variable was given, as text: it is saved with a plan. A secret is not in it.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Given {
    kind: String,
    /// `-var name=value`, `prod.tfvars:3,8`, `TF_VAR_name`, or where else.
    pub place: String,
}

/// What a plan says of where variables were given.
const KINDS: [&str; 5] = ["flag", "file", "environment", "answer", "input"];

impl Given {
    /// Returns what it was given by: `flag`, `file`, `environment`, `answer`.
    pub fn kind(&self) -> &'static str {
        KINDS.into_iter().find(|it| *it == self.kind).unwrap_or("variable")
    }
}

/// Returns where the variables were given; what has its default is not among them.
pub fn given(
    config: &Config,
    variables: &RootVariables,
    sources: &Sources,
) -> BTreeMap<Str, Given> {
    let of = |(name, origin): (&Str, &Origin)| {
        let variable = config.root().variables.get(name);
        let is_secret = variable.is_none_or(|it| it.sensitive || it.ephemeral);
        let (kind, place) = match origin {
            Origin::Flag => {
                let value = variables.given.get(name).filter(|_| !is_secret);
                let value = value.map_or("…".to_owned(), |it| {
                    it.as_str().map_or_else(|| shown(it), str::to_owned)
                });
                ("flag", format!("-var {name}={value}"))
            }
            Origin::File(_, span) | Origin::AutoFile(_, span) => ("file", sources.place(*span)),
            Origin::Environment => ("environment", format!("TF_VAR_{name}")),
            Origin::Prompt => ("answer", "the terminal".to_owned()),
            Origin::Call(span) | Origin::Test(span) => ("input", sources.place(*span)),
        };
        (name.clone(), Given { kind: kind.to_owned(), place })
    };
    variables.origins.iter().map(of).collect()
}
