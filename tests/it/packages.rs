//! Modules and policies from buckets and Mercurial repositories, by the real binary: `init`, `get`, and what they leave.

#![expect(clippy::print_stderr, reason = "a test that is left out says so")]

use std::collections::BTreeMap;
use std::io::{Cursor, Write};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::served::{Reply, Request, serve};
use crate::support::place::Place;

/// What no command may tell.
const SECRETS: [&str; 3] = ["very-secret-key", "very-secret-token", "of-the-address"];

/// The objects of a bucket, by name and version.
type Objects = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

/// A cloud on a port.
struct Cloud {
    port: u16,
    objects: Objects,
    /// What was asked for, and with which authorization.
    asked: Arc<Mutex<Vec<(String, String)>>>,
}

impl Cloud {
    fn start(answer: fn(&BTreeMap<String, Vec<u8>>, &Request) -> Reply) -> Cloud {
        let (objects, asked) = (Objects::default(), Arc::<Mutex<Vec<(String, String)>>>::default());
        let (kept, log) = (objects.clone(), asked.clone());
        let port = serve(move |it| {
            let said = it.header("authorization").to_owned();
            log.lock().expect("no thread panics").push((it.path.clone(), said));
            answer(&kept.lock().expect("no thread panics"), &it)
        });
        Cloud { port, objects, asked }
    }

    fn put(&self, name: &str, content: impl Into<Vec<u8>>) {
        self.objects.lock().expect("no thread panics").insert(name.to_owned(), content.into());
    }

    /// Returns how often it was asked, and begins anew.
    fn count(&self) -> usize {
        std::mem::take(&mut *self.asked.lock().expect("no thread panics")).len()
    }
}

fn refusal(status: u16, code: &str) -> Reply {
    Reply::new(
        status,
        format!(
            "<?xml version=\"1.0\"?>\n<Error><Code>{code}</Code><Message>It is so</Message></Error>"
        ),
    )
}

/// What S3 answers. The names of some buckets say what becomes of who asks.
fn s3(objects: &BTreeMap<String, Vec<u8>>, asked: &Request) -> Reply {
    let (bucket, key) = asked.path[1..].split_once('/').unwrap_or_default();
    let who = asked.header("authorization");
    match bucket {
        "modules" if who.contains("Credential=AKIAWRONG/") => {
            return refusal(403, "InvalidAccessKeyId");
        }
        "modules" if !who.starts_with("AWS4-HMAC-SHA256 Credential=AKIA") => {
            return refusal(403, "AccessDenied");
        }
        "modules" => {}
        "closed" => return refusal(403, "AccessDenied"),
        "expired" => return refusal(400, "ExpiredToken"),
        "elsewhere" => {
            let headers = vec![
                ("x-amz-bucket-region", "eu-west-1".to_owned()),
                ("Location", "http://other/".to_owned()),
            ];
            return Reply { headers, ..refusal(301, "PermanentRedirect") };
        }
        "round" => {
            return Reply {
                headers: vec![("Location", asked.path.clone())],
                ..Reply::new(302, "")
            };
        }
        "page" => {
            let headers = vec![("Content-Type", "text/html".to_owned())];
            return Reply { headers, ..Reply::new(200, "<!DOCTYPE html><html>Welcome</html>") };
        }
        _ => return refusal(404, "NoSuchBucket"),
    }
    if key.is_empty() {
        let prefix = asked.asked("prefix").unwrap_or_default();
        let keys = objects.keys().filter(|it| it.starts_with(prefix) && !it.contains('@'));
        let keys: String = keys.map(|it| format!("<Contents><Key>{it}</Key></Contents>")).collect();
        return Reply::new(200, format!("<ListBucketResult>{keys}</ListBucketResult>"));
    }
    let name = match asked.asked("versionId") {
        Some(version) => format!("{key}@{version}"),
        None => key.to_owned(),
    };
    match objects.get(&name) {
        Some(content) => Reply {
            headers: vec![("ETag", "\"t\"".to_owned())],
            ..Reply::new(200, content.clone())
        },
        None => refusal(404, "NoSuchKey"),
    }
}

