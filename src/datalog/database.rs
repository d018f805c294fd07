//! Rows of relations: appended, never changed, each with what it was derived from.
//!
//! A row is known by its relation and its position. Indexes are chains from newest to oldest, so that a range of
//! positions – what was there before a round, what a round added – can be walked without copying.

use std::hash::Hasher;
use std::sync::OnceLock;

use entail_rules::Tables;
use rustc_hash::{FxHashMap, FxHasher};

use super::check::Program;
use super::values;

/// The end of a chain, and no rule.
const NONE: u32 = u32::MAX;

/// Where a row came from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Derivation {
    /// The rule; `NONE` for a given row.
    rule: u32,
    /// Where its premises begin.
    premises: u32,
}

/// The rows of one relation.
#[derive(Clone, Debug, Default)]
pub struct Table {
    arity: usize,
    words: Vec<u64>,
    derivations: Vec<Derivation>,
    /// Positions of rows that are possible and not certain, each with whether a certain one has taken its place since.
    possible: FxHashMap<u32, bool>,
    /// Open addressing over positions, made when a row is first looked for: of most given tables none is.
    slots: OnceLock<Vec<u32>>,
    indexes: Vec<Index>,
}

/// Rows by the words in some columns.
#[derive(Clone, Debug, Default)]
struct Index {
    columns: Vec<usize>,
    newest: Newest,
    /// By position, the next older row with the same words in the columns.
    older: Vec<u32>,
    /// Rows of which a word in the columns is not known yet, so that it may equal any other; oldest first.
    open: Vec<u32>,
}

/// The newest row of a chain, if the chain has any.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChainStart(u32);

/// The position of the newest row for the words in the columns of an index.
#[derive(Clone, Debug)]
enum Newest {
    /// By the word itself, where there is one column and its words are small, as numbers of nodes are.
    Dense(Vec<u32>),
    /// By the hash of the words.
    Hashed(FxHashMap<u64, u32>),
}

impl Default for Newest {
    fn default() -> Newest {
        Newest::Hashed(FxHashMap::default())
    }
}

impl Newest {
    /// Puts a row in front, and returns the one that was there.
    ///
    /// - `count`: how many rows there are; words up to a few times that are small.
    fn replace(&mut self, key: impl Iterator<Item = u64>, position: u32, count: usize) -> u32 {
        match self {
            Newest::Hashed(all) => all.insert(hash(key), position).unwrap_or(NONE),
            Newest::Dense(all) => {
                let word = key.last().unwrap_or_default();
                match usize::try_from(word).ok().filter(|it| *it < 4 * count + 1024) {
                    Some(at) => {
                        if at >= all.len() {
                            all.resize(at + 1, NONE);
                        }
                        std::mem::replace(&mut all[at], position)
                    }
                    None => {
                        let known = (0..).zip(all.iter().copied()).filter(|it| it.1 != NONE);
                        let hashed = known.map(|(word, it)| (hash(std::iter::once(word)), it));
                        *self = Newest::Hashed(hashed.collect());
                        self.replace(std::iter::once(word), position, count)
                    }
                }
            }
        }
    }

    fn get(&self, key: impl Iterator<Item = u64>) -> u32 {
        let found = match self {
            Newest::Hashed(all) => all.get(&hash(key)),
            Newest::Dense(all) => {
                usize::try_from(key.last().unwrap_or_default()).ok().and_then(|it| all.get(it))
            }
        };
        found.copied().unwrap_or(NONE)
    }
}

/// The rows of all relations of a program.
#[derive(Clone, Debug, Default)]
pub struct Database {
    pub(super) tables: Vec<Table>,
    pub(super) premises: Vec<u32>,
    /// How often each rule's body was met, whether or not its conclusion was there already.
    pub(super) met: Vec<u64>,
}

