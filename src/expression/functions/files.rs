//! Files that belong to the configuration, and paths.
//!
//! Relative paths start from the folder of the root module. Nothing here writes.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::hashes::{BASE64_SHA256, BASE64_SHA512, Hash, MD5, SHA1, SHA256, SHA512};
use super::maps::redacted;
use super::{Call, CallResult, Failure, Function, Parameter, Returns, Shape, glob};
use crate::error::{Error, ErrorContext};
use crate::value::{Marks, Type, Value};
use crate::world::World;
use crate::world::files::Kind;

const PATH: Parameter = Parameter::string("path");
const SECRET_PATH: &[Parameter] = &[PATH.or_secret()];
const TEXT: Returns = Returns::Always(Shape::String);

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "file",
        description: "Returns the text of a file, which must be UTF-8.",
        parameters: &[PATH.or_marked()],
        variadic: None,
        returns: TEXT,
        body: |call| {
            let marks = call.argument(0).marks();
            Ok(Value::string(text_of(call.text(0), &marks, call.scope.world())?).mark(&marks))
        },
    },
    Function {
        name: "filebase64",
        description: "Returns the bytes of a file in Base64.",
        parameters: &[PATH.or_marked()],
        variadic: None,
        returns: TEXT,
        body: |call| {
            let marks = call.argument(0).marks();
            let bytes = bytes_of(call.text(0), &marks, call.scope.world())
                .map_err(|why| Failure::argument(0, why.to_string()).discreet())?;
            Ok(Value::string(STANDARD.encode(bytes)).mark(&marks))
        },
    },
    file_hash("filemd5", "Returns the MD5 hash of a file.", |call| hash_of(call, MD5)),
    file_hash("filesha1", "Returns the SHA1 hash of a file.", |call| hash_of(call, SHA1)),
    file_hash("filesha256", "Returns the SHA256 hash of a file.", |call| hash_of(call, SHA256)),
    file_hash("filesha512", "Returns the SHA512 hash of a file.", |call| hash_of(call, SHA512)),
    file_hash("filebase64sha256", "Returns the SHA256 hash of a file in Base64.", |call| {
        hash_of(call, BASE64_SHA256)
    }),
    file_hash("filebase64sha512", "Returns the SHA512 hash of a file in Base64.", |call| {
        hash_of(call, BASE64_SHA512)
    }),
    Function {
        name: "fileexists",
        description: "Tells whether a file exists.",
        parameters: &[PATH.or_marked()],
        variadic: None,
        returns: Returns::Always(Shape::Bool),
        body: fileexists,
    },
    Function {
        name: "fileset",
        description: "Returns the files below a folder whose paths match a pattern.",
        parameters: &[PATH.or_marked(), Parameter::string("pattern").or_marked()],
        variadic: None,
        returns: Returns::Always(Shape::SetOfString),
        body: fileset,
    },
    Function {
        name: "abspath",
        description: "Returns the absolute form of a path.",
        parameters: &[PATH],
        variadic: None,
        returns: TEXT,
        body: |call| Ok(Value::string(clean(&absolute(call.text(0), call.scope.world())))),
    },
    Function {
        name: "basename",
        description: "Returns the last part of a path.",
        parameters: &[PATH],
        variadic: None,
        returns: TEXT,
        body: |call| Ok(Value::string(basename(call.text(0)))),
    },
    Function {
        name: "dirname",
        description: "Returns a path without its last part.",
        parameters: &[PATH],
        variadic: None,
        returns: TEXT,
        body: |call| Ok(Value::string(dirname(call.text(0)))),
    },
    Function {
        name: "pathexpand",
        description: "Replaces a leading ~ with the home folder.",
        parameters: &[PATH],
        variadic: None,
        returns: TEXT,
        body: |call| {
            expand(call.text(0), call.scope.world()).map(Value::string).map_err(Failure::call)
        },
    },
];

