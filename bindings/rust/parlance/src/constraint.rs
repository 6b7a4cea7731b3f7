use std::ptr::{self, NonNull};

use parlance_sys as sys;

use crate::ffi::{self, chars};
use crate::{Error, Grammar, Language, MatcherFlags, Result, Status, Tag, Vocabulary};

/// Compiles grammars for a vocabulary, and caches them and their masks. Immutable; a
/// clone is the same.
pub struct Compiler {
    raw: NonNull<sys::parlance_compiler>,
}
ffi::shared!(Compiler, parlance_compiler, parlance_compiler_ref, parlance_compiler_free);

impl Compiler {
    /// Request: `"cache_bytes"`, `"grammar_bytes"`, `"stop_ids"`.
    pub fn new(vocabulary: &Vocabulary, request: &str) -> Result<Self> {
        ffi::new_handle(|out, error| unsafe {
            sys::parlance_compiler_new(
                vocabulary.as_raw(),
                chars(request.as_bytes()),
                request.len(),
                out,
                error,
            )
        })
        .map(|raw| Self { raw })
    }

    /// The words of 32 bits that a mask has.
    pub fn mask_words(&self) -> usize {
        unsafe { sys::parlance_compiler_mask_words(self.as_raw()) }
    }

    /// Memory, hits and misses of the caches, as JSON: `{"masks": {"bytes", ...},
    /// "grammars": {"bytes", ...}}`.
    pub fn statistics(&self) -> Result<String> {
        ffi::string(|out, error| unsafe {
            sys::parlance_compiler_statistics(self.as_raw(), out, error)
        })
    }

    /// Drops what the caches have.
    pub fn clear_cache(&self) -> Result<()> {
        ffi::check(unsafe { sys::parlance_compiler_clear_cache(self.as_raw()) })
    }

    /// Compiles a grammar, or takes it from the cache. Requests are those of
    /// [`Grammar::compile`]; with [`Language::STRUCTURAL_TAG`] also `"markers"`.
    pub fn compile(&self, language: Language, text: &str, request: &str) -> Result<Constraint> {
        Constraint::take(|out, error| unsafe {
            sys::parlance_compile(
                self.as_raw(),
                language.as_raw(),
                chars(text.as_bytes()),
                text.len(),
                chars(request.as_bytes()),
                request.len(),
                out,
                error,
            )
        })
    }

    /// The same of a structural tag.
    pub fn compile_tag(&self, tag: &Tag, request: &str) -> Result<Constraint> {
        Constraint::take(|out, error| unsafe {
            sys::parlance_compile_tag(
                self.as_raw(),
                tag.as_raw(),
                chars(request.as_bytes()),
                request.len(),
                out,
                error,
            )
        })
    }

    /// The same of a compiled grammar. Request: `"markers"`.
    pub fn compile_grammar(&self, grammar: &Grammar, request: &str) -> Result<Constraint> {
        Constraint::take(|out, error| unsafe {
            sys::parlance_compile_grammar(
                self.as_raw(),
                grammar.as_raw(),
                chars(request.as_bytes()),
                request.len(),
                out,
                error,
            )
        })
    }

    /// What [`Constraint::to_bytes`] gave.
    pub fn constraint_from_bytes(&self, data: &[u8]) -> Result<Constraint> {
        Constraint::take(|out, error| unsafe {
            sys::parlance_constraint_from_bytes(
                self.as_raw(),
                data.as_ptr().cast(),
                data.len(),
                out,
                error,
            )
        })
    }
}

/// A grammar over a vocabulary. Immutable; a clone is the same.
pub struct Constraint {
    raw: NonNull<sys::parlance_constraint>,
}
ffi::shared!(Constraint, parlance_constraint, parlance_constraint_ref, parlance_constraint_free);

impl Constraint {
    fn take(
        make: impl FnOnce(*mut *mut sys::parlance_constraint, *mut *mut sys::parlance_error) -> i32,
    ) -> Result<Self> {
        ffi::new_handle(make).map(|raw| Self { raw })
    }

