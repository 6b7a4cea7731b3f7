use std::ptr::NonNull;

use parlance_sys as sys;

use crate::ffi::{self, chars};
use crate::{Parser, ParserOptions, Result, Tag, Vocabulary};

/// How a family of models writes a response. Immutable; a clone is the same one.
///
/// ```
/// let format = parlance::Format::built_in("qwen3")?;
/// let result = format.parse("<think>Bern.</think>Hi!", &Default::default())?;
/// assert!(result.contains(r#""content":"Hi!""#));
/// # Ok::<(), parlance::Error>(())
/// ```
pub struct Format {
    raw: NonNull<sys::parlance_format>,
}
ffi::shared!(Format, parlance_format, parlance_format_ref, parlance_format_free);

/// The names of the built-in formats, sorted.
///
/// ```
/// assert!(parlance::formats().any(|name| name == "qwen3"));
/// ```
pub fn formats() -> impl ExactSizeIterator<Item = &'static str> + Clone {
    // SAFETY: names are static and end with NUL; there are as many as counted.
    let count = unsafe { sys::parlance_formats_count() };
    (0..count).map(|index| unsafe {
        ffi::static_text(sys::parlance_formats_name(index, std::ptr::null_mut()))
    })
}

impl Format {
    /// The built-in format of a family or variant, by its name or an alias.
    ///
    /// Errors: `UNKNOWN_FORMAT`, whose message names similar ones.
    pub fn built_in(name: &str) -> Result<Self> {
        ffi::new_handle(|out, error| unsafe {
            sys::parlance_format_built_in(chars(name.as_bytes()), name.len(), out, error)
        })
        .map(|raw| Self { raw })
    }

    /// A format file, or a bare response template, which is read strictly. `variant`
    /// is `""` for none.
    ///
    /// ```
    /// let template = r#"{"start_anchor": ">", "fields": {"content": {}}}"#;
    /// let format = parlance::Format::from_json(template, "")?;
    /// assert!(format.lint()?.starts_with('['));
    /// # Ok::<(), parlance::Error>(())
    /// ```
    pub fn from_json(text: &str, variant: &str) -> Result<Self> {
        ffi::new_handle(|out, error| unsafe {
            sys::parlance_format_from_json(
                chars(text.as_bytes()),
                text.len(),
                chars(variant.as_bytes()),
                variant.len(),
                out,
                error,
            )
        })
        .map(|raw| Self { raw })
    }

    /// The same with other names of fields, a JSON object.
    ///
    /// ```
    /// let format = parlance::Format::built_in("qwen3")?;
    /// let renamed = format.rename(r#"{"thinking": "reasoning"}"#)?;
    /// assert!(renamed.describe()?.contains(r#""name":"reasoning""#));
    /// # Ok::<(), parlance::Error>(())
    /// ```
    pub fn rename(&self, names: &str) -> Result<Self> {
        ffi::new_handle(|out, error| unsafe {
            sys::parlance_format_rename(
                self.as_raw(),
                chars(names.as_bytes()),
                names.len(),
                out,
                error,
            )
        })
        .map(|raw| Self { raw })
    }

    /// `{"name", "aliases", "models", "variants", "recovers", "fields": [{"name",
    /// "dirty", "trimmed", "join"}]}`; the fields have the order of
    /// [`Event::field_index`](crate::Event::field_index).
    pub fn describe(&self) -> Result<String> {
        ffi::string(|out, error| unsafe {
            sys::parlance_format_describe(self.as_raw(), out, error)
        })
    }

    /// The format file, from which the format can be loaded again.
    pub fn to_json(&self) -> Result<String> {
        ffi::string(|out, error| unsafe { sys::parlance_format_to_json(self.as_raw(), out, error) })
    }

    /// The response template alone.
    pub fn template(&self) -> Result<String> {
        ffi::string(|out, error| unsafe {
            sys::parlance_format_template(self.as_raw(), out, error)
        })
    }

    /// Warnings: `[{"code", "message", "path"}]`.
    pub fn lint(&self) -> Result<String> {
        ffi::string(|out, error| unsafe { sys::parlance_format_lint(self.as_raw(), out, error) })
    }

