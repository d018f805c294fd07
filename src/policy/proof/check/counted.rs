//! Aggregates, a second time: a known result must come out whatever is still open.

use super::super::lines::counted as candidates;
use super::{Certain, Checker, Use, walked};
use crate::datalog::check::{Aggregate, Over, Pattern, Reference, Term};
use crate::datalog::values;
use crate::value::{Number, Value};

/// One thing that is counted.
pub(super) struct Counted {
    value: Option<Value>,
    is_certain: bool,
    is_open: bool,
}

impl Checker<'_> {
    /// The rows that an aggregate goes over.
    pub(super) fn counted_rows(
        &self,
        pattern: &Pattern,
        over: Option<usize>,
        used: &Use<'_>,
    ) -> Vec<Counted> {
        let table = self.database.table(pattern.relation);
        let column =
            over.and_then(|it| pattern.terms.iter().position(|term| *term == Term::Variable(it)));
        let all = candidates(pattern, used.words, self.database).into_iter();
        let matching = all.filter_map(|it| Some((it, self.matches(pattern, it, used)?)));
        let counted = matching.map(|(position, is_certain)| {
            let row = table.row(position);
            Counted {
                value: column.and_then(|it| self.domain.values().value(row[it])),
                is_certain,
                is_open: row.iter().any(|it| values::is_open(*it)),
            }
        });
        counted.collect()
    }

    /// What an aggregate over a reference goes over.
    pub(super) fn counted_values(
        &self,
        reference: &Reference,
        over: Option<Over>,
        used: &Use<'_>,
    ) -> Option<Vec<Counted>> {
        let mut found = self.walked(reference, used)?;
        if reference.goes_over_elements(over) {
            found = found.iter().flat_map(walked::elements).collect();
        }
        let (has_over, over_key) = (over.is_some(), matches!(over, Some(Over::Key(_))));
        let counted = found.into_iter().map(|it| Counted {
            is_open: has_over && !it.value.is_wholly_known(),
            value: (has_over && !over_key).then(|| (*it.value.to_plain()).clone()),
            is_certain: it.is_certain,
        });
        Some(counted.collect())
    }

    /// Whether a result is what comes out.
    pub(super) fn aggregated(
        &self,
        function: Aggregate,
        all: &[Counted],
        result: usize,
        used: &mut Use<'_>,
    ) -> Option<Certain> {
        let word = used.words[result]?;
        used.given[result] = true;
        let is_settled = all.iter().all(|it| it.is_certain && !it.is_open);
        let value = self.domain.values().value(word)?;
        let Some(number) = value.as_number().cloned() else {
            // One that is not known within its bounds may only be where something is open.
            return (!is_settled).then_some(true);
        };
        let numbers = |all: &mut dyn Iterator<Item = &Counted>| -> Option<Vec<Number>> {
            all.map(|it| it.value.as_ref()?.as_number().cloned()).collect()
        };
        let certain = || all.iter().filter(|it| it.is_certain && !it.is_open);
        match function {
            Aggregate::Count => {
                let distinct = |all: &mut dyn Iterator<Item = &Counted>| {
                    let (mut seen, mut count) = (Vec::new(), 0_i64);
                    for it in all {
                        match &it.value {
                            Some(value) if seen.contains(&value) => {}
                            Some(value) => {
                                seen.push(value);
                                count += 1;
                            }
                            None => count += 1,
                        }
                    }
                    count
                };
                let (least, most) = (distinct(&mut certain()), distinct(&mut all.iter()));
                let is_it = number.as_i64() == Some(most) && (least == most || all.len() == 1);
                is_it.then_some(true)
            }
            Aggregate::Sum => {
                let numbers = numbers(&mut all.iter())?;
                let sum = numbers.iter().try_fold(Number::Int(0), |sum, it| sum.add(it))?;
                (is_settled && sum == number).then_some(true)
            }
            Aggregate::Min | Aggregate::Max => {
                let best = |numbers: Vec<Number>| {
                    numbers.into_iter().reduce(|best, it| {
                        let is_better = match function {
                            Aggregate::Min => it.compare(&best).is_lt(),
                            _ => it.compare(&best).is_gt(),
                        };
                        if is_better { it } else { best }
                    })
                };
                let of_all = best(numbers(&mut all.iter())?)?;
                let of_certain = best(numbers(&mut all.iter().filter(|it| it.is_certain))?);
                let is_it = of_all == number && of_certain.is_none_or(|it| it == number);
                is_it.then(|| all.iter().any(|it| it.is_certain))
            }
        }
    }
}
