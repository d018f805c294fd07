//! What strata say of their inputs – `input if facts.one`: no conclusion depends on `input` where `one` is empty – holds for any
//! facts: each stratum concludes the same from all rows of its inputs as from those that it asks for.

use std::cell::Cell;

use crate::atom::*;
use crate::facts::Facts;
use crate::ledger::{Conclusions, Ledger, TEXTS};
use crate::tables::Tables;

thread_local! {
    static LOADS_ALL: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether inputs are loaded whatever stands behind their `if`.
pub(crate) fn loads_all() -> bool {
    LOADS_ALL.get()
}

/// An input of a stratum, and the relations without which no conclusion depends on it.
#[derive(Debug, PartialEq, Eq)]
struct Claim {
    stratum: String,
    input: String,
    guards: Vec<String>,
}

/// Reads the claims of a stratum from its text.
fn claims_of(stratum: &str, source: &str) -> Vec<Claim> {
    let Some((_, inputs)) = source.split_once("conclude!(ledger: ") else { return Vec::new() };
    let inputs = inputs.split("} =>").next().unwrap_or_default();
    let inputs = inputs.split_once('{').map_or("", |it| it.1);
    let of_sources = inputs.split(';').filter_map(|it| it.split_once(':'));
    let all = of_sources.flat_map(|it| it.1.split(','));
    let claim = |text: &str| {
        let (input, guards) = text.split_once(" if ")?;
        let relation = |it: &str| it.trim().split_once('.').map(|it| it.1.to_owned());
        Some(Claim {
            stratum: stratum.to_owned(),
            input: input.trim().to_owned(),
            guards: guards.split('|').filter_map(relation).collect(),
        })
    };
    all.filter_map(claim).collect()
}

/// Dice that fall alike for the same seed.
struct Dice(u64);

impl Dice {
    fn of(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, count: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % count
    }
}

/// Fills each relation, or leaves it empty; some always.
fn fill(tables: &mut dyn Tables, dice: &mut Dice, is_empty: &dyn Fn(&str) -> bool) {
    for (place, relation) in tables.relations().iter().enumerate() {
        if is_empty(relation.name) || dice.below(2) == 0 {
            continue;
        }
        for _ in 0..1 + dice.below(8) {
            let row: Vec<u64> = relation.columns.iter().map(|_| dice.below(7)).collect();
            tables.push_at(place, &row);
        }
    }
}

/// Random facts that could be some: a flag that excludes is one that excludes, and only what exists depends on what exists.
fn facts(dice: &mut Dice, guards: &[String]) -> Facts {
    let is_empty = |name: &str| guards.iter().any(|it| it == name);
    let mut facts = Facts::default();
    fill(&mut facts, dice, &is_empty);
    facts.mode = vec![(
        [Mode::Normal, Mode::Normal, Mode::RefreshOnly, Mode::Destroy][dice.below(4) as usize],
    )];
    let has = |facts: &Facts, hits: [Hit; 2]| facts.hit.iter().any(|it| hits.contains(&it.1));
    facts.excluding.truncate(usize::from(!is_empty("excluding")));
    for (hits, name) in
        [([Hit::Exclude, Hit::Part], "excluding"), ([Hit::Target, Hit::Among], "targeting")]
    {
        if is_empty(name) {
            facts.hit.retain(|it| !hits.contains(&it.1));
        }
    }
    if has(&facts, [Hit::Exclude, Hit::Part]) {
        facts.excluding.push(());
    }
    if has(&facts, [Hit::Target, Hit::Among]) {
        facts.targeting.push(());
    }
    if is_empty("filtered") {
        facts.hit.clear();
        facts.excluding.clear();
        facts.targeting.clear();
    }
    if !facts.excluding.is_empty() || !facts.targeting.is_empty() {
        facts.filtered.push(());
    }
    if is_empty("in_state") {
        facts.needs.clear();
    }
    facts.in_state.extend(facts.needs.iter().flat_map(|it| [(it.0,), (it.1,)]));
    facts.tidy();
    facts
}

/// Concludes everything before a stratum as the rules do, and puts random rows where the stratum itself has concluded before.
fn earlier(stratum: &str, facts: &Facts, dice: &mut Dice, guards: &[String]) -> Conclusions {
    let mut is_before = true;
    let mut all = Conclusions::of(facts, |ledger, it| {
        is_before &= it.name() != stratum;
        if is_before {
            it.run_compiled(ledger);
        }
    });
    for (text, tables) in TEXTS.iter().zip(all.tables_mut()) {
        if text.name == stratum {
            fill(tables, dice, &|name| guards.iter().any(|it| it == name));
            tables.tidy();
        }
    }
    all
}

/// Concludes one stratum from a ledger, with all rows of its inputs or with those that it asks for.
fn concluded(stratum: &str, facts: &Facts, before: &Conclusions, all_rows: bool) -> Conclusions {
    LOADS_ALL.set(all_rows);
    let found = Conclusions::of(facts, |_, it| {
        if it.name() == stratum {
            it.run_compiled(&before.ledger(facts));
        }
    });
    LOADS_ALL.set(false);
    found
}

fn count(facts: &Facts, before: &Conclusions, name: &str) -> usize {
    let mut count = 0;
    for tables in before.ledger(facts).tables() {
        tables.for_each_filled(&mut |_, relation, rows| {
            if relation.name == name {
                count += rows.count();
            }
        });
    }
    count
}

/// How often a claim is tried, and how often its input must have rows while its guards have none.
const TRIES: u64 = 1500;
const LEAST: usize = 40;

#[test]
fn no_conclusion_depends_on_an_input_that_is_not_asked_for() {
    let claims: Vec<Claim> = TEXTS.iter().flat_map(|it| claims_of(it.name, it.source)).collect();
    let of_reads = claims.iter().filter(|it| it.input == "reads").count();
    assert!(claims.len() > 20 && of_reads > 3, "{} claims, {of_reads} of reads", claims.len());
    for claim in &claims {
        let mut met = 0;
        for seed in 1..TRIES {
            let mut dice = Dice::of(seed);
            let facts = facts(&mut dice, &claim.guards);
            let before = earlier(&claim.stratum, &facts, &mut dice, &claim.guards);
            let has = |name: &str| count(&facts, &before, name) > 0;
            if !has(&claim.input) || claim.guards.iter().any(|it| has(it)) {
                continue;
            }
            met += 1;
            let asked = concluded(&claim.stratum, &facts, &before, false);
            let all = concluded(&claim.stratum, &facts, &before, true);
            assert_eq!(asked, all, "seed {seed}, {claim:?}: {facts:?}");
        }
        assert!(met >= LEAST, "{claim:?} was tried {met} times");
    }
}

#[expect(dead_code, reason = "the macro of tables writes more than a planted stratum needs")]
mod planted {
    //! A stratum that claims what is wrong: that nothing depends on what is read unless the request names something.

    use super::super::atom::*;
    use crate::ledger::Ledger;

    ascent! {
        struct Program;
        relation reads(Node, Node);
        relation hit(Node, Hit, Flag);
        relation prior(Node);

        /// `found(n)`: `n` is found.
        relation found(Node);

        // @rule planted.hit: the request names `n`
        found(n) <-- hit(n, _, _);
        // @rule planted.prior: `n` exists
        found(n) <-- prior(n);
        // @rule planted.behind: `n` reads `m`
        found(n) <-- found(m), reads(n, m);
    }

    tables! {
        /// What is found.
        pub struct Found {
            "planted" {
                /// `found(n)`: `n` is found.
                found(Node);
            }
        }
    }

    pub fn wrong(ledger: &Ledger<'_>) -> Found {
        conclude!(ledger: Program { facts: reads if facts.hit, hit, prior; } => Found { found })
    }

    pub fn right(ledger: &Ledger<'_>) -> Found {
        conclude!(ledger: Program { facts: reads if facts.hit | facts.prior, hit, prior; } => Found { found })
    }
}

#[test]
fn a_wrong_claim_is_caught() {
    let differs = |conclude: fn(&Ledger<'_>) -> planted::Found, guards: &[String]| {
        (1..TRIES).any(|seed| {
            let facts = facts(&mut Dice::of(seed), guards);
            LOADS_ALL.set(false);
            let asked = conclude(&Ledger::of(&facts));
            LOADS_ALL.set(true);
            let all = conclude(&Ledger::of(&facts));
            LOADS_ALL.set(false);
            asked != all
        })
    };
    let guards = ["hit".to_owned(), "prior".to_owned()];
    assert!(differs(planted::wrong, &guards[..1]), "what is wrong is found");
    assert!(!differs(planted::right, &guards), "what is right is not");
}

#[test]
fn claims_are_read_from_the_text_of_a_stratum() {
    let text = "conclude!(ledger: Program {\n facts: a, b if facts.c | selection.d,\n e; selection: f if facts.g;\n } => Out { h })";
    let claim = |input: &str, guards: &[&str]| Claim {
        stratum: "s".to_owned(),
        input: input.to_owned(),
        guards: guards.iter().map(|it| (*it).to_owned()).collect(),
    };
    assert_eq!(claims_of("s", text), [claim("b", &["c", "d"]), claim("f", &["g"])]);
}
