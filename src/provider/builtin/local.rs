//! `hashicorp/local`: files, and the output of commands.

use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use super::attribute::{Attribute, Preset, Shape, text};
use super::fields::{Fields, Read, at};
use super::resource::{Kind, Problem};
use super::rules::exactly_one;
use super::table::{Function, Source, Table};
use super::text::{from_base64, hex};
use crate::error::Error;
use crate::value::{Type, Value, text_of};
use crate::world::World;

mod command;
mod disk;

pub(super) static TABLE: LazyLock<Table> = LazyLock::new(|| {
    Table::new(
        &[&LocalFile, &LocalSensitiveFile],
        &[&command::LocalCommand, &FILE, &SENSITIVE_FILE],
        &[&command::LocalCommand],
        FUNCTIONS,
    )
});

const FUNCTIONS: &[Function] = &[Function {
    name: "direxists",
    parameters: &[("path", Shape::Text)],
    returns: || Type::BOOL,
    body: |world, arguments| disk::is_folder(world, arguments[0].as_str().unwrap_or_default()),
}];

const fn checksum(name: &'static str) -> Attribute {
    text(name).computed()
}

const fn content(name: &'static str) -> Attribute {
    text(name).optional().replaces()
}

const fn permission(name: &'static str, preset: &'static str) -> Attribute {
    text(name).preset(Preset::Text(preset)).replaces()
}

struct LocalFile;

impl Kind for LocalFile {
    fn name(&self) -> &'static str {
        "local_file"
    }

    fn attributes(&self) -> &'static [Attribute] {
        const {
            &[
                content("content"),
                content("content_base64"),
                checksum("content_base64sha256"),
                checksum("content_base64sha512"),
                checksum("content_md5"),
                checksum("content_sha1"),
                checksum("content_sha256"),
                checksum("content_sha512"),
                permission("directory_permission", "0777"),
                permission("file_permission", "0777"),
                text("filename").required().replaces(),
                checksum("id"),
                content("sensitive_content")
                    .sensitive()
                    .deprecated("Use local_sensitive_file instead."),
                content("source"),
            ]
        }
    }

    fn check(&self, config: &Value, found: &mut Vec<Problem>) {
        exactly_one(config, &["content", "sensitive_content", "content_base64", "source"], found);
        check_permissions(config, found);
    }

    fn is_there(&self, world: &World, object: &Value) -> Result<bool, Problem> {
        is_as_written(world, object).map_err(|why| Problem::error("Read local file error", why))
    }

    fn create(&self, world: &World, planned: &mut Fields) -> Result<(), Problem> {
        write(world, planned).map_err(|why| Problem::error("Create local file error", why))
    }

    fn delete(&self, world: &World, prior: &Value) -> Result<(), Problem> {
        delete(world, prior);
        Ok(())
    }
}

struct LocalSensitiveFile;

impl Kind for LocalSensitiveFile {
    fn name(&self) -> &'static str {
        "local_sensitive_file"
    }

    fn attributes(&self) -> &'static [Attribute] {
        const {
            &[
                content("content").sensitive(),
                content("content_base64").sensitive(),
                checksum("content_base64sha256"),
                checksum("content_base64sha512"),
                checksum("content_md5"),
                checksum("content_sha1"),
                checksum("content_sha256"),
                checksum("content_sha512"),
                permission("directory_permission", "0700"),
                permission("file_permission", "0700"),
                text("filename").required().replaces(),
                checksum("id"),
                content("source"),
            ]
        }
    }

    fn check(&self, config: &Value, found: &mut Vec<Problem>) {
        exactly_one(config, &["content", "content_base64", "source"], found);
        check_permissions(config, found);
    }

    fn is_there(&self, world: &World, object: &Value) -> Result<bool, Problem> {
        is_as_written(world, object)
            .map_err(|why| Problem::error("Read local sensitive file error", why))
    }

    fn create(&self, world: &World, planned: &mut Fields) -> Result<(), Problem> {
        write(world, planned)
            .map_err(|why| Problem::error("Create local sensitive file error", why))
    }

    fn delete(&self, world: &World, prior: &Value) -> Result<(), Problem> {
        delete(world, prior);
        Ok(())
    }
}

