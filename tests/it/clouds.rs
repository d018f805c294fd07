//! States in S3 and in Google Cloud Storage, with servers that speak as these do: `moto_server` (PyPI, `moto[server]`) and
//! `fake-gcs-server` (Go), where they are on the path. Without them the doubles in `src/backend` are all that is tried.
//!
//! An ordinary run kills a few applies; `ENTAIL_KILLS=220` kills two hundred.

#![expect(clippy::print_stderr, reason = "a test that is left out says so")]

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::aws::Cloud;
use crate::support::place::Place;

/// Sends a request and returns the status and the body of the answer.
fn ask(address: &str, method: &str, path: &str, headers: &str, body: &str) -> (u16, String) {
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).expect("the server answers");
    stream.write_all(request.as_bytes()).expect("it is sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let status = answer.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or_default();
    (status, answer.split_once("\r\n\r\n").map(|it| it.1.to_owned()).unwrap_or_default())
}

/// What a request to S3 begins with; nobody checks the signature.
const S3: &str = "Authorization: AWS4-HMAC-SHA256 Credential=test/20250101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0\r\n";

/// A bucket and a table at a server for S3.
fn s3() -> Option<Cloud> {
    let Some(cloud) = Cloud::start() else {
        eprintln!(
            "LEFT OUT: no state is kept in S3; moto_server is not on PATH (PyPI: moto[server])"
        );
        return None;
    };
    ask(&cloud.address, "PUT", "/states", S3, "");
    let table = r#"{"TableName":"locks","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"LockID","KeyType":"HASH"}],
        "AttributeDefinitions":[{"AttributeName":"LockID","AttributeType":"S"}]}"#;
    let scope = "Credential=test/20250101/us-east-1/dynamodb/aws4_request";
    let headers = format!(
        "X-Amz-Target: DynamoDB_20120810.CreateTable\r\nContent-Type: application/x-amz-json-1.0\r\n\
         Authorization: AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=0\r\n"
    );
    let (status, body) = ask(&cloud.address, "POST", "/", &headers, table);
    assert_eq!(status, 200, "{body}");
    Some(cloud)
}

/// A configuration with its state in S3.
fn in_s3(cloud: &Cloud, key: &str, locks: &str, rest: &str) -> String {
    let url = format!("http://{}", cloud.address);
    format!(
        "terraform {{\n  backend \"s3\" {{\n    bucket = \"states\"\n    key = \"{key}\"\n    region = \"us-east-1\"\n    {locks}\n    \
         access_key = \"test\"\n    secret_key = \"test\"\n    use_path_style = true\n    skip_credentials_validation = true\n    \
         endpoints = {{ s3 = \"{url}\", dynamodb = \"{url}\" }}\n  }}\n}}\n{rest}"
    )
}

const ONE: &str = "variable \"v\" {\n  default = \"one\"\n}\nresource \"terraform_data\" \"a\" {\n  input = var.v\n}\noutput \"v\" {\n  value = terraform_data.a.output\n}\n";

#[test]
fn states_in_s3_are_kept_under_each_kind_of_lock() {
    let Some(cloud) = s3() else { return };
    for (name, locks) in [
        ("object", "use_lockfile = true"),
        ("item", "dynamodb_table = \"locks\""),
        ("both", "use_lockfile = true\n    dynamodb_table = \"locks\""),
    ] {
        let place = Place::new(&in_s3(&cloud, &format!("{name}.tfstate"), locks, ONE));
        place.succeed(&["init"]);
        place.succeed(&["apply", "-auto-approve"]);
        let (status, state) =
            ask(&cloud.address, "GET", &format!("/states/{name}.tfstate"), S3, "");
        let state: Json = serde_json::from_str(&state).expect("a state");
        assert_eq!((status, &state["serial"], &state["version"]), (200, &1.into(), &4.into()));
        place.succeed(&["plan", "-detailed-exitcode"]);
        let other = place.copied();
        other.succeed(&["apply", "-auto-approve", "-var=v=two"]);
        assert!(place.succeed(&["output", "v"]).contains("two"));
        place.succeed(&["workspace", "new", "w"]);
        let (status, _) =
            ask(&cloud.address, "GET", &format!("/states/env%3A/w/{name}.tfstate"), S3, "");
        assert_eq!(status, 200);
        place.succeed(&["workspace", "select", "default"]);
        place.succeed(&["workspace", "delete", "w"]);
        let (_, listed) = ask(&cloud.address, "GET", "/states?list-type=2", S3, "");
        assert!(!listed.contains("tflock") && !listed.contains("env:"), "{listed}");
    }
}

