//! Something for each of many whole numbers that were given out one after the other.

use ascent::internal::RelFullIndexType;

/// So many numbers stand on a page.
const PAGE: usize = 32;
/// As long as there are no more than these, they are hashed: pages would cost more than they hold.
const FEW: usize = 1024;
/// From here on numbers are marks such as "none", each for itself: there are never so many things.
const MARKS: u64 = 1 << 28;

/// Something for each of some whole numbers.
pub struct Pages<V> {
    /// All numbers below `MARKS`, as soon as there is a page.
    pages: Vec<Option<Box<[V; PAGE]>>>,
    /// The others.
    hashed: RelFullIndexType<u64, V>,
}

impl<V> Default for Pages<V> {
    fn default() -> Self {
        Pages { pages: Vec::new(), hashed: Default::default() }
    }
}

impl<V: Default> Pages<V> {
    /// Returns what is kept for a number; on a page that may be what is kept for each of its numbers from the beginning.
    pub fn found(&self, number: u64) -> Option<&V> {
        if self.is_on_page(number) {
            let (page, place) = place(number);
            self.pages.get(page)?.as_ref().map(|it| &it[place])
        } else {
            self.hashed.get(&number)
        }
    }

    /// Returns what is kept for a number, made where there is nothing yet.
    pub fn made(&mut self, number: u64) -> &mut V {
        if number < MARKS && self.pages.is_empty() && self.hashed.len() >= FEW {
            let all = std::mem::take(&mut self.hashed);
            // From here on there is a page.
            self.on_page(number);
            all.into_iter().for_each(|(number, kept)| *self.made(number) = kept);
        }
        match self.is_on_page(number) {
            true => self.on_page(number),
            false => self.hashed.entry(number).or_default(),
        }
    }

    fn is_on_page(&self, number: u64) -> bool {
        number < MARKS && !self.pages.is_empty()
    }

    fn on_page(&mut self, number: u64) -> &mut V {
        let (page, place) = place(number);
        if self.pages.len() <= page {
            self.pages.resize_with(page + 1, || None);
        }
        let page =
            self.pages[page].get_or_insert_with(|| Box::new(std::array::from_fn(|_| V::default())));
        &mut page[place]
    }
}

/// Returns the page of a number below `MARKS`, and its place there.
fn place(number: u64) -> (usize, usize) {
    (number as usize / PAGE, number as usize % PAGE)
}
