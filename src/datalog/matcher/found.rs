//! What was found of one rule: conclusions, and the rows that each rests on.

use super::Failure;

/// What a rule concluded.
#[derive(Default)]
pub(in super::super) struct Found {
    pub rows: Vec<u64>,
    pub premises: Vec<u32>,
    pub certain: Vec<bool>,
    pub met: u64,
    pub failure: Option<Failure>,
}

impl Found {
    /// Puts matches into the order of the rows that they rest on, in whichever they were found.
    pub(in super::super) fn in_order(&mut self, arity: usize, premises: usize, has_rows: bool) {
        let arity = if has_rows { arity } else { 0 };
        let key = |at: u32| &self.premises[at as usize * premises..(at as usize + 1) * premises];
        let mut order: Vec<u32> = (0..self.certain.len() as u32).collect();
        order.sort_unstable_by(|a, b| key(*a).cmp(key(*b)));
        let rows = order.iter().flat_map(|it| &self.rows[*it as usize * arity..][..arity]);
        let rows = rows.copied().collect();
        self.premises = order.iter().flat_map(|it| key(*it)).copied().collect();
        self.rows = rows;
    }
}