    /// What the constraint was made from, for [`Compiler::constraint_from_bytes`].
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        ffi::bytes(|out, error| unsafe {
            sys::parlance_constraint_to_bytes(self.as_raw(), out, error)
        })
    }

    /// A matcher at the beginning of a text.
    pub fn matcher(&self) -> Result<Matcher> {
        self.matcher_with(&MatcherOptions::default())
    }

    /// The same with options.
    pub fn matcher_with(&self, options: &MatcherOptions<'_>) -> Result<Matcher> {
        let stops = options.stop_ids.unwrap_or_default();
        let raw = sys::parlance_matcher_options {
            struct_size: sys::parlance_matcher_options::INIT.struct_size,
            stop_ids: stops.as_ptr(),
            stop_count: stops.len(),
            has_stop_ids: options.stop_ids.is_some().into(),
            has_default_temperature: options.default_temperature.is_some().into(),
            default_temperature: options.default_temperature.unwrap_or_default(),
        };
        ffi::new_handle(|out, error| unsafe {
            sys::parlance_matcher_new(self.as_raw(), &raw, out, error)
        })
        .map(|raw| Matcher { raw })
    }
}

/// How one text is matched.
#[derive(Clone, Copy, Debug, Default)]
pub struct MatcherOptions<'a> {
    /// What ends the text, in place of the compiler's stop tokens.
    pub stop_ids: Option<&'a [u32]>,
    /// The temperature where no rule sets one.
    pub default_temperature: Option<f64>,
}

/// Which tokens may come next in one text.
///
/// ```
/// use parlance::{allowed, Compiler, Language, TokenOptions, Vocabulary};
/// let vocabulary = Vocabulary::from_tokens(
///     ["yes", "no", "maybe", "<end>"],
///     &TokenOptions { control_ids: &[3], stop_ids: Some(&[3]), ..Default::default() },
/// )?;
/// let compiler = Compiler::new(&vocabulary, "")?;
/// let mut matcher = compiler.compile(Language::REGEX, "yes|no", "")?.matcher()?;
///
/// let mut mask = vec![0; compiler.mask_words()];
/// assert!(matcher.fill(&mut mask)?);
/// assert_eq!(allowed(&mask).collect::<Vec<_>>(), [0, 1]);
/// assert!(!matcher.accept(2)?);
/// assert!(matcher.accept(1)?);
/// assert!(matcher.can_end());
/// # Ok::<(), parlance::Error>(())
/// ```
pub struct Matcher {
    raw: NonNull<sys::parlance_matcher>,
}
ffi::owned!(Matcher, parlance_matcher, parlance_matcher_free);

/// The nodes of a tree of drafted tokens, as links to other nodes: -1 where there is
/// none. All have the same length.
#[derive(Clone, Copy, Debug, Default)]
pub struct DraftTree<'a> {
    /// The first child of each node.
    pub first_child: &'a [i64],
    /// The next sibling of each node.
    pub next_sibling: &'a [i64],
    /// The token of each node.
    pub tokens: &'a [i64],
}

impl DraftTree<'_> {
    pub(crate) fn check(&self) -> Result<()> {
        let count = self.tokens.len();
        if self.first_child.len() == count && self.next_sibling.len() == count {
            return Ok(());
        }
        Err(Error::new(Status::BAD_SIZE, "the lists of a draft tree differ in length"))
    }
}

impl Matcher {
    /// Writes the mask of the next token: bit `t % 32` of word `t / 32` is 1 if token
    /// `t` is allowed. Returns whether it excludes anything.
    ///
    /// Errors: `BAD_SIZE` if `mask` has fewer words than [`Compiler::mask_words`].
    #[inline]
    pub fn fill(&mut self, mask: &mut [i32]) -> Result<bool> {
        let mut constrains = 0;
        ffi::check(unsafe {
            sys::parlance_matcher_fill(
                self.raw.as_ptr(),
                mask.as_mut_ptr(),
                mask.len(),
                &mut constrains,
            )
        })?;
        Ok(constrains != 0)
    }

