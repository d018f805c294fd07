//! What `impact` names is what a plan leaves out with `-exclude`: the one follows references in Rust, the other is concluded by rules.
//!
//! Random configurations, each object of them. `IMPACTS=1000` tries more; `FIRST=7` begins there.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use crate::random::{Course, INNER};
use crate::support::number;
use crate::support::place::Place;

#[test]
fn what_an_object_touches_is_what_goes_with_it() {
    let (configs, first) = (number("IMPACTS").unwrap_or(12), number("FIRST").unwrap_or(1));
    let mut differing = String::new();
    let mut asked = 0;
    for seed in first..first + configs {
        let course = Course::random(seed);
        let place = Place::new(&course.before);
        place.write("m/main.tf", INNER);
        place.succeed(&["init"]);
        let all = planned(&place, &[]);
        for address in &all {
            asked += 1;
            let kept = planned(&place, &[&format!("-exclude={address}")]);
            let left_out: BTreeSet<String> = all.difference(&kept).cloned().collect();
            let touched = touched(&place, address, &all);
            if left_out != touched {
                let _ = writeln!(
                    differing,
                    "==== {seed} {address}\nleft out: {left_out:?}\ntouched: {touched:?}\n{}",
                    course.before
                );
            }
        }
    }
    assert!(asked > configs, "{asked} objects of {configs} configurations were asked for");
    assert_eq!(differing, "", "of {asked} objects");
}

/// The objects that a plan changes.
fn planned(place: &Place, flags: &[&str]) -> BTreeSet<String> {
    place.succeed(&[&["plan", "-out=p"], flags].concat());
    let document: Value =
        serde_json::from_str(&place.succeed(&["show", "-json", "p"])).expect("a plan's document");
    let changes = document["resource_changes"].as_array().into_iter().flatten();
    changes.filter_map(|it| it["address"].as_str()).map(str::to_owned).collect()
}

/// The objects that would be touched.
fn touched(place: &Place, address: &str, all: &BTreeSet<String>) -> BTreeSet<String> {
    let text = place.succeed(&["impact", "-json", address]);
    let document: Value = serde_json::from_str(&text).expect("a document");
    let rows = document["impacted"].as_array().into_iter().flatten();
    let names = rows.filter_map(|it| it["address"].as_str()).map(str::to_owned);
    names.filter(|it| all.contains(it)).collect()
}
