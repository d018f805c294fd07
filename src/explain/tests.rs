//! Proofs and refusals, told as users see them; every proof is checked.

use std::collections::BTreeSet;

use entail_rules::text::{self, Names};
use entail_rules::{Atom, Facts, Flag, Hit, Node};
use expect_test::{Expect, expect};

use super::check::{Model, check};
use super::proof::{By, Known, Premise, Proof};
use super::{Leaves, render, sentence, to_json};
use crate::reason::{ENGINES, shipped};

/// Names as the facts give them; every given row comes from a line of its own.
struct Given<'a> {
    names: &'a Names,
}

impl Leaves for Given<'_> {
    fn name(&self, node: Node) -> String {
        self.names.name("Node", node.word())
    }

    fn origin(&self, relation: &str, row: &[u64]) -> Option<String> {
        match relation {
            "reads" => Some(format!("main.tf:{},1", row[0] + 1)),
            "hit" => Some(self.names.name("Flag", row[2])),
            "in_state" | "needs" => Some("terraform.tfstate".to_owned()),
            "must_replace" => Some("the provider: size".to_owned()),
            _ => None,
        }
    }

    fn id(&self, kind: &str, word: u64) -> String {
        self.names.name(kind, word)
    }
}

fn read(facts: &str) -> (Facts, Names) {
    let mut names = Names::default();
    let mut base = Facts::default();
    text::read(facts, &mut names, &mut [&mut base]);
    base.tidy();
    (base, names)
}

/// Reads `relation(names)` as a row.
fn goal(text: &str, names: &mut Names) -> (String, Vec<u64>) {
    let (relation, cells) =
        text.trim_end_matches(')').split_once('(').expect("a goal is `relation(names)`");
    let program = shipped::program();
    let known = program.relation(relation).expect("the relation is known");
    let words = program.relations[known].columns.iter().zip(cells.split(", "));
    (relation.to_owned(), words.map(|(kind, cell)| names.word(kind, cell)).collect())
}

/// Explains a row from facts, both as text, and checks the proof.
#[track_caller]
fn why(facts: &str, asked: &str, expected: Expect) -> Proof {
    let (facts, mut names) = read(facts);
    let (relation, row) = goal(asked, &mut names);
    let proof = super::why(ENGINES[0], &facts, &relation, &row).expect("it holds");
    let model = Model::new(&facts, &ENGINES[0].conclude_all(&facts));
    check(&proof, &facts, &model).expect("the proof is sound");
    expected.assert_eq(&render(&proof, &Given { names: &names }));
    proof
}

#[track_caller]
fn why_not(facts: &str, asked: &str, expected: Expect) {
    let (facts, mut names) = read(facts);
    let (relation, row) = goal(asked, &mut names);
    let refusal = super::why_not(ENGINES[0], &facts, &relation, &row).expect("it does not hold");
    let mut told = String::new();
    for it in refusal.alternatives(&Given { names: &names }) {
        let place = it.place.map_or(String::new(), |it| format!("    {it}"));
        told.push_str(&format!("if {} ({})\n  {}{place}\n", it.sentence, it.rule, it.failed));
    }
    expected.assert_eq(&told);
}

