// Partitions names by their length modulo kMaxNameParts, or into the shortest
// names and the rest.

#include "arguments/name_partition.h"

#include <deque>
#include <string>
#include <utility>

#include "regex/pattern.h"

namespace parlance::arguments {
namespace {

using automata::LanguageId;
using automata::Languages;
using automata::StateId;

// The limit of the number of prefixes searched for the shortest names.
constexpr std::size_t kMaxBeginnings = 4096;

// Texts whose length is `rest` modulo `parts`.
LanguageId length_modulo(Languages& languages, std::size_t parts,
                         std::size_t rest) {
  const Result<regex::Pattern> pattern =
      regex::parse_pattern("(?:[^\\n]{" + std::to_string(parts) + "})*[^\\n]{" +
                           std::to_string(rest) + "}");
  if (!pattern) return languages.nothing();
  Result<LanguageId> out =
      languages.from_hir(pattern->hir, Languages::Mode::kWhole);
  return out ? *out : languages.nothing();
}

// The shortest names, at most `count`.
std::vector<std::string> shortest(Languages& languages, LanguageId names,
                                  std::size_t count) {
  std::vector<std::string> out;
  std::deque<std::pair<StateId, std::string>> open;
  open.emplace_back(languages.start(names), "");
  for (std::size_t i = 0; !open.empty() && i < kMaxBeginnings; ++i) {
    const auto [state, text] = std::move(open.front());
    open.pop_front();
    if (state == automata::kDeadState) continue;
    if (languages.accepting(state)) out.push_back(text);
    if (out.size() == count) break;
    for (unsigned byte = 0; byte < 256; ++byte) {
      const StateId next =
          languages.step(state, static_cast<std::uint8_t>(byte));
      if (next == automata::kDeadState) continue;
      open.emplace_back(next, text + static_cast<char>(byte));
    }
  }
  return out;
}

}  // namespace

std::vector<LanguageId> name_parts(Languages& languages, LanguageId names,
                                   std::size_t wanted) {
  std::vector<LanguageId> out;
  for (std::size_t rest = 0; rest < kMaxNameParts; ++rest) {
    const LanguageId part = languages.all_of(
        {names, length_modulo(languages, kMaxNameParts, rest)});
    if (!languages.empty(part)) out.push_back(part);
  }
  if (out.size() >= wanted) return out;
  out.clear();
  const std::vector<std::string> words =
      shortest(languages, names, kMaxNameParts - 1);
  for (const std::string& word : words) {
    out.push_back(languages.literal(word));
  }
  const LanguageId others = languages.all_of(
      {names, languages.complement(languages.literals(words))});
  if (!languages.empty(others)) out.push_back(others);
  return out;
}

}  // namespace parlance::arguments
