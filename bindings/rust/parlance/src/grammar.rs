use std::ptr::{self, NonNull};

use parlance_sys as sys;

use crate::ffi::{self, chars};
use crate::{Language, Result, Tag, Vocabulary};

/// Which texts are valid. Immutable; a clone is the same.
///
/// ```
/// use parlance::{Grammar, Language};
/// let grammar = Grammar::compile(Language::JSON_SCHEMA, r#"{"type": "integer"}"#, None, "")?;
/// assert!(grammar.accepts("12")?);
/// let refusal = grammar.explain("1.5")?.unwrap();
/// assert_eq!(refusal.offset, 1);
/// # Ok::<(), parlance::Error>(())
/// ```
pub struct Grammar {
    raw: NonNull<sys::parlance_grammar>,
}
ffi::shared!(Grammar, parlance_grammar, parlance_grammar_ref, parlance_grammar_free);

/// Where a text leaves a language.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The byte that is not allowed, or the end of the text.
    pub offset: u64,
    /// What is allowed there.
    pub expected: String,
}

impl Grammar {
    fn take(
        make: impl FnOnce(*mut *mut sys::parlance_grammar, *mut *mut sys::parlance_error) -> i32,
    ) -> Result<Self> {
        ffi::new_handle(make).map(|raw| Self { raw })
    }

    /// Compiles a grammar. In `vocabulary` tokens are looked up that are given by
    /// name. The request has `"limits"` and the options of the language:
    /// `parlance_c.h` lists them.
    pub fn compile(
        language: Language,
        text: &str,
        vocabulary: Option<&Vocabulary>,
        request: &str,
    ) -> Result<Self> {
        Self::take(|out, error| unsafe {
            sys::parlance_grammar_compile(
                language.as_raw(),
                chars(text.as_bytes()),
                text.len(),
                ffi::or_null(vocabulary),
                chars(request.as_bytes()),
                request.len(),
                out,
                error,
            )
        })
    }

    /// The grammar of a structural tag.
    pub fn from_tag(tag: &Tag, vocabulary: Option<&Vocabulary>, request: &str) -> Result<Self> {
        Self::take(|out, error| unsafe {
            sys::parlance_grammar_from_tag(
                tag.as_raw(),
                ffi::or_null(vocabulary),
                chars(request.as_bytes()),
                request.len(),
                out,
                error,
            )
        })
    }

    fn combine(parts: &[&Grammar], in_sequence: i32) -> Result<Self> {
        let parts: Vec<*const sys::parlance_grammar> =
            parts.iter().map(|part| part.as_raw().cast_const()).collect();
        Self::take(|out, error| unsafe {
            sys::parlance_grammar_combine(in_sequence, parts.as_ptr(), parts.len(), out, error)
        })
    }

    /// A text of any part.
    ///
    /// ```
    /// # use parlance::{Grammar, Language};
    /// let [a, b] = ["a+", "b"].map(|text| Grammar::compile(Language::REGEX, text, None, "").unwrap());
    /// assert!(Grammar::union(&[&a, &b])?.accepts("aa")?);
    /// assert!(Grammar::sequence(&[&a, &b])?.accepts("aab")?);
    /// # Ok::<(), parlance::Error>(())
    /// ```
    pub fn union(parts: &[&Grammar]) -> Result<Self> {
        Self::combine(parts, 0)
    }

    /// A text of each part, one after another.
    pub fn sequence(parts: &[&Grammar]) -> Result<Self> {
        Self::combine(parts, 1)
    }

    /// What [`Grammar::to_bytes`] gave.
    pub fn from_bytes(data: &[u8]) -> Result<Self> {
        Self::take(|out, error| unsafe {
            sys::parlance_grammar_from_bytes(data.as_ptr().cast(), data.len(), out, error)
        })
    }

    /// What the grammar was made from.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        ffi::bytes(|out, error| unsafe {
            sys::parlance_grammar_to_bytes(self.as_raw(), out, error)
        })
    }

    /// Whether the whole text is valid.
    ///
    /// Errors: `TOO_LARGE` if a limit was passed before that was decided.
    pub fn accepts(&self, text: impl AsRef<[u8]>) -> Result<bool> {
        let text = text.as_ref();
        let mut accepts = 0;
        ffi::call(|error| unsafe {
            sys::parlance_grammar_accepts(
                self.as_raw(),
                chars(text),
                text.len(),
                &mut accepts,
                ptr::null_mut(),
                ptr::null_mut(),
                error,
            )
        })?;
        Ok(accepts != 0)
    }

    /// Where a text leaves the language; `None` if it is valid.
    pub fn explain(&self, text: impl AsRef<[u8]>) -> Result<Option<Refusal>> {
        let text = text.as_ref();
        let (mut accepts, mut offset) = (0, 0);
        let expected = ffi::string(|out, error| unsafe {
            sys::parlance_grammar_accepts(
                self.as_raw(),
                chars(text),
                text.len(),
                &mut accepts,
                &mut offset,
                out,
                error,
            )
        })?;
        Ok((accepts == 0).then_some(Refusal { offset, expected }))
    }

    /// Where the grammar enforces something else than its source: `[{"kind":
    /// "narrowed" or "ignored", "keyword", "path", "message"}]`.
    pub fn report(&self) -> Result<String> {
        ffi::string(|out, error| unsafe { sys::parlance_grammar_report(self.as_raw(), out, error) })
    }

    /// What rules with a capture match: `[{"name", "text", "span": [begin, end]}]`.
    pub fn captures(&self, text: impl AsRef<[u8]>) -> Result<String> {
        let text = text.as_ref();
        ffi::string(|out, error| unsafe {
            sys::parlance_grammar_captures(self.as_raw(), chars(text), text.len(), out, error)
        })
    }

    /// The grammar as EBNF.
    pub fn to_ebnf(&self) -> Result<String> {
        ffi::string(|out, error| unsafe {
            sys::parlance_grammar_to_ebnf(self.as_raw(), out, error)
        })
    }
}
