//! `fleet impact`: what would be touched if an object changed, in its stack and in others. Only the buckets on the way are read.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use entail::address::Instance;
use entail::diagnostic::{Diagnostic, Diagnostics};
use entail::operation::impact::{Direction, Impact};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ask::split;
use crate::lake::{Scan, Wanted, table};

/// A node: its stack, its address.
type Object = (u32, u32);

/// What is known of who rests on whom, stack by stack.
struct Edges<'a> {
    scan: &'a Scan<'a>,
    direction: Direction,
    names: Vec<String>,
    numbers: FxHashMap<String, u32>,
    next: FxHashMap<Object, Vec<Object>>,
    read: BTreeSet<u32>,
    known: FxHashSet<Object>,
}

/// Finds what rests on an object, or what it rests on.
///
/// # Errors
///
/// If nothing has the address, or the lake cannot be read.
pub fn impact(scan: &Scan<'_>, of: &[String], direction: Direction) -> Result<Impact, Diagnostics> {
    let mut edges = Edges {
        scan,
        direction,
        names: Vec::new(),
        numbers: FxHashMap::default(),
        next: FxHashMap::default(),
        read: BTreeSet::new(),
        known: FxHashSet::default(),
    };
    let mut reached: FxHashMap<Object, (usize, Option<Object>)> = FxHashMap::default();
    let mut order = Vec::new();
    for address in of {
        let start = edges.find(address)?;
        if reached.insert(start, (0, None)).is_none() {
            order.push(start);
        }
    }
    let mut todo: VecDeque<Object> = order.iter().copied().collect();
    while let Some(object) = todo.pop_front() {
        let distance = reached[&object].0;
        if direction.depth.is_some_and(|most| distance >= most) {
            continue;
        }
        for other in edges.beside(object)? {
            reached.entry(other).or_insert_with(|| {
                order.push(other);
                todo.push_back(other);
                (distance + 1, Some(object))
            });
        }
    }
    let mut named: Vec<(usize, String, Object)> =
        order.into_iter().map(|it| (reached[&it].0, edges.name(it), it)).collect();
    named.sort();
    let mut found = Impact::default();
    let mut numbers: FxHashMap<Object, usize> = FxHashMap::default();
    for (_, name, object) in named {
        // What lies before it is nearer.
        let step = found.step(name, reached[&object].1.map(|it| numbers[&it]));
        numbers.insert(object, step);
        found.list(step, Vec::new());
    }
    Ok(found)
}

impl Edges<'_> {
    fn number(&mut self, text: &str) -> u32 {
        if let Some(known) = self.numbers.get(text) {
            return *known;
        }
        let number = self.names.len() as u32;
        self.names.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }

    fn name(&self, (stack, address): Object) -> String {
        format!("{}@{}", self.names[address as usize], self.names[stack as usize])
    }

    fn find(&mut self, text: &str) -> Result<Object, Diagnostics> {
        let Some((address, stack)) = split(text) else { return Err(no_stack(text).into()) };
        if !self.scan.catalogue().stacks.contains_key(stack) {
            return Err(unknown_stack(stack, &self.scan.catalogue().stacks).into());
        }
        let object = (self.number(stack), self.number(address));
        self.stack(object.0)?;
        match self.known.contains(&object) {
            true => Ok(object),
            false => Err(Diagnostic::error("Nothing has that address")
                .detail(format!("The state of `{stack}` holds no {address}."))
                .into()),
        }
    }

    fn beside(&mut self, object: Object) -> Result<Vec<Object>, Diagnostics> {
        self.stack(object.0)?;
        let mut found = self.next.get(&object).cloned().unwrap_or_default();
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Reads what is known of a stack, once.
    fn stack(&mut self, stack: u32) -> Result<(), Diagnostics> {
        if !self.read.insert(stack) {
            return Ok(());
        }
        let name = self.names[stack as usize].clone();
        let bucket = BTreeSet::from([self.scan.catalogue().bucket(&name)]);
        let is_reverse = self.direction.reverse;
        let across = if is_reverse { "uses" } else { "used_by" };
        for relation in ["resource", "data_source", "output", "rests_on", "reads", across] {
            let Some(table) = table(relation) else { continue };
            let only = vec![("stack", BTreeSet::from([name.clone()]))];
            let wanted = Wanted { only, buckets: Some(bucket.clone()), ..Wanted::all(table) };
            let mut rows: Vec<(String, Option<(String, String)>)> = Vec::new();
            self.scan.rows(&wanted, &mut |row| {
                let text = |at: usize| row.get(at).copied().flatten().map(str::to_owned);
                let Some(node) = text(1) else { return };
                let other = match relation {
                    "rests_on" | "reads" => {
                        let Some(read) = text(2) else { return };
                        // A nearest object is a row of its own, with or without values between.
                        if !(is_object(&node) && is_object(&read)) {
                            return;
                        }
                        Some((name.clone(), read))
                    }
                    "uses" | "used_by" => text(2).zip(text(3)),
                    _ => None,
                };
                rows.push((node, other));
            })?;
            for (node, other) in rows {
                let node = (stack, self.number(&node));
                let Some((stack, address)) = other else {
                    self.known.insert(node);
                    continue;
                };
                let other = (self.number(&stack), self.number(&address));
                let is_within = relation != across;
                let (from, to) = match is_within && !is_reverse {
                    true => (other, node),
                    false => (node, other),
                };
                self.next.entry(from).or_default().push(to);
            }
        }
        Ok(())
    }
}

/// Returns whether an address is that of a resource instance, and not of a value.
fn is_object(address: &str) -> bool {
    address.parse::<Instance>().is_ok()
}

fn no_stack(text: &str) -> Diagnostic {
    Diagnostic::error("Address without a stack").detail(format!(
        "`{text}` does not say in which stack it is. An object of a fleet is written as ADDRESS@STACK, such as aws_vpc.main@live/network."
    ))
}

fn unknown_stack<T>(stack: &str, known: &BTreeMap<String, T>) -> Diagnostic {
    let near = entail_cli::arguments::nearest(stack, known.keys().map(String::as_str));
    let hint = near.map_or(String::new(), |it| format!(" Did you mean `{it}`?"));
    Diagnostic::error("Unknown stack")
        .detail(format!("The lake has no stack called `{stack}`.{hint}"))
}
