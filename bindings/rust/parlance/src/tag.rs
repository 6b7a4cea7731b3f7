use std::ptr::NonNull;

use parlance_sys as sys;

use crate::ffi::{self, chars};
use crate::{Compiler, Parser, ParserOptions, Result, Vocabulary};

/// A structural tag: a grammar of a response with its markers. Immutable; a clone is
/// the same.
///
/// ```
/// let tag = parlance::Tag::from_json(
///     r#"{"type": "structural_tag", "format": {"type": "const_string", "value": "yes"}}"#,
/// )?;
/// assert!(tag.to_json()?.contains("yes"));
/// assert_eq!(tag.report()?, "[]");
/// # Ok::<(), parlance::Error>(())
/// ```
pub struct Tag {
    raw: NonNull<sys::parlance_tag>,
}
ffi::shared!(Tag, parlance_tag, parlance_tag_ref, parlance_tag_free);

impl Tag {
    pub(crate) fn from_handle(raw: NonNull<sys::parlance_tag>) -> Self {
        Self { raw }
    }

    /// Loads a structural tag.
    pub fn from_json(text: &str) -> Result<Self> {
        ffi::new_handle(|out, error| unsafe {
            sys::parlance_tag_from_json(chars(text.as_bytes()), text.len(), out, error)
        })
        .map(|raw| Self { raw })
    }

    /// The tag, from which it can be loaded again.
    pub fn to_json(&self) -> Result<String> {
        ffi::string(|out, error| unsafe { sys::parlance_tag_to_json(self.as_raw(), out, error) })
    }

    /// What the tag leaves out of what was asked for, as
    /// [`Grammar::report`](crate::Grammar::report) says it.
    pub fn report(&self) -> Result<String> {
        ffi::string(|out, error| unsafe { sys::parlance_tag_report(self.as_raw(), out, error) })
    }

    /// Compiles the tag for parsers. The cache of `compiler` is used. Request:
    /// `"markers"`, `"limits"`, `"max_parses"`, `"parse_bytes"`.
    pub fn compile(
        &self,
        vocabulary: Option<&Vocabulary>,
        compiler: Option<&Compiler>,
        request: &str,
    ) -> Result<CompiledTag> {
        ffi::new_handle(|out, error| unsafe {
            sys::parlance_tag_compile(
                self.as_raw(),
                ffi::or_null(vocabulary),
                ffi::or_null(compiler),
                chars(request.as_bytes()),
                request.len(),
                out,
                error,
            )
        })
        .map(|raw| CompiledTag { raw })
    }
}

/// A structural tag that parsers read by. Immutable; a clone is the same.
///
/// ```
/// use parlance::{Format, ParserOptions};
/// let tag = Format::built_in("qwen3")?.tag("", None)?.compile(None, None, "")?;
/// let mut parser = tag.parser(&ParserOptions::default())?;
/// parser.feed("Hi!")?;
/// parser.finalize()?;
/// assert!(parser.tree()?.contains("Hi!"));
/// # Ok::<(), parlance::Error>(())
/// ```
pub struct CompiledTag {
    raw: NonNull<sys::parlance_compiled_tag>,
}
ffi::shared!(
    CompiledTag,
    parlance_compiled_tag,
    parlance_compiled_tag_ref,
    parlance_compiled_tag_free
);

impl CompiledTag {
    /// A parser of one response.
    pub fn parser(&self, options: &ParserOptions<'_>) -> Result<Parser> {
        Parser::by_tag(self, options)
    }
}
