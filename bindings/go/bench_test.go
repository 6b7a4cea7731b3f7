package parlance_test

import (
	"testing"

	"parlance"
)

// A feed of a token's text, with the copy of its events.
func BenchmarkFeed(b *testing.B) {
	parser := ok(ok(parlance.BuiltIn("qwen3"))(b).NewParser(&parlance.ParserOptions{EventsOnly: true}))(b)
	b.ReportAllocs()
	for b.Loop() {
		ok(parser.Feed("word "))(b)
	}
}

// A mask that is in the cache, of 273 tokens.
func BenchmarkFill(b *testing.B) {
	setup, _ := cases(b)
	compiler := ok(parlance.NewCompiler(vocabularyOf(b, setup), nil))(b)
	matcher := ok(ok(compiler.Compile(parlance.Regex, "[a-z]*", nil))(b).NewMatcher(nil))(b)
	mask := make([]int32, compiler.MaskWords())
	b.ReportAllocs()
	for b.Loop() {
		ok(matcher.Fill(mask))(b)
	}
}
