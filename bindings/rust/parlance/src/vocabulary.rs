use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::ptr::NonNull;

use parlance_sys as sys;

use crate::ffi::{self, chars};
use crate::{Result, Spelling, TokenKind};

/// The tokens of a model. Immutable; a clone is the same.
///
/// ```
/// use parlance::{TokenOptions, Vocabulary};
/// let vocabulary = Vocabulary::from_tokens(
///     ["yes", "no", "<end>"],
///     &TokenOptions { control_ids: &[2], stop_ids: Some(&[2]), ..Default::default() },
/// )?;
/// assert_eq!(vocabulary.size(), 3);
/// assert_eq!(vocabulary.special("<end>")?, Some(2));
/// assert_eq!(vocabulary.decode(&[1, 0])?, "noyes");
/// # Ok::<(), parlance::Error>(())
/// ```
pub struct Vocabulary {
    raw: NonNull<sys::parlance_vocabulary>,
}
ffi::shared!(Vocabulary, parlance_vocabulary, parlance_vocabulary_ref, parlance_vocabulary_free);

/// What [`Vocabulary::from_tokens`] has to know beside the tokens.
#[derive(Clone, Copy, Debug)]
pub struct TokenOptions<'a> {
    /// Tokens that a tokenizer adds to its model's, such as `<think>`.
    pub added_ids: &'a [u32],
    /// Those of them that the tokenizer hides from plain text, such as `<|im_end|>`.
    pub control_ids: &'a [u32],
    /// What ends a response. Default: unknown, which is not the same as none.
    pub stop_ids: Option<&'a [u32]>,
    /// Ids of the model. Default, 0: as many as there are tokens.
    pub model_size: u64,
    /// How the tokens are spelled. Default: [`Spelling::RAW`].
    pub spelling: Spelling,
}

impl Default for TokenOptions<'_> {
    fn default() -> Self {
        Self {
            added_ids: &[],
            control_ids: &[],
            stop_ids: None,
            model_size: 0,
            spelling: Spelling::RAW,
        }
    }
}

/// The texts of the files of a model's folder, `""` for one that is missing.
#[derive(Clone, Copy, Debug, Default)]
pub struct ModelFiles<'a> {
    /// `tokenizer.json`, or `tekken.json` or `tokenizer.model` in its place.
    pub tokenizer: &'a [u8],
    /// `tokenizer_config.json`.
    pub tokenizer_config: &'a [u8],
    /// `generation_config.json`.
    pub generation_config: &'a [u8],
    /// `config.json`.
    pub config: &'a [u8],
}

impl Vocabulary {
    fn take(
        make: impl FnOnce(*mut *mut sys::parlance_vocabulary, *mut *mut sys::parlance_error) -> i32,
    ) -> Result<Self> {
        ffi::new_handle(make).map(|raw| Self { raw })
    }

    /// The tokens by id, beginning with 0.
    pub fn from_tokens<T: AsRef<[u8]>>(
        tokens: impl IntoIterator<Item = T>,
        options: &TokenOptions<'_>,
    ) -> Result<Self> {
        let mut bytes = Vec::new();
        let mut ends = Vec::new();
        for token in tokens {
            bytes.extend_from_slice(token.as_ref());
            ends.push(bytes.len() as u64);
        }
        let stops = options.stop_ids.unwrap_or_default();
        let raw = sys::parlance_tokens {
            struct_size: sys::parlance_tokens::INIT.struct_size,
            bytes: chars(&bytes),
            ends: ends.as_ptr(),
            count: ends.len(),
            added_ids: options.added_ids.as_ptr(),
            added_count: options.added_ids.len(),
            control_ids: options.control_ids.as_ptr(),
            control_count: options.control_ids.len(),
            stop_ids: stops.as_ptr(),
            stop_count: stops.len(),
            model_size: options.model_size,
            spelling: options.spelling.as_raw(),
            has_stop_ids: options.stop_ids.is_some().into(),
        };
        Self::take(|out, error| unsafe { sys::parlance_vocabulary_from_tokens(&raw, out, error) })
    }