/// What Google Cloud Storage answers.
fn gcs(objects: &BTreeMap<String, Vec<u8>>, asked: &Request) -> Reply {
    let error =
        |status: u16, said: &str| Reply::json(status, &json!({ "error": { "message": said } }));
    if asked.header("authorization") != "Bearer very-secret-token" {
        return error(401, "Invalid Credentials");
    }
    let path = asked.path.strip_prefix("/storage/v1/b/").unwrap_or_default();
    let (bucket, rest) = path.split_once('/').unwrap_or_default();
    match bucket {
        "modules" => {}
        "closed" => return error(403, "no access"),
        _ => return error(404, "The specified bucket does not exist."),
    }
    let Some(name) = rest.strip_prefix("o/") else {
        let prefix = asked.asked("prefix").unwrap_or_default();
        let names = objects.keys().filter(|it| it.starts_with(prefix) && !it.contains('@'));
        let items: Vec<Value> = names.map(|it| json!({ "name": it })).collect();
        return Reply::json(200, &json!({ "items": items }));
    };
    let name = match asked.asked("generation") {
        Some(generation) => format!("{name}@{generation}"),
        None => name.to_owned(),
    };
    match objects.get(&name) {
        Some(content) => Reply::new(200, content.clone()),
        None => error(404, "No such object"),
    }
}

fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in files {
        archive.start_file(*name, zip::write::SimpleFileOptions::default()).expect("an entry");
        archive.write_all(text.as_bytes()).expect("it is written");
    }
    archive.finish().expect("an archive").into_inner()
}

/// A configuration that calls modules: name and source.
fn calls(all: &[(&str, &str)]) -> String {
    let call =
        |(name, source): &(&str, &str)| format!("module {name:?} {{\n  source = {source:?}\n}}\n");
    all.iter().map(call).collect()
}

/// Runs a command with the credentials of both clouds.
#[track_caller]
fn run(place: &Place, cloud: &Cloud, arguments: &[&str]) -> (String, Option<i32>) {
    let home = place.path().join("home");
    std::fs::create_dir_all(home.join("temporary")).expect("a folder");
    let mut command = place.command(arguments);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy().into_owned();
        if ["AWS_", "GOOGLE_", "STORAGE_"].iter().any(|it| text.starts_with(it)) {
            command.env_remove(name);
        }
    }
    let at = format!("http://127.0.0.1:{}/storage/v1/", cloud.port);
    let output = command
        .env("HOME", &home)
        .env("AWS_ACCESS_KEY_ID", "AKIAOPEN")
        .env("AWS_SECRET_ACCESS_KEY", "very-secret-key")
        .env("AWS_EC2_METADATA_DISABLED", "true")
        .env("GOOGLE_STORAGE_CUSTOM_ENDPOINT", at)
        .env("GOOGLE_OAUTH_ACCESS_TOKEN", "very-secret-token")
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(!text.contains("panicked at"), "{text}");
    let listed = place.text(".terraform/modules/modules.json");
    for secret in SECRETS {
        assert!(!text.contains(secret) && !listed.contains(secret), "{secret}: {text}{listed}");
    }
    (text, output.status.code())
}

#[track_caller]
fn succeed(place: &Place, cloud: &Cloud, arguments: &[&str]) -> String {
    let (text, code) = run(place, cloud, arguments);
    assert_eq!(code, Some(0), "{text}");
    text
}

/// Fails, and says each of the parts.
#[track_caller]
fn fail(place: &Place, cloud: &Cloud, parts: &[&str]) {
    let (text, code) = run(place, cloud, &["get"]);
    assert_eq!(code, Some(1), "{text}");
    let flat = text.replace(['│', '╷', '╵'], " ");
    let flat = flat.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in parts {
        assert!(flat.contains(part), "{part:?} is missing in: {text}");
    }
}

/// Returns folder and source of an installed module.
fn installed(place: &Place, key: &str) -> (String, String) {
    let list: Value =
        serde_json::from_str(&place.text(".terraform/modules/modules.json")).expect("JSON");
    let all = list["Modules"].as_array().expect("a list");
    let found = all.iter().find(|it| it["Key"] == key).expect("the module is listed");
    let text = |name: &str| found[name].as_str().expect("text").to_owned();
    (text("Dir"), text("Source"))
}

