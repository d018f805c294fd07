//! Checksums of packages: `h1:` of what is in a folder or an archive, `zh:` of an archive's bytes.

use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use base64::Engine;
use sha2::{Digest, Sha256};

use super::unpacked::Budget;
use crate::provider::plugin::Opened;
use crate::world::open_regular;

/// A checksum with its scheme: `h1:…`, `zh:…`, or one of another program's time.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash(String);

impl Hash {
    /// Reads `scheme:value`.
    pub fn parse(text: &str) -> Option<Hash> {
        text.find(':').filter(|it| *it > 0).map(|_| Hash(text.to_owned()))
    }

    /// Returns the checksum of an archive that has this SHA-256 sum.
    pub fn of_archive_sum(sum: &[u8]) -> Hash {
        Hash(format!("zh:{}", hex(sum)))
    }

    /// Returns whether it is about an archive's bytes.
    pub fn is_zip(&self) -> bool {
        self.0.starts_with("zh:")
    }

    /// Returns whether it is about the files of a package.
    pub fn is_content(&self) -> bool {
        self.0.starts_with("h1:")
    }

    /// Returns whether this program can compute it.
    pub fn is_usable(&self) -> bool {
        self.is_zip() || self.is_content()
    }

    /// Returns the part after the scheme.
    pub fn value(&self) -> &str {
        self.0.split_once(':').map_or("", |it| it.1)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

/// Returns the SHA-256 sum of everything that a reader gives.
fn sum(mut reader: impl Read) -> io::Result<Vec<u8>> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finalize().to_vec()),
            Ok(count) => hasher.update(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns the `zh:` checksum of an archive.
pub fn hash_zip(archive: &Path) -> io::Result<Hash> {
    Ok(Hash::of_archive_sum(&sum(open_regular(archive)?)?))
}

/// Returns the `h1:` checksum of a package's folder; the folder itself may be a link.
pub fn hash_folder(folder: &Path) -> io::Result<Hash> {
    hash_files(folder, None)
}

/// Returns the same, with what was opened in place of what lies there.
pub fn hash_opened(folder: &Path, program: &Opened) -> io::Result<Hash> {
    hash_files(folder, Some(program))
}

fn hash_files(folder: &Path, program: Option<&Opened>) -> io::Result<Hash> {
    let inside = |it: &Opened| it.path().strip_prefix(folder).map(Path::to_owned).ok();
    let program = program.and_then(|it| Some((inside(it)?, it)));
    let folder = folder.canonicalize()?;
    let mut files = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(inner) = open.pop() {
        for entry in std::fs::read_dir(folder.join(&inner))? {
            let entry = entry?;
            let path = inner.join(entry.file_name());
            if entry.file_type()?.is_dir() { open.push(path) } else { files.push(path) }
        }
    }
    let name = |it: &Path| it.to_string_lossy().replace('\\', "/");
    let mut lines = Vec::with_capacity(files.len());
    for path in files {
        let sum = match &program {
            Some((inside, opened)) if *inside == path => sum(opened.reader()),
            _ => open_regular(&folder.join(&path)).and_then(sum),
        };
        let sum =
            sum.map_err(|it| io::Error::new(it.kind(), format!("{}: {it}", path.display())))?;
        lines.push((name(&path), sum));
    }
    content_hash(lines)
}

/// Returns the `h1:` checksum of what is in an archive.
pub fn hash_archive(archive: &Path) -> io::Result<Hash> {
    let mut archive = zip::ZipArchive::new(open_regular(archive)?)?;
    let mut lines = Vec::with_capacity(archive.len());
    let mut budget = Budget::default();
    for index in 0..archive.len() {
        let file = archive.by_index(index)?;
        let name = file.name().map_err(io::Error::other)?.into_owned();
        lines.push((name, sum(budget.bound(file))?));
    }
    content_hash(lines)
}

/// Returns the `h1:` checksum of files that are in memory: names and contents.
pub fn hash_texts<'a>(files: impl Iterator<Item = (String, &'a [u8])>) -> io::Result<Hash> {
    let lines = files.map(|(name, content)| Ok((name, sum(content)?)));
    content_hash(lines.collect::<io::Result<_>>()?)
}

/// The checksum of a list of files: of one line `SUM  NAME` for each, sorted by name.
fn content_hash(mut files: Vec<(String, Vec<u8>)>) -> io::Result<Hash> {
    files.sort();
    let mut hasher = Sha256::new();
    for (name, sum) in files {
        if name.contains('\n') {
            return Err(io::Error::other("file names with line ends are not supported"));
        }
        hasher.update(format!("{}  {name}\n", hex(&sum)));
    }
    let text = base64::engine::general_purpose::STANDARD.encode(hasher.finalize());
    Ok(Hash(format!("h1:{text}")))
}

/// Returns whether the package in a folder has one of the checksums. Those of archives cannot be told from a folder.
pub fn folder_matches(folder: &Path, allowed: &[Hash]) -> io::Result<bool> {
    if !allowed.iter().any(Hash::is_content) {
        return Ok(false);
    }
    let found = hash_folder(folder)?;
    Ok(allowed.contains(&found))
}

/// Returns those of the checksums that an archive has.
pub fn archive_matches(archive: &Path, allowed: &[Hash]) -> io::Result<Vec<Hash>> {
    let mut own = Vec::new();
    if allowed.iter().any(Hash::is_zip) {
        own.push(hash_zip(archive)?);
    }
    if allowed.iter().any(Hash::is_content) {
        own.push(hash_archive(archive)?);
    }
    own.retain(|it| allowed.contains(it));
    Ok(own)
}

/// Reads a SHA-256 sum in hexadecimal digits.
pub fn read_sum(text: &str) -> Option<[u8; 32]> {
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    let mut sum = [0; 32];
    for (index, byte) in sum.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[index * 2..index * 2 + 2], 16).ok()?;
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_a_package_that_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("inner")).expect("a folder");
        std::os::unix::fs::symlink("inner", folder.path().join("link")).expect("a link");
        let why = hash_folder(folder.path()).expect_err("a link to a folder").to_string();
        assert!(why.starts_with("link: "), "{why}");
    }
}
