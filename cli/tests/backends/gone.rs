//! A place that holds nothing, although a state was seen there: nothing is made a second time before the user says so.

use crate::folder::{Folder, http};
use crate::services::states;

#[test]
fn a_state_that_is_gone_is_not_taken_for_none() {
    let (port, places) = states::start();
    let folder = Folder::new(&http(port).block("gone"));
    // A place where nothing was ever stored is no reason to ask.
    folder.init().apply("first");
    let pulled = folder.run("state pull").ok();
    let empty = || {
        let mut places = places.lock().expect("nobody panics with it");
        places.get_mut("/gone").expect("it was used").state = None;
    };
    let writes = || places.lock().expect("nobody panics with it")["/gone"].writes;
    empty();
    let before = writes();
    for command in [
        "plan",
        "apply -auto-approve",
        "refresh",
        "destroy -auto-approve",
        "apply -refresh-only -auto-approve",
    ] {
        let told = folder.run(&format!("{command} -input=false")).fails("The state is gone");
        assert!(told.contains("-allow-missing-state"), "{command}: {told}");
        // An input that ends is no answer.
        folder.run(command).fails("The state is gone");
    }
    // To look is allowed, and warned of; setting the place up once more changes nothing.
    assert!(folder.run("show").ok().contains("The state is gone"));
    folder.init();
    folder.run("plan -input=false").fails("The state is gone");
    assert_eq!(writes(), before, "nothing is written");

    // It comes back as it was.
    std::fs::write(folder.path().join("pulled.tfstate"), pulled).expect("a file");
    folder.run("state push pulled.tfstate").ok();
    assert!(folder.run("plan -input=false -var v=first").ok().contains("No changes."));

    // Or it is gone on purpose.
    empty();
    folder.run("apply -auto-approve -input=false -allow-missing-state -var v=second").ok();
    assert_eq!(folder.output(), "second");
    folder.run("plan -input=false -var v=second").ok();

    // What held nothing cannot be lost.
    folder.run("destroy -auto-approve").ok();
    empty();
    folder.run("apply -auto-approve -input=false").ok();
}

#[test]
fn an_empty_state_of_another_lineage_is_not_the_one_that_was_seen() {
    let (port, places) = states::start();
    let folder = Folder::new(&http(port).block("other"));
    folder.init().apply("first");
    let other = br#"{"version": 4, "terraform_version": "1.12.0", "serial": 0, "lineage": "other", "outputs": {}, "resources": []}"#;
    let mut all = places.lock().expect("nobody panics with it");
    all.get_mut("/other").expect("it was used").state = Some(other.to_vec());
    drop(all);
    folder.run("apply -auto-approve -input=false").fails("The state is gone");
    // Another working directory has seen nothing there.
    let fresh = Folder::new(&http(port).block("other"));
    fresh.init().apply("second");
}
