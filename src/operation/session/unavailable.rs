//! Variables without a value that the backend block and the sources of modules need: whoever lacks one sees all that lacks one.

use std::sync::Arc;

use super::{StaticModule, backends, early_context};
use crate::config::{call_source, load_module};
use crate::diagnostic::{Diagnostics, Sources};
use crate::world::World;

/// Adds to what is wrong with a configuration what its backend block lacks.
pub(super) fn with_backend(
    world: &Arc<World>,
    sources: &Sources,
    mut problems: Diagnostics,
) -> Diagnostics {
    let (root, _) = load_module(&world.files, &world.root, ".", sources);
    if let (Some(root), Ok(context)) = (root, early_context(world, sources))
        && let Err(found) = backends::check_arguments(&StaticModule::root(root, context))
    {
        problems.extend(found.beyond(&problems));
    }
    problems
}

/// Adds to what is wrong with a backend what the sources of the root module's calls lack.
pub(super) fn with_sources(root: &StaticModule, mut problems: Diagnostics) -> Diagnostics {
    for call in root.module().calls.values().filter(|it| !root.is_expanded_early(it)) {
        if let Err(found) = call_source(call, root, None) {
            problems.extend(found.beyond(&problems));
        }
    }
    problems
}
