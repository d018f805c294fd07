//! The effects of the `local` provider on the disk. Relative names start from the root module's folder.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::provider::builtin::table::Called;
use crate::value::Value;
use crate::world::{self, World};

/// Returns a file's bytes.
pub(super) fn read(world: &World, name: &str) -> Result<Vec<u8>, Error> {
    world::read_given(&place(world, name)).map_err(|why| failure("read", name, &why))
}

/// Returns a file's bytes, nothing when there is no file.
pub(super) fn read_if_there(world: &World, name: &str) -> Result<Option<Vec<u8>>, Error> {
    match world::read_given(&place(world, name)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(why) if why.kind() == ErrorKind::NotFound => Ok(None),
        Err(why) => Err(failure("read", name, &why)),
    }
}

/// Writes a file, and makes the folder it lies in. The modes, subject to the umask, are those of what is made.
pub(super) fn write(
    world: &World,
    name: &str,
    bytes: &[u8],
    folder_mode: u32,
    file_mode: u32,
) -> Result<(), Error> {
    if name.is_empty() {
        return Err("The name of the file is empty.".into());
    }
    let path = place(world, name);
    if let Some(folder) = path.parent().filter(|it| !it.exists()) {
        make_folder(folder, folder_mode)
            .map_err(|why| failure("make the folder of", name, &why))?;
    }
    create(&path, file_mode)
        .and_then(|mut file| file.write_all(bytes))
        .map_err(|why| failure("write", name, &why))
}

/// Deletes a file; trouble is ignored.
pub(super) fn delete(world: &World, name: &str) {
    // A file that is not there is deleted, and one that cannot be deleted is left: the plugin does not complain either.
    let _ = fs::remove_file(place(world, name));
}

/// Returns whether there is a folder. What is there and is none is an error.
pub(super) fn is_folder(world: &World, name: &str) -> Called {
    match fs::metadata(place(world, name)) {
        Ok(it) if it.is_dir() => Ok(Value::Bool(true)),
        Ok(_) => Err((Some(0), format!("{name:?} was found, but is not a directory"))),
        Err(why) if why.kind() == ErrorKind::NotFound => Ok(Value::Bool(false)),
        Err(why) => Err((Some(0), format!("Error checking for directory: {why}"))),
    }
}

fn place(world: &World, name: &str) -> PathBuf {
    world.root.join(name)
}

#[cfg(unix)]
fn make_folder(folder: &Path, mode: u32) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    DirBuilder::new().recursive(true).mode(mode).create(folder)
}

#[cfg(not(unix))]
fn make_folder(folder: &Path, _: u32) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).create(folder)
}

#[cfg(unix)]
fn create(path: &Path, mode: u32) -> std::io::Result<fs::File> {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(path)
}

#[cfg(not(unix))]
fn create(path: &Path, _: u32) -> std::io::Result<fs::File> {
    OpenOptions::new().write(true).create(true).truncate(true).open(path)
}

fn failure(what: &str, name: &str, why: &std::io::Error) -> Error {
    format!("Cannot {what} {name:?}: {why}.").into()
}
