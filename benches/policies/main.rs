//! How long policies take to judge a configuration, from the start of the program to its last word, and how much memory that needs.
//!
//! ```text
//! cargo bench --bench policies                    # every case
//! cargo bench --bench policies -- library         # the cases with this in their names
//! cargo bench --bench policies -- - PATH          # with another program
//! ```
//!
//! Nothing here is a test: a table is printed, and people judge it. What it is to be judged by stands behind each case.

#![expect(clippy::print_stdout, reason = "a bench prints its results")]

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// A case: its name, resources, arguments, and what is wanted of it.
type Case = (&'static str, usize, &'static [&'static str], &'static str);

/// A hundred rules and a few, over the types that are there.
const LIBRARY: &[&str] = &[
    "-policy=library:aws/s3",
    "-policy=library:aws/rds",
    "-policy=library:aws/ec2",
    "-policy=library:aws/network",
];

const CASES: &[Case] = &[
    ("none", 10_000, &["-no-policies"], "nothing is paid"),
    ("own", 10_000, &["-policy=own.rules"], "1 s"),
    ("library", 10_000, LIBRARY, "1 s, 150 MB"),
    ("all of aws", 10_000, &["-policy=library:aws"], "none"),
    ("own, half", 50_000, &["-policy=own.rules"], "half of the next"),
    ("own, many", 100_000, &["-policy=own.rules"], "12 s, 1 GB"),
];

/// Twenty rules: over arguments, elements, tags, relations between resources, joins, negations, aggregates.
const RULES: &str = r#"
// @rule s3.unencrypted: nothing says how bucket `b` is encrypted
deny(b, "{b} is not encrypted") <-- resource(b, "aws_s3_bucket"), !encrypted(b);
encrypted(b) <-- resource(e, "aws_s3_bucket_server_side_encryption_configuration"), depends_on(e, b);
// @rule s3.public: everybody may read bucket `b`
deny(b, "{b} is public") <-- resource(b, "aws_s3_bucket"), b.acl == "public-read";
// @rule s3.name: bucket `b` has a long name
warn(b, "{b.bucket} is long") <-- resource(b, "aws_s3_bucket"), b.bucket == v, if length(v) > 12;
// @rule s3.twice: `a` and `b` have one name
deny(a, "{a} is called as {b}") <-- resource(a, "aws_s3_bucket"), a.bucket == v, resource(b, "aws_s3_bucket"), b.bucket == v, if a != b;
// @rule s3.kms: `e` encrypts with no key of its own
note(e, "{e} has no key") <-- resource(e, "aws_s3_bucket_server_side_encryption_configuration"), !e.rule.apply_server_side_encryption_by_default.kms_master_key_id;
// @rule net.open: `s` lets everybody in
deny(s, "{s} opens {r.from_port}") <-- resource(s, "aws_security_group"), r in s.ingress, r.cidr_blocks[_] == "0.0.0.0/0", if r.from_port <= 22 && 22 <= r.to_port;
// @rule net.wide: `s` opens many ports
warn(s, "{s} opens many") <-- resource(s, "aws_security_group"), r in s.ingress, if r.to_port - r.from_port > 100;
// @rule net.unused: nobody uses `s`
note(s, "{s} is not used") <-- resource(s, "aws_security_group"), !used(s);
used(s) <-- reads(n, s), resource(n, _);
// @rule net.description: `s` says nothing of itself
note(s, "{s} has no description") <-- resource(s, "aws_security_group"), s.name == "s1", !s.description;
// @rule ec2.type: `i` is large
warn(i, "{i} is large") <-- resource(i, "aws_instance"), i.instance_type == t, if endswith(t, "xlarge");
// @rule ec2.open: `i` is behind the open group `s`
deny(i, "{i} is behind {s}") <-- resource(i, "aws_instance"), reads(i, s), open(s);
open(s) <-- resource(s, "aws_security_group"), s.ingress.from_port == 22, s.ingress.cidr_blocks[_] == "0.0.0.0/0";
// @rule ec2.ami: `i` has no image
deny(i, "{i} has no image") <-- resource(i, "aws_instance"), !i.ami;
// @rule db.plain: `d` is not encrypted
deny(d, "{d} is not encrypted") <-- resource(d, "aws_db_instance"), !d.storage_encrypted == true;
// @rule db.named: `d` is named as its block
note(d, "{d} is d1") <-- resource(d, "aws_db_instance"), d.identifier == "d1";
// @rule tag.team: `n` has no team
warn(n, "{n} has no team") <-- resource(n, "aws_s3_bucket"), !tag(n, "team", _);
// @rule tag.env: `n` stands in `v`
deny(n, "{n} is in {v}") <-- resource(n, _), tag(n, "env", v), if v != "prod";
// @rule all.many: there are many of `t`
note(p, "{c} buckets") <-- plan(p), agg c = count() in resource(_, "aws_s3_bucket"), if c > 1000000;
// @rule all.name: `n` is called like a test
warn(n, "{n} is a test") <-- resource(n, _), name(n, x), if startswith(x, "test");
// @rule all.chain: `n` rests on itself
deny(n, "{n} rests on itself") <-- resource(n, _), behind(n, n);
behind(n, m) <-- depends_on(n, m);
behind(n, k) <-- behind(n, m), depends_on(m, k);
// @rule all.data: `d` is read
note(d, "{d} is read") <-- data_source(d, _);
"#;

fn main() {
    let given: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let wanted = given.first().filter(|it| *it != "-");
    let program = given.get(1).cloned().unwrap_or_else(beside);
    for case in CASES.iter().filter(|it| wanted.is_none_or(|name| it.0.contains(name.as_str()))) {
        match run(&program, case) {
            Ok((seconds, megabytes, told)) => println!(
                "{:<11} {:>7} resources  {seconds:>7.3} s  {megabytes:>5} MB  {told} (wanted: {})",
                case.0, case.1, case.3
            ),
            Err(why) => println!("{}: {why}", case.0),
        }
    }
}

/// The program that lies beside the benches: `cargo build --release` makes it.
fn beside() -> String {
    let own = std::env::current_exe().unwrap_or_default();
    let folder = own.parent().and_then(Path::parent).unwrap_or(Path::new("."));
    folder.join("entail").display().to_string()
}

/// The least of three runs: seconds and megabytes, and the last line that the program says.
fn run(program: &str, case: &Case) -> Result<(f64, u64, String), String> {
    let folder = tempfile::tempdir().map_err(|it| it.to_string())?;
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
    write("main.tf", &configuration(case.1)).map_err(|it| it.to_string())?;
    write("own.rules", RULES).map_err(|it| it.to_string())?;
    let (mut least, mut peak, mut told) = (f64::MAX, 0, String::new());
    for _ in 0..3 {
        let start = Instant::now();
        let mut command = Command::new("/usr/bin/env");
        command.args(["time", "-f", "%M", program, "policy", "check"]).args(case.2);
        let output = command
            .current_dir(folder.path())
            .env("TF_CLI_CONFIG_FILE", "/dev/null")
            .stdin(Stdio::null())
            .output()
            .map_err(|it| it.to_string())?;
        least = least.min(start.elapsed().as_secs_f64());
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        told = said.lines().last().unwrap_or_default().to_owned();
        let memory = String::from_utf8_lossy(&output.stderr).into_owned();
        // 1 says that something is denied; anything else, that nothing was judged.
        if !matches!(output.status.code(), Some(0 | 1)) || told.is_empty() {
            return Err(format!("{program} did not judge: {memory}"));
        }
        peak = memory.lines().last().and_then(|it| it.trim().parse::<u64>().ok()).unwrap_or(0);
    }
    Ok((least, peak / 1024, told))
}

/// A configuration of about this many resources, of five types that refer to each other.
fn configuration(size: usize) -> String {
    let mut text = String::new();
    for i in 0..size / 5 {
        let (acl, bucket) = (["public-read", "private"][usize::from(i % 100 != 0)], i - i % 50);
        let cidr = ["0.0.0.0/0", "10.0.0.0/8"][usize::from(i % 3 != 0)];
        let bucket = if i % 50 == 0 { bucket } else { i };
        let _ = write!(
            text,
            r#"
resource "aws_s3_bucket" "b{i}" {{
  bucket = "b-{i}"
  acl    = "{acl}"
  tags   = {{ env = "prod", team = "t{team}" }}
}}
resource "aws_s3_bucket_server_side_encryption_configuration" "e{i}" {{
  bucket = aws_s3_bucket.b{bucket}.id
  rule {{
    apply_server_side_encryption_by_default {{
      sse_algorithm = "aws:kms"
    }}
  }}
}}
resource "aws_security_group" "s{i}" {{
  name = "s{i}"
  ingress {{
    from_port   = {from}
    to_port     = {to}
    cidr_blocks = ["{cidr}"]
  }}
}}
resource "aws_instance" "i{i}" {{
  ami                    = "ami-{i}"
  instance_type          = "t3.micro"
  vpc_security_group_ids = [aws_security_group.s{i}.id]
  tags                   = {{ env = "prod" }}
}}
resource "aws_db_instance" "d{i}" {{
  identifier        = "d{i}"
  storage_encrypted = {encrypted}
  tags              = {{ env = "prod" }}
}}
"#,
            team = i % 7,
            from = i % 1000,
            to = i % 1000 + 10,
            encrypted = i % 9 != 0,
        );
    }
    text
}
