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
