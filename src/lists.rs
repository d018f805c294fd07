//! A list for each of many numbered things, end to end: what is known from the start takes two allocations, however many there are.

use rustc_hash::FxHashMap;

/// A list for each of some things that are numbered from 0.
#[derive(Clone, Debug)]
pub struct Lists<T> {
    /// Where the list of each thing begins, and at last where that of the last one ends.
    starts: Vec<u32>,
    items: Vec<T>,
    /// The lists to which something was added since.
    more: FxHashMap<u32, Vec<T>>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Lists { starts: Vec::new(), items: Vec::new(), more: FxHashMap::default() }
    }
}

impl<T: Copy> Lists<T> {
    /// Returns the lists of things, each with what stands beside its number, in that order.
    pub fn of(pairs: impl Iterator<Item = (u32, T)> + Clone) -> Lists<T> {
        let Some((_, any)) = pairs.clone().next() else { return Lists::default() };
        let count = pairs.clone().map(|it| it.0 as usize + 1).max().unwrap_or_default();
        // First the length of each list, two places behind its own; then where it begins, one place behind; then, as it fills, where
        // the next one begins.
        let mut starts = vec![0_u32; count + 2];
        pairs.clone().for_each(|it| starts[it.0 as usize + 2] += 1);
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut items = vec![any; starts[count + 1] as usize];
        for (number, item) in pairs {
            let next = &mut starts[number as usize + 1];
            items[*next as usize] = item;
            *next += 1;
        }
        starts.pop();
        Lists { starts, items, more: FxHashMap::default() }
    }

    /// Returns the list of a thing; it is empty where nothing was said of it.
    pub fn get(&self, number: u32) -> &[T] {
        if !self.more.is_empty()
            && let Some(more) = self.more.get(&number)
        {
            return more;
        }
        match self.starts.get(number as usize..number as usize + 2) {
            Some(&[from, to]) => &self.items[from as usize..to as usize],
            _ => &[],
        }
    }

    /// Adds to the list of a thing.
    pub fn push(&mut self, number: u32, item: T) {
        if !self.more.contains_key(&number) {
            self.more.insert(number, self.get(number).to_vec());
        }
        self.more.entry(number).or_default().push(item);
    }
}

#[cfg(test)]
mod tests {
    use super::Lists;

    #[test]
    fn each_has_what_stands_beside_its_number() {
        let pairs = [(4, 'a'), (1, 'b'), (4, 'c'), (0, 'd'), (1, 'e')];
        let lists = Lists::of(pairs.into_iter());
        let all: Vec<String> = (0..7).map(|it| lists.get(it).iter().collect()).collect();
        assert_eq!(all, ["d", "be", "", "", "ac", "", ""]);
        assert!(Lists::<u8>::of(std::iter::empty()).get(1).is_empty());
    }

    #[test]
    fn what_comes_later_is_added_to_what_was_known_from_the_start() {
        let mut lists = Lists::of([(1, 5), (1, 7), (4, 2)].into_iter());
        lists.push(4, 3);
        lists.push(9, 1);
        lists.push(2, 8);
        let all: Vec<&[i32]> = [0, 1, 2, 4, 9].map(|it| lists.get(it)).to_vec();
        assert_eq!(all, [&[][..], &[5, 7], &[8], &[2, 3], &[1]]);
    }
}
