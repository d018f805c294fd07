//! What the state is to record of an object that is made: what it was made from.
//!
//! One hop: whoever records follows `made_through` and collects `made_from`. All of it at once would be a row for each pair.
//!
//! holds   what something reads is recorded, or looked through, or both

use crate::atom::*;
use crate::ledger::Ledger;

ascent! {
    struct Program;

    relation managed(Node);
    relation data(Node);
    relation late(Node, Node);
    relation pending(Node);
    relation collection(Node);
    relation ephemeral_resource(Node);
    relation reads(Node, Node);

    /// `lasting(m)`: `m` is in the state, or will be; an object, or what stands for objects.
    relation lasting(Node);

    /// `fleeting(m)`: nothing is destroyed with `m`, so that what is behind it is to be known: data, or what stands for some.
    relation fleeting(Node);

    /// `made_from(n, m)`: `n` is made from `m`, which the state names.
    relation made_from(Node, Node);

    /// `made_through(n, v)`: `n` is made from what `v` is made from.
    relation made_through(Node, Node);

    // @rule records.managed: (`m` is a managed object)
    lasting(m) <-- managed(m);
    // @rule records.data: (`m` is a data source)
    lasting(m) <-- data(m);
    // @rule records.late: (`m` may be an instance of a block whose keys are known later)
    lasting(m) <-- late(m, _), !ephemeral_resource(m);
    // @rule records.pending: (`m` stands for instances whose keys are not known)
    lasting(m) <-- pending(m), !ephemeral_resource(m);
    // @rule records.collection: (`m` stands for all instances of a resource)
    lasting(m) <-- collection(m), !ephemeral_resource(m);

    // @rule records.fleeting: (`m` is a data source)
    fleeting(m) <-- data(m);
    // @rule records.fleeting-collection: `m` stands for all instances of a data source, `d` among them
    fleeting(m) <-- collection(m), reads(m, d), data(d);
    // What it will be is not known here: of a managed one this says twice what its own record says.
    // @rule records.fleeting-pending: (`m` stands for instances whose keys are not known)
    fleeting(m) <-- pending(m);
    // @rule records.fleeting-late: (`m` may be an instance of a block whose keys are known later)
    fleeting(m) <-- late(m, _), !managed(m);

    // @rule records.made-from: `n` reads `m`
    made_from(n, m) <-- reads(n, m), lasting(m);
    // What is ephemeral leaves nothing behind; what it was opened with does.
    // @rule records.made-through: `n` reads `v`, which leaves nothing behind
    made_through(n, v) <-- reads(n, v), !lasting(v);
    // Data is in the state, and goes with nothing that is destroyed: what it was read from does.
    // @rule records.made-through-data: `n` reads `v`, which is data or may be some
    made_through(n, v) <-- reads(n, v), fleeting(v);
}

tables! {
    /// What the state is to record. All sorted.
    pub struct Records {
        "records" {
            /// `made_from(n, m)`: `n` is made from `m`, which the state names: an object, or all of a resource.
            made_from(Node, Node);
            /// `made_through(n, v)`: `n` is made from whatever `v` is made from: a value, data, or an ephemeral resource.
            made_through(Node, Node);
        }
    }
}

/// Finds what each node is made from.
pub(crate) fn record(ledger: &Ledger<'_>) -> Records {
    conclude!(ledger: Program {
        facts: managed, data, late, pending, collection, ephemeral_resource, reads;
    } => Records { made_from, made_through })
}

#[cfg(test)]
mod tests;
