//! What rests on faulty rules: it would say too little, or too much, and is left out with them.

use super::super::check::{Literal, Program, Source};
use super::super::syntax::Text;

/// Marks the relations of rules that cannot be read.
pub(super) fn mark_broken(program: &mut Program, texts: &[(&Source<'_>, Text)]) {
    for (source, text) in texts {
        for name in &text.broken {
            program.mark_faulty_relation(source.group, name);
        }
        let names = text.broken.iter().map(|it| (source.group.to_owned(), it.clone()));
        program.broken.extend(names);
    }
}

/// Leaves out every rule that rests on a relation of which a rule is left out.
pub(super) fn leave_out(program: &mut Program) {
    if program.faulty.is_empty() {
        return;
    }
    loop {
        let mut faulty = std::mem::take(&mut program.faulty);
        let before = program.rules.len();
        program.rules.retain(|rule| {
            let rests =
                rule.body.iter().filter_map(Literal::relation).any(|it| faulty.contains(&it));
            // What judges stands by itself: nobody's rule silences another's.
            if rests && program.relations[rule.head].name.contains('@') {
                faulty.insert(rule.head);
            }
            !rests
        });
        program.faulty = faulty;
        if program.rules.len() == before {
            break;
        }
    }
    program.restratify();
}
