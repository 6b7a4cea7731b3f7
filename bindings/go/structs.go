package parlance

import "unsafe"

// The functions of C that have structs or arrays.  functions.go has the others.

// --- Parsers

func parserOptions(c *call, options *ParserOptions) *cParserOptions {
	if options == nil {
		options = &ParserOptions{}
	}
	return &cParserOptions{
		struct_size:  cSize(unsafe.Sizeof(cParserOptions{})),
		prefix:       c.keep(options.Prefix),
		prefix_size:  cSize(len(options.Prefix)),
		prefix_ids:   c.keepIDs(options.PrefixIDs),
		prefix_count: cSize(len(options.PrefixIDs)),
		stop_ids:     c.keepIDs(options.StopIDs),
		stop_count:   cSize(len(options.StopIDs)),
		tools:        cToolsOf((*object)(options.Tools).pointer()),
		vocabulary:   cVocabularyOf((*object)(options.Vocabulary).pointer()),
		has_stop_ids: bit(options.StopIDs != nil),
		markers:      cInt(options.Markers),
		recover:      cInt(options.Recover),
		stream_calls: bit(options.StreamCalls),
		attempts:     bit(options.Attempts),
		events_only:  bit(options.EventsOnly),
	}
}

// done ends the call that parserOptions was for.
func (options *ParserOptions) done(c *call) {
	if options != nil {
		(*object)(options.Tools).done(c)
		(*object)(options.Vocabulary).done(c)
	}
}

func parserNew(format *Format, options *ParserOptions) (*Parser, error) {
	var c call
	defer c.begin().end()
	var out, failure pointer
	status := cParserNew(&c, (*object)(format).pointer(), parserOptions(&c, options), &out, &failure)
	(*object)(format).done(&c)
	options.done(&c)
	if status != statusOK {
		return nil, failed(&c, status, failure)
	}
	return (*Parser)(adopt(out, parserHandle)), nil
}

func parserNewByTag(tag *CompiledTag, options *ParserOptions) (*Parser, error) {
	var c call
	defer c.begin().end()
	var out, failure pointer
	status := cParserNewByTag(&c, (*object)(tag).pointer(), parserOptions(&c, options), &out, &failure)
	(*object)(tag).done(&c)
	options.done(&c)
	if status != statusOK {
		return nil, failed(&c, status, failure)
	}
	return (*Parser)(adopt(out, parserHandle)), nil
}

// readText calls what reads a text by a format and gives JSON.
func readText(format *Format, options *ParserOptions, read func(
	c *call, by pointer, given *cParserOptions, out *cBytes, failure *pointer) int32) ([]byte, error) {
	var c call
	defer c.begin().end()
	var out cBytes
	var failure pointer
	status := read(&c, (*object)(format).pointer(), parserOptions(&c, options), &out, &failure)
	(*object)(format).done(&c)
	options.done(&c)
	if status != statusOK {
		return nil, failed(&c, status, failure)
	}
	return taken(&c, &out), nil
}

func parse(format *Format, text string, options *ParserOptions) ([]byte, error) {
	return readText(format, options, func(
		c *call, by pointer, given *cParserOptions, out *cBytes, failure *pointer) int32 {
		return cParse(c, by, text, given, out, failure)
	})
}

func formatExplain(format *Format, text string, options *ParserOptions, request string) ([]byte, error) {
	return readText(format, options, func(
		c *call, by pointer, given *cParserOptions, out *cBytes, failure *pointer) int32 {
		return cFormatExplain(c, by, text, given, request, out, failure)
	})
}

func formatHints(format *Format, text string, options *ParserOptions) ([]byte, error) {
	return readText(format, options, func(
		c *call, by pointer, given *cParserOptions, out *cBytes, failure *pointer) int32 {
		return cFormatHints(c, by, text, given, out, failure)
	})
}

