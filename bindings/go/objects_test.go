package parlance_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"parlance"
)

func letters(t testing.TB) *parlance.Vocabulary {
	return ok(parlance.NewVocabulary(parlance.Tokens{
		Tokens: []string{"a", "b", "<end>"}, StopIDs: []uint32{2}}))(t)
}

func refused(t *testing.T, err error, code parlance.Code) {
	t.Helper()
	if !errors.Is(err, code) {
		t.Errorf("%v is not %v", err, code)
	}
}

// memory is the size of this process in kilobytes after what nothing refers to was
// freed, or 0 where nobody says it.
func memory() int {
	for range 5 {
		runtime.GC()
		time.Sleep(10 * time.Millisecond) // for the cleanups, which are a goroutine's
	}
	text, _ := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.Atoi(fields[1])
	return pages * os.Getpagesize() / 1024
}

// collect frees what nothing refers to: a goroutine does so after the collection.
func collect() {
	runtime.GC()
	time.Sleep(10 * time.Millisecond)
}

// A hundred thousand objects: memory stays as it is after the first ones, with
// Close and without it.
func TestObjectsLeaveNothing(t *testing.T) {
	vocabulary := letters(t)
	compiler := ok(parlance.NewCompiler(vocabulary, nil))(t)
	format := ok(parlance.BuiltIn("qwen3"))(t)
	constraint := ok(compiler.Compile(parlance.Regex, "ab*", nil))(t)
	for _, closed := range []bool{true, false} {
		rounds, before := 5_000, 0
		if testing.Short() {
			rounds = 1_000
		}
		for round := range rounds {
			// What is not closed waits for a collection.
			if !closed && round%20 == 0 {
				collect()
			}
			if round == rounds/2 {
				before = memory()
			}
			parser := ok(format.NewParser(nil))(t)
			ok(parser.Feed("<think>Bern.</think>Hi"))(t)
			chat := ok(format.NewChat(nil))(t)
			ok(chat.Feed(parser))(t)
			matcher := ok(constraint.NewMatcher(nil))(t)
			ok(matcher.Accept(0))(t)
			copied := ok(matcher.Copy())(t)
			tools := ok(parlance.NewTools(json.RawMessage("[]")))(t)
			encoding := ok(vocabulary.WithEncoder(func(text string) []uint32 { return nil }))(t)
			batch := ok(parlance.NewBatch(1))(t)
			ok(batch.Add(copied, nil))(t)
			sse := ok(parlance.NewSSE())(t)
			again := ok(parlance.BuiltIn("qwen3"))(t)
			_, err := parlance.BuiltIn("qwen_4711")
			refused(t, err, parlance.CodeUnknownFormat)
			if closed {
				for _, one := range []io.Closer{parser, chat, matcher, copied, tools, encoding, batch, sse, again} {
					one.Close()
				}
			}
		}
		collect()
		if grown := memory() - before; grown > 8192 {
			t.Errorf("memory grew by %d kB, closed %v", grown, closed)
		}
	}
}

// Immutable objects are shared; a parser moves from one goroutine to another.
func TestSharing(t *testing.T) {
	format := ok(parlance.BuiltIn("qwen3"))(t)
	compiler := ok(parlance.NewCompiler(letters(t), nil))(t)
	table := ok(compiler.NewTable(16))(t)
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for _, text := range []string{"ab", "a*", "(a|b)*"} {
				parser := ok(format.NewParser(nil))(t)
				ok(parser.Feed(text))(t)
				ok(parser.Finalize())(t)
				if !strings.Contains(string(ok(parser.ChatMessage())(t)), text) {
					t.Error("the message has no ", text)
				}
				matcher := ok(ok(compiler.Compile(parlance.Regex, text, nil))(t).NewMatcher(nil))(t)
				ok(table.IDOf(matcher))(t)
				if !ok(matcher.Accept(0))(t) {
					t.Error("a is not accepted")
				}
				runtime.GC()
			}
		}()
	}
	all.Wait()
	if rows, _, _ := table.Size(); rows == 0 {
		t.Error("the table is empty")
	}
}

