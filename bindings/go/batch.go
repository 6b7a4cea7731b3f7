package parlance

// Step is a row's part in a step of a batch, in and out.
type Step struct {
	Row    uint32   // of Batch.Add
	Tokens []uint32 // generated since the last step
	// The row of the masks for the next mask; -1: none.
	MaskRow int
	// Its rows are those from MaskRow on.
	Draft       DraftTree
	Nanoseconds int64
	// Out:
	Accepted int // of the tokens
	Filled   int // masks that were written or given by number
	Events   []Event
	MaskID   MaskID // with a table; MaskNotListed: in the masks
	Flags    StepFlags
}

// NewBatch makes steps on threads of the library, the caller's included; 0: as many
// as the machine has.
func NewBatch(threads int) (*Batch, error) {
	if threads < 0 {
		return nil, misused("threads is negative")
	}
	return batchNew(uint32(threads))
}

// Add is a row with a matcher and a parser; either may be nil.  The batch keeps
// both until the row is removed.
func (b *Batch) Add(matcher *Matcher, parser *Parser) (row uint32, err error) {
	return batchAdd(b, matcher, parser)
}

// Remove takes a row out.
func (b *Batch) Remove(row uint32) error { return batchRemove(b, row) }

// Step makes one step of the rows of steps.  Row r of masks begins at word r *
// stride.  table and temperatures, a number for each row of masks, may be nil.
func (b *Batch) Step(steps []Step, masks []int32, stride int, table *Table, temperatures []float32) error {
	if stride < 0 {
		return misused("stride is negative")
	}
	for _, step := range steps {
		if err := step.Draft.check(); err != nil {
			return err
		}
	}
	return batchStep(b, steps, masks, stride, table, temperatures)
}
