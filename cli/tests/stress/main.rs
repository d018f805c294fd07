//! Many processes on one state, some of them killed, over connections that break: no update is lost, none is applied twice, and no
//! lock is left without its holder being named.
//!
//! It takes some seconds for each service. In full, 20 processes begin 10,000 changes, 2,000 for each of five services, and an apply
//! is killed 200 times on each of two: `ENTAIL_STRESS=full`. `ENTAIL_STRESS_PROCESSES`, `ENTAIL_STRESS_OPERATIONS` (for each
//! service) and `ENTAIL_STRESS_KILLS` choose numbers. `ENTAIL_BINARY` names another program than the one built with the tests, and
//! `ENTAIL_S3` the address of a service to kill an apply on, in place of the double.

#![expect(clippy::print_stderr, reason = "what was tried with what is told")]

#[path = "../../../tests/support/services/mod.rs"]
#[expect(dead_code, reason = "each test looks at a part of what services keep")]
mod services;

mod kills;
mod worker;

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use services::postgres::{self, Postgres};
use services::proxy::Proxy;
use services::{consul, kubernetes, s3, states};
use worker::{Count, Dice, Worker, run};

/// Returns how much is to be done: what a variable says, or what is usual, in short or in full.
fn number(variable: &str, (short, full): (u64, u64)) -> u64 {
    let usual = match std::env::var("ENTAIL_STRESS").as_deref() {
        Ok("full") => full,
        _ => short,
    };
    std::env::var(variable).ok().and_then(|it| it.parse().ok()).unwrap_or(usual)
}

/// What happens to runs and connections.
struct Trouble<'a> {
    /// The proxy on the way.
    proxy: Option<&'a Proxy>,
    /// One request in so many meets a fault; 0 for none.
    faults: u64,
    /// One run in so many is killed; 0 for none.
    kills: u64,
    /// How many changes are begun.
    operations: u64,
}

/// Returns how many changes are begun on each service.
fn operations() -> u64 {
    number("ENTAIL_STRESS_OPERATIONS", (60, 2000))
}

fn configuration(block: &str, workers: u64) -> String {
    let keys: Vec<String> = (0..workers).map(|it| format!("\"{it}\"")).collect();
    format!(
        "{block}\nvariable \"v\" {{ default = \"none\" }}\nresource \"terraform_data\" \"w\" {{\n  for_each = toset([{}])\n  input    = var.v\n}}\n",
        keys.join(", ")
    )
}

/// Lets workers change their objects in one state, then looks whether it has what it must have.
fn stress(kind: &str, block: &str, trouble: &Trouble<'_>) {
    let workers = number("ENTAIL_STRESS_PROCESSES", (4, 20));
    let (count, start) = (Count::default(), Instant::now());
    let configuration = configuration(block, workers);
    let folder = || {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("main.tf"), &configuration).expect("a file");
        let (is_done, text) = run(folder.path(), &["init", "-input=false"]);
        assert!(is_done, "{text}");
        folder
    };
    let looker = folder();
    let (is_done, text) = run(looker.path(), &["apply", "-auto-approve"]);
    assert!(is_done, "{text}");
    let state = || -> Json {
        let (is_done, text) = run(looker.path(), &["state", "pull"]);
        assert!(is_done, "{text}");
        serde_json::from_str(&text).expect("a state is JSON")
    };
    let before = state()["serial"].as_u64().expect("it has a serial");
    let folders: Vec<_> = (0..workers).map(|_| folder()).collect();
    let disturb = |one_in| trouble.proxy.into_iter().for_each(|it| it.disturb(one_in));
    disturb(trouble.faults);
    std::thread::scope(|scope| {
        for (index, folder) in (0..).zip(folders) {
            let mut worker = Worker { index, folder, count: &count, dice: Dice(0x9e37 + index) };
            scope.spawn(move || {
                let mut round = 0;
                while worker.count.begun.load(Ordering::Relaxed) < trouble.operations {
                    round += 1;
                    worker.change(&format!("{index}-{round}"), trouble.kills);
                }
                // All of them end at about the same time.
                disturb(0);
                let is_done = (0..40).any(|_| worker.change(&format!("last-{index}"), 0));
                assert!(is_done, "{index} comes to an end");
            });
        }
    });
    let after = state();
    let written = after["serial"].as_u64().expect("it has a serial") - before;
    tell(kind, &count, trouble, (workers, written, start.elapsed()));
    let acknowledged = count.acknowledged.load(Ordering::Relaxed);
    let unknown = count.unknown.load(Ordering::Relaxed);
    assert!(acknowledged >= workers, "nothing was done");
    // Each acknowledged change has a state of its own: fewer would be updates lost, more would be changes applied twice.
    assert!((acknowledged..=acknowledged + unknown).contains(&written), "{kind}");
    for index in 0..workers {
        let instances =
            after["resources"][0]["instances"].as_array().expect("there are some").iter();
        let key = index.to_string();
        let own = instances.clone().find(|it| it["index_key"] == key);
        let value = own.map(|it| it["attributes"]["input"]["value"].clone());
        assert_eq!(value, Some(format!("last-{index}").into()), "{kind}: {index}");
    }
}