const fn file_hash(
    name: &'static str,
    description: &'static str,
    body: fn(&Call<'_>) -> CallResult,
) -> Function {
    Function { name, description, parameters: SECRET_PATH, variadic: None, returns: TEXT, body }
}

fn hash_of(call: &Call<'_>, hash: Hash) -> CallResult {
    let marks = call.argument(0).marks();
    let path = call.text(0);
    let bytes = bytes_of(path, &marks, call.scope.world()).map_err(|why| {
        Failure::call(match why {
            Unread::Missing(_) => {
                format!("open {}: no such file or directory", redacted(path, &marks))
            }
            Unread::Other(why) => why.to_string(),
        })
        .discreet()
    })?;
    Ok(Value::string(hash(&bytes)).mark(&marks))
}

/// Replaces a leading `~`.
fn expand(path: &str, world: &World) -> Result<String, Error> {
    match path.strip_prefix('~') {
        None => Ok(path.to_owned()),
        Some(rest) if !rest.is_empty() && !rest.starts_with('/') => {
            Err("cannot expand user-specific home dir".into())
        }
        Some(rest) => match world.variable("HOME") {
            Some(home) => Ok(if rest.is_empty() {
                home.to_owned()
            } else {
                clean(&Path::new(home).join(rest.trim_start_matches('/')))
            }),
            None => Err("the home directory is not known".into()),
        },
    }
}

/// The path as the operating system takes it.
fn absolute(path: &str, world: &World) -> PathBuf {
    world.root.join(path)
}

fn place(path: &str, world: &World) -> Result<PathBuf, Error> {
    Ok(absolute(&expand(path, world).context("failed to expand ~")?, world))
}

/// Why a file could not be read.
pub(super) enum Unread {
    /// There is none; the path as it may be shown.
    Missing(String),
    /// Anything else.
    Other(Error),
}

impl std::fmt::Display for Unread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unread::Missing(shown) => write!(
                f,
                "no file exists at {shown}; this function works only with files that are distributed as part of the \
                 configuration source code, so if this file will be created by a resource in this configuration you must \
                 instead obtain this result from an attribute of that resource"
            ),
            Unread::Other(why) => why.fmt(f),
        }
    }
}

/// Reads a file; the error is a phrase.
pub(super) fn bytes_of(path: &str, marks: &Marks, world: &World) -> Result<Vec<u8>, Unread> {
    let shown = redacted(&format!("{path:?}"), marks);
    let place = place(path, world).map_err(Unread::Other)?;
    world.files.read(&place).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Unread::Missing(shown),
        ErrorKind::IsADirectory => {
            let path = redacted(path, marks);
            Unread::Other(format!("failed to read file: read {path}: is a directory").into())
        }
        _ => Unread::Other(Error::of(error).context(format_args!("failed to read {shown}"))),
    })
}

/// Reads a text file.
pub(super) fn text_of(path: &str, marks: &Marks, world: &World) -> Result<String, Failure> {
    let bytes = bytes_of(path, marks, world)
        .map_err(|why| Failure::argument(0, why.to_string()).discreet())?;
    String::from_utf8(bytes).map_err(|_| {
        Failure::call(format!(
            "contents of {} are not valid UTF-8; use the filebase64 function to obtain the Base64 encoded contents or the other \
             file functions (e.g. filemd5, filesha256) to obtain file hashing results instead",
            redacted(&format!("{path:?}"), marks)
        ))
        .discreet()
    })
}

fn fileexists(call: &Call<'_>) -> CallResult {
    let marks = call.argument(0).marks();
    let path = place(call.text(0), call.scope.world()).map_err(Failure::call)?;
    let shown = || redacted(&format!("{:?}", clean(Path::new(call.text(0)))), &marks);
    match call.scope.world().files.kind(&path) {
        Ok(Kind::File) => Ok(Value::Bool(true).mark(&marks)),
        Ok(Kind::Folder) => {
            Err(Failure::call(format!("{} is a directory, not a file", shown())).discreet())
        }
        Ok(Kind::Other) => {
            Err(Failure::call(format!("{} is not a regular file", shown())).discreet())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Value::Bool(false).mark(&marks)),
        Err(_) => Err(Failure::call(format!("failed to stat {}", shown())).discreet()),
    }
}

fn fileset(call: &Call<'_>) -> CallResult {
    let marks = call.argument(0).marks().union(&call.argument(1).marks());
    let (folder, pattern) = (call.text(0), call.text(1));
    let shown = || {
        redacted(
            &format!("{:?}", clean(&Path::new(folder).join(pattern.trim_start_matches('/')))),
            &marks,
        )
    };
    let world = call.scope.world();
    let found = glob::files(&world.files, &absolute(folder, world), pattern).map_err(|why| {
        Failure::call(format!("failed to glob pattern {}: {why}", shown())).discreet()
    })?;
    Ok(Value::set(Type::STRING, found.into_iter().map(Value::string).collect()).mark(&marks))
}

/// Takes `.`, `..` and doubled separators out of a path, without looking at files.
pub(super) fn clean(path: &Path) -> String {
    let mut cleaned = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => match cleaned.components().next_back() {
                Some(Component::Normal(_)) => {
                    cleaned.pop();
                }
                Some(Component::RootDir) => {}
                _ => cleaned.push(".."),
            },
            other => cleaned.push(other),
        }
    }
    let text = cleaned.to_string_lossy().into_owned();
    if text.is_empty() { ".".to_owned() } else { text }
}

fn basename(path: &str) -> String {
    if path.is_empty() {
        return ".".to_owned();
    }
    match path.trim_end_matches('/') {
        "" => "/".to_owned(),
        rest => rest.rsplit('/').next().unwrap_or(rest).to_owned(),
    }
}

fn dirname(path: &str) -> String {
    match path.rfind('/') {
        None => ".".to_owned(),
        Some(end) => clean(Path::new(&path[..=end])),
    }
}
