//! Graphs as drawings: what rests on something stands to its left. Small graphs are drawn whole, large ones by block or by module.
//!
//! Boxes and lines come from [`gathered`], their places from `layout`, and both are written as the inside of an SVG element; what
//! stands around that is for whoever shows it.

use std::collections::{BTreeMap, BTreeSet};

mod body;
mod layout;

/// The longest label, in characters; of a longer one the end is told, which says more.
const LABEL: usize = 40;

/// Something that can be drawn.
#[derive(Clone, Debug, Default)]
pub struct Item<'a> {
    /// What it is called.
    pub name: &'a str,
    /// The block that it is an instance of.
    pub block: &'a str,
    /// The module that it is in; nothing for the root module.
    pub module: &'a str,
    /// How it is coloured: an action, or what else is to be seen.
    pub class: &'a str,
    /// Whether it only lies between others.
    pub is_between: bool,
    /// What it rests on, by position, with how the line looks.
    pub rests_on: Vec<(usize, Stroke<'a>)>,
}

/// How a line looks, and what it says where it says more than others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stroke<'a> {
    /// How it is drawn: nothing as most are.
    pub class: &'a str,
    /// What it says.
    pub title: &'a str,
}

/// A box.
#[derive(Clone, Debug, Default)]
struct Shape {
    label: String,
    name: String,
    class: String,
    /// Where it leads.
    to: String,
    /// Which items it stands for.
    members: Vec<usize>,
}

/// Boxes and the lines between them.
#[derive(Clone, Debug, Default)]
pub struct Drawing<'a> {
    boxes: Vec<Shape>,
    lines: BTreeMap<(usize, usize), Stroke<'a>>,
}

/// How finely a graph is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grain {
    /// A box for each item.
    Instance,
    /// A box for each block.
    Block,
    /// A box for each module.
    Module,
}

/// How much a drawing may hold: what has more is a wall of boxes and lines, and takes its time.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most boxes.
    pub boxes: usize,
    /// The most lines.
    pub lines: usize,
}

/// Gathers a graph as finely as the limits allow; nothing where even its modules are too many.
pub fn gathered<'a>(items: &[Item<'a>], limits: Limits) -> Option<(Drawing<'a>, Grain)> {
    [Grain::Instance, Grain::Block, Grain::Module]
        .into_iter()
        .map(|it| (Drawing::of(items, it), it))
        .find(|it| it.0.boxes.len() <= limits.boxes && it.0.lines.len() <= limits.lines)
}

impl<'a> Drawing<'a> {
    /// Puts items together.
    fn of(items: &[Item<'a>], grain: Grain) -> Drawing<'a> {
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        let mut drawing = Drawing::default();
        let mut of = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            let name = match grain {
                Grain::Instance => item.name,
                Grain::Block => item.block,
                Grain::Module if item.module.is_empty() => "the root module",
                Grain::Module => item.module,
            };
            let place = *places.entry(name).or_insert(drawing.boxes.len());
            if place == drawing.boxes.len() {
                drawing.boxes.push(Shape { name: name.to_owned(), ..Shape::default() });
            }
            if !item.is_between {
                drawing.boxes[place].take(at, item);
            }
            of.push(place);
        }
        for (at, item) in items.iter().enumerate() {
            for (to, stroke) in &item.rests_on {
                let ends = (of[at], of[*to]);
                if ends.0 != ends.1 {
                    let own = drawing.lines.entry(ends).or_insert(*stroke);
                    // What most lines say goes without saying where one says more.
                    *own = (*own).max(*stroke);
                }
            }
        }
        drawing.boxes.iter_mut().for_each(Shape::name_it);
        drawing
    }

    /// Returns whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.boxes.is_empty()
    }

    /// The classes of its boxes, each once.
    pub fn classes(&self) -> BTreeSet<&str> {
        self.boxes.iter().map(|it| it.class.as_str()).collect()
    }

    /// The classes of its lines, each once.
    pub fn strokes(&self) -> BTreeSet<&str> {
        self.lines.values().map(|it| it.class).collect()
    }
}

impl Shape {
    fn take(&mut self, at: usize, item: &Item<'_>) {
        self.class = match self.members.is_empty() || self.class == item.class {
            true => item.class.to_owned(),
            false => "mixed".to_owned(),
        };
        if self.members.is_empty() {
            self.to = item.name.to_owned();
        }
        self.members.push(at);
    }

    fn name_it(&mut self) {
        if self.members.is_empty() {
            self.class = "junction".to_owned();
        }
        self.label = match self.members.len() {
            0 | 1 => shortened(&self.name),
            many => format!("{} × {many}", shortened(&self.name)),
        };
    }
}

/// Cuts the beginning off a long name.
fn shortened(name: &str) -> String {
    let length = name.chars().count();
    match length > LABEL {
        true => format!("…{}", name.chars().skip(length - LABEL + 1).collect::<String>()),
        false => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_graph_is_drawn_by_block_and_a_larger_one_by_module() {
        let names: Vec<(String, String)> = (0..2000)
            .map(|it| (format!("a.b{}[{it}]", it % 300), format!("a.b{}", it % 300)))
            .collect();
        let item = |it: usize| Item {
            name: &names[it].0,
            block: &names[it].1,
            module: if it.is_multiple_of(2) { "" } else { "module.m" },
            class: "create",
            ..Item::default()
        };
        let items: Vec<Item<'_>> = (0..2000).map(item).collect();
        let grain = |boxes: usize| {
            let found = gathered(&items, Limits { boxes, lines: 10 })?;
            Some((found.1, found.0.boxes.len()))
        };
        assert_eq!(grain(2000), Some((Grain::Instance, 2000)));
        assert_eq!(grain(400), Some((Grain::Block, 300)));
        assert_eq!(grain(200), Some((Grain::Module, 2)));
        assert_eq!(grain(1), None);
    }

    #[test]
    fn a_line_that_says_more_counts() {
        let said = Stroke { class: "asked", title: "a policy" };
        let items = [
            Item {
                name: "a",
                rests_on: vec![(1, said), (1, Stroke::default())],
                ..Item::default()
            },
            Item { name: "b", ..Item::default() },
        ];
        let drawing = Drawing::of(&items, Grain::Instance);
        assert_eq!(drawing.lines.values().copied().collect::<Vec<_>>(), [said]);
    }

    #[test]
    fn of_a_long_name_the_end_is_told() {
        assert_eq!(shortened(&"x".repeat(LABEL)).chars().count(), LABEL);
        let name = format!("module.{}.null_resource.end", "m".repeat(50));
        let short = shortened(&name);
        assert!(short.starts_with('…') && short.ends_with(".null_resource.end"), "{short}");
        assert_eq!(short.chars().count(), LABEL);
    }
}
