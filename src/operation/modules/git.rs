//! Packages in git repositories, fetched with the system's own git.

use std::path::Path;

use super::program::{Program, forget};
use crate::config::has_credentials;
use crate::config::source::RemoteAddress;
use crate::error::Error;
use crate::world::Stop;

const GIT: Program = Program { name: "git", variables: &[("GIT_TERMINAL_PROMPT", "0")] };

/// Which addresses git may be given: others run programs.
const SCHEMES: [&str; 6] = ["https", "http", "ssh", "git", "file", "git+ssh"];

/// Clones a repository into a folder that does not exist yet.
pub(super) fn fetch(address: &RemoteAddress, into: &Path, stop: &Stop) -> Result<(), Error> {
    let scheme = address.url.split_once("://").map(|it| it.0);
    if !scheme.is_some_and(|it| SCHEMES.contains(&it)) {
        return Err("git can fetch from https, ssh, git and file addresses only".into());
    }
    let query = |name: &str| address.query.iter().find(|it| it.0 == name).map(|it| it.1.as_str());
    let (revision, depth) = (query("ref"), query("depth"));
    if revision.is_some_and(|it| it.starts_with('-')) {
        return Err("the revision begins with a dash".into());
    }
    let depth = match depth.map(str::parse::<u32>) {
        None => None,
        Some(Ok(depth)) => (depth > 0).then(|| depth.to_string()),
        Some(Err(_)) => return Err("the depth is not a number".into()),
    };
    let target = into.to_string_lossy();
    let mut clone = vec!["clone"];
    if let Some(depth) = &depth {
        clone.extend(["--depth", depth]);
        if let Some(revision) = revision {
            clone.extend(["--branch", revision]);
        }
    }
    clone.extend(["--", &address.url, &target]);
    GIT.run(&clone, None, stop)?;
    if let (Some(revision), None) = (revision, &depth) {
        let check_out =
            |revision: &str| GIT.run(&["checkout", "--quiet", revision, "--"], Some(into), stop);
        // A branch that only the repository has is named by where it comes from.
        check_out(revision)
            .or_else(|why| check_out(&format!("origin/{revision}")).map_err(|_| why))?;
    }
    if into.join(".gitmodules").exists() {
        GIT.run(&["submodule", "update", "--init", "--recursive"], Some(into), stop)?;
    }
    match has_credentials(&address.url) {
        true => forget(&into.join(".git")),
        false => Ok(()),
    }
}