    /// The masks of many matchers, on `threads` threads (0: as many as the machine
    /// has): that of matcher `i` begins at word `rows[i] * stride` of `masks`, or
    /// `i * stride` without `rows`.
    ///
    /// ```
    /// # use parlance::*;
    /// # let vocabulary = Vocabulary::from_tokens(["a", "b", "<end>"],
    /// #     &TokenOptions { stop_ids: Some(&[2]), ..Default::default() })?;
    /// # let compiler = Compiler::new(&vocabulary, "")?;
    /// let constraint = compiler.compile(Language::REGEX, "ab", "")?;
    /// let mut matchers = [constraint.matcher()?, constraint.matcher()?];
    /// matchers[1].accept_bytes("a")?;
    /// let [first, second] = &mut matchers;
    /// let mut masks = [0; 2];
    /// Matcher::fill_many(&mut [first, second], None, &mut masks, 1, 1)?;
    /// assert_eq!(masks, [1, 2]);
    /// # Ok::<(), parlance::Error>(())
    /// ```
    pub fn fill_many(
        matchers: &mut [&mut Matcher],
        rows: Option<&[usize]>,
        masks: &mut [i32],
        stride: usize,
        threads: u32,
    ) -> Result<()> {
        if rows.is_some_and(|rows| rows.len() != matchers.len()) {
            return Err(Error::new(Status::BAD_SIZE, "there is not a row for each matcher"));
        }
        let handles: Vec<_> = matchers.iter().map(|matcher| matcher.as_raw()).collect();
        ffi::call(|error| unsafe {
            sys::parlance_matcher_fill_many(
                handles.as_ptr(),
                rows.map_or(ptr::null(), <[usize]>::as_ptr),
                handles.len(),
                masks.as_mut_ptr(),
                masks.len(),
                stride,
                threads,
                error,
            )
        })
    }

    /// The masks after the nodes of a draft tree: that of node `i` begins at word
    /// `i * stride` of `masks`. `temperatures` has a number for each node. Stops after
    /// `nanoseconds` (0: no limit). Returns how many nodes were visited.
    pub fn fill_tree(
        &mut self,
        tree: &DraftTree<'_>,
        masks: &mut [i32],
        stride: usize,
        nanoseconds: i64,
        temperatures: Option<&mut [f32]>,
    ) -> Result<usize> {
        tree.check()?;
        let mut visited = 0;
        let temperatures = match temperatures {
            Some(list) if list.len() < tree.tokens.len() => {
                return Err(Error::new(Status::BAD_SIZE, "a node has no temperature"));
            }
            Some(list) => list.as_mut_ptr(),
            None => ptr::null_mut(),
        };
        ffi::call(|error| unsafe {
            sys::parlance_matcher_fill_tree(
                self.as_raw(),
                tree.first_child.as_ptr(),
                tree.next_sibling.as_ptr(),
                tree.tokens.as_ptr(),
                tree.tokens.len(),
                masks.as_mut_ptr(),
                masks.len(),
                stride,
                nanoseconds,
                temperatures,
                &mut visited,
                error,
            )
        })?;
        Ok(visited)
    }

    /// Another matcher at the same place of the same text.
    pub fn try_clone(&self) -> Result<Self> {
        ffi::new_handle(|out, error| unsafe {
            sys::parlance_matcher_copy(self.as_raw(), out, error)
        })
        .map(|raw| Self { raw })
    }

    /// Accepts a token. `false` if it is not allowed; then nothing changed.
    #[inline]
    pub fn accept(&mut self, id: u32) -> Result<bool> {
        let mut accepted = 0;
        ffi::check(unsafe { sys::parlance_matcher_accept(self.raw.as_ptr(), id, &mut accepted) })?;
        Ok(accepted != 0)
    }

    /// Accepts tokens up to the first that is not allowed. Returns how many.
    pub fn accept_tokens(&mut self, ids: &[u32]) -> Result<usize> {
        let mut accepted = 0;
        ffi::check(unsafe {
            sys::parlance_matcher_accept_tokens(
                self.as_raw(),
                ids.as_ptr(),
                ids.len(),
                &mut accepted,
            )
        })?;
        Ok(accepted)
    }