func parserInitial(parser *Parser) ([]Event, error) {
	if err := (*object)(parser).enter(); err != nil {
		return nil, err
	}
	defer (*object)(parser).leave()
	var c call
	defer c.begin().end()
	var events cEvents
	var count cSize
	status := cParserInitial(&c, (*object)(parser).pointer(), eventSize, &events, &count)
	return eventsOf(&c, parser, status, events, count)
}

func parserFeed(parser *Parser, text string) ([]Event, error) {
	if err := (*object)(parser).enter(); err != nil {
		return nil, err
	}
	defer (*object)(parser).leave()
	var c call
	defer c.begin().end()
	var events cEvents
	var count cSize
	status := cParserFeed(&c, (*object)(parser).pointer(), text, eventSize, &events, &count)
	return eventsOf(&c, parser, status, events, count)
}

func parserFeedTokens(parser *Parser, ids []uint32) ([]Event, error) {
	if err := (*object)(parser).enter(); err != nil {
		return nil, err
	}
	defer (*object)(parser).leave()
	var c call
	defer c.begin().end()
	var events cEvents
	var count cSize
	status := cParserFeedTokens(&c, (*object)(parser).pointer(), ids, eventSize, &events, &count)
	return eventsOf(&c, parser, status, events, count)
}

func parserFinalize(parser *Parser) ([]Event, error) {
	if err := (*object)(parser).enter(); err != nil {
		return nil, err
	}
	defer (*object)(parser).leave()
	var c call
	defer c.begin().end()
	var events cEvents
	var count cSize
	status := cParserFinalize(&c, (*object)(parser).pointer(), eventSize, &events, &count)
	return eventsOf(&c, parser, status, events, count)
}

const eventSize = int(unsafe.Sizeof(cEvent{}))

func eventsOf(c *call, parser *Parser, status int32, events cEvents, count cSize) ([]Event, error) {
	out := copiedEvents(c, events, count)
	(*object)(parser).done(c)
	if status != statusOK {
		return nil, failed(c, status, nullPointer)
	}
	return out, nil
}

// copiedEvents copies events out of the library.  Their texts share one string.
func copiedEvents(c *call, events cEvents, count cSize) []Event {
	if count == 0 {
		return nil
	}
	list := eventsAt(c, events, count)
	size := 0
	for i := range list {
		size += int(list[i].field_size + list[i].text_size + list[i].call_id_size)
	}
	texts := make([]byte, 0, size)
	text := func(from cText, size cSize) string {
		if size == 0 {
			return ""
		}
		begin := len(texts)
		texts = append(texts, bytesAt(c, from, size)...)
		return unsafe.String(&texts[begin], int(size))
	}
	out := make([]Event, len(list))
	for i := range list {
		from := &list[i]
		out[i] = Event{
			Kind:       EventKind(from.kind),
			Flags:      EventFlags(from.flags),
			FieldIndex: uint32(from.field_index),
			Call:       uint32(from.call),
			Bytes:      Span{uint64(from.bytes_begin), uint64(from.bytes_end)},
			Tokens:     Span{uint64(from.tokens_begin), uint64(from.tokens_end)},
			Field:      text(from.field, from.field_size),
			Text:       text(from.text, from.text_size),
			CallID:     text(from.call_id, from.call_id_size),
			Code:       Code(from.code),
		}
	}
	return out
}

// --- Vocabularies and grammars

