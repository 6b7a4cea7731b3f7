// Any bytes as a pattern and a text: reading ends with a pattern or with an
// error that has its place, the facts about matches hold for what PCRE2 finds,
// and a match that is final is found again when the text goes on.
//
// The first byte chooses flavor and flags, the second how long the pattern
// is; the rest is the text.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "regex/hir_properties.h"
#include "regex/pattern.h"
#include "regex/pcre2.h"

namespace {

using namespace parlance::regex;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_match(const Pattern& pattern, std::string_view matched) {
  require(matched.size() >= min_length(pattern.hir));
  require(max_length(pattern.hir) == parlance::base::kUnbounded ||
          matched.size() <= max_length(pattern.hir));
  require(matched.starts_with(required_prefix(pattern.hir)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  if (size < 2) return 0;
  PatternOptions options;
  options.flavor = static_cast<Flavor>((data[0] & 3) % 3);
  options.dot_all = (data[0] & 4) != 0;
  options.multi_line = (data[0] & 8) != 0;
  options.ignore_case = (data[0] & 16) != 0;
  options.verbose = (data[0] & 32) != 0;
  options.limits.match_steps = 2000;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 2,
                              size - 2);
  const std::string_view text =
      rest.substr(std::min<std::size_t>(data[1], rest.size()));
  const std::string_view source = rest.substr(0, rest.size() - text.size());

  auto pattern = parse_pattern(source, options);
  if (!pattern) {
    const parlance::Error& error = pattern.error();
    require(!error.message.empty() && error.span.has_value());
    require(error.span->begin <= error.span->end);
    require(error.span->end <= source.size());
    return 0;
  }
  require(!pattern->hir.nodes.empty());
  require(!dump(pattern->hir).empty());
  for (std::size_t i = 0; i < pattern->hir.nodes.size(); ++i) {
    for (HirId child : pattern->hir.nodes[i].children) require(child < i);
  }
  if (!parlance::base::is_utf8(text, true)) return 0;
  auto pcre2 = Pcre2::compile(*pattern, options.limits);
  if (!pcre2) return 0;
  Pcre2::Scratch scratch(*pcre2);
  auto partial = pcre2->search(text, 0, {.more = true}, scratch, nullptr);
  if (partial.status != Pcre2::Status::kMatch) return 0;
  // A look-ahead may begin where the match ends before its start; only what
  // was matched is looked at.
  require(partial.begin <= partial.end && partial.end <= text.size());
  check_match(*pattern,
              text.substr(partial.begin, partial.end - partial.begin));
  std::string longer(text);
  longer += "a \n";
  auto final = pcre2->search(longer, 0, {}, scratch, nullptr);
  if (final.status == Pcre2::Status::kLimit) return 0;
  require(final.status == Pcre2::Status::kMatch);
  require(final.begin == partial.begin && final.end == partial.end);
  return 0;
}
