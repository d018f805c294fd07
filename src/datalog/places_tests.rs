//! Values of which more is to be said than what they are: texts that a provider may convert, elements that have a place.

use expect_test::expect;

use super::values_tests::check;

#[test]
fn a_text_that_is_written_may_become_a_bool_or_a_number() {
    check(
        r#"
        { written = 1, on = "false", port = "22", rules = [{ on = "true" }, { on = "on" }] }
        { on = "false", port = "22", rules = [{ on = "true" }] }
        { written = 1, on = false, port = 22 }
        { written = 1, on = "no", port = "022" }
        "#,
        r#"
        off(n) <-- node(n), n.on == false;
        not_off(n) <-- node(n), !n.on == false;
        text(n) <-- node(n), n.on == "false";
        if_off(n) <-- node(n), if n.on == false;
        if_not_off(n) <-- node(n), if n.on != false;
        if_text(n) <-- node(n), if n.on == "false";
        if_port(n) <-- node(n), if 22 == n.port;
        above(n) <-- node(n), if n.port > 21;
        rule(n) <-- node(n), r in n.rules, r.on == true;
        if_rule(n) <-- node(n), r in n.rules, if r.on == true;
        let_off(n) <-- node(n), let x = n.on, if x == false;
        pair(n, m) <-- node(n), n.on == v, node(m), m.on == v, if n != m;
        wanted(false) <-- node(_);
        joined(n) <-- node(n), n.on == v, wanted(v);
        held(n, v) <-- node(n), n.port == v;
        held_22(n) <-- held(n, 22);
        lacks_22(n) <-- node(n), !held(n, 22);
        "#,
        expect![[r#"
            off(n1)?
            off(n3)
            not_off(n1)?
            not_off(n2)
            not_off(n4)
            text(n1)
            text(n2)
            if_off(n1)?
            if_off(n3)
            if_not_off(n1)?
            if_not_off(n2)
            if_not_off(n4)
            if_text(n1)
            if_text(n2)
            if_port(n1)?
            if_port(n3)
            above(n1)
            above(n2)
            above(n3)
            above(n4)
            rule(n1)?
            if_rule(n1)?
            let_off(n1)?
            let_off(n3)
            pair(n1, n2)
            pair(n1, n3)?
            pair(n2, n1)
            pair(n3, n1)?
            wanted(false)
            joined(n1)?
            joined(n3)
            held(n1, 22)
            held(n2, 22)
            held(n3, 22)
            held(n4, 022)
            held_22(n1)?
            held_22(n3)
            lacks_22(n1)?
            lacks_22(n2)
            lacks_22(n4)
        "#]],
    );
}

#[test]
fn an_element_is_the_same_element_whatever_is_not_known_of_it() {
    check(
        r#"
        { rules = [{ a = "unknown", b = 1 }, { a = "unknown", b = 1 }] }
        { rules = ["unknown", { a = "x", b = 1 }] }
        { more = "unknown" }
        "#,
        r#"
        of(n, r) <-- node(n), r in n.rules;
        first(r) <-- node(n), r in n.rules, r.b == 1;
        one(n) <-- of(n, r), first(r);
        of_let(n, r) <-- node(n), let d = { all = n.rules }, r in d.all;
        let_one(n) <-- of_let(n, r), good(r);
        good(r) <-- of_let(_, r), r.b == 1;
        other(n) <-- of(n, r), of_let(n, r);
        more(n, r) <-- node(n), r in n.more;
        more_one(n) <-- more(n, r), more(n, r);
        "#,
        expect![[r#"
            failed: Unsupported attribute
            of(n1, (known after apply))
            of(n1, (known after apply))
            of(n2, (known after apply))
            of(n2, {a = "x", b = 1})
            first((known after apply))
            first((known after apply))
            first((known after apply))?
            first({a = "x", b = 1})
            one(n1)
            one(n2)
            of_let(n1, (known after apply))
            of_let(n1, (known after apply))
            of_let(n2, (known after apply))
            of_let(n2, {a = "x", b = 1})
            of_let(n3, (known after apply))?
            let_one(n1)
            let_one(n2)
            let_one(n3)?
            good((known after apply))
            good((known after apply))
            good((known after apply))?
            good((known after apply))?
            good({a = "x", b = 1})
            other(n1)?
            other(n2)
            more(n3, (known after apply))?
            more_one(n3)?
        "#]],
    );
}

#[test]
fn comments_stand_anywhere_and_messages_name_keys() {
    check(
        r#"
        { rules = [{ b = 1 }], tags = { env = "prod" } }
        "#,
        r#"
        a(r) <-- node(n), r // each, in
            in // all
            n // of
            .rules // "them
            [0], if /* and, " */ r.b == 1 # one, "
                && true;
        b(n, "{n.tags[\"env\"]} of {n}") <-- node(n), old( // )
            n).x;
        c(n, "{n.tags[\"env\"]} of {n}") <-- node(n), n.tags["env"];
        "#,
        expect![[r#"
            a({b = 1})
            c(n1, prod of n1)
        "#]],
    );
}