const OUTPUT: &str = "output \"v\" { value = 1 }\n";

#[test]
fn archives_and_folders_come_from_s3() {
    let cloud = Cloud::start(s3);
    let at = format!("s3::http://127.0.0.1:{}/modules", cloud.port);
    cloud.put("net.zip", zip(&[("sub/main.tf", "# newest"), ("main.tf", OUTPUT)]));
    cloud.put("net.zip@v1", zip(&[("main.tf", "# older\n")]));
    cloud.put("plain", zip(&[("main.tf", "# named\n")]));
    cloud.put("tree/main.tf", "module \"in\" { source = \"./deep\" }");
    cloud.put("tree/deep/main.tf", OUTPUT);
    cloud.put("tree/deep/", "");
    cloud.put("treehouse/main.tf", "this is another one");
    let place = Place::new(&calls(&[
        ("older", &format!("{at}/net.zip?version=v1")),
        ("named", &format!("{at}/plain?archive=zip&region=eu-west-1")),
        ("sub", &format!("{at}/net.zip//sub")),
        ("tree", &format!("{at}/tree")),
        (
            "own",
            &format!("{at}/net.zip?aws_access_key_id=AKIAOWN&aws_access_key_secret=of-the-address"),
        ),
    ]));
    let text = succeed(&place, &cloud, &["init"]);
    assert!(text.contains(&format!("Downloading {at}/tree for tree")), "{text}");
    assert!(text.contains("- tree.in in .terraform/modules/tree/deep"), "{text}");
    assert_eq!(
        installed(&place, "sub"),
        (".terraform/modules/sub/sub".into(), format!("{at}/net.zip//sub"))
    );
    assert_eq!(installed(&place, "older").1, format!("{at}/net.zip?version=v1"));
    let read = |name: &str| place.text(&format!(".terraform/modules/{name}"));
    assert_eq!(read("older/main.tf"), "# older\n");
    assert_eq!(read("named/main.tf"), "# named\n");
    assert_eq!(read("sub/sub/main.tf"), "# newest");
    assert_eq!(read("tree/deep/main.tf"), OUTPUT);
    let files = std::fs::read_dir(place.path().join(".terraform/modules/tree")).expect("a folder");
    assert_eq!(files.count(), 2, "what only begins with the name is another folder");

    let asked = cloud.asked.lock().expect("no thread panics").clone();
    assert!(asked.iter().any(|it| it.1.contains("Credential=AKIAOWN/")), "{asked:?}");
    assert!(asked.iter().any(|it| it.1.contains("/eu-west-1/s3/aws4_request")), "{asked:?}");
    cloud.count();
    succeed(&place, &cloud, &["init"]);
    succeed(&place, &cloud, &["get"]);
    assert_eq!(cloud.count(), 0, "what is there is not asked for again");
    cloud.put("tree/deep/main.tf", "# changed\n");
    succeed(&place, &cloud, &["init", "-upgrade"]);
    assert_eq!(read("tree/deep/main.tf"), "# changed\n");
    cloud.put("tree/deep/main.tf", "# again\n");
    succeed(&place, &cloud, &["get", "-update"]);
    assert_eq!(read("tree/deep/main.tf"), "# again\n");
}

