//! How fast configuration is read, formatted and evaluated, and how much memory that takes.
//!
//! ```text
//! cargo bench --bench language             # every case, each in a process of its own
//! cargo bench --bench language -- parse    # one case
//! ```
//!
//! Nothing here is a test: a table is printed, and people judge it. What it is to be judged by stands behind each case.

#![expect(clippy::print_stdout, reason = "a bench prints its results")]

use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use entail::config;
use entail::diagnostic::{Diagnostics, FileId, Sources};
use entail::expression::{Ask, Declared, Scope, evaluate};
use entail::syntax;
use entail::value::Value;
use entail::world::World;

/// The program's own.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A case: its name, what is wanted of it, and its work. The work returns what is to be told besides the time.
type Case = (&'static str, &'static str, fn(&mut Clock) -> String);

const CASES: &[Case] = &[
    ("parse", "68 MB: 4 s, 600 MB", parse),
    ("load", "68 MB: 4 s, 600 MB", load),
    ("format", "68 MB: none", format),
    ("object", "50 000 keys: 1 s", object),
    ("hostile", "2 kB each: 1 s", hostile),
    ("evaluate", "1 000 000 a second", evaluations),
];

/// How many blocks the big file has.
const BLOCKS: usize = 100_000;

/// One block of it, 0.68 kB.
const BLOCK: &str = r#"resource "null_resource" "example_NUMBER" {
  count   = var.enabled ? 3 : 0
  subnets = toset(["a", "b", "c"])
  triggers = {
    name  = "example-${count.index}-${var.environment}"
    ports = join(",", [for p in var.ports : tostring(p.number) if p.open])
    size  = var.instance_size == "large" ? 64 : 8 * 2 + 1
    id    = aws_instance.other[count.index].id
  }
  # A comment that says something about the tags.
  tags = merge(var.tags, {
    Name        = "thing"
    Environment = "production"
    Owner       = "team@example.com"
  })
  lifecycle {
    create_before_destroy = true
    ignore_changes        = [tags["Name"], triggers]
  }
  depends_on = [module.network, aws_vpc.main]
}

"#;

/// Measures the part of a case that counts.
#[derive(Default)]
struct Clock {
    seconds: f64,
}

impl Clock {
    fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.seconds = self.seconds.max(start.elapsed().as_secs_f64());
        result
    }
}

fn main() {
    let wanted = std::env::args().skip(1).find(|it| it != "--bench");
    match wanted.and_then(|name| CASES.iter().find(|it| it.0 == name)) {
        Some((name, aim, work)) => {
            let mut clock = Clock::default();
            let told = work(&mut clock);
            println!(
                "{name:<10} {:>8.3} s  {:>5} MB  {told} (wanted: {aim})",
                clock.seconds,
                peak_megabytes()
            );
        }
        None => CASES.iter().for_each(|it| run_apart(it.0)),
    }
}

/// Runs a case in a process of its own, so that each has a peak of its own.
fn run_apart(name: &str) {
    let ran = std::env::current_exe().and_then(|it| Command::new(it).arg(name).status());
    if !ran.is_ok_and(|it| it.success()) {
        println!("{name}: failed");
    }
}

/// The most memory that this process has held so far; 0 where the system does not say.
fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|it| it.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or_default() / 1024
}

fn big_file() -> String {
    let mut text = String::with_capacity(BLOCKS * (BLOCK.len() + 6));
    (0..BLOCKS).for_each(|it| text += &BLOCK.replace("NUMBER", &it.to_string()));
    text
}

fn parse(clock: &mut Clock) -> String {
    let text = big_file();
    let (body, problems) = clock.time(|| syntax::parse(FileId::default(), &text));
    format!("{} MB, {} blocks, {} problems", text.len() >> 20, body.blocks.len(), problems.0.len())
}

/// Reads a module of one big file, down to decoded resources.
fn load(clock: &mut Clock) -> String {
    let folder = std::env::temp_dir().join(format!("entail-bench-language-{}", std::process::id()));
    let text = big_file();
    let length = text.len();
    let written = std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(folder.join("main.tf"), text));
    let sources = Sources::default();
    let (module, problems) = clock
        .time(|| config::load_module(&entail::world::Files::default(), &folder, ".", &sources));
    let _ = std::fs::remove_dir_all(&folder);
    let resources = module.map_or(0, |it| it.resources.len());
    let problems = problems.0.len() + usize::from(written.is_err());
    format!("{} MB, {resources} resources, {problems} problems", length >> 20)
}

fn format(clock: &mut Clock) -> String {
    let text = big_file();
    let formatted = clock.time(|| syntax::format(FileId::default(), &text));
    format!("{} MB, unchanged: {}", text.len() >> 20, formatted.is_ok_and(|it| it == text))
}

fn object(clock: &mut Clock) -> String {
    let items: String = (0..50_000).map(|it| format!("  key_{it} = \"value {it}\"\n")).collect();
    let text = format!("a = {{\n{items}}}\n");
    let (body, _) = clock.time(|| syntax::parse(FileId::default(), &text));
    let value = clock.time(|| evaluate(&body.attributes[0].value, &Nothing::new()).0);
    format!("{} keys", value.children().count())
}

/// Inputs that make careless readers slow: the slowest one counts.
fn hostile(clock: &mut Clock) -> String {
    let inputs = [
        "a = ".to_owned() + &"[".repeat(2000),
        "a = ".to_owned() + &"[".repeat(900) + &"]".repeat(900),
        "a = ".to_owned() + &"{(a)=".repeat(400),
        "a = ".to_owned() + &"\"${".repeat(600),
        "a = ".to_owned() + &"{ a ? b : c + d = ".repeat(100),
        "a = ".to_owned() + &"a ? ".repeat(500),
        "a = ".to_owned() + &"-".repeat(2000) + "1\n",
        "a = ".to_owned() + &"a[*].b".repeat(300),
        "a = ".to_owned() + &"[for a in ".repeat(200),
        "a = <<A\n".to_owned() + &"${<<A\n".repeat(300),
        "a = \"".to_owned() + &"%{ if a }".repeat(220) + "\"\n",
        "b {\n".repeat(500),
        "/*".repeat(1000),
        "a = 1e999999999\nb = 1e-999999999\nc = 9e99999 % 7\n".to_owned(),
        "a {\n\"".repeat(300),
    ];
    for text in &inputs {
        clock.time(|| black_box(syntax::parse(FileId::default(), text)));
        clock.time(|| black_box(syntax::format(FileId::default(), text).is_ok()));
    }
    format!("{} inputs", inputs.len())
}

fn evaluations(clock: &mut Clock) -> String {
    const COUNT: usize = 1_000_000;
    let (body, _) = syntax::parse(FileId::default(), "a = var.object.name\n");
    let scope = Nothing::new();
    let expression = &body.attributes[0].value;
    clock.time(|| (0..COUNT).for_each(|_| drop(black_box(evaluate(expression, &scope)))));
    format!("{:.0} a second", COUNT as f64 / clock.seconds)
}

/// A scope with one variable.
struct Nothing(World, Value);

impl Nothing {
    fn new() -> Nothing {
        let object = Value::object([("name".into(), Value::string("x"))]);
        Nothing(World::of_this_process(), object)
    }
}

impl Scope for Nothing {
    fn declared(&self, _: Declared<'_>, _: Ask<'_>) -> Result<Value, Diagnostics> {
        Ok(self.1.clone())
    }

    fn world(&self) -> &World {
        &self.0
    }

    fn is_planning(&self) -> bool {
        false
    }
}