func vocabularyFromTokens(tokens *Tokens) (*Vocabulary, error) {
	var c call
	defer c.begin().end()
	size := 0
	for _, token := range tokens.Tokens {
		size += len(token)
	}
	bytes := make([]byte, 0, size)
	ends := make([]uint64, 0, len(tokens.Tokens))
	for _, token := range tokens.Tokens {
		bytes = append(bytes, token...)
		ends = append(ends, uint64(len(bytes)))
	}
	given := cTokens{
		struct_size:   cSize(unsafe.Sizeof(cTokens{})),
		bytes:         c.keep(viewed(bytes)),
		ends:          c.keepEnds(ends),
		count:         cSize(len(ends)),
		added_ids:     c.keepIDs(tokens.AddedIDs),
		added_count:   cSize(len(tokens.AddedIDs)),
		control_ids:   c.keepIDs(tokens.ControlIDs),
		control_count: cSize(len(tokens.ControlIDs)),
		stop_ids:      c.keepIDs(tokens.StopIDs),
		stop_count:    cSize(len(tokens.StopIDs)),
		model_size:    cLong(tokens.ModelSize),
		spelling:      cInt(tokens.Spelling),
		has_stop_ids:  bit(tokens.StopIDs != nil),
	}
	var out, failure pointer
	status := cVocabularyFromTokens(&c, &given, &out, &failure)
	if status != statusOK {
		return nil, failed(&c, status, failure)
	}
	return (*Vocabulary)(adopt(out, vocabularyHandle)), nil
}

// encoded is what a function of the caller's makes of a text.  A panic must not pass
// through the library, whose call would never end, nor may the function end the
// goroutine of the call (runtime.Goexit): so it has one of its own.
func encoded(encode func(string) []uint32, text string) (ids []uint32) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() {
			if recover() != nil {
				ids = nil
			}
		}()
		ids = encode(text)
	}()
	<-ended
	return ids
}

func vocabularyWithEncoder(vocabulary *Vocabulary, encode func(string) []uint32) (*Vocabulary, error) {
	var c call
	defer c.begin().end()
	var out, failure pointer
	status := cVocabularyWithEncoder(&c, (*object)(vocabulary).pointer(), encode, &out, &failure)
	(*object)(vocabulary).done(&c)
	if status != statusOK {
		return nil, failed(&c, status, failure)
	}
	return (*Vocabulary)(adopt(out, vocabularyHandle)), nil
}

func grammarCombine(inSequence int32, parts []*Grammar) (*Grammar, error) {
	var c call
	defer c.begin().end()
	handles := make([]pointer, len(parts))
	for i, part := range parts {
		handles[i] = (*object)(part).pointer()
	}
	var out, failure pointer
	status := cGrammarCombine(&c, inSequence, handles, &out, &failure)
	for _, part := range parts {
		(*object)(part).done(&c)
	}
	if status != statusOK {
		return nil, failed(&c, status, failure)
	}
	return (*Grammar)(adopt(out, grammarHandle)), nil
}

// --- Matchers and tables

func matcherNew(constraint *Constraint, options *MatcherOptions) (*Matcher, error) {
	var c call
	defer c.begin().end()
	given := cMatcherOptions{struct_size: cSize(unsafe.Sizeof(cMatcherOptions{}))}
	if options != nil {
		given.stop_ids = c.keepIDs(options.StopIDs)
		given.stop_count = cSize(len(options.StopIDs))
		given.has_stop_ids = bit(options.StopIDs != nil)
		if options.DefaultTemperature != nil {
			given.has_default_temperature = 1
			given.default_temperature = cDouble(*options.DefaultTemperature)
		}
	}
	var out, failure pointer
	status := cMatcherNew(&c, (*object)(constraint).pointer(), &given, &out, &failure)
	(*object)(constraint).done(&c)
	if status != statusOK {
		return nil, failed(&c, status, failure)
	}
	return (*Matcher)(adopt(out, matcherHandle)), nil
}

func matcherFill(matcher *Matcher, row []int32) (int32, error) {
	var c call
	defer c.begin().end()
	var constrains int32
	status := cMatcherFill(&c, (*object)(matcher).pointer(), row, &constrains)
	(*object)(matcher).done(&c)
	if status != statusOK {
		return 0, failed(&c, status, nullPointer)
	}
	return constrains, nil
}

