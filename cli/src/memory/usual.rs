//! Large blocks where the system's allocator is left to do as it thinks best.

use std::alloc::{GlobalAlloc, Layout, System};

use super::LARGE_ALIGNED;

/// # Safety
///
/// The size is that of a layout that somebody has.
#[expect(unsafe_code, reason = "an allocator cannot be asked without")]
const unsafe fn layout(size: usize) -> Layout {
    // SAFETY: the caller's promise.
    unsafe { Layout::from_size_align_unchecked(size, LARGE_ALIGNED) }
}

/// Returns a block of that size, with anything in it; null where the system gives none.
#[expect(unsafe_code, reason = "an allocator cannot be asked without")]
pub(super) fn alloc(size: usize) -> *mut u8 {
    // SAFETY: it is the size of a layout, and not zero.
    unsafe { System.alloc(layout(size)) }
}

/// Returns a block of that size, filled with zeros; null where the system gives none.
#[expect(unsafe_code, reason = "an allocator cannot be asked without")]
pub(super) fn alloc_zeroed(size: usize) -> *mut u8 {
    // SAFETY: it is the size of a layout, and not zero.
    unsafe { System.alloc_zeroed(layout(size)) }
}

/// Makes a block longer or shorter; null where the system gives no more, and the block is as it was.
///
/// # Safety
///
/// The block came from here with that size, and nobody else uses it.
#[expect(unsafe_code, reason = "an allocator cannot be asked without")]
pub(super) unsafe fn realloc(place: *mut u8, size: usize, new: usize) -> *mut u8 {
    // SAFETY: the caller's promise.
    unsafe { System.realloc(place, layout(size), new) }
}

/// Frees a block.
///
/// # Safety
///
/// As for [`realloc`]; nobody uses it any more.
#[expect(unsafe_code, reason = "an allocator cannot be asked without")]
pub(super) unsafe fn dealloc(place: *mut u8, size: usize) {
    // SAFETY: the caller's promise.
    unsafe { System.dealloc(place, layout(size)) }
}
