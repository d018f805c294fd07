//! Writes a configuration of `terraform_data` resources (or, for many provider instances, `null_resource`) of a given shape and size.

use std::fmt::Write as _;
use std::path::Path;

/// What reads what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// Nothing reads anything.
    Wide,
    /// Each reads three of the two hundred before it.
    Layered,
    /// Each reads the one before.
    Chain,
    /// Ten blocks with `for_each`; each instance reads that of the block before, by key.
    ForEach,
    /// Calls of a module of two resources; each call reads the output of the one before.
    Modules,
    /// One call with `for_each` of a module of ten objects, with `for_each`, a splat and outputs inside.
    Fleet,
    /// A provider that repeats; each of its instances serves a hundred instances of one block.
    Regions,
}

impl Shape {
    /// Every shape.
    pub const ALL: &[Shape] = &[
        Shape::Wide,
        Shape::Layered,
        Shape::Chain,
        Shape::ForEach,
        Shape::Modules,
        Shape::Fleet,
        Shape::Regions,
    ];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Shape::Wide => "wide",
            Shape::Layered => "layered",
            Shape::Chain => "chain",
            Shape::ForEach => "for_each",
            Shape::Modules => "modules",
            Shape::Fleet => "fleet",
            Shape::Regions => "regions",
        }
    }

    /// Returns an address near the beginning, and one near the end that rests on it where the shape has references.
    pub fn ends(self, size: usize) -> (String, String) {
        let last = size.max(1) - 1;
        match self {
            Shape::Wide | Shape::Layered | Shape::Chain => {
                ("terraform_data.r0".into(), format!("terraform_data.r{last}"))
            }
            Shape::ForEach => {
                ("terraform_data.b0[\"k0\"]".into(), "terraform_data.b9[\"k0\"]".into())
            }
            Shape::Modules => (
                "module.m0.terraform_data.first".into(),
                format!("module.m{}.terraform_data.second", (size / 2).max(1) - 1),
            ),
            Shape::Fleet => (
                "module.fleet[\"f0\"].terraform_data.base".into(),
                "module.fleet[\"f0\"].terraform_data.all".into(),
            ),
            Shape::Regions => {
                ("null_resource.host[\"p0-0\"]".into(), "null_resource.host[\"p0-99\"]".into())
            }
        }
    }
}

/// Writes the configuration into a folder that is made where it is missing.
///
/// - `size`: how many objects there are, rounded down to what the shape is made of.
pub fn write(shape: Shape, size: usize, folder: &Path) -> Result<(), String> {
    let (main, module) = text(shape, size);
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        let made = std::fs::create_dir_all(path.parent().unwrap_or(folder));
        made.and_then(|()| std::fs::write(&path, text))
            .map_err(|it| format!("{}: {it}", path.display()))
    };
    write("main.tf", &main)?;
    module.map_or(Ok(()), |text| write("m/main.tf", text))
}

fn text(shape: Shape, size: usize) -> (String, Option<&'static str>) {
    match shape {
        Shape::Wide => (blocks(size, |_, index| index.to_string()), None),
        Shape::Chain => (
            blocks(size, |_, index| match index {
                0 => "0".into(),
                _ => format!("terraform_data.r{}.output", index - 1),
            }),
            None,
        ),
        Shape::Layered => (blocks(size, three_of_two_hundred), None),
        Shape::ForEach => (for_each(size), None),
        Shape::Modules => (modules(size), Some(PAIR)),
        Shape::Fleet => (fleet(size), Some(TEN)),
        Shape::Regions => (regions(size), None),
    }
}

fn blocks(size: usize, mut input: impl FnMut(&mut Draw, usize) -> String) -> String {
    let (mut text, mut draw) = (String::new(), Draw(1));
    for index in 0..size {
        let input = input(&mut draw, index);
        push(
            &mut text,
            &format!("resource \"terraform_data\" \"r{index}\" {{\n  input = {input}\n}}\n"),
        );
    }
    text
}

fn three_of_two_hundred(draw: &mut Draw, index: usize) -> String {
    let mut read: Vec<usize> =
        (0..3.min(index)).map(|_| index - 1 - draw.below(index.min(200))).collect();
    read.sort_unstable();
    read.dedup();
    let read: Vec<String> = read.iter().map(|it| format!("terraform_data.r{it}.output")).collect();
    // Lengths, not values: a value made of three others would grow without bounds.
    format!("length(jsonencode([{}]))", read.join(", "))
}

fn for_each(size: usize) -> String {
    let mut text = String::new();
    push(&mut text, &format!("locals {{\n  keys = {}\n}}\n", names("k", size / 10)));
    for block in 0..10 {
        let input = match block {
            0 => "each.key".into(),
            _ => format!("terraform_data.b{}[each.key].output", block - 1),
        };
        let block = format!(
            "resource \"terraform_data\" \"b{block}\" {{\n  for_each = local.keys\n  input    = {input}\n}}\n"
        );
        push(&mut text, &block);
    }
    text
}

const PAIR: &str = "variable \"previous\" {}

resource \"terraform_data\" \"first\" {
  input = var.previous
}

resource \"terraform_data\" \"second\" {
  input = terraform_data.first.output
}

output \"it\" {
  value = terraform_data.second.output
}
";

fn modules(size: usize) -> String {
    let mut text = String::new();
    for index in 0..size / 2 {
        let previous = match index {
            0 => "0".into(),
            _ => format!("module.m{}.it", index - 1),
        };
        let call =
            format!("module \"m{index}\" {{\n  source   = \"./m\"\n  previous = {previous}\n}}\n");
        push(&mut text, &call);
    }
    text
}

const TEN: &str = "variable \"name\" {}

resource \"terraform_data\" \"base\" {
  input = var.name
}

resource \"terraform_data\" \"node\" {
  for_each = toset([\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\"])
  input    = \"${terraform_data.base.output}-${each.key}\"
}

resource \"terraform_data\" \"all\" {
  input = values(terraform_data.node)[*].output
}

output \"all\" {
  value = terraform_data.all.output
}

output \"first\" {
  value = terraform_data.node[\"a\"].id
}
";

fn fleet(size: usize) -> String {
    format!(
        "module \"fleet\" {{
  source   = \"./m\"
  for_each = {}
  name     = each.key
}}

output \"firsts\" {{
  value = [for it in module.fleet : it.first]
}}
",
        names("f", size / 10)
    )
}

fn regions(size: usize) -> String {
    format!(
        "locals {{
  regions = {}
}}

provider \"null\" {{
  alias    = \"by_region\"
  for_each = local.regions
}}

resource \"null_resource\" \"host\" {{
  for_each = {{ for it in setproduct(local.regions, range(100)) : \"${{it[0]}}-${{it[1]}}\" => it[0] }}
  provider = null.by_region[each.value]
}}
",
        names("p", size / 100)
    )
}

/// A set of `count` names. `range` gives at most 1 024 numbers, so larger sets are put together.
fn names(letter: &str, count: usize) -> String {
    const MOST: usize = 1_000;
    let range = |from: usize| format!("range({from}, {})", (from + MOST).min(count));
    let ranges: Vec<String> = (0..count).step_by(MOST).map(range).collect();
    format!("toset([for it in concat({}) : \"{letter}${{it}}\"])", ranges.join(", "))
}

fn push(text: &mut String, more: &str) {
    writeln!(text, "{more}").expect("text grows");
}

/// Numbers that look random and are the same in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }
}
