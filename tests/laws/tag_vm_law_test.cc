// The law of the fast paths: the VM of structural tags with and without them
// (PikeVm::Limits::fast) has the same certain steps and the same certain text
// after every piece of a text, stops at the same byte, and then prefers the
// same parse and expects the same.
//
// Over random tags of a small world, and over the tags of the built-in formats
// with responses that they wrote, whole and damaged, in random pieces.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/access.h"
#include "base/utf8.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "parlance/tools.h"
#include "support/random_tags.h"
#include "support/sanitized.h"
#include "tag_parser/pike_vm.h"
#include "tag_parser/program.h"

namespace parlance::tag_vm_law_test {
namespace {

using tag_parser::HistoryId;
using tag_parser::ParseStep;
using tag_parser::PikeVm;
using tag_parser::TagProgram;

// A VM and what TagParser would emit.
class Follower {
 public:
  Follower(const TagProgram& program, bool fast)
      : vm_(program, {.fast = fast}) {}

  // Returns whether all of `piece` fits.  `so_far` ends with it.
  bool feed(std::string_view piece, std::string_view so_far) {
    const bool fits = read(piece, so_far);
    vm_.release();  // the other VM uses the same recognisers
    return fits;
  }

  // What a parser would have emitted at the end of a round.
  std::string emitted() const {
    return steps_ + "| " + std::to_string(end_) + " of " +
           std::to_string(vm_.position());
  }

  // What it would emit when no more text comes, or none that fits.
  std::string ended() {
    std::string out = steps_ + written(vm_.preferred().history) + "| " +
                      std::to_string(vm_.position()) + " | " + vm_.expected() +
                      (vm_.can_end() ? " | ends" : "") +
                      (vm_.overflowed() ? " | overflowed" : "");
    vm_.release();
    return out;
  }

  std::size_t certain_pieces = 0;

 private:
  bool read(std::string_view piece, std::string_view so_far) {
    if (vm_.feed_certain(piece, emitted_)) {
      ++certain_pieces;
      end_ = vm_.position();
      return true;
    }
    std::size_t read = 0;
    const std::size_t before = so_far.size() - piece.size();
    do {
      read += vm_.feed(piece.substr(read));
      if (vm_.wants_compaction()) emit(so_far.substr(0, before + read));
    } while (vm_.paused());
    if (read == piece.size()) {
      emit(so_far);
      return true;
    }
    const std::size_t begun =
        base::begun_character(so_far.substr(0, before + read));
    if (begun > 0) vm_.rewind_character(vm_.position() - begun);
    return false;
  }
  std::string written(HistoryId until) const {
    std::vector<std::string> steps;
    const tag_parser::History& history = vm_.history();
    for (HistoryId at = until; at != emitted_; at = history.parent(at)) {
      const ParseStep& step = history[at];
      steps.push_back("+-~"[static_cast<int>(step.kind)] +
                      std::to_string(step.format) + "@" +
                      std::to_string(step.position) + " ");
    }
    std::string out;
    for (std::size_t i = steps.size(); i-- > 0;) out += steps[i];
    return out;
  }
  void emit(std::string_view so_far) {
    if (base::begun_character(so_far) != 0) return;
    const PikeVm::Certain certain = vm_.certain();
    steps_ += written(certain.step);
    end_ = std::max(end_, certain.end);
    emitted_ = vm_.wants_compaction() ? vm_.compact_history(certain.step)
                                      : certain.step;
  }

