package parlance

import "encoding/json"

// Formats are the names of the built-in formats, sorted.
func Formats() []string {
	out := make([]string, formatsCount())
	for i := range out {
		out[i] = formatsName(i)
	}
	return out
}

// BuiltIn is the format of a model family: its name, that of a variant, or an
// alias.
func BuiltIn(name string) (*Format, error) { return formatBuiltIn(name) }

// LoadFormat reads a format file or a bare response template.  variant: "" for
// none.
func LoadFormat(file any, variant string) (*Format, error) {
	text, err := given(file)
	if err != nil {
		return nil, err
	}
	return formatFromJSON(text, variant)
}

// Rename gives fields other names: {"thinking": "reasoning"}.
func (f *Format) Rename(names map[string]string) (*Format, error) {
	text, err := given(names)
	if err != nil {
		return nil, err
	}
	return formatRename(f, text)
}

// Describe has the name, aliases, models, variants and fields.
func (f *Format) Describe() (json.RawMessage, error) { return formatDescribe(f) }

// JSON is the format file, from which the format can be loaded again.
func (f *Format) JSON() (json.RawMessage, error) { return formatToJSON(f) }

// Template is the response template alone.
func (f *Format) Template() (json.RawMessage, error) { return formatTemplate(f) }

// Lint lists likely mistakes: [{"code", "message", "path"}].
func (f *Format) Lint() (json.RawMessage, error) { return formatLint(f) }

// Check lists what the format writes and does not read; [] if nothing is wrong.
// vocabulary may be nil.
func (f *Format) Check(request any, vocabulary *Vocabulary) (json.RawMessage, error) {
	text, err := given(request)
	if err != nil {
		return nil, err
	}
	return formatCheck(f, text, vocabulary)
}

// Render writes a message as the family writes it.
func (f *Format) Render(message, request any) (string, error) {
	said, err := given(message)
	if err != nil {
		return "", err
	}
	text, err := given(request)
	if err != nil {
		return "", err
	}
	out, err := formatRender(f, said, text)
	return string(out), err
}

// Tag is the structural tag of a response to a request: "tools", "tool_choice",
// "reasoning", "response_format", "prefix" and others.  vocabulary may be nil.
func (f *Format) Tag(request any, vocabulary *Vocabulary) (*Tag, error) {
	text, err := given(request)
	if err != nil {
		return nil, err
	}
	return formatTag(f, text, vocabulary)
}

// Parse reads a whole response: what Parser.Result says.  options may be nil.
func (f *Format) Parse(text string, options *ParserOptions) (json.RawMessage, error) {
	return parse(f, text, options)
}

// Explain gives what became of each byte of a response, as `parlance explain --json`
// writes it.  request: "name", for people, "chunk", bytes that are fed at once, and
// "packed", the facts as the page has them; nil for none.  options may be nil; of it the prefix, the tools and Recover count.
func (f *Format) Explain(text string, options *ParserOptions, request any) (json.RawMessage, error) {
	asked, err := given(request)
	if err != nil {
		return nil, err
	}
	return formatExplain(f, text, options, asked)
}

// Hints says where a call probably is that the format does not read: [{"kind",
// "message", "field", "format", "span"}].  options may be nil.
func (f *Format) Hints(text string, options *ParserOptions) (json.RawMessage, error) {
	return formatHints(f, text, options)
}

// Locate says where a JSON Pointer, such as the path of an error or a lint, leads in a
// JSON text: {"value": [begin, end], "key": [begin, end] or null}, bytes, or null.
func Locate(text, path string) (json.RawMessage, error) {
	return jsonLocate(text, path)
}

// RankFormats gives the built-in formats of which a text has evidence, the best first:
// [{"name", "calls", "call", "diagnostics", "region_bytes", "span", "marked"}].  tools,
// whose calls are evidence however they are written, may be nil.
func RankFormats(text string, tools *Tools) (json.RawMessage, error) {
	return formatsRank(text, tools)
}

// Detect says which format a tokenizer_config.json needs: {"name", "family",
// "certainty", "why", "others"}.  rendered: what the chat template makes of
// DetectionSample; "" if that is not known.
func Detect(config any, rendered string) (json.RawMessage, error) {
	text, err := given(config)
	if err != nil {
		return nil, err
	}
	return detect(text, rendered)
}

// DetectionSample has messages and tools for a chat template.
func DetectionSample() (json.RawMessage, error) { return detectionSample() }

// NewTools reads a list of tools as the chat completions API has it.
func NewTools(list any) (*Tools, error) {
	text, err := given(list)
	if err != nil {
		return nil, err
	}
	return toolsFromJSON(text)
}
