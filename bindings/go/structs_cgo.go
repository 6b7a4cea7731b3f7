//go:build cgo && !parlance_wasm

package parlance

// #include <stdlib.h>
// #include "parlance_c.h"
// size_t parlanceGoEncode(void *user, char *text, size_t size, uint32_t *ids, size_t capacity);
// void parlanceGoDrop(void *user);
import "C"

import (
	"runtime"
	"runtime/cgo"
	"unsafe"
)

// --- Parsers

func parserOptions(pin *runtime.Pinner, options *ParserOptions) *C.parlance_parser_options {
	if options == nil {
		options = &ParserOptions{}
	}
	return &C.parlance_parser_options{
		struct_size:  C.sizeof_parlance_parser_options,
		prefix:       pinnedText(pin, options.Prefix),
		prefix_size:  C.size_t(len(options.Prefix)),
		prefix_ids:   pinned[C.uint32_t](pin, options.PrefixIDs),
		prefix_count: C.size_t(len(options.PrefixIDs)),
		stop_ids:     pinned[C.uint32_t](pin, options.StopIDs),
		stop_count:   C.size_t(len(options.StopIDs)),
		tools:        (*C.parlance_tools)((*object)(options.Tools).pointer()),
		vocabulary:   (*C.parlance_vocabulary)((*object)(options.Vocabulary).pointer()),
		has_stop_ids: bit(options.StopIDs != nil),
		markers:      C.int32_t(options.Markers),
		recover:      C.int32_t(options.Recover),
		stream_calls: bit(options.StreamCalls),
		attempts:     bit(options.Attempts),
		events_only:  bit(options.EventsOnly),
	}
}

// done ends the call that parserOptions was for.
func (options *ParserOptions) done() {
	if options != nil {
		(*object)(options.Tools).done()
		(*object)(options.Vocabulary).done()
	}
}

func parserNew(format *Format, options *ParserOptions) (*Parser, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	var out *C.parlance_parser
	var failure *C.parlance_error
	status := C.parlance_parser_new((*C.parlance_format)((*object)(format).pointer()),
		parserOptions(&pin, options), &out, &failure)
	(*object)(format).done()
	options.done()
	if status != C.PARLANCE_OK {
		return nil, failed(status, failure)
	}
	return (*Parser)(adopt(unsafe.Pointer(out), freeParser)), nil
}

func parserNewByTag(tag *CompiledTag, options *ParserOptions) (*Parser, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	var out *C.parlance_parser
	var failure *C.parlance_error
	status := C.parlance_parser_new_by_tag(
		(*C.parlance_compiled_tag)((*object)(tag).pointer()),
		parserOptions(&pin, options), &out, &failure)
	(*object)(tag).done()
	options.done()
	if status != C.PARLANCE_OK {
		return nil, failed(status, failure)
	}
	return (*Parser)(adopt(unsafe.Pointer(out), freeParser)), nil
}

// readText calls what reads a text by a format and gives JSON.
func readText(format *Format, options *ParserOptions, call func(
	by *C.parlance_format, given *C.parlance_parser_options,
	out *C.parlance_bytes, failure **C.parlance_error) C.parlance_status) ([]byte, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	var out C.parlance_bytes
	var failure *C.parlance_error
	status := call((*C.parlance_format)((*object)(format).pointer()),
		parserOptions(&pin, options), &out, &failure)
	(*object)(format).done()
	options.done()
	if status != C.PARLANCE_OK {
		return nil, failed(status, failure)
	}
	return taken(out), nil
}

func parse(format *Format, text string, options *ParserOptions) ([]byte, error) {
	return readText(format, options, func(by *C.parlance_format, given *C.parlance_parser_options,
		out *C.parlance_bytes, failure **C.parlance_error) C.parlance_status {
		return C.parlance_parse(by, chars(text), C.size_t(len(text)), given, out, failure)
	})
}

