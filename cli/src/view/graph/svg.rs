//! A graph as a picture: a file that a browser, a document or a page of a review shows as it is.
//!
//! Colours are plain rules, one for each class: not every program that shows pictures knows variables and mixtures.

use std::collections::BTreeMap;

use entail::diagnostic::Diagnostic;
use entail::workflow::graph::{Graph, GraphNode, Kind, Link, Subject};

use super::{class, said};
use crate::view::drawing::{Drawing, Grain, Item, Limits, Stroke, gathered};
use crate::view::markup::{quoted, text};
use crate::view::style::harmless;

/// What a picture may hold. It is asked for, and may be larger than one on a page.
const LIMITS: Limits = Limits { boxes: 600, lines: 1_800 };

/// Each class with its word, and its colour in light and in dark.
const COLOURS: [(&str, &str, &str, &str); 19] = [
    ("create", "created", "#1a7f37", "#57c06f"),
    ("update", "changed", "#8a5a00", "#e0ab3d"),
    ("replace", "replaced", "#8250df", "#b794f6"),
    ("delete", "destroyed", "#c42b1c", "#ff7b6e"),
    ("read", "read", "#0a6c8a", "#56c2dd"),
    ("forget", "forgotten", "#6e5849", "#c9a58d"),
    ("import", "imported", "#4b5bb5", "#98a7f5"),
    ("move", "moved", "#4b5bb5", "#98a7f5"),
    ("mixed", "several", "#6b7280", "#98a1ad"),
    ("object", "resource", "#0b5cad", "#7ab7ff"),
    ("provider", "provider", "#8250df", "#b794f6"),
    ("module", "module call", "#6e5849", "#c9a58d"),
    ("variable", "variable", "#8a5a00", "#e0ab3d"),
    ("local", "local value", "#0a6c8a", "#56c2dd"),
    ("output", "output", "#1a7f37", "#57c06f"),
    ("check", "check", "#4b5bb5", "#98a7f5"),
    ("junction", "lies between", "#6b7280", "#98a1ad"),
    ("asked", "a policy's order", "#b45309", "#f0a04b"),
    ("apart", "never at once", "#b45309", "#f0a04b"),
];

/// What a line of a circle is called, and its colours.
const CIRCLE: (&str, &str, &str, &str) = ("circle", "a circle", "#c42b1c", "#ff7b6e");

/// What stands above the drawing: the sentence, then what the colours mean.
const HEAD: f64 = 52.0;
/// What is left free on all sides.
const MARGIN: f64 = 16.0;
/// How wide a character is, in the sentence and in what the colours mean.
const LETTER: f64 = 7.3;

/// Draws a graph.
///
/// # Errors
///
/// If there is too much for one drawing, even by modules.
pub fn document(graph: &Graph) -> Result<String, Diagnostic> {
    let items = Boxes::of(graph).items(graph);
    let (drawing, grain) = gathered(&items, LIMITS).ok_or_else(|| too_much(items.len()))?;
    let drawn = drawing.laid_out();
    let said = sentence(graph.subject, grain, items.is_empty());
    let is_planned = graph.nodes.iter().any(|it| it.action.is_some());
    let key = key(&drawing, if is_planned { "stays" } else { "resource" });
    let wide = [drawn.width, said.chars().count() as f64 * LETTER, key.1].into_iter();
    let wide = wide.fold(0.0_f64, f64::max).ceil() + 2.0 * MARGIN;
    let high = drawn.height.ceil() + HEAD + 2.0 * MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"title\" viewBox=\"0 0 {wide} {high}\" width=\"{wide}\" height=\"{high}\">\n<title id=\"title\">{said}</title>\n<style>{}</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n<text class=\"said\" x=\"{MARGIN}\" y=\"{}\">{said}</text>\n{}\n<g transform=\"translate({MARGIN} {})\">\n",
        style(),
        MARGIN + 12.0,
        key.0,
        HEAD + MARGIN
    );
    drawn.push_lines(&mut out);
    out.push('\n');
    drawn.push_boxes(&mut out, "g", |it| format!(" data-address={}", quoted(&harmless(it.name))));
    out.push_str("\n</g>\n</svg>\n");
    Ok(out)
}

/// What is drawn of a graph: what only orders is left out, and blocks that are several nodes, each with an end, are one box.
struct Boxes<'g> {
    /// The first node of each box.
    nodes: Vec<&'g GraphNode>,
    /// The box of each node, where it has one.
    places: Vec<Option<usize>>,
}

