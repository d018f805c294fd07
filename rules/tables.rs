//! Named tables of rows: what facts and conclusions look like to code that does not know their fields.
//!
//! `tables!` writes a struct with one sorted vector per relation, and the views by name that the interpreter, the
//! `facts` command and the tests use – so that no relation's name is ever written twice.

use crate::atom::{Atom, Node};

/// What is known about a relation besides its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relation {
    /// Its name, as the rules write it.
    pub name: &'static str,
    /// What a row of it says, one line per element.
    pub doc: &'static [&'static str],
    /// The kinds of its columns.
    pub columns: &'static [&'static str],
    /// Who writes it, or which stratum concludes it.
    pub group: &'static str,
    /// Since which version of the catalogue it is there.
    pub since: &'static str,
}

/// A row of a relation: a tuple of atoms, or the empty tuple.
pub trait Row: Copy + Ord {
    /// The kinds of its columns.
    const KINDS: &'static [&'static str];

    /// Appends one whole number per column.
    fn write(&self, out: &mut Vec<u64>);

    /// Reads a row back; nothing when a number is no word of its column's kind or the count differs.
    fn read(words: &[u64]) -> Option<Self>;

    /// Returns the number of its first column, where that is the number of a thing: such numbers are in the order of the things.
    fn first(&self) -> Option<u64>;
}

/// Rows as whole numbers, whatever their type.
pub trait Rows {
    /// Returns how many there are.
    fn count(&self) -> usize;

    /// Overwrites `out` with the row at `index`.
    fn write(&self, index: usize, out: &mut Vec<u64>);
}

impl<R: Row> Rows for Vec<R> {
    fn count(&self) -> usize {
        self.len()
    }

    fn write(&self, index: usize, out: &mut Vec<u64>) {
        out.clear();
        self[index].write(out);
    }
}

/// A set of relations that can be seen by name.
pub trait Tables {
    /// Returns every relation, in the order of declaration.
    fn relations(&self) -> &'static [Relation];

