//! Which nodes of a graph depend on each other.

/// Returns the strongly connected components of more than one node (Tarjan, with a stack of its own).
///
/// - `links`: what each of `count` nodes depends on.
pub fn components<'l, T: 'l>(count: usize, links: impl Fn(u32) -> &'l [(u32, T)]) -> Vec<Vec<u32>> {
    const UNSEEN: u32 = u32::MAX;
    let (mut order, mut low, mut on_stack) =
        (vec![UNSEEN; count], vec![0; count], vec![false; count]);
    let (mut stack, mut found, mut next) = (Vec::new(), Vec::new(), 0);
    for root in 0..count as u32 {
        if order[root as usize] != UNSEEN {
            continue;
        }
        let mut work = vec![(root, 0)];
        while let Some((node, at)) = work.pop() {
            let index = node as usize;
            if at == 0 {
                (order[index], low[index]) = (next, next);
                next += 1;
                stack.push(node);
                on_stack[index] = true;
            } else {
                let child = links(node)[at - 1].0 as usize;
                if on_stack[child] {
                    low[index] = low[index].min(low[child]);
                }
            }
            if let Some((child, _)) = links(node).get(at) {
                work.push((node, at + 1));
                if order[*child as usize] == UNSEEN {
                    work.push((*child, 0));
                }
                continue;
            }
            if low[index] == order[index] {
                let start = stack
                    .iter()
                    .rposition(|it| *it == node)
                    .expect("a node stays on the stack until its component is found");
                let component = stack.split_off(start);
                component.iter().for_each(|it| on_stack[*it as usize] = false);
                if component.len() > 1 {
                    found.push(component);
                }
            }
        }
    }
    found
}