func matcherFillMany(matchers []*Matcher, rows []int, buffer []int32, stride int, threads uint32) error {
	var c call
	defer c.begin().end()
	handles := make([]pointer, len(matchers))
	for i, matcher := range matchers {
		handles[i] = (*object)(matcher).pointer()
	}
	var places []cSize
	for _, row := range rows {
		places = append(places, sizeOf(row))
	}
	var failure pointer
	status := cMatcherFillMany(&c, handles, places, buffer, stride, threads, &failure)
	for _, matcher := range matchers {
		(*object)(matcher).done(&c)
	}
	if status != statusOK {
		return failed(&c, status, failure)
	}
	return nil
}

func matcherFillTree(matcher *Matcher, tree DraftTree, rows []int32, stride int, nanoseconds int64, temperatures []float32) (int, error) {
	var c call
	defer c.begin().end()
	var visited cSize
	var failure pointer
	status := cMatcherFillTree(&c, (*object)(matcher).pointer(), tree, rows, stride,
		nanoseconds, temperatures, &visited, &failure)
	(*object)(matcher).done(&c)
	if status != statusOK {
		return 0, failed(&c, status, failure)
	}
	return int(visited), nil
}

func matcherForcedTokens(matcher *Matcher) ([]uint32, error) {
	var c call
	defer c.begin().end()
	out := make([]uint32, 16)
	for {
		var count cSize
		status := cMatcherForcedTokens(&c, (*object)(matcher).pointer(), out, &count)
		(*object)(matcher).done(&c)
		if status != statusOK {
			return nil, failed(&c, status, nullPointer)
		}
		if int(count) <= len(out) {
			return out[:count], nil
		}
		out = make([]uint32, int(count))
	}
}

func matcherFailure(matcher *Matcher) error {
	var c call
	defer c.begin().end()
	var failure pointer
	status := cMatcherFailure(&c, (*object)(matcher).pointer(), &failure)
	(*object)(matcher).done(&c)
	if status == statusOK && failure == nullPointer {
		return nil
	}
	if status == statusOK {
		status = cErrorStatus(&c, failure)
	}
	return failed(&c, status, failure)
}

func tableRows(table *Table, begin, end int) ([]int32, int, error) {
	var c call
	defer c.begin().end()
	var rows cRows
	var words cSize
	status := cTableRows(&c, (*object)(table).pointer(), begin, end, &rows, &words)
	out := rowsAt(&c, rows, end-begin, words)
	(*object)(table).done(&c)
	if status != statusOK {
		return nil, 0, failed(&c, status, nullPointer)
	}
	return out, int(words), nil
}

// --- Batches and explanations

func batchStep(batch *Batch, steps []Step, masks []int32, stride int, table *Table, temperatures []float32) error {
	if err := (*object)(batch).enter(); err != nil {
		return err
	}
	defer (*object)(batch).leave()
	if batch != nil {
		leave, err := (*object)(batch).enterRows(steps)
		if err != nil {
			return err
		}
		defer leave()
	}
	var c call
	defer c.begin().end()
	given := make([]cStep, len(steps))
	for i, step := range steps {
		given[i] = cStep{
			row:          cUint(step.Row),
			tokens:       c.keepIDs(step.Tokens),
			token_count:  cSize(len(step.Tokens)),
			mask_row:     cSigned(step.MaskRow),
			first_child:  c.keepLinks(step.Draft.FirstChild),
			next_sibling: c.keepLinks(step.Draft.NextSibling),
			draft_tokens: c.keepLinks(step.Draft.Tokens),
			nodes:        cSize(len(step.Draft.Tokens)),
			nanoseconds:  cSigned(step.Nanoseconds),
		}
	}
	var failure pointer
	status := cBatchStep(&c, (*object)(batch).pointer(), given, masks, stride,
		(*object)(table).pointer(), temperatures, &failure)
	if status == statusOK {
		for i := range steps {
			from := &given[i]
			steps[i].Accepted = int(from.accepted)
			steps[i].Filled = int(from.filled)
			steps[i].MaskID = MaskID(from.mask_id)
			steps[i].Flags = StepFlags(from.flags)
			steps[i].Events = copiedEvents(&c, from.events, from.event_count)
		}
	}
	(*object)(batch).done(&c)
	(*object)(table).done(&c)
	if status != statusOK {
		return failed(&c, status, failure)
	}
	return nil
}

