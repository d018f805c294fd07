//! Archives are unpacked. Nothing of them comes to lie outside of their folder.

use std::fs::File;
use std::io::{BufReader, Read, Seek, Write};
use std::path::{Component, Path, PathBuf};

use crate::error::{Error, ErrorContext};
use crate::install::unpacked::Budget;
use crate::world::open_regular;

/// A kind of archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Zip,
    Tar(Packing),
}

/// How a tar archive is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Gzip,
    Bzip2,
    Xz,
    Zstd,
    Plain,
}

const ENDINGS: [(&str, Kind); 11] = [
    ("zip", Kind::Zip),
    ("tar.gz", Kind::Tar(Packing::Gzip)),
    ("tgz", Kind::Tar(Packing::Gzip)),
    ("tar.bz2", Kind::Tar(Packing::Bzip2)),
    ("tar.tbz2", Kind::Tar(Packing::Bzip2)),
    ("tbz2", Kind::Tar(Packing::Bzip2)),
    ("tar.xz", Kind::Tar(Packing::Xz)),
    ("txz", Kind::Tar(Packing::Xz)),
    ("tar.zst", Kind::Tar(Packing::Zstd)),
    ("tzst", Kind::Tar(Packing::Zstd)),
    ("tar", Kind::Tar(Packing::Plain)),
];

impl Kind {
    /// Returns the kind of archive that a file's name, or the word behind `archive=`, speaks of.
    pub fn of(name: &str) -> Option<Kind> {
        let is = |ending: &str| name == ending || name.ends_with(&format!(".{ending}"));
        ENDINGS.iter().find(|it| is(it.0)).map(|it| it.1)
    }
}

/// Unpacks an archive into a folder, which is made.
pub(super) fn unpack(archive: &Path, kind: Kind, into: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(into)?;
    let file = open_regular(archive)?;
    let mut target = Target::new(into);
    match kind {
        Kind::Zip => zip(file, &mut target)?,
        Kind::Tar(packing) => {
            let file = BufReader::new(file);
            let reader: Box<dyn Read> = match packing {
                Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(file)),
                Packing::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(file)),
                Packing::Xz => Box::new(lzma_rust2::XzReader::new(file, true)),
                Packing::Zstd => {
                    Box::new(ruzstd::decoding::StreamingDecoder::new(file).map_err(Error::of)?)
                }
                Packing::Plain => Box::new(file),
            };
            tar(reader, &mut target)?;
        }
    }
    target.link()
}

/// What is said of an archive that is none.
const BROKEN: &str = "the archive is damaged";

fn zip(file: impl Read + Seek, target: &mut Target) -> Result<(), Error> {
    let mut archive = zip::ZipArchive::new(file).context(BROKEN)?;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).context(BROKEN)?;
        let name = entry.name().context(BROKEN)?.into_owned();
        let mode = entry.unix_mode();
        if entry.is_dir() {
            target.folder(&name)?;
        } else if mode.is_some_and(|it| it & 0o170_000 == 0o120_000) {
            let to = short_text(&mut entry, &name)?;
            target.link_to(name, to)?;
        } else {
            target.file(&name, &mut entry, mode)?;
        }
    }
    Ok(())
}

fn tar(reader: impl Read, target: &mut Target) -> Result<(), Error> {
    let mut archive = tar::Archive::new(reader);
    // Names that are too long for their field stand in entries of their own, which are read here: they may claim any size.
    let mut long = LongNames::default();
    for entry in archive.entries().context(BROKEN)?.raw(true) {
        let mut entry = entry.context(BROKEN)?;
        let size = size_of(&entry)?;
        if long.take(&mut entry)? {
            continue;
        }
        if long.size.take().is_some_and(|it| it != size) {
            return Err(wrong_size(&entry));
        }
        let (name, link) = std::mem::take(&mut long).over(&entry)?;
        let mode = entry.header().mode().ok();
        match entry.header().entry_type() {
            tar::EntryType::Directory => target.folder(&name)?,
            tar::EntryType::Regular | tar::EntryType::Continuous => {
                if target.file(&name, &mut entry, mode)? != size {
                    return Err(format!("{BROKEN}: it ends within the entry {name:?}").into());
                }
            }
            tar::EntryType::Symlink => {
                target.link_to(name, link)?;
            }
            tar::EntryType::XGlobalHeader => {}
            _ => {
                return Err(format!(
                    "the archive holds {name:?}, which is neither file nor folder"
                )
                .into());
            }
        }
    }
    Ok(())
}

