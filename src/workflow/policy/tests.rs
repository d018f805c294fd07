//! Tests of tests, lints and layout of policies, over files in memory.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use expect_test::{Expect, expect};

use super::layout::{LayoutOptions, format};
use super::lints::{Named, find};
use super::testing::{Ended, TestOptions, Tested, test};
use crate::diagnostic::Sources;
use crate::execute::Stop;
use crate::workflow::{Host, Nobody};
use crate::world::{Files, World};

const RULES: &str = r#"
// @rule s3.public: everyone may read the bucket `b`
deny(b, "{b} is public") <-- resource(b, "aws_s3_bucket"), is_open(b), !b.tags["public"];

is_open(b) <-- resource(b, "aws_s3_bucket"), b.acl == "public-read";
is_open(b) <-- resource(b, "aws_s3_bucket"), b.acl == "public-read-write";

// @rule limit.deletes: something goes
deny(p, "goes") <-- plan(p), destroyed(_);
"#;

/// Does something with a host that reads these files.
fn with<T>(texts: &[(&str, &str)], work: impl FnOnce(&Host<'_>) -> T) -> T {
    let root = Path::new("/root-of-policies");
    let world = World {
        cwd: root.into(),
        root: root.into(),
        environment: [("TF_VAR_acl".to_owned(), "public-read".to_owned())].into(),
        files: Files::of_texts(root, texts.iter().copied()),
        ..World::of_this_process()
    };
    let (world, stop, sources) = (Arc::new(world), Stop::default(), Sources::default());
    work(&Host { world: &world, sources: &sources, tell: &Nobody, ask: &Nobody, stop: &stop })
}

fn tested(texts: &[(&str, &str)], options: &TestOptions) -> Tested {
    with(texts, |host| test(host, options)).expect("the tests are there")
}

/// Says what comes of one file of cases beside the rules.
#[track_caller]
fn check(cases: &str, expected: Expect) {
    let texts = [("policies/s3.rules", RULES), ("policies/s3.policytest.hcl", cases)];
    let mut out = String::new();
    let tested = tested(&texts, &TestOptions::default());
    for problem in tested.problems.iter() {
        let _ = writeln!(out, "{}: {}", problem.summary, problem.detail);
    }
    for case in tested.files.iter().flat_map(|it| &it.cases) {
        let _ = match &case.outcome {
            Ended::Passed => writeln!(out, "{}: passed", case.name),
            Ended::Failed(misses) => {
                let says: Vec<&str> = misses.iter().map(|it| it.says.as_str()).collect();
                writeln!(out, "{}: {}", case.name, says.join("\n  "))
            }
            Ended::Faulty(problems) => writeln!(out, "{}: faulty: {problems}", case.name),
        };
    }
    expected.assert_eq(&out);
}

#[test]
fn a_case_expects_exactly_the_verdicts_that_it_lists() {
    check(
        r#"
        case "right" {
          configuration = <<-HCL
            resource "aws_s3_bucket" "a" { acl = "public-read" }
          HCL
          expect "s3.public" {
            on      = ["aws_s3_bucket.a"]
            certain = true
          }
        }
        case "none" {
          configuration = "resource \"aws_s3_bucket\" \"a\" {}"
          expect_none   = true
        }
        case "anywhere" {
          configuration = "resource \"aws_s3_bucket\" \"a\" { acl = \"public-read\" }"
          expect "s3.public" {}
        }
        case "missing" {
          configuration = "resource \"aws_s3_bucket\" \"a\" {}"
          expect "s3.public" { on = ["aws_s3_bucket.a"] }
        }
        case "elsewhere" {
          configuration = "resource \"aws_s3_bucket\" \"a\" { acl = \"public-read\" }"
          expect "s3.public" { on = ["aws_s3_bucket.b"] }
        }
        case "unexpected" {
          configuration = "resource \"aws_s3_bucket\" \"a\" { acl = \"public-read\" }"
          expect_none   = true
        }
        "#,
        expect![[r#"
            right: passed
            none: passed
            anywhere: passed
            missing: expected a verdict of s3.public on aws_s3_bucket.a; came none
            elsewhere: expected a verdict of s3.public on aws_s3_bucket.b; came some on aws_s3_bucket.a
              expected no verdict of s3.public on aws_s3_bucket.a; came a certain one (main.tf:1): aws_s3_bucket.a is public
            unexpected: expected no verdict of s3.public on aws_s3_bucket.a; came a certain one (main.tf:1): aws_s3_bucket.a is public
        "#]],
    );
}

#[test]
fn what_is_not_known_makes_a_verdict_possible() {
    check(
        r#"
        case "possible" {
          configuration = <<-HCL
            variable "acl" {}
            resource "aws_s3_bucket" "a" { acl = var.acl }
          HCL
          expect "s3.public" { certain = false }
        }
        case "not certain" {
          configuration = <<-HCL
            variable "acl" {}
            resource "aws_s3_bucket" "a" { acl = var.acl }
          HCL
          expect "s3.public" {
            on      = ["aws_s3_bucket.a"]
            certain = true
          }
        }
        case "given" {
          configuration = <<-HCL
            variable "acl" {}
            variable "tags" { type = map(string) }
            resource "aws_s3_bucket" "a" {
              acl  = var.acl
              tags = var.tags
            }
          HCL
          variables = { acl = "public-read", tags = { public = "yes" } }
          expect_none = true
        }
        case "undeclared" {
          configuration = "resource \"aws_s3_bucket\" \"a\" {}"
          variables     = { acl = "private" }
        }
        "#,
        expect![[r#"
            possible: passed
            not certain: expected a certain verdict of s3.public on aws_s3_bucket.a; came a possible one, which waits for aws_s3_bucket.a.acl: aws_s3_bucket.a is public
            given: passed
            undeclared: faulty: Invalid test: The case gives a value for `acl`, and its configuration declares no such variable.
        "#]],
    );
}

#[test]
fn a_case_that_needs_a_plan_never_passes_without_one() {
    check(
        r#"
        case "planned" {
          configuration = "resource \"aws_s3_bucket\" \"a\" {}"
          plan          = true
        }
        case "of a plan" {
          configuration = "resource \"aws_s3_bucket\" \"a\" {}"
          expect "limit.deletes" { on = [""] }
        }
        "#,
        expect![[r#"
            planned: faulty: Inconsistent dependency lock file: The following dependency selections recorded in the lock file are inconsistent with the current configuration:
              - provider registry.opentofu.org/hashicorp/aws: required by this configuration but no version is selected

            To make the initial dependency selections that will initialize the dependency lock file, run:
              entail init
            of a plan: expected a verdict of limit.deletes on the plan; the rule is judged with a plan only: write `plan = true`
        "#]],
    );
}

#[test]
fn faulty_files_are_told() {
    check(
        r#"
        case "two" {
          configuration = ""
          directory     = "x"
        }
        case "wrong" {
          configuration = ""
          plan          = "yes"
          expect "a" { on = "b" }
        }
        case "both" {
          configuration = ""
          expect_none   = true
          expect "a" {}
        }
        case "state" {
          configuration = ""
          state         = "terraform.tfstate"
        }
        case "nowhere" { directory = "x" }
        case "nowhere" { directory = "x" }
        "#,
        expect![[r#"
            Invalid test: The case "two" needs one configuration: either its text as `configuration`, or its folder as `directory`.
            Invalid test: `plan` must be `true` or `false`.
            Invalid test: `on` must be a list of addresses: `["aws_s3_bucket.a"]`.
            Invalid test: The case "both" says `expect_none = true`, and expects verdicts. Leave out one of the two.
            Invalid test: The case "state" names a state, which only a plan begins with. Write `plan = true`, or leave out the state.
            Invalid test: Another case is already called "nowhere": a failure could be of either.
            nowhere: faulty: Invalid test: There is no folder x beside the file of the case.
            nowhere: faulty: Invalid test: There is no folder x beside the file of the case.
        "#]],
    );
}

#[test]
fn a_folder_is_judged_with_its_modules_and_without_what_lies_around() {
    let texts = [
        ("policies/s3.rules", RULES),
        ("policies/other.tf", "resource \"aws_s3_bucket\" \"other\" { acl = \"public-read\" }"),
        ("policies/fixtures/a/main.tf", "module \"m\" { source = \"./m\" }"),
        (
            "policies/fixtures/a/m/main.tf",
            "resource \"aws_s3_bucket\" \"b\" { acl = \"public-read\" }",
        ),
        (
            "policies/deep/s3.policytest.hcl",
            r#"
            case "folder" {
              directory = "../fixtures/a"
              expect "s3.public" { on = ["module.m.aws_s3_bucket.b"] }
            }
            case "alone" {
              configuration = ""
            }
            "#,
        ),
    ];
    let tested = tested(&texts, &TestOptions::default());
    assert_eq!(tested.counts(), (2, 0, 0), "{tested:?}");
}

#[test]
fn coverage_and_mutants_name_what_no_case_meets_and_misses() {
    let cases = r#"
        case "public" {
          configuration = "resource \"aws_s3_bucket\" \"a\" { acl = \"public-read\" }"
          expect "s3.public" {}
        }
        case "private" {
          configuration = "resource \"aws_s3_bucket\" \"a\" { acl = \"private\" }"
        }
    "#;
    let texts = [("policies/s3.rules", RULES), ("policies/s3.policytest.hcl", cases)];
    let options = TestOptions { coverage: true, mutate: true, ..TestOptions::default() };
    let tested = tested(&texts, &options);
    let mut out = String::new();
    for rule in &tested.rules {
        let _ = writeln!(out, "{} line {}", rule.name, rule.place.1);
        for it in &rule.premises {
            let _ = writeln!(out, "  {} met: {}, missed: {:?}", it.text, it.is_met, it.is_missed);
        }
    }
    expect![[r#"
        s3.public line 3
          resource(b, "aws_s3_bucket") met: true, missed: Some(false)
          is_open(b) met: true, missed: Some(true)
          !b.tags["public"] met: true, missed: Some(false)
        is_open line 5
          resource(b, "aws_s3_bucket") met: true, missed: None
          b.acl == "public-read" met: true, missed: Some(true)
        is_open line 6
          resource(b, "aws_s3_bucket") met: true, missed: None
          b.acl == "public-read-write" met: false, missed: Some(true)
        limit.deletes line 9
          plan(p) met: false, missed: None
          destroyed(_) met: false, missed: Some(false)
    "#]]
    .assert_eq(&out);
}

/// What stands between the vocabulary and the planner has names of its own.
#[test]
fn a_policy_may_call_its_relations_as_it_likes() {
    for name in ["names", "goes", "stays", "needed", "refers", "passes", "is_object"] {
        let rules = format!(
            "// @rule a: one\ndeny(n, \"x\") <-- {name}(n);\n{name}(n) <-- resource(n, \"t\");\n"
        );
        let cases = r#"
            case "one" {
              configuration = "resource \"t\" \"a\" {}"
              expect "a" {}
            }
        "#;
        let texts = [("policies/a.rules", &*rules), ("policies/a.policytest.hcl", cases)];
        let tested = tested(&texts, &TestOptions::default());
        assert_eq!((tested.problems.0.len(), tested.counts()), (0, (1, 0, 0)), "{name}");
    }
}

/// What an evaluation adds to find pairs by their value is no premise, and keeps none from being missed.
#[test]
fn a_premise_that_joins_by_value_is_missed_as_any_other() {
    let rules = r#"
// @rule names.twice: `a` and `b` have one name
deny(a, "{a} is called as {b}") <-- resource(a, "t"), a.name == v, resource(b, "u"), b.name == v;
"#;
    let cases = r#"
        case "two names" {
          configuration = "resource \"t\" \"a\" { name = \"x\" }\nresource \"u\" \"b\" { name = \"y\" }"
        }
        case "one name" {
          configuration = "resource \"t\" \"a\" { name = \"x\" }\nresource \"u\" \"b\" { name = \"x\" }"
          expect "names.twice" {}
        }
    "#;
    let texts = [("policies/names.rules", rules), ("policies/names.policytest.hcl", cases)];
    let options = TestOptions { coverage: true, mutate: true, ..TestOptions::default() };
    let tested = tested(&texts, &options);
    let premises = tested.rules[0].premises.iter();
    let found: Vec<_> = premises.map(|it| (it.text.as_str(), it.is_met, it.is_missed)).collect();
    let expected = [
        ("resource(a, \"t\")", true, None),
        ("a.name == v", true, Some(true)),
        ("resource(b, \"u\")", true, None),
        ("b.name == v", true, Some(true)),
    ];
    assert_eq!(found, expected);
}

/// Says what lints find in a file of rules.
#[track_caller]
fn linted(rules: &str, expected: Expect) {
    let mut out = String::new();
    with(&[("a.rules", rules)], |host| {
        let named = Named { words: vec!["a.rules".to_owned()], ..Named::default() };
        let (findings, _) = find(host, &named).expect("the file is there");
        for it in findings {
            let line = host.sources.position(it.span.file(), it.span.start()).line;
            let _ = writeln!(out, "{line} {}: {}", it.lint, it.says);
        }
    });
    expected.assert_eq(&out);
}

#[test]
fn usual_policies_have_no_lints() {
    linted(RULES, expect![""]);
    linted(include_str!("../../../testdata/policies/demo/policies/storage.rules"), expect![""]);
    linted(include_str!("../../../testdata/policies/demo/policies/network.rules"), expect![""]);
}

#[test]
fn lints_name_what_is_most_likely_not_meant() {
    linted(
        r#"
unread(b) <-- resource(b, "aws_s3_bucket");
warm(b, "x") <-- resource(b, "aws_s3_bucket");
relation encrypted(Node);
// @rule a.cannot: `b` is there and is not
deny(b, "x") <-- resource(b, "t"), output(b), !output(b);
// @rule a.types: `b` is of two types
deny(b, "y") <-- resource(b, "t"), resource(b, "u");
// @rule a.never: `b` is encrypted
deny(b, "z") <-- resource(b, "t"), encrypted(b);
// @rule a.pairs: `b` and another
deny(b, "p") <-- resource(b, "t"), output(c), c.value;
// @rule a.core: `b` is declared
deny(b, "c") <-- core::declared(b);
// @rule a.once: `b` has a type
deny(b, "o") <-- resource(b, t);
// @rule a.twice: `b` is a bucket
deny(b, "d") <-- resource(b, "bucket"), if b.n > 1;
// @rule a.again: `c` is a bucket
deny(c, "d") <-- resource(c, "bucket"), if c.n > 1;
"#,
        expect![[r#"
            2 unread-relation: Nothing reads `unread`, so that the rule has no effect. Read it in another rule, or leave it out.
            3 misspelt-name: Nothing reads `warm`. Did you mean `warn`?
            6 rule-cannot-fire: This never holds: `output` is there and is not.
            8 rule-cannot-fire: This never holds: one object is not of type t and u.
            10 rule-cannot-fire: No rule ever concludes `encrypted`, so that this never holds.
            12 cross-product: `resource` and `output` have no variable in common, so that every row of the one is paired with every row of the other. Join them by a variable.
            14 internal-relation: `core::declared` is a relation of the planner and may change with any version. `entail policy docs` lists those that stay.
            16 variable-used-once: `t` stands only once and so matches anything. Write `_` if that is meant.
            20 duplicate: Another rule already says exactly this: a.twice. Leave out one of the two.
        "#]],
    );
}

#[test]
fn what_is_wrong_is_found_too() {
    linted(
        "deny(b, \"x\") <-- resorce(b, \"t\");\ndeny(b, \"y\") <-- resource(b, \"t\");\n",
        expect![[r#"
            1 misspelt-name: Unknown relation: There is no relation `resorce`. Did you mean `resource`?
            2 no-sentence: Rule without a name: A rule that concludes `deny` needs a line above it that names it and says what it means: `// @rule group.name: what is wrong with `n``.
        "#]],
    );
}

#[test]
fn files_of_rules_are_formatted_in_their_folder() {
    let texts = [
        ("policies/a.rules", "a( x )<--plan( x );\n"),
        ("policies/deep/b.rules", "b(x) <-- plan(x);\n"),
        ("other/c.rules", "c(x) <-- plan(x"),
    ];
    with(&texts, |host| {
        let (formatted, problems) = format(host, &LayoutOptions::default());
        assert!(problems.is_empty(), "{problems}");
        let names: Vec<_> =
            formatted.iter().map(|it| (it.name.as_str(), it.old == it.new)).collect();
        assert_eq!(names, [("policies/a.rules", false), ("policies/deep/b.rules", true)]);
        assert_eq!(formatted[0].new, "a(x) <-- plan(x);\n");
        let options = LayoutOptions { paths: vec!["other".to_owned()], ..Default::default() };
        let (formatted, problems) = format(host, &options);
        assert!(formatted.is_empty() && problems.has_errors());
    });
}
