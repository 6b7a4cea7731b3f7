use std::marker::PhantomData;
use std::ops::Range;
use std::ptr::{self, NonNull};

use parlance_sys as sys;

use crate::ffi::{self, chars};
use crate::{
    CompiledTag, EventFlags, EventKind, Format, Markers, Recover, Result, Status, Tools, Vocabulary,
};

/// How a response is read.
///
/// ```
/// let options = parlance::ParserOptions { prefix: b"<think>", ..Default::default() };
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ParserOptions<'a> {
    /// What the prompt has written of the response. Default: nothing.
    pub prefix: &'a [u8],
    /// The same in token ids, in place of it, with a vocabulary.
    pub prefix_ids: &'a [u32],
    /// What ends the response, in place of the vocabulary's stop tokens.
    pub stop_ids: Option<&'a [u32]>,
    /// Gives arguments the types that their schemas declare.
    pub tools: Option<&'a Tools>,
    /// The parser reads token ids. Default, none: it reads text.
    pub vocabulary: Option<&'a Vocabulary>,
    /// How markers occur in ids. Default: [`Markers::TOKEN`].
    pub markers: Markers,
    /// Default: as the format says.
    pub recover: Recover,
    /// Events of calls while they are being written.
    pub stream_calls: bool,
    /// Every call that was attempted.
    pub attempts: bool,
    /// No message is made, only events.
    pub events_only: bool,
}

impl Default for ParserOptions<'_> {
    fn default() -> Self {
        Self {
            prefix: &[],
            prefix_ids: &[],
            stop_ids: None,
            tools: None,
            vocabulary: None,
            markers: Markers::TOKEN,
            recover: Recover::DEFAULT,
            stream_calls: false,
            attempts: false,
            events_only: false,
        }
    }
}

impl ParserOptions<'_> {
    pub(crate) fn raw(&self) -> sys::parlance_parser_options {
        let stops = self.stop_ids.unwrap_or_default();
        sys::parlance_parser_options {
            struct_size: sys::parlance_parser_options::INIT.struct_size,
            prefix: chars(self.prefix),
            prefix_size: self.prefix.len(),
            prefix_ids: self.prefix_ids.as_ptr(),
            prefix_count: self.prefix_ids.len(),
            stop_ids: stops.as_ptr(),
            stop_count: stops.len(),
            tools: ffi::or_null(self.tools),
            vocabulary: ffi::or_null(self.vocabulary),
            has_stop_ids: self.stop_ids.is_some().into(),
            markers: self.markers.as_raw(),
            recover: self.recover.as_raw(),
            stream_calls: self.stream_calls.into(),
            attempts: self.attempts.into(),
            events_only: self.events_only.into(),
        }
    }
}

/// Reads one response while it is being written.
///
/// ```
/// use parlance::{EventKind, Format};
/// let format = Format::built_in("qwen3")?;
/// let mut parser = format.parser(&Default::default())?;
/// let mut seen = String::new();
/// for chunk in ["<think>Be", "rn.</thi", "nk>Hi!"] {
///     for event in parser.feed(chunk)? {
///         if event.kind() == EventKind::REGION_CHUNK {
///             seen += &format!("{}: {}\n", event.field(), event.text());
///         }
///     }
/// }
/// parser.finalize()?;
/// assert_eq!(seen, "thinking: Be\nthinking: rn.\ncontent: Hi!\n");
/// assert!(parser.chat_message()?.contains(r#""reasoning":"Bern.""#));
/// # Ok::<(), parlance::Error>(())
/// ```
///
/// The parser may move to another thread, and is used by one at a time:
///
/// ```compile_fail
/// fn shared<T: Sync>() {}
/// shared::<parlance::Parser>();
/// ```
pub struct Parser {
    raw: NonNull<sys::parlance_parser>,
}
ffi::owned!(Parser, parlance_parser, parlance_parser_free);

impl Parser {
    /// A parser by a format.
    pub fn new(format: &Format, options: &ParserOptions<'_>) -> Result<Self> {
        let options = options.raw();
        ffi::new_handle(|out, error| unsafe {
            sys::parlance_parser_new(format.as_raw(), &options, out, error)
        })
        .map(|raw| Self { raw })
    }

    /// A parser by a structural tag.
    pub fn by_tag(tag: &CompiledTag, options: &ParserOptions<'_>) -> Result<Self> {
        let options = options.raw();
        ffi::new_handle(|out, error| unsafe {
            sys::parlance_parser_new_by_tag(tag.as_raw(), &options, out, error)
        })
        .map(|raw| Self { raw })
    }

    pub(crate) fn raw(&self) -> NonNull<sys::parlance_parser> {
        self.raw
    }

