#ifndef PARLANCE_TESTS_SUPPORT_ARGUMENT_CHECKS_H_
#define PARLANCE_TESTS_SUPPORT_ARGUMENT_CHECKS_H_

// What the laws of reading arguments check: what a grammar accepts is read as a
// valid value; the calls written while a text arrives do not depend on how it
// is cut; reading its beginning gives whole members.

#include <gtest/gtest.h>

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arguments/reader.h"
#include "base/access.h"
#include "call_stream/call_stream.h"
#include "events/round.h"
#include "grammar/grammar_impl.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/message.h"
#include "recogniser/recogniser.h"
#include "schema/validate.h"
#include "support/argument_texts.h"
#include "support/call_record.h"
#include "support/small_schemas.h"
#include "verification/long_numbers.h"

namespace parlance::testing {

// Whether a string or a name in `value` contains the text.
inline bool holds(const json::Value& value, std::string_view text) {
  std::vector<const json::Value*> left = {&value};
  while (!left.empty()) {
    const json::Value& one = *left.back();
    left.pop_back();
    if (one.as_string().find(text) != std::string_view::npos) return true;
    for (const json::Value& item : one.items()) left.push_back(&item);
    for (const json::Member& member : one.members()) {
      if (member.key.find(text) != std::string::npos) return true;
      left.push_back(&member.value);
    }
  }
  return false;
}

struct StreamedArguments {
  std::string log;
  std::string wrong;     // "": the pieces add up to `value`
  bool changed = false;  // corrected at the end
};

// The events of a call with the arguments `text`, which arrives in pieces of
// `step` bytes; 0: as a whole.
inline StreamedArguments stream_arguments(
    const arguments::ArgumentReader& reader, std::string_view text,
    std::size_t step, const json::Value& value) {
  Message message;
  call_stream::CallStream stream(&message.calls);
  events::Round round;
  round.add(EventKind::kRegionOpen, {});
  const json::Value call = json::Object{
      {"function", json::Object{{"name", "f"}, {"arguments", value}}}};
  stream.open(reader.call_reader("f"));
  for (std::size_t size = 0; step > 0 && size < text.size(); size += step) {
    // Whole characters, as the parser passes them on.
    if ((static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) continue;
    stream.advance(text.substr(0, size), {}, round);
  }
  stream.advance(text, {}, round);
  StreamedArguments out;
  out.changed = stream.close(text, call, {}, round).has_value();
  round.add(EventKind::kRegionClose, {});
  CallRecord record;
  record.add(round.events());
  message.fields = json::Object{{"calls", json::Array{call}}};
  out.wrong = record.check(message, "calls");
  out.log = record.log;
  return out;
}

// What is streamed of the text adds up to its value, however it is cut.
inline void check_stream(const arguments::ArgumentReader& reader,
                         std::string_view text, const json::Value& value,
                         std::size_t& streams) {
  const StreamedArguments whole = stream_arguments(reader, text, 0, value);
  ASSERT_EQ(whole.wrong, "") << text;
  ASSERT_FALSE(whole.changed) << text << "\n" << json::dump(value);
  ++streams;
  for (const std::size_t step : {1, 3}) {
    const StreamedArguments cut = stream_arguments(reader, text, step, value);
    ASSERT_EQ(cut.log, whole.log) << text;
    ASSERT_EQ(cut.wrong, "") << text;
  }
}

// `part`: the beginning of a text that the reader reads.
inline void check_cut(const arguments::ArgumentReader& reader,
                      std::string_view part) {
  const arguments::Arguments read = reader.read(part);
  ASSERT_LE(read.read, part.size());
  if (read.complete) {
    ASSERT_EQ(read.read, part.size());
    return;
  }
  if (!read.value.is_object()) return;
  const arguments::Arguments again = reader.read(part.substr(0, read.read));
  ASSERT_EQ(again.read, read.read) << part;
  if (!again.complete && again.value.is_object()) {
    ASSERT_EQ(again.value, read.value) << part;
  }
}

// Texts of `grammar` are read to their end, as values that are valid and hold
// no excluded text.  `more(text, value)` checks what else one law asks for.
// `none`: a text that it is true of is not complete.
template <class More>
void check_walks(const Grammar& grammar,
                 const arguments::ArgumentReader& reader,
                 schema::Validator& validator,
                 const std::vector<std::string>& excludes,
                 const std::vector<std::string>& words, std::size_t walks,
                 SmallSchemas& small, std::size_t& texts, const More& more,
                 bool (*none)(std::string_view) = nullptr) {
  for (std::size_t i = 0; i < walks; ++i) {
    std::optional<std::string> text;
    {
      const std::shared_ptr<recogniser::Recogniser> machine =
          detail::Access::impl(grammar)->language->with_room();
      const recogniser::Recogniser::Lock lock(*machine);
      text = argument_walk(*lock, words, small);
    }
    if (!text || verification::has_long_number(*text)) continue;
    ++texts;
    const arguments::Arguments read = reader.read(*text);
    if (none != nullptr && none(*text)) {
      ASSERT_FALSE(read.complete) << *text;
      check_cut(reader, *text);
      continue;
    }
    ASSERT_TRUE(read.complete) << *text << "\nread to " << read.read;
    ASSERT_EQ(read.read, text->size());
    ASSERT_TRUE(validator.valid(read.value)) << *text << "\n"
                                             << json::dump(read.value);
    for (const std::string& excluded : excludes) {
      ASSERT_FALSE(holds(read.value, excluded)) << *text;
    }
    check_cut(reader,
              std::string_view(*text).substr(0, small.below(text->size() + 1)));
    more(*text, read.value);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_ARGUMENT_CHECKS_H_
