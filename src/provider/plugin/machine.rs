//! What a file was built for, told from its first bytes: before the system is asked to run what it cannot.
//!
//! Left to itself, the C library would have a shell make what it can of a file that is no program.

use std::io::Read as _;
use std::path::Path;

/// As many bytes as tell the processor in every format.
const FRONT: usize = 20;

/// Why a file will not run here, as the end of a sentence about it; nothing where it may. `platform` is this one's name.
pub(super) fn obstacle(file: &Path, platform: &str) -> Option<String> {
    // Whatever cannot be read is told by the system.
    let front = front(file)?;
    let own = std::env::current_exe().ok().and_then(|it| self::front(&it))?;
    if front.is_empty() {
        return Some("is empty".into());
    }
    let is_script = front.starts_with(b"#!");
    if is_script || format(&front).is_some_and(|it| format(&own) == Some(it)) {
        return None;
    }
    Some(match format(&front) {
        Some(built) => format!("is a program for {built}, and this is {platform}"),
        None => "is not a program".into(),
    })
}

fn front(file: &Path) -> Option<Vec<u8>> {
    let mut front = Vec::new();
    let read =
        std::fs::File::open(file).and_then(|it| it.take(FRONT as u64).read_to_end(&mut front));
    read.is_ok().then_some(front)
}

/// Returns system and processor of a program.
fn format(front: &[u8]) -> Option<String> {
    match front {
        [0x7f, b'E', b'L', b'F', _, order, .., low, high] if front.len() == FRONT => {
            let number = match order {
                2 => u16::from_be_bytes([*low, *high]),
                _ => u16::from_le_bytes([*low, *high]),
            };
            Some(processor(number).map_or_else(
                || format!("a processor that is number {number} in ELF"),
                |it| format!("linux_{it}"),
            ))
        }
        [b'M', b'Z', ..] => Some("windows".into()),
        [0xcf, 0xfa, 0xed, 0xfe, ..] | [0xca, 0xfe, 0xba, 0xbe, ..] => Some("darwin".into()),
        _ => None,
    }
}

/// Returns the name that registries have for a processor's number in ELF.
fn processor(number: u16) -> Option<&'static str> {
    Some(match number {
        3 => "386",
        8 => "mips",
        21 => "ppc64le",
        22 => "s390x",
        40 => "arm",
        62 => "amd64",
        183 => "arm64",
        243 => "riscv64",
        258 => "loong64",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content: &[u8]) -> String {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), content).expect("it is written");
        obstacle(file.path(), "this one").unwrap_or_else(|| "none".into())
    }

    #[test]
    fn programs_for_other_machines_are_told_from_their_first_bytes() {
        let elf = |order: u8, processor: [u8; 2]| {
            let mut front = b"\x7fELF\x02".to_vec();
            front.push(order);
            front.resize(18, 0);
            front.extend(processor);
            front
        };
        assert_eq!(check(&elf(1, [8, 0])), "is a program for linux_mips, and this is this one");
        assert_eq!(check(&elf(2, [0, 22])), "is a program for linux_s390x, and this is this one");
        assert_eq!(
            check(&elf(1, [1, 1])),
            "is a program for a processor that is number 257 in ELF, and this is this one"
        );
        assert_eq!(check(b"MZ\x90\0"), "is a program for windows, and this is this one");
        assert_eq!(check(b"hello"), "is not a program");
        assert_eq!(check(b"\x7fELF"), "is not a program");
        assert_eq!(check(b""), "is empty");
        assert_eq!(check(b"#!/bin/sh\n"), "none");
        let own = std::env::current_exe().expect("this program");
        assert_eq!(obstacle(&own, "this one"), None);
    }
}
