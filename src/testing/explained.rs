//! Why the objects of a false assertion are as they are: from the plan of its run.

use std::collections::BTreeSet;

use super::expected;
use crate::config::testing::TestRun;
use crate::diagnostic::Diagnostics;
use crate::operation::explain::causes::Causes;
use crate::operation::explain::causes::origin::given;
use crate::operation::explain::{ExplainContext, Length, Question};
use crate::operation::models;
use crate::operation::plan::Planned;
use crate::operation::session::Session;
use crate::syntax::{self, Expr, Expression};

/// Adds to every false assertion why what it names is as it is.
pub fn explain(run: &TestRun, session: &Session, planned: &Planned, told: &mut Diagnostics) {
    let context = ExplainContext::of_planned(session, &planned.finished);
    let model = models::of_planned(session, planned);
    let origins = given(&session.config, &planned.variables, &session.sources);
    let causes = Causes::new(&model, &origins);
    for problem in &mut told.0 {
        let assert = run
            .asserts
            .iter()
            .find(|it| problem.is_error() && problem.subject == Some(it.condition.span));
        let Some(assert) = assert else { continue };
        for address in objects(&assert.condition) {
            // What the plan says nothing of is not explained.
            let Ok(question) = Question::read(&address, None, &context) else { continue };
            if let Ok(text) = question.answer(&context, Some(&causes), Length::default()) {
                problem.detail.push_str(&format!("\n\n{}", text.trim_end()));
            }
        }
    }
}

/// Returns the addresses of everything that a condition names and a plan decides.
fn objects(condition: &Expression) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    syntax::references(condition, &mut |root, steps, span| {
        let expr = Expr::traversal(root.name(), steps.to_vec());
        let is_decided = !matches!(&*root.text, "var" | "run");
        found.extend(expected::named(&Expression { expr, span }).filter(|_| is_decided));
    });
    found
}