    #[inline]
    fn events(
        &mut self,
        call: impl FnOnce(
            *mut sys::parlance_parser,
            usize,
            *mut *const sys::parlance_event,
            *mut usize,
        ) -> i32,
    ) -> Result<Events<'_>> {
        let (mut events, mut count) = (ptr::null(), 0);
        ffi::check(call(self.raw.as_ptr(), EVENT_SIZE, &mut events, &mut count))?;
        // SAFETY: the events live until the next of these calls, and this one has
        // borrowed the parser for as long.
        Ok(unsafe { Events::new(self.raw, events, count) })
    }

    /// The events of the prefix.
    pub fn initial(&mut self) -> Result<Events<'_>> {
        self.events(|parser, size, events, count| unsafe {
            sys::parlance_parser_initial(parser, size, events, count)
        })
    }

    /// Reads a piece of the response, which may end anywhere, also inside a character.
    /// The events borrow the parser, so that it is not fed while they are used:
    ///
    /// ```compile_fail,E0499
    /// let format = parlance::Format::built_in("qwen3")?;
    /// let mut parser = format.parser(&Default::default())?;
    /// let first = parser.feed("Hi")?;
    /// let second = parser.feed(" there")?;
    /// println!("{}", first.len());
    /// # Ok::<(), parlance::Error>(())
    /// ```
    ///
    /// Errors: `FINALIZED` after [`Parser::finalize`], `USAGE` if the parser reads ids.
    #[inline]
    pub fn feed(&mut self, text: impl AsRef<[u8]>) -> Result<Events<'_>> {
        let text = text.as_ref();
        self.events(|parser, size, events, count| unsafe {
            sys::parlance_parser_feed(parser, chars(text), text.len(), size, events, count)
        })
    }

    /// Reads tokens.
    ///
    /// Errors: `FINALIZED` after [`Parser::finalize`], `USAGE` if the parser reads text.
    #[inline]
    pub fn feed_tokens(&mut self, ids: &[u32]) -> Result<Events<'_>> {
        self.events(|parser, size, events, count| unsafe {
            sys::parlance_parser_feed_tokens(parser, ids.as_ptr(), ids.len(), size, events, count)
        })
    }

    /// Ends the response.
    pub fn finalize(&mut self) -> Result<Events<'_>> {
        self.events(|parser, size, events, count| unsafe {
            sys::parlance_parser_finalize(parser, size, events, count)
        })
    }

    /// `{"message", "complete", "diagnostics": [{"code", "message", "field", "span"}],
    /// "error", "turn_ended", "attempted_calls", "prefix_bytes", "tokens":
    /// {"reasoning", "content", "tool_calls", "markup"}}`; `"error"` is why a strict
    /// reading failed, or null.
    pub fn result(&self) -> Result<String> {
        ffi::string(|out, error| unsafe { sys::parlance_parser_result(self.as_raw(), out, error) })
    }

    /// The message in the shape of the chat completions API.
    pub fn chat_message(&self) -> Result<String> {
        ffi::string(|out, error| unsafe {
            sys::parlance_parser_chat_message(self.as_raw(), out, error)
        })
    }

    /// The parse tree of a parser by tag.
    ///
    /// Errors: `USAGE` for one by format.
    pub fn tree(&self) -> Result<String> {
        ffi::string(|out, error| unsafe { sys::parlance_parser_tree(self.as_raw(), out, error) })
    }

    /// The bytes at the end of the input that are held back now.
    pub fn held(&self) -> &[u8] {
        let (mut text, mut size) = (ptr::null(), 0);
        // SAFETY: the text lives until the next call that is not a question, which
        // needs `&mut self`.  It fails for a handle that is none or is in use.
        unsafe {
            sys::parlance_parser_held(self.as_raw(), &mut text, &mut size);
            ffi::slice(text.cast::<u8>(), size)
        }
    }

    fn state(&self) -> (usize, i32) {
        let (mut prefix_bytes, mut finalized) = (0, 0);
        // It fails for a handle that is none, or that is in use, and this is neither.
        unsafe { sys::parlance_parser_state(self.as_raw(), &mut prefix_bytes, &mut finalized) };
        (prefix_bytes, finalized)
    }

    /// The bytes of the prefix that are part of the response.
    pub fn prefix_bytes(&self) -> usize {
        self.state().0
    }

    /// Whether the response has ended.
    pub fn is_finalized(&self) -> bool {
        self.state().1 != 0
    }
}

pub(crate) const EVENT_SIZE: usize = std::mem::size_of::<sys::parlance_event>();

/// The events of one call, oldest first. They borrow the parser, and so do their
/// texts.
pub struct Events<'p> {
    parser: NonNull<sys::parlance_parser>,
    all: &'p [sys::parlance_event],
    left: Range<usize>,
    // As if it were the parser: nobody else uses it.
    _parser: PhantomData<&'p mut Parser>,
}

impl<'p> Events<'p> {
    /// # Safety
    ///
    /// The events must live for `'p`, and be those of the parser's last call.
    pub(crate) unsafe fn new(
        parser: NonNull<sys::parlance_parser>,
        events: *const sys::parlance_event,
        count: usize,
    ) -> Self {
        // SAFETY: as above.
        let all = unsafe { ffi::slice(events, count) };
        Self { parser, all, left: 0..count, _parser: PhantomData }
    }