    /// Accepts a text. `false` if it is not allowed; then nothing changed.
    pub fn accept_bytes(&mut self, bytes: impl AsRef<[u8]>) -> Result<bool> {
        let bytes = bytes.as_ref();
        let mut accepted = 0;
        ffi::check(unsafe {
            sys::parlance_matcher_accept_bytes(
                self.as_raw(),
                chars(bytes),
                bytes.len(),
                &mut accepted,
            )
        })?;
        Ok(accepted != 0)
    }

    /// Undoes steps. `false` if there are fewer; then nothing changed.
    pub fn rollback(&mut self, steps: usize) -> Result<bool> {
        let mut done = 0;
        ffi::check(unsafe { sys::parlance_matcher_rollback(self.as_raw(), steps, &mut done) })?;
        Ok(done != 0)
    }

    /// Back to the beginning of the text.
    pub fn reset(&mut self) -> Result<()> {
        ffi::check(unsafe { sys::parlance_matcher_reset(self.as_raw()) })
    }

    fn state(&self) -> (usize, MatcherFlags) {
        let (mut steps, mut flags) = (0, 0);
        // It fails for a handle that is none, or that is in use, and this is neither.
        unsafe { sys::parlance_matcher_state(self.as_raw(), &mut steps, &mut flags) };
        (steps, MatcherFlags::from_raw(flags))
    }

    /// How many steps can be undone.
    pub fn steps(&self) -> usize {
        self.state().0
    }

    /// All that is true of the matcher.
    pub fn flags(&self) -> MatcherFlags {
        self.state().1
    }

    /// Whether a stop token was accepted.
    pub fn is_terminated(&self) -> bool {
        self.flags().contains(MatcherFlags::TERMINATED)
    }

    /// Whether the text may end here.
    pub fn can_end(&self) -> bool {
        self.flags().contains(MatcherFlags::CAN_END)
    }

    /// Why there is no mask, if a limit was passed.
    pub fn failure(&self) -> Result<Option<Error>> {
        let mut found = ptr::null_mut();
        ffi::check(unsafe { sys::parlance_matcher_failure(self.as_raw(), &mut found) })?;
        // SAFETY: the error belongs to the caller.
        Ok((!found.is_null()).then(|| unsafe {
            let status = Status::from_raw(sys::parlance_error_status(found));
            Error::from_raw(status, found)
        }))
    }

    /// The tokens that certainly come next.
    pub fn forced_tokens(&mut self) -> Result<Vec<u32>> {
        let mut ids = vec![0; 64];
        loop {
            let mut count = 0;
            ffi::check(unsafe {
                sys::parlance_matcher_forced_tokens(
                    self.as_raw(),
                    ids.as_mut_ptr(),
                    ids.len(),
                    &mut count,
                )
            })?;
            let all = count <= ids.len();
            ids.resize(count, 0);
            if all {
                return Ok(ids);
            }
        }
    }

    /// The text that certainly comes next, at most `limit` bytes. It may end inside a
    /// character.
    pub fn forced_text(&mut self, limit: usize) -> Result<Vec<u8>> {
        ffi::bytes(|out, error| unsafe {
            sys::parlance_matcher_forced_text(self.as_raw(), limit, out, error)
        })
    }

    /// At which to sample the next token, if a rule says so.
    pub fn temperature(&mut self) -> Result<Option<f64>> {
        let mut found = f64::NAN;
        ffi::check(unsafe { sys::parlance_matcher_temperature(self.as_raw(), &mut found) })?;
        Ok((!found.is_nan()).then_some(found))
    }

    /// What rules with a capture match in the text so far, as
    /// [`Grammar::captures`] says it.
    pub fn captures(&mut self) -> Result<String> {
        ffi::string(|out, error| unsafe {
            sys::parlance_matcher_captures(self.as_raw(), out, error)
        })
    }
}

