//! How functions of the C interface are called: texts in and out, errors, handles.

use std::ffi::{CStr, c_char};
use std::path::Path;
use std::ptr::{self, NonNull};
use std::slice;

use parlance_sys as sys;

use crate::{Error, Result, Status};

/// Bytes as the C interface takes them.
pub(crate) fn chars(bytes: &[u8]) -> *const c_char {
    bytes.as_ptr().cast()
}

/// # Safety
///
/// `data` must be null or begin `size` values that live for `'a`.
pub(crate) unsafe fn slice<'a, T>(data: *const T, size: usize) -> &'a [T] {
    if data.is_null() {
        &[]
    } else {
        // SAFETY: as above.
        unsafe { slice::from_raw_parts(data, size) }
    }
}

/// # Safety
///
/// `data` must be null or begin `size` bytes that live for `'a`.
pub(crate) unsafe fn text<'a>(data: *const c_char, size: usize) -> &'a str {
    // SAFETY: as above.
    let bytes = unsafe { slice(data.cast::<u8>(), size) };
    // The library writes whole characters; should it not, the text ends before
    // those that are not.
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    }
}

/// # Safety
///
/// `data` must be static and end with NUL.
pub(crate) unsafe fn static_text(data: *const c_char) -> &'static str {
    // SAFETY: as above.
    unsafe { CStr::from_ptr(data) }.to_str().unwrap_or_default()
}

pub(crate) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(crate) fn path_text(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| {
        Error::new(Status::INVALID_UTF8, format!("the path is not UTF-8: {}", path.display()))
    })
}

/// A status of a function without an error to give.
#[inline]
pub(crate) fn check(status: i32) -> Result<()> {
    if status == sys::PARLANCE_OK { Ok(()) } else { Err(failure(status, ptr::null_mut())) }
}

#[cold]
fn failure(status: i32, error: *mut sys::parlance_error) -> Error {
    // SAFETY: the error came from the call that failed, and nobody else has it.
    unsafe { Error::from_raw(Status::from_raw(status), error) }
}

/// Calls what may give an error.
pub(crate) fn call(make: impl FnOnce(*mut *mut sys::parlance_error) -> i32) -> Result<()> {
    let mut error = ptr::null_mut();
    let status = make(&mut error);
    if status == sys::PARLANCE_OK { Ok(()) } else { Err(failure(status, error)) }
}

/// Calls what gives a handle, of a library that has the functions of the header.
pub(crate) fn new_handle<T>(
    make: impl FnOnce(*mut *mut T, *mut *mut sys::parlance_error) -> i32,
) -> Result<NonNull<T>> {
    check_abi()?;
    let mut out = ptr::null_mut();
    call(|error| make(&mut out, error))?;
    NonNull::new(out).ok_or_else(|| Error::new(Status::INTERNAL, "the library gave no handle"))
}

/// Calls what gives bytes.
pub(crate) fn bytes(
    make: impl FnOnce(*mut sys::parlance_bytes, *mut *mut sys::parlance_error) -> i32,
) -> Result<Vec<u8>> {
    let mut out = sys::parlance_bytes { data: ptr::null_mut(), size: 0 };
    call(|error| make(&mut out, error))?;
    Ok(take(out))
}

/// Copies and frees.
pub(crate) fn take(bytes: sys::parlance_bytes) -> Vec<u8> {
    // SAFETY: the library gave `size` bytes at `data`, which are freed once.
    unsafe {
        let copy = slice(bytes.data.cast::<u8>().cast_const(), bytes.size).to_vec();
        sys::parlance_free(bytes.data.cast());
        copy
    }
}

/// Calls what gives a text.
pub(crate) fn string(
    make: impl FnOnce(*mut sys::parlance_bytes, *mut *mut sys::parlance_error) -> i32,
) -> Result<String> {
    // The library writes UTF-8: nothing is copied again.
    Ok(String::from_utf8(bytes(make)?).unwrap_or_else(|error| lossy(error.as_bytes())))
}

/// A handle that may be missing.
pub(crate) fn or_null<T, H: AsRawHandle<T>>(handle: Option<&H>) -> *const T {
    handle.map_or(ptr::null(), |handle| handle.raw())
}

pub(crate) trait AsRawHandle<T> {
    fn raw(&self) -> *const T;
}

/// The functions of the header must be those of the library.
pub(crate) fn check_abi() -> Result<()> {
    // SAFETY: any number of threads may ask.
    let found = unsafe { sys::parlance_abi() };
    if found == sys::PARLANCE_ABI as u32 {
        return Ok(());
    }
    Err(Error::new(
        Status::UNSUPPORTED_VERSION,
        format!(
            "the library has version {found} of the C interface, and this crate needs {}",
            sys::PARLANCE_ABI
        ),
    ))
}

/// What every handle has. `handle!(Name, raw_type, free)`.
macro_rules! handle {
    ($name:ident, $raw:ident, $free:ident) => {
        impl $name {
            /// Takes a handle of the C interface, and frees it when dropped.
            ///
            /// # Safety
            ///
            /// `raw` must be a live handle of this kind, and this a reference to it
            /// that nobody else gives back.
            pub unsafe fn from_raw(raw: std::ptr::NonNull<parlance_sys::$raw>) -> Self {
                Self { raw }
            }

            /// The handle of the C interface, which the caller frees.
            pub fn into_raw(self) -> std::ptr::NonNull<parlance_sys::$raw> {
                let raw = self.raw;
                std::mem::forget(self);
                raw
            }

            /// The handle of the C interface, borrowed.
            pub fn as_raw(&self) -> *mut parlance_sys::$raw {
                self.raw.as_ptr()
            }
        }

        impl crate::ffi::AsRawHandle<parlance_sys::$raw> for $name {
            fn raw(&self) -> *const parlance_sys::$raw {
                self.raw.as_ptr()
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: the handle is live, and nobody uses it afterwards.
                unsafe { parlance_sys::$free(self.raw.as_ptr()) }
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}
pub(crate) use handle;

/// A handle of something immutable: references are counted.
macro_rules! shared {
    ($name:ident, $raw:ident, $reference:ident, $free:ident) => {
        crate::ffi::handle!($name, $raw, $free);

        impl Clone for $name {
            fn clone(&self) -> Self {
                // SAFETY: the handle is live; the function adds a reference and
                // returns its argument.
                unsafe { parlance_sys::$reference(self.raw.as_ptr()) };
                Self { raw: self.raw }
            }
        }

        // SAFETY: it is immutable, and its references are counted atomically: any
        // number of threads may use and free it ("Threads" in parlance_c.h).
        unsafe impl Send for $name {}
        // SAFETY: as above.
        unsafe impl Sync for $name {}
    };
}
pub(crate) use shared;

/// A handle of something that changes: it has one owner.
macro_rules! owned {
    ($name:ident, $raw:ident, $free:ident) => {
        crate::ffi::handle!($name, $raw, $free);

        // SAFETY: the library keeps nothing in thread-local storage between calls,
        // so that any thread may make the next one. Not Sync: a second call at the
        // same time is refused ("Threads" in parlance_c.h).
        unsafe impl Send for $name {}
    };
}
pub(crate) use owned;
