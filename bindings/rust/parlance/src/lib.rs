//! Turns what a language model writes into messages while it is written, and holds the
//! model to what it may write.
//!
//! ```
//! use parlance::{EventKind, Format};
//!
//! let format = Format::built_in("qwen3")?;
//! let mut parser = format.parser(&Default::default())?;
//! for chunk in ["<think>Bern, th", "en.</th", "ink>It is sunny."] {
//!     for event in parser.feed(chunk)? {
//!         if event.kind() == EventKind::REGION_CHUNK {
//!             println!("{}: {}", event.field(), event.text());
//!         }
//!     }
//! }
//! parser.finalize()?;
//! println!("{}", parser.chat_message()?);
//! # Ok::<(), parlance::Error>(())
//! ```
//!
//! | to | there are |
//! | --- | --- |
//! | read a response | [`Format`], [`Parser`], [`Events`], [`Tools`]; by a structural tag: [`Tag`], [`CompiledTag`] |
//! | read the events of a server, and send events on | [`Sse`], [`Chat`] |
//! | say what may be written | [`Grammar`], [`Format::tag`] |
//! | hold a model to it | [`Vocabulary`], [`Compiler`], [`Constraint`], [`Matcher`], [`Table`] |
//! | do both for many requests | [`Batch`] |
//! | write a message as a family writes it | [`Format::render`] |
//! | find a model's format | [`detect`]; [`rank_formats`], by a response |
//! | see what became of a response | [`Explanation`] |
//!
//! # What is common to all
//!
//! Requests and results are JSON as text, since a program has its own library for JSON.
//! A key that is not known is an error with its JSON Pointer.
//!
//! What people write can be wrong, and is an [`Error`]. What models write is never an
//! error, except where a reader is strict by choice.
//!
//! [`Format`], [`Tools`], [`Vocabulary`], [`Tag`], [`CompiledTag`], [`Grammar`],
//! [`Compiler`] and [`Constraint`] are immutable, shared between threads, and cheap to
//! clone. [`Parser`], [`Matcher`], [`Chat`], [`Sse`] and [`Batch`] change: they move between
//! threads and are not shared.
//!
//! [`Parser::from_raw`] and [`Parser::into_raw`], and those of the other types, exchange
//! handles with C. The C interface is the crate `parlance-sys`, which says which library
//! is linked.

// What makes the calls of the C interface sound, wherever no comment says more: a handle
// that a type of this crate has is live; texts and lists are borrowed, as pointer and
// size, for the call, and the library keeps none of them; outputs are local variables.

mod batch;
mod chat;
#[rustfmt::skip]
mod constants;
mod constraint;
mod error;
mod explain;
mod ffi;
mod format;
mod grammar;
mod numbers;
mod parser;
mod sse;
mod tag;
mod vocabulary;

pub use batch::{Batch, Masks, Step, StepResult, Steps};
pub use chat::Chat;
pub use constants::{
    End, EventFlags, EventKind, Language, Markers, MatcherFlags, Recover, Spelling, Status,
    StepFlags, TokenKind,
};
pub use constraint::{
    Compiler, Constraint, DraftTree, MaskId, Matcher, MatcherOptions, Table, allowed,
};
pub use error::{Error, Result};
pub use explain::Explanation;
pub use format::{Format, Tools, detect, detection_sample, formats, locate, rank_formats};
pub use grammar::{Grammar, Refusal};
pub use parser::{Event, Events, Parser, ParserOptions};
pub use sse::Sse;
pub use tag::{CompiledTag, Tag};
pub use vocabulary::{ModelFiles, TokenOptions, Vocabulary};

/// The version of the library that is linked, such as `"0.1.0"`.
///
/// ```
/// assert_eq!(parlance::version(), env!("CARGO_PKG_VERSION"));
/// ```
pub fn version() -> &'static str {
    // SAFETY: the text is static and ends with NUL.
    unsafe { ffi::static_text(parlance_sys::parlance_version()) }
}

/// Its version of the C interface: what breaks it, and what was added since.
pub fn abi() -> (u32, u32) {
    unsafe { (parlance_sys::parlance_abi(), parlance_sys::parlance_abi_minor()) }
}

/// The examples of the guide.
#[cfg(doctest)]
#[doc = include_str!("../guide.md")]
struct Guide;