// The collector runs while calls are made: an object lives until its call returns.
func TestCollector(t *testing.T) {
	stop := make(chan struct{})
	var all sync.WaitGroup
	all.Add(1)
	go func() {
		defer all.Done()
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	for range 200 {
		// Nothing refers to the format after its pointer was read.
		parser := ok(ok(parlance.BuiltIn("llama3_json"))(t).NewParser(nil))(t)
		ok(parser.Feed("Hi"))(t)
		ok(ok(parlance.BuiltIn("qwen3"))(t).Describe())(t)
	}
	close(stop)
	all.Wait()
}

func TestMisuse(t *testing.T) {
	format := ok(parlance.BuiltIn("qwen3"))(t)
	parser := ok(format.NewParser(nil))(t)
	_, err := parser.FeedTokens([]uint32{1})
	refused(t, err, parlance.CodeUsage)
	ok(parser.Finalize())(t)
	_, err = parser.Feed("x")
	refused(t, err, parlance.CodeFinalized)
	if !parser.Finalized() {
		t.Error("the parser is not finalized")
	}
	parser.Close()
	parser.Close()
	_, err = parser.Feed("x")
	refused(t, err, parlance.CodeNull)
	_, err = (*parlance.Format)(nil).Describe()
	refused(t, err, parlance.CodeNull)
	_, err = new(parlance.Matcher).Fill(nil)
	refused(t, err, parlance.CodeNull)
	_, err = format.Tag(map[string]int{"tool": 1}, nil)
	refused(t, err, parlance.CodeUnknownKey)
	if wrong := err.(*parlance.Error); wrong.Path != "/tool" || !strings.HasPrefix(wrong.Error(), "/tool: ") {
		t.Error(wrong)
	}
	_, err = format.Tag(math.Inf(1), nil)
	if err == nil {
		t.Error("infinity is no request")
	}
	if parlance.CodeBusy.Error() != "busy" {
		t.Error(parlance.CodeBusy)
	}

	compiler := ok(parlance.NewCompiler(letters(t), nil))(t)
	matcher := ok(ok(compiler.Compile(parlance.Regex, "ab*", nil))(t).NewMatcher(nil))(t)
	_, err = matcher.Fill(nil)
	refused(t, err, parlance.CodeBadSize)
	_, err = matcher.FillTree(parlance.DraftTree{Tokens: []int64{0}}, make([]int32, 9), 1, 0, nil)
	refused(t, err, parlance.CodeBadSize)
	tree := parlance.DraftTree{FirstChild: []int64{-1}, NextSibling: []int64{-1}, Tokens: []int64{0}}
	_, err = matcher.FillTree(tree, make([]int32, 9), 1, 0, []float32{})
	refused(t, err, parlance.CodeBadArgument)
	refused(t, parlance.FillMany([]*parlance.Matcher{matcher}, []int{}, nil, 1, 1), parlance.CodeBadArgument)
	_, err = matcher.Rollback(-1)
	refused(t, err, parlance.CodeBadArgument)
	table := ok(compiler.NewTable(4))(t)
	_, _, err = table.Rows(1, 0)
	refused(t, err, parlance.CodeBadArgument)
	if rows, _, err := table.Rows(0, 1<<40); rows != nil || err != nil {
		t.Error(rows, err)
	}
}

// A closed object is not like none where none is allowed.
func TestClosedArguments(t *testing.T) {
	format := ok(parlance.BuiltIn("qwen3"))(t)
	vocabulary := letters(t)
	compiler := ok(parlance.NewCompiler(vocabulary, nil))(t)
	tools := ok(parlance.NewTools(json.RawMessage("[]")))(t)
	table := ok(compiler.NewTable(4))(t)
	parser := ok(format.NewParser(nil))(t)
	chat := ok(format.NewChat(nil))(t)
	batch := ok(parlance.NewBatch(1))(t)
	tag := ok(format.Tag(nil, nil))(t)
	grammar := ok(parlance.NewGrammar(parlance.Regex, "a", nil, nil))(t)
	for _, object := range []io.Closer{vocabulary, compiler, tools, table, parser, grammar} {
		if err := object.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, options := range []parlance.ParserOptions{{Tools: tools}, {Vocabulary: vocabulary}, {Tools: new(parlance.Tools)}} {
		_, err := format.NewParser(&options)
		refused(t, err, parlance.CodeNull)
		_, err = format.Parse("x", &options)
		refused(t, err, parlance.CodeNull)
	}
	_, err := format.Tag(nil, vocabulary)
	refused(t, err, parlance.CodeNull)
	_, err = format.Check(nil, vocabulary)
	refused(t, err, parlance.CodeNull)
	_, err = parlance.NewGrammar(parlance.Regex, "a", vocabulary, nil)
	refused(t, err, parlance.CodeNull)
	_, err = tag.Grammar(vocabulary, nil)
	refused(t, err, parlance.CodeNull)
	_, err = tag.Compile(nil, compiler, nil)
	refused(t, err, parlance.CodeNull)
	_, err = parlance.AnyOf(grammar)
	refused(t, err, parlance.CodeNull)
	_, err = chat.End(parlance.EndStop, parser, nil)
	refused(t, err, parlance.CodeNull)
	_, err = batch.Add(nil, parser)
	refused(t, err, parlance.CodeNull)
	refused(t, batch.Step(nil, nil, 0, table, nil), parlance.CodeNull)
	_, err = parlance.Explain(parlance.Explanation{Format: format, Tools: tools, Text: "x"})
	refused(t, err, parlance.CodeNull)
	if vocabulary.Size() != 0 || compiler.MaskWords() != 0 {
		t.Error("a closed object has a size")
	}
}

// Two goroutines that use one parser at the same time get an error, and nothing
// breaks.
func TestOneCallAtATime(t *testing.T) {
	parser := ok(ok(parlance.BuiltIn("qwen3"))(t).NewParser(nil))(t)
	text := strings.Repeat("Bern. ", 10_000)
	var all sync.WaitGroup
	for range 4 {
		all.Add(1)
		go func() {
			defer all.Done()
			for range 50 {
				events, err := parser.Feed(text)
				if err != nil {
					refused(t, err, parlance.CodeBusy)
				}
				for _, event := range events {
					if event.Kind == parlance.RegionChunk && event.Text != text {
						t.Error("the events are another call's")
					}
				}
				if _, err := parser.Held(); err != nil {
					refused(t, err, parlance.CodeBusy)
				}
			}
		}()
	}
	all.Wait()
}

// A step of a batch is a call of the parsers of its rows.
func TestABatchAndItsParsers(t *testing.T) {
	vocabulary := letters(t)
	format := ok(parlance.LoadFormat(json.RawMessage(`{"start_anchor": "<A>", "fields": {"content": {}}}`), ""))(t)
	parser := ok(format.NewParser(&parlance.ParserOptions{Vocabulary: vocabulary}))(t)
	batch := ok(parlance.NewBatch(1))(t)
	row := ok(batch.Add(nil, parser))(t)
	long, short := make([]uint32, 1000), []uint32{1, 1}
	var all sync.WaitGroup
	all.Add(2)
	check := func(events []parlance.Event, err error, text string) {
		if err != nil {
			refused(t, err, parlance.CodeBusy)
			return
		}
		for _, event := range events {
			if event.Kind == parlance.RegionChunk && event.Text != text {
				t.Error("the events are another call's")
			}
		}
	}
	go func() {
		defer all.Done()
		for range 500 {
			steps := []parlance.Step{{Row: row, Tokens: long, MaskRow: -1}}
			err := batch.Step(steps, nil, 0, nil, nil)
			check(steps[0].Events, err, strings.Repeat("a", len(long)))
		}
	}()
	go func() {
		defer all.Done()
		for range 500 {
			events, err := parser.FeedTokens(short)
			check(events, err, "bb")
		}
	}()
	all.Wait()
	if err := batch.Remove(row); err != nil {
		t.Error(err)
	}
	ok(parser.FeedTokens(short))(t)
}

// A matcher of "abab" whose vocabulary asks encode.
func encoded(t *testing.T, encode func(string) []uint32) *parlance.Matcher {
	end := []uint32{3}
	letters := ok(parlance.NewVocabulary(parlance.Tokens{
		Tokens: []string{"a", "b", "ab", "<end>"}, ControlIDs: end, StopIDs: end}))(t)
	compiler := ok(parlance.NewCompiler(ok(letters.WithEncoder(encode))(t), nil))(t)
	return ok(ok(compiler.Compile(parlance.Regex, "abab", nil))(t).NewMatcher(nil))(t)
}

// What a call uses is freed after the call.
func TestCloseInACall(t *testing.T) {
	var matcher *parlance.Matcher
	matcher = encoded(t, func(string) []uint32 {
		if err := matcher.Close(); err != nil {
			t.Error(err)
		}
		return []uint32{2, 2}
	})
	if forced := ok(matcher.ForcedTokens())(t); !slices.Equal(forced, []uint32{2, 2}) {
		t.Error(forced)
	}
	_, _, err := matcher.State()
	refused(t, err, parlance.CodeNull)
}

// The same of what many goroutines use.
func TestCloseWhileOthersCall(t *testing.T) {
	for range 50 {
		format := ok(parlance.BuiltIn("qwen3"))(t)
		var all sync.WaitGroup
		for range 4 {
			all.Add(1)
			go func() {
				defer all.Done()
				for {
					if _, err := format.Parse("Bern.", nil); err != nil {
						refused(t, err, parlance.CodeNull)
						return
					}
				}
			}()
		}
		if err := format.Close(); err != nil {
			t.Error(err)
		}
		all.Wait()
	}
}

// A function that a call calls may call in turn, and so may others meanwhile.
func TestCallsInACall(t *testing.T) {
	format := ok(parlance.BuiltIn("qwen3"))(t)
	matcher := encoded(t, func(string) []uint32 {
		var all sync.WaitGroup
		parse := func() {
			defer all.Done()
			for range 20 {
				result, err := format.Parse("<think>a</think>b", nil)
				if err != nil || !strings.Contains(string(result), `"content":"b"`) {
					t.Error(string(result), err)
				}
			}
		}
		all.Add(4)
		for range 3 {
			go parse()
		}
		parse()
		all.Wait()
		return []uint32{2, 2}
	})
	for range 2 {
		if forced := ok(matcher.ForcedTokens())(t); !slices.Equal(forced, []uint32{2, 2}) {
			t.Error(forced)
		}
	}
}

// An encoder that does not return leaves nothing behind that is busy.
func TestEncodersThatEnd(t *testing.T) {
	for _, end := range []func(){func() { panic("no tokenizer") }, runtime.Goexit} {
		matcher := encoded(t, func(string) []uint32 {
			end()
			return []uint32{2, 2}
		})
		for range 2 {
			if forced := ok(matcher.ForcedTokens())(t); len(forced) != 0 {
				t.Error(forced)
			}
		}
		if !ok(matcher.Accept(2))(t) {
			t.Error("the matcher cannot be used after its encoder")
		}
	}
}

// NUL is a byte like others in what a person wrote, and no end of a path.
func TestNUL(t *testing.T) {
	_, err := ok(parlance.BuiltIn("qwen3"))(t).Tag(map[string]any{"a\x00b": 1}, nil)
	var found *parlance.Error
	if !errors.As(err, &found) || found.Path != "/a\x00b" {
		t.Error(err)
	}
	if strings.Count(err.Error(), "prefix") != 1 {
		t.Error("an option is named twice: ", err)
	}
	_, err = parlance.LoadVocabulary("objects_test.go\x00.json")
	refused(t, err, parlance.CodeIO)
}

func TestMatchers(t *testing.T) {
	vocabulary := ok(letters(t).WithEncoder(func(text string) (ids []uint32) {
		for _, letter := range text {
			ids = append(ids, uint32(letter-'a'))
		}
		return ids
	}))(t)
	compiler := ok(parlance.NewCompiler(vocabulary, map[string]int{"cache_bytes": 1 << 20}))(t)
	constraint := ok(compiler.Compile(parlance.Regex, "abab(a|b)", nil))(t)
	constraint = ok(compiler.ReadConstraint(ok(constraint.Bytes())(t)))(t)
	half := 0.5
	matcher := ok(constraint.NewMatcher(&parlance.MatcherOptions{DefaultTemperature: &half}))(t)
	if ok(matcher.Temperature())(t) != half {
		t.Error("another temperature")
	}
	if ids := ok(matcher.ForcedTokens())(t); len(ids) != 4 || ids[1] != 1 {
		t.Error(ids)
	}
	if text := ok(matcher.ForcedText(3))(t); text != "aba" {
		t.Error(text)
	}
	if n := ok(matcher.AcceptTokens([]uint32{0, 1, 1}))(t); n != 2 {
		t.Error(n)
	}
	if ok(matcher.Rollback(5))(t) || !ok(matcher.Rollback(1))(t) {
		t.Error("rollback")
	}
	steps, flags, err := matcher.State()
	if steps != 1 || flags != 0 || err != nil || matcher.Failure() != nil {
		t.Error(steps, flags, err)
	}
	other := ok(matcher.Copy())(t)
	ok(0, other.Reset())(t)
	masks := make([]int32, 2)
	if err := parlance.FillMany([]*parlance.Matcher{matcher, other}, []int{1, 0}, masks, 1, 2); err != nil {
		t.Fatal(err)
	}
	if masks[0] != 1 || masks[1] != 2 {
		t.Error(masks)
	}
	tree := parlance.DraftTree{FirstChild: []int64{1, -1}, NextSibling: []int64{-1, -1}, Tokens: []int64{0, 0}}
	warm := make([]float32, 2)
	if n := ok(other.FillTree(tree, masks, 1, time.Second, warm))(t); n != 2 || warm[1] != 0.5 || masks[0] != 1 || masks[1] != 2 {
		t.Error(n, warm, masks)
	}
	table := ok(compiler.NewTable(4))(t)
	if id := ok(table.IDOf(matcher))(t); id != 0 {
		t.Error(id)
	}
	rows, words, err := table.Rows(0, 1)
	if err != nil || words != 1 || len(rows) != 1 || rows[0] != 2 {
		t.Error(rows, words, err)
	}
	ok(0, table.Clear())(t)
	if constrains := ok(matcher.Fill(masks))(t); !constrains || masks[0] != 2 {
		t.Error(masks)
	}
	if string(ok(matcher.Captures())(t)) != "[]" {
		t.Error("captures")
	}
	ok(compiler.Statistics())(t)
	ok(0, compiler.ClearCache())(t)
}

func TestBatch(t *testing.T) {
	vocabulary := letters(t)
	compiler := ok(parlance.NewCompiler(vocabulary, nil))(t)
	matcher := ok(ok(compiler.Compile(parlance.Regex, "ab*", nil))(t).NewMatcher(nil))(t)
	parser := ok(ok(parlance.BuiltIn("qwen3"))(t).NewParser(&parlance.ParserOptions{Vocabulary: vocabulary}))(t)
	batch := ok(parlance.NewBatch(2))(t)
	row := ok(batch.Add(matcher, parser))(t)
	masks := make([]int32, 1)
	steps := []parlance.Step{{Row: row, Tokens: []uint32{0}}}
	ok(0, batch.Step(steps, masks, 1, nil, nil))(t)
	step := steps[0]
	if step.Accepted != 1 || step.Filled != 1 || masks[0] != 6 || step.Flags != parlance.StepConstrained {
		t.Error(step, masks)
	}
	if len(step.Events) != 2 || step.Events[1].Text != "a" || step.Events[1].Field != "content" {
		t.Error(step.Events)
	}
	refused(t, batch.Step([]parlance.Step{{Row: 9}}, masks, 1, nil, nil), parlance.CodeUsage)
	ok(0, batch.Remove(row))(t)
	batch.Close()
}

func TestVocabulary(t *testing.T) {
	vocabulary := letters(t)
	text, kind, err := vocabulary.Token(1)
	if text != "b" || kind != parlance.TokenOrdinary || err != nil || vocabulary.Size() != 3 {
		t.Error(text, kind, err)
	}
	if ids := ok(vocabulary.StopIDs())(t); len(ids) != 1 || ids[0] != 2 {
		t.Error(ids)
	}
	if text := ok(vocabulary.Decode([]uint32{0, 1}))(t); text != "ab" {
		t.Error(text)
	}
	if _, found, err := vocabulary.Special("<none>"); found || err != nil {
		t.Error(found, err)
	}
	path := filepath.Join(t.TempDir(), "saved")
	ok(0, vocabulary.Save(path))(t)
	for _, again := range []*parlance.Vocabulary{
		ok(parlance.LoadVocabulary(path))(t),
		ok(parlance.ReadVocabulary(ok(vocabulary.Bytes())(t)))(t),
		ok(vocabulary.WithStopIDs([]uint32{0}))(t),
	} {
		if again.Size() != 3 {
			t.Error("another size")
		}
	}
	_, err = parlance.VocabularyOfFiles("{", "", "", "")
	if err == nil {
		t.Error("is no vocabulary")
	}
}

func TestFormatsAndTags(t *testing.T) {
	format := ok(parlance.BuiltIn("qwen3"))(t)
	format = ok(parlance.LoadFormat(ok(format.JSON())(t), ""))(t)
	renamed := ok(format.Rename(map[string]string{"thinking": "reasoning"}))(t)
	if !strings.Contains(string(ok(renamed.Describe())(t)), `"reasoning"`) {
		t.Error("no new name")
	}
	ok(format.Template())(t)
	ok(format.Lint())(t)
	if found := ok(format.Check(map[string]int{"most_calls": 20, "walks": 2}, nil))(t); string(found) != "[]" {
		t.Error(string(found))
	}
	tag := ok(format.Tag(nil, nil))(t)
	tag = ok(parlance.NewTag(ok(tag.JSON())(t)))(t)
	ok(tag.Report())(t)
	compiled := ok(tag.Compile(nil, nil, map[string]string{"markers": "text"}))(t)
	parser := ok(compiled.NewParser(nil))(t)
	ok(parser.Feed("Hi"))(t)
	ok(parser.Finalize())(t)
	ok(parser.Tree())(t)
	ok(parser.Result())(t)
	chat := ok(compiled.NewChat(map[string]string{"api": "messages", "output": "json"}))(t)
	if begin := ok(chat.Begin())(t); !json.Valid(begin) {
		t.Error(string(begin))
	}
	grammar := ok(parlance.Sequence(ok(parlance.NewGrammar(parlance.Regex, "a", nil, nil))(t),
		ok(parlance.NewGrammar(parlance.Regex, "b", nil, nil))(t)))(t)
	grammar = ok(parlance.ReadGrammar(ok(grammar.Bytes())(t)))(t)
	if !ok(ok(parlance.AnyOf(grammar))(t).Accepts("ab"))(t).Accepted {
		t.Error("ab is not accepted")
	}
	ok(grammar.Report())(t)
	ok(grammar.Captures("ab"))(t)
	ok(grammar.EBNF())(t)
	page := ok(parlance.Explain(parlance.Explanation{Format: format, Text: "<think>a</think>b", HTML: true}))(t)
	if !strings.Contains(string(page), "<html") {
		t.Error("no page")
	}
	ok(parlance.DetectionSample())(t)
	lost := `I call <tool_call>{"name": "f", "arguments": {}}</tool_call>.`
	if ranked := string(ok(parlance.RankFormats(lost, nil))(t)); !strings.Contains(ranked, `"calls":1`) {
		t.Error(ranked)
	}
	if at := string(ok(parlance.Locate(`{"a": [1, 23]}`, "/a/1"))(t)); at != `{"value":[10,12],"key":null}` {
		t.Error(at)
	}
	read := &parlance.ParserOptions{Prefix: "<think>"}
	if hints := string(ok(format.Hints(lost, read))(t)); !strings.Contains(hints, `"call_in_reasoning"`) {
		t.Error(hints)
	}
	facts := string(ok(format.Explain(lost, read, map[string]any{"name": "mine"}))(t))
	if !strings.Contains(facts, `"name":"mine"`) || !strings.Contains(facts, `"call_in_reasoning"`) {
		t.Error(facts)
	}
	_, err := parlance.Detect(map[string]string{"chat_template": "plain"}, "")
	refused(t, err, parlance.CodeUnknownFormat)
}

func TestSSE(t *testing.T) {
	sse := ok(parlance.NewSSE())(t)
	text := ""
	for _, bytes := range []string{"data: {\"conte", "nt\": \"Hi\"}\n\nda", "ta: {]\n\n"} {
		text += ok(sse.Feed(bytes))(t)
	}
	if faults := ok(sse.Faults())(t); !strings.HasPrefix(string(faults), `[{"line":3,`) {
		t.Error(string(faults))
	}
	if text += ok(sse.Finalize())(t); text != "Hi" {
		t.Error(text)
	}
}

// The iterator ends with the context, with the reader's error, and with the loop.
func TestRead(t *testing.T) {
	format := ok(parlance.BuiltIn("qwen3"))(t)
	ctx, cancel := context.WithCancel(context.Background())
	endless := io.MultiReader(strings.NewReader("<think>a"), reader(func(bytes []byte) (int, error) {
		cancel()
		return copy(bytes, "b"), nil
	}))
	parser := ok(format.NewParser(nil))(t)
	var last error
	text := ""
	for event, err := range parser.Read(ctx, endless) {
		text += event.Text
		last = err
	}
	if text != "ab" || !errors.Is(last, context.Canceled) || parser.Finalized() {
		t.Error(text, last)
	}
	broken := errors.New("broken")
	for _, err := range parser.Read(context.Background(), reader(func([]byte) (int, error) { return 0, broken })) {
		last = err
	}
	if last != broken {
		t.Error(last)
	}
	for range parser.Read(context.Background(), strings.NewReader("c</think>d")) {
		break
	}
	writer := parser.Writer(func(parlance.Event) error { return broken })
	if _, err := writer.Write([]byte("e")); err != broken {
		t.Error(err)
	}
}

type reader func([]byte) (int, error)

func (r reader) Read(bytes []byte) (int, error) { return r(bytes) }