func formatExplain(format *Format, text string, options *ParserOptions, request string) ([]byte, error) {
	return readText(format, options, func(by *C.parlance_format, given *C.parlance_parser_options,
		out *C.parlance_bytes, failure **C.parlance_error) C.parlance_status {
		return C.parlance_format_explain(by, chars(text), C.size_t(len(text)), given,
			chars(request), C.size_t(len(request)), out, failure)
	})
}

func formatHints(format *Format, text string, options *ParserOptions) ([]byte, error) {
	return readText(format, options, func(by *C.parlance_format, given *C.parlance_parser_options,
		out *C.parlance_bytes, failure **C.parlance_error) C.parlance_status {
		return C.parlance_format_hints(by, chars(text), C.size_t(len(text)), given, out, failure)
	})
}

func parserHandle(parser *Parser) *C.parlance_parser {
	return (*C.parlance_parser)((*object)(parser).pointer())
}

func parserInitial(parser *Parser) ([]Event, error) {
	if err := (*object)(parser).enter(); err != nil {
		return nil, err
	}
	defer (*object)(parser).leave()
	var events *C.parlance_event
	var count C.size_t
	status := C.parlance_parser_initial(parserHandle(parser), C.sizeof_parlance_event, &events, &count)
	return eventsOf(parser, status, events, count)
}

func parserFeed(parser *Parser, text string) ([]Event, error) {
	if err := (*object)(parser).enter(); err != nil {
		return nil, err
	}
	defer (*object)(parser).leave()
	var events *C.parlance_event
	var count C.size_t
	status := C.parlance_parser_feed(parserHandle(parser), chars(text), C.size_t(len(text)),
		C.sizeof_parlance_event, &events, &count)
	return eventsOf(parser, status, events, count)
}

func parserFeedTokens(parser *Parser, ids []uint32) ([]Event, error) {
	if err := (*object)(parser).enter(); err != nil {
		return nil, err
	}
	defer (*object)(parser).leave()
	var events *C.parlance_event
	var count C.size_t
	status := C.parlance_parser_feed_tokens(parserHandle(parser), numbers(ids), C.size_t(len(ids)),
		C.sizeof_parlance_event, &events, &count)
	return eventsOf(parser, status, events, count)
}

func parserFinalize(parser *Parser) ([]Event, error) {
	if err := (*object)(parser).enter(); err != nil {
		return nil, err
	}
	defer (*object)(parser).leave()
	var events *C.parlance_event
	var count C.size_t
	status := C.parlance_parser_finalize(parserHandle(parser), C.sizeof_parlance_event, &events, &count)
	return eventsOf(parser, status, events, count)
}

func eventsOf(parser *Parser, status C.parlance_status, events *C.parlance_event, count C.size_t) ([]Event, error) {
	out := copiedEvents(events, count)
	(*object)(parser).done()
	if status != C.PARLANCE_OK {
		return nil, failed(status, nil)
	}
	return out, nil
}

