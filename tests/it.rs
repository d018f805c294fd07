//! The tests that need the whole house: cases in `testdata/`, run by the real binary, and the rules of the house.

#[path = "conformance/answer.rs"]
mod answer;
#[path = "support/services/http.rs"]
mod served;
#[path = "support/mod.rs"]
mod support;

#[path = "it/answers.rs"]
mod answers;
#[path = "it/aws.rs"]
mod aws;
#[path = "it/cases.rs"]
mod cases;
#[path = "it/circles.rs"]
mod circles;
#[path = "it/clouds.rs"]
mod clouds;
#[path = "it/conformance.rs"]
mod conformance;
#[path = "it/cookbook.rs"]
mod cookbook;
#[path = "it/crash.rs"]
mod crash;
#[path = "it/documents.rs"]
mod documents;
#[path = "it/encryption.rs"]
mod encryption;
#[path = "it/files.rs"]
mod files;
#[path = "it/former.rs"]
mod former;
#[path = "it/formatting.rs"]
mod formatting;
#[path = "it/functions.rs"]
mod functions;
#[path = "it/ledger.rs"]
mod ledger;
#[path = "it/impacted.rs"]
mod impacted;
#[path = "it/interrupt.rs"]
mod interrupt;
#[path = "it/login.rs"]
mod login;
#[path = "it/leaving.rs"]
mod leaving;
#[path = "it/limits.rs"]
mod limits;
#[path = "it/logged.rs"]
mod logged;
#[path = "it/metamorphic.rs"]
mod metamorphic;
#[path = "it/missed.rs"]
mod missed;
#[path = "it/mutations.rs"]
mod mutations;
#[path = "it/opentofu.rs"]
mod opentofu;
#[path = "it/packages.rs"]
mod packages;
#[path = "it/policies.rs"]
mod policies;
#[path = "it/plain.rs"]
mod plain;
#[path = "it/plugins.rs"]
mod plugins;
#[path = "it/premises.rs"]
mod premises;
#[path = "it/provisioners.rs"]
mod provisioners;
#[path = "it/questions.rs"]
mod questions;
#[path = "it/quickstart.rs"]
mod quickstart;
#[path = "it/random.rs"]
mod random;
#[path = "it/replaced.rs"]
mod replaced;
#[path = "it/safety.rs"]
mod safety;
#[path = "it/saved.rs"]
mod saved;
#[path = "it/scripted.rs"]
mod scripted;
#[path = "it/shaping.rs"]
mod shaping;
#[path = "it/watching.rs"]
mod watching;
#[path = "it/since.rs"]
mod since;
#[path = "it/sources.rs"]
mod sources;
#[path = "it/ssh.rs"]
mod ssh;
#[path = "it/stopping.rs"]
mod stopping;
#[path = "it/streams.rs"]
mod streams;
#[path = "it/symbols.rs"]
mod symbols;
#[path = "it/tidy.rs"]
mod tidy;
#[path = "it/together.rs"]
mod together;
#[path = "it/unreached.rs"]
mod unreached;
#[path = "it/world.rs"]
mod world;
