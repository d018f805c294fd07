//! `console`: everything that expressions can refer to, opened for questions.

use super::host::Host;
use super::open::{lock, read_state};
use super::options::StateOptions;
use super::with_room;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::observe::pool::Pool;
use crate::observe::values::Values;
use crate::operation::console as operation;
use crate::operation::session::Session;
use crate::request::Request;
use crate::state::State;

pub use crate::operation::console::{HELP, Lines};

/// An open folder whose values can be asked for.
pub struct Console<'a> {
    values: Values<'a>,
    pool: &'a Pool,
}

impl Console<'_> {
    /// Evaluates an expression and returns its value as text.
    ///
    /// # Errors
    ///
    /// If it is no expression, or cannot be evaluated.
    pub fn answer(&self, text: &str) -> Result<String, Diagnostics> {
        operation::answer(&self.values, self.pool, text)
    }
}

/// A folder whose configuration and state have been read.
pub struct Opened {
    session: Session,
    stored: State,
    problems: Diagnostics,
}

/// Reads the configuration and the state, which is locked meanwhile.
///
/// # Errors
///
/// If the configuration or the state cannot be read.
pub fn open(host: &Host<'_>, state: &StateOptions) -> Result<Opened, Diagnostics> {
    with_room(|_| {
        let (world, sources) = (host.world.clone(), host.sources.clone());
        let (session, problems) = Session::open_for_console(world, sources, &state.files)?;
        let guard = lock(host, &session.backend, state.lock, "console")?;
        let stored = read_state(host, &session)?.state.unwrap_or_default();
        drop(guard);
        Ok(Opened { session, stored, problems })
    })?
}

/// Lets `converse` ask what was read, and returns what that returns.
///
/// # Errors
///
/// If variables lack values, or a provider cannot be started.
pub fn console<T: Send>(
    host: &Host<'_>,
    opened: Opened,
    request: &Request,
    converse: impl FnOnce(&Console<'_>) -> T + Send,
) -> Result<T, Diagnostics> {
    with_room(|runtime| {
        let Opened { session, stored, mut problems } = opened;
        let (inputs, _, found) = session.given_variables(request);
        problems.extend(found);
        if problems.has_errors() {
            return Err(problems);
        }
        let variables = session.variables_or_unknown(&inputs)?;
        let (pool, found) = runtime
            .block_on(Pool::start(&session.provider_sources, session.callable_providers(&stored)));
        problems.extend(found);
        // Without what the providers announce, hardly anything could be told of the objects.
        if problems.has_errors() {
            return Err(problems);
        }
        let values = operation::open(&session, &pool, &stored, &variables)?;
        problems.extend(values.take_problems());
        if problems.has_errors() {
            problems.push(Diagnostic::warning(
                "Due to the problems above, some expressions may produce unexpected results.",
            ));
        }
        host.tell.problems(problems.once());
        Ok(converse(&Console { values, pool: &pool }))
    })?
}

/// Evaluates one expression for who only looks: no lock is taken, no plugin is started whose schema is known, and the state counts
/// where it is at hand. What is secret is hidden.
///
/// # Errors
///
/// If the configuration cannot be used, or the expression cannot be evaluated.
pub fn peek(host: &Host<'_>, text: &str) -> Result<String, Diagnostics> {
    with_room(|runtime| {
        let (world, sources) = (host.world.clone(), host.sources.clone());
        let session = Session::open_to_peek(world, sources)?;
        let is_sealed = session.config.root().encryption.is_some()
            || host.world.variable("TF_ENCRYPTION").is_some();
        let is_at_hand = !is_sealed && session.backend.at_hand().is_some();
        let stored = if is_at_hand { session.snapshot()?.state } else { None };
        let stored = stored.unwrap_or_default();
        let (inputs, _, _) = session.given_variables(&Request::default());
        let variables = session.variables_or_unknown(&inputs)?;
        let needed = session.callable_providers(&stored);
        let (pool, _) = runtime.block_on(Pool::schemas_only(&session.provider_sources, needed));
        let values = operation::open(&session, &pool, &stored, &variables)?;
        operation::answer(&values, &pool, text)
    })?
}