// copiedEvents copies events out of the library.  Their texts share one string.
func copiedEvents(events *C.parlance_event, count C.size_t) []Event {
	if count == 0 {
		return nil
	}
	list := unsafe.Slice(events, int(count))
	size := 0
	for i := range list {
		size += int(list[i].field_size + list[i].text_size + list[i].call_id_size)
	}
	texts := make([]byte, 0, size)
	text := func(from *C.char, size C.size_t) string {
		if size == 0 {
			return ""
		}
		begin := len(texts)
		texts = append(texts, unsafe.Slice((*byte)(unsafe.Pointer(from)), int(size))...)
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
	var pin runtime.Pinner
	defer pin.Unpin()
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
	given := C.parlance_tokens{
		struct_size:   C.sizeof_parlance_tokens,
		bytes:         pinned[C.char](&pin, bytes),
		ends:          pinned[C.uint64_t](&pin, ends),
		count:         C.size_t(len(ends)),
		added_ids:     pinned[C.uint32_t](&pin, tokens.AddedIDs),
		added_count:   C.size_t(len(tokens.AddedIDs)),
		control_ids:   pinned[C.uint32_t](&pin, tokens.ControlIDs),
		control_count: C.size_t(len(tokens.ControlIDs)),
		stop_ids:      pinned[C.uint32_t](&pin, tokens.StopIDs),
		stop_count:    C.size_t(len(tokens.StopIDs)),
		model_size:    C.uint64_t(tokens.ModelSize),
		spelling:      C.int32_t(tokens.Spelling),
		has_stop_ids:  bit(tokens.StopIDs != nil),
	}
	var out *C.parlance_vocabulary
	var failure *C.parlance_error
	status := C.parlance_vocabulary_from_tokens(&given, &out, &failure)
	if status != C.PARLANCE_OK {
		return nil, failed(status, failure)
	}
	return (*Vocabulary)(adopt(unsafe.Pointer(out), freeVocabulary)), nil
}

//export parlanceGoEncode
func parlanceGoEncode(user unsafe.Pointer, text *C.char, size C.size_t, ids *C.uint32_t, capacity C.size_t) C.size_t {
	encode := (*(*cgo.Handle)(user)).Value().(func(string) []uint32)
	// A panic must not pass through the library, whose call would never end.
	var found []uint32
	func() {
		defer func() {
			if recover() != nil {
				found = nil
			}
		}()
		found = encode(textOf(text, size))
	}()
	copy(unsafe.Slice((*uint32)(ids), int(capacity)), found)
	return C.size_t(len(found))
}

//export parlanceGoDrop
func parlanceGoDrop(user unsafe.Pointer) {
	(*(*cgo.Handle)(user)).Delete()
	C.free(user)
}

func vocabularyWithEncoder(vocabulary *Vocabulary, encode func(string) []uint32) (*Vocabulary, error) {
	user := C.malloc(C.size_t(unsafe.Sizeof(cgo.Handle(0))))
	*(*cgo.Handle)(user) = cgo.NewHandle(encode)
	var out *C.parlance_vocabulary
	var failure *C.parlance_error
	status := C.parlance_vocabulary_with_encoder(
		(*C.parlance_vocabulary)((*object)(vocabulary).pointer()),
		(C.parlance_encode_fn)(C.parlanceGoEncode), user, (*[0]byte)(C.parlanceGoDrop),
		&out, &failure)
	(*object)(vocabulary).done()
	if status != C.PARLANCE_OK {
		return nil, failed(status, failure)
	}
	return (*Vocabulary)(adopt(unsafe.Pointer(out), freeVocabulary)), nil
}

func grammarCombine(inSequence int32, parts []*Grammar) (*Grammar, error) {
	handles := make([]*C.parlance_grammar, len(parts))
	for i, part := range parts {
		handles[i] = (*C.parlance_grammar)((*object)(part).pointer())
	}
	var out *C.parlance_grammar
	var failure *C.parlance_error
	status := C.parlance_grammar_combine(C.int32_t(inSequence), unsafe.SliceData(handles),
		C.size_t(len(handles)), &out, &failure)
	for _, part := range parts {
		(*object)(part).done()
	}
	if status != C.PARLANCE_OK {
		return nil, failed(status, failure)
	}
	return (*Grammar)(adopt(unsafe.Pointer(out), freeGrammar)), nil
}

// --- Matchers and tables

func matcherHandle(matcher *Matcher) *C.parlance_matcher {
	return (*C.parlance_matcher)((*object)(matcher).pointer())
}

func matcherNew(constraint *Constraint, options *MatcherOptions) (*Matcher, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	given := C.parlance_matcher_options{struct_size: C.sizeof_parlance_matcher_options}
	if options != nil {
		given.stop_ids = pinned[C.uint32_t](&pin, options.StopIDs)
		given.stop_count = C.size_t(len(options.StopIDs))
		given.has_stop_ids = bit(options.StopIDs != nil)
		if options.DefaultTemperature != nil {
			given.has_default_temperature = 1
			given.default_temperature = C.double(*options.DefaultTemperature)
		}
	}
	var out *C.parlance_matcher
	var failure *C.parlance_error
	status := C.parlance_matcher_new(
		(*C.parlance_constraint)((*object)(constraint).pointer()), &given, &out, &failure)
	(*object)(constraint).done()
	if status != C.PARLANCE_OK {
		return nil, failed(status, failure)
	}
	return (*Matcher)(adopt(unsafe.Pointer(out), freeMatcher)), nil
}

func words(masks []int32) *C.int32_t {
	return (*C.int32_t)(unsafe.Pointer(unsafe.SliceData(masks)))
}

func matcherFill(matcher *Matcher, row []int32) (int32, error) {
	var constrains C.int32_t
	status := C.parlance_matcher_fill(matcherHandle(matcher), words(row), C.size_t(len(row)), &constrains)
	(*object)(matcher).done()
	if status != C.PARLANCE_OK {
		return 0, failed(status, nil)
	}
	return int32(constrains), nil
}

func matcherFillMany(matchers []*Matcher, rows []int, buffer []int32, stride int, threads uint32) error {
	handles := make([]*C.parlance_matcher, len(matchers))
	for i, matcher := range matchers {
		handles[i] = matcherHandle(matcher)
	}
	var places []C.size_t
	for _, row := range rows {
		places = append(places, C.size_t(row))
	}
	var failure *C.parlance_error
	status := C.parlance_matcher_fill_many(unsafe.SliceData(handles), unsafe.SliceData(places),
		C.size_t(len(handles)), words(buffer), C.size_t(len(buffer)), C.size_t(stride),
		C.uint32_t(threads), &failure)
	for _, matcher := range matchers {
		(*object)(matcher).done()
	}
	if status != C.PARLANCE_OK {
		return failed(status, failure)
	}
	return nil
}

func matcherFillTree(matcher *Matcher, tree DraftTree, rows []int32, stride int, nanoseconds int64, temperatures []float32) (int, error) {
	var visited C.size_t
	var failure *C.parlance_error
	number := func(list []int64) *C.int64_t {
		return (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(list)))
	}
	status := C.parlance_matcher_fill_tree(matcherHandle(matcher), number(tree.FirstChild),
		number(tree.NextSibling), number(tree.Tokens), C.size_t(len(tree.Tokens)),
		words(rows), C.size_t(len(rows)), C.size_t(stride), C.int64_t(nanoseconds),
		(*C.float)(unsafe.Pointer(unsafe.SliceData(temperatures))), &visited, &failure)
	(*object)(matcher).done()
	if status != C.PARLANCE_OK {
		return 0, failed(status, failure)
	}
	return int(visited), nil
}