    /// Whether the format reads what it writes: `[{"code", "message", "path",
    /// "text", "meant", "read"}]`, empty if nothing is wrong. Request: `"tools"`,
    /// `"most_calls"`; `"walks"`, random responses that are written and read, and
    /// `"seed"` of the first.
    ///
    /// ```
    /// let format = parlance::Format::built_in("qwen3")?;
    /// assert_eq!(format.check("", None)?, "[]");
    /// # Ok::<(), parlance::Error>(())
    /// ```
    pub fn check(&self, request: &str, vocabulary: Option<&Vocabulary>) -> Result<String> {
        ffi::string(|out, error| unsafe {
            sys::parlance_format_check(
                self.as_raw(),
                chars(request.as_bytes()),
                request.len(),
                ffi::or_null(vocabulary),
                out,
                error,
            )
        })
    }

    /// Writes a message, a JSON object, as the family writes it. Request: `"tools"`;
    /// `"prefix"`, the prompt; `"verify"`, true.
    ///
    /// ```
    /// let format = parlance::Format::built_in("qwen3_coder")?;
    /// let message = r#"{"tool_calls": [{"function":
    ///     {"name": "now", "arguments": {"zone": "UTC"}}}]}"#;
    /// let text = format.render(message, "")?;
    /// assert!(text.contains("<function=now>"));
    /// # Ok::<(), parlance::Error>(())
    /// ```
    pub fn render(&self, message: &str, request: &str) -> Result<String> {
        ffi::string(|out, error| unsafe {
            sys::parlance_format_render(
                self.as_raw(),
                chars(message.as_bytes()),
                message.len(),
                chars(request.as_bytes()),
                request.len(),
                out,
                error,
            )
        })
    }

    /// The structural tag of a response to a request, which has `"tools"`,
    /// `"tool_choice"`, `"parallel_tool_calls"`, `"text_with_calls"`, `"reasoning"`,
    /// `"response_format"`, `"prefix"` and others: `parlance_c.h` lists them.
    ///
    /// ```
    /// let format = parlance::Format::built_in("qwen3")?;
    /// let request = r#"{"tools": [{"type": "function", "function": {"name": "now"}}],
    ///     "tool_choice": "required"}"#;
    /// assert!(format.tag(request, None)?.to_json()?.contains("<tool_call>"));
    /// # Ok::<(), parlance::Error>(())
    /// ```
    pub fn tag(&self, request: &str, vocabulary: Option<&Vocabulary>) -> Result<Tag> {
        ffi::new_handle(|out, error| unsafe {
            sys::parlance_format_tag(
                self.as_raw(),
                chars(request.as_bytes()),
                request.len(),
                ffi::or_null(vocabulary),
                out,
                error,
            )
        })
        .map(Tag::from_handle)
    }

    /// A parser of one response.
    pub fn parser(&self, options: &ParserOptions<'_>) -> Result<Parser> {
        Parser::new(self, options)
    }

    /// What a whole response is: the JSON of [`Parser::result`].
    pub fn parse(&self, text: impl AsRef<[u8]>, options: &ParserOptions<'_>) -> Result<String> {
        let (text, options) = (text.as_ref(), options.raw());
        ffi::string(|out, error| unsafe {
            sys::parlance_parse(self.as_raw(), chars(text), text.len(), &options, out, error)
        })
    }

    /// What became of each byte of a response, as `parlance explain --json` writes it.
    /// `request`: `"name"`, for people, `"chunk"`, bytes that are fed at once, and
    /// `"packed"`, the facts as the page has them; or `""`.
    /// Of `options` the prefix, the tools and `recover` count.
    ///
    /// ```
    /// let format = parlance::Format::built_in("qwen3")?;
    /// let facts = format.explain("<think>Hm", &Default::default(), "")?;
    /// assert!(facts.contains(r#""what":"opens thinking""#));
    /// # Ok::<(), parlance::Error>(())
    /// ```
    pub fn explain(
        &self,
        text: impl AsRef<[u8]>,
        options: &ParserOptions<'_>,
        request: &str,
    ) -> Result<String> {
        let (text, options) = (text.as_ref(), options.raw());
        ffi::string(|out, error| unsafe {
            sys::parlance_format_explain(
                self.as_raw(),
                chars(text),
                text.len(),
                &options,
                chars(request.as_bytes()),
                request.len(),
                out,
                error,
            )
        })
    }