impl Database {
    /// Returns a database without rows.
    pub fn new(program: &Program) -> Database {
        let table = |arity| Table { arity, ..Table::default() };
        Database {
            tables: program.relations.iter().map(|it| table(it.columns.len())).collect(),
            premises: Vec::new(),
            met: vec![0; program.rules.len()],
        }
    }

    /// Makes room for the further relations and rules of a program that this one's is the beginning of.
    pub(super) fn make_room(&mut self, program: &Program) {
        let further = program.relations.iter().skip(self.tables.len());
        self.tables.extend(further.map(|it| Table { arity: it.columns.len(), ..Table::default() }));
        self.met.resize(program.rules.len(), 0);
    }

    /// Adds a row that nothing derives. Returns false if it is there already.
    ///
    /// # Panics
    ///
    /// If the row has another number of columns than the relation.
    pub fn give(&mut self, relation: usize, row: &[u64]) -> bool {
        self.tables[relation].add(row, Derivation { rule: NONE, premises: 0 }, true)
    }

    /// Adds a row that may hold, and that nothing derives. Returns false if it is there already.
    pub fn give_possible(&mut self, relation: usize, row: &[u64]) -> bool {
        self.tables[relation].add(row, Derivation { rule: NONE, premises: 0 }, false)
    }

    /// Adds the rows of `tables` whose relation the program has and `wanted` accepts.
    pub fn give_tables(
        &mut self,
        program: &Program,
        tables: &dyn Tables,
        wanted: impl Fn(usize) -> bool,
    ) {
        let mut row = Vec::new();
        tables.for_each_relation(&mut |relation, rows| {
            let Some(number) = program.relation(relation.name).filter(|it| wanted(*it)) else {
                return;
            };
            self.tables[number].reserve(rows.count());
            for index in 0..rows.count() {
                rows.write(index, &mut row);
                if !self.tables[number].append(&row) {
                    self.give(number, &row);
                }
            }
        });
    }

    /// Adds a row derived by a rule from the rows at `premises`, one per positive literal.
    pub(super) fn derive(
        &mut self,
        relation: usize,
        row: &[u64],
        rule: usize,
        premises: &[u32],
        is_certain: bool,
    ) -> bool {
        let derivation = Derivation { rule: rule as u32, premises: self.premises.len() as u32 };
        let is_new = self.tables[relation].add(row, derivation, is_certain);
        if is_new {
            self.premises.extend_from_slice(premises);
        }
        is_new
    }

    /// Returns how often the body of a rule was met, whether or not its conclusion was there already.
    pub fn times_met(&self, rule: usize) -> u64 {
        self.met[rule]
    }

    /// Returns the rows of a relation.
    pub fn table(&self, relation: usize) -> &Table {
        &self.tables[relation]
    }

    /// Returns the rule that derived a row, and the positions of the rows that its `count` positive literals matched; nothing for a given row.
    pub fn derivation(
        &self,
        relation: usize,
        position: usize,
        count: impl Fn(usize) -> usize,
    ) -> Option<(usize, &[u32])> {
        let Derivation { rule, premises } = self.tables[relation].derivations[position];
        let (rule, start) = (rule as usize, premises as usize);
        (rule != NONE as usize).then(|| (rule, &self.premises[start..start + count(rule)]))
    }
}

impl Table {
    /// Returns how many rows there are.
    pub fn len(&self) -> usize {
        self.derivations.len()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.derivations.is_empty()
    }

    /// Returns the row at a position.
    pub fn row(&self, position: usize) -> &[u64] {
        &self.words[position * self.arity..(position + 1) * self.arity]
    }

    /// Iterates over the rows, oldest first.
    pub fn rows(&self) -> impl Iterator<Item = &[u64]> {
        (0..self.len()).map(|it| self.row(it))
    }

    /// Returns the position of a row.
    pub fn position(&self, row: &[u64]) -> Option<usize> {
        if self.is_empty() || row.len() != self.arity {
            return None;
        }
        let slots = self.slots();
        let found = slots[self.slot(slots, row)];
        (found != NONE).then_some(found as usize)
    }

