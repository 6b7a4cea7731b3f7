//! Constants of the C interface as types. A newer library may give numbers that
//! this crate has no name for: they are kept as they are.

/// Exactly one of some numbers.
macro_rules! numbers {
    ($(#[$about:meta])* $name:ident $($member:ident = $constant:ident,)*) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct $name(i32);

        impl $name {
            $(
                #[doc = concat!("`", stringify!($constant), "`")]
                pub const $member: Self = Self(parlance_sys::$constant);
            )*
            /// All that this crate has a name for.
            pub const ALL: &'static [Self] = &[$(Self::$member,)*];

            /// The number of the C interface.
            pub const fn from_raw(number: i32) -> Self {
                Self(number)
            }

            /// The number of the C interface.
            pub const fn as_raw(self) -> i32 {
                self.0
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match *self {
                    $(Self::$member => f.write_str(stringify!($member)),)*
                    Self(other) => write!(f, concat!(stringify!($name), "({})"), other),
                }
            }
        }
    };
}
pub(crate) use numbers;

/// Any of some bits.
macro_rules! flags {
    ($(#[$about:meta])* $name:ident $($member:ident = $constant:ident,)*) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
        #[repr(transparent)]
        pub struct $name(u32);

        impl $name {
            $(
                #[doc = concat!("`", stringify!($constant), "`")]
                pub const $member: Self = Self(parlance_sys::$constant);
            )*
            /// All that this crate has a name for.
            pub const ALL: &'static [Self] = &[$(Self::$member,)*];

            /// The bits of the C interface.
            pub const fn from_raw(bits: u32) -> Self {
                Self(bits)
            }

            /// The bits of the C interface.
            pub const fn as_raw(self) -> u32 {
                self.0
            }

            /// Whether all bits of `other` are set.
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut left = self.0;
                let mut some = false;
                $(
                    if self.contains(Self::$member) {
                        f.write_str(if some { " | " } else { "" })?;
                        f.write_str(stringify!($member))?;
                        left &= !Self::$member.0;
                        some = true;
                    }
                )*
                if left != 0 || !some {
                    write!(f, "{}{left:#x}", if some { " | " } else { "" })?;
                }
                Ok(())
            }
        }
    };
}
pub(crate) use flags;