    pub(crate) fn none() -> Self {
        Self { parser: NonNull::dangling(), all: &[], left: 0..0, _parser: PhantomData }
    }

    fn event(&self, index: usize) -> Event<'p> {
        Event { parser: self.parser, raw: &self.all[index], index, _parser: PhantomData }
    }
}

impl<'p> Iterator for Events<'p> {
    type Item = Event<'p>;

    fn next(&mut self) -> Option<Event<'p>> {
        self.left.next().map(|index| self.event(index))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl DoubleEndedIterator for Events<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.left.next_back().map(|index| self.event(index))
    }
}

impl ExactSizeIterator for Events<'_> {}
impl std::iter::FusedIterator for Events<'_> {}

impl std::fmt::Debug for Events<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.left.clone().map(|index| self.event(index))).finish()
    }
}

/// Something that the parser knows now. `parlance/message.h` of the C++ library says
/// what each member means.
#[derive(Clone, Copy)]
pub struct Event<'p> {
    parser: NonNull<sys::parlance_parser>,
    raw: &'p sys::parlance_event,
    index: usize,
    _parser: PhantomData<&'p Parser>,
}

impl<'p> Event<'p> {
    /// Which kind of event it is.
    pub fn kind(&self) -> EventKind {
        EventKind::from_raw(self.raw.kind)
    }

    /// All that is true of it.
    pub fn flags(&self) -> EventFlags {
        EventFlags::from_raw(self.raw.flags)
    }

    /// Whether the chunk is not yet the value.
    pub fn is_dirty(&self) -> bool {
        self.flags().contains(EventFlags::DIRTY)
    }

    /// Whether the response ended before the region's delimiter.
    pub fn is_cut(&self) -> bool {
        self.flags().contains(EventFlags::CUT)
    }

    /// Whether [`Event::to_json`] says more than the other functions: the value of a
    /// closed region, captures, a diagnostic, or an attempt.
    pub fn has_detail(&self) -> bool {
        self.flags().contains(EventFlags::DETAIL)
    }

    /// The field's number, as [`Format::describe`] lists them.
    pub fn field_index(&self) -> u32 {
        self.raw.field_index
    }

    /// The number of the call, of events of calls.
    pub fn call(&self) -> u32 {
        self.raw.call
    }

    /// The bytes of the response that it is about.
    pub fn bytes(&self) -> Range<u64> {
        self.raw.bytes_begin..self.raw.bytes_end
    }

    /// The tokens that it is about, if the parser reads ids.
    pub fn tokens(&self) -> Range<u64> {
        self.raw.tokens_begin..self.raw.tokens_end
    }

    /// The field's name.
    pub fn field(&self) -> &'p str {
        // SAFETY: it lives as long as the event.
        unsafe { ffi::text(self.raw.field, self.raw.field_size) }
    }

    /// The text: of a chunk, of unclaimed text, a call's name, or its arguments.
    pub fn text(&self) -> &'p str {
        // SAFETY: it lives as long as the event.
        unsafe { ffi::text(self.raw.text, self.raw.text_size) }
    }

    /// The id of a call, if the model has written one.
    pub fn call_id(&self) -> &'p str {
        // SAFETY: it lives as long as the event.
        unsafe { ffi::text(self.raw.call_id, self.raw.call_id_size) }
    }

    /// What is wrong, of an event with a diagnostic.
    pub fn code(&self) -> Option<Status> {
        (self.raw.code != sys::PARLANCE_OK).then_some(Status::from_raw(self.raw.code))
    }

    /// The event as JSON, as `parlance parse --events` writes it.
    ///
    /// ```
    /// let format = parlance::Format::built_in("qwen3")?;
    /// let mut parser = format.parser(&Default::default())?;
    /// let opened = parser.feed("Hi")?.next().unwrap().to_json()?;
    /// assert!(opened.contains(r#""type":"region_open""#));
    /// # Ok::<(), parlance::Error>(())
    /// ```
    pub fn to_json(&self) -> Result<String> {
        ffi::string(|out, error| unsafe {
            sys::parlance_parser_event_json(self.parser.as_ptr(), self.index, out, error)
        })
    }
}

impl std::fmt::Debug for Event<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Each member: one that is added to the header is missed by the compiler.
        let sys::parlance_event {
            kind,
            flags,
            field_index,
            call,
            bytes_begin,
            bytes_end,
            tokens_begin,
            tokens_end,
            field: _,
            field_size: _,
            text: _,
            text_size: _,
            call_id: _,
            call_id_size: _,
            code,
            reserved: _,
        } = *self.raw;
        f.debug_struct("Event")
            .field("kind", &EventKind::from_raw(kind))
            .field("flags", &EventFlags::from_raw(flags))
            .field("field_index", &field_index)
            .field("call", &call)
            .field("bytes", &(bytes_begin..bytes_end))
            .field("tokens", &(tokens_begin..tokens_end))
            .field("field", &self.field())
            .field("text", &self.text())
            .field("call_id", &self.call_id())
            .field("code", &Status::from_raw(code))
            .finish()
    }
}
