//! Which files touch nothing outside: they can run side by side with others.

use super::suite::Suite;
use crate::address::Provider;
use crate::config::Module;
use crate::config::testing::TestFile;

/// Embedded providers whose objects are nowhere but in the state.
const INERT: [&str; 3] = ["null", "random", "time"];

/// Returns whether nothing outside is touched by a file: no provisioner runs, and every provider is mocked, or makes what is
/// nowhere but in the state.
pub fn is_contained(suite: &Suite, file: &TestFile) -> bool {
    let chooses = file.runs.iter().any(|it| !it.providers.is_empty());
    let root = suite.config.root();
    let is_mocked = |provider: &Provider| {
        let named = |name: &str| root.provider_of(name) == *provider;
        let mocked = file.mocks.iter().any(|it| it.alias.is_none() && named(&it.name.text));
        let real = file.providers.iter().any(|it| named(&it.name.text));
        mocked && !real && !chooses
    };
    let is_inert = |it: &Provider| {
        it.is_builtin() || (&*it.namespace == "hashicorp" && INERT.contains(&&*it.kind))
    };
    let is_quiet = |module: &Module| {
        module.resources.values().all(|it| {
            let provider = &it.provider_source;
            // One that has an alias is served by a block that may not be mocked.
            let plain = it.besides.provider.as_ref().is_none_or(|it| it.alias.is_none());
            it.besides.provisioners.is_empty()
                && (is_inert(provider) || (plain && is_mocked(provider)))
        })
    };
    suite.configs(file).all(|it| it.all().all(|(_, module)| is_quiet(module)))
}