/// Returns how long an entry is, which its header says in octal digits or in binary.
///
/// # Errors
///
/// If the number is negative or larger than anything: cut off, it would be another one.
fn size_of(entry: &tar::Entry<'_, impl Read>) -> Result<u64, Error> {
    let field = &entry.header().as_old().size;
    let (marked, rest) = (field[0], &field[1..4]);
    if marked & 0x80 != 0 && (marked != 0x80 || rest != [0; 3]) {
        return Err(wrong_size(entry));
    }
    entry.header().entry_size().context(BROKEN)
}

fn wrong_size(entry: &tar::Entry<'_, impl Read>) -> Error {
    let name = entry.path_bytes();
    format!("{BROKEN}: the size of its entry {:?} makes no sense", String::from_utf8_lossy(&name))
        .into()
}

/// No system takes longer paths.
const LONGEST_PATH: u64 = 4096;
/// The longest list of properties of an entry.
const LONGEST_LIST: u64 = 1 << 20;
/// The most entries of an archive.
const MOST_ENTRIES: usize = 500_000;

/// Reads a path.
fn short_text(content: &mut dyn Read, name: &str) -> Result<String, Error> {
    let text = bounded(content, LONGEST_PATH, name)?;
    String::from_utf8(text)
        .map_err(|_| format!("the archive's entry {name:?} leads to no path").into())
}

/// Reads what must not be longer than so many bytes.
fn bounded(content: &mut dyn Read, most: u64, name: &str) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    content.take(most + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(format!(
            "the archive's entry {name:?} holds a path or a property that is longer than {most} bytes"
        ).into()),
        false => Ok(bytes),
    }
}

/// Names of the next entry of a tar archive that did not fit into its header.
#[derive(Default)]
struct LongNames {
    name: Option<String>,
    link: Option<String>,
    /// The size that a list of properties gives to the next entry.
    size: Option<u64>,
}

