//! Where the boxes of a drawing are: in layers, with what rests on something to its left.

use std::collections::BTreeSet;

use rust_sugiyama::configure::{Config, CrossingMinimization, RankingType};
use rust_sugiyama::from_vertices_and_edges;

use super::{Drawing, Shape};

/// The height of a box, and what is left free around one.
pub(super) const HEIGHT: f64 = 26.0;
const GAPS: (f64, f64) = (64.0, 10.0);

/// How wide a character is.
const LETTER: f64 = 7.3;

/// How wide a drawing of boxes without lines is at least, before a row begins anew.
const ROW: f64 = 900.0;

/// The most lines of which every pair is exchanged for fewer crossings.
const TRANSPOSED: usize = 240;

/// Where the middle of a box is.
pub(super) type Place = (f64, f64);

/// A drawing in which everything has its place.
pub struct Drawn<'d> {
    pub(super) drawing: &'d Drawing<'d>,
    pub(super) places: Vec<Place>,
    /// How wide it is.
    pub width: f64,
    /// How high it is.
    pub height: f64,
}

impl Shape {
    pub(super) fn width(&self) -> f64 {
        self.label.chars().count() as f64 * LETTER + 20.0
    }
}

impl Drawing<'_> {
    /// Finds a place for each box: a drawing for what hangs together, one below the other; then what stands alone.
    pub fn laid_out(&self) -> Drawn<'_> {
        let ends: BTreeSet<usize> = self.lines.keys().flat_map(|it| [it.0, it.1]).collect();
        let mut drawn = Drawn {
            drawing: self,
            places: vec![(0.0, 0.0); self.boxes.len()],
            width: 0.0,
            height: 0.0,
        };
        drawn.layer(&ends);
        drawn.fill(&ends);
        drawn
    }
}

impl Drawn<'_> {
    fn box_width(&self, at: usize) -> f64 {
        self.drawing.boxes[at].width()
    }

    /// Puts what has lines into layers.
    fn layer(&mut self, ends: &BTreeSet<usize>) {
        // What the crate calls a layer is a column here, so that width and height change places.
        let size = |at: usize| (HEIGHT + GAPS.1, self.box_width(at) + GAPS.0);
        let vertices: Vec<(u32, (f64, f64))> =
            ends.iter().map(|it| (*it as u32, size(*it))).collect();
        let lines: Vec<(u32, u32)> =
            self.drawing.lines.keys().map(|it| (it.0 as u32, it.1 as u32)).collect();
        let config = Config {
            vertex_spacing: 1.0,
            ranking_type: RankingType::MinimizeEdgeLength,
            c_minimization: CrossingMinimization::Barycenter,
            transpose: lines.len() <= TRANSPOSED,
            ..Config::default()
        };
        for (layout, ..) in from_vertices_and_edges(&vertices, &lines, &config) {
            let left = layout.iter().map(|it| it.1.1 - self.box_width(it.0) / 2.0);
            let left = left.fold(f64::INFINITY, f64::min);
            let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
            layout.iter().for_each(|it| (low, high) = (low.min(it.1.0), high.max(it.1.0)));
            for (at, (down, along)) in layout {
                self.places[at] = (along - left, self.height + down - low + HEIGHT / 2.0);
                self.width = self.width.max(along - left + self.box_width(at) / 2.0);
            }
            self.height += high - low + HEIGHT + 2.0 * GAPS.1;
        }
    }

    /// Puts what stands alone into rows below.
    fn fill(&mut self, ends: &BTreeSet<usize>) {
        let widest = self.width.max(ROW);
        let (mut along, mut top, mut is_used) = (0.0, self.height, false);
        for at in (0..self.places.len()).filter(|it| !ends.contains(it)) {
            let own = self.box_width(at);
            if along > 0.0 && along + own > widest {
                (along, top) = (0.0, top + HEIGHT + GAPS.1);
            }
            self.places[at] = (along + own / 2.0, top + HEIGHT / 2.0);
            along += own + GAPS.1;
            self.width = self.width.max(along);
            is_used = true;
        }
        self.height = if is_used { top + HEIGHT } else { top };
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Grain, Item, Stroke};
    use super::*;

    fn with_items<T>(
        edges: &[(usize, usize)],
        nodes: usize,
        look: impl Fn(&Drawing<'_>) -> T,
    ) -> T {
        let names: Vec<String> = (0..nodes).map(|it| format!("a.b[{it}]")).collect();
        let item = |at: usize| Item {
            name: &names[at],
            block: "a.b",
            class: "create",
            rests_on: edges
                .iter()
                .filter(|it| it.0 == at)
                .map(|it| (it.1, Stroke::default()))
                .collect(),
            ..Item::default()
        };
        let items: Vec<Item<'_>> = (0..nodes).map(item).collect();
        look(&Drawing::of(&items, Grain::Instance))
    }

    #[test]
    fn what_rests_on_something_stands_left_of_it_and_boxes_do_not_overlap() {
        let edges = [(0, 1), (1, 2), (0, 2), (3, 2), (4, 5)];
        with_items(&edges, 8, |drawing| {
            let drawn = drawing.laid_out();
            let places = &drawn.places;
            for &(from, to) in &edges {
                assert!(places[from].0 < places[to].0, "{from} is not left of {to}: {places:?}");
            }
            for (a, one) in places.iter().enumerate() {
                assert!(one.0 >= 0.0 && one.0 <= drawn.width);
                assert!(one.1 >= 0.0 && one.1 <= drawn.height);
                for (b, other) in places.iter().enumerate().filter(|it| it.0 != a) {
                    let apart = (one.0 - other.0).abs()
                        >= (drawing.boxes[a].width() + drawing.boxes[b].width()) / 2.0
                        || (one.1 - other.1).abs() >= HEIGHT;
                    assert!(apart, "{a} lies on {b}: {places:?}");
                }
            }
        });
    }

    #[test]
    fn two_drawings_of_one_graph_are_the_same() {
        let edges: Vec<(usize, usize)> =
            (1..60).flat_map(|it| [(it, it / 2), (it, it / 3)]).collect();
        let edges: Vec<(usize, usize)> = edges.into_iter().filter(|it| it.0 != it.1).collect();
        with_items(&edges, 60, |drawing| {
            let first = drawing.laid_out().places;
            (0..5).for_each(|_| assert_eq!(drawing.laid_out().places, first));
        });
    }

    #[test]
    fn a_circle_is_drawn() {
        with_items(&[(0, 1), (1, 0)], 2, |drawing| {
            let drawn = drawing.laid_out();
            assert!(drawn.places[0] != drawn.places[1]);
        });
    }
}