    /// Where a call probably is that the format does not read: `[{"kind", "message",
    /// "field", "format", "span"}]`.
    ///
    /// ```
    /// let format = parlance::Format::built_in("qwen3")?;
    /// let lost = r#"<think>I call <tool_call>{"name": "f", "arguments": {}}</tool_call>."#;
    /// assert!(format.hints(lost, &Default::default())?.contains("call_in_reasoning"));
    /// # Ok::<(), parlance::Error>(())
    /// ```
    pub fn hints(&self, text: impl AsRef<[u8]>, options: &ParserOptions<'_>) -> Result<String> {
        let (text, options) = (text.as_ref(), options.raw());
        ffi::string(|out, error| unsafe {
            sys::parlance_format_hints(self.as_raw(), chars(text), text.len(), &options, out, error)
        })
    }
}

/// Where a JSON Pointer, such as the path of an error or a lint, leads in a JSON text:
/// `{"value": [begin, end], "key": [begin, end]}`, bytes, or `null`; `"key"` may be, too.
///
/// ```
/// let place = parlance::locate(r#"{"a": [1, 23]}"#, "/a/1")?;
/// assert_eq!(place, r#"{"value":[10,12],"key":null}"#);
/// # Ok::<(), parlance::Error>(())
/// ```
pub fn locate(text: &str, path: &str) -> Result<String> {
    ffi::check_abi()?;
    ffi::string(|out, error| unsafe {
        sys::parlance_json_locate(
            chars(text.as_bytes()),
            text.len(),
            chars(path.as_bytes()),
            path.len(),
            out,
            error,
        )
    })
}

/// The built-in formats of which a text has evidence, the best first: `[{"name", "calls",
/// "call", "diagnostics", "region_bytes", "span", "marked"}]`. Calls of `tools` are evidence
/// however they are written.
///
/// ```
/// let text = r#"<tool_call>{"name": "f", "arguments": {}}</tool_call>"#;
/// assert!(parlance::rank_formats(text, None)?.contains(r#""call":"f""#));
/// # Ok::<(), parlance::Error>(())
/// ```
pub fn rank_formats(text: impl AsRef<[u8]>, tools: Option<&Tools>) -> Result<String> {
    ffi::check_abi()?;
    let text = text.as_ref();
    let tools = tools.map_or(std::ptr::null_mut(), Tools::as_raw);
    ffi::string(|out, error| unsafe {
        sys::parlance_formats_rank(chars(text), text.len(), tools, out, error)
    })
}

/// Which format a `tokenizer_config.json` needs: `{"name", "family", "certainty",
/// "why", "others"}`. `rendered` is what the chat template makes of
/// [`detection_sample`]; `""` if that is not known.
///
/// ```
/// let config = r#"{"chat_template": "<|im_start|>assistant\n<tool_call><|im_end|>"}"#;
/// assert!(parlance::detect(config, "")?.contains(r#""certainty""#));
/// # Ok::<(), parlance::Error>(())
/// ```
pub fn detect(config: &str, rendered: &str) -> Result<String> {
    ffi::check_abi()?;
    ffi::string(|out, error| unsafe {
        sys::parlance_detect(
            chars(config.as_bytes()),
            config.len(),
            chars(rendered.as_bytes()),
            rendered.len(),
            out,
            error,
        )
    })
}

/// `{"messages", "tools"}` for a chat template, whose result [`detect`] takes.
///
/// ```
/// assert!(parlance::detection_sample()?.contains(r#""tools""#));
/// # Ok::<(), parlance::Error>(())
/// ```
pub fn detection_sample() -> Result<String> {
    ffi::check_abi()?;
    ffi::string(|out, error| unsafe { sys::parlance_detection_sample(out, error) })
}

/// The tools of a request. Immutable; a clone is the same.
///
/// ```
/// let tools = parlance::Tools::from_json(
///     r#"[{"type": "function", "function": {"name": "now"}}]"#,
/// )?;
/// # Ok::<(), parlance::Error>(())
/// ```
pub struct Tools {
    raw: NonNull<sys::parlance_tools>,
}
ffi::shared!(Tools, parlance_tools, parlance_tools_ref, parlance_tools_free);

impl Tools {
    /// A list as the chat completions API has it.
    pub fn from_json(text: &str) -> Result<Self> {
        ffi::new_handle(|out, error| unsafe {
            sys::parlance_tools_from_json(chars(text.as_bytes()), text.len(), out, error)
        })
        .map(|raw| Self { raw })
    }
}
