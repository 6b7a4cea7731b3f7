// Any text as a grammar.  The first byte chooses GBNF ("g"), EBNF, Lark or a
// regular expression, up to a zero byte; what follows is read as a text of it.
//
// A grammar is read, or refused with a place in the text.  What is read is
// printed and read again, and both then agree on the text: at every byte
// whether it may go on, and whether it may end.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cfg_recogniser/earley.h"
#include "notation/ebnf.h"
#include "notation/lark.h"
#include "notation/regex_rules.h"

namespace {

using parlance::Error;
using parlance::Result;
namespace notation = parlance::notation;
namespace rules = parlance::rules;

void require(bool holds) {
  if (!holds) std::abort();
}

Result<rules::Rules> read(std::uint8_t kind, std::string_view source) {
  if (kind == 'g') return notation::read_gbnf(source);
  if (kind % 3 == 0) return notation::read_ebnf(source);
  if (kind % 3 == 1) return notation::read_lark(source);
  return notation::regex_rules(source);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  if (size == 0) return 0;
  std::string_view source(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::string_view text;
  const std::size_t cut = source.find('\0');
  if (cut != std::string_view::npos) {
    text = source.substr(cut + 1, 64);
    source = source.substr(0, cut);
  }
  const Result<rules::Rules> rules = read(data[0], source);
  if (!rules) {
    const Error& error = rules.error();
    require(!error.message.empty());
    require(!error.span || (error.span->begin <= error.span->end &&
                            error.span->end <= source.size()));
    return 0;
  }
  const std::string printed = notation::to_ebnf(*rules);
  const Result<rules::Rules> again = notation::read_ebnf(printed);
  // Printing may need more parentheses than was written, up to the limit.
  if (!again) {
    require(again.error().code == parlance::ErrorCode::kTooLarge);
    return 0;
  }
  parlance::cfg_recogniser::EarleyRecogniser one(*rules, {}, 100'000);
  parlance::cfg_recogniser::EarleyRecogniser two(*again, {}, 100'000);
  parlance::cfg_recogniser::EarleyRecogniser::Place here = one.start();
  parlance::cfg_recogniser::EarleyRecogniser::Place there = two.start();
  for (std::size_t i = 0;; ++i) {
    if (one.overflowed() || two.overflowed()) return 0;
    require(one.alive(here) == two.alive(there));
    require(one.can_end(here) == two.can_end(there));
    if (i == text.size() || !one.alive(here)) return 0;
    one.feed(here, static_cast<std::uint8_t>(text[i]));
    two.feed(there, static_cast<std::uint8_t>(text[i]));
  }
}
