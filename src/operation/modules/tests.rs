//! Modules from repositories that the test makes, and from a server on loopback that it starts.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use expect_test::{Expect, expect};
use parking_lot::Mutex;

use super::*;
use crate::config::tests::{context, print};
use crate::install::settings::Token;

#[cfg(feature = "oci")]
mod images;

/// What the server answers to each path: status, headers, body.
pub(in crate::operation) type Answers = BTreeMap<String, (u16, String, Vec<u8>)>;

/// A server on loopback.
pub(in crate::operation) struct Server {
    pub address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub fn start(answers: impl FnOnce(&str) -> Answers) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let (answers, asked) = (answers(&address), Arc::new(Mutex::new(Vec::new())));
        let log = asked.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                answer(stream, &answers, &log);
            }
        });
        Server { address, asked }
    }
}

fn answer(mut stream: TcpStream, answers: &Answers, log: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
    let mut first = String::new();
    reader.read_line(&mut first).expect("a request");
    let mut credentials = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or_default() < 3 {
            break;
        }
        if let Some(given) = line.strip_prefix("authorization: ") {
            credentials = format!(" with {}", given.trim());
        }
    }
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    log.lock().push(format!("{path}{credentials}"));
    let nothing = (404, String::new(), Vec::new());
    let (status, headers, body) = answers.get(&path).unwrap_or(&nothing);
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("an answer");
    stream.write_all(body).expect("an answer");
}

/// A folder with a root module.
struct Folder {
    folder: tempfile::TempDir,
    settings: Settings,
    environment: BTreeMap<String, String>,
    upgrade: bool,
}

impl Folder {
    fn new() -> Folder {
        let folder = tempfile::tempdir().expect("a folder");
        let environment = BTreeMap::new();
        Folder { folder, settings: Settings::default(), environment, upgrade: false }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Installs what this configuration calls; prints progress, problems and what the modules' files say.
    #[track_caller]
    fn check(&self, config: &str, expected: Expect) {
        expected.assert_eq(&self.text(config));
    }

    fn text(&self, config: &str) -> String {
        std::fs::write(self.path("main.tf"), config).expect("a file");
        let sources = Sources::default();
        let text = RefCell::new(String::new());
        let tell = |it: Progress| {
            let line = match it {
                Progress::Begun => String::new(),
                Progress::Downloading(from, version, key) => {
                    let version = version.map(|it| format!(" {it}")).unwrap_or_default();
                    format!("downloading {from}{version} for {key}\n")
                }
                Progress::Found(it) => format!("{} in {}\n", it.key, it.directory),
            };
            text.borrow_mut().push_str(&line);
        };
        let how = How { upgrade: self.upgrade, settings: &self.settings, tell: &tell };
        let mut world = (*context(self.folder.path(), &sources).world).clone();
        world.environment.clone_from(&self.environment);
        let context = Arc::new(EarlyContext::new(Arc::new(world), "default", sources.clone()));
        let (done, problems) = install_modules(&context, &self.path(".terraform"), &[], how);
        let mut text = text.into_inner();
        text.push_str(&print(&problems, &sources));
        for it in problems.iter().filter(|it| it.summary.starts_with("Failed to download")) {
            text.push_str(&format!("  {}\n", it.detail.lines().next().unwrap_or_default()));
        }
        for (key, record) in done.modules.records.iter().filter(|it| !it.0.is_empty()) {
            let version = record.version.as_deref().unwrap_or_default();
            let content = std::fs::read_to_string(self.path(&record.directory).join("main.tf"));
            let content = content.unwrap_or_else(|it| format!("({:?})", it.kind()));
            let line = format!("{key} <{}> {version}: {}\n", record.source, content.trim());
            text.push_str(&line);
        }
        let root = self.folder.path().to_string_lossy().into_owned();
        let text =
            regex::Regex::new(r"127\.0\.0\.1:\d+").expect("valid").replace_all(&text, "HOST");
        text.replace(&root, "ROOT")
    }
}

/// Runs git in a folder; nothing where it is not installed.
pub(in crate::operation) fn git(folder: &Path, arguments: &[&str]) -> Option<()> {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.com",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(arguments)
        .current_dir(folder)
        .output();
    match output {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(())
        }
        Err(_) => {
            #[expect(clippy::print_stderr, reason = "a test that is left out says so")]
            {
                eprintln!("SKIPPED: git is not installed");
            }
            None
        }
    }
}