fn tell(
    kind: &str,
    count: &Count,
    trouble: &Trouble<'_>,
    (workers, written, took): (u64, u64, Duration),
) {
    let Count { begun, acknowledged, unknown, killed, unlocked, waited } = count;
    let [begun, acknowledged, unknown, killed, unlocked, waited] =
        [begun, acknowledged, unknown, killed, unlocked, waited]
            .map(|it| it.load(Ordering::Relaxed));
    let broken = trouble.proxy.map_or(0, Proxy::broken);
    eprintln!(
        "{kind}: {begun} changes begun by {workers} processes at once in {} s: {acknowledged} acknowledged, {unknown} of unknown outcome \
         ({killed} killed, {waited} waited in vain for the lock), {broken} connections broken, {unlocked} locks freed by hand, \
         {written} states written",
        took.as_secs()
    );
}

fn pg(port: u16) -> String {
    format!(
        "terraform {{\n  backend \"pg\" {{\n    conn_str = \"{}\"\n  }}\n}}\n",
        postgres::address(port)
    )
}

/// Returns the block of a state in a bucket.
fn bucket(endpoint: &str, bucket: &str, key: &str) -> String {
    format!(
        "terraform {{\n  backend \"s3\" {{\n    bucket = \"{bucket}\"\n    key = \"{key}\"\n    region = \"us-east-1\"\n    access_key = \"a\"\n    secret_key = \"b\"\n    \
         use_lockfile = true\n    use_path_style = true\n    skip_credentials_validation = true\n    skip_requesting_account_id = true\n    \
         skip_region_validation = true\n    endpoints = {{ s3 = \"{endpoint}\" }}\n  }}\n}}\n"
    )
}

fn at(proxy: &Proxy) -> String {
    format!("http://127.0.0.1:{}", proxy.port)
}

#[test]
fn no_update_is_lost_in_postgres() {
    let Some(server) = Postgres::start() else {
        eprintln!("SKIPPED: the backend \"pg\" was not tried. {}", postgres::MISSING);
        return;
    };
    let half = operations() / 2;
    let trouble = Trouble { proxy: None, faults: 0, kills: 10, operations: half };
    stress("pg (a real PostgreSQL), with kills", &pg(server.port), &trouble);
    let proxy = Proxy::start(server.port);
    let trouble = Trouble { proxy: Some(&proxy), faults: 40, kills: 20, operations: half };
    stress(
        "pg (a real PostgreSQL), with kills and faults",
        &pg(proxy.port).replace("conn_str", "schema_name = \"two\"\nconn_str"),
        &trouble,
    );
}

#[test]
fn no_update_is_lost_over_http() {
    let (port, _) = states::start();
    let proxy = Proxy::start(port);
    let address = at(&proxy) + "/stress";
    let block = format!(
        "terraform {{\n  backend \"http\" {{\n    address = \"{address}\"\n    lock_address = \"{address}\"\n    unlock_address = \"{address}\"\n    retry_wait_min = 0\n    retry_wait_max = 1\n  }}\n}}\n"
    );
    let trouble = Trouble { proxy: Some(&proxy), faults: 50, kills: 40, operations: operations() };
    stress("http (a server of states), with kills and faults", &block, &trouble);
}

#[test]
fn no_update_is_lost_in_s3() {
    let (port, _) = s3::start();
    let proxy = Proxy::start(port);
    let block = bucket(&at(&proxy), s3::BUCKET, "stress");
    let trouble = Trouble { proxy: Some(&proxy), faults: 50, kills: 40, operations: operations() };
    stress("s3 (a double), with kills and faults", &block, &trouble);
}

#[test]
fn no_update_is_lost_in_consul() {
    let (port, _) = consul::start();
    let proxy = Proxy::start(port);
    let block = format!(
        "terraform {{\n  backend \"consul\" {{\n    address = \"127.0.0.1:{}\"\n    path = \"stress\"\n  }}\n}}\n",
        proxy.port
    );
    // Who dies keeps the lock for 20 seconds.
    let trouble = Trouble { proxy: Some(&proxy), faults: 50, kills: 80, operations: operations() };
    stress("consul (a double), with kills and faults", &block, &trouble);
}

#[test]
fn no_update_is_lost_in_kubernetes() {
    let (port, _) = kubernetes::start("token");
    let proxy = Proxy::start(port);
    let block = format!(
        "terraform {{\n  backend \"kubernetes\" {{\n    host = \"{}\"\n    token = \"token\"\n    secret_suffix = \"stress\"\n  }}\n}}\n",
        at(&proxy)
    );
    let trouble = Trouble { proxy: Some(&proxy), faults: 50, kills: 40, operations: operations() };
    stress("kubernetes (a double), with kills and faults", &block, &trouble);
}