impl<'g> Boxes<'g> {
    fn of(graph: &'g Graph) -> Boxes<'g> {
        let mut boxes = Boxes { nodes: Vec::new(), places: Vec::with_capacity(graph.nodes.len()) };
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        for node in &graph.nodes {
            let next = boxes.nodes.len();
            let place = (node.kind != Kind::Scaffold)
                .then(|| *known.entry(name(graph.subject, node)).or_insert(next));
            if place == Some(next) {
                boxes.nodes.push(node);
            }
            boxes.places.push(place);
        }
        boxes
    }

    fn items(&self, graph: &'g Graph) -> Vec<Item<'g>> {
        let item = |node: &&'g GraphNode| Item {
            name: name(graph.subject, node),
            block: &node.block,
            module: &node.module,
            class: class(node),
            is_between: node.kind == Kind::Between && node.action.is_none(),
            rests_on: Vec::new(),
        };
        let mut items: Vec<Item<'g>> = self.nodes.iter().map(item).collect();
        for edge in &graph.edges {
            let (Some(from), Some(to)) = (self.places[edge.from], self.places[edge.to]) else {
                continue;
            };
            let stroke = match &edge.link {
                Link::Waits => Stroke::default(),
                Link::InCircle => Stroke { class: CIRCLE.0, title: "" },
                Link::Asked(by) => Stroke { class: "asked", title: by },
                Link::Apart(by) => Stroke { class: "apart", title: by },
            };
            items[from].rests_on.push((to, stroke));
        }
        items
    }
}

/// What a box is called: each step has its own.
fn name(subject: Subject, node: &GraphNode) -> &str {
    if subject == Subject::Blocks { &node.address } else { &node.id }
}

fn sentence(subject: Subject, grain: Grain, is_empty: bool) -> &'static str {
    match (is_empty, grain) {
        (true, _) => "There is nothing to draw.",
        (false, Grain::Instance) => said(subject),
        (false, Grain::Block) => "Each box is a block, with how many there are of it.",
        (false, Grain::Module) => "Each box is a module, with how much there is in it.",
    }
}

/// What the colours mean, as far as they are there, and how wide that is.
///
/// - `of_objects`: what is said of objects to which nothing is done.
fn key(drawing: &Drawing<'_>, of_objects: &str) -> (String, f64) {
    let (classes, strokes) = (drawing.classes(), drawing.strokes());
    let mut out = String::new();
    let mut x = MARGIN;
    let top = MARGIN + 26.0;
    for (class, word, ..) in COLOURS.iter().chain([&CIRCLE]) {
        let mark = match () {
            () if strokes.contains(class) => {
                format!("<path class=\"l {class}\" d=\"M{x} {0}h14\"/>", top + 6.0)
            }
            () if classes.contains(class) => {
                format!(
                    "<g class=\"n {class}\"><rect x=\"{x}\" y=\"{top}\" width=\"14\" height=\"12\" rx=\"2\"/></g>"
                )
            }
            () => continue,
        };
        out.push_str(&mark);
        let word = if *class == "object" { of_objects } else { word };
        out.push_str(&format!(
            "<text class=\"key\" x=\"{}\" y=\"{}\">{}</text>",
            x + 20.0,
            top + 10.0,
            text(word)
        ));
        x += 20.0 + word.chars().count() as f64 * LETTER + 16.0;
    }
    (out, x)
}

fn style() -> String {
    let mut out = String::from(
        ".paper{fill:#fff}text{font:12px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#1c2126}.key{fill:#5d6772}.n rect{fill-opacity:.12}.junction rect{stroke-dasharray:3 3}.l{fill:none;stroke:#5d6772;stroke-opacity:.6}.apart{stroke-dasharray:5 4}.l.asked,.l.apart,.l.circle{stroke-width:2;stroke-opacity:1}",
    );
    let all = || COLOURS.iter().chain([&CIRCLE]);
    let rule = |class: &str, colour: &str| {
        format!(".{class} rect{{fill:{colour};stroke:{colour}}}.l.{class}{{stroke:{colour}}}")
    };
    all().for_each(|it| out.push_str(&rule(it.0, it.2)));
    out.push_str("@media (prefers-color-scheme:dark){.paper{fill:#14181c}text{fill:#e3e7eb}.key{fill:#9aa5b0}.l{stroke:#9aa5b0}.n rect{fill-opacity:.2}");
    all().for_each(|it| out.push_str(&rule(it.0, it.3)));
    out.push('}');
    out
}

fn too_much(nodes: usize) -> Diagnostic {
    Diagnostic::error("Too much for one drawing").detail(format!(
        "The graph has {nodes} nodes, in more modules than can be drawn. With -around=ADDRESS, what is next to one of them is drawn; -json and DOT have everything."
    ))
}