pub(in crate::operation) fn commit(folder: &Path, file: &str, text: &str) -> Option<()> {
    let path = folder.join(file);
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    std::fs::write(path, text).expect("a file");
    git(folder, &["add", "."])?;
    git(folder, &["commit", "-q", "-m", "x"])
}

fn repository(folder: &Path) -> Option<()> {
    std::fs::create_dir_all(folder).expect("a folder");
    git(folder, &["init", "-q"])?;
    commit(folder, "main.tf", "locals { v = 1 }")?;
    commit(folder, "sub/main.tf", "module \"up\" { source = \"../\" }")?;
    git(folder, &["tag", "v1"])?;
    commit(folder, "main.tf", "locals { v = 2 }")
}

#[test]
fn a_repository_is_fetched_at_a_revision_and_a_folder() {
    let folder = Folder::new();
    let repo = folder.path("repo");
    if repository(&repo).is_none() {
        return;
    }
    let url = format!("git::file://{}", repo.display());
    folder.check(
        &format!("module \"new\" {{ source = \"{url}\" }}\nmodule \"old\" {{ source = \"{url}?ref=v1\" }}\nmodule \"sub\" {{ source = \"{url}//sub?ref=v1&depth=1\" }}\n"),
        expect![[r#"
            downloading git::file://ROOT/repo for new
            new in .terraform/modules/new
            downloading git::file://ROOT/repo?ref=v1 for old
            old in .terraform/modules/old
            downloading git::file://ROOT/repo?ref=v1&depth=1 for sub
            sub in .terraform/modules/sub/sub
            sub.up in .terraform/modules/sub
            new <git::file://ROOT/repo> : locals { v = 2 }
            old <git::file://ROOT/repo?ref=v1> : locals { v = 1 }
            sub <git::file://ROOT/repo//sub?ref=v1&depth=1> : module "up" { source = "../" }
            sub.up <..> : locals { v = 1 }
        "#]],
    );
    folder.check(
        &format!("module \"new\" {{ source = \"{url}\" }}\n"),
        expect![[r#"
            new <git::file://ROOT/repo> : locals { v = 2 }
        "#]],
    );
    // What is asked for no more is gone from the list, and what fails leaves what there was.
    folder.check(
        &format!("module \"new\" {{ source = \"{url}?ref=nope\" }}\n"),
        expect![[r#"
            downloading git::file://ROOT/repo?ref=nope for new
            Failed to download module  main.tf:1,1
              Could not download module "new" source code from "git::file://ROOT/repo?ref=nope": git checkout failed: fatal: invalid reference: nope. What was installed before is still there.
            new <git::file://ROOT/repo> : locals { v = 2 }
        "#]],
    );
}

pub(in crate::operation) fn tar(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, text) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        // The builder would refuse a name that leads outside.
        let bytes = name.as_bytes();
        header.as_gnu_mut().expect("a header").name[..bytes.len()].copy_from_slice(bytes);
        header.set_cksum();
        builder.append(&header, text.as_bytes()).expect("an entry");
    }
    builder.into_inner().expect("an archive")
}

pub(in crate::operation) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("written");
    encoder.finish().expect("an archive")
}

fn zip(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in entries {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).expect("an entry");
        writer.write_all(text.as_bytes()).expect("written");
    }
    writer.finish().expect("an archive").into_inner()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).expect("written");
    encoder.finish().expect("an archive")
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(0);
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).expect("a writer");
    encoder.write_all(bytes).expect("written");
    encoder.finish().expect("an archive")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Uncompressed)
}

