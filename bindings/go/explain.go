package parlance

// Explanation is what is explained: a response by a format or a compiled tag, or a
// text by a grammar, or ids by a constraint alone.
type Explanation struct {
	Format     *Format
	Tag        *CompiledTag
	Grammar    *Grammar
	Constraint *Constraint // beside a format or tag, too
	Tools      *Tools
	Vocabulary *Vocabulary // of IDs; else Text is read
	Text       string
	IDs        []uint32
	Prefix     string
	Name       string // for people
	Chunk      int    // bytes or tokens that are fed at once; 0: all
	Markers    Markers
	Recover    Recover
	HTML       bool // a page for a browser, else JSON
}

// Explain says which bytes went where, and why.
func Explain(what Explanation) ([]byte, error) {
	if what.Chunk < 0 {
		return nil, misused("Chunk is negative")
	}
	return explain(&what)
}
