use std::fmt;
use std::ops::Range;

use parlance_sys as sys;

use crate::Status;

/// What this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// What is wrong with something that a person or a program wrote. What a model
/// writes is never an error.
///
/// ```
/// let error = parlance::Tools::from_json(r#"[{"type": 1]"#).unwrap_err();
/// assert_eq!(error.status(), parlance::Status::INVALID_JSON);
/// assert_eq!(error.span(), Some(11..12));
///
/// let format = parlance::Format::built_in("qwen3")?;
/// let error = format.tag(r#"{"tool_choise": "required"}"#, None).unwrap_err();
/// assert_eq!(error.status(), parlance::Status::UNKNOWN_KEY);
/// assert_eq!(error.path(), "/tool_choise");
/// # Ok::<(), parlance::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    status: Status,
    message: String,
    path: String,
    span: Option<Range<u64>>,
}

impl Error {
    /// Which kind of error it is.
    pub fn status(&self) -> Status {
        self.status
    }

    /// What was found, and what would be right.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// A JSON Pointer into the source: `""` for its root, and where it is no JSON.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The bytes of the source that are wrong.
    pub fn span(&self) -> Option<Range<u64>> {
        self.span.clone()
    }

    /// One without more than its name.
    pub(crate) fn new(status: Status, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), path: String::new(), span: None }
    }

    /// Takes an error of the library, which may be null.
    ///
    /// # Safety
    ///
    /// `raw` must be null or an error that nobody else frees.
    pub unsafe fn from_raw(status: Status, raw: *mut sys::parlance_error) -> Self {
        if raw.is_null() {
            return Self::new(status, status.name());
        }
        let text = |get: unsafe extern "C" fn(_, *mut usize) -> _| {
            let mut size = 0;
            // SAFETY: the error lives until it is freed below, and so do its texts.
            unsafe {
                let data: *const std::ffi::c_char = get(raw.cast_const(), &mut size);
                crate::ffi::lossy(crate::ffi::slice(data.cast(), size))
            }
        };
        let (message, path) = (text(sys::parlance_error_message), text(sys::parlance_error_path));
        let mut span = sys::parlance_span { begin: 0, end: 0 };
        // SAFETY: `raw` is an error, and nobody uses it afterwards.
        let has_span = unsafe {
            let has_span = sys::parlance_error_span(raw, &mut span);
            sys::parlance_error_free(raw);
            has_span
        };
        Self { status, message, path, span: (has_span != 0).then_some(span.begin..span.end) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if !self.path.is_empty() {
            write!(f, ", at {}", self.path)?;
        }
        if let Some(span) = &self.span {
            write!(f, ", bytes {} to {}", span.start, span.end)?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

impl Status {
    /// `"unknown_key"`, `"busy"`, ...; `"unknown"` for a number that the library
    /// does not know.
    ///
    /// ```
    /// assert_eq!(parlance::Status::UNKNOWN_KEY.name(), "unknown_key");
    /// ```
    pub fn name(self) -> &'static str {
        // SAFETY: the name is static and ends with NUL.
        unsafe { crate::ffi::static_text(sys::parlance_status_name(self.as_raw())) }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