pub(in crate::operation) fn file(body: Vec<u8>) -> (u16, String, Vec<u8>) {
    (200, String::new(), body)
}

#[test]
fn archives_of_every_kind_are_unpacked() {
    let one = |name: &'static str| tar(&[("main.tf", name), ("in/main.tf", "# inner")]);
    let server = Server::start(|_| {
        Answers::from([
            ("/a.zip".into(), file(zip(&[("main.tf", "# zip")]))),
            ("/a.tar.gz".into(), file(gzip(&one("# gz")))),
            ("/a.tar.bz2".into(), file(bzip2(&one("# bz2")))),
            ("/a.tar.xz".into(), file(xz(&one("# xz")))),
            ("/a.tar.zst".into(), file(zstd(&one("# zst")))),
            ("/get?x=1".into(), file(gzip(&one("# query")))),
        ])
    });
    let at = &server.address;
    Folder::new().check(
        &format!(
            "module \"bz2\" {{ source = \"{at}/a.tar.bz2\" }}\nmodule \"gz\" {{ source = \"{at}/a.tar.gz//in\" }}\nmodule \"named\" {{ source = \"{at}/get?x=1&archive=tgz\" }}\nmodule \"xz\" {{ source = \"{at}/a.tar.xz\" }}\nmodule \"zip\" {{ source = \"{at}/a.zip\" }}\nmodule \"zst\" {{ source = \"{at}/a.tar.zst\" }}\n"
        ),
        expect![[r#"
            downloading http://HOST/a.tar.bz2 for bz2
            bz2 in .terraform/modules/bz2
            downloading http://HOST/a.tar.gz for gz
            gz in .terraform/modules/gz/in
            downloading http://HOST/get?x=REDACTED&archive=tgz for named
            named in .terraform/modules/named
            downloading http://HOST/a.tar.xz for xz
            xz in .terraform/modules/xz
            downloading http://HOST/a.zip for zip
            zip in .terraform/modules/zip
            downloading http://HOST/a.tar.zst for zst
            zst in .terraform/modules/zst
            bz2 <http://HOST/a.tar.bz2> : # bz2
            gz <http://HOST/a.tar.gz//in> : # inner
            named <http://HOST/get?x=REDACTED-6b86b273&archive=tgz> : # query
            xz <http://HOST/a.tar.xz> : # xz
            zip <http://HOST/a.zip> : # zip
            zst <http://HOST/a.tar.zst> : # zst
        "#]],
    );
}

#[test]
fn credentials_of_addresses_are_used_and_neither_told_nor_recorded() {
    let server = Server::start(|_| {
        Answers::from([("/a.zip?token=CANARY".into(), file(zip(&[("main.tf", "# fetched")])))])
    });
    let (folder, host) = (Folder::new(), server.address.replace("http://", "http://me:CANARY@"));
    folder.check(
        &format!("module \"a\" {{ source = \"{host}/a.zip?token=CANARY\" }}\nmodule \"b\" {{ source = \"{host}/gone.zip?token=CANARY\" }}\n"),
        expect![[r#"
            downloading http://REDACTED@HOST/a.zip?token=REDACTED for a
            a in .terraform/modules/a
            downloading http://REDACTED@HOST/gone.zip?token=REDACTED for b
            Failed to download module  main.tf:2,1
              Could not download module "b" source code from "http://REDACTED@HOST/gone.zip?token=REDACTED": unsuccessful request to http://HOST/gone.zip: 404 Not Found. What was installed before is still there.
            a <http://REDACTED@HOST/a.zip?token=REDACTED-fe0344af> : # fetched
        "#]],
    );
    let recorded = std::fs::read_to_string(folder.path(".terraform/modules/modules.json"));
    assert!(!recorded.expect("a file").contains("CANARY"));
    let asked = server.asked.lock().join("\n");
    assert!(asked.contains("/a.zip?token=CANARY"), "{asked}");
}

#[test]
fn what_git_keeps_of_an_address_with_credentials_goes() {
    let folder = Folder::new();
    let upstream = folder.path("upstream");
    std::fs::create_dir(&upstream).expect("a folder");
    std::fs::write(upstream.join("main.tf"), "# committed").expect("a file");
    let done = git(&upstream, &["init", "-q"])
        .and_then(|()| git(&upstream, &["add", "."]))
        .and_then(|()| git(&upstream, &["commit", "-qm", "a"]));
    if done.is_none() {
        return;
    }
    // Git takes no notice of a user of this machine's own files.
    let address = format!("git::file://me:CANARY@{}", upstream.display());
    folder.check(
        &format!("module \"a\" {{ source = \"{address}\" }}\n"),
        expect![[r#"
        downloading git::file://REDACTED@ROOT/upstream for a
        a in .terraform/modules/a
        a <git::file://REDACTED@ROOT/upstream> : # committed
    "#]],
    );
    let kept = Command::new("grep")
        .args(["-rl", "CANARY", ".terraform"])
        .current_dir(folder.folder.path())
        .output();
    assert_eq!(String::from_utf8_lossy(&kept.expect("grep runs").stdout), "");
}

#[test]
fn long_names_are_taken_and_endless_ones_refused() {
    let named = |kind: tar::EntryType, name: &str| {
        let mut builder = tar::Builder::new(Vec::new());
        let mut entry = |kind: tar::EntryType, name: &str, text: &str| {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(kind);
            header.set_size(text.len() as u64);
            header.set_mode(0o644);
            header.set_path(name).expect("a short name");
            header.set_cksum();
            builder.append(&header, text.as_bytes()).expect("an entry");
        };
        entry(kind, "././@LongLink", name);
        let is_link = kind == tar::EntryType::GNULongLink;
        match is_link {
            true => entry(tar::EntryType::Symlink, "link", ""),
            false => entry(tar::EntryType::Regular, "x", "# long"),
        }
        entry(tar::EntryType::Regular, "main.tf", "# main");
        file(gzip(&builder.into_inner().expect("an archive")))
    };
    let (long, endless) = ("d/".repeat(100) + "main.tf", "d".repeat(1 << 20));
    let server = Server::start(|_| {
        Answers::from([
            ("/long.tar.gz".into(), named(tar::EntryType::GNULongName, &long)),
            ("/name.tar.gz".into(), named(tar::EntryType::GNULongName, &endless)),
            ("/link.tar.gz".into(), named(tar::EntryType::GNULongLink, &endless)),
        ])
    });
    let at = &server.address;
    Folder::new().check(
        &format!(
            "module \"a\" {{ source = \"{at}/long.tar.gz//{}\" }}\nmodule \"b\" {{ source = \"{at}/name.tar.gz\" }}\nmodule \"c\" {{ source = \"{at}/link.tar.gz\" }}\n",
            "d/".repeat(100)
        ),
        expect![[r#"
            downloading http://HOST/long.tar.gz for a
            a in .terraform/modules/a/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d
            downloading http://HOST/name.tar.gz for b
            downloading http://HOST/link.tar.gz for c
            Failed to download module  main.tf:2,1
            Failed to download module  main.tf:3,1
              Could not download module "b" source code from "http://HOST/name.tar.gz": the archive's entry "././@LongLink" holds a path or a property that is longer than 4096 bytes. What was installed before is still there.
              Could not download module "c" source code from "http://HOST/link.tar.gz": the archive's entry "././@LongLink" holds a path or a property that is longer than 4096 bytes. What was installed before is still there.
            a <http://HOST/long.tar.gz//d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d> : # long
        "#]],
    );
}

#[test]
fn a_size_that_makes_no_sense_is_refused() {
    let sized = |field: [u8; 12], list: &str| {
        let mut builder = tar::Builder::new(Vec::new());
        if !list.is_empty() {
            let mut header = tar::Header::new_ustar();
            header.set_entry_type(tar::EntryType::XHeader);
            header.set_size(list.len() as u64);
            header.set_path("PaxHeader").expect("a short name");
            header.set_cksum();
            builder.append(&header, list.as_bytes()).expect("an entry");
        }
        let mut header = tar::Header::new_ustar();
        header.set_mode(0o644);
        header.set_path("main.tf").expect("a short name");
        header.as_old_mut().size = field;
        header.set_cksum();
        // Written by hand: the builder would read the size.
        let mut bytes = builder.into_inner().expect("an archive");
        bytes.truncate(bytes.len() - 1024);
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend([b"locals {}\n".as_slice(), &[0; 502], &[0; 1024]].concat());
        bytes
    };
    let folder = tempfile::tempdir().expect("a folder");
    let unpacked = |name: &str, bytes: Vec<u8>| {
        let (archive, into) = (folder.path().join("a.tar"), folder.path().join(name));
        std::fs::write(&archive, bytes).expect("written");
        let kind = archive::Kind::of("a.tar").expect("a kind");
        let done = archive::unpack(&archive, kind, &into);
        done.map(|()| std::fs::read_to_string(into.join("main.tf")).expect("it is there"))
            .map_err(|it| it.to_string())
    };
    let octal = *b"00000000012\0";
    let binary = [0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10];
    assert_eq!(unpacked("octal", sized(octal, "")).as_deref(), Ok("locals {}\n"));
    assert_eq!(unpacked("binary", sized(binary, "")).as_deref(), Ok("locals {}\n"));
    assert_eq!(unpacked("same", sized(octal, "11 size=10\n")).as_deref(), Ok("locals {}\n"));
    let refused = "the archive is damaged: the size of its entry \"main.tf\" makes no sense";
    let beyond = [0x80, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    let tail = [0x80, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 10];
    let negative = [0xff; 12];
    for (name, field) in [("beyond", beyond), ("tail", tail)] {
        assert_eq!(unpacked(name, sized(field, "")).expect_err(name), refused, "{name}");
    }
    let below = unpacked("negative", sized(negative, "")).expect_err("negative");
    assert_eq!(below, "the archive is damaged: size overflow");
    assert_eq!(unpacked("other", sized(octal, "10 size=0\n")).expect_err("other"), refused);
    let mut short = sized(octal, "");
    short.truncate(512 + 4);
    let ends = unpacked("short", short).expect_err("short");
    assert!(ends.contains("it ends within the entry"), "{ends}");
}

#[test]
fn nothing_comes_to_lie_outside_of_its_folder() {
    let server = Server::start(|_| {
        Answers::from([
            ("/up.tar.gz".into(), file(gzip(&tar(&[("../../evil.tf", "x")])))),
            ("/root.tar.gz".into(), file(gzip(&tar(&[("/evil.tf", "x")])))),
            ("/up.zip".into(), file(zip(&[("a/../../evil.tf", "x")]))),
            ("/noise.zip".into(), file(b"no archive".to_vec())),
            ("/sum.zip".into(), file(zip(&[("main.tf", "# zip")]))),
        ])
    });
    let at = &server.address;
    let folder = Folder::new();
    folder.check(
        &format!(
            "module \"a\" {{ source = \"{at}/up.tar.gz\" }}\nmodule \"b\" {{ source = \"{at}/root.tar.gz\" }}\nmodule \"c\" {{ source = \"{at}/up.zip\" }}\nmodule \"d\" {{ source = \"{at}/noise.zip\" }}\nmodule \"e\" {{ source = \"{at}/gone.zip\" }}\nmodule \"f\" {{ source = \"{at}/sum.zip?checksum=sha256:00\" }}\nmodule \"g\" {{ source = \"{at}/sum.zip//../x\" }}\n"
        ),
        expect![[r#"
            downloading http://HOST/up.tar.gz for a
            downloading http://HOST/root.tar.gz for b
            downloading http://HOST/up.zip for c
            downloading http://HOST/noise.zip for d
            downloading http://HOST/gone.zip for e
            downloading http://HOST/sum.zip?checksum=sha256:00 for f
            Failed to download module  main.tf:1,1
            Failed to download module  main.tf:2,1
            Failed to download module  main.tf:3,1
            Failed to download module  main.tf:4,1
            Failed to download module  main.tf:5,1
            Failed to download module  main.tf:6,1
            Failed to download module  main.tf:7,1
              Could not download module "a" source code from "http://HOST/up.tar.gz": the archive's entry "../../evil.tf" would lie outside of its folder. What was installed before is still there.
              Could not download module "b" source code from "http://HOST/root.tar.gz": the archive's entry "/evil.tf" would lie outside of its folder. What was installed before is still there.
              Could not download module "c" source code from "http://HOST/up.zip": the archive's entry "a/../../evil.tf" would lie outside of its folder. What was installed before is still there.
              Could not download module "d" source code from "http://HOST/noise.zip": the archive is damaged: invalid Zip archive: Could not find EOCD. What was installed before is still there.
              Could not download module "e" source code from "http://HOST/gone.zip": unsuccessful request to http://HOST/gone.zip: 404 Not Found. What was installed before is still there.
              Could not download module "f" source code from "http://HOST/sum.zip?checksum=sha256:00": the checksum is sha256:07818e593f034b8d14e785d0c41427ca359a88851665b52580c9a34d0cf706e1, and sha256:00 is wanted. What was installed before is still there.
              Could not download module "g" source code from "http://HOST/sum.zip//../x": the folder "../x" lies outside of the package. What was installed before is still there.
        "#]],
    );
    assert!(!folder.path("evil.tf").exists() && !folder.path(".terraform/evil.tf").exists());
}

#[cfg(unix)]
#[test]
fn links_that_lead_outside_are_refused() {
    let link = |to: &str| {
        let mut builder = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_size(0);
        builder.append_link(&mut header, "in/link.tf", to).expect("a link");
        gzip(&builder.into_inner().expect("an archive"))
    };
    let folder = tempfile::tempdir().expect("a folder");
    let unpack = |to: &str| {
        let (archive, into) = (folder.path().join("a"), folder.path().join("out"));
        std::fs::write(&archive, link(to)).expect("a file");
        let _ = std::fs::remove_dir_all(&into);
        archive::unpack(&archive, archive::Kind::Tar(archive::Packing::Gzip), &into)
    };
    assert!(unpack("/etc/passwd").is_err());
    assert!(unpack("../../x").is_err());
    assert_eq!(unpack("../x"), Ok(()));
}

#[test]
fn an_address_says_where_its_package_is() {
    let server = Server::start(|at| {
        Answers::from([
            ("/m?terraform-get=1".into(), (204, "x-terraform-get: ./a.zip//in\r\n".into(), vec![])),
            ("/a.zip".into(), file(zip(&[("in/main.tf", "# inside")]))),
            (
                "/page?terraform-get=1".into(),
                file(
                    format!("<html><meta name=\"terraform-get\" content=\"{at}/a.zip\"></html>")
                        .into(),
                ),
            ),
            ("/self?terraform-get=1".into(), (200, "x-terraform-get: /self\r\n".into(), vec![])),
            (
                "/etc?terraform-get=1".into(),
                (200, "x-terraform-get: file:///etc\r\n".into(), vec![]),
            ),
            ("/none?terraform-get=1".into(), file(b"hello".to_vec())),
        ])
    });
    let at = &server.address;
    Folder::new().check(
        &format!(
            "module \"a\" {{ source = \"{at}/m\" }}\nmodule \"b\" {{ source = \"{at}/page//in\" }}\nmodule \"c\" {{ source = \"{at}/self\" }}\nmodule \"d\" {{ source = \"{at}/etc\" }}\nmodule \"e\" {{ source = \"{at}/none\" }}\n"
        ),
        expect![[r#"
            downloading http://HOST/m for a
            a in .terraform/modules/a
            downloading http://HOST/page for b
            b in .terraform/modules/b/in
            downloading http://HOST/self for c
            downloading http://HOST/etc for d
            downloading http://HOST/none for e
            Failed to download module  main.tf:3,1
            Failed to download module  main.tf:4,1
            Failed to download module  main.tf:5,1
              Could not download module "c" source code from "http://HOST/self": one address leads to the next, without end. What was installed before is still there.
              Could not download module "d" source code from "http://HOST/etc": the server names a file of this machine as the package. What was installed before is still there.
              Could not download module "e" source code from "http://HOST/none": no source URL was returned: the address is no archive, and does not say where the package is. What was installed before is still there.
            a <http://HOST/m> : # inside
            b <http://HOST/page//in> : # inside
        "#]],
    );
}

#[test]
fn a_registry_gives_the_newest_version_that_is_allowed() {
    let server = Server::start(|_| {
        let versions = r#"{"modules":[{"versions":[{"version":"1.0.0"},{"version":"1.10.0"},{"version":"2.0.0-rc1"},{"version":"1.9.0"}]}]}"#;
        let download = |it: &str| (204, format!("x-terraform-get: {it}\r\n"), vec![]);
        Answers::from([
            ("/v1/a/b/c/versions".into(), file(versions.into())),
            ("/v1/a/b/c/1.10.0/download".into(), download("/one.zip")),
            ("/v1/a/b/c/1.9.0/download".into(), file(br#"{"location":"/nine.zip//in"}"#.to_vec())),
            ("/v1/a/b/c/2.0.0-rc1/download".into(), download("/rc.zip")),
            ("/one.zip".into(), file(zip(&[("main.tf", "# 1.10"), ("in/main.tf", "# in 1.10")]))),
            ("/nine.zip".into(), file(zip(&[("in/main.tf", "# in 1.9")]))),
            ("/rc.zip".into(), file(zip(&[("main.tf", "# rc")]))),
        ])
    });
    let mut folder = Folder::new();
    let services = BTreeMap::from([("modules.v1".into(), format!("{}/v1", server.address).into())]);
    folder.settings.hosts.insert("example.com".into(), services);
    let call = |name: &str, source: &str, version: &str| {
        format!(
            "module \"{name}\" {{\n  source  = \"example.com/{source}\"\n  version = {version}\n}}\n"
        )
    };
    let all = [
        call("exact", "a/b/c", "\"2.0.0-rc1\""),
        call("newest", "a/b/c//in", "null"),
        call("nine", "a/b/c", "\"< 1.10\""),
        call("none", "a/b/c", "\"> 3\""),
        call("unknown", "x/y/z", "\"1.0\""),
    ];
    folder.check(
        &all.concat(),
        expect![[r#"
            downloading example.com/a/b/c 2.0.0-rc1 for exact
            exact in .terraform/modules/exact
            downloading example.com/a/b/c 1.10.0 for newest
            newest in .terraform/modules/newest/in
            downloading example.com/a/b/c 1.9.0 for nine
            nine in .terraform/modules/nine/in
            Unresolvable module version constraint  main.tf:13,1
            Module not found  main.tf:17,1
            exact <example.com/a/b/c> 2.0.0-rc1: # rc
            newest <example.com/a/b/c//in> 1.10.0: # in 1.10
            nine <example.com/a/b/c> 1.9.0: # in 1.9
        "#]],
    );
    let asked = |server: &Server| std::mem::take(&mut *server.asked.lock()).len();
    asked(&server);
    folder.check(
        &all[1..3].concat(),
        expect![[r#"
            newest <example.com/a/b/c//in> 1.10.0: # in 1.10
            nine <example.com/a/b/c> 1.9.0: # in 1.9
        "#]],
    );
    assert_eq!(asked(&server), 0, "what is there already is not asked for again");
    folder.upgrade = true;
    folder.check(
        &call("nine", "a/b/c", "\"~> 1.0\""),
        expect![[r#"
            downloading example.com/a/b/c 1.10.0 for nine
            nine in .terraform/modules/nine
            nine <example.com/a/b/c> 1.10.0: # 1.10
        "#]],
    );
}

#[test]
fn credentials_are_for_the_registry_and_not_for_the_host_of_the_package() {
    let server = Server::start(|address| {
        let versions = r#"{"modules":[{"versions":[{"version":"1.0.0"}]}]}"#;
        let location = format!("x-terraform-get: {address}/one.zip\r\n");
        Answers::from([
            ("/v1/a/b/c/versions".into(), file(versions.into())),
            ("/v1/a/b/c/1.0.0/download".into(), (204, location, vec![])),
            ("/one.zip".into(), file(zip(&[("main.tf", "# 1.0")]))),
        ])
    });
    let mut folder = Folder::new();
    let services = BTreeMap::from([("modules.v1".into(), format!("{}/v1", server.address).into())]);
    folder.settings.hosts.insert("example.com".into(), services);
    for (host, token) in [("example.com", "for-the-registry"), ("127.0.0.1", "for-others")] {
        folder.settings.credentials.insert(host.into(), Token::new(token));
    }
    folder.check(
        "module \"m\" {\n  source = \"example.com/a/b/c\"\n}\n",
        expect![[r#"
            downloading example.com/a/b/c 1.0.0 for m
            m in .terraform/modules/m
            m <example.com/a/b/c> 1.0.0: # 1.0
        "#]],
    );
    expect![[r#"
        [
            "/v1/a/b/c/versions with Bearer for-the-registry",
            "/v1/a/b/c/1.0.0/download with Bearer for-the-registry",
            "/one.zip",
        ]
    "#]]
    .assert_debug_eq(&*server.asked.lock());
}

#[test]
fn a_local_source_stays_inside_its_package() {
    let server = Server::start(|_| {
        let text = "module \"in\" { source = \"./in\" }\nmodule \"out\" { source = \"../../..\" }";
        Answers::from([(
            "/a.zip".into(),
            file(zip(&[
                ("main.tf", text),
                ("in/main.tf", "module \"up\" { source = \"../other\" }"),
                ("other/main.tf", "# other"),
            ])),
        )])
    });
    Folder::new().check(
        &format!("module \"m\" {{ source = \"{}/a.zip\" }}\n", server.address),
        expect![[r#"
            downloading http://HOST/a.zip for m
            m in .terraform/modules/m
            m.in in .terraform/modules/m/in
            m.in.up in .terraform/modules/m/other
            Local module path escapes module package  .terraform/modules/m/main.tf:2,25
            m <http://HOST/a.zip> : module "in" { source = "./in" }
            module "out" { source = "../../.." }
            m.in <./in> : module "up" { source = "../other" }
            m.in.up <../other> : # other
        "#]],
    );
}

#[test]
fn a_module_is_copied_into_a_folder_without_configuration() {
    let server = Server::start(|_| {
        Answers::from([(
            "/a.zip".into(),
            file(zip(&[("in/main.tf", "# in"), ("in/.hidden", ""), ("in/deep/x.txt", "# deep")])),
        )])
    });
    let folder = Folder::new();
    let copy = |source: &str| {
        let world = &context(folder.folder.path(), &Sources::default()).world;
        let how = How { upgrade: false, settings: &folder.settings, tell: &|_| {} };
        match copy_module(world, source, &how) {
            Ok(()) => "copied".to_owned(),
            Err(it) => {
                format!("{}: {}", it.summary, it.detail.split("HOST").next().unwrap_or_default())
            }
        }
    };
    assert!(copy("in").starts_with("Failed to download module: "));
    assert!(
        copy(&format!("{}/a.zip//out", server.address)).starts_with("Unreadable module directory")
    );
    assert_eq!(copy(&format!("{}/a.zip//in", server.address)), "copied");
    let read = |name: &str| std::fs::read_to_string(folder.path(name)).ok();
    assert_eq!(read("main.tf").as_deref(), Some("# in"));
    assert_eq!(read("deep/x.txt").as_deref(), Some("# deep"));
    assert_eq!(read(".hidden"), None);
    assert!(copy("./deep").starts_with("The working directory already contains files"));
}
