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
	o := (*object)(b)
	if err := o.enter(); err != nil {
		return 0, err
	}
	defer o.leave()
	if row, err = batchAdd(b, matcher, parser); err != nil {
		return 0, err
	}
	if parser != nil {
		if o.rows == nil {
			o.rows = map[uint32]*object{}
		}
		o.rows[row] = (*object)(parser)
	}
	return row, nil
}

// Remove takes a row out.
func (b *Batch) Remove(row uint32) error {
	o := (*object)(b)
	if err := o.enter(); err != nil {
		return err
	}
	defer o.leave()
	err := batchRemove(b, row)
	if err == nil {
		delete(o.rows, row)
	}
	return err
}

// enterRows begins a call that gives events of the parsers of these rows, which are
// copied before another call of a parser may begin.  The function ends it.
func (o *object) enterRows(steps []Step) (func(), error) {
	var entered []*object
	leave := func() {
		for _, parser := range entered {
			parser.leave()
		}
	}
	seen := map[uint32]bool{}
	for _, step := range steps {
		parser := o.rows[step.Row]
		if parser == nil || seen[step.Row] {
			continue
		}
		seen[step.Row] = true
		if err := parser.enter(); err != nil {
			leave()
			return nil, err
		}
		entered = append(entered, parser)
	}
	return leave, nil
}

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
