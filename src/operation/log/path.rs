//! The critical path of a run: the steps without whose waiting for one another it would have ended earlier.

use super::record::{Run, Step, StepOutcome};

/// Returns the places of the steps on the critical path, first to last: the one that ended last, the one that it waited for last,
/// and so on. A step waits for its dependencies, and for its turn in a group (`one_at_a_time`). A step that waited for a free
/// place among the parallel steps counts as one that waited for nothing.
pub fn critical_path(run: &Run) -> Vec<usize> {
    let has_run = |it: &Step| it.outcome != StepOutcome::NotAttempted;
    let ended = |it: usize| run.steps[it].at_ms + run.steps[it].for_ms;
    let all = (0..run.steps.len()).filter(|it| has_run(&run.steps[*it]));
    let mut path: Vec<usize> = all.max_by_key(|it| ended(*it)).into_iter().collect();
    // A log that was changed by hand may lead in a circle.
    while let Some(before) = path.last().and_then(|it| run.steps[*it].after)
        && before < run.steps.len()
        && !path.contains(&before)
    {
        path.push(before);
    }
    path.reverse();
    path
}
