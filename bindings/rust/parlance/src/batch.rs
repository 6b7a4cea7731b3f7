use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use parlance_sys as sys;

use crate::ffi;
use crate::parser::EVENT_SIZE;
use crate::{DraftTree, Error, Events, MaskId, Matcher, Parser, Result, Status, StepFlags, Table};

/// A server's step over many requests: accepts their tokens, feeds their parsers and
/// fills the next masks, on threads.
///
/// ```
/// use parlance::{Batch, Compiler, Language, Masks, Step, TokenOptions, Vocabulary};
/// let vocabulary = Vocabulary::from_tokens(
///     ["a", "b", "<end>"],
///     &TokenOptions { stop_ids: Some(&[2]), ..Default::default() },
/// )?;
/// let compiler = Compiler::new(&vocabulary, "")?;
/// let constraint = compiler.compile(Language::REGEX, "ab", "")?;
/// let mut batch = Batch::new(1)?;
/// let row = batch.add(Some(constraint.matcher()?), None)?;
///
/// let mut masks = vec![0; compiler.mask_words()];
/// let steps = [Step { row, tokens: &[0], mask_row: Some(0), ..Default::default() }];
/// let made = batch.step(&steps, Masks::new(&mut masks, compiler.mask_words()))?;
/// assert_eq!(made.get(0).accepted(), 1);
/// assert_eq!(masks, [2]);
/// # Ok::<(), parlance::Error>(())
/// ```
pub struct Batch {
    // Before the rows: it keeps references to them.
    raw: NonNull<sys::parlance_batch>,
    rows: BTreeMap<u32, (Option<Matcher>, Option<Parser>)>,
    steps: Vec<sys::parlance_step>,
}

// SAFETY: as of what it holds, which is Send; the steps point to memory of its parsers,
// and to what a call borrowed, which is not used afterwards.
unsafe impl Send for Batch {}

/// A row's part in a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Step<'a> {
    /// Which row it is of.
    pub row: u32,
    /// The tokens that were generated since the last step.
    pub tokens: &'a [u32],
    /// Which row of the masks the next mask is written into. Default: none.
    pub mask_row: Option<usize>,
    /// A draft tree, whose masks are written from `mask_row` on.
    pub tree: DraftTree<'a>,
    /// When to stop with the draft tree. Default, 0: never.
    pub nanoseconds: i64,
}

/// Where masks are written.
#[derive(Debug)]
pub struct Masks<'a> {
    /// Row `r` begins at word `r * stride`.
    pub words: &'a mut [i32],
    /// The words of a row.
    pub stride: usize,
    /// Masks are given by number, where the table has them.
    pub table: Option<&'a Table>,
    /// A number for each row, which is set where a rule says so.
    pub temperatures: &'a mut [f32],
}

impl<'a> Masks<'a> {
    /// Without a table and temperatures.
    pub fn new(words: &'a mut [i32], stride: usize) -> Self {
        Self { words, stride, table: None, temperatures: &mut [] }
    }
}

/// What came of a step. Its events borrow the batch.
pub struct Steps<'b> {
    batch: &'b Batch,
    _batch: PhantomData<&'b mut Batch>,
}

/// What came of a row's part in a step.
#[derive(Clone, Copy)]
pub struct StepResult<'b> {
    raw: &'b sys::parlance_step,
    batch: &'b Batch,
}

impl Batch {
    /// `threads` of a step, the caller's included; 0: as many as the machine has.
    pub fn new(threads: u32) -> Result<Self> {
        ffi::new_handle(|out, error| unsafe { sys::parlance_batch_new(threads, out, error) })
            .map(|raw| Self { raw, rows: BTreeMap::new(), steps: Vec::new() })
    }

    /// Adds a row, and returns its number. The batch owns its parts until the row is
    /// removed.
    ///
    /// Errors: `USAGE` if the parser reads text.
    pub fn add(&mut self, matcher: Option<Matcher>, parser: Option<Parser>) -> Result<u32> {
        let mut row = 0;
        ffi::call(|error| unsafe {
            sys::parlance_batch_add(
                self.raw.as_ptr(),
                matcher.as_ref().map_or(ptr::null_mut(), Matcher::as_raw),
                parser.as_ref().map_or(ptr::null_mut(), Parser::as_raw),
                &mut row,
                error,
            )
        })?;
        self.rows.insert(row, (matcher, parser));
        Ok(row)
    }

    /// Removes a row, and gives its parts back.
    pub fn remove(&mut self, row: u32) -> Result<(Option<Matcher>, Option<Parser>)> {
        ffi::check(unsafe { sys::parlance_batch_remove(self.raw.as_ptr(), row) })?;
        Ok(self.rows.remove(&row).unwrap_or_default())
    }