impl LongNames {
    /// Takes an entry that only names the next one; returns whether it is such.
    fn take(&mut self, entry: &mut tar::Entry<'_, impl Read>) -> Result<bool, Error> {
        let text = |bytes: Vec<u8>| {
            let end = bytes.iter().position(|it| *it == 0).unwrap_or(bytes.len());
            String::from_utf8_lossy(&bytes[..end]).into_owned()
        };
        match entry.header().entry_type() {
            tar::EntryType::GNULongName => {
                self.name = Some(text(bounded(entry, LONGEST_PATH, "././@LongLink")?));
            }
            tar::EntryType::GNULongLink => {
                self.link = Some(text(bounded(entry, LONGEST_PATH, "././@LongLink")?));
            }
            tar::EntryType::XHeader => {
                let list = bounded(entry, LONGEST_LIST, "PaxHeader")?;
                for property in tar::PaxExtensions::new(&list).flatten() {
                    let value = String::from_utf8_lossy(property.value_bytes()).into_owned();
                    match property.key_bytes() {
                        b"path" => self.name = Some(value),
                        b"linkpath" => self.link = Some(value),
                        // What is no number fits no entry.
                        b"size" => self.size = Some(value.parse().unwrap_or(u64::MAX)),
                        _ => {}
                    }
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns the name of an entry and where it leads, the long ones where there are any.
    fn over(self, entry: &tar::Entry<'_, impl Read>) -> Result<(String, String), Error> {
        let name = match self.name {
            Some(name) => name,
            None => entry.path().context(BROKEN)?.to_string_lossy().into_owned(),
        };
        let link = match self.link {
            Some(link) => link,
            None => entry.link_name().context(BROKEN)?.unwrap_or_default().to_string_lossy().into(),
        };
        Ok((name, link))
    }
}

/// The folder that an archive is unpacked into, or the objects of a bucket.
pub(super) struct Target<'a> {
    root: &'a Path,
    budget: Budget,
    entries: usize,
    /// Symbolic links are made last, so that nothing is written through them.
    links: Vec<(String, String)>,
}

impl<'a> Target<'a> {
    /// Returns a folder that nothing was written into.
    pub fn new(root: &'a Path) -> Target<'a> {
        Target { root, budget: Budget::default(), entries: 0, links: Vec::new() }
    }

    /// Returns where an entry belongs.
    ///
    /// # Errors
    ///
    /// If it would lie outside of the folder.
    pub fn place(&self, name: &str) -> Result<PathBuf, Error> {
        let mut path = self.root.to_owned();
        for part in Path::new(&name.replace('\\', "/")).components() {
            match part {
                Component::Normal(part) => path.push(part),
                Component::CurDir => {}
                _ => {
                    return Err(format!(
                        "the archive's entry {name:?} would lie outside of its folder"
                    )
                    .into());
                }
            }
        }
        Ok(path)
    }

    /// Counts an entry.
    fn count(&mut self) -> Result<(), Error> {
        self.entries += 1;
        match self.entries > MOST_ENTRIES {
            true => Err(format!("the archive has more than {MOST_ENTRIES} entries").into()),
            false => Ok(()),
        }
    }

    fn link_to(&mut self, name: String, to: String) -> Result<(), Error> {
        self.count()?;
        self.links.push((name, to));
        Ok(())
    }

    fn folder(&mut self, name: &str) -> Result<(), Error> {
        self.count()?;
        Ok(std::fs::create_dir_all(self.place(name)?)?)
    }

    /// Writes a file, and returns how many bytes it has.
    ///
    /// # Errors
    ///
    /// If it would lie outside of the folder, all files together are too large, or it cannot be written.
    pub fn file(
        &mut self,
        name: &str,
        content: &mut dyn Read,
        mode: Option<u32>,
    ) -> Result<u64, Error> {
        self.count()?;
        let path = self.place(name)?;
        let mut attempt = || -> std::io::Result<u64> {
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            let mut file = File::create(&path)?;
            let count = std::io::copy(&mut self.budget.bound(&mut *content), &mut file)?;
            file.flush()?;
            set_mode(&file, mode)?;
            Ok(count)
        };
        attempt().context(format_args!("{name:?} cannot be unpacked"))
    }

    /// Makes the symbolic links that stay inside the folder.
    fn link(&self) -> Result<(), Error> {
        for (name, to) in &self.links {
            let path = self.place(name)?;
            let outside = || {
                Error::from(format!("the archive's link {name:?} would lead outside of its folder"))
            };
            let inner = path.strip_prefix(self.root).map_err(|_| outside())?;
            let folder = inner.parent().unwrap_or(Path::new("")).to_string_lossy().into_owned();
            let folder = if folder.is_empty() { "." } else { folder.as_str() };
            let goal = crate::config::source::join_path(folder, to);
            if to.starts_with('/') || goal == ".." || goal.starts_with("../") {
                return Err(outside());
            }
            make_link(to, &path).context(format_args!("the link {name:?} cannot be made"))?;
        }
        // A link may lead through another; where all of them lead in the end is what counts.
        let root = self.root.canonicalize()?;
        for (name, _) in &self.links {
            let end = self.place(name)?.canonicalize();
            if end.is_ok_and(|it| !it.starts_with(&root)) {
                return Err(format!(
                    "the archive's link {name:?} would lead outside of its folder"
                )
                .into());
            }
        }
        Ok(())
    }
}

#[cfg(unix)]
fn set_mode(file: &File, mode: Option<u32>) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    match mode.filter(|it| it & 0o111 != 0) {
        Some(_) => file.set_permissions(std::fs::Permissions::from_mode(0o755)),
        None => Ok(()),
    }
}

#[cfg(not(unix))]
fn set_mode(_: &File, _: Option<u32>) -> std::io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn make_link(to: &str, path: &Path) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::os::unix::fs::symlink(to, path)
}

#[cfg(not(unix))]
fn make_link(_: &str, _: &Path) -> std::io::Result<()> {
    Err(std::io::Error::other("this system has no symbolic links for archives"))
}