    /// A `tokenizer.json`, `tekken.json`, `tokenizer.model`, tiktoken ranks, a GGUF
    /// header or a saved vocabulary, recognised by its contents.
    pub fn from_bytes(data: &[u8]) -> Result<Self> {
        Self::take(|out, error| unsafe {
            sys::parlance_vocabulary_from_memory(data.as_ptr().cast(), data.len(), out, error)
        })
    }

    /// The files of a model's folder, where they are not on a disk.
    pub fn from_files(files: &ModelFiles<'_>) -> Result<Self> {
        Self::take(|out, error| unsafe {
            sys::parlance_vocabulary_from_files(
                chars(files.tokenizer),
                files.tokenizer.len(),
                chars(files.tokenizer_config),
                files.tokenizer_config.len(),
                chars(files.generation_config),
                files.generation_config.len(),
                chars(files.config),
                files.config.len(),
                out,
                error,
            )
        })
    }

    /// A model's folder, or a file in any of the forms of [`Vocabulary::from_bytes`];
    /// a saved one is mapped.
    ///
    /// ```
    /// let error = parlance::Vocabulary::from_path("no/such/folder").unwrap_err();
    /// assert_eq!(error.status(), parlance::Status::IO);
    /// ```
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self> {
        let path = ffi::path_text(path.as_ref())?;
        Self::take(|out, error| unsafe {
            sys::parlance_vocabulary_from_path(chars(path.as_bytes()), path.len(), out, error)
        })
    }

