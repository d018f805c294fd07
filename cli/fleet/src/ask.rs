//! A lake as rules see it: nodes of all stacks, the rows that some rule reads, and values where a rule looks at them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use entail::datalog::check::{Literal, Part as Piece, Rule, Step, Term};
use entail::datalog::values::is_value;
use entail::datalog::{Database, Program};
use entail::diagnostic::Diagnostics;
use entail::policy::elsewhere::{Elsewhere, FIRST};
use entail::reason::{Engine, EngineRef};
use entail::value::json::from_json_implied;
use entail::value::{Marks, Str, Type, Value};
use entail_rules::{Atom, Node};
use rustc_hash::FxHashMap;

use crate::lake::{Column, OF_NODES, Scan, TABLES, Table, Wanted, table};
use crate::nodes::Nodes;
use crate::texts::Texts;

/// What of a lake a program reads.
pub struct Facts {
    /// The rows by the number of their relation, one behind the other, and how long one is.
    rows: BTreeMap<usize, (usize, Vec<u64>)>,
    nodes: Nodes,
    /// Of each node, what is known of its value.
    values: Vec<Vec<Part>>,
    /// Values by number: many objects have one in common.
    read: Vec<Value>,
    /// Of each node, its value, once somebody has looked at it.
    known: Vec<OnceLock<Value>>,
    places: FxHashMap<u32, (String, usize)>,
    /// Where the states of stacks are.
    stacks: BTreeMap<String, String>,
    /// Whether plans of some were read.
    has_plans: bool,
    engine: EngineRef,
}

/// An attribute, and the number of its value; nothing where that is kept nowhere.
type Part = (Str, Option<u32>);

impl Facts {
    /// Reads what a program reads, and no more.
    ///
    /// # Errors
    ///
    /// If the lake cannot be read.
    pub fn read(
        program: &Program,
        scan: &Scan<'_>,
        engine: EngineRef,
    ) -> Result<Facts, Diagnostics> {
        let stacks = scan.catalogue().stacks.iter();
        let mut facts = Facts {
            rows: BTreeMap::new(),
            nodes: Nodes::default(),
            values: Vec::new(),
            read: Vec::new(),
            known: Vec::new(),
            places: FxHashMap::default(),
            has_plans: scan.catalogue().stacks.values().any(|it| it.is_planned),
            stacks: stacks.map(|(name, it)| (name.clone(), it.place.clone())).collect(),
            engine,
        };
        let reading = Reading { program, scan };
        for table in TABLES {
            let number = table.relation.and_then(|it| program.relation(it));
            if let Some(number) = number.filter(|it| program.rests_on(*it)) {
                facts.relation(&reading, table, number)?;
            }
        }
        facts.values(&reading)?;
        if let Some(number) = program.relation("stack").filter(|it| program.rests_on(*it)) {
            facts.text_of_all((program, scan), number, |(stack, _)| stack)?;
        }
        if let Some(number) = program.relation("address").filter(|it| program.rests_on(*it)) {
            facts.text_of_all((program, scan), number, |(_, address)| address)?;
        }
        facts.declared(scan)?;
        Ok(facts)
    }

    fn relation(
        &mut self,
        reading: &Reading<'_>,
        table: &'static Table,
        number: usize,
    ) -> Result<(), Diagnostics> {
        let values = &reading.program.values;
        let only = reading.constants(table, number);
        let wanted = Wanted { only, ..Wanted::all(table) };
        let is_between = table.columns.get(1).is_some_and(|it| it.1 != Column::Node);
        reading.scan.rows(&wanted, &mut |row| {
            let (mut words, mut of) = (Vec::new(), row[0].unwrap_or_default());
            if is_between {
                words.push(values.text(of));
            }
            for (cell, (_, column)) in row.iter().zip(table.columns).skip(1) {
                let Some(text) = cell else { return };
                match column {
                    // The stack of the node behind it; between stacks, a name of its own.
                    Column::Stack if is_between => words.push(values.text(text)),
                    Column::Stack => of = text,
                    Column::Node => words.push(self.nodes.node(of, text).word()),
                    Column::Json => {
                        let value = from_json_implied(text).unwrap_or(Value::string(text));
                        words.push(values.word(&value));
                    }
                    Column::Number => words.push(values.number(text.parse().unwrap_or_default())),
                    Column::Text | Column::Flag => words.push(values.text(text)),
                }
            }
            push(&mut self.rows, number, &words);
        })
    }