  PikeVm vm_;
  HistoryId emitted_;
  std::string steps_;
  std::uint64_t end_ = 0;
};

struct Count {
  std::size_t pieces = 0;
  std::size_t certain = 0;
};

// Compares the two on `text`, in pieces of at most `longest` bytes.
void compare(const CompiledTag& tag, std::string_view text, std::size_t longest,
             std::mt19937& random, Count& count) {
  const TagProgram& program = detail::Access::impl(tag)->spelled;
  Follower fast(program, true);
  Follower slow(program, false);
  bool fits = true;
  std::string cuts;
  for (std::size_t at = 0; at < text.size() && fits; ++count.pieces) {
    const std::size_t size = std::min(text.size() - at, 1 + random() % longest);
    const std::string_view piece = text.substr(at, size);
    at += size;
    cuts += " " + std::to_string(at);
    fits = slow.feed(piece, text.substr(0, at));
    ASSERT_EQ(fast.feed(piece, text.substr(0, at)), fits)
        << json::dump(std::string(text)) << cuts;
    // Inside a character, only the compactions of the history decide what has
    // been emitted.
    if (!fits || base::begun_character(text.substr(0, at)) != 0) continue;
    ASSERT_EQ(fast.emitted(), slow.emitted())
        << json::dump(std::string(text)) << cuts;
  }
  ASSERT_EQ(fast.ended(), slow.ended())
      << json::dump(std::string(text)) << cuts;
  count.certain += fast.certain_pieces;
  EXPECT_EQ(slow.certain_pieces, 0U);
}

void run_random(std::uint32_t first, std::uint32_t tags) {
  Count count;
  for (std::uint32_t seed = first; seed < first + tags; ++seed) {
    const json::Value spec = testing::RandomTags(seed, false).envelope();
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + json::dump(spec));
    const Result<StructuralTag> tag = StructuralTag::from_value(spec);
    if (!tag) continue;
    const Result<CompiledTag> compiled = CompiledTag::compile(*tag);
    if (!compiled) continue;
    std::mt19937 random(seed);
    for (int i = 0; i < 20; ++i) {
      std::string text;
      // Few letters other than the tag's, which only free text reads.
      const std::size_t words = random() % 12;
      for (std::size_t j = 0; j < words; ++j) {
        constexpr std::string_view kWords[] = {"a",    "b",   "ab",       "ba",
                                               "aabb", "aaa", "\xC3\xA9", "x"};
        text += kWords[random() % (i % 2 == 0 ? 6 : 8)];
      }
      compare(*compiled, text, 1 + random() % 5, random, count);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
  EXPECT_GT(count.certain, count.pieces / 100);
}

TEST(TagVmLaw, RandomTags) { run_random(1, testing::cases(1500)); }
TEST(TagVmLaw, LongRunRandomTags) { run_random(100000, 60000); }

constexpr std::string_view kTools = R"([
  {"type": "function", "function": {"name": "f", "parameters": {
    "type": "object", "properties": {
      "s": {"type": "string"}, "n": {"type": "integer"},
      "l": {"type": "array", "items": {"type": "string"}}}}}},
  {"type": "function", "function": {"name": "now", "parameters": {
    "type": "object", "properties": {}, "additionalProperties": false}}}
])";

json::Value call(std::string_view name, json::Value arguments) {
  return json::Object{
      {"type", "function"},
      {"id", "call00001"},
      {"function", json::Object{{"name", std::string(name)},
                                {"arguments", std::move(arguments)}}}};
}

void run_families(int damaged) {
  const ToolSet tools = *ToolSet::from_json(kTools);
  const json::Value first =
      call("f", json::Object{{"s", "a < b & \"c\"\n é 東京 </x>"},
                             {"n", -12},
                             {"l", json::Array{"", "x y"}}});
  const json::Value second = call("now", json::Object());
  Count count;
  std::mt19937 random(3);
  for (const std::string_view name : Format::built_in_names()) {
    SCOPED_TRACE(name);
    const Format format = *Format::built_in(name);
    StructuralTagOptions options;
    options.tools = *json::parse(kTools);
    const Result<StructuralTag> tag = format.structural_tag(options);
    ASSERT_TRUE(tag) << tag.error().to_string();
    const Result<CompiledTag> compiled = CompiledTag::compile(*tag);
    ASSERT_TRUE(compiled) << compiled.error().to_string();
    for (const bool content : {true, false}) {
      json::Object message;
      if (content) {
        message.set("content", "So: it is 4 < 5, and [é] {東京}.\n\nIs it?");
      }
      json::Array calls = {first};
      if (!content) calls.push_back(second);
      message.set("tool_calls", std::move(calls));
      const Result<std::string> text =
          format.render(message, {.tools = &tools, .verify = false});
      if (!text) continue;
      for (const std::size_t longest : {1, 4, 12, 4096}) {
        compare(*compiled, *text, longest, random, count);
      }
      for (int i = 0; i < damaged; ++i) {
        std::string other = *text;
        const std::size_t at = random() % other.size();
        switch (random() % 3) {
          case 0:
            other[at] = "<>{}[]\"' \nax\xC3"[random() % 13];
            break;
          case 1:
            other.erase(at, 1 + random() % 9);
            break;
          default:
            other.insert(at, text->substr(random() % text->size(), 15));
        }
        compare(*compiled, other, 1 + random() % 16, random, count);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
  EXPECT_GT(count.certain, count.pieces / 10);
}

TEST(TagVmLaw, Families) { run_families(testing::cases(8)); }
TEST(TagVmLaw, LongRunFamilies) { run_families(1000); }

}  // namespace
}  // namespace parlance::tag_vm_law_test