    /// Returns whether a row holds for certain.
    pub fn is_certain(&self, position: usize) -> bool {
        self.possible.is_empty() || !self.possible.contains_key(&(position as u32))
    }

    /// Returns whether every row holds for certain.
    pub fn is_all_certain(&self) -> bool {
        self.possible.is_empty()
    }

    /// Returns whether the same row holds for certain, at another position.
    pub fn is_replaced(&self, position: usize) -> bool {
        !self.possible.is_empty() && self.possible.get(&(position as u32)) == Some(&true)
    }

    /// Iterates over the positions of the rows, oldest first, each row once.
    pub fn positions(&self) -> impl Iterator<Item = usize> {
        (0..self.len()).filter(|it| !self.is_replaced(*it))
    }

    /// Adds a given row behind all that are smaller, and returns whether it did: then it cannot be there already, and need not be looked for.
    fn append(&mut self, row: &[u64]) -> bool {
        let is_greater = match self.len() {
            0 => row.len() == self.arity,
            count => row > self.row(count - 1),
        };
        let may = is_greater && self.slots.get().is_none() && self.possible.is_empty();
        if may {
            self.words.extend_from_slice(row);
            self.derivations.push(Derivation { rule: NONE, premises: 0 });
        }
        may
    }

    /// Adds a row. One that was only possible may become certain: then it is there again, as a new one.
    fn add(&mut self, row: &[u64], derivation: Derivation, is_certain: bool) -> bool {
        assert_eq!(row.len(), self.arity, "a row has one word per column");
        if self.len() * 2 >= self.slots().len() {
            let count = self.slots().len() * 2;
            self.slots = self.made_slots(count).into();
        }
        let slot = self.slot(self.slots(), row);
        let known = self.slots()[slot];
        if known != NONE {
            if !is_certain || self.is_certain(known as usize) {
                return false;
            }
            self.possible.insert(known, true);
        }
        let position = self.len() as u32;
        if !is_certain {
            self.possible.insert(position, false);
        }
        if let Some(slots) = self.slots.get_mut() {
            slots[slot] = position;
        }
        self.words.extend_from_slice(row);
        self.derivations.push(derivation);
        true
    }