#[test]
fn what_s3_refuses_is_told_with_a_way_out() {
    let cloud = Cloud::start(s3);
    let at = format!("s3::http://127.0.0.1:{}", cloud.port);
    cloud.put("one", "no archive");
    cloud.put("broken.zip", "no archive");
    cloud.put("net.zip", zip(&[("main.tf", OUTPUT)]));
    cloud.put("evil/../../../outside.tf", "# outside");
    let place = Place::new("");
    for (source, parts) in [
        ("modules/gone.zip", ["there is no object \"gone.zip\" in s3://modules", "still there"]),
        ("modules/net.zip?version=v9", ["there is no object \"net.zip\"", "in the version \"v9\""]),
        ("modules/gone", ["there are no objects below \"gone\" in s3://modules", "main.tf"]),
        ("modules/one", ["\"one\" in s3://modules is one object", "archive=zip"]),
        ("modules/broken.zip", ["the archive is damaged", "main.tf"]),
        ("modules/net.zip?checksum=md5:00", ["the checksum is md5:", "and md5:00 is wanted"]),
        ("modules/net?checksum=md5:00", ["\"checksum\" is for archives", "main.tf"]),
        ("modules/evil", ["would lie outside of its folder", "main.tf"]),
        ("modules", ["the address names no object", "main.tf"]),
        ("wrong/net.zip", ["NoSuchBucket", "The bucket \"wrong\" does not exist"]),
        ("closed/net.zip", ["AccessDenied", "Packages need s3:GetObject"]),
        ("expired/net.zip", ["ExpiredToken", "log in again"]),
        (
            "elsewhere/net.zip",
            ["The bucket is in the region \"eu-west-1\"", "s3.eu-west-1.amazonaws.com"],
        ),
        ("round/net.zip", ["sends requests on to /round/net.zip", "status 302"]),
        ("page/net.zip", ["answers with a page for people (HTML", "check the endpoint"]),
        (
            "modules/net.zip?aws_access_key_id=AKIAWRONG&aws_access_key_secret=of-the-address",
            ["InvalidAccessKeyId", "The access key is not known there"],
        ),
        ("modules/net.zip?aws_access_key_id=AKIA", ["one is given without the other", "main.tf"]),
        ("modules/net.zip?aws_profile=nobody", ["\"nobody\"", "there is no such profile"]),
        ("modules/net.zip//sub", ["Module subdirectory not found", "no directory \"sub\""]),
    ] {
        place.write("main.tf", &calls(&[("m", &format!("{at}/{source}"))]));
        fail(&place, &cloud, &parts);
        assert!(!place.path().join("outside.tf").exists());
        let is_there = place.path().join(".terraform/modules/m").exists();
        assert_eq!(is_there, source.ends_with("//sub"), "{source}");
    }
    // What was there stays where the new one cannot be had.
    let good = calls(&[("m", &format!("{at}/modules/net.zip"))]);
    place.write("main.tf", &good);
    succeed(&place, &cloud, &["get"]);
    cloud.put("net.zip", "no archive");
    assert_eq!(run(&place, &cloud, &["get", "-update"]).1, Some(1));
    assert_eq!(place.text(".terraform/modules/m/main.tf"), OUTPUT);
}

#[test]
fn a_profile_opens_a_bucket() {
    let cloud = Cloud::start(s3);
    cloud.put("net.zip", zip(&[("main.tf", OUTPUT)]));
    let source = format!("s3::http://127.0.0.1:{}/modules/net.zip?aws_profile=team", cloud.port);
    let place = Place::new(&calls(&[("m", &source)]));
    place.write(
        "home/.aws/credentials",
        "[team]\naws_access_key_id = AKIATEAM\naws_secret_access_key = very-secret-key\n",
    );
    succeed(&place, &cloud, &["get"]);
    assert_eq!(installed(&place, "m").1, source);
    let asked = cloud.asked.lock().expect("no thread panics");
    assert!(asked.iter().all(|it| it.1.contains("Credential=AKIATEAM/")), "{asked:?}");
}

#[test]
fn archives_and_folders_come_from_google() {
    let cloud = Cloud::start(gcs);
    let at = "www.googleapis.com/storage/v1/modules";
    cloud.put("net.zip", zip(&[("main.tf", OUTPUT)]));
    cloud.put("net.zip@42", zip(&[("main.tf", "# older\n")]));
    cloud.put("tree/main.tf", "# tree\n");
    cloud.put("tree/deep/main.tf", OUTPUT);
    let place = Place::new(&calls(&[
        ("newest", &format!("{at}/net.zip")),
        ("older", &format!("gcs::https://{at}/net.zip#42")),
        ("tree", &format!("gcs::https://{at}/tree//deep")),
    ]));
    succeed(&place, &cloud, &["init"]);
    assert_eq!(installed(&place, "newest").1, format!("gcs::https://{at}/net.zip"));
    assert_eq!(installed(&place, "older").1, format!("gcs::https://{at}/net.zip#42"));
    assert_eq!(installed(&place, "tree").0, ".terraform/modules/tree/deep");
    assert_eq!(place.text(".terraform/modules/older/main.tf"), "# older\n");
    for (source, parts) in [
        (format!("{at}/gone.zip"), ["there is no object \"gone.zip\" in gs://modules", "main.tf"]),
        (format!("{at}/net.zip#7"), ["in the version \"7\"", "main.tf"]),
        (format!("{at}/net.zip#x"), ["\"x\" behind \"#\" is no generation", "main.tf"]),
        (format!("{at}/gone"), ["no objects below \"gone\" in gs://modules", "main.tf"]),
        (
            "www.googleapis.com/storage/v1/wrong/a.zip".into(),
            ["The bucket \"wrong\" does not exist", "in the address"],
        ),
        (
            "www.googleapis.com/storage/v1/closed/a.zip".into(),
            ["no access", "Packages need storage.objects.get"],
        ),
        (
            "gcs::https://example.com/a/b/c/d".into(),
            ["the address names no object", "www.googleapis.com"],
        ),
    ] {
        place.write("main.tf", &calls(&[("m", &source)]));
        fail(&place, &cloud, &parts);
    }
}

