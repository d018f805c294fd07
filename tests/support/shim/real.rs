//! The functions that would be called without this library.

use std::ffi::{c_char, c_int, c_uint, c_void};

unsafe extern "C" {
    pub fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Stands for the libraries behind this one.
pub const NEXT: *mut c_void = -1isize as *mut c_void;

pub const O_WRONLY: c_int = 1;
pub const O_CREAT: c_int = 0o100;
pub const O_TRUNC: c_int = 0o1000;
const O_APPEND: c_int = 0o2000;
const O_CLOEXEC: c_int = 0o2_000_000;

/// The function of this name and type, which is looked for once.
macro_rules! real {
    ($name:ident: fn($($kind:tt)*) $(-> $result:ty)?) => {{
        use std::sync::atomic::{AtomicPtr, Ordering};
        static FOUND: AtomicPtr<std::ffi::c_void> = AtomicPtr::new(std::ptr::null_mut());
        let mut found = FOUND.load(Ordering::Relaxed);
        if found.is_null() {
            let name = concat!(stringify!($name), "\0");
            found = unsafe { crate::real::dlsym(crate::real::NEXT, name.as_ptr().cast()) };
            FOUND.store(found, Ordering::Relaxed);
        }
        unsafe {
            std::mem::transmute::<*mut std::ffi::c_void, unsafe extern "C" fn($($kind)*) $(-> $result)?>(found)
        }
    }};
}

/// Opens the file that the calls are noted in; less than 0 where there is none.
pub fn open_log(path: &[u8]) -> c_int {
    let open = real!(open64: fn(*const c_char, c_int, ...) -> c_int);
    let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
    unsafe { open(path.as_ptr().cast(), flags, 0o600 as c_uint) }
}