#[test]
fn a_lock_in_s3_names_its_holder_and_goes_by_its_id() {
    let Some(cloud) = s3() else { return };
    let place = Place::new(&in_s3(&cloud, "held.tfstate", "use_lockfile = true", ONE));
    place.succeed(&["init"]);
    let record = r#"{"ID":"11111111-2222-3333-4444-555555555555","Operation":"OperationTypeApply","Info":"","Who":"ann@there","Version":"1.12.6","Created":"2026-01-01T00:00:00Z","Path":"states/held.tfstate"}"#;
    ask(&cloud.address, "PUT", "/states/held.tfstate.tflock", S3, record);
    let (text, code) = place.run(&["apply", "-auto-approve"]);
    assert!(
        code == Some(1) && text.contains("ann@there") && text.contains("11111111-2222"),
        "{text}"
    );
    let (text, code) = place.run(&["force-unlock", "-force", "other"]);
    assert!(code == Some(1) && text.contains("11111111-2222"), "{text}");
    place.succeed(&["force-unlock", "-force", "11111111-2222-3333-4444-555555555555"]);
    place.succeed(&["apply", "-auto-approve"]);
}

/// How many applies are run; all but every tenth are killed.
fn kills() -> u32 {
    std::env::var("ENTAIL_KILLS").ok().and_then(|it| it.parse().ok()).unwrap_or(10)
}

/// The IDs of objects that a run has reported as made.
fn reported(output: &str) -> impl Iterator<Item = String> + '_ {
    let lines = output.lines().filter(|it| it.contains("Creation complete"));
    lines.filter_map(|it| Some(it.split("[id=").nth(1)?.split(']').next()?.to_owned()))
}

/// Removes the lock that a killed run has left, as its user does.
fn unlock(cloud: &Cloud, place: &Place, key: &str) {
    let (status, record) = ask(&cloud.address, "GET", &format!("/states/{key}.tflock"), S3, "");
    if status == 200 {
        let record: Json = serde_json::from_str(&record).expect("the record of a lock");
        let id = record["ID"].as_str().expect("an ID");
        place.succeed(&["force-unlock", "-force", id]);
    }
}

#[test]
fn nothing_that_was_reported_is_lost_when_applies_on_s3_are_killed() {
    let Some(cloud) = s3() else { return };
    let config = |count: u32| {
        let rest = format!("resource \"terraform_data\" \"a\" {{\n  count = {count}\n}}\n");
        in_s3(&cloud, "killed.tfstate", "use_lockfile = true", &rest)
    };
    let place = Place::new(&config(0));
    place.succeed(&["init"]);
    let (mut made, mut killed) = (BTreeSet::new(), 0);
    let mut whole = Duration::ZERO;
    for round in 0..kills() {
        place.write("main.tf", &config((round + 1) * 8));
        if round % 10 == 0 {
            // A run that goes to its end shows how long one takes: the state grows.
            let since = Instant::now();
            made.extend(reported(&place.succeed(&["apply", "-auto-approve", "-parallelism=2"])));
            whole = since.elapsed();
            continue;
        }
        let mut run = place.start(&["apply", "-auto-approve", "-parallelism=2"]);
        // Spread over the whole run, in an order that is not that of time.
        let part = round.wrapping_mul(2_654_435_761) % 1000;
        std::thread::sleep(whole * part / 1000);
        let is_over = run.try_wait().expect("it is known").is_some();
        killed += u32::from(!is_over);
        run.kill().expect("it is ended");
        let output = run.wait_with_output().expect("its output");
        made.extend(reported(&String::from_utf8_lossy(&output.stdout)));
        unlock(&cloud, &place, "killed.tfstate");
    }
    let last = place.succeed(&["apply", "-auto-approve"]);
    made.extend(reported(&last));
    let state: Json = serde_json::from_str(&place.succeed(&["state", "pull"])).expect("a state");
    let instances = state["resources"].as_array().into_iter().flatten();
    let instances = instances.flat_map(|it| it["instances"].as_array().into_iter().flatten());
    let kept: BTreeSet<String> =
        instances.filter_map(|it| it["attributes"]["id"].as_str().map(str::to_owned)).collect();
    let lost: Vec<&String> = made.iter().filter(|it| !kept.contains(*it)).collect();
    assert!(
        lost.is_empty(),
        "{} of {} objects that were reported are not in the state",
        lost.len(),
        made.len()
    );
    assert_eq!(kept.len(), kills() as usize * 8);
    place.succeed(&["plan", "-detailed-exitcode"]);
    eprintln!(
        "{killed} of {} applies were killed in time, {} objects were reported",
        kills(),
        made.len()
    );
}

