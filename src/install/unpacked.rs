//! How much an archive may unpack to: one bound for packages of providers and of modules.

use std::io::{self, Read};

/// How many bytes the files of an archive may have together. No real package comes near it.
const LARGEST: u64 = 4 << 30;

/// Counts the bytes of all files of one archive while they are read, and ends the reading at the bound.
#[derive(Debug)]
pub(crate) struct Budget {
    most: u64,
    left: u64,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget::of(LARGEST)
    }
}

impl Budget {
    /// Returns a budget of this number of bytes.
    pub fn of(most: u64) -> Budget {
        Budget { most, left: most }
    }

    /// Returns a reader of one of the files. It fails once all files together have more bytes than the budget.
    pub fn bound<R: Read>(&mut self, content: R) -> Bounded<'_, R> {
        Bounded { content, budget: self }
    }

    fn take(&mut self, count: usize) -> io::Result<()> {
        let left = self.left.checked_sub(count as u64);
        self.left = left.ok_or_else(|| {
            let most = size(self.most);
            io::Error::other(format!("its files have more than {most} together, the most allowed"))
        })?;
        Ok(())
    }
}

/// Reads a file of an archive within a [`Budget`].
pub(crate) struct Bounded<'b, R> {
    content: R,
    budget: &'b mut Budget,
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.content.read(into)?;
        self.budget.take(count)?;
        Ok(count)
    }
}

/// Shows a size in whole GiB where it is one.
fn size(bytes: u64) -> String {
    match bytes.trailing_zeros() >= 30 && bytes > 0 {
        true => format!("{} GiB", bytes >> 30),
        false => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads files of these sizes with a budget, and returns what is wrong; empty where nothing is.
    fn read(budget: &mut Budget, sizes: &[u64]) -> String {
        let read = |budget: &mut Budget, size: u64| {
            io::copy(&mut budget.bound(io::repeat(0).take(size)), &mut io::sink())
        };
        let ended = sizes.iter().try_for_each(|it| read(budget, *it).map(drop));
        ended.err().map(|it| it.to_string()).unwrap_or_default()
    }

    #[test]
    fn the_files_of_an_archive_share_one_bound() {
        assert_eq!(read(&mut Budget::of(10), &[4, 6, 0]), "");
        let told = "its files have more than 10 bytes together, the most allowed";
        assert_eq!(read(&mut Budget::of(10), &[4, 7]), told);
        assert_eq!(read(&mut Budget::of(10), &[u64::MAX]), told);
    }

    #[test]
    fn the_usual_bound_is_told_in_gibibytes() {
        assert_eq!(size(Budget::default().most), "4 GiB");
    }
}
