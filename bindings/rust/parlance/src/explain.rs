use parlance_sys as sys;

use crate::ffi::{self, chars};
use crate::{
    CompiledTag, Constraint, Format, Grammar, Markers, Recover, Result, Tools, Vocabulary,
};

/// What is explained: a response by a format or a compiled tag, or a text by a grammar,
/// or ids by a constraint alone.
///
/// ```
/// use parlance::{Explanation, Format};
/// let format = Format::built_in("qwen3")?;
/// let what = Explanation { format: Some(&format), text: b"Hi!", ..Default::default() };
/// assert!(what.to_json()?.contains("content"));
/// assert!(what.to_html()?.contains("<html"));
/// # Ok::<(), parlance::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Explanation<'a> {
    /// Reads the response.
    pub format: Option<&'a Format>,
    /// Reads the response.
    pub tag: Option<&'a CompiledTag>,
    /// Reads a text.
    pub grammar: Option<&'a Grammar>,
    /// Reads ids; may stand beside a format or a tag.
    pub constraint: Option<&'a Constraint>,
    /// Gives arguments their types.
    pub tools: Option<&'a Tools>,
    /// Of the ids; without it the text is read.
    pub vocabulary: Option<&'a Vocabulary>,
    /// The response.
    pub text: &'a [u8],
    /// The response, with a vocabulary.
    pub ids: &'a [u32],
    /// What the prompt has written of it.
    pub prefix: &'a [u8],
    /// A name for people.
    pub name: &'a str,
    /// Bytes or tokens that are fed at once. Default, 0: all.
    pub chunk: usize,
    /// How markers occur in ids.
    pub markers: Markers,
    /// Default: as the format says.
    pub recover: Recover,
}

impl Default for Explanation<'_> {
    fn default() -> Self {
        Self {
            format: None,
            tag: None,
            grammar: None,
            constraint: None,
            tools: None,
            vocabulary: None,
            text: &[],
            ids: &[],
            prefix: &[],
            name: "",
            chunk: 0,
            markers: Markers::TOKEN,
            recover: Recover::DEFAULT,
        }
    }
}

impl Explanation<'_> {
    fn make(&self, html: bool) -> Result<String> {
        let what = sys::parlance_explanation {
            struct_size: sys::parlance_explanation::INIT.struct_size,
            format: ffi::or_null(self.format),
            tag: ffi::or_null(self.tag),
            grammar: ffi::or_null(self.grammar),
            constraint: ffi::or_null(self.constraint),
            tools: ffi::or_null(self.tools),
            vocabulary: ffi::or_null(self.vocabulary),
            text: chars(self.text),
            text_size: self.text.len(),
            ids: self.ids.as_ptr(),
            id_count: self.ids.len(),
            prefix: chars(self.prefix),
            prefix_size: self.prefix.len(),
            name: chars(self.name.as_bytes()),
            name_size: self.name.len(),
            chunk: self.chunk,
            markers: self.markers.as_raw(),
            recover: self.recover.as_raw(),
            html: html.into(),
            packed: 0,
        };
        ffi::check_abi()?;
        ffi::string(|out, error| unsafe { sys::parlance_explain(&what, out, error) })
    }

    /// Which bytes went where, and why, as JSON.
    pub fn to_json(&self) -> Result<String> {
        self.make(false)
    }

    /// The same as a page for a browser.
    pub fn to_html(&self) -> Result<String> {
        self.make(true)
    }
}