/// A program that ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn gcs() -> Option<(Server, String)> {
    let port =
        TcpListener::bind(("127.0.0.1", 0)).and_then(|it| it.local_addr()).expect("a port").port();
    let address = format!("127.0.0.1:{port}");
    let url = format!("http://{address}");
    let started = Command::new("fake-gcs-server")
        .args(["-scheme", "http", "-host", "127.0.0.1", "-port", &port.to_string()])
        .args(["-backend", "memory", "-public-host", &address, "-external-url", &url])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(server) = started else {
        eprintln!(
            "LEFT OUT: no state is kept in Google Cloud Storage; fake-gcs-server is not on PATH (go install \
             github.com/fsouza/fake-gcs-server@latest)"
        );
        return None;
    };
    let server = Server(server);
    let since = Instant::now();
    while TcpStream::connect(&address).is_err() {
        assert!(since.elapsed() < Duration::from_secs(30), "fake-gcs-server does not listen");
        std::thread::sleep(Duration::from_millis(20));
    }
    let headers = "Content-Type: application/json\r\n";
    let (status, body) =
        ask(&address, "POST", "/storage/v1/b?project=p", headers, r#"{"name":"states"}"#);
    assert_eq!(status, 200, "{body}");
    Some((server, address))
}

#[test]
fn states_in_google_cloud_storage_are_kept_under_locks() {
    let Some((_server, address)) = gcs() else { return };
    let backend = format!(
        "terraform {{\n  backend \"gcs\" {{\n    bucket = \"states\"\n    prefix = \"net\"\n    access_token = \"test\"\n    \
         storage_custom_endpoint = \"http://{address}/storage/v1/\"\n  }}\n}}\n"
    );
    let object = |name: &str| {
        ask(&address, "GET", &format!("/storage/v1/b/states/o/net%2F{name}?alt=media"), "", "")
    };
    let place = Place::new(&(backend + ONE));
    place.succeed(&["init"]);
    assert_eq!(object("default.tfstate").0, 200, "a state is there from the start");
    place.succeed(&["apply", "-auto-approve"]);
    assert!(object("default.tfstate").1.contains("terraform_data"));
    assert_eq!(object("default.tflock").0, 404);
    let other = place.copied();
    other.succeed(&["apply", "-auto-approve", "-var=v=two"]);
    assert!(place.succeed(&["output", "v"]).contains("two"));
    let upload = "/upload/storage/v1/b/states/o?uploadType=media&name=net%2Fdefault.tflock";
    let (_, made) = ask(&address, "POST", upload, "", r#"{"ID":"1","Who":"ann@there"}"#);
    let made: Json = serde_json::from_str(&made).expect("an object");
    let (text, code) = place.run(&["apply", "-auto-approve"]);
    let id = made["generation"].as_str().expect("a generation");
    assert!(code == Some(1) && text.contains("ann@there") && text.contains(id), "{text}");
    place.succeed(&["force-unlock", "-force", id]);
    place.succeed(&["workspace", "new", "w"]);
    assert_eq!(object("w.tfstate").0, 200);
}
