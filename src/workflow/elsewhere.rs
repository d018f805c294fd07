//! Questions about what stands elsewhere: stacks of a fleet, told as rows. The language, the policies and the answers are those of one.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::asking::unchanged;
use super::why::{Answered, lines};
use super::{Host, with_room};
use crate::datalog::Limits;
use crate::datalog::query::{NAME, Query};
use crate::diagnostic::{Diagnostics, Sources};
use crate::explain::render::align;
use crate::operation::explain::ExplainContext;
use crate::operation::policies::{self, FOLDER, PolicyChoice};
use crate::operation::session::Session;
use crate::operation::{models, plan as operation};
use crate::planner::Structured;
use crate::policy::elsewhere::Elsewhere;
use crate::policy::model::{Memo, Model, Planned};
use crate::policy::query::{Answer, Scope, Subject, answer};
use crate::policy::why::{Asked, Decisions, why};
use crate::policy::{Policies, Report, judge};
use crate::request::Request;
use crate::state::State;
use crate::workflow::explain::Form;
use crate::world::{Files, World};

/// The policies by which something elsewhere is asked or judged.
pub struct Questions {
    session: Session,
    /// The policies.
    pub policies: Policies,
}

impl Questions {
    /// Reads the policies in force where one stands, and those that are named.
    ///
    /// # Errors
    ///
    /// If one cannot be read: a faulty policy could take rows away.
    pub fn new(host: &Host<'_>, choice: &PolicyChoice) -> Result<Questions, Diagnostics> {
        let mut session = nothing(host.world, host.sources)?;
        session.world = host.world.clone();
        let found = policies::find(&session, choice)?;
        let (policies, faults) = Policies::read_elsewhere(found, host.sources);
        if faults.has_errors() {
            return Err(faults);
        }
        Ok(Questions { session, policies })
    }

    /// Reads a body.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn body(&self, body: &str) -> Result<Query, Diagnostics> {
        let file = self.session.sources.add(NAME, Arc::from(body));
        self.policies.query(body, file, FOLDER)
    }

    /// Answers a query.
    ///
    /// # Errors
    ///
    /// If it asks for what is not there, or takes too much.
    pub fn answer(
        &self,
        query: &Query,
        elsewhere: &dyn Elsewhere,
        limits: &Limits,
    ) -> Result<Answer, Diagnostics> {
        let names = |_: &str, word: u64| word.to_string();
        self.see(elsewhere, |subject, _| answer(&self.policies, query, subject, &names, limits))?
    }

    /// Judges.
    ///
    /// # Errors
    ///
    /// If that takes too much.
    pub fn judge(&self, elsewhere: &dyn Elsewhere, limits: &Limits) -> Result<Report, Diagnostics> {
        self.see(elsewhere, |it, _| judge(&self.policies, it.model, &[], &[], limits))?
            .map(|it| it.report)
    }

    /// Explains a verdict, or why there is none.
    ///
    /// # Errors
    ///
    /// If there is no such rule or address, or that takes too much.
    pub fn why(
        &self,
        asked: &Asked,
        form: Form,
        elsewhere: &dyn Elsewhere,
    ) -> Result<Answered, Diagnostics> {
        let answer = self.see(elsewhere, |subject, known| {
            let context = ExplainContext::of_lowered(&self.session, &known.lowered);
            let known = |names: &[&str]| context.known(names);
            let decisions = Decisions { known: &known, leaves: &context };
            why(&self.policies, subject, asked, &[], decisions)
        })??;
        let text = match form {
            Form::Json => format!("{:#}\n", answer.document),
            Form::Text(depth) => align(&lines(&answer, depth.unwrap_or(usize::MAX))),
        };
        Ok(Answered { text, is_given: answer.is_given, problems: answer.problems })
    }

    fn see<T: Send>(
        &self,
        elsewhere: &dyn Elsewhere,
        see: impl FnOnce(&Subject<'_>, &Structured) -> T + Send,
    ) -> Result<T, Diagnostics> {
        with_room(|_| {
            let session = &self.session;
            let variables = session.variables_or_unknown(&BTreeMap::new())?;
            let request = Request::default();
            let known = operation::whatif(session, &request, State::default(), &variables)?;
            let plan = unchanged(State::default(), session);
            let lowered = &known.lowered;
            let model = Model {
                plan: Some(Planned::new(&plan, &lowered.structure, None)),
                state: Some(&plan.previous_state),
                elsewhere: Some(elsewhere),
                values: self.policies.values().clone(),
                memo: Memo::around(&session.graph),
                ..models::of_lowered(session, lowered, &variables.values)
            };
            let scope = Scope::Elsewhere { has_plans: elsewhere.has_plans() };
            let subject = Subject { model: &model, tables: &[], waivers: &[], scope };
            Ok(see(&subject, &known))
        })?
    }
}

/// A folder without a configuration.
pub(super) fn nothing(world: &Arc<World>, sources: &Sources) -> Result<Session, Diagnostics> {
    let files = Files::of_texts(&world.root, []);
    let empty = Arc::new(World { files, ..(**world).clone() });
    Ok(Session::open_in_place(empty, sources.clone())?.0)
}
