// Laws of reading by a structural tag:
//
//   membership  a text is read completely if and only if the tag's grammar
//               accepts it; one that does not fit is read as far as the
//               grammar goes
//   chunking    however a text is cut, events, message and tree are the same
//   account     every byte is in the root's span or in the rest
//
// over the recorded vectors of structural tags, their mutations and prefixes.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/tag_parser.h"
#include "support/conformance.h"
#include "support/tag_record.h"
#include "support/vectors.h"

namespace parlance::tag_parser_law_test {
namespace {

using testing::record_tag_parse;
using testing::TagRecord;

struct Both {
  Grammar grammar;
  CompiledTag program;
};

Result<Both> make_both(const json::Value& spec) {
  Result<StructuralTag> tag = StructuralTag::from_value(spec);
  if (!tag) return std::move(tag).error();
  Result<Grammar> grammar = Grammar::from_structural_tag(*tag);
  Result<CompiledTag> program = CompiledTag::compile(*tag);
  EXPECT_EQ(grammar.has_value(), program.has_value());
  if (!grammar) {
    if (!program) {
      EXPECT_EQ(program.error().code, grammar.error().code);
    }
    return std::move(grammar).error();
  }
  if (!program) return std::move(program).error();
  return Both{*grammar, *program};
}

void expect_equal(const TagRecord& a, const TagRecord& b) {
  EXPECT_EQ(json::dump(a.tree), json::dump(b.tree));
  EXPECT_EQ(json::dump(a.fields), json::dump(b.fields));
  EXPECT_EQ(a.events, b.events);
}

// The texts of chunks and of delimiters stand in order, no byte in two of them.
void expect_apart(const TagRecord& record, std::size_t size) {
  const std::regex of_chunk(R"( (\d+)\.\.(\d+)$)");
  const std::regex of_region(R"(^region_\w+ \w+ (\d+)\.\.(\d+))");
  std::size_t at = 0;
  for (const std::string& line : record.events) {
    const bool chunk = line.starts_with("text ");
    std::smatch span;
    ASSERT_TRUE(std::regex_search(line, span, chunk ? of_chunk : of_region))
        << line;
    EXPECT_LE(at, std::stoul(span[1])) << line;
    EXPECT_LE(std::stoul(span[1]), std::stoul(span[2])) << line;
    at = std::stoul(span[2]);
  }
  EXPECT_LE(at, size);
}

// Where a tag does not fit, reading resumes after it: nothing before it
// changes, and the events are the same however the text is cut.
void check_recovery(const Both& both, std::string_view text,
                    const TagRecord& strict, std::mt19937& random) {
  const TagRecord whole = record_tag_parse(both.program, text);
  EXPECT_EQ(whole.complete, strict.complete);
  if (strict.complete) return expect_equal(whole, strict);
  expect_apart(whole, text.size());
  const std::string_view rest = whole.tree.find("rest")->as_string();
  const std::string_view all = strict.tree.find("rest")->as_string();
  EXPECT_LE(rest.size(), all.size());
  EXPECT_GE(whole.tree.find("diagnostics")->size(),
            strict.tree.find("diagnostics")->size());
  EXPECT_EQ(json::dump(whole.tree.find("diagnostics")->items()[0]),
            json::dump(strict.tree.find("diagnostics")->items()[0]));
  testing::check_spans(*whole.tree.find("format"), 0,
                       static_cast<std::int64_t>(text.size()));
  expect_equal(whole,
               record_tag_parse(both.program, text, testing::all_cuts(text)));
  if (text.size() > 2) {
    const std::size_t cut = 1 + random() % (text.size() - 1);
    expect_equal(whole, record_tag_parse(both.program, text, {cut}));
  }
}

void check(const Both& both, std::string_view text, std::mt19937& random) {
  SCOPED_TRACE(json::dump(json::Value(text)));
  const StreamOptions strict{.recover = Recover::kNo};
  const TagRecord whole = record_tag_parse(both.program, text, {}, strict);
  check_recovery(both, text, whole, random);
  const std::optional<Rejection> rejection = both.grammar.explain(text);
  EXPECT_EQ(whole.complete, !rejection);
  const json::Value& span = *whole.tree.find("format")->find("span");
  const auto end = static_cast<std::size_t>(span.items()[1].as_int());
  // A character that does not fit goes to the rest as a whole.
  const std::size_t fits = rejection ? rejection->offset : text.size();
  const std::size_t expected_end =
      rejection ? fits - base::begun_character(text.substr(0, fits)) : fits;
  EXPECT_EQ(end, expected_end);
  EXPECT_EQ(whole.tree.find("rest")->size(), 0u);
  EXPECT_EQ(whole.tree.find("rest")->as_string().empty(), end == text.size());
  EXPECT_EQ(whole.tree.find("diagnostics")->size() == 0, whole.complete);
  testing::check_spans(*whole.tree.find("format"), 0,
                       static_cast<std::int64_t>(end));
  expect_equal(whole, record_tag_parse(both.program, text,
                                       testing::all_cuts(text), strict));
  if (text.size() > 2) {
    const std::size_t cut = 1 + random() % (text.size() - 1);
    expect_equal(whole, record_tag_parse(both.program, text, {cut}, strict));
  }
}

void run(const std::string& file) {
  const json::Value rows = testing::vectors("structural_tag/" + file);
  std::map<std::string, std::unique_ptr<Result<Both>>> known;
  std::mt19937 random(1);
  for (const json::Value& row : rows.items()) {
    const json::Value& spec = *row.find("spec");
    auto& both = known[json::dump(spec)];
    if (!both) both = std::make_unique<Result<Both>>(make_both(spec));
    SCOPED_TRACE(std::string(row.find("id")->as_string()) + " " +
                 json::dump(spec, {.ascii = false}));
    ASSERT_TRUE(*both) << both->error().to_string();
    const std::string text = testing::bytes_of(*row.find("instance"));
    check(**both, text, random);
    check(**both, text.substr(0, random() % (text.size() + 1)), random);
    check(**both, text + "x", random);
    if (!text.empty()) {
      std::string other = text;
      other[random() % other.size()] = "<>{} a\xC3\x80"[random() % 8];
      check(**both, other, random);
    }
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(TagParserLaw, Formats) { run("formats.json"); }
TEST(TagParserLaw, Probes) { run("probes.json"); }
TEST(TagParserLaw, SeedExamples) { run("seed_examples.json"); }
TEST(TagParserLaw, XmlStyles) { run("xml_styles.json"); }
TEST(TagParserLaw, BuiltinInstances) { run("builtin_instances.json"); }
TEST(TagParserLaw, Mutations) { run("mutations.json"); }

}  // namespace
}  // namespace parlance::tag_parser_law_test