    /// The matcher of a row.
    pub fn matcher(&mut self, row: u32) -> Option<&mut Matcher> {
        self.rows.get_mut(&row)?.0.as_mut()
    }

    /// The parser of a row, to ask questions. Whoever feeds it removes the row: a step
    /// ends the events of the call before.
    pub fn parser(&self, row: u32) -> Option<&Parser> {
        self.rows.get(&row)?.1.as_ref()
    }

    /// Makes one step of the rows of `steps`, each at most once. Nothing is done if it
    /// fails, unless there is no memory.
    pub fn step(&mut self, steps: &[Step<'_>], masks: Masks<'_>) -> Result<Steps<'_>> {
        self.steps.clear();
        for step in steps {
            step.tree.check()?;
            self.steps.push(sys::parlance_step {
                row: step.row,
                reserved: 0,
                tokens: step.tokens.as_ptr(),
                token_count: step.tokens.len(),
                mask_row: match step.mask_row {
                    None => -1,
                    Some(row) => i64::try_from(row).map_err(|_| {
                        Error::new(Status::BAD_ARGUMENT, "there is no such row of the masks")
                    })?,
                },
                first_child: step.tree.first_child.as_ptr(),
                next_sibling: step.tree.next_sibling.as_ptr(),
                draft_tokens: step.tree.tokens.as_ptr(),
                nodes: step.tree.tokens.len(),
                nanoseconds: step.nanoseconds,
                accepted: 0,
                filled: 0,
                events: ptr::null(),
                event_count: 0,
                mask_id: sys::PARLANCE_MASK_NOT_LISTED,
                flags: 0,
            });
        }
        let temperatures = masks.temperatures;
        ffi::call(|error| unsafe {
            sys::parlance_batch_step(
                self.raw.as_ptr(),
                self.steps.as_mut_ptr(),
                self.steps.len(),
                std::mem::size_of::<sys::parlance_step>(),
                masks.words.as_mut_ptr(),
                masks.words.len(),
                masks.stride,
                masks.table.map_or(ptr::null_mut(), Table::as_raw),
                if temperatures.is_empty() { ptr::null_mut() } else { temperatures.as_mut_ptr() },
                temperatures.len(),
                EVENT_SIZE,
                error,
            )
        })?;
        Ok(Steps { batch: self, _batch: PhantomData })
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        // SAFETY: the handle is live, and nobody uses it afterwards.
        unsafe { sys::parlance_batch_free(self.raw.as_ptr()) }
    }
}

impl std::fmt::Debug for Batch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batch").field("rows", &self.rows.len()).finish_non_exhaustive()
    }
}

impl<'b> Steps<'b> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.batch.steps.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What came of step `index`, which must be less than [`Steps::len`].
    pub fn get(&self, index: usize) -> StepResult<'b> {
        StepResult { raw: &self.batch.steps[index], batch: self.batch }
    }

    /// All of them, in the order of the steps.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = StepResult<'b>> + '_ {
        (0..self.len()).map(|index| self.get(index))
    }
}

impl<'b> StepResult<'b> {
    /// Which row it is of.
    pub fn row(&self) -> u32 {
        self.raw.row
    }

    /// How many of the tokens were accepted.
    pub fn accepted(&self) -> u64 {
        self.raw.accepted
    }

    /// How many masks were written or given by number.
    pub fn filled(&self) -> u64 {
        self.raw.filled
    }

    /// The mask, with a table.
    pub fn mask_id(&self) -> MaskId {
        MaskId::from_raw(self.raw.mask_id)
    }

    /// All that is true of the row.
    pub fn flags(&self) -> StepFlags {
        StepFlags::from_raw(self.raw.flags)
    }

    /// The events of the row's parser.
    pub fn events(&self) -> Events<'b> {
        let parser = self.batch.rows.get(&self.raw.row).and_then(|row| row.1.as_ref());
        match parser {
            // SAFETY: the batch is borrowed, and with it the parser, whose last call
            // was the step.
            Some(parser) => unsafe {
                Events::new(parser.raw(), self.raw.events, self.raw.event_count)
            },
            None => Events::none(),
        }
    }
}

impl std::fmt::Debug for StepResult<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StepResult")
            .field("row", &self.row())
            .field("accepted", &self.accepted())
            .field("filled", &self.filled())
            .field("mask_id", &self.mask_id())
            .field("flags", &self.flags())
            .field("events", &self.events())
            .finish()
    }
}
