//! Reading the CLI configuration, from a file that the environment names, and what hangs on it.
#![no_main]

use entail::install::Settings;
use entail::world::World;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let path = std::env::temp_dir().join(format!("entail-fuzz-{}.tfrc", std::process::id()));
    std::fs::write(&path, text).expect("there is room");
    let mut world = World::of_this_process();
    world.environment = [("TF_CLI_CONFIG_FILE".to_owned(), path.display().to_string())].into();
    let settings = Settings::of(&world);
    settings.overrides();
    settings.request_retries();
    settings.request_timeout();
    std::fs::remove_file(&path).expect("it is there");
});
