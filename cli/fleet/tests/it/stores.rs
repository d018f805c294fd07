//! A lake in an object store: a server of moto stands for S3, where Python has it.
#![cfg(feature = "stores")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{Fleet, resource};

/// A server that ends with its test.
struct Moto {
    child: Child,
    address: String,
}

impl Drop for Moto {
    fn drop(&mut self) {
        self.child.kill().unwrap_or_default();
        drop(self.child.wait());
    }
}

impl Moto {
    /// Starts one; nothing where there is none, which is said.
    fn start() -> Option<Moto> {
        let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let has = Command::new(&python).args(["-c", "import moto.server"]).output();
        if !has.is_ok_and(|it| it.status.success()) {
            writeln!(
                std::io::stderr(),
                "SKIPPED: {python} has no moto.server; pip install 'moto[server]', and set PYTHON"
            )
            .unwrap_or_default();
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
        let address = port.expect("a port").to_string();
        let port = address.rsplit_once(':').expect("a port").1;
        let child = Command::new(&python)
            .args(["-m", "moto.server", "-H", "127.0.0.1", "-p", port])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let moto = Moto { child, address };
        let since = Instant::now();
        while TcpStream::connect(&moto.address).is_err() {
            assert!(since.elapsed() < Duration::from_secs(120), "moto does not answer");
            std::thread::sleep(Duration::from_millis(100));
        }
        Some(moto)
    }

    /// Makes a bucket.
    fn bucket(&self, name: &str) {
        let mut stream = TcpStream::connect(&self.address).expect("it answers");
        let host = &self.address;
        let asked = format!(
            "PUT /{name} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(asked.as_bytes()).expect("it listens");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}

#[test]
fn a_lake_in_an_object_store_is_written_asked_and_written_again() {
    let Some(moto) = Moto::start() else { return };
    moto.bucket("lakes");
    let fleet = Fleet::new("states \"all\" {\n  paths = [\"s/*.tfstate\"]\n}\n");
    let bucket = |name: &str| {
        resource("aws_s3_bucket", name, json!({"id": format!("bucket-{name}-1"), "acl": "private"}))
    };
    for number in 0..20 {
        let objects = [bucket(&format!("b{number}"))];
        fleet.state(&format!("s/n{number:02}.tfstate"), &format!("l{number}"), &objects);
    }
    let endpoint = format!("http://{}", moto.address);
    let variables = [
        ("AWS_ENDPOINT", endpoint.as_str()),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
        ("AWS_REGION", "us-east-1"),
    ];
    let run = |words: &[&str]| fleet.run_with(words, &variables);
    let index = ["index", "-json", "-out=s3://lakes/team/one"];
    let ran = run(&["query", "-lake=s3://lakes/team/one", "existing(n, t)"]);
    assert!(ran.err.contains("No lake"), "{}", ran.err);
    assert_eq!(run(&index).json()["changed"], 20);
    let count = || {
        let body = "agg c = count() in existing(_, \"aws_s3_bucket\")";
        run(&["query", "-json", "-lake=s3://lakes/team/one", body]).json()["rows"].clone()
    };
    assert_eq!(count(), json!([[20]]));
    fleet.state("s/n03.tfstate", "l3", &[bucket("b3"), bucket("more")]);
    assert_eq!(run(&index).json()["changed"], 1);
    assert_eq!(count(), json!([[21]]));
    assert_eq!(run(&index).json()["changed"], 0);
    let ran = run(&["index", "-out=s3://nowhere/lake"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("Trouble with the lake"), "{}", ran.err);
    assert!(ran.err.contains("s3://nowhere/lake"), "{}", ran.err);
}
