//! Questions to a real cluster: a scheduler and three executors, each a process on loopback that the tests start and end.

#[path = "../it/support.rs"]
#[expect(dead_code, reason = "the other tests use the rest of it")]
mod support;

mod servers;

use std::time::Duration;

use serde_json::{Value as Json, json};

use servers::Servers;
use support::{Fleet, Ran, resource, with};

/// Reachability, which is concluded from itself, and what is said of it.
const RULES: &str = r#"
reach(n, m) <-- rests_on(n, m);
reach(n, m) <-- uses(n, m);
reach(n, k) <-- reach(n, m), rests_on(m, k);
reach(n, k) <-- reach(n, m), uses(m, k);
twice(n, k) <-- reach(n, m), reach(m, k);
alone(n) <-- existing(n, "aws_vpc"), !used(n);
used(m) <-- uses(_, m);
tagged(n) <-- reach(n, m), tag(m, "team", "net");
"#;

/// Stacks of which each uses the network of the one before.
fn fleet(stacks: usize) -> Fleet {
    let fleet = Fleet::new(
        "states \"all\" {\n  paths  = [\"s/*.tfstate\"]\n  labels = { env = \"prod\" }\n}\n",
    );
    fleet.write("rules/all.rules", RULES);
    for number in 0..stacks {
        let id = |what: &str, it: usize| format!("{what}-{it:08}");
        let tags = if number == 0 { json!({ "team": "net" }) } else { json!({}) };
        let vpc = resource("aws_vpc", "v", json!({ "id": id("vpc", number), "tags": tags }));
        let spare = resource("aws_vpc", "x", json!({ "id": id("spare", number) }));
        let before = id("vpc", number.saturating_sub(1));
        let subnet = with(
            "aws_subnet",
            "s",
            json!({ "id": id("subnet", number), "vpc_id": before, "of": id("vpc", number) }),
            &["aws_vpc.v"],
            &[],
        );
        let gate = resource(
            "aws_nat_gateway",
            "g",
            json!({ "id": id("nat", number), "subnet_id": id("subnet", number) }),
        );
        let peer = with(
            "aws_vpc_peer",
            "p",
            json!({ "id": id("peer", number), "peer": before }),
            &["aws_vpc.v"],
            &[],
        );
        fleet.state(
            &format!("s/{number:04}.tfstate"),
            &format!("l-{number}"),
            &[vpc, subnet, gate, peer, spare],
        );
    }
    fleet.run(&["index"]).ok();
    fleet
}

/// What is asked: joins, negation, recursion that is linear and that is not, and a rule that looks into values beside them.
const ASKED: &[&str] = &[
    "existing(n, \"aws_subnet\"), stack(n, s), label(s, \"env\", e)",
    "uses(n, m), existing(m, \"aws_vpc\"), stack(m, s), stack(n, t)",
    "reach(n, m), existing(m, \"aws_vpc\")",
    "twice(n, m)",
    "alone(n)",
    "existing(n, t), !used(n), stack(n, s)",
    "tagged(n)",
    "reach(n, m), n.subnet_id == i",
];

fn asked(fleet: &Fleet, engine: &str, body: &str) -> Ran {
    let engine = format!("-engine={engine}");
    fleet.run(&["query", "-json", "-policy=rules", &engine, body])
}

fn rows(ran: Ran) -> Json {
    ran.json()["rows"].clone()
}

#[test]
fn a_cluster_and_this_machine_answer_alike() {
    let servers = Servers::start(3);
    let fleet = fleet(24);
    let cluster = servers.engine();
    for body in ASKED {
        let here = rows(asked(&fleet, "interpreted", body));
        assert!(here.as_array().is_some_and(|it| !it.is_empty()), "{body}");
        assert_eq!(rows(asked(&fleet, &cluster, body)), here, "{body}");
        assert_eq!(rows(asked(&fleet, "columnar:0", body)), here, "{body}");
    }
    let left = support::files(&fleet.path("lake/exchange"));
    assert!(left.is_empty(), "rounds leave nothing behind: {left:?}");

    let deny = "// @rule net.used: `n` uses what is tagged\ndeny(n, \"{n} rests on {m}\") <-- uses(n, m), reach(m, k), tag(k, \"team\", \"net\");\n";
    fleet.write("rules/deny.rules", deny);
    let judged = |engine: &str| {
        let engine = format!("-engine={engine}");
        let ran = fleet.run(&["policy", "check", "-json", "-policy=rules", &engine]);
        assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
        let mut report: Json = serde_json::from_str(&ran.out).expect("a document");
        for verdict in report["verdicts"].as_array_mut().expect("verdicts") {
            verdict["why"].take();
        }
        report
    };
    assert_eq!(judged(&cluster), judged("interpreted"));
}

#[test]
fn an_executor_that_dies_makes_no_answer_wrong() {
    let mut servers = Servers::start(3);
    let fleet = fleet(24);
    let here = rows(asked(&fleet, "interpreted", "twice(n, m)"));
    let engine = format!("-engine={}", servers.engine());
    for wait in [50, 150, 250] {
        let words =
            ["query", "-json", "-policy=rules", "-policy-limit=time=60", &engine, "twice(n, m)"];
        let mut command = fleet.command(&words, &[]);
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let asking = command.spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(wait));
        servers.kill_one();
        let ran = Ran::of(&asking.wait_with_output().expect("it ends"));
        match ran.code {
            Some(0) => assert_eq!(rows(ran), here),
            _ => assert!(
                ran.err.contains("The cluster failed")
                    || ran.err.contains("The cluster takes too long"),
                "{}",
                ran.err
            ),
        }
        servers.add_one();
    }
    assert_eq!(rows(asked(&fleet, &servers.engine(), "twice(n, m)")), here);
}

#[test]
fn a_cluster_that_is_not_there_is_named() {
    let fleet = fleet(2);
    let ran = asked(&fleet, "df://127.0.0.1:9?rows=0", "alone(n)");
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.err.contains("The cluster failed") && ran.err.contains("df://127.0.0.1:9"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("-engine=columnar"), "{}", ran.err);
    for (address, why) in [("df://", "names no host"), ("df://h?x=1", "`rows=NUMBER`")] {
        let ran = asked(&fleet, address, "alone(n)");
        assert!(ran.code == Some(1) && ran.err.contains(why), "{}", ran.err);
    }
    let words =
        ["why", "-policy=net.used", "-policies=rules", "-engine=df://h:1", "aws_vpc.v@s/0000"];
    fleet.write(
        "rules/deny.rules",
        "// @rule net.used: `n` is used\ndeny(n, \"{n} is used\") <-- used(n);\n",
    );
    let ran = fleet.run(&words);
    assert!(ran.err.contains("No proofs from a cluster"), "{}", ran.err);
}