    /// The values that rules look at.
    fn values(&mut self, reading: &Reading<'_>) -> Result<(), Diagnostics> {
        let Some(table) = table("attribute") else { return Ok(()) };
        let Some((names, kinds)) = reading.attributes() else { return Ok(()) };
        let mut only = Vec::new();
        if let Some(names) = names {
            only.push(("attribute", names));
        }
        if let Some(kinds) = kinds {
            only.push(("type", kinds));
        }
        let columns = vec!["stack", "node", "attribute", "value"];
        let wanted = Wanted { table, columns, only, buckets: None };
        let (mut names, mut numbers) = (FxHashMap::default(), Texts::default());
        reading.scan.rows(&wanted, &mut |row| {
            let [Some(stack), Some(node), Some(attribute), value] = row[..] else { return };
            let node = self.nodes.node(stack, node);
            let name: &Str = match names.get(attribute) {
                Some(known) => known,
                None => names.entry(attribute.to_owned()).or_insert(Str::from(attribute)),
            };
            let number = value.map(|json| {
                let number = numbers.number(json);
                if number as usize == self.read.len() {
                    self.read.push(from_json_implied(json).unwrap_or(Value::NULL));
                }
                number
            });
            let at = (node.0 - FIRST) as usize;
            if self.values.len() <= at {
                self.values.resize_with(at + 1, Vec::new);
            }
            self.values[at].push((name.clone(), number));
        })?;
        self.known.resize_with(self.values.len(), OnceLock::new);
        Ok(())
    }

    /// Takes in rows of texts that were concluded elsewhere; a node is its address and its stack.
    #[cfg(feature = "cluster")]
    pub fn take_in(&mut self, program: &Program, relation: usize, rows: &[Vec<String>]) {
        use crate::engine::cluster::BETWEEN;
        for row in rows {
            let words: Vec<u64> = row
                .iter()
                .map(|it| match it.split_once(BETWEEN) {
                    Some((address, stack)) => self.nodes.node(stack, address).word(),
                    None => program.values.text(it),
                })
                .collect();
            push(&mut self.rows, relation, &words);
        }
    }

    /// A text of every object, output, module instance and variable: `stack(n, s)`, `address(n, a)`.
    fn text_of_all(
        &mut self,
        (program, scan): (&Program, &Scan<'_>),
        number: usize,
        text: for<'n> fn((&'n str, &'n str)) -> &'n str,
    ) -> Result<(), Diagnostics> {
        self.for_each_node(scan)?;
        for (node, stack, address) in self.nodes.all() {
            let text = program.values.text(text((stack, address)));
            push(&mut self.rows, number, &[node.word(), text]);
        }
        Ok(())
    }

    fn for_each_node(&mut self, scan: &Scan<'_>) -> Result<(), Diagnostics> {
        for name in OF_NODES {
            let Some(table) = table(name) else { continue };
            let wanted = Wanted { columns: vec!["stack", "node"], ..Wanted::all(table) };
            scan.rows(&wanted, &mut |row| {
                if let [Some(stack), Some(node)] = row[..] {
                    self.nodes.node(stack, node);
                }
            })?;
        }
        Ok(())
    }

    fn object(&self, parts: &[Part]) -> Value {
        let parts = parts.iter().map(|(name, number)| {
            let value = match number {
                Some(number) => self.read[*number as usize].clone(),
                // Its value is kept nowhere: only that it is one.
                None => Value::unknown(Type::DYNAMIC).mark(&Marks::sensitive()),
            };
            (name.clone(), value)
        });
        Value::object(parts.collect::<Vec<_>>())
    }

    /// Where blocks stand, of the nodes that were read.
    fn declared(&mut self, scan: &Scan<'_>) -> Result<(), Diagnostics> {
        let Some(table) = table("declared_at") else { return Ok(()) };
        let columns = vec!["stack", "node", "file", "line"];
        scan.rows(&Wanted { columns, ..Wanted::all(table) }, &mut |row| {
            let [Some(stack), Some(node), Some(file), Some(line)] = row[..] else { return };
            if let Some(node) = self.nodes.find(stack, node) {
                let file = format!("{stack}/{file}");
                self.places.insert(node.0, (file, line.parse().unwrap_or_default()));
            }
        })
    }
}

impl Elsewhere for Facts {
    fn tell(&self, _: &Program, into: &mut Database) {
        for (number, (width, words)) in &self.rows {
            for row in words.chunks(*width) {
                into.give(*number, row);
            }
        }
    }

    fn engine(&self) -> &dyn Engine {
        self.engine
    }

    fn has_plans(&self) -> bool {
        self.has_plans
    }

    fn address(&self, node: Node) -> String {
        match self.nodes.name(node) {
            Some((stack, address)) => format!("{address}@{stack}"),
            None => String::new(),
        }
    }

    fn find(&self, address: &str) -> Option<Node> {
        let (address, stack) = split(address)?;
        self.nodes.find(stack, address)
    }

    fn value(&self, node: Node) -> Option<Value> {
        let at = node.0.checked_sub(FIRST)? as usize;
        let parts = self.values.get(at).filter(|it| !it.is_empty())?;
        Some(self.known.get(at)?.get_or_init(|| self.object(parts)).clone())
    }