    /// Shows every relation with its rows, in the order of declaration.
    fn for_each_relation(&self, see: &mut dyn FnMut(&'static Relation, &dyn Rows));

    /// Shows every relation that has rows, and its place among all of them.
    fn for_each_filled(&self, see: &mut dyn FnMut(usize, &'static Relation, &dyn Rows));

    /// Adds a row to the relation called `name`; false when there is none, or the row does not fit it.
    fn push_row(&mut self, name: &str, row: &[u64]) -> bool;

    /// Adds a row to the relation at a place among all of them, as [`push_row`](Tables::push_row) does.
    fn push_at(&mut self, place: usize, row: &[u64]) -> bool;

    /// Sorts every relation and removes what is there twice.
    fn tidy(&mut self);

    /// Removes every row.
    fn clear(&mut self);
}

/// Returns what stands beside a node in the rows of a sorted relation of two columns.
pub fn beside(rows: &[(Node, Node)], node: Node) -> impl Iterator<Item = Node> {
    let start = rows.partition_point(|it| it.0 < node);
    rows[start..].iter().take_while(move |it| it.0 == node).map(|it| it.1)
}

macro_rules! row {
    ($($name:ident)*) => {
        impl<$($name: Atom),*> Row for ($($name,)*) {
            const KINDS: &'static [&'static str] = &[$($name::KIND),*];

            #[expect(non_snake_case, reason = "one macro for every arity")]
            fn write(&self, out: &mut Vec<u64>) {
                let ($($name,)*) = *self;
                $(out.push($name.word());)*
            }

            fn read(words: &[u64]) -> Option<Self> {
                let mut words = words.iter();
                let row = ($($name::from_word(*words.next()?)?,)*);
                words.next().is_none().then_some(row)
            }

            fn first(&self) -> Option<u64> {
                first(self.0)
            }
        }
    };
}

fn first<A: Atom>(atom: A) -> Option<u64> {
    (A::COUNT > THINGS).then(|| atom.word())
}

/// What has more values than this is no word.
const THINGS: u64 = 1 << 16;

macro_rules! rows {
    () => {};
    ($first:ident $($rest:ident)*) => {
        row!($first $($rest)*);
        rows!($($rest)*);
    };
}

rows!(A B C D E F G);

impl Row for () {
    const KINDS: &'static [&'static str] = &[];

    fn write(&self, _: &mut Vec<u64>) {}

    fn read(words: &[u64]) -> Option<()> {
        words.is_empty().then_some(())
    }

    fn first(&self) -> Option<u64> {
        None
    }
}

/// The version of the catalogue in which a relation came to it: the first, unless its declaration says another.
macro_rules! since {
    () => {
        "1.0"
    };
    ($since:literal) => {
        $since
    };
}

/// Writes a struct of relations, grouped by who writes them, and its views by name.
macro_rules! tables {
    (
        $(#[$meta:meta])*
        pub struct $Struct:ident {
            $( $group:literal {
                $( $(#[doc = $doc:literal])* $name:ident ( $($kind:ty),* ) $(since $since:literal)?; )*
            } )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $Struct {
            $( $( $(#[doc = $doc])* pub $name: Vec<($($kind,)*)>, )* )*
        }

        impl $Struct {
            /// Every relation, in the order of declaration.
            pub const RELATIONS: &'static [$crate::tables::Relation] = &[ $( $(
                $crate::tables::Relation {
                    name: stringify!($name),
                    doc: &[$($doc),*],
                    columns: <($($kind,)*) as $crate::tables::Row>::KINDS,
                    group: $group,
                    since: since!($($since)?),
                },
            )* )* ];

            /// What has no rows.
            pub const NONE: &'static $Struct = &$Struct { $( $( $name: Vec::new(), )* )* };

            /// Sorts every relation and removes what is there twice.
            pub fn tidy(&mut self) {
                $( $( $crate::sorting::tidy(&mut self.$name); )* )*
            }

            /// Takes away every row of the relation called `name`, should there be one.
            pub fn clear(&mut self, name: &str) {
                match name {
                    $( $( stringify!($name) => self.$name.clear(), )* )*
                    _ => {}
                }
            }

            /// Adds the rows of `more`; [`tidy`](Self::tidy) afterwards where order matters.
            pub fn absorb(&mut self, more: &$Struct) {
                $( $( self.$name.extend_from_slice(&more.$name); )* )*
            }
        }

        impl $crate::tables::Tables for $Struct {
            fn relations(&self) -> &'static [$crate::tables::Relation] {
                $Struct::RELATIONS
            }

            fn for_each_relation(
                &self,
                see: &mut dyn FnMut(&'static $crate::tables::Relation, &dyn $crate::tables::Rows),
            ) {
                let mut relations = $Struct::RELATIONS.iter();
                $( $(
                    see(relations.next().expect("one relation per field"), &self.$name);
                )* )*
            }

            fn for_each_filled(
                &self,
                see: &mut dyn FnMut(usize, &'static $crate::tables::Relation, &dyn $crate::tables::Rows),
            ) {
                let mut relations = $Struct::RELATIONS.iter().enumerate();
                $( $(
                    let (place, relation) = relations.next().expect("one relation per field");
                    if !self.$name.is_empty() {
                        see(place, relation, &self.$name);
                    }
                )* )*
            }

            fn push_row(&mut self, name: &str, row: &[u64]) -> bool {
                match name {
                    $( $(
                        stringify!($name) => $crate::tables::push(&mut self.$name, row),
                    )* )*
                    _ => false,
                }
            }

            fn push_at(&mut self, place: usize, row: &[u64]) -> bool {
                let mut places = 0..;
                $( $(
                    if places.next() == Some(place) {
                        return $crate::tables::push(&mut self.$name, row);
                    }
                )* )*
                false
            }

            fn tidy(&mut self) {
                $Struct::tidy(self);
            }

            fn clear(&mut self) {
                *self = $Struct::default();
            }
        }
    };
}

/// Adds a row, if it fits.
pub(crate) fn push<R: Row>(rows: &mut Vec<R>, row: &[u64]) -> bool {
    let row = R::read(row);
    rows.extend(row);
    row.is_some()
}

/// Returns the rows of a sorted relation that a comparison finds equal.
pub fn rows_of<T>(rows: &[T], compare: impl Fn(&T) -> std::cmp::Ordering) -> &[T] {
    let start = rows.partition_point(|it| compare(it).is_lt());
    let count = rows[start..].partition_point(|it| compare(it).is_eq());
    &rows[start..start + count]
}

/// Returns whether inputs are loaded whatever stands behind their `if`: a test holds the conclusions against each other.
#[cfg(test)]
pub(crate) fn loads_all() -> bool {
    crate::claims::loads_all()
}

/// Returns whether inputs are loaded whatever stands behind their `if`: only tests do so.
#[cfg(not(test))]
pub(crate) const fn loads_all() -> bool {
    false
}

/// Loads an input relation, or an empty one if every relation that guards it is empty.
macro_rules! told {
    ($rows:expr) => {
        $rows.clone().into()
    };
    ($rows:expr, $($by_way_of:expr),+) => {
        match $( $by_way_of.is_empty() )&&+ && !$crate::tables::loads_all() {
            true => Default::default(),
            false => $rows.clone().into(),
        }
    };
}

/// Runs a stratum: fills the program's inputs by name from a ledger, runs it, and returns its conclusions sorted.
///
/// `input if facts.one | selection.other`: no conclusion rests on the input but by way of these. Where there is nothing of them,
/// millions of rows need not be put in order by their columns.
macro_rules! conclude {
    ($ledger:ident: $Program:ident { $($source:ident: $($input:ident $(if $($on:ident.$needed:ident)|+)?),+;)+ } => $Conclusions:ident { $($output:ident),+ $(,)? }) => {{
        let mut conclusions = {
            let mut program = $Program { $( $( $input: told!($ledger.$source.$input $($(, $ledger.$on.$needed)+)?), )+ )+ ..$Program::default() };
            program.run();
            // What it found rows by is gone before they are sorted.
            $Conclusions { $( $output: program.$output ),+ }
        };
        conclusions.tidy();
        conclusions
    }};
}
