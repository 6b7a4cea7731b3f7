#include "arguments/text_languages.h"

#include <utility>

#include "regex/pattern.h"

namespace parlance::arguments {

using automata::LanguageId;

LanguageId TextLanguages::pattern(Known& known, std::string_view pattern,
                                  Mode mode) {
  if (const auto found = known.find(pattern); found != known.end()) {
    return found->second;
  }
  const Result<regex::Pattern> read = regex::parse_pattern(pattern);
  const Result<LanguageId> made = from_hir(read->hir, mode);
  const LanguageId out = made ? *made : nothing();
  known.emplace(pattern, out);
  return out;
}

LanguageId TextLanguages::whole(std::string_view pattern) {
  return this->pattern(whole_, pattern, Mode::kWhole);
}

LanguageId TextLanguages::matching(std::string_view pattern) {
  return this->pattern(matching_, pattern, Mode::kSearch);
}

LanguageId TextLanguages::not_containing(
    LanguageId strings, const std::vector<std::string>& texts) {
  std::vector<LanguageId> parts = {strings};
  for (const std::string& text : texts) {
    auto known = without_.find(text);
    if (known == without_.end()) {
      const Result<LanguageId> found =
          from_hir(regex::literal_set({text}), Mode::kSearch);
      if (!found) continue;
      known = without_.emplace(text, complement(*found)).first;
    }
    parts.push_back(known->second);
  }
  return all_of(std::move(parts));
}

TextLanguages& SharedTexts::for_next_schema() {
  if (languages_ == nullptr || languages_->narrowed() ||
      languages_->memory_bytes() > kMostBytes) {
    languages_ = std::make_unique<TextLanguages>();
  }
  return *languages_;
}

}  // namespace parlance::arguments
