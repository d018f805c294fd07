//! Policies: any text is judged by, told, formatted and looked through, within bounds.
#![no_main]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use entail::datalog::Limits;
use entail::datalog::parse::layout;
use entail::diagnostic::{FileId, Sources};
use entail::workflow::policy::lints::{self, Named};
use entail::workflow::policy::{CheckOptions, check};
use entail::workflow::{Host, Nobody};
use entail::world::{Files, World};
use libfuzzer_sys::fuzz_target;

const CONFIG: &str = r#"
variable "v" {}
resource "t_a" "a" {
  a = var.v
  b = ["x", var.v]
  c = { p = "true", x = jsonencode({ p = var.v }) }
  rule {
    p = 22
    q = t_a.b[0].id
  }
}
resource "t_a" "b" {
  count = 2
  a     = "x"
}
resource "t_b" "c" {
  for_each = var.v
  a        = t_a.a.id
}
"#;

fuzz_target!(|text: &str| {
    if let Ok(formatted) = layout::format(FileId(1), text) {
        let again = layout::format(FileId(1), &formatted);
        let again = again.unwrap_or_else(|it| panic!("{text:?} becomes {formatted:?}: {it:?}"));
        assert_eq!(formatted, again, "{text:?} is formatted in two ways");
    }
    let root = Path::new("/root-of-fuzzed-rules");
    let world = World {
        cwd: root.into(),
        root: root.into(),
        environment: Default::default(),
        files: Files::of_texts(root, [("main.tf", CONFIG), ("policies/p.rules", text)]),
        ..World::of_this_process()
    };
    let (world, stop, sources) = (Arc::new(world), Default::default(), Sources::default());
    let host = Host { world: &world, sources: &sources, tell: &Nobody, ask: &Nobody, stop: &stop };
    let limits = Limits { rows: 10_000, steps: 100_000, time: Duration::from_secs(2) };
    let _ = check(&host, &CheckOptions { limits, ..CheckOptions::default() });
    let _ = lints::find(&host, &Named::default());
});
