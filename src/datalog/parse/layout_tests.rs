//! Tests of the usual form of rules.

use expect_test::{Expect, expect};

use super::{Dialect, FileId, format, parse_as};

/// Formats, and formats once more: the second time, nothing may change, and the program must be the same.
#[track_caller]
fn check(text: &str, expected: Expect) {
    let once = format(FileId(1), text).expect("the rules can be read");
    expected.assert_eq(&once);
    assert_eq!(format(FileId(1), &once).expect("what was formatted can be read"), once);
    assert_eq!(program(text), program(&once));
}

/// A program in words, without places.
fn program(text: &str) -> String {
    let (read, problems) = parse_as(Dialect::Policies, FileId(1), text);
    assert_eq!(problems.0, []);
    let words = format!("{read:?}");
    let places = regex::Regex::new(r"Span \{[^}]*\}").expect("the pattern is right");
    places.replace_all(&words, "").into_owned()
}

#[test]
fn blanks_are_where_they_usually_are() {
    check(
        r#"
relation   own( Node,Value ) ;


// @rule a.b: `n` is wrong
deny( n ,"{n}: {n.x[ 0 ]}" )<--resource(n,"t"),! own(n, _),n . a[_].b [k]==-1.5,if k<2&&n.x!=3,
let y=k+1 , r in  n.rules, agg t=count( ) in own( _ ,y);
own(n, 1), deny(n, "x") <-- resource(old(n),"t"), action(n,Action :: Delete,_);"#,
        expect![[r#"
            relation own(Node, Value);

            // @rule a.b: `n` is wrong
            deny(n, "{n}: {n.x[ 0 ]}")
                <-- resource(n, "t"),
                    !own(n, _),
                    n.a[_].b[k] == -1.5,
                    if k < 2 && n.x != 3,
                    let y = k + 1,
                    r in n.rules,
                    agg t = count() in own(_, y);
            own(n, 1), deny(n, "x") <-- resource(old(n), "t"), action(n, Action::Delete, _);
        "#]],
    );
}

#[test]
fn comments_stay_where_they_are() {
    check(
        r#"// above


// @rule a.b: `n`
// @severity high

deny(n, "x") // of the head
<-- resource(n, "t"), // the first
  // above the second
  // and more
  if n.a   == 1 // before the comma
  , !n.b; // behind
// at the end"#,
        expect![[r#"
            // above

            // @rule a.b: `n`
            // @severity high

            deny(n, "x") // of the head
                <-- resource(n, "t"), // the first
                    // above the second
                    // and more
                    if n.a == 1, // before the comma
                    !n.b; // behind
            // at the end
        "#]],
    );
}

#[test]
fn expressions_keep_the_lines_they_need() {
    check(
        "// @rule a.b: x\ndeny(n, \"x\") <-- resource(n, \"t\"), if n.a ==\n   1 &&\n n.b, let o = {\n  a = 1\n  b = 2\n};\n",
        expect![[r#"
            // @rule a.b: x
            deny(n, "x")
                <-- resource(n, "t"),
                    if n.a == 1 && n.b,
                    let o = {
              a = 1
              b = 2
            };
        "#]],
    );
}

#[test]
fn an_empty_file_stays_empty() {
    check("\n\n", expect![""]);
    check("// only words\n\n\n", expect!["// only words\n"]);
}

/// Puts other blanks and line ends where blanks are, and comments behind commas and arrows.
fn mangled(text: &str, random: &mut impl FnMut(u64) -> u64) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let (mut is_text, mut is_escaped) = (false, false);
        let is_comment = line.starts_with("//");
        for character in line.chars() {
            is_text ^= character == '"' && !is_escaped;
            is_escaped = character == '\\' && !is_escaped;
            match character == ' ' && !is_text && !is_comment {
                true if !out.ends_with(',') && !out.ends_with("<--") => {
                    out.push_str([" ", "  ", "\n", "\n  "][random(4) as usize]);
                }
                true => out.push_str([" ", "  ", "\n", "\n  ", " // note\n"][random(5) as usize]),
                false => out.push(character),
            }
        }
        out.push('\n');
    }
    out
}

#[test]
fn whatever_stands_between_words_the_program_stays_the_same() {
    let texts = [
        entail_rules::POLICY_VOCABULARY,
        include_str!("../../../testdata/policies/demo/policies/network.rules"),
        include_str!("../../../testdata/policies/demo/policies/storage.rules"),
        "// @rule a.b: x\ndeny(n, \"{n.a} // b\") <-- resource(n, \"t // u\"), let o = n.a == 1 ? \"x // ${n.b}\" : [for it in n.c : it], \
         if o != \"z\" && !n.d[0] , agg t = sum(v) in n.e[v] , own( o , true ) , state(n).f[_] == -2 ;\n",
    ];
    let mut random = crate::datalog::random::numbers(7);
    for text in texts {
        for _ in 0..20 {
            let text = mangled(text, &mut random);
            let once = format(FileId(1), &text).expect("the rules can be read");
            assert_eq!(format(FileId(1), &once).expect("what was formatted can be read"), once);
            assert_eq!(program(&text), program(&once), "{text}\n{once}");
            let notes = |it: &str| it.matches("// note").count();
            assert_eq!(notes(&text), notes(&once), "{text}\n{once}");
        }
    }
}