func explain(what *Explanation) ([]byte, error) {
	var c call
	defer c.begin().end()
	given := cExplanation{
		struct_size: cSize(unsafe.Sizeof(cExplanation{})),
		format:      cFormatOf((*object)(what.Format).pointer()),
		tag:         cCompiledTagOf((*object)(what.Tag).pointer()),
		grammar:     cGrammarOf((*object)(what.Grammar).pointer()),
		constraint:  cConstraintOf((*object)(what.Constraint).pointer()),
		tools:       cToolsOf((*object)(what.Tools).pointer()),
		vocabulary:  cVocabularyOf((*object)(what.Vocabulary).pointer()),
		text:        c.keep(what.Text),
		text_size:   cSize(len(what.Text)),
		ids:         c.keepIDs(what.IDs),
		id_count:    cSize(len(what.IDs)),
		prefix:      c.keep(what.Prefix),
		prefix_size: cSize(len(what.Prefix)),
		name:        c.keep(what.Name),
		name_size:   cSize(len(what.Name)),
		chunk:       sizeOf(what.Chunk),
		markers:     cInt(what.Markers),
		recover:     cInt(what.Recover),
		html:        bit(what.HTML),
	}
	var out cBytes
	var failure pointer
	status := cExplain(&c, &given, &out, &failure)
	for _, used := range []*object{
		(*object)(what.Format), (*object)(what.Tag), (*object)(what.Grammar),
		(*object)(what.Constraint), (*object)(what.Tools), (*object)(what.Vocabulary),
	} {
		used.done(&c)
	}
	if status != statusOK {
		return nil, failed(&c, status, failure)
	}
	return taken(&c, &out), nil
}

// --- What all functions give

// statusOK is PARLANCE_OK.
const statusOK = 0

// failed turns what a function said into an error, and frees that.
func failed(c *call, status int32, failure pointer) error {
	if err := c.stopped(); err != nil {
		return err
	}
	if Code(status) == CodeWrongHandle {
		// Types keep handles of other kinds away: it is closedPointer.
		cErrorFree(c, failure)
		return &Error{Code: CodeNull, Message: "a closed object is used"}
	}
	out := &Error{Code: Code(status)}
	if failure == nullPointer {
		out.Message = literal(c, cStatusName(c, status))
		return out
	}
	var size cSize
	message := cErrorMessage(c, failure, &size)
	out.Message = textOf(c, message, size)
	path := cErrorPath(c, failure, &size)
	out.Path = textOf(c, path, size)
	var span cSpan
	if cErrorSpan(c, failure, &span) != 0 {
		out.Span = &Span{uint64(span.begin), uint64(span.end)}
	}
	cErrorFree(c, failure)
	return out
}

func statusName(status int32) string {
	var c call
	defer c.begin().end()
	return literal(&c, cStatusName(&c, status))
}

func formatsName(index int) string {
	var c call
	defer c.begin().end()
	var size cSize
	return literal(&c, cFormatsName(&c, index, &size))
}

// taken copies bytes and frees them.
func taken(c *call, bytes *cBytes) []byte {
	if pointerOf(bytes.data) == nullPointer {
		return nil
	}
	out := make([]byte, int(bytes.size))
	copy(out, bytesAt(c, bytes.data, bytes.size))
	cFree(c, pointerOf(bytes.data))
	return out
}

// textOf copies a text, which may have NUL in it.
func textOf(c *call, text cText, size cSize) string {
	return string(bytesAt(c, text, size))
}