    fn place(&self, node: Node) -> Option<(String, usize, usize)> {
        if let Some((file, line)) = self.places.get(&node.0) {
            return Some((file.clone(), *line, 1));
        }
        let (stack, _) = self.nodes.name(node)?;
        Some((self.stacks.get(stack)?.clone(), 0, 0))
    }
}

fn push(rows: &mut BTreeMap<usize, (usize, Vec<u64>)>, number: usize, row: &[u64]) {
    rows.entry(number).or_insert_with(|| (row.len(), Vec::new())).1.extend_from_slice(row);
}

/// Returns the address and the stack of what is written as `ADDRESS@STACK`.
pub fn split(address: &str) -> Option<(&str, &str)> {
    // Keys may have the sign in them, names of stacks need not.
    let quoted = address.rfind("\"]").map_or(0, |it| it + 2);
    let at = quoted + address[quoted..].find('@')?;
    Some((&address[..at], &address[at + 1..]))
}

/// What a program reads of a lake.
struct Reading<'a> {
    program: &'a Program,
    scan: &'a Scan<'a>,
}

/// Names of attributes and types that may be looked at; nothing where it may be any.
type Looked = (Option<BTreeSet<String>>, Option<BTreeSet<String>>);

impl Reading<'_> {
    /// The texts that columns of a relation must have wherever it is read.
    fn constants(
        &self,
        table: &'static Table,
        number: usize,
    ) -> Vec<(&'static str, BTreeSet<String>)> {
        let patterns: Vec<&[Term]> = self
            .program
            .rules
            .iter()
            .flat_map(|it| &it.body)
            .filter_map(|it| match it {
                Literal::Holds(it) | Literal::Absent(it) => Some(it),
                Literal::Aggregate { pattern, .. } => Some(pattern),
                _ => None,
            })
            .filter(|it| it.relation == number)
            .map(|it| &it.terms[..])
            .collect();
        let is_between = table.columns.get(1).is_some_and(|it| it.1 != Column::Node);
        let mut found = Vec::new();
        let mut column = 0;
        for (at, (name, kind)) in table.columns.iter().enumerate() {
            if !is_between && (at == 0 || *kind == Column::Stack) {
                continue;
            }
            let text = |terms: &&[Term]| match terms.get(column) {
                Some(Term::Word(it)) if is_value(*it) => self.program.values.as_text(*it),
                _ => None,
            };
            let texts: BTreeSet<String> = patterns.iter().filter_map(text).collect();
            let is_always = patterns.iter().all(|it| text(it).is_some());
            if is_always && !texts.is_empty() && matches!(kind, Column::Text | Column::Stack) {
                found.push((*name, texts));
            }
            column += 1;
        }
        found
    }

    /// Which attributes rules look at; nothing where they look at none.
    fn attributes(&self) -> Option<Looked> {
        let (mut names, mut kinds) = (Some(BTreeSet::new()), Some(BTreeSet::new()));
        let mut is_any = false;
        for rule in &self.program.rules {
            for (root, first) in looked_at(rule) {
                if rule.kinds.get(root).is_some_and(|it| it == "Value") {
                    continue;
                }
                is_any = true;
                match (first, &mut names) {
                    (Some(name), Some(names)) => drop(names.insert(name)),
                    (None, _) => names = None,
                    _ => {}
                }
                match (self.kind_of(rule, root), &mut kinds) {
                    (Some(kind), Some(kinds)) => drop(kinds.insert(kind)),
                    (None, _) => kinds = None,
                    _ => {}
                }
            }
        }
        is_any.then_some((names, kinds))
    }

    /// The type that a rule says a variable is of.
    fn kind_of(&self, rule: &Rule, variable: usize) -> Option<String> {
        rule.body.iter().find_map(|it| {
            let Literal::Holds(pattern) = it else { return None };
            let name = self.program.relations[pattern.relation].name.as_str();
            let is_kind = matches!(name, "resource" | "data_source" | "existing");
            match &pattern.terms[..] {
                [Term::Variable(it), Term::Word(kind)] if is_kind && *it == variable => {
                    self.program.values.as_text(*kind)
                }
                _ => None,
            }
        })
    }
}

/// The variables of a rule whose values it looks at, each with the attribute where that is named.
fn looked_at(rule: &Rule) -> Vec<(usize, Option<String>)> {
    let mut found = Vec::new();
    let mut see = |reference: &entail::datalog::check::Reference| {
        let name = match reference.steps.first() {
            Some(Step::Name(name)) => Some(name.to_string()),
            _ => None,
        };
        found.push((reference.root, name));
    };
    for literal in &rule.body {
        literal.for_each_reference(&mut see);
    }
    for term in &rule.terms {
        if let entail::datalog::check::Value::Message(parts) = term {
            for part in parts {
                if let Piece::Reference(it) = part {
                    see(it);
                }
            }
        }
    }
    found
}
