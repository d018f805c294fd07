//! A list that is mostly of one.

use std::ops::{Deref, DerefMut};

/// A list of which a single element stands where the list does: most calls have one argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Few<T> {
    /// One.
    One(T),
    /// None, or several.
    Others(Box<[T]>),
}

impl<T> Deref for Few<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Few::One(it) => std::slice::from_ref(it),
            Few::Others(all) => all,
        }
    }
}

impl<T> DerefMut for Few<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Few::One(it) => std::slice::from_mut(it),
            Few::Others(all) => all,
        }
    }
}

impl<T> FromIterator<T> for Few<T> {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> Few<T> {
        let mut all = all.into_iter();
        let Some(first) = all.next() else { return Few::Others(Box::default()) };
        match all.next() {
            None => Few::One(first),
            Some(second) => Few::Others([first, second].into_iter().chain(all).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Few;

    #[test]
    fn it_is_the_list_that_it_was_made_of() {
        for count in 0..4 {
            let list: Vec<u8> = (0..count).collect();
            let few: Few<u8> = list.iter().copied().collect();
            assert_eq!(*few, *list);
            assert_eq!(matches!(few, Few::One(_)), count == 1);
        }
    }
}
