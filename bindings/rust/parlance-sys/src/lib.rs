//! The C interface of Parlance, `parlance_c.h`, which says what each function
//! means and who owns what. The crate `parlance` is safe and has more to read.
//!
//! Types, constants and functions are those of the header, and the compiler
//! asserts where each member of a struct lies.
//!
//! # Which library is linked
//!
//! 1. The one in the folders that `PARLANCE_LIB_DIR` names (written as in `PATH`): a
//!    `libparlance-c` that is shared, or, with `PARLANCE_STATIC=1`, the archives
//!    `libparlance-c.a` and `libparlance.a`; PCRE2 comes from there or from the system.
//! 2. With the feature `bundled`, one compiled from the sources in this crate,
//!    by CMake (`CMAKE` names another) and a C++20 compiler (`CXX`).
//! 3. What pkg-config (`PKG_CONFIG` names another) knows as `parlance-c`.
//!
//! A program that depends on this crate directly finds the folder with
//! `parlance_c.h` in `DEP_PARLANCE_INCLUDE`, if it is known.
#![no_std]
#![allow(non_camel_case_types, missing_docs)]

// Handles. No Send, Sync or Unpin: the crate above says what is true.
macro_rules! opaque {
    ($($name:ident,)*) => {$(
        #[repr(C)]
        pub struct $name {
            _private: [u8; 0],
            _marker: core::marker::PhantomData<(*mut u8, core::marker::PhantomPinned)>,
        }
    )*};
}

macro_rules! has_defaults {
    ($name:ident) => {
        impl $name {
            /// All defaults.
            pub const INIT: Self = {
                // SAFETY: numbers, and pointers that may be null.
                let mut all: Self = unsafe { core::mem::zeroed() };
                all.struct_size = core::mem::size_of::<Self>();
                all
            };
        }
    };
}

#[rustfmt::skip]
mod interface;
pub use interface::*;
