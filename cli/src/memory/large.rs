//! Large blocks, straight from the system: they grow without a copy, and what is freed is soon handed out again.
//!
//! A large plan makes one list after the other, each as long as it has objects: every page of each would be had, and cleared, anew.

use std::ffi::c_void;
use std::ptr::{null_mut, with_exposed_provenance_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::mm::{MapFlags, MremapFlags, ProtFlags, mmap_anonymous, mremap, munmap};

/// Sizes are multiples of this, and so of the pages of every system.
const STEP: usize = 1 << 16;

/// What is larger is given back at once.
const MOST_SPARED: usize = 1 << 27;

/// The block that was freed last, or one before that was larger.
static SPARE: Mutex<Option<Block>> = Mutex::new(None);

/// A block that nobody uses.
struct Block {
    /// Its address.
    place: usize,
    /// In bytes.
    size: usize,
}

fn spare() -> MutexGuard<'static, Option<Block>> {
    SPARE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn rounded(size: usize) -> usize {
    size.next_multiple_of(STEP)
}

/// Returns a block of at least that size, with anything in it; null where the system gives none.
pub(super) fn alloc(size: usize) -> *mut u8 {
    let known = spare().take();
    let Some(Block { place, size: known }) = known else { return alloc_zeroed(size) };
    let place = with_exposed_provenance_mut(place);
    // SAFETY: nobody uses the block, and its size is what is kept of it.
    #[expect(unsafe_code, reason = "the system's blocks are places and sizes")]
    unsafe {
        let resized = resized(place, known, rounded(size));
        if resized.is_null() {
            unmap(place, known);
            return alloc_zeroed(size);
        }
        resized
    }
}

/// Returns a block of at least that size, filled with zeros; null where the system gives none.
pub(super) fn alloc_zeroed(size: usize) -> *mut u8 {
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: what is mapped is new, wherever it lies.
    #[expect(unsafe_code, reason = "the system's blocks are places and sizes")]
    let place = unsafe { mmap_anonymous(null_mut(), rounded(size), access, MapFlags::PRIVATE) };
    place.map_or(null_mut(), <*mut c_void>::cast)
}

/// Makes a block longer or shorter, wherever it lies then; null where the system gives no more, and the block is as it was.
///
/// # Safety
///
/// The block came from here with that size, or with one that is rounded alike, and nobody else uses it.
#[expect(unsafe_code, reason = "the system's blocks are places and sizes")]
pub(super) unsafe fn realloc(place: *mut u8, size: usize, new: usize) -> *mut u8 {
    // SAFETY: the caller's promise.
    unsafe { resized(place, rounded(size), rounded(new)) }
}

/// Frees a block.
///
/// # Safety
///
/// As for [`realloc`]; nobody uses it any more.
#[expect(unsafe_code, reason = "the system's blocks are places and sizes")]
pub(super) unsafe fn dealloc(place: *mut u8, size: usize) {
    let mut freed = Block { place: place.expose_provenance(), size: rounded(size) };
    if freed.size <= MOST_SPARED {
        let mut spare = spare();
        if spare.as_ref().is_none_or(|it| it.size < freed.size) {
            match spare.replace(freed) {
                None => return,
                Some(smaller) => freed = smaller,
            }
        }
    }
    // SAFETY: the caller's promise; a block that is spared is nobody's.
    unsafe { unmap(with_exposed_provenance_mut(freed.place), freed.size) }
}

/// # Safety
///
/// As for [`realloc`], with sizes that are rounded.
#[expect(unsafe_code, reason = "the system's blocks are places and sizes")]
unsafe fn resized(place: *mut u8, size: usize, new: usize) -> *mut u8 {
    if size == new {
        return place;
    }
    // SAFETY: the caller's promise.
    let moved = unsafe { mremap(place.cast(), size, new, MremapFlags::MAYMOVE) };
    moved.map_or(null_mut(), <*mut c_void>::cast)
}

/// # Safety
///
/// As for [`dealloc`], with a size that is rounded.
#[expect(unsafe_code, reason = "the system's blocks are places and sizes")]
unsafe fn unmap(place: *mut u8, size: usize) {
    // A block that the system does not take back is lost, and nothing else.
    // SAFETY: the caller's promise.
    let _ = unsafe { munmap(place.cast(), size) };
}

#[cfg(test)]
#[expect(unsafe_code, reason = "blocks are read and written")]
mod tests {
    use super::*;

    #[test]
    fn blocks_keep_what_is_in_them_and_are_handed_out_again() {
        // SAFETY: each block is used up to its size, and not after it was freed.
        unsafe {
            let first = alloc(STEP + 1);
            first.write_bytes(7, STEP + 1);
            let longer = realloc(first, STEP + 1, 100 * STEP);
            assert_eq!((longer.read(), longer.add(STEP).read()), (7, 7));
            longer.add(100 * STEP - 1).write(8);
            let shorter = realloc(longer, 100 * STEP, STEP);
            assert_eq!(shorter.add(STEP - 1).read(), 7);
            dealloc(shorter, STEP);
            // Whether it is the one that was freed or not, zeros are asked for.
            let zeroed = alloc_zeroed(3 * STEP);
            assert!((0..3 * STEP).all(|it| zeroed.add(it).read() == 0));
            let again = alloc(2 * STEP - 1);
            again.write_bytes(9, 2 * STEP - 1);
            assert!((0..3 * STEP).all(|it| zeroed.add(it).read() == 0));
            dealloc(zeroed, 3 * STEP);
            dealloc(again, 2 * STEP - 1);
            let most = alloc(MOST_SPARED + 1);
            most.add(MOST_SPARED).write(1);
            dealloc(most, MOST_SPARED + 1);
        }
        assert!(alloc(isize::MAX as usize / 2).is_null());
        assert!(alloc_zeroed(isize::MAX as usize / 2).is_null());
    }
}
