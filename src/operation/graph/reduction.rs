//! Which edges of a graph follow from others: what `graph` does not draw.

use crate::config::check::cycles::components;

/// What of a graph is to be drawn.
#[derive(Debug, Default)]
pub struct Reduction {
    /// The edges that do not follow from others, sorted, and whether each is part of a circle.
    pub kept: Vec<(u32, u32, bool)>,
}

/// Orders of the walk that numbers nodes: each answers at once for most pairs that one end does not reach the other.
const WALKS: usize = 3;

/// From so many targets on, all that a node reaches is looked at once, not a way to each of them: the root has a target for each node.
const MANY: usize = 64;

/// Returns the edges that do not follow from others. Those of a circle are all kept: each follows from the rest.
///
/// - `links`: the targets of each node, sorted.
pub fn reduce(links: &[Vec<u32>]) -> Reduction {
    reduce_with(links, MANY)
}

fn reduce_with(links: &[Vec<u32>], many: usize) -> Reduction {
    let acyclic = Acyclic::of(links);
    let mut search = Search { seen: vec![0; acyclic.links.len()], round: 0, open: Vec::new() };
    let mut reduction = Reduction::default();
    for (from, targets) in links.iter().enumerate() {
        let own = acyclic.part[from];
        let has_many = acyclic.links[own as usize].len() >= many;
        if has_many {
            search.look_below(&acyclic, own);
        }
        for &target in targets {
            let part = acyclic.part[target as usize];
            let is_within = part == own;
            let mut follows = || match has_many {
                true => search.was_seen(part),
                false => search.finds(&acyclic, own, part),
            };
            if is_within || !follows() {
                reduction.kept.push((from as u32, target, is_within));
            }
        }
    }
    reduction
}

/// The graph with each circle as one part.
struct Acyclic {
    /// The part of each node.
    part: Vec<u32>,
    /// The targets of each part, each once.
    links: Vec<Vec<u32>>,
    /// Of each part, in each walk: the lowest number below it, and its own. What it reaches lies in between.
    spans: Vec<[(u32, u32); WALKS]>,
}

impl Acyclic {
    fn of(links: &[Vec<u32>]) -> Acyclic {
        let with_unit: Vec<Vec<(u32, ())>> =
            links.iter().map(|it| it.iter().map(|it| (*it, ())).collect()).collect();
        let mut part: Vec<u32> = vec![u32::MAX; links.len()];
        let mut count = 0;
        let circles = components(with_unit.len(), |it| &with_unit[it as usize][..]);
        for circle in &circles {
            circle.iter().for_each(|it| part[*it as usize] = count);
            count += 1;
        }
        for own in part.iter_mut().filter(|it| **it == u32::MAX) {
            *own = count;
            count += 1;
        }
        let mut joined: Vec<Vec<u32>> = vec![Vec::new(); count as usize];
        for (from, targets) in links.iter().enumerate() {
            let targets = targets.iter().map(|it| part[*it as usize]);
            joined[part[from] as usize].extend(targets.filter(|it| *it != part[from]));
        }
        for targets in &mut joined {
            targets.sort_unstable();
            targets.dedup();
        }
        let mut acyclic =
            Acyclic { part, spans: vec![[(0, 0); WALKS]; joined.len()], links: joined };
        (0..WALKS).for_each(|it| acyclic.walk(it));
        acyclic
    }

    /// Numbers all parts, targets first.
    fn walk(&mut self, walk: usize) {
        let mut is_seen = vec![false; self.links.len()];
        let mut next = 0;
        // Where a node has no target, it is the lowest itself.
        let mut open: Vec<(u32, usize)> = Vec::new();
        for start in 0..self.links.len() {
            let start = if walk.is_multiple_of(2) { start } else { self.links.len() - 1 - start };
            if is_seen[start] {
                continue;
            }
            is_seen[start] = true;
            open.push((start as u32, 0));
            while let Some((node, at)) = open.pop() {
                let targets = &self.links[node as usize];
                if at == targets.len() {
                    let low = targets.iter().map(|it| self.spans[*it as usize][walk].0).min();
                    self.spans[node as usize][walk] = (low.unwrap_or(next).min(next), next);
                    next += 1;
                    continue;
                }
                open.push((node, at + 1));
                // Each walk takes the targets in another order.
                let turned = match walk {
                    0 => at,
                    1 => targets.len() - 1 - at,
                    _ => (at + targets.len() / 2) % targets.len(),
                };
                let target = targets[turned];
                if !std::mem::replace(&mut is_seen[target as usize], true) {
                    open.push((target, 0));
                }
            }
        }
    }

