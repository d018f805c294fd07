//! Graphs as drawings: what rests on something stands to its left. Small graphs are drawn whole, large ones by block or by module.

use std::collections::{BTreeMap, BTreeSet};

use entail::operation::explain::Links;
use rust_sugiyama::configure::{Config, CrossingMinimization, RankingType};
use rust_sugiyama::from_vertices_and_edges;

use super::html::{link, quoted, text};

/// The most boxes of a drawing, and the most lines: what has more is a wall of both, and takes its time.
const BOXES: usize = 160;
const LINES: usize = 480;

/// The height of a box, and what is left free around one.
const HEIGHT: f64 = 26.0;
const GAPS: (f64, f64) = (64.0, 10.0);

/// The longest label, in characters; of a longer one the end is told, which says more.
const LABEL: usize = 40;
/// How wide a character is.
const LETTER: f64 = 7.3;

/// Something that is drawn.
#[derive(Clone, Debug, Default)]
struct Shape {
    label: String,
    name: String,
    /// How it is coloured: an action, or what else is to be seen.
    class: String,
    /// Where it leads.
    to: String,
    /// Which members of the graph it stands for.
    members: Vec<usize>,
}

/// Boxes and the lines between them.
#[derive(Clone, Debug, Default)]
struct Drawing {
    boxes: Vec<Shape>,
    lines: BTreeSet<(usize, usize)>,
}

/// How finely a graph is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grain {
    Instance,
    Block,
    Module,
}

/// Draws a graph, with a sentence that says what is drawn; nothing where there is nothing to draw, or too much of it.
///
/// - `classes`: how each of its members is coloured.
pub fn draw(links: &Links, classes: &[&str]) -> Option<(String, String)> {
    let (drawing, grain) = [Grain::Instance, Grain::Block, Grain::Module]
        .into_iter()
        .map(|it| (gathered(links, classes, it), it))
        .find(|it| it.0.boxes.len() <= BOXES && it.0.lines.len() <= LINES)?;
    if drawing.boxes.is_empty() {
        return None;
    }
    let said = match grain {
        Grain::Instance => "Each box is an object; what it rests on stands to its right.",
        Grain::Block => {
            "There are too many objects for one drawing: each box is a block, with the number of its instances."
        }
        Grain::Module => {
            "There are too many blocks for one drawing: each box is a module, with the number of its objects."
        }
    };
    Some((drawing.svg(), said.to_owned()))
}

/// Puts members of a graph together.
fn gathered(links: &Links, classes: &[&str], grain: Grain) -> Drawing {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut drawing = Drawing::default();
    let mut of = Vec::with_capacity(links.all.len());
    for (at, link) in links.all.iter().enumerate() {
        let name = match grain {
            Grain::Instance => &link.name,
            Grain::Block => &link.block,
            Grain::Module if link.module.is_empty() => "the root module",
            Grain::Module => &link.module,
        };
        let place = *places.entry(name.to_owned()).or_insert(drawing.boxes.len());
        if place == drawing.boxes.len() {
            drawing.boxes.push(Shape { name: name.to_owned(), ..Shape::default() });
        }
        let class = classes.get(at).copied().unwrap_or_default();
        let own = &mut drawing.boxes[place];
        if !link.is_junction {
            own.class = match own.members.is_empty() || own.class == class {
                true => class.to_owned(),
                false => "mixed".to_owned(),
            };
            if own.members.is_empty() {
                own.to = link.name.clone();
            }
            own.members.push(at);
        }
        of.push(place);
    }
    for (at, link) in links.all.iter().enumerate() {
        let all = link.rests_on.iter().map(|it| (of[at], of[*it]));
        drawing.lines.extend(all.filter(|it| it.0 != it.1));
    }
    for own in &mut drawing.boxes {
        if own.members.is_empty() {
            own.class = "junction".to_owned();
        }
        own.label = match own.members.len() {
            0 | 1 => shortened(&own.name),
            many => format!("{} × {many}", shortened(&own.name)),
        };
    }
    drawing
}

/// Cuts the beginning off a long name.
fn shortened(name: &str) -> String {
    let length = name.chars().count();
    match length > LABEL {
        true => format!("…{}", name.chars().skip(length - LABEL + 1).collect::<String>()),
        false => name.to_owned(),
    }
}

impl Shape {
    fn width(&self) -> f64 {
        self.label.chars().count() as f64 * LETTER + 20.0
    }
}

/// Where the middle of a box is.
type Place = (f64, f64);

impl Drawing {
    /// Finds a place for each box: a drawing for what hangs together, one below the other; then what stands alone.
    fn places(&self) -> (Vec<Place>, f64, f64) {
        let ends: BTreeSet<usize> = self.lines.iter().flat_map(|it| [it.0, it.1]).collect();
        // What the crate calls a layer is a column here, so that width and height change places.
        let size = |at: usize| (HEIGHT + GAPS.1, self.boxes[at].width() + GAPS.0);
        let vertices: Vec<(u32, (f64, f64))> =
            ends.iter().map(|it| (*it as u32, size(*it))).collect();
        let lines: Vec<(u32, u32)> =
            self.lines.iter().map(|it| (it.0 as u32, it.1 as u32)).collect();
        let config = Config {
            vertex_spacing: 1.0,
            ranking_type: RankingType::MinimizeEdgeLength,
            c_minimization: CrossingMinimization::Barycenter,
            transpose: self.lines.len() <= LINES / 2,
            ..Config::default()
        };
        let mut places = vec![(0.0, 0.0); self.boxes.len()];
        let (mut width, mut top) = (0.0_f64, 0.0_f64);
        for (layout, ..) in from_vertices_and_edges(&vertices, &lines, &config) {
            let left = layout.iter().map(|it| it.1.1 - self.boxes[it.0].width() / 2.0);
            let left = left.fold(f64::INFINITY, f64::min);
            let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
            layout.iter().for_each(|it| (low, high) = (low.min(it.1.0), high.max(it.1.0)));
            for (at, (down, along)) in layout {
                places[at] = (along - left, top + down - low + HEIGHT / 2.0);
                width = width.max(along - left + self.boxes[at].width() / 2.0);
            }
            top += high - low + HEIGHT + 2.0 * GAPS.1;
        }
        let widest = width.max(900.0);
        let (mut along, mut used) = (0.0, false);
        for at in (0..self.boxes.len()).filter(|it| !ends.contains(it)) {
            let own = self.boxes[at].width();
            if along > 0.0 && along + own > widest {
                (along, top) = (0.0, top + HEIGHT + GAPS.1);
            }
            places[at] = (along + own / 2.0, top + HEIGHT / 2.0);
            along += own + GAPS.1;
            width = width.max(along);
            used = true;
        }
        (places, width, if used { top + HEIGHT } else { top })
    }

