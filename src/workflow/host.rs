//! Who runs workflows: the world they run in, who is told what happens, who is asked, and the wish to stop.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Ahead;
use crate::address::Provider;
use crate::backend::LockInfo;
use crate::diagnostic::{Diagnostic, Diagnostics, Sources};
use crate::event::{Event, Sink};
use crate::execute::Stop;
use crate::plan::Plan;
use crate::policy::{Report, Verdict};
use crate::request::PlanMode;
use crate::schema::ProviderSchema;
use crate::world::World;

/// What the providers of a run announce.
pub type Schemas = BTreeMap<Provider, Arc<ProviderSchema>>;

/// What a program gives to the workflows that it runs.
///
/// A workflow is cancelled by [`Host::stop`] alone: it blocks until it is done, and cannot be dropped halfway. Asked once, it begins
/// nothing new, asks providers to stop, waits for their answers, records them and gives back its lock; asked twice, it waits for no
/// provider and saves what is known. Work that leaves nothing behind, such as planning, ends at once with an error. Waits for other
/// hosts heed the request of the world, [`World::stop`], which should be the same.
#[derive(Clone, Copy)]
pub struct Host<'a> {
    /// Clock, environment, files.
    pub world: &'a Arc<World>,
    /// Every source file that is read, for problems to show.
    pub sources: &'a Sources,
    /// Who is told what happens.
    pub tell: &'a dyn Tell,
    /// Who is asked.
    pub ask: &'a dyn Ask,
    /// The wish to stop.
    pub stop: &'a Stop,
}

/// Who is told what happens while a workflow runs. Called from several threads.
///
/// [`Sink`] takes the events of walk and executor; the methods here are about the workflow itself. Each is waited for and none can
/// be cancelled: a method that blocks holds the workflow up, and a wish to stop is seen when it returns. What was told stays true
/// when the workflow is stopped after it.
pub trait Tell: Sink {
    /// Takes problems that do not end the workflow. Those that end it are returned from it, and not told.
    fn problems(&self, problems: Diagnostics);

    /// Takes a finished plan before anything is asked or done, with the problems of making it.
    fn planned(&self, plan: &Plan, schemas: &Schemas, problems: Diagnostics);

    /// Takes what policies say of the plan that was told, where there are any. `report` says whether the plan is denied: then it is not
    /// carried out.
    fn judged(&self, report: &Report) {
        let _ = report;
    }

    /// Takes a denial that became certain while the plan is carried out. It is a problem of the step, too.
    fn denied(&self, verdict: &Verdict) {
        let _ = verdict;
    }

    /// From now on steps are carried out: a program that leaves now loses what runs. It asks to stop instead.
    ///
    /// - `ahead`: finds what is to come, for whoever wants to show it.
    fn carries_out(&self, ahead: &dyn Fn() -> Ahead) {
        let _ = ahead;
    }

    /// No step runs any more, and none will.
    fn has_carried_out(&self) {}

    /// The lock of the state is held by another, and is waited for.
    fn waits_for_lock(&self) {}

    /// Another run holds the lock of the state that a question is about, so that the answer is about the state as recorded so far.
    ///
    /// - `holder`: the run, if its record can be read.
    fn run_in_progress(&self, holder: Option<&LockInfo>) {
        let _ = holder;
    }
}

/// Who can be asked. Nothing is asked twice.
///
/// A question is waited for, and the wish to stop is not looked at meanwhile: whoever is asked gives up by answering `None`, `false`
/// or an error, as each method says. What a question is about has not been done when it is asked, and is not done when it is given
/// up; a lock that is held meanwhile is given back at the end.
pub trait Ask: Sync {
    /// Returns whether there is anybody to ask.
    fn may_ask(&self) -> bool;

    /// Asks for the value of a root variable, as text; `None` where it cannot be asked or the question is given up: then the
    /// workflow ends with the error that the variable has no value.
    fn variable(&self, name: &str, description: Option<&str>, sensitive: bool) -> Option<String>;

    /// Asks whether the plan that was told is to be carried out. `false` ends the workflow, with nothing done and no error.
    ///
    /// # Errors
    ///
    /// If nobody can be asked, or the question is given up: the workflow ends with this error.
    fn approves(&self, mode: PlanMode, workspace: &str) -> Result<bool, Diagnostic>;

    /// Asks a question that `yes` agrees to; `None` where nobody can be asked or the question is given up: then what it is about
    /// is not done.
    fn agrees(&self, question: &str, explanation: &str) -> Option<bool>;

    /// Asks for a line of text, which is not shown while it is typed where it is `secret`; `None` where nobody can be asked or the
    /// question is given up: then what needs the text is not done.
    fn answer(&self, question: &str, explanation: &str, secret: bool) -> Option<String> {
        let _ = (question, explanation, secret);
        None
    }
}

/// Listens to nothing and answers nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Sink for Nobody {
    fn event(&self, _: Event) {}
}

impl Tell for Nobody {
    fn problems(&self, _: Diagnostics) {}

    fn planned(&self, _: &Plan, _: &Schemas, _: Diagnostics) {}
}

impl Ask for Nobody {
    fn may_ask(&self) -> bool {
        false
    }

    fn variable(&self, _: &str, _: Option<&str>, _: bool) -> Option<String> {
        None
    }

    fn approves(&self, _: PlanMode, _: &str) -> Result<bool, Diagnostic> {
        Err(Diagnostic::error("Approval required")
            .detail("Nobody can be asked for approval. Approve in advance, or apply a saved plan."))
    }

    fn agrees(&self, _: &str, _: &str) -> Option<bool> {
        None
    }
}

impl Host<'_> {
    /// Waits for work that leaves nothing behind, unless the user wants it to stop: then the work is dropped where it waits.
    pub async fn unless_stopped<T>(
        &self,
        work: impl Future<Output = Result<T, Diagnostics>>,
    ) -> Result<T, Diagnostics> {
        tokio::select! {
            biased;
            () = self.stop.wait_for(1) => Err(Diagnostic::error("execution halted").into()),
            result = work => result,
        }
    }

    /// Does what may need variables before there is a plan; asks for those that nobody gives, and does it again.
    ///
    /// # Errors
    ///
    /// Those of the work.
    pub fn asking<T>(&self, work: impl Fn() -> Result<T, Diagnostics>) -> Result<T, Diagnostics> {
        loop {
            let result = work();
            let wanted = self.world.given.take_wanted();
            if result.is_ok() || wanted.is_empty() || !self.ask.may_ask() {
                return result;
            }
            for name in wanted {
                match self.ask.variable(&name, None, false) {
                    Some(text) => self.world.given.answer(&name, text),
                    None => return result,
                }
            }
        }
    }
}
