package parlance

import (
	"encoding/json"
	"time"
)

// MatcherOptions are what a matcher needs to know beside its constraint.
type MatcherOptions struct {
	// In place of the compiler's, if not nil.
	StopIDs []uint32
	// Where no rule sets one, if not nil.
	DefaultTemperature *float64
}

// DraftTree is a tree of tokens that may come next.  Links are -1 where there is
// none; the three have one length.
type DraftTree struct {
	FirstChild, NextSibling, Tokens []int64
}

func (t DraftTree) check() error {
	if len(t.FirstChild) != len(t.Tokens) || len(t.NextSibling) != len(t.Tokens) {
		return &Error{Code: CodeBadSize, Message: "the lists of a draft tree differ in length"}
	}
	return nil
}

// NewMatcher follows one response.  options may be nil.
func (c *Constraint) NewMatcher(options *MatcherOptions) (*Matcher, error) {
	return matcherNew(c, options)
}

// Copy is a matcher in the same place.
func (m *Matcher) Copy() (*Matcher, error) { return matcherCopy(m) }

// Fill writes the mask of the next token, of Compiler.MaskWords words: bit t % 32
// of word t / 32 is 1 if token t is allowed.  It says whether the mask excludes
// anything.
func (m *Matcher) Fill(row []int32) (constrains bool, err error) {
	answer, err := matcherFill(m, row)
	return answer != 0, err
}

// Allowed says whether a mask allows a token.
func Allowed(row []int32, id uint32) bool {
	word := int(id / 32)
	return word < len(row) && uint32(row[word])>>(id%32)&1 != 0
}

// FillMany writes the masks of many matchers, on threads of the library (0: as many
// as the machine has): that of matcher i begins at word rows[i] * stride of buffer,
// or i * stride if rows is nil.
func FillMany(matchers []*Matcher, rows []int, buffer []int32, stride, threads int) error {
	if rows != nil && len(rows) != len(matchers) {
		return misused("rows is not as long as matchers")
	}
	if stride < 0 || threads < 0 {
		return misused("a number is negative")
	}
	return matcherFillMany(matchers, rows, buffer, stride, uint32(threads))
}

// FillTree writes the masks after the nodes of a draft tree: that of node i begins
// at word i * stride of rows.  temperatures, a number for each node, may be nil; a
// limit of 0 is none.  It returns how many nodes were visited.
func (m *Matcher) FillTree(tree DraftTree, rows []int32, stride int, limit time.Duration, temperatures []float32) (int, error) {
	if err := tree.check(); err != nil {
		return 0, err
	}
	if temperatures != nil && len(temperatures) < len(tree.Tokens) {
		return 0, misused("temperatures is shorter than the tree")
	}
	if stride < 0 {
		return 0, misused("stride is negative")
	}
	return matcherFillTree(m, tree, rows, stride, limit.Nanoseconds(), temperatures)
}

// Accept takes a token.  False: it is not allowed, and nothing changed.
func (m *Matcher) Accept(id uint32) (bool, error) {
	answer, err := matcherAccept(m, id)
	return answer != 0, err
}

// AcceptTokens takes tokens up to the first that is not allowed, and returns how
// many.
func (m *Matcher) AcceptTokens(ids []uint32) (int, error) { return matcherAcceptTokens(m, ids) }

// AcceptText takes text that has no tokens.
func (m *Matcher) AcceptText(text string) (bool, error) {
	answer, err := matcherAcceptBytes(m, text)
	return answer != 0, err
}

// Rollback takes steps back.  False: there are fewer, and nothing changed.
func (m *Matcher) Rollback(steps int) (bool, error) {
	if steps < 0 {
		return false, misused("steps is negative")
	}
	answer, err := matcherRollback(m, steps)
	return answer != 0, err
}

// Reset goes back to the beginning.
func (m *Matcher) Reset() error { return matcherReset(m) }

// State has the steps that can be undone, and flags.
func (m *Matcher) State() (steps int, flags MatcherFlags, err error) {
	steps, bits, err := matcherState(m)
	return steps, MatcherFlags(bits), err
}

// Failure is why there is no mask, or nil.
func (m *Matcher) Failure() error { return matcherFailure(m) }

// ForcedTokens are the tokens that certainly come next.
func (m *Matcher) ForcedTokens() ([]uint32, error) { return matcherForcedTokens(m) }

// ForcedText is the text that certainly comes next, at most limit bytes.
func (m *Matcher) ForcedText(limit int) (string, error) {
	if limit < 0 {
		return "", misused("limit is negative")
	}
	out, err := matcherForcedText(m, limit)
	return string(out), err
}

// Temperature is at which to sample the next token; NaN if no rule sets one.
func (m *Matcher) Temperature() (float64, error) { return matcherTemperature(m) }

// Captures is as Grammar.Captures, of the text so far.
func (m *Matcher) Captures() (json.RawMessage, error) { return matcherCaptures(m) }

// NewTable has masks by number, at most maxRows rows.
func (c *Compiler) NewTable(maxRows int) (*Table, error) {
	if maxRows < 0 {
		return nil, misused("maxRows is negative")
	}
	return tableNew(c, maxRows)
}

// IDOf is the row of the matcher's mask, or one of the constants of MaskID.
func (t *Table) IDOf(matcher *Matcher) (MaskID, error) {
	id, err := tableIDOf(t, matcher)
	return MaskID(id), err
}

// Size has the rows so far, and the version, which Clear raises.
func (t *Table) Size() (rows int, version uint64, err error) { return tableSize(t) }

// Rows copies rows begin to end, each of words words; nil if there are no such
// rows.
func (t *Table) Rows(begin, end int) (rows []int32, words int, err error) {
	if begin < 0 || end < begin {
		return nil, 0, misused("there are no such rows")
	}
	return tableRows(t, begin, end)
}

// Clear empties the table.  Nothing else may use it at the time.
func (t *Table) Clear() error { return tableClear(t) }
