package parlance

import "encoding/json"

// NewTag reads a structural tag.
func NewTag(tag any) (*Tag, error) {
	text, err := given(tag)
	if err != nil {
		return nil, err
	}
	return tagFromJSON(text)
}

// JSON is the tag, from which it can be made again.
func (t *Tag) JSON() (json.RawMessage, error) { return tagToJSON(t) }

// Report is what the tag leaves out of what was asked for, as Grammar.Report.
func (t *Tag) Report() (json.RawMessage, error) { return tagReport(t) }

// Compile makes a tag for parsers.  vocabulary and compiler, whose cache is used,
// may be nil.
func (t *Tag) Compile(vocabulary *Vocabulary, compiler *Compiler, request any) (*CompiledTag, error) {
	text, err := given(request)
	if err != nil {
		return nil, err
	}
	return tagCompile(t, vocabulary, compiler, text)
}

// Grammar is the grammar of the tag.  vocabulary may be nil.
func (t *Tag) Grammar(vocabulary *Vocabulary, request any) (*Grammar, error) {
	text, err := given(request)
	if err != nil {
		return nil, err
	}
	return grammarFromTag(t, vocabulary, text)
}

// NewGrammar compiles text.  vocabulary, in which tokens given by name are looked
// up, may be nil.
func NewGrammar(language Language, text string, vocabulary *Vocabulary, request any) (*Grammar, error) {
	asked, err := given(request)
	if err != nil {
		return nil, err
	}
	return grammarCompile(int32(language), text, vocabulary, asked)
}

// AnyOf is a text of any of the grammars.
func AnyOf(parts ...*Grammar) (*Grammar, error) { return grammarCombine(0, parts) }

// Sequence is a text of each of the grammars, one after another.
func Sequence(parts ...*Grammar) (*Grammar, error) { return grammarCombine(1, parts) }

// ReadGrammar reads what Grammar.Bytes wrote.
func ReadGrammar(data []byte) (*Grammar, error) { return grammarFromBytes(viewed(data)) }

// Acceptance says whether a text is in a language; if not, where it leaves it and
// what is allowed there.
type Acceptance struct {
	Accepted bool
	Offset   uint64
	Expected string
}

// Accepts says whether the whole text is in the language.
func (g *Grammar) Accepts(text string) (Acceptance, error) {
	accepts, offset, expected, err := grammarAccepts(g, text)
	return Acceptance{accepts != 0, offset, string(expected)}, err
}

// Report says where the grammar enforces something else than its source:
// [{"kind", "keyword", "path", "message"}].
func (g *Grammar) Report() (json.RawMessage, error) { return grammarReport(g) }

// Captures is what rules with a capture match: [{"name", "text", "span"}].
func (g *Grammar) Captures(text string) (json.RawMessage, error) { return grammarCaptures(g, text) }

// EBNF prints the grammar.
func (g *Grammar) EBNF() (string, error) {
	out, err := grammarToEBNF(g)
	return string(out), err
}

// Bytes is the grammar for ReadGrammar.
func (g *Grammar) Bytes() ([]byte, error) { return grammarToBytes(g) }

// NewCompiler makes constraints for a vocabulary, with caches of masks and
// grammars.
func NewCompiler(vocabulary *Vocabulary, request any) (*Compiler, error) {
	text, err := given(request)
	if err != nil {
		return nil, err
	}
	return compilerNew(vocabulary, text)
}

// MaskWords is the length of a mask.
func (c *Compiler) MaskWords() int { return compilerMaskWords(c) }

// Statistics of the caches.
func (c *Compiler) Statistics() (json.RawMessage, error) { return compilerStatistics(c) }

// ClearCache empties the caches.
func (c *Compiler) ClearCache() error { return compilerClearCache(c) }

// Compile makes a constraint of the text of a grammar.
func (c *Compiler) Compile(language Language, text string, request any) (*Constraint, error) {
	asked, err := given(request)
	if err != nil {
		return nil, err
	}
	return compile(c, int32(language), text, asked)
}

// CompileTag makes a constraint of a structural tag.
func (c *Compiler) CompileTag(tag *Tag, request any) (*Constraint, error) {
	text, err := given(request)
	if err != nil {
		return nil, err
	}
	return compileTag(c, tag, text)
}

// CompileGrammar makes a constraint of a grammar.
func (c *Compiler) CompileGrammar(grammar *Grammar, request any) (*Constraint, error) {
	text, err := given(request)
	if err != nil {
		return nil, err
	}
	return compileGrammar(c, grammar, text)
}

// ReadConstraint reads what Constraint.Bytes wrote.
func (c *Compiler) ReadConstraint(data []byte) (*Constraint, error) {
	return constraintFromBytes(c, viewed(data))
}

// Bytes is the constraint for Compiler.ReadConstraint.
func (c *Constraint) Bytes() ([]byte, error) { return constraintToBytes(c) }