    /// Whether one part may reach another: no is certain.
    fn may_reach(&self, from: u32, to: u32) -> bool {
        let (outer, inner) = (&self.spans[from as usize], &self.spans[to as usize]);
        outer.iter().zip(inner).all(|(outer, inner)| outer.0 <= inner.0 && inner.1 <= outer.1)
    }
}

/// Looks for ways; what it works with is kept from one to the next.
struct Search {
    /// The round in which each part was seen.
    seen: Vec<u32>,
    round: u32,
    open: Vec<u32>,
}

impl Search {
    /// Looks at all that is two edges or more away.
    fn look_below(&mut self, graph: &Acyclic, from: u32) {
        self.round += 1;
        self.open.clear();
        let links = |part: u32| graph.links[part as usize].iter().copied();
        self.open.extend(links(from).flat_map(links));
        while let Some(part) = self.open.pop() {
            if std::mem::replace(&mut self.seen[part as usize], self.round) != self.round {
                self.open.extend(links(part).filter(|it| self.seen[*it as usize] != self.round));
            }
        }
    }

    /// Returns whether that is among it.
    fn was_seen(&self, part: u32) -> bool {
        self.seen[part as usize] == self.round
    }

    /// Returns whether there is a way of two edges or more.
    fn finds(&mut self, graph: &Acyclic, from: u32, to: u32) -> bool {
        self.round += 1;
        self.open.clear();
        let first = graph.links[from as usize].iter().copied();
        self.open.extend(first.filter(|it| *it != to && graph.may_reach(*it, to)));
        while let Some(part) = self.open.pop() {
            if std::mem::replace(&mut self.seen[part as usize], self.round) == self.round {
                continue;
            }
            let targets = &graph.links[part as usize];
            if targets.binary_search(&to).is_ok() {
                return true;
            }
            self.open.extend(targets.iter().copied().filter(|it| graph.may_reach(*it, to)));
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(links: &[Vec<u32>]) -> Vec<(u32, u32, bool)> {
        reduce(links).kept
    }

    #[test]
    fn what_follows_from_other_edges_goes() {
        assert_eq!(kept(&[vec![1, 2], vec![2], vec![]]), [(0, 1, false), (1, 2, false)]);
    }

    #[test]
    fn a_circle_is_kept_as_a_whole() {
        let links = [vec![1, 2], vec![0, 2], vec![3], vec![]];
        let kept = kept(&links);
        assert_eq!(kept, [(0, 1, true), (0, 2, false), (1, 0, true), (1, 2, false), (2, 3, false)]);
    }

    #[test]
    fn it_agrees_with_looking_everywhere() {
        // Numbers of a simple generator: each edge goes to a lower node.
        let mut number: u64 = 7;
        let mut next = |below: u64| {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (number >> 33) % below
        };
        for count in 2..40_u32 {
            let links: Vec<Vec<u32>> = (0..count)
                .map(|node| {
                    let wanted = if node == 0 { 0 } else { next(5) };
                    let mut targets: Vec<u32> =
                        (0..wanted).map(|_| next(u64::from(node)) as u32).collect();
                    targets.sort_unstable();
                    targets.dedup();
                    targets
                })
                .collect();
            let reaches = |from: u32, to: u32| {
                let mut open = links[from as usize].clone();
                while let Some(it) = open.pop() {
                    if it == to {
                        return true;
                    }
                    open.extend(&links[it as usize]);
                }
                false
            };
            let expected: Vec<(u32, u32, bool)> = (0..count)
                .flat_map(|from| links[from as usize].iter().map(move |to| (from, *to)))
                .filter(|(from, to)| {
                    !links[*from as usize].iter().any(|it| it != to && reaches(*it, *to))
                })
                .map(|(from, to)| (from, to, false))
                .collect();
            assert_eq!(kept(&links), expected, "{links:?}");
            assert_eq!(reduce_with(&links, 0).kept, expected, "{links:?}");
        }
    }
}
