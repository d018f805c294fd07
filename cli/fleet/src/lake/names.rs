//! The names of the files of a lake. A file with another name is not its own, and is never removed.

use std::hash::{BuildHasher, Hasher, RandomState};

use super::tables::table;

/// The file that says which others are whole.
pub const CATALOGUE: &str = "catalogue.json";

/// The folder of the tables.
pub const FOLDER: &str = "tables";

/// The folder by which rounds on a cluster hand rows to each other.
pub const EXCHANGE: &str = "exchange";

/// Under what name the catalogue has the files that say which stacks hold which texts.
pub const HINTS: &str = "hints";

/// Returns the path of a file of a bucket.
///
/// - `tag`: what tells this run from others that write at the same time, or nothing.
pub fn file(table: &str, bucket: u32, (generation, tag): (u64, &str), ending: &str) -> String {
    let dash = if tag.is_empty() { "" } else { "-" };
    format!("{FOLDER}/{table}/{bucket:05}-{generation}{dash}{tag}.{ending}")
}

/// Returns 16 hexadecimal digits that another run does not have.
pub fn tag() -> String {
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

/// Returns whether the path of a file within a lake has the form of those that an index or a question writes.
pub fn is_own(path: &str) -> bool {
    // A process that is killed while it writes a file leaves `NAME#NUMBER`.
    let whole = match path.rsplit_once('#') {
        Some((whole, number)) if is_number(number) => whole,
        Some(_) => return false,
        None => path,
    };
    match whole.split('/').collect::<Vec<_>>()[..] {
        [CATALOGUE] => whole != path,
        [FOLDER, name, file] => (name == HINTS || table(name).is_some()) && is_of_bucket(file),
        [EXCHANGE, round, file] => {
            is_hexadecimal(round, 32) && file.strip_suffix(".parquet").is_some_and(is_number)
        }
        _ => false,
    }
}

fn is_of_bucket(file: &str) -> bool {
    let Some((name, "parquet" | "bin")) = file.rsplit_once('.') else { return false };
    match name.split('-').collect::<Vec<_>>()[..] {
        [bucket, generation] => is_bucket(bucket) && is_number(generation),
        [bucket, generation, tag] => {
            is_bucket(bucket) && is_number(generation) && is_hexadecimal(tag, 16)
        }
        _ => false,
    }
}

fn is_bucket(text: &str) -> bool {
    text.len() >= 5 && is_number(text)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit())
}

fn is_hexadecimal(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|it| it.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::{HINTS, file, is_own, tag};

    #[test]
    fn only_names_that_a_lake_gives_are_its_own() {
        let own = [
            file("existing", 0, (1, ""), "parquet"),
            file(HINTS, 16_383, (u64::MAX, ""), "bin"),
            file("uses", 100_000, (7, &tag()), "parquet"),
            file("uses", 3, (7, ""), "parquet") + "#1",
            "catalogue.json#12".to_owned(),
            format!("exchange/{}{}/0.parquet", tag(), tag()),
        ];
        for path in own {
            assert!(is_own(&path), "{path}");
        }
        let others = [
            "catalogue.json",
            "tables/precious.txt",
            "tables/existing/precious.txt",
            "tables/existing/00000-1.csv",
            "tables/existing/0-1.parquet",
            "tables/existing/00000-.parquet",
            "tables/existing/00000-1-x.parquet",
            "tables/existing/more/00000-1.parquet",
            "tables/other/00000-1.parquet",
            "tables/../tables/00000-1.parquet",
            "exchange/old/0.parquet",
            "exchange/0123456789abcdef0123456789abcdef/x.parquet",
            "00000-1.parquet",
        ];
        for path in others {
            assert!(!is_own(path), "{path}");
        }
    }
}
