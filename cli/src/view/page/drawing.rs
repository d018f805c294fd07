//! The graph as it stands on a page: each box leads to its entry.

use entail::operation::explain::Links;

use super::html::{link, quoted};
use crate::view::drawing::{Grain, Item, Limits, Stroke, gathered};

/// What a drawing on a page may hold.
const LIMITS: Limits = Limits { boxes: 160, lines: 480 };

/// Draws a graph, with a sentence that says what is drawn; nothing where there is nothing to draw, or too much of it.
///
/// - `classes`: how each of its members is coloured.
pub fn draw(links: &Links, classes: &[&str]) -> Option<(String, String)> {
    let items: Vec<Item<'_>> = links
        .all
        .iter()
        .enumerate()
        .map(|(at, it)| Item {
            name: &it.name,
            block: &it.block,
            module: &it.module,
            class: classes.get(at).copied().unwrap_or_default(),
            is_between: it.is_junction,
            rests_on: it.rests_on.iter().map(|it| (*it, Stroke::default())).collect(),
        })
        .collect();
    let (drawing, grain) = gathered(&items, LIMITS)?;
    if drawing.is_empty() {
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
    let drawn = drawing.laid_out();
    let (wide, high) = (drawn.width.ceil() + 16.0, drawn.height.ceil() + 16.0);
    let mut out = format!(
        "<svg class=\"graph\" id=\"drawing\" role=\"group\" aria-label=\"What rests on what\" viewBox=\"-8 -8 {wide} {high}\" width=\"{wide}\" height=\"{high}\">"
    );
    drawn.push_lines(&mut out);
    drawn.push_boxes(&mut out, "a", |it| {
        let members: Vec<String> = it.members.iter().map(usize::to_string).collect();
        format!(
            " href={} data-box=\"{}\" data-name={} data-members=\"{}\"",
            link(it.to),
            it.at,
            quoted(it.name),
            members.join(" ")
        )
    });
    out.push_str("</svg>");
    Some((out, said.to_owned()))
}

#[cfg(test)]
mod tests {
    use entail::operation::explain::Link;

    use super::*;

    #[test]
    fn a_large_graph_is_drawn_by_block() {
        let mut links = Links::default();
        for at in 0..2000_usize {
            let block = format!("a.b{}", at % 7);
            let rests_on = at.checked_sub(6).filter(|it| *it > 0).into_iter().collect();
            let name = format!("{block}[{at}]");
            links.all.push(Link { name, block, rests_on, ..Link::default() });
        }
        let (svg, said) = draw(&links, &[]).expect("seven blocks can be drawn");
        assert!(said.contains("each box is a block"), "{said}");
        assert_eq!(svg.matches("<rect").count(), 7);
    }
}
