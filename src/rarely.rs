//! What most things have only defaults of, behind one word. A plan has a change for each object, of a million there are a million.

use std::ops::{Deref, DerefMut};

/// What can stand behind [`Rarely`].
pub trait Plain: Default + 'static {
    /// Returns the defaults, one for all.
    fn plain() -> &'static Self;
}

/// Lets the defaults of a type stand behind [`Rarely`].
macro_rules! plain {
    ($what:ty) => {
        impl $crate::rarely::Plain for $what {
            fn plain() -> &'static $what {
                static PLAIN: std::sync::LazyLock<$what> =
                    std::sync::LazyLock::new(Default::default);
                &PLAIN
            }
        }
    };
}

pub(crate) use plain;

/// Something that is boxed where it is not as it is by default. It is read and changed as if it stood here.
#[derive(Clone, Debug, Default)]
pub struct Rarely<T>(Option<Box<T>>);

/// Whether it is boxed makes no difference.
impl<T: Plain + PartialEq> PartialEq for Rarely<T> {
    fn eq(&self, other: &Rarely<T>) -> bool {
        // Mostly nothing is compared with nothing.
        (self.0.is_none() && other.0.is_none()) || **self == **other
    }
}

impl<T: Plain> Rarely<T> {
    /// Returns it, boxed where that is needed.
    pub fn of(it: T) -> Rarely<T>
    where
        T: PartialEq,
    {
        let is_plain = it == *T::plain();
        Rarely((!is_plain).then(|| Box::new(it)))
    }

    /// Returns whether it takes one word: then it is as it is by default.
    pub fn is_plain(&self) -> bool {
        self.0.is_none()
    }

    /// Returns it to be changed where it is boxed: changing it never boxes defaults.
    pub fn boxed_mut(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }

    /// Returns it by itself.
    pub fn into_inner(self) -> T {
        self.0.map_or_else(T::default, |it| *it)
    }
}

impl<T: Plain> Deref for Rarely<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_deref().unwrap_or_else(|| T::plain())
    }
}

impl<T: Plain> DerefMut for Rarely<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }
}

/// Null where it takes one word.
impl<T: Plain + serde::Serialize> serde::Serialize for Rarely<T> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

impl<'de, T: Plain + serde::Deserialize<'de>> serde::Deserialize<'de> for Rarely<T> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Rarely<T>, D::Error> {
        Option::deserialize(from).map(Rarely)
    }
}

impl<T: 'static> Plain for Vec<T> {
    fn plain() -> &'static Vec<T> {
        const { &Vec::new() }
    }
}

impl<T: 'static> From<Vec<T>> for Rarely<Vec<T>> {
    fn from(all: Vec<T>) -> Rarely<Vec<T>> {
        Rarely((!all.is_empty()).then(|| Box::new(all)))
    }
}

impl<T: 'static> IntoIterator for Rarely<Vec<T>> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.into_inner().into_iter()
    }
}

impl<'a, T: 'static> IntoIterator for &'a Rarely<Vec<T>> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, Default, PartialEq)]
    struct Pair(u8, String);

    plain!(Pair);

    #[test]
    fn defaults_take_one_word_and_all_else_is_kept() {
        let mut it = Rarely::of(Pair::default());
        assert!(it.0.is_none() && *it == Pair::default());
        assert_eq!(size_of_val(&it), size_of::<usize>());
        assert_eq!(it.boxed_mut(), None);
        assert!(it.is_plain());
        it.1.push('x');
        assert_eq!(*it, Pair(0, "x".into()));
        assert_eq!(it, Rarely::of(Pair(0, "x".into())));
        assert_eq!(it.boxed_mut(), Some(&mut Pair(0, "x".into())));
        it.1.pop();
        assert!(it.0.is_some() && it == Rarely::default());
    }
}