    /// Writes the tokens and the tables that compilers need, for
    /// [`Vocabulary::from_path`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = ffi::path_text(path.as_ref())?;
        ffi::call(|error| unsafe {
            sys::parlance_vocabulary_save(self.as_raw(), chars(path.as_bytes()), path.len(), error)
        })
    }

    /// The tokens alone, for [`Vocabulary::from_bytes`].
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        ffi::bytes(|out, error| unsafe {
            sys::parlance_vocabulary_to_bytes(self.as_raw(), out, error)
        })
    }

    /// The same with other tokens that end a response.
    pub fn with_stop_ids(&self, ids: &[u32]) -> Result<Self> {
        Self::take(|out, error| unsafe {
            sys::parlance_vocabulary_with_stop_ids(
                self.as_raw(),
                ids.as_ptr(),
                ids.len(),
                out,
                error,
            )
        })
    }

    /// The same with the model's own tokenizer, for
    /// [`Matcher::forced_tokens`](crate::Matcher::forced_tokens). Any thread that calls a
    /// matcher calls it. If it panics, nothing is forced.
    ///
    /// ```
    /// use parlance::{Compiler, Language, TokenOptions, Vocabulary};
    /// let letters = Vocabulary::from_tokens(
    ///     ["a", "b", "ab", "<end>"],
    ///     &TokenOptions { control_ids: &[3], stop_ids: Some(&[3]), ..Default::default() },
    /// )?
    /// .with_encoder(|text| vec![2; text.len() / 2])?;
    /// let compiler = Compiler::new(&letters, "")?;
    /// let mut matcher = compiler.compile(Language::REGEX, "abab", "")?.matcher()?;
    /// assert_eq!(matcher.forced_tokens()?, [2, 2]);
    /// # Ok::<(), parlance::Error>(())
    /// ```
    pub fn with_encoder<F>(&self, encode: F) -> Result<Self>
    where
        F: Fn(&str) -> Vec<u32> + Send + Sync + 'static,
    {
        unsafe extern "C" fn call<F: Fn(&str) -> Vec<u32>>(
            user: *mut c_void,
            text: *const c_char,
            size: usize,
            ids: *mut u32,
            capacity: usize,
        ) -> usize {
            // SAFETY: `user` is the box below, until it is dropped; the text lives
            // for the call.
            let (encode, text) =
                unsafe { (&*user.cast_const().cast::<F>(), ffi::slice(text.cast::<u8>(), size)) };
            let Ok(text) = std::str::from_utf8(text) else { return 0 };
            let Ok(found) = catch_unwind(AssertUnwindSafe(|| encode(text))) else { return 0 };
            let count = found.len().min(capacity);
            // SAFETY: `ids` has room for `capacity` ids, which no Rust reference sees.
            unsafe { std::ptr::copy_nonoverlapping(found.as_ptr(), ids, count) };
            found.len()
        }
        unsafe extern "C" fn drop_box<F>(user: *mut c_void) {
            // SAFETY: this is called once, with the box.  A panic of a destructor
            // must not pass.
            let _ = catch_unwind(|| drop(unsafe { Box::from_raw(user.cast::<F>()) }));
        }
        let user = Box::into_raw(Box::new(encode)).cast::<c_void>();
        // The library drops it, also if the call fails.
        Self::take(|out, error| unsafe {
            sys::parlance_vocabulary_with_encoder(
                self.as_raw(),
                Some(call::<F>),
                user,
                Some(drop_box::<F>),
                out,
                error,
            )
        })
    }

    /// One more than the highest id.
    pub fn size(&self) -> usize {
        unsafe { sys::parlance_vocabulary_size(self.as_raw()) }
    }

    /// The bytes of a token, and its kind. An id that is none has no bytes and the kind
    /// [`TokenKind::UNUSED`].
    pub fn token(&self, id: u32) -> (&[u8], TokenKind) {
        let (mut bytes, mut size, mut kind) = (std::ptr::null(), 0, sys::PARLANCE_TOKEN_UNUSED);
        // SAFETY: the bytes live as long as the vocabulary. It fails for a handle that
        // is none.
        unsafe {
            sys::parlance_vocabulary_token(self.as_raw(), id, &mut bytes, &mut size, &mut kind);
            (ffi::slice(bytes.cast::<u8>(), size), TokenKind::from_raw(kind))
        }
    }

    /// The bytes and the kinds of all tokens, by id.
    ///
    /// ```
    /// # use parlance::{TokenOptions, Vocabulary};
    /// # let vocabulary = Vocabulary::from_tokens(["a", "bc"], &TokenOptions::default())?;
    /// let longest = vocabulary.tokens().map(|(bytes, _)| bytes.len()).max();
    /// assert_eq!(longest, Some(2));
    /// # Ok::<(), parlance::Error>(())
    /// ```
    pub fn tokens(&self) -> impl Iterator<Item = (&[u8], TokenKind)> + '_ {
        (0..u32::try_from(self.size()).unwrap_or(u32::MAX)).map(|id| self.token(id))
    }

    /// The added or control token with this spelling.
    pub fn special(&self, spelling: &str) -> Result<Option<u32>> {
        let mut id = -1;
        ffi::check(unsafe {
            sys::parlance_vocabulary_special(
                self.as_raw(),
                chars(spelling.as_bytes()),
                spelling.len(),
                &mut id,
            )
        })?;
        Ok(u32::try_from(id).ok())
    }

    /// What ends a response, if that is known.
    pub fn stop_ids(&self) -> Option<&[u32]> {
        let (mut ids, mut count, mut known) = (std::ptr::null(), 0, 0);
        // SAFETY: the ids live as long as the vocabulary.
        unsafe {
            let status =
                sys::parlance_vocabulary_stop_ids(self.as_raw(), &mut ids, &mut count, &mut known);
            (status == sys::PARLANCE_OK && known != 0).then(|| ffi::slice(ids, count))
        }
    }

    /// The text of ids.
    ///
    /// Errors: an id that is none.
    pub fn decode(&self, ids: &[u32]) -> Result<String> {
        ffi::string(|out, error| unsafe {
            sys::parlance_vocabulary_decode(self.as_raw(), ids.as_ptr(), ids.len(), out, error)
        })
    }
}