    fn svg(&self) -> String {
        let (places, width, height) = self.places();
        let (wide, high) = (width.ceil() + 16.0, height.ceil() + 16.0);
        let mut out = format!(
            "<svg class=\"graph\" id=\"drawing\" role=\"group\" aria-label=\"What rests on what\" viewBox=\"-8 -8 {wide} {high}\" width=\"{wide}\" height=\"{high}\">"
        );
        for &(from, to) in &self.lines {
            let ((x1, y1), (x2, y2)) = (places[from], places[to]);
            let (x1, x2) = (x1 + self.boxes[from].width() / 2.0, x2 - self.boxes[to].width() / 2.0);
            let bend = ((x2 - x1).abs() / 2.0).max(24.0);
            out.push_str(&format!(
                "<path class=\"l\" data-from=\"{from}\" data-to=\"{to}\" d=\"M{x1:.0} {y1:.0}C{:.0} {y1:.0} {:.0} {y2:.0} {x2:.0} {y2:.0}\"/>",
                x1 + bend,
                x2 - bend
            ));
        }
        for (at, (own, (x, y))) in self.boxes.iter().zip(&places).enumerate() {
            let members: Vec<String> = own.members.iter().map(usize::to_string).collect();
            let to = if own.to.is_empty() { &own.name } else { &own.to };
            out.push_str(&format!(
                "<a class=\"n {}\" href={} data-box=\"{at}\" data-name={} data-members=\"{}\"><title>{}</title><rect x=\"{:.0}\" y=\"{:.0}\" width=\"{:.0}\" height=\"{HEIGHT}\" rx=\"4\"/><text x=\"{:.0}\" y=\"{:.0}\">{}</text></a>",
                own.class,
                link(to),
                quoted(&own.name),
                members.join(" "),
                text(&format!("{} {}", own.class, own.name)),
                x - own.width() / 2.0,
                y - HEIGHT / 2.0,
                own.width(),
                x - own.width() / 2.0 + 10.0,
                y + 4.5,
                text(&own.label),
            ));
        }
        out.push_str("</svg>");
        out
    }
}

#[cfg(test)]
mod tests {
    use entail::operation::explain::Link;

    use super::*;

    fn links(edges: &[(usize, usize)], nodes: usize) -> Links {
        let mut links = Links::default();
        for at in 0..nodes {
            let rests_on = edges.iter().filter(|it| it.0 == at).map(|it| it.1).collect();
            let block = format!("a.b{}", at % 7);
            let name = format!("{block}[{at}]");
            links.all.push(Link { name, block, rests_on, ..Link::default() });
        }
        links
    }

    #[test]
    fn what_rests_on_something_stands_left_of_it_and_boxes_do_not_overlap() {
        let edges = [(0, 1), (1, 2), (0, 2), (3, 2), (4, 5)];
        let drawing = gathered(&links(&edges, 8), &["create"; 8], Grain::Instance);
        let (places, width, height) = drawing.places();
        for &(from, to) in &edges {
            assert!(places[from].0 < places[to].0, "{from} is not left of {to}: {places:?}");
        }
        for (a, one) in places.iter().enumerate() {
            assert!(one.0 >= 0.0 && one.0 <= width && one.1 >= 0.0 && one.1 <= height);
            for (b, other) in places.iter().enumerate().filter(|it| it.0 != a) {
                let apart = (one.0 - other.0).abs()
                    >= (drawing.boxes[a].width() + drawing.boxes[b].width()) / 2.0
                    || (one.1 - other.1).abs() >= HEIGHT;
                assert!(apart, "{a} lies on {b}: {places:?}");
            }
        }
    }

    #[test]
    fn two_drawings_of_one_graph_are_the_same() {
        let edges: Vec<(usize, usize)> =
            (1..60).flat_map(|it| [(it, it / 2), (it, it / 3)]).collect();
        let edges: Vec<(usize, usize)> = edges.into_iter().filter(|it| it.0 != it.1).collect();
        let links = links(&edges, 60);
        let first = draw(&links, &[""; 60]);
        (0..5).for_each(|_| assert_eq!(draw(&links, &[""; 60]), first));
    }

    #[test]
    fn a_large_graph_is_drawn_by_block() {
        let edges: Vec<(usize, usize)> = (7..2000).map(|it| (it, it - 6)).collect();
        let (svg, said) = draw(&links(&edges, 2000), &[]).expect("seven blocks can be drawn");
        assert!(said.contains("each box is a block"), "{said}");
        assert_eq!(svg.matches("<rect").count(), 7);
    }

    #[test]
    fn a_circle_is_drawn() {
        assert!(draw(&links(&[(0, 1), (1, 0)], 2), &[]).is_some());
    }
}