#[test]
fn policies_come_from_buckets() {
    let cloud = Cloud::start(s3);
    let rules = "deny(a, \"It is not allowed\") <-- resource(a, \"terraform_data\");\n";
    cloud.put("rules.zip", zip(&[("own.rules", rules)]));
    let place = Place::new("resource \"terraform_data\" \"a\" {}\n");
    let source = format!("s3::http://127.0.0.1:{}/modules/rules.zip", cloud.port);
    let text = succeed(&place, &cloud, &["get", &format!("-policy={source}")]);
    assert!(text.contains("rules.zip"), "{text}");
    assert!(cloud.count() > 0);
}

/// Runs Mercurial in a folder; nothing where it is not installed.
fn hg(folder: &Path, arguments: &[&str]) -> Option<()> {
    let output = Command::new("hg")
        .args(["--config", "ui.username=t <t@example.com>"])
        .args(arguments)
        .env("HGPLAIN", "1")
        .current_dir(folder)
        .output();
    let Ok(output) = output else {
        eprintln!("left out: hg (Mercurial) is not installed");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(())
}

#[test]
fn a_module_comes_from_a_mercurial_repository() {
    let cloud = Cloud::start(s3);
    let repository = tempfile::tempdir().expect("a folder");
    let at = repository.path();
    let made = || {
        hg(at, &["init"])?;
        std::fs::create_dir(at.join("net")).expect("a folder");
        std::fs::write(at.join("net/main.tf"), "# first\n").expect("it is written");
        hg(at, &["commit", "--addremove", "--message", "first"])?;
        hg(at, &["tag", "v1"])?;
        std::fs::write(at.join("net/main.tf"), "# second\n").expect("it is written");
        hg(at, &["commit", "--message", "second"])
    };
    if made().is_none() {
        return;
    }
    let shown = at.display();
    let place = Place::new(&calls(&[
        ("first", &format!("hg::file://{shown}//net?rev=v1")),
        ("second", &format!("hg::{shown}//net")),
    ]));
    succeed(&place, &cloud, &["init"]);
    assert_eq!(place.text(".terraform/modules/first/net/main.tf"), "# first\n");
    assert_eq!(place.text(".terraform/modules/second/net/main.tf"), "# second\n");
    assert_eq!(installed(&place, "second").1, format!("hg::file://{shown}//net"));
    for (source, parts) in [
        (format!("hg::file://{shown}?rev=v9"), ["hg update failed", "v9"]),
        (
            format!("hg::file://{shown}?rev=--config"),
            ["the revision begins with a dash", "main.tf"],
        ),
        (format!("hg::file://{shown}/gone"), ["hg clone failed", "not found"]),
        ("hg::ext::sh -c x".into(), ["it is not clear how", "main.tf"]),
    ] {
        place.write("main.tf", &calls(&[("m", &source)]));
        fail(&place, &cloud, &parts);
    }
}

#[test]
fn mercurial_that_is_missing_is_named() {
    let place = Place::new(&calls(&[("m", "hg::https://example.com/a")]));
    let output = place.command(&["get"]).env("PATH", place.path()).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("hg must be installed and on the search path"), "{text}");
    assert_eq!(output.status.code(), Some(1));
}
