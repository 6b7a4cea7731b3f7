// What a parser keeps: without a message only what is undecided; with one, the
// message and a few bytes for every byte of the text, from which the tree is
// made when someone asks for it.
//
// Bytes are counted where they are allocated, not measured.

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "support/sanitized.h"

namespace {

std::size_t live_bytes = 0;
std::size_t peak_bytes = 0;

}  // namespace

#if !PARLANCE_SANITIZED

void* operator new(std::size_t size) {
  void* const block = std::malloc(size);
  if (block == nullptr) std::abort();
  live_bytes += malloc_usable_size(block);
  peak_bytes = std::max(peak_bytes, live_bytes);
  return block;
}
void operator delete(void* block) noexcept {
  if (block != nullptr) live_bytes -= malloc_usable_size(block);
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept {
  operator delete(block);
}

#endif

namespace parlance::tag_memory_test {
namespace {

struct Tag {
  std::string_view name;
  std::string_view format;
  std::string_view unit;  // again and again
  // Bytes of the message for each byte of the text: parts, values.
  double message = 0;
  // Of the region that is open: all of the text is one.
  double open = 0;
};

const std::vector<Tag> kTags = {
    {"SmallTags", R"({"type": "triggered_tags", "triggers": ["<d>"], "tags": [
         {"begin": "<d>", "end": "</d>", "content": {"type": "json_schema",
          "json_schema": {"type": "integer"}}}]})",
     "<d>1</d>", 40},
    {"TagsAndText", R"({"type": "triggered_tags", "triggers": ["<c>"], "tags": [
         {"begin": "<c>", "end": "</c>", "content": {"type": "json_schema",
          "json_schema": {"type": "object"}}}]})",
     R"(<c>{"a":[1,"x"]}</c>ab)", 36},
    {"Calls", R"({"type": "triggered_tags", "triggers": ["<c>"], "tags": [
         {"begin": "<c>", "end": "</c>", "tool": "get", "content":
          {"type": "json_schema", "json_schema": {"type": "object"}}}]})",
     R"(<c>{"city": "Bern", "days": 3}</c>)", 30},
    {"Text", R"({"type": "any_text"})", "some text, and more ", 6, 4},
    {"Ambiguous", R"({"type": "star", "content": {"type": "or", "elements": [
         {"type": "regex", "pattern": "a*"}, {"type": "regex", "pattern": "a"},
         {"type": "any_text"}]}})",
     "aaaa", 6, 4},
    {"Items", R"({"type": "star", "content": {"type": "or", "elements": [
         {"type": "const_string", "value": "ab"},
         {"type": "regex", "pattern": "[0-9]"}]}})",
     "ab1", 36},
};

std::string text_of(const Tag& tag, std::size_t size) {
  std::string text;
  while (text.size() < size) text += tag.unit;
  return text;
}

class EachTag : public ::testing::TestWithParam<Tag> {
 protected:
  void SetUp() override {
    if (testing::kSanitized) GTEST_SKIP() << "memory is the sanitizer's";
  }

  static CompiledTag program() {
    const Result<StructuralTag> tag = StructuralTag::from_json(
        R"({"format": )" + std::string(GetParam().format) + '}');
    CompiledTag program = *CompiledTag::compile(*tag);
    // The tables of its grammars are made when they are first used.
    TagParser parser(program);
    parser.feed(text_of(GetParam(), 4096));
    return program;
  }
};

constexpr std::size_t kSize = std::size_t{1} << 18;

TEST_P(EachTag, KeepsWhatIsUndecided) {
  const CompiledTag program = this->program();
  const std::string text = text_of(GetParam(), kSize);
  StreamOptions options;
  options.keep_message = false;
  const std::size_t before = live_bytes;
  peak_bytes = live_bytes;
  TagParser parser(program, options);
  for (std::size_t at = 0; at < text.size(); at += 64) {
    parser.feed(std::string_view(text).substr(at, 64));
  }
  parser.finalize();
  EXPECT_TRUE(parser.message().complete);
  const double most = static_cast<double>(peak_bytes - before) /
                      static_cast<double>(text.size());
  EXPECT_LT(most, GetParam().open + 0.25);
}

TEST_P(EachTag, KeepsTheMessageAndItsText) {
  const CompiledTag program = this->program();
  const std::string text = text_of(GetParam(), kSize);
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{4096}, kSize}) {
    const std::size_t before = live_bytes;
    TagParser parser(program);
    for (std::size_t at = 0; at < text.size(); at += chunk) {
      parser.feed(std::string_view(text).substr(at, chunk));
    }
    parser.finalize();
    parser.finalize();  // the last events are gone as well
    EXPECT_TRUE(parser.message().complete);
    // The log of the tree: at most a record of five bytes for each byte.
    const double kept = static_cast<double>(live_bytes - before) /
                        static_cast<double>(text.size());
    EXPECT_LT(kept, GetParam().message + 10) << chunk;
  }
}

INSTANTIATE_TEST_SUITE_P(TagMemory, EachTag, ::testing::ValuesIn(kTags),
                         [](const auto& tag) {
                           return std::string(tag.param.name);
                         });

}  // namespace
}  // namespace parlance::tag_memory_test
