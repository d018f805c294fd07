//! A state that is long on its way, as a line.

use std::time::Duration;

use entail::backend::moving::{Moving, Way};

use super::style::duration;

/// For how long a state is on its way before anything is said of it.
const PATIENCE: Duration = Duration::from_secs(3);

/// Returns what is said of a state that is on its way; nothing while that is not long.
pub fn line(it: &Moving) -> Option<String> {
    let elapsed = it.since.elapsed();
    (elapsed >= PATIENCE).then(|| told(it.way, &it.place, (it.arrived(), it.expected()), elapsed))
}

fn told(
    way: Way,
    place: &str,
    (arrived, expected): (u64, Option<u64>),
    elapsed: Duration,
) -> String {
    let elapsed = duration(elapsed);
    match (way, expected) {
        (Way::Out, size) => {
            format!(
                "writing the state to {place}: {} for {elapsed}",
                size.map_or("nothing".into(), megabytes)
            )
        }
        (Way::In, Some(all)) => format!(
            "reading the state from {place}: {} of {} in {elapsed}",
            megabytes(arrived),
            megabytes(all)
        ),
        (Way::In, None) if arrived > 0 => {
            format!("reading the state from {place}: {} in {elapsed}", megabytes(arrived))
        }
        (Way::In, None) => format!("reading the state from {place}: no answer for {elapsed}"),
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_on_its_way_is_told_with_its_size() {
        let told = |way, counts| told(way, "s3://b/k", counts, Duration::from_secs(65));
        assert_eq!(
            told(Way::In, (12_345_678, Some(104_857_600))),
            "reading the state from s3://b/k: 12.3 MB of 104.9 MB in 1m5s"
        );
        assert_eq!(told(Way::In, (0, None)), "reading the state from s3://b/k: no answer for 1m5s");
        assert_eq!(
            told(Way::In, (9_000_000, None)),
            "reading the state from s3://b/k: 9.0 MB in 1m5s"
        );
        assert_eq!(
            told(Way::Out, (0, Some(104_857_600))),
            "writing the state to s3://b/k: 104.9 MB for 1m5s"
        );
    }
}
