//! Packages in Mercurial repositories, fetched with the system's own `hg`.

use std::path::Path;

use super::program::{Program, forget};
use crate::config::has_credentials;
use crate::config::source::RemoteAddress;
use crate::error::Error;
use crate::world::Stop;

/// Texts in no other language, no aliases and no extensions of the user's that change what commands do.
const HG: Program = Program { name: "hg", variables: &[("HGPLAIN", "1")] };

/// Which addresses it may be given.
const SCHEMES: [&str; 4] = ["https", "http", "ssh", "file"];

/// Clones a repository into a folder that does not exist yet.
///
/// # Errors
///
/// If the address is none of such a repository, or what the program says.
pub(super) fn fetch(address: &RemoteAddress, into: &Path, stop: &Stop) -> Result<(), Error> {
    let scheme = address.url.split_once("://").map(|it| it.0);
    if !scheme.is_some_and(|it| SCHEMES.contains(&it)) {
        return Err("hg can fetch from https, ssh and file addresses only".into());
    }
    let revision = address.query("rev").filter(|it| !it.is_empty());
    if revision.is_some_and(|it| it.starts_with('-')) {
        return Err("the revision begins with a dash".into());
    }
    let (from, to) = (address.without(&["rev"]), into.to_string_lossy());
    HG.run(&["clone", "--noninteractive", "--noupdate", "--", &from, &to], None, stop)?;
    let mut update = vec!["update", "--noninteractive"];
    update.extend(revision.map(|it| ["--rev", it]).into_iter().flatten());
    HG.run(&update, Some(into), stop)?;
    match has_credentials(&from) {
        true => forget(&into.join(".hg")),
        false => Ok(()),
    }
}
