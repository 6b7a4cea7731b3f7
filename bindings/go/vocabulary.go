package parlance

// Tokens are the tokens of a tokenizer by id.
type Tokens struct {
	Tokens     []string
	AddedIDs   []uint32
	ControlIDs []uint32
	// What ends a response.  nil: unknown, which is not the same as none.
	StopIDs []uint32
	// Ids of the model; 0: the number of tokens.
	ModelSize uint64
	Spelling  Spelling
}

// NewVocabulary takes the tokens of a tokenizer.
func NewVocabulary(tokens Tokens) (*Vocabulary, error) { return vocabularyFromTokens(&tokens) }

// ReadVocabulary reads a tokenizer.json, tekken.json, tokenizer.model, tiktoken
// ranks, a GGUF header or a saved vocabulary, recognised by its contents.
func ReadVocabulary(data []byte) (*Vocabulary, error) { return vocabularyFromMemory(viewed(data)) }

// LoadVocabulary loads a model's folder, or a file in any of these forms.
func LoadVocabulary(path string) (*Vocabulary, error) { return vocabularyFromPath(place(path)) }

// VocabularyOfFiles takes the files of a model's folder; "" for one that is missing.
func VocabularyOfFiles(tokenizerJSON, tokenizerConfig, generationConfig, config string) (*Vocabulary, error) {
	return vocabularyFromFiles(tokenizerJSON, tokenizerConfig, generationConfig, config)
}

// WithStopIDs has other ids that end a response.
func (v *Vocabulary) WithStopIDs(ids []uint32) (*Vocabulary, error) {
	return vocabularyWithStopIDs(v, ids)
}

// WithEncoder has a function that tokenises text, for Matcher.ForcedTokens.  It is
// called by any goroutine that calls a matcher.  If it panics, nothing is forced.
func (v *Vocabulary) WithEncoder(encode func(text string) []uint32) (*Vocabulary, error) {
	return vocabularyWithEncoder(v, encode)
}

// Save writes the tokens and the tables that compilers need.
func (v *Vocabulary) Save(path string) error { return vocabularySave(v, place(path)) }

// Bytes are the tokens alone, for ReadVocabulary.
func (v *Vocabulary) Bytes() ([]byte, error) { return vocabularyToBytes(v) }

// Size is one more than the highest id.
func (v *Vocabulary) Size() int { return vocabularySize(v) }

// Token has the bytes of a token.
func (v *Vocabulary) Token(id uint32) (string, TokenKind, error) {
	bytes, kind, err := vocabularyToken(v, id)
	return bytes, TokenKind(kind), err
}

// Special is the added or control token with this spelling, and whether there is
// one.
func (v *Vocabulary) Special(spelling string) (uint32, bool, error) {
	id, err := vocabularySpecial(v, spelling)
	if err != nil || id < 0 {
		return 0, false, err
	}
	return uint32(id), true, nil
}

// StopIDs end a response; nil if they are not known.
func (v *Vocabulary) StopIDs() ([]uint32, error) {
	ids, known, err := vocabularyStopIDs(v)
	if known == 0 {
		return nil, err
	}
	return ids, err
}

// Decode is the text of ids as well-formed UTF-8.
func (v *Vocabulary) Decode(ids []uint32) (string, error) {
	out, err := vocabularyDecode(v, ids)
	return string(out), err
}
