//! What is remembered of plugins from run to run: the digest of their programs, what they announce, and which provider
//! configurations they found to be without fault.
//!
//! Asking the largest provider for its schema takes half a second and checking its configuration two, every time, with
//! the same answer; short schemas are kept for editors alone, which start no plugin of a folder that is not trusted. `ENTAIL_PLUGIN_CACHE` names another folder, or is `off`. Of configurations
//! only digests are kept, mixed with a secret of this folder.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use prost::Message;
use sha2::{Digest, Sha256};

use super::opened::{Opened, Stamp};
use super::wire::entail::plugin::get_provider_schema::Response;
use crate::world::{World, open_regular};

/// The form of everything below; another form is another folder.
const FORM: &str = "plugins-2";

/// The length from which on a kept answer is used where the plugin can be asked. Asking for a shorter one takes milliseconds, and some
/// plugins that have few types make them up from files of the working directory, so that their program alone does not tell their schema.
pub(super) const WORTH_USING: usize = 1 << 18;

/// The length of the sum that a kept answer begins with.
const SUM: usize = 8;

/// The folder where things are remembered.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// Returns the cache, unless it is turned off or has no place.
    pub fn of(world: &World) -> Option<Cache> {
        let folder = match world.variable("ENTAIL_PLUGIN_CACHE") {
            Some("off" | "0" | "false") => return None,
            // What a stranger's folder holds was not remembered by us.
            Some(folder) if !world.is_trusted && Path::new(folder).is_relative() => return None,
            // What a stranger's folder holds was not remembered by us.
            Some(folder) if !world.is_trusted && Path::new(folder).is_relative() => return None,
            Some(folder) => world.cwd.join(folder),
            None => match world.variable("XDG_CACHE_HOME") {
                Some(folder) => Path::new(folder).join("entail"),
                None => Path::new(world.variable("HOME")?).join(".cache/entail"),
            },
        };
        Some(Cache { folder: folder.join(FORM) })
    }

    /// Returns the digest of a program, if it was taken before and the file has not changed since.
    pub fn known_digest(&self, program: &Path) -> Option<String> {
        let kept = fs::read_to_string(self.digest_file(program)).ok()?;
        let (digest, stamp) = kept.split_once(' ')?;
        (stamp == stamp_of(program).ok()?).then(|| digest.to_owned())
    }

    /// Returns the digest of a program, and remembers it. It may have to be read whole.
    pub fn digest(&self, program: &Path) -> Option<String> {
        if let Some(known) = self.known_digest(program) {
            return Some(known);
        }
        let stamp = stamp_of(program).ok()?;
        let digest = digest_of(program).ok()?;
        // A file that changed meanwhile is not what was read.
        if stamp_of(program).ok()? == stamp {
            self.keep(&self.digest_file(program), format!("{digest} {stamp}").as_bytes());
        }
        Some(digest)
    }

    /// Returns the checksum of the package in a folder, and remembers it; `take` reads the package whole. A package is
    /// taken to be the same as long as it has the same files, none of which was written or replaced.
    ///
    /// # Errors
    ///
    /// If the package cannot be read.
    pub fn package_sum(
        &self,
        folder: &Path,
        program: &Opened,
        take: impl FnOnce() -> io::Result<String>,
    ) -> io::Result<String> {
        let inside = program.path().strip_prefix(folder).unwrap_or(program.path()).to_owned();
        let folder = folder.canonicalize()?;
        // The program counts as it was opened, wherever its path leads by now.
        let package_stamp = |folder: &Path| package_stamp(folder, (&folder.join(&inside), program));
        let name = hex(&Sha256::digest(folder.as_os_str().as_encoded_bytes()));
        let file = self.folder.join("packages").join(name);
        let stamp = package_stamp(&folder)?;
        if let Ok(kept) = fs::read_to_string(&file)
            && let Some((sum, known)) = kept.split_once('\n')
            && known == stamp
        {
            return Ok(sum.to_owned());
        }
        let sum = take()?;
        // Files that changed meanwhile are not what was read.
        if package_stamp(&folder)? == stamp {
            self.keep(&file, format!("{sum}\n{stamp}").as_bytes());
        }
        Ok(sum)
    }

    fn digest_file(&self, program: &Path) -> PathBuf {
        let name = program.as_os_str().as_encoded_bytes();
        self.folder.join("programs").join(hex(&Sha256::digest(name)))
    }

    /// Returns what a plugin announced before, and in which version of the protocol; nothing where that is shorter than `least` bytes.
    pub fn schema(&self, plugin: &str, least: usize) -> Option<(u32, Response)> {
        let path = self.folder.join("schemas").join(plugin);
        if fs::metadata(&path).ok()?.len() < least as u64 {
            return None;
        }
        let kept = Bytes::from(fs::read(path).ok()?);
        let (sum, rest) = kept.split_at_checked(SUM)?;
        let (version, _) = rest.split_at_checked(4)?;
        if sum != short_sum(rest) {
            return None;
        }
        let version = u32::from_be_bytes(version.try_into().ok()?);
        Some((version, Response::decode(kept.slice(SUM + 4..)).ok()?))
    }

    /// Remembers what a plugin announces.
    pub fn keep_schema(&self, plugin: &str, version: u32, answer: &Response) {
        let length = answer.encoded_len();
        // The largest answers are large: they are written where they stand, once.
        let mut kept = Vec::with_capacity(SUM + 4 + length);
        kept.extend([0; SUM]);
        kept.extend(version.to_be_bytes());
        if answer.encode(&mut kept).is_ok() {
            let sum = short_sum(&kept[SUM..]);
            kept[..SUM].copy_from_slice(&sum);
            let path = self.folder.join("schemas").join(plugin);
            let is_short = length < WORTH_USING;
            if !(is_short && fs::read(&path).is_ok_and(|it| it == kept)) {
                self.keep(&path, &kept);
            }
        }
    }

    /// Returns whether a plugin found no fault with a configuration before.
    pub fn is_sound(&self, plugin: &str, config: &[u8]) -> bool {
        self.sound_file(plugin, config).is_some_and(|it| it.exists())
    }

    /// Remembers that a plugin found no fault with a configuration.
    pub fn keep_sound(&self, plugin: &str, config: &[u8]) {
        if let Some(file) = self.sound_file(plugin, config) {
            self.keep(&file, b"");
        }
    }

    fn sound_file(&self, plugin: &str, config: &[u8]) -> Option<PathBuf> {
        let mut digest = Sha256::new();
        for part in [&self.secret()?[..], plugin.as_bytes(), config] {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        }
        Some(self.folder.join("sound").join(hex(&digest.finalize())))
    }

    /// What makes digests of configurations useless elsewhere.
    fn secret(&self) -> Option<Vec<u8>> {
        let path = self.folder.join("secret");
        if let Ok(secret) = fs::read(&path)
            && secret.len() == 32
        {
            return Some(secret);
        }
        let mut secret = vec![0; 32];
        getrandom::fill(&mut secret).ok()?;
        self.keep(&path, &secret);
        fs::read(&path).ok()
    }

    /// Writes a file whole or not at all. What cannot be remembered is asked again.
    fn keep(&self, path: &Path, content: &[u8]) {
        let _ = self.try_keep(path, content);
    }

    fn try_keep(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        let folder = path.parent().unwrap_or(&self.folder);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let temporary =
            folder.join(format!(".{}-{:?}", std::process::id(), std::thread::current().id()));
        let mut file =
            File::options().create(true).truncate(true).write(true).mode(0o600).open(&temporary)?;
        file.write_all(content)?;
        drop(file);
        fs::rename(&temporary, path)
    }
}