    /// Returns the slot that holds the row, or the free one where it belongs.
    fn slot(&self, slots: &[u32], row: &[u64]) -> usize {
        let mask = slots.len() - 1;
        let mut slot = hash(row.iter().copied()) as usize & mask;
        while slots[slot] != NONE && self.row(slots[slot] as usize) != row {
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// Makes room for further rows.
    fn reserve(&mut self, further: usize) {
        self.words.reserve(further * self.arity);
        self.derivations.reserve(further);
    }

    fn slots(&self) -> &[u32] {
        self.slots.get_or_init(|| {
            self.made_slots((self.derivations.capacity() * 2 + 1).next_power_of_two().max(16))
        })
    }

    /// Returns a number of slots, a power of two, with every row in its own.
    fn made_slots(&self, count: usize) -> Vec<u32> {
        let mut slots = vec![NONE; count];
        for position in (0..self.len()).filter(|it| !self.is_replaced(*it)) {
            let slot = self.slot(&slots, self.row(position));
            slots[slot] = position as u32;
        }
        slots
    }

    /// Returns the number of the index over these columns, which it makes or brings up to date.
    pub(super) fn index(&mut self, columns: &[usize]) -> usize {
        let number =
            self.indexes.iter().position(|it| it.columns == columns).unwrap_or_else(|| {
                let newest = match columns {
                    [_] => Newest::Dense(Vec::new()),
                    _ => Newest::default(),
                };
                self.indexes.push(Index { columns: columns.to_vec(), newest, ..Index::default() });
                self.indexes.len() - 1
            });
        let mut index = std::mem::take(&mut self.indexes[number]);
        for position in index.older.len()..self.len() {
            let row = self.row(position);
            if index.columns.iter().any(|&it| values::is_open(row[it])) {
                index.open.push(position as u32);
                index.older.push(NONE);
                continue;
            }
            let key = index.columns.iter().map(|&it| values::key(row[it]));
            let older = index.newest.replace(key, position as u32, self.len());
            index.older.push(older);
        }
        self.indexes[number] = index;
        number
    }

    /// Returns the positions of rows of which a word in the index's columns is not known yet, oldest first.
    pub(super) fn open(&self, index: usize) -> &[u32] {
        &self.indexes[index].open
    }

    /// Returns where the chain of the rows begins whose words in the index's columns hash like `key`.
    pub(super) fn newest(&self, index: usize, key: impl Iterator<Item = u64>) -> ChainStart {
        ChainStart(self.indexes[index].newest.get(key.map(values::key)))
    }

    /// Iterates over the positions of a chain of an index, newest first.
    pub(super) fn chain(&self, index: usize, newest: ChainStart) -> impl Iterator<Item = usize> {
        let older = &self.indexes[index].older;
        let some = |it: u32| (it != NONE).then_some(it as usize);
        std::iter::successors(some(newest.0), move |it| some(older[*it]))
    }
}

fn hash(words: impl Iterator<Item = u64>) -> u64 {
    let mut hasher = FxHasher::default();
    words.for_each(|it| hasher.write_u64(it));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use entail_rules::{Facts, Node};
    use pretty_assertions::assert_eq;

    use super::*;

    /// Words that are small, and some that are not.
    fn table(words: &[u64]) -> Table {
        let mut table = Table { arity: 2, ..Table::default() };
        for (at, word) in words.iter().enumerate() {
            let given = Derivation { rule: NONE, premises: 0 };
            assert!(table.add(&[*word, at as u64], given, true), "each row is another one");
        }
        table
    }

    #[test]
    fn an_index_finds_rows_by_small_words_and_by_large_ones() {
        let mut words: Vec<u64> = (0..50).map(|it| it % 7).collect();
        for more in [vec![], vec![900, 3], vec![1 << 33, 3, 1 << 40, 1 << 33]] {
            words.extend(more);
            let mut table = table(&words[..words.len() / 2]);
            // The index is made of half of the rows, and gets the others later.
            table.index(&[0]);
            for (at, word) in words.iter().enumerate().skip(words.len() / 2) {
                table.add(&[*word, at as u64], Derivation { rule: NONE, premises: 0 }, true);
            }
            let index = table.index(&[0]);
            for word in [0, 3, 8, 900, 1 << 33, 1 << 40] {
                let newest = table.newest(index, std::iter::once(word));
                let found: Vec<usize> = table.chain(index, newest).collect();
                let all = words.iter().enumerate().rev().filter(|it| *it.1 == word);
                assert_eq!(found, all.map(|it| it.0).collect::<Vec<_>>(), "{word}");
            }
        }
    }

    #[test]
    fn rows_are_given_once_in_whatever_order() {
        let program = crate::reason::shipped::program();
        let reads = program.relation("reads").expect("a relation of facts");
        let pairs = |all: &[(u32, u32)]| Facts {
            reads: all.iter().map(|it| (Node(it.0), Node(it.1))).collect(),
            ..Facts::default()
        };
        let mut database = Database::new(program);
        for facts in [
            pairs(&[(1, 2), (3, 1), (3, 4)]),
            pairs(&[(3, 4), (0, 1), (5, 5), (1, 2), (5, 5)]),
            pairs(&[(6, 1), (7, 1)]),
        ] {
            database.give_tables(program, &facts, |_| true);
        }
        let table = database.table(reads);
        let rows: Vec<(u64, u64)> = table.rows().map(|it| (it[0], it[1])).collect();
        assert_eq!(rows, [(1, 2), (3, 1), (3, 4), (0, 1), (5, 5), (6, 1), (7, 1)]);
        assert!(rows.iter().all(|it| table.position(&[it.0, it.1]).is_some()));
        assert_eq!(table.position(&[1, 3]), None);
    }
}
