//! unify
