// The part of a prompt that belongs to the response, see prefix.h.

#include "parse/prefix.h"

#include <algorithm>

#include "base/python_number.h"
#include "parse/segmenter.h"
#include "vocab/prompt_text.h"

namespace parlance::parse {
namespace {

// An opener that begins a text ends within this many bytes.
constexpr std::size_t kLongestOpener = 4096;

// Records what comes first: text or an opener.
class First final : public SegmentSink {
 public:
  bool is_opener() const { return opener_; }

  void on_text(std::string_view text, std::uint64_t /*begin*/,
               std::span<const MarkAt> /*marks*/) override {
    if (!base::python_strip(text).empty()) decided_ = true;
  }
  void on_delimiter(const Delimited& delimiter) override {
    if (!decided_) opener_ = !delimiter.close;
    decided_ = true;
  }
  void on_value_end(std::uint64_t /*position*/) override {}
  bool on_abandon(std::uint64_t /*position*/) override { return true; }
  void on_turn_end(std::uint64_t /*begin*/, std::uint64_t /*end*/,
                   bool /*more*/) override {
    decided_ = true;
  }
  void on_markup(const Delimited& /*markup*/) override {}
  void on_left_out(std::string_view /*text*/, std::uint64_t /*begin*/,
                   std::string_view /*what*/) override {}
  void on_empty_text(FieldId /*closes*/) override {}
  void on_quoted(FieldId /*field*/, bool /*close*/, std::uint64_t /*begin*/,
                 std::uint64_t /*end*/) override {}
  void on_limit(std::uint64_t /*begin*/, std::uint64_t /*end*/,
                std::string_view /*what*/) override {}

 private:
  bool decided_ = false;
  bool opener_ = false;
};

}  // namespace

std::string_view after_last_anchor(const DelimiterProgram& program,
                                   std::string_view prefix, bool* found) {
  bool ignored = true;
  if (found == nullptr) found = &ignored;
  *found = true;
  if (program.anchor_literal) {
    // The literal cannot overlap itself, so its last occurrence is also the
    // last of the non-overlapping occurrences from the left.
    std::size_t at = prefix.rfind(*program.anchor_literal);
    *found = at != std::string_view::npos;
    if (!*found) return prefix;
    return prefix.substr(at + program.anchor_literal->size());
  }
  if (program.anchor.automaton == nullptr && !program.anchor.code) {
    return prefix;  // the format has no start anchor
  }
  FindAll all(program.anchor, prefix);
  Found anchor;
  std::size_t end = 0;
  *found = false;
  while (all.next(anchor)) {
    end = anchor.end;
    *found = true;
  }
  return prefix.substr(end);
}

Prompt read_prompt(const DelimiterProgram& program,
                   const Vocabulary* vocabulary, std::string_view prefix) {
  Prompt prompt;
  prompt.text = after_last_anchor(program, prefix, &prompt.has_anchor);
  std::size_t done = 0;
  while (program.spelled && !program.marks.empty()) {
    const auto found = program.spelled->find(prompt.text, done);
    if (!found) break;
    const std::size_t size = vocabulary->spelling(found->id).size();
    prompt.marks.push_back(
        {found->at, size, program.mark_symbols.at(found->id)});
    done = found->at + size;
  }
  return prompt;
}

Prompt read_prompt(const DelimiterProgram& program,
                   const Vocabulary& vocabulary,
                   std::span<const TokenId> prefix) {
  Prompt prompt;
  prompt.text = vocab::text_of_prompt(
      vocabulary, prefix,
      [&](TokenId id, std::size_t position, std::size_t size) {
        const auto mark = program.prompt_symbols.find(id);
        if (mark != program.prompt_symbols.end() && mark->second != kNoSymbol) {
          prompt.marks.push_back({position, size, mark->second});
        }
      });
  if (program.marks.empty()) {
    const std::string_view tail =
        after_last_anchor(program, prompt.text, &prompt.has_anchor);
    prompt.begin = prompt.text.size() - tail.size();
    return prompt;
  }
  const Finder& anchor = program.marked_anchor;
  if (anchor.automaton == nullptr && !anchor.code) return prompt;
  FindAll all(anchor, {prompt.text, prompt.marks});
  Found found;
  prompt.has_anchor = false;
  while (all.next(found)) {
    prompt.begin = found.end;
    prompt.has_anchor = true;
  }
  return prompt;
}

bool begins_with_opener(const DelimiterProgram& program, const Limits& limits,
                        const Prompt& prompt) {
  First first;
  Segmenter segmenter(program, limits, first);
  std::string_view text = prompt.text;
  std::size_t end = std::min(text.size(), kLongestOpener);
  while (end < text.size() &&
         (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
    ++end;
  }
  std::size_t done = 0;
  for (const MarkAt& mark : prompt.marks) {
    const auto at = static_cast<std::size_t>(mark.position);
    if (at >= end) break;
    segmenter.feed(text.substr(done, at - done));
    segmenter.feed_mark(mark.symbol, text.substr(at, mark.length));
    done = at + mark.length;
  }
  if (done < end) segmenter.feed(text.substr(done, end - done));
  segmenter.finish();
  return first.is_opener();
}

}  // namespace parlance::parse