/// The tokens that a mask allows, in their order.
///
/// ```
/// assert_eq!(parlance::allowed(&[5, 1 << 31]).collect::<Vec<_>>(), [0, 2, 63]);
/// ```
pub fn allowed(mask: &[i32]) -> impl Iterator<Item = u32> + Clone + '_ {
    (0_u32..).step_by(32).zip(mask).flat_map(|(first, word)| {
        let mut left = *word as u32;
        std::iter::from_fn(move || {
            let bit = left.trailing_zeros();
            left &= left.wrapping_sub(1);
            (bit < 32).then_some(first + bit)
        })
    })
}

/// Masks by number, for engines that keep them on their device. Any number of threads
/// may use it.
///
/// ```
/// use parlance::{Compiler, Language, MaskId, Table, TokenOptions, Vocabulary};
/// let vocabulary = Vocabulary::from_tokens(
///     ["a", "b", "<end>"],
///     &TokenOptions { stop_ids: Some(&[2]), ..Default::default() },
/// )?;
/// let compiler = Compiler::new(&vocabulary, "")?;
/// let table = Table::new(&compiler, 8)?;
/// let mut matcher = compiler.compile(Language::REGEX, "ab", "")?.matcher()?;
/// let MaskId::Row(row) = table.id_of(&mut matcher)? else { panic!() };
/// assert_eq!(table.rows(row..row + 1)?, [1]);
/// # Ok::<(), parlance::Error>(())
/// ```
pub struct Table {
    raw: NonNull<sys::parlance_table>,
}
ffi::handle!(Table, parlance_table, parlance_table_free);
// SAFETY: any number of threads may use it, except for parlance_table_clear(), which
// takes `&mut self`; therefore it is not Clone.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

/// A mask of a [`Table`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MaskId {
    /// A row of the table.
    Row(usize),
    /// Every token is allowed.
    NothingExcluded,
    /// The table is full.
    NotListed,
}

impl MaskId {
    pub(crate) fn from_raw(id: i32) -> Self {
        match id {
            sys::PARLANCE_MASK_NOTHING_EXCLUDED => Self::NothingExcluded,
            _ => usize::try_from(id).map_or(Self::NotListed, Self::Row),
        }
    }
}

impl Table {
    /// At most `max_rows` rows, 1 to 2^20.
    pub fn new(compiler: &Compiler, max_rows: usize) -> Result<Self> {
        ffi::new_handle(|out, error| unsafe {
            sys::parlance_table_new(compiler.as_raw(), max_rows, out, error)
        })
        .map(|raw| Self { raw })
    }

    /// The row of the matcher's mask.
    pub fn id_of(&self, matcher: &mut Matcher) -> Result<MaskId> {
        let mut id = 0;
        ffi::check(unsafe { sys::parlance_table_id_of(self.as_raw(), matcher.as_raw(), &mut id) })?;
        Ok(MaskId::from_raw(id))
    }

    /// Rows so far.
    pub fn len(&self) -> usize {
        self.size().0
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A number that [`Table::clear`] raises.
    pub fn version(&self) -> u64 {
        self.size().1
    }

    fn size(&self) -> (usize, u64) {
        let (mut rows, mut version) = (0, 0);
        // It fails for a handle that is none.
        unsafe { sys::parlance_table_size(self.as_raw(), &mut rows, &mut version) };
        (rows, version)
    }

    /// Rows, one after another.
    pub fn rows(&self, rows: std::ops::Range<usize>) -> Result<&[i32]> {
        let (mut data, mut words) = (ptr::null(), 0);
        let count = rows.len();
        ffi::check(unsafe {
            sys::parlance_table_rows(self.as_raw(), rows.start, rows.end, &mut data, &mut words)
        })?;
        if data.is_null() && count > 0 {
            return Err(Error::new(Status::BAD_ARGUMENT, "there are no such rows"));
        }
        // SAFETY: rows stay where they are until clear(), which is exclusive.
        Ok(unsafe { ffi::slice(data, count * words) })
    }

    /// Drops all rows.
    pub fn clear(&mut self) -> Result<()> {
        ffi::check(unsafe { sys::parlance_table_clear(self.as_raw()) })
    }
}