#[test]
fn an_exclusion_is_followed_to_the_flag() {
    why(
        "
        object(null_resource.c). object(null_resource.b). object(null_resource.a).
        reads(null_resource.c, local.x). reads(local.x, null_resource.b). reads(null_resource.b, null_resource.a).
        hit(null_resource.a, Exclude, -exclude=null_resource.a).
        ",
        "excluded(null_resource.c)",
        expect![[r#"
            null_resource.c takes no part in this run
              because null_resource.c reads local.x             main.tf:1,1
              because local.x reads null_resource.b             main.tf:4,1
              because null_resource.b reads null_resource.a     main.tf:2,1
              because the request leaves null_resource.a out    -exclude=null_resource.a
        "#]],
    );
}

#[test]
fn what_is_kept_for_another_says_for_whom() {
    why(
        "
        object(net). object(db). in_state(net). in_state(db). needs(db, net). block_gone(net). block_gone(db).
        hit(db, Exclude, -exclude=db).
        ",
        "excluded(net)",
        expect![[r#"
            net takes no part in this run
              because net would be destroyed, but must stay as it is
                because db stays as it is, and rests on net    terraform.tfstate
                because db exists and is left out              terraform.tfstate
                because the request leaves db out              -exclude=db
                because no block declares net any more
                because net is in the state                    terraform.tfstate
        "#]],
    );
}

#[test]
fn a_replacement_names_what_the_provider_said() {
    why(
        "mode(Normal). managed(a). declared(a). prior(a). differs(a). must_replace(a).",
        "action(a, DeleteThenCreate, ReplaceBecauseCannotUpdate)",
        expect![[r#"
            a is replaced: destroyed, then created (the provider cannot change it in place)
              because the provider cannot make a change of a in place    the provider: size
              because the configuration declares a
        "#]],
    );
}

#[test]
fn what_an_earlier_batch_concluded_is_explained_too() {
    why(
        "
        mode(Normal). managed(a). declared(a). prior(a). differs(a).
        member(a, all_of_a). seen(a, Changing). seen(a, Triggering).
        managed(b). declared(b). prior(b). triggers(b, all_of_a). seen(all_of_a, Triggering).
        asks_cbd(block_b). of(b, block_b).
        ",
        "action(b, CreateThenDelete, ReplaceByTriggers)",
        expect![[r#"
            b is replaced: created, then destroyed (replace_triggered_by)
              because the new object of b comes first
                because something in replace_triggered_by changes
                  because the configuration declares b
                  because b is to be replaced when all_of_a changes
                  because a belongs to all_of_a
                  because a is updated in place
                    because a differs from the configuration
                    because the configuration declares a
                because b belongs to block_b
                because block_b sets create_before_destroy
        "#]],
    );
}

#[test]
fn an_orphan_and_a_blocked_node_are_explained() {
    why(
        "mode(Normal). managed(a). in_state(a). prior(a). of(a, block_a). repeats(block_a, Count). key_kind(a, Number).",
        "action(a, Delete, DeleteBecauseCountIndex)",
        expect![[r#"
            a is destroyed (its number is not below count)
              because the number of a is not below the `count` of block_a
              because the block of a is there, and does not make it any more
              because a is in the state    terraform.tfstate
        "#]],
    );
    why(
        "mode(Normal). managed(b). reads(b, local). reads(local, a). failed(a). seen(a, Failed). seen(local, Blocked).",
        "blocked(b, local)",
        expect![[r#"
            nothing can be said of b, because of local
              because b reads local, of which nothing can be said    main.tf:1,1
              because local reads a, which failed                    main.tf:2,1
        "#]],
    );
}

#[test]
fn a_provider_is_followed_through_the_modules() {
    why(
        "
        module_parent(child, ROOT). module_parent(grandchild, child). provider_block(ROOT, aws, west, aws.west).
        passes(child, aws, DEFAULT, aws, west, NONE). asks_provider(block, aws, DEFAULT, NONE). in_module(block, grandchild).
        object(n). of(n, block). declared(n). provider_node(p, aws.west, NONE).
        ",
        "serves(p, n)",
        expect![[r#"
            p serves n
              because p is the chosen instance
                because n belongs to block
                because block stands in grandchild and uses provider aws
                because grandchild has no configuration of provider aws of its own, and inherits that of child
                because the call of child passes what its caller sees
                because ROOT configures it
                because aws.west does not repeat
        "#]],
    );
}

#[test]
fn an_output_that_keeps_its_value_says_why() {
    why(
        "filtered(). output(o). value(o). reads(o, a). managed(a). object(a). targeting(). object(b). hit(b, Target, -target=b).",
        "keeps_value(o, SomethingMissing)",
        expect![[r#"
            o keeps its value, because something it relies on takes no part in this run
              because o reads a, which no target wants    main.tf:1,1
                because the request has targets, and none of them wants a
        "#]],
    );
}

#[test]
fn a_given_row_is_its_own_reason() {
    why(
        "reads(b, a). hit(a, Exclude, -exclude=a).",
        "hit(a, Exclude, -exclude=a)",
        expect![[r#"
        -exclude=a names a, to exclude it    -exclude=a
    "#]],
    );
}

#[test]
fn what_several_things_rest_on_is_told_once() {
    why(
        "
        protection(n, On). mode(Normal). managed(n). declared(n). prior(n). must_replace(n). asks_cbd(block). of(n, block).
        ",
        "violation(PreventsDestroy, n)",
        expect![[r#"
            the plan is refused because of n (prevent_destroy)
              because the block of n sets prevent_destroy
              because n is replaced: created, then destroyed (the provider cannot change it in place)
                because the new object of n comes first
                  because the provider cannot make a change of n in place    the provider: size
                  because the configuration declares n
                  because n belongs to block
                  because block sets create_before_destroy
        "#]],
    );
}

#[test]
fn a_refusal_names_for_each_rule_what_failed() {
    why_not(
        "object(c). object(b). object(a). reads(c, b). reads(b, a). hit(other, Exclude, f).",
        "excluded(c)",
        expect![[r#"
            if c reads b (selection.dependent)
              missing: b is left out
            if the request leaves c out (selection.requested)
              missing: something names c, to exclude it
            if c would be destroyed, but must stay as it is (selection.protected)
              missing: c must stay as it is
        "#]],
    );
    why_not(
        "mode(Normal). managed(a). declared(a). prior(a).",
        "action(a, DeleteThenCreate, ReplaceBecauseCannotUpdate)",
        expect![[r#"
            if the provider cannot make a change of a in place (decide.replace-cannot-update)
              missing: the provider names a difference of a that it cannot make in place
        "#]],
    );
    why_not(
        "object(a). targeting(). hit(b, Target, f). object(b).",
        "selected(a)",
        expect![[r#"
            if a is wanted, and nothing leaves it out (selection.selected)
              missing: a target names a, or needs it
            if the request has no targets, and nothing leaves a out (selection.all)
              but the request has targets
        "#]],
    );
}

#[test]
fn a_proof_is_json_too() {
    let (facts, names) = read("object(b). object(a). reads(b, a). hit(a, Exclude, -exclude=a).");
    let proof = super::why(ENGINES[0], &facts, "excluded", &[0]).expect("it holds");
    let json = serde_json::to_string_pretty(&to_json(&proof, &Given { names: &names }))
        .expect("it is JSON");
    expect![[r#"
        {
          "goal": 5,
          "steps": [
            {
              "relation": "object",
              "arguments": [
                "b"
              ],
              "sentence": "b is something that a run selects or leaves out"
            },
            {
              "relation": "hit",
              "arguments": [
                "a",
                "exclude",
                "-exclude=a"
              ],
              "sentence": "-exclude=a names a, to exclude it",
              "origin": "-exclude=a"
            },
            {
              "relation": "out",
              "arguments": [
                "a"
              ],
              "sentence": "a is left out",
              "rule": "selection.requested",
              "because": "the request leaves a out",
              "premises": [
                {
                  "step": 1
                }
              ]
            },
            {
              "relation": "reads",
              "arguments": [
                "b",
                "a"
              ],
              "sentence": "b reads a",
              "origin": "main.tf:1,1"
            },
            {
              "relation": "out",
              "arguments": [
                "b"
              ],
              "sentence": "b is left out",
              "rule": "selection.dependent",
              "because": "b reads a",
              "premises": [
                {
                  "step": 2
                },
                {
                  "step": 3
                }
              ]
            },
            {
              "relation": "excluded",
              "arguments": [
                "b"
              ],
              "sentence": "b takes no part in this run",
              "rule": "selection.excluded",
              "because": "b is left out",
              "premises": [
                {
                  "step": 0
                },
                {
                  "step": 4
                }
              ]
            }
          ]
        }"#]]
    .assert_eq(&json);
}

#[test]
fn what_holds_has_no_refusal_and_what_does_not_has_no_proof() {
    let (facts, _) = read("object(a).");
    assert!(super::why_not(ENGINES[0], &facts, "selected", &[0]).is_none());
    assert!(super::why(ENGINES[0], &facts, "selected", &[1]).is_none());
    assert!(super::why(ENGINES[0], &facts, "selected", &[0, 0]).is_none());
    assert!(super::why(ENGINES[0], &facts, "nothing", &[0]).is_none());
    assert!(super::why_not(ENGINES[0], &facts, "nothing", &[0]).is_none());
    assert!(super::why_not(ENGINES[0], &facts, "selected", &[0, 1]).is_none());
}

/// A chain in which each node reads the next, the last of them excluded.
fn chain(length: u32) -> Facts {
    let mut facts = Facts::default();
    facts.object.extend((0..length).map(|it| (Node(it),)));
    facts.reads.extend((1..length).map(|it| (Node(it - 1), Node(it))));
    facts.hit.push((Node(length - 1), Hit::Exclude, Flag(0)));
    facts
}

#[test]
fn a_chain_of_ten_thousand_is_proved_told_and_checked() {
    let facts = chain(10_000);
    let proof = super::why(ENGINES[0], &facts, "excluded", &[0]).expect("it holds");
    let names = Names::default();
    let told = render(&proof, &Given { names: &names });
    assert_eq!(told.lines().count(), 10_001);
    assert!(
        to_json(&proof, &Given { names: &names })["steps"]
            .as_array()
            .is_some_and(|it| it.len() > 20_000)
    );
}

#[test]
fn a_proof_takes_the_shortest_way() {
    let (facts, mut names) = read(
        "
        object(d). reads(d, c). reads(c, b). reads(b, a). reads(d, x). reads(x, a).
        hit(a, Exclude, f).
        ",
    );
    let (relation, row) = goal("excluded(d)", &mut names);
    let proof = super::why(ENGINES[0], &facts, &relation, &row).expect("it holds");
    let told = render(&proof, &Given { names: &names });
    assert_eq!(told.lines().count(), 4, "{told}");
}

#[test]
fn a_false_proof_is_found_out() {
    let (facts, mut names) =
        read("object(b). object(a). object(c). reads(b, a). hit(a, Exclude, f).");
    let (relation, row) = goal("excluded(b)", &mut names);
    let proof = super::why(ENGINES[0], &facts, &relation, &row).expect("it holds");
    let model = Model::new(&facts, &ENGINES[0].conclude_all(&facts));
    assert_eq!(check(&proof, &facts, &model), Ok(()));
    let mut refused = BTreeSet::new();
    for number in 0..proof.steps.len() {
        let mut other = proof.clone();
        other.steps[number].row[0] = 2;
        refused.insert(check(&other, &facts, &model).is_err());
        let mut given = proof.clone();
        if matches!(given.steps[number].by, By::Rule(_)) {
            given.steps[number].by = By::Given;
            refused.insert(check(&given, &facts, &model).is_err());
        }
        let mut without = proof.clone();
        if let By::Rule(application) = &mut without.steps[number].by {
            application.premises.pop();
            refused.insert(check(&without, &facts, &model).is_err());
        }
    }
    assert_eq!(refused, BTreeSet::from([true]));
    let absent = super::why(ENGINES[0], &facts, "selected", &[2]).expect("it holds");
    let (more, _) =
        read("object(b). object(a). object(c). reads(b, a). hit(a, Exclude, f). reads(c, a).");
    let model = Model::new(&more, &ENGINES[0].conclude_all(&more));
    assert!(check(&absent, &more, &model).is_err(), "what is said to be absent is there");
}

#[test]
fn every_conclusion_from_random_facts_has_a_proof_that_checks() {
    for seed in 1..25 {
        let facts = crate::datalog::random::facts(seed);
        let conclusions = ENGINES[0].conclude_all(&facts);
        let model = Model::new(&facts, &conclusions);
        let known = Known::all(ENGINES[0], &facts);
        for tables in conclusions.tables() {
            for relation in tables.relations() {
                for row in known.rows(relation.name).take(4) {
                    let proof = known.why(relation.name, row).expect("it holds");
                    if let Err(problem) = check(&proof, &facts, &model) {
                        panic!("seed {seed}, {}{row:?}: {problem}", relation.name);
                    }
                    render(&proof, &Given { names: &Names::default() });
                }
            }
        }
    }
}

#[test]
fn a_refusal_of_anything_from_random_facts_is_told() {
    for seed in 1..8 {
        let facts = crate::datalog::random::facts(seed);
        let known = Known::all(ENGINES[0], &facts);
        for relation in &shipped::program().relations {
            let row = vec![1; relation.columns.len()];
            if let Some(refusal) = known.why_not(&relation.name, &row) {
                refusal.alternatives(&Given { names: &Names::default() });
                refusal.to_json(&Given { names: &Names::default() });
            }
        }
    }
}

#[test]
fn every_relation_and_every_rule_has_a_sentence_of_its_own_variables() {
    let program = shipped::program();
    for relation in &program.relations {
        let (variables, sentence) = sentence::template(&relation.name).expect(&relation.name);
        let count = if variables == [""] { 0 } else { variables.len() };
        assert_eq!(count, relation.columns.len(), "{}", relation.name);
        assert!(!sentence.is_empty(), "{}", relation.name);
    }
    for rule in &program.rules {
        assert!(!rule.sentence.is_empty(), "{}", rule.name);
        for word in rule.sentence.split('`').skip(1).step_by(2).filter(|it| it.len() == 1) {
            assert!(rule.variables.iter().any(|it| it == word), "{}: `{word}`", rule.name);
        }
    }
}

#[test]
fn premises_come_before_what_rests_on_them() {
    let proof = super::why(ENGINES[0], &chain(50), "excluded", &[0]).expect("it holds");
    for (number, step) in proof.steps.iter().enumerate() {
        if let By::Rule(application) = &step.by {
            assert!(
                application
                    .premises
                    .iter()
                    .all(|it| !matches!(it, Premise::Step(it) if *it >= number))
            );
        }
    }
}

#[test]
fn the_reference_lists_every_relation_and_rule() {
    let text = super::relations_markdown();
    for relation in Facts::RELATIONS {
        assert!(text.contains(&format!("| `{}(", relation.name)), "{}", relation.name);
    }
    for rule in &shipped::program().rules {
        assert!(text.contains(&format!("| `{}` |", rule.name)), "{}", rule.name);
    }
}