/// Permissions are three or four octal digits.
fn check_permissions(config: &Value, found: &mut Vec<Problem>) {
    for name in ["directory_permission", "file_permission"] {
        let Some(given) = config.text(name) else { continue };
        let is_octal = given.bytes().all(|it| (b'0'..=b'7').contains(&it));
        if !(3..=4).contains(&given.len()) || !is_octal || mode(given) > 0o777 {
            let detail =
                format!("{name} must be three or four octal digits up to 0777, not {given:?}.");
            found.push(Problem::error("Invalid File Permission String Value", detail).at(at(name)));
        }
    }
}

fn mode(permission: &str) -> u32 {
    u32::from_str_radix(permission, 8).unwrap_or_default()
}

fn is_as_written(world: &World, object: &Value) -> Result<bool, Error> {
    let bytes = disk::read_if_there(world, object.text("filename").unwrap_or_default())?;
    Ok(bytes.is_some_and(|it| object.text("id") == Some(&hex(&Sha1::digest(it)))))
}

fn write(world: &World, planned: &mut Fields) -> Result<(), Error> {
    let bytes = bytes_to_write(world, planned)?;
    let name = planned.text("filename").unwrap_or_default();
    let modes = ["directory_permission", "file_permission"]
        .map(|it| mode(planned.text(it).unwrap_or_default()));
    disk::write(world, name, &bytes, modes[0], modes[1])?;
    describe(planned, &bytes);
    Ok(())
}

fn bytes_to_write(world: &World, planned: &Fields) -> Result<Vec<u8>, Error> {
    if let Some(content) = planned.text("sensitive_content") {
        return Ok(content.as_bytes().to_vec());
    }
    if let Some(encoded) = planned.text("content_base64") {
        return from_base64(encoded).ok_or_else(|| "content_base64 is not base64.".into());
    }
    match planned.text("source") {
        Some(name) => disk::read(world, name),
        None => Ok(planned.text("content").unwrap_or_default().as_bytes().to_vec()),
    }
}

/// Deletes the file; one that is gone already, or cannot be deleted, is passed over in silence.
fn delete(world: &World, prior: &Value) {
    disk::delete(world, prior.text("filename").unwrap_or_default());
}

/// Sets the checksums and the id.
fn describe(object: &mut Fields, bytes: &[u8]) {
    let (sha256, sha512) = (Sha256::digest(bytes), Sha512::digest(bytes));
    object.set_text("content_md5", hex(&Md5::digest(bytes)));
    object.set_text("content_sha1", hex(&Sha1::digest(bytes)));
    object.set_text("content_sha256", hex(&sha256));
    object.set_text("content_sha512", hex(&sha512));
    object.set_text("content_base64sha256", BASE64_STANDARD.encode(sha256));
    object.set_text("content_base64sha512", BASE64_STANDARD.encode(sha512));
    object.set_text("id", hex(&Sha1::digest(bytes)));
}

/// A data source that reads a file.
struct FileData {
    name: &'static str,
    attributes: &'static [Attribute],
}

static FILE: FileData = FileData {
    name: "local_file",
    attributes: &file_data(text("content").computed(), text("content_base64").computed()),
};

static SENSITIVE_FILE: FileData = FileData {
    name: "local_sensitive_file",
    attributes: &file_data(
        text("content").computed().sensitive(),
        text("content_base64").computed().sensitive(),
    ),
};

const fn file_data(content: Attribute, encoded: Attribute) -> [Attribute; 10] {
    [
        content,
        encoded,
        checksum("content_base64sha256"),
        checksum("content_base64sha512"),
        checksum("content_md5"),
        checksum("content_sha1"),
        checksum("content_sha256"),
        checksum("content_sha512"),
        text("filename").required(),
        checksum("id"),
    ]
}

#[async_trait]
impl Source for FileData {
    fn name(&self) -> &'static str {
        self.name
    }

    fn attributes(&self) -> &'static [Attribute] {
        self.attributes
    }

    async fn read(
        &self,
        world: &Arc<World>,
        config: &Value,
        result: &mut Fields,
    ) -> Result<(), Problem> {
        let bytes = disk::read(world, config.text("filename").unwrap_or_default())
            .map_err(|why| Problem::error("Read local file data source error", why))?;
        result.set_text("content", text_of(&bytes));
        result.set_text("content_base64", BASE64_STANDARD.encode(&bytes));
        describe(result, &bytes);
        Ok(())
    }
}
