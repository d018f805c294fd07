//! The attributes of objects that are read together: they stand in texts of a few kilobytes, of which each has a part.
//!
//! Of a million objects, each by itself would take some more room than it is long.

use arcstr::{ArcStr, Substr};
use serde_json::value::RawValue;

use super::super::text::push_compact;

/// So many bytes stand together: with what counts their users, as many as the allocator gives without any to spare.
const TOGETHER: usize = if cfg!(test) { 8 } else { 4096 - 2 * size_of::<usize>() };

/// Texts without the file's indentation, those that were put together and are not taken yet.
#[derive(Default)]
pub(super) struct Texts {
    /// Room for what is put together.
    room: String,
    /// Where each text in there stands in the file, and where it begins.
    open: Vec<(usize, usize)>,
    /// Where each stands in the file, and itself until it is taken.
    ready: Vec<(usize, Substr)>,
    taken: usize,
}

impl Texts {
    /// Puts these together, in the order in which they will be taken.
    pub(super) fn put_together<'t>(&mut self, values: impl Iterator<Item = &'t RawValue>) {
        self.room.clear();
        self.ready.clear();
        self.taken = 0;
        for value in values {
            let mut start = self.room.len();
            self.push(value);
            if self.room.len() > TOGETHER && start > 0 {
                self.close(start);
                self.room.drain(..start);
                start = 0;
            }
            self.open.push((place(value), start));
        }
        self.close(self.room.len());
    }

    /// Makes those before `end` ready.
    fn close(&mut self, mut end: usize) {
        let all = ArcStr::from(&self.room[..end]);
        let first = self.ready.len();
        for (place, start) in self.open.drain(..).rev() {
            self.ready.push((place, all.substr(start..end)));
            end = start;
        }
        self.ready[first..].reverse();
    }

    /// Returns the text of a value.
    pub(super) fn take(&mut self, value: &RawValue) -> Substr {
        match self.ready.get_mut(self.taken) {
            Some((at, text)) if *at == place(value) => {
                self.taken += 1;
                std::mem::take(text)
            }
            _ => {
                self.room.clear();
                self.push(value);
                self.room.as_str().into()
            }
        }
    }

    fn push(&mut self, value: &RawValue) {
        match value.get().contains('\n') {
            true => push_compact(&mut self.room, value.get()),
            false => self.room.push_str(value.get()),
        }
    }
}

fn place(value: &RawValue) -> usize {
    value.get().as_ptr().addr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_gets_its_own_text_whoever_asks_in_whichever_order() {
        let values = ["{\n  \"a\": [\n    1\n  ]\n}", "[ 2 ]", "{\n}"];
        let values = values.map(|it| serde_json::from_str(it).expect("it is JSON"));
        let values: [&RawValue; 3] = values;
        let expected = ["{\"a\":[1]}", "[ 2 ]", "{}"];
        let mut texts = Texts::default();
        for order in [[0, 1, 2], [1, 2, 0], [2, 0, 0]] {
            texts.put_together(values.iter().copied());
            for at in order {
                assert_eq!(texts.take(values[at]), expected[at]);
            }
        }
    }
}
