//! Tests of policies: any text of cases is run, or told.
#![no_main]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use entail::datalog::Limits;
use entail::diagnostic::Sources;
use entail::workflow::policy::testing::{TestOptions, test};
use entail::workflow::{Host, Nobody};
use entail::world::{Files, World};
use libfuzzer_sys::fuzz_target;

const RULES: &str = r#"
// @rule a.a: `n` is wrong
deny(n, "{n}: {n.a}") <-- resource(n, _), n.a == v, if v != "x", !known(n);
known(n) <-- resource(n, _), r in n.rule, r.p == "x";
// @rule a.gone: `n` goes
warn(n, "goes") <-- destroyed(n);
"#;

fuzz_target!(|text: &str| {
    let root = Path::new("/root-of-fuzzed-tests");
    let texts = [
        ("policies/p.rules", RULES),
        ("policies/p.policytest.hcl", text),
        ("policies/fixtures/main.tf", "resource \"terraform_data\" \"a\" {}\n"),
    ];
    let world = World {
        cwd: root.into(),
        root: root.into(),
        environment: Default::default(),
        files: Files::of_texts(root, texts),
        ..World::of_this_process()
    };
    let (world, stop, sources) = (Arc::new(world), Default::default(), Sources::default());
    let host = Host { world: &world, sources: &sources, tell: &Nobody, ask: &Nobody, stop: &stop };
    let limits = Limits { rows: 10_000, steps: 100_000, time: Duration::from_secs(2) };
    let options = TestOptions { limits, coverage: true, mutate: true, ..TestOptions::default() };
    let _ = test(&host, &options);
});