func matcherForcedTokens(matcher *Matcher) ([]uint32, error) {
	out := make([]uint32, 16)
	for {
		var count C.size_t
		status := C.parlance_matcher_forced_tokens(matcherHandle(matcher), numbers(out),
			C.size_t(len(out)), &count)
		(*object)(matcher).done()
		if status != C.PARLANCE_OK {
			return nil, failed(status, nil)
		}
		if int(count) <= len(out) {
			return out[:count], nil
		}
		out = make([]uint32, int(count))
	}
}

func matcherFailure(matcher *Matcher) error {
	var failure *C.parlance_error
	status := C.parlance_matcher_failure(matcherHandle(matcher), &failure)
	(*object)(matcher).done()
	if status == C.PARLANCE_OK && failure == nil {
		return nil
	}
	if status == C.PARLANCE_OK {
		status = C.parlance_error_status(failure)
	}
	return failed(status, failure)
}

func tableRows(table *Table, begin, end int) ([]int32, int, error) {
	var rows *C.int32_t
	var words C.size_t
	status := C.parlance_table_rows((*C.parlance_table)((*object)(table).pointer()),
		C.size_t(begin), C.size_t(end), &rows, &words)
	var out []int32
	if rows != nil {
		out = append([]int32{}, unsafe.Slice((*int32)(rows), (end-begin)*int(words))...)
	}
	(*object)(table).done()
	if status != C.PARLANCE_OK {
		return nil, 0, failed(status, nil)
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
	var pin runtime.Pinner
	defer pin.Unpin()
	given := make([]C.parlance_step, len(steps))
	for i, step := range steps {
		given[i] = C.parlance_step{
			row:          C.uint32_t(step.Row),
			tokens:       pinned[C.uint32_t](&pin, step.Tokens),
			token_count:  C.size_t(len(step.Tokens)),
			mask_row:     C.int64_t(step.MaskRow),
			first_child:  pinned[C.int64_t](&pin, step.Draft.FirstChild),
			next_sibling: pinned[C.int64_t](&pin, step.Draft.NextSibling),
			draft_tokens: pinned[C.int64_t](&pin, step.Draft.Tokens),
			nodes:        C.size_t(len(step.Draft.Tokens)),
			nanoseconds:  C.int64_t(step.Nanoseconds),
		}
	}
	var failure *C.parlance_error
	status := C.parlance_batch_step((*C.parlance_batch)((*object)(batch).pointer()),
		unsafe.SliceData(given), C.size_t(len(given)), C.sizeof_parlance_step,
		words(masks), C.size_t(len(masks)), C.size_t(stride),
		(*C.parlance_table)((*object)(table).pointer()),
		(*C.float)(unsafe.Pointer(unsafe.SliceData(temperatures))), C.size_t(len(temperatures)),
		C.sizeof_parlance_event, &failure)
	if status == C.PARLANCE_OK {
		for i := range steps {
			from := &given[i]
			steps[i].Accepted = int(from.accepted)
			steps[i].Filled = int(from.filled)
			steps[i].MaskID = MaskID(from.mask_id)
			steps[i].Flags = StepFlags(from.flags)
			steps[i].Events = copiedEvents(from.events, from.event_count)
		}
	}
	(*object)(batch).done()
	(*object)(table).done()
	if status != C.PARLANCE_OK {
		return failed(status, failure)
	}
	return nil
}

func explain(what *Explanation) ([]byte, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	given := C.parlance_explanation{
		struct_size: C.sizeof_parlance_explanation,
		format:      (*C.parlance_format)((*object)(what.Format).pointer()),
		tag:         (*C.parlance_compiled_tag)((*object)(what.Tag).pointer()),
		grammar:     (*C.parlance_grammar)((*object)(what.Grammar).pointer()),
		constraint:  (*C.parlance_constraint)((*object)(what.Constraint).pointer()),
		tools:       (*C.parlance_tools)((*object)(what.Tools).pointer()),
		vocabulary:  (*C.parlance_vocabulary)((*object)(what.Vocabulary).pointer()),
		text:        pinnedText(&pin, what.Text),
		text_size:   C.size_t(len(what.Text)),
		ids:         pinned[C.uint32_t](&pin, what.IDs),
		id_count:    C.size_t(len(what.IDs)),
		prefix:      pinnedText(&pin, what.Prefix),
		prefix_size: C.size_t(len(what.Prefix)),
		name:        pinnedText(&pin, what.Name),
		name_size:   C.size_t(len(what.Name)),
		chunk:       C.size_t(what.Chunk),
		markers:     C.int32_t(what.Markers),
		recover:     C.int32_t(what.Recover),
		html:        bit(what.HTML),
	}
	var out C.parlance_bytes
	var failure *C.parlance_error
	status := C.parlance_explain(&given, &out, &failure)
	for _, used := range []*object{
		(*object)(what.Format), (*object)(what.Tag), (*object)(what.Grammar),
		(*object)(what.Constraint), (*object)(what.Tools), (*object)(what.Vocabulary),
	} {
		used.done()
	}
	if status != C.PARLANCE_OK {
		return nil, failed(status, failure)
	}
	return taken(out), nil
}
