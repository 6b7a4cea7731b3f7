use std::ptr::{self, NonNull};

use parlance_sys as sys;

use crate::ffi::{self, chars};
use crate::{CompiledTag, End, Format, Parser, Result};

/// Events in the shape of a chat API, while the response arrives.
///
/// ```
/// use parlance::{Chat, End, Format, ParserOptions};
/// let format = Format::built_in("qwen3")?;
/// let mut parser =
///     format.parser(&ParserOptions { stream_calls: true, ..Default::default() })?;
/// let mut chat = Chat::new(&format, r#"{"id": "x", "model": "m"}"#)?;
/// let mut sent = String::new();
/// for chunk in ["Hi", "!"] {
///     parser.feed(chunk)?;
///     sent += &chat.feed(&parser)?;
/// }
/// parser.finalize()?;
/// sent += &chat.feed(&parser)?;
/// sent += &chat.end(End::STOP, Some(&parser), "")?;
/// assert!(sent.starts_with("data: {") && sent.ends_with("data: [DONE]\n\n"));
/// assert!(chat.response()?.contains(r#""content":"Hi!""#));
/// # Ok::<(), parlance::Error>(())
/// ```
pub struct Chat {
    raw: NonNull<sys::parlance_chat>,
}
ffi::owned!(Chat, parlance_chat, parlance_chat_free);

impl Chat {
    fn make(format: Option<&Format>, tag: Option<&CompiledTag>, request: &str) -> Result<Self> {
        ffi::new_handle(|out, error| unsafe {
            sys::parlance_chat_new(
                ffi::or_null(format),
                ffi::or_null(tag),
                chars(request.as_bytes()),
                request.len(),
                out,
                error,
            )
        })
        .map(|raw| Self { raw })
    }

    /// For a parser by a format. Request: `"api"` (`"chat_completions"`,
    /// `"responses"`, `"messages"`), `"id"`, `"model"`, `"created"`, `"choice"`,
    /// `"reasoning_name"`, `"call_id_prefix"`, `"model_call_ids"`, `"extras"`, and
    /// `"output"`: `"sse"`, the default, or `"json"`, a list of `{"event", "body",
    /// "bytes", "tokens"}`.
    pub fn new(format: &Format, request: &str) -> Result<Self> {
        Self::make(Some(format), None, request)
    }

    /// For a parser by a structural tag.
    pub fn by_tag(tag: &CompiledTag, request: &str) -> Result<Self> {
        Self::make(None, Some(tag), request)
    }

    /// What comes before all events; the first [`Chat::feed`] gives it otherwise.
    pub fn begin(&mut self) -> Result<String> {
        ffi::string(|out, error| unsafe { sys::parlance_chat_begin(self.as_raw(), out, error) })
    }

    /// The events of the parser's last call, as server-sent events that can be sent as
    /// they are.
    pub fn feed(&mut self, parser: &Parser) -> Result<String> {
        ffi::string(|out, error| unsafe {
            sys::parlance_chat_feed(self.as_raw(), parser.as_raw(), out, error)
        })
    }

    /// What comes after all events. Request: `"prompt_tokens"`, `"completion_tokens"`.
    pub fn end(&mut self, why: End, parser: Option<&Parser>, request: &str) -> Result<String> {
        ffi::string(|out, error| unsafe {
            sys::parlance_chat_end(
                self.as_raw(),
                why.as_raw(),
                parser.map_or(ptr::null(), |parser| parser.as_raw().cast_const()),
                chars(request.as_bytes()),
                request.len(),
                out,
                error,
            )
        })
    }

    /// The whole response, in the shape for requests without streaming.
    pub fn response(&self) -> Result<String> {
        ffi::string(|out, error| unsafe { sys::parlance_chat_response(self.as_raw(), out, error) })
    }
}
