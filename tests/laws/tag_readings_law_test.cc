// Which reading is taken, on small worlds: random structural tags over two
// letters, all short texts.
//
//   first       the tree is that of the first reading, of all of them in the
//               documented order (support/slow_tag_parser.h)
//   membership  there is one if and only if the tag's grammar accepts the text
//   tokens      the same for sequences of tokens, judged by the slow
//               recogniser over the tag's rules
//   linear      a byte costs the same however many came before it

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/access.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/tag_parser.h"
#include "support/random_tags.h"
#include "support/sanitized.h"
#include "support/slow_tag_parser.h"
#include "support/tag_reader.h"
#include "support/tag_record.h"

namespace parlance::tag_readings_law_test {
namespace {

using testing::RandomTags;

std::vector<std::string> all_texts(std::size_t longest) {
  std::vector<std::string> out = {""};
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i].size() == longest) break;
    for (const char letter : {'a', 'b'}) out.push_back(out[i] + letter);
  }
  return out;
}

void run_random(std::uint32_t first, std::uint32_t count, std::size_t longest) {
  const std::vector<std::string> texts = all_texts(longest);
  std::size_t accepted = 0;
  std::size_t compared = 0;
  for (std::uint32_t seed = first; seed < first + count; ++seed) {
    const json::Value spec = RandomTags(seed, false).envelope();
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + json::dump(spec));
    const Result<StructuralTag> tag = StructuralTag::from_value(spec);
    if (!tag) continue;
    const Result<Grammar> grammar = Grammar::from_structural_tag(*tag);
    const Result<CompiledTag> program = CompiledTag::compile(*tag);
    ASSERT_EQ(grammar.has_value(), program.has_value());
    if (!grammar) continue;
    testing::SlowTagParser slow(*detail::Access::impl(*tag));
    for (const std::string& text : texts) {
      const bool fits = grammar->accepts(text);
      const json::Value tree =
          parse_by_tag(*program, text, {.recover = Recover::kNo});
      ASSERT_EQ(tree.find("complete")->as_bool(), fits) << text;
      const json::Value& span = *tree.find("format")->find("span");
      const std::optional<Rejection> why = grammar->explain(text);
      ASSERT_EQ(span.items()[1].as_int(),
                static_cast<std::int64_t>(why ? why->offset : text.size()))
          << text;
      const testing::TagRecord cut = testing::record_tag_parse(
          *program, text, testing::all_cuts(text), {.recover = Recover::kNo});
      ASSERT_EQ(json::dump(cut.tree), json::dump(tree)) << text;
      // Recovery after text that does not fit changes nothing before it.
      const json::Value on = parse_by_tag(*program, text);
      ASSERT_EQ(json::dump(testing::record_tag_parse(*program, text,
                                                     testing::all_cuts(text))
                               .tree),
                json::dump(on))
          << text;
      if (fits) {
        ASSERT_EQ(json::dump(on), json::dump(tree)) << text;
      }
      if (!fits) continue;
      ++accepted;
      const std::optional<std::string> wanted = slow.read(text);
      if (!wanted) continue;
      ++compared;
      ASSERT_EQ(testing::written_tree(*tree.find("format")), *wanted) << text;
    }
  }
  EXPECT_GT(accepted, count);
  EXPECT_GT(compared, accepted / 2);
}

TEST(TagReadingsLaw, FirstReading) { run_random(1, testing::cases(800), 5); }
TEST(TagReadingsLaw, LongRunFirstReading) { run_random(100000, 20000, 6); }

