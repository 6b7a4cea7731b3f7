#ifndef PARLANCE_SRC_ARGUMENTS_TEXT_LANGUAGES_H_
#define PARLANCE_SRC_ARGUMENTS_TEXT_LANGUAGES_H_

// The languages of names and of strings that the styles of arguments need for
// every schema: those of constant patterns, and the texts without a marker.

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arguments/character_dfa.h"
#include "automata/language.h"

namespace parlance::arguments {

// Not thread-safe.
class TextLanguages : public automata::Languages {
 public:
  // The texts that match a pattern as a whole, and those in which it matches
  // somewhere.  REQUIRES: the pattern is a constant, and valid.
  automata::LanguageId whole(std::string_view pattern);
  automata::LanguageId matching(std::string_view pattern);
  // The texts of `strings` that contain none of `texts`.
  automata::LanguageId not_containing(automata::LanguageId strings,
                                      const std::vector<std::string>& texts);

 private:
  using Known = std::map<std::string, automata::LanguageId, std::less<>>;
  automata::LanguageId pattern(Known& known, std::string_view pattern,
                               Mode mode);

  Known whole_;
  Known matching_;
  Known without_;  // by text: the texts that do not contain it
};

// What the schemas of one compile share: most schemas of a request have the
// same few languages, such as all names, or all names without a marker.  Not
// thread-safe.
//
// Memory: of languages, those of one schema and kMostBytes; of automata, see
// CharacterDfas.
class SharedTexts {
 public:
  // The languages for one more schema.  No limit has made one of them smaller.
  // The reference is valid until the next call.
  TextLanguages& for_next_schema();
  CharacterDfas& dfas() { return dfas_; }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;

  std::unique_ptr<TextLanguages> languages_;
  CharacterDfas dfas_;
};

}  // namespace parlance::arguments

#endif  // PARLANCE_SRC_ARGUMENTS_TEXT_LANGUAGES_H_
