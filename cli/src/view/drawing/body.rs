//! The inside of an SVG element: lines first, boxes over them.

use super::Shape;
use super::layout::{Drawn, HEIGHT};
use crate::view::markup::{quoted, text};

/// How a line bends at least.
const BEND: f64 = 24.0;

impl Drawn<'_> {
    /// Appends the lines, with the numbers of the boxes that they link.
    pub fn push_lines(&self, out: &mut String) {
        for (&(from, to), stroke) in &self.drawing.lines {
            let ((x1, y1), (x2, y2)) = (self.places[from], self.places[to]);
            let boxes = &self.drawing.boxes;
            let (x1, x2) = (x1 + boxes[from].width() / 2.0, x2 - boxes[to].width() / 2.0);
            let bend = ((x2 - x1).abs() / 2.0).max(BEND);
            let class = match stroke.class {
                "" => "l".to_owned(),
                class => format!("l {class}"),
            };
            let path = format!(
                "<path class=\"{class}\" data-from=\"{from}\" data-to=\"{to}\" d=\"M{x1:.0} {y1:.0}C{:.0} {y1:.0} {:.0} {y2:.0} {x2:.0} {y2:.0}\"",
                x1 + bend,
                x2 - bend
            );
            out.push_str(&path);
            match stroke.title {
                "" => out.push_str("/>"),
                title => out.push_str(&format!("><title>{}</title></path>", text(title))),
            }
        }
    }

    /// Appends the boxes, each in an element of that name with those attributes.
    ///
    /// - `around`: what opens the element of a box; it is told the number of the box, its class, what it is called, where it leads, and
    ///   which items it stands for.
    pub fn push_boxes(&self, out: &mut String, element: &str, around: impl Fn(&Box<'_>) -> String) {
        for (at, (shape, (x, y))) in self.drawing.boxes.iter().zip(&self.places).enumerate() {
            let Shape { name, class, to, members, label } = shape;
            let to = if to.is_empty() { name } else { to };
            let attributes = around(&Box { at, name, to, members });
            let left = x - shape.width() / 2.0;
            out.push_str(&format!(
                "<{element} class={}{attributes}><title>{}</title><rect x=\"{left:.0}\" y=\"{:.0}\" width=\"{:.0}\" height=\"{HEIGHT}\" rx=\"4\"/><text x=\"{:.0}\" y=\"{:.0}\">{}</text></{element}>",
                quoted(&format!("n {class}")),
                text(&format!("{class} {name}")),
                y - HEIGHT / 2.0,
                shape.width(),
                left + 10.0,
                y + 4.5,
                text(label),
            ));
        }
    }
}

/// What is told of a box.
pub struct Box<'b> {
    /// Its number.
    pub at: usize,
    /// What it is called.
    pub name: &'b str,
    /// Where it leads.
    pub to: &'b str,
    /// Which items it stands for.
    pub members: &'b [usize],
}
