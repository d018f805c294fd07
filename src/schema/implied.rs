//! What follows from a schema, found out once: it is asked for with every object.

use super::paths::occurs_in_block;
use super::{AttributeSchema, BlockSchema};
use crate::value::{Str, Type};

impl BlockSchema {
    /// Returns the object type of the block's values.
    pub fn ty(&self) -> Type {
        *self.implied.ty.get_or_init(|| {
            Type::object(self.parts().map(|(name, it)| (name.clone(), it.ty())).collect())
        })
    }

    /// Returns whether anything in it is sensitive.
    pub fn hides(&self) -> bool {
        *self.implied.hides.get_or_init(|| occurs_in_block(|it| it.sensitive, self))
    }

    /// Returns whether anything in it is write-only.
    pub(super) fn forgets(&self) -> bool {
        *self.implied.forgets.get_or_init(|| occurs_in_block(|it| it.write_only, self))
    }

    /// Returns its attributes that repeat an argument: which one, and its place among the parts.
    pub(super) fn repeated(&self) -> &[(Str, Str, usize)] {
        self.implied.repeated.get_or_init(|| {
            let attributes = self.attributes.iter();
            let pairs = attributes.filter_map(|it| Some((it.0.clone(), it.1.repeats.clone()?)));
            let place = |of: &Str| self.parts().position(|it| it.0 == of);
            pairs.filter_map(|(it, of)| place(&of).map(|at| (it, of, at))).collect()
        })
    }

    /// Returns whether what is proposed for a new object is what is configured, as it is: nothing in it is put together of parts,
    /// and no null takes its type from the schema.
    pub(super) fn is_kept_when_new(&self) -> bool {
        let is_kept = |it: &AttributeSchema| {
            let may_take_its_type = it.computed && it.optional && it.ty.has_dynamic();
            it.nested.is_none() && !may_take_its_type
        };
        let is_kept = || self.blocks.is_empty() && self.attributes.values().all(is_kept);
        *self.implied.is_kept_when_new.get_or_init(is_kept)
    }
}