/// What changes when a file is written or replaced.
fn stamp_of(program: &Path) -> io::Result<String> {
    Stamp::of(program).map(|it| it.to_string())
}

/// What changes when anything in a folder does.
fn package_stamp(folder: &Path, opened: (&Path, &Opened)) -> io::Result<String> {
    let mut lines = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                open.push(entry.path());
            } else {
                let stamp = match entry.path() == opened.0 {
                    true => opened.1.stamp().to_string(),
                    false => stamp_of(&entry.path())?,
                };
                lines.push(format!("{} {stamp}\n", entry.path().display()));
            }
        }
    }
    lines.sort();
    Ok(lines.concat())
}

fn digest_of(program: &Path) -> io::Result<String> {
    let mut file = open_regular(program)?;
    let mut digest = Sha256::new();
    let mut part = vec![0; 1 << 18];
    loop {
        match file.read(&mut part)? {
            0 => return Ok(hex(&digest.finalize())),
            count => digest.update(&part[..count]),
        }
    }
}

fn short_sum(bytes: &[u8]) -> [u8; SUM] {
    use std::hash::Hasher;
    let mut sum = rustc_hash::FxHasher::default();
    sum.write(bytes);
    sum.finish().to_be_bytes()
}

/// Returns the name under which a plugin is remembered.
pub(super) fn name_of(provider: &str, version: &str, digest: &str) -> String {
    hex(&Sha256::digest(format!("{provider}\n{version}\n{digest}")))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().expect("it works");
        let environment = [("HOME".to_owned(), folder.path().display().to_string())].into();
        let world = World { environment, ..World::of_this_process() };
        (folder, Cache::of(&world).expect("it works"))
    }

    #[test]
    fn a_digest_is_remembered_until_the_file_changes() {
        let (folder, cache) = cache();
        let program = folder.path().join("program");
        fs::write(&program, "one").expect("it works");
        assert_eq!(cache.known_digest(&program), None);
        let first = cache.digest(&program);
        assert_eq!(cache.known_digest(&program), first);
        fs::write(&program, "other").expect("it works");
        assert_eq!(cache.known_digest(&program), None);
        assert_ne!(cache.digest(&program), first);
    }

    #[test]
    fn a_program_that_is_a_pipe_has_no_digest() {
        let (folder, cache) = cache();
        let pipe = folder.path().join("program");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo runs").success());
        assert_eq!(cache.digest(&pipe), None);
    }

    #[test]
    fn a_package_is_read_again_when_anything_in_it_changes() {
        let (home, cache) = cache();
        let package = home.path().join("package");
        fs::create_dir_all(package.join("inner")).expect("it works");
        fs::write(package.join("program"), "one").expect("it works");
        let read = |sum: &str| {
            let program = Opened::open(&package.join("program")).expect("it opens");
            cache.package_sum(&package, &program, || Ok(sum.to_owned())).expect("it works")
        };
        assert_eq!([read("a"), read("b")], ["a", "a"]);
        fs::write(package.join("program"), "two").expect("it works");
        assert_eq!([read("c"), read("d")], ["c", "c"]);
        fs::write(package.join("inner/more"), "").expect("it works");
        assert_eq!(read("e"), "e");
    }

    #[test]
    fn what_was_announced_comes_back_and_a_damaged_file_does_not() {
        let (_folder, cache) = cache();
        let answer = announcing(WORTH_USING);
        cache.keep_schema("plugin", 6, &answer);
        assert_eq!(cache.schema("plugin", WORTH_USING), Some((6, answer)));
        let path = cache.folder.join("schemas/plugin");
        let mut bytes = fs::read(&path).expect("it works");
        *bytes.last_mut().expect("it works") ^= 1;
        fs::write(&path, bytes).expect("it works");
        assert_eq!(cache.schema("plugin", 0), None);
    }

    fn announcing(length: usize) -> Response {
        let mut answer = Response::default();
        answer.resource_schemas.insert("a_b".into(), vec![7; length].into());
        answer
    }

    #[test]
    fn a_short_schema_is_asked_for_in_every_run_and_kept_for_who_may_not_ask() {
        let (_folder, cache) = cache();
        let answer = announcing(WORTH_USING / 2);
        cache.keep_schema("plugin", 6, &answer);
        assert_eq!(cache.schema("plugin", WORTH_USING), None);
        assert_eq!(cache.schema("plugin", 0), Some((6, answer)));
        let other = announcing(3);
        cache.keep_schema("plugin", 6, &other);
        assert_eq!(cache.schema("plugin", 0), Some((6, other)), "the last answer counts");
    }

    #[test]
    fn a_sound_configuration_is_remembered_for_its_plugin_alone() {
        let (_folder, cache) = cache();
        assert!(!cache.is_sound("plugin", b"config"));
        cache.keep_sound("plugin", b"config");
        assert!(cache.is_sound("plugin", b"config"));
        assert!(!cache.is_sound("plugin", b"other"));
        assert!(!cache.is_sound("other", b"config"));
    }

    #[test]
    fn the_cache_can_be_turned_off_or_put_elsewhere() {
        let of = |value: &str| {
            let environment = [("ENTAIL_PLUGIN_CACHE".to_owned(), value.to_owned())].into();
            Cache::of(&World { environment, ..World::of_this_process() })
        };
        assert!(of("off").is_none() && of("").is_none());
        assert!(of("/elsewhere").expect("it works").folder.starts_with("/elsewhere"));
        let environment = [("ENTAIL_PLUGIN_CACHE".to_owned(), "here".to_owned())].into();
        let world = World { environment, ..World::of_this_process() };
        assert!(Cache::of(&world).is_some());
        assert!(Cache::of(&World { is_trusted: false, ..world }).is_none(), "a folder may ship it");
    }
}