void run_tokens(std::uint32_t first, std::uint32_t count, std::size_t longest) {
  const std::vector<std::string> words = {"a", "b", "ab", "ba"};
  std::vector<TokenEntry> entries;
  for (std::size_t i = 0; i < words.size(); ++i) {
    entries.push_back({static_cast<TokenId>(i), words[i]});
  }
  const Vocabulary vocabulary = *Vocabulary::from_table(entries);
  CompiledTagOptions options;
  options.vocabulary = &vocabulary;
  StreamOptions reading;
  reading.vocabulary = &vocabulary;
  std::vector<std::vector<TokenId>> sequences = {{}};
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    if (sequences[i].size() == longest) break;
    for (TokenId id = 0; id < words.size(); ++id) {
      sequences.push_back(sequences[i]);
      sequences.back().push_back(id);
    }
  }
  grammar::LowerOptions lowering;
  lowering.tokens.vocabulary_size = static_cast<std::uint32_t>(words.size());
  std::size_t accepted = 0;
  for (std::uint32_t seed = first; seed < first + count; ++seed) {
    const json::Value spec = RandomTags(seed, true).envelope();
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + json::dump(spec));
    const Result<StructuralTag> tag = StructuralTag::from_value(spec);
    if (!tag) continue;
    const auto reader = testing::make_tag_reader(spec, lowering);
    const Result<CompiledTag> program = CompiledTag::compile(*tag, options);
    ASSERT_EQ(reader.has_value(), program.has_value());
    if (!program) continue;
    for (const std::vector<TokenId>& ids : sequences) {
      auto place = reader->recogniser->start();
      bool alive = true;
      for (const TokenId id : ids) {
        alive = alive && reader->recogniser->feed_token(place, id, words[id]);
      }
      const bool fits = alive && reader->recogniser->can_end(place);
      TagParser whole(*program, reading);
      whole.feed_tokens(ids);
      whole.finalize();
      TagParser single(*program, reading);
      for (const TokenId id : ids) {
        single.feed_tokens(std::span<const TokenId>(&id, 1));
      }
      single.finalize();
      std::string shown;
      for (const TokenId id : ids) shown += words[id] + " ";
      ASSERT_EQ(whole.complete(), fits) << shown;
      ASSERT_EQ(json::dump(whole.tree()), json::dump(single.tree())) << shown;
      accepted += fits;
    }
  }
  EXPECT_GT(accepted, count);
}

TEST(TagReadingsLaw, Tokens) { run_tokens(1, testing::cases(500), 3); }
TEST(TagReadingsLaw, LongRunTokens) { run_tokens(100000, 5000, 4); }

// --- Size --------------------------------------------------------------------

// Of this process, whatever else runs beside it.
double seconds(const CompiledTag& program, const std::string& text,
               std::size_t chunk) {
  const std::clock_t begin = std::clock();
  TagParser parser(program);
  for (std::size_t at = 0; at < text.size(); at += chunk) {
    parser.feed(std::string_view(text).substr(at, chunk));
  }
  parser.finalize();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// Quadratic work would be fifty times slower for a byte of the long text.
TEST(TagReadingsLaw, Linear) {
  struct Row {
    std::string_view format;
    std::string_view unit;
  };
  const Row rows[] = {
      {R"({"type": "star", "content": {"type": "optional", "content":
           {"type": "star", "content": {"value": "ab"}}}})",
       "ab"},
      {R"({"elements": [{"type": "any_text"}, {"value": "x"},
           {"type": "any_text"}, {"value": "y"}]})",
       "abx"},
      {R"({"type": "or", "elements": [
           {"type": "star", "content": {"value": "ab"}},
           {"elements": [{"type": "star", "content": {"value": "ab"}},
                         {"value": "x"}]}]})",
       "ab"},
      {R"({"type": "triggered_tags", "triggers": ["<"], "tags": [
           {"begin": "<a>", "content": {"json_schema": true}, "end": ";"}]})",
       R"(text <a>{"k": [1, "v"]};)"},
      {R"x({"type": "repeat", "min": 3, "max": -1, "content":
           {"type": "regex", "pattern": "(a|ab)(b?)"}})x",
       "abab"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.format);
    const Result<StructuralTag> tag = StructuralTag::from_json(
        R"({"format": )" + std::string(row.format) + "}");
    ASSERT_TRUE(tag);
    const Result<CompiledTag> program = CompiledTag::compile(*tag);
    ASSERT_TRUE(program);
    std::string text;
    while (text.size() < 2000) text += row.unit;
    std::string longer;
    for (int i = 0; i < 50; ++i) longer += text;
    for (const std::size_t chunk : {std::size_t{1} << 20, std::size_t{16}}) {
      double best = 1;
      double worst = 1e9;
      for (int i = 0; i < 2; ++i) {
        best = std::min(best, seconds(*program, text, chunk));
        worst = std::min(worst, seconds(*program, longer, chunk));
      }
      EXPECT_LT(worst, 50 * best * 8 + 0.05) << chunk;
    }
  }
}

}  // namespace
}  // namespace parlance::tag_readings_law_test
