//! How fast expressions of attributes are evaluated, on one core, and how large an object is in memory.

use std::hint::black_box;
use std::sync::LazyLock;
use std::time::Instant;

use entail::diagnostic::{Diagnostic, Diagnostics, FileId};
use entail::expression::{self, Ask, Declared, Scope};
use entail::syntax::{self, Expression};
use entail::value::{Str, Type, Value};
use entail::world::World;

/// What the expressions of one block usually look like.
const EXPRESSIONS: &[&str] = &[
    "var.name",
    "\"${var.name}-web\"",
    "var.tags[\"team\"]",
    "aws_instance.web.id",
    "[var.name, aws_instance.web.id]",
    "{ Name = var.name, Team = var.tags[\"team\"] }",
    "var.count > 2 ? \"many\" : \"few\"",
    "var.count + 1",
    "lower(var.name)",
    "10",
];
const ROUNDS: usize = 200_000;
const OBJECTS: usize = 100_000;

struct Known {
    name: Value,
    tags: Value,
    count: Value,
    instance: Value,
    world: World,
}

impl Scope for Known {
    fn declared(&self, what: Declared<'_>, ask: Ask<'_>) -> Result<Value, Diagnostics> {
        match what {
            Declared::Variable(name) if &**name == "name" => Ok(self.name.clone()),
            Declared::Variable(name) if &**name == "tags" => Ok(self.tags.clone()),
            Declared::Variable(_) => Ok(self.count.clone()),
            Declared::Resource(_) => Ok(self.instance.clone()),
            _ => Err(Diagnostic::error("Unknown").at(ask.span).into()),
        }
    }

    fn world(&self) -> &World {
        &self.world
    }
}

#[expect(clippy::print_stdout, reason = "a benchmark prints its numbers")]
fn main() {
    let scope = Known {
        name: Value::string("frontend"),
        tags: Value::map(Type::STRING, [("team".into(), Value::string("blue"))]),
        count: Value::int(3),
        instance: object(0),
        world: World {
            given: Default::default(),
            files: Default::default(),
            kept: Default::default(),
            stop: Default::default(),
            is_trusted: true,
            cwd: ".".into(),
            root: ".".into(),
            environment: Default::default(),
            fixed_time: None,
        },
    };
    let expressions: Vec<Expression> = EXPRESSIONS
        .iter()
        .map(|it| syntax::parse_expression(FileId::default(), it, 0).expect("it parses"))
        .collect();
    let mut all = 0.0;
    for (text, expression) in EXPRESSIONS.iter().zip(&expressions) {
        let since = busy();
        for _ in 0..ROUNDS {
            let (value, problems) = expression::evaluate(black_box(expression), &scope);
            assert!(!problems.has_errors(), "{text}");
            black_box(value);
        }
        let seconds = busy() - since;
        all += seconds;
        println!("{:>8.2} million a second  {text}", ROUNDS as f64 / seconds / 1e6);
    }
    let count = (ROUNDS * EXPRESSIONS.len()) as f64;
    println!("{:>8.2} million a second  all of them", count / all / 1e6);

    let before = resident();
    let objects: Vec<Value> = (0..OBJECTS).map(object).collect();
    let bytes = resident().saturating_sub(before) / OBJECTS;
    println!("{bytes:>8} bytes             an object of {} attributes", objects[0].entries().len());
}

/// An object as providers return them: 30 attributes, most of them short texts, every one of its own.
fn object(number: usize) -> Value {
    let attribute = |at: usize| {
        let value = match at % 6 {
            0 => Value::string(format!("value-{number}-{at}")),
            1 => Value::Null(Type::STRING),
            2 => Value::Bool(at.is_multiple_of(4)),
            3 => Value::int(number as i64),
            4 => Value::string(""),
            _ => Value::string(format!("{number:08x}")),
        };
        let name = if at == 0 { "id".to_owned() } else { format!("attribute_{at}") };
        (Str::from(name), value)
    };
    Value::object((0..30).map(attribute))
}

/// Returns how many seconds this program has computed, or, where the system does not say, how late it is.
fn busy() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanos = text.split(' ').next().and_then(|it| it.parse::<u64>().ok());
    nanos.map_or_else(|| START.elapsed().as_secs_f64(), |it| it as f64 / 1e9)
}

/// Returns how many bytes of memory the process has; 0 where the system does not say.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|it| it.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|it| it.trim().split(' ').next()?.parse::<usize>().ok());
    kilobytes.unwrap_or_default() * 1024
}
