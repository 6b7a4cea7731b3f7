use std::ptr::NonNull;

use parlance_sys as sys;

use crate::Result;
use crate::ffi::{self, chars};

/// The text inside the server-sent events of a server that streams without parsing.
///
/// ```
/// let mut sse = parlance::Sse::new()?;
/// let mut text = sse.feed("data: {\"choices\": [{\"delta\": {\"content\": \"H")?;
/// text += &sse.feed("i\"}}]}\n\ndata: [DONE]\n\n")?;
/// text += &sse.finalize()?;
/// assert_eq!((text.as_str(), sse.faults()?.as_str()), ("Hi", "[]"));
/// # Ok::<(), parlance::Error>(())
/// ```
pub struct Sse {
    raw: NonNull<sys::parlance_sse>,
}
ffi::owned!(Sse, parlance_sse, parlance_sse_free);

impl Sse {
    /// At the beginning of a stream.
    pub fn new() -> Result<Self> {
        ffi::new_handle(|out, error| unsafe { sys::parlance_sse_new(out, error) })
            .map(|raw| Self { raw })
    }

    /// The text of the events that a piece of the stream completes. The piece may end
    /// anywhere.
    ///
    /// Errors: `FINALIZED` after [`Sse::finalize`].
    pub fn feed(&mut self, bytes: impl AsRef<[u8]>) -> Result<String> {
        let bytes = bytes.as_ref();
        ffi::string(|out, error| unsafe {
            sys::parlance_sse_feed(self.as_raw(), chars(bytes), bytes.len(), out, error)
        })
    }

    /// The text of an event that nothing ended.
    pub fn finalize(&mut self) -> Result<String> {
        ffi::string(|out, error| unsafe { sys::parlance_sse_finalize(self.as_raw(), out, error) })
    }

    /// What the last of these calls could not read: `[{"line", "message"}]`.
    pub fn faults(&self) -> Result<String> {
        ffi::string(|out, error| unsafe { sys::parlance_sse_faults(self.as_raw(), out, error) })
    }
}
