#include "vocabulary.h"

#include <charconv>
#include <system_error>
#include <utility>

#include "io.h"
#include "setup.h"
#include "system.h"

namespace parlance::cli {
namespace {

Vocabulary load(const std::string& file) {
  const std::string name = display_name(file);
  if (file == "-") {
    const std::string text = read_all(file);
    return or_fail(Vocabulary::from_text(text), name, text);
  }
  note_read(file);
  Result<Vocabulary> vocabulary = Vocabulary::from_file(file);
  if (vocabulary) return *std::move(vocabulary);
  const Error& error = vocabulary.error();
  if (error.code == ErrorCode::kIo) throw Failure(error.message);
  const auto facts = facts_of(file);
  if (facts && facts->kind == FileKind::kFolder) {
    // The message names the file, and the path is one in that file.
    throw Failure(name + ": " + error.to_string());
  }
  fail_with(error, name, error.span ? read_all(file) : "");
}

// A number is an id; any other text is the spelling of a token.
TokenId stop_of(const Vocabulary& vocabulary, const std::string& text) {
  TokenId id = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, id);
  if (failure == std::errc() && rest == end) {
    if (vocabulary.kind(id) != TokenKind::kUnused) return id;
    throw Failure("--stop " + text +
                  " is not a token of the vocabulary, which has " +
                  std::to_string(vocabulary.size()) + " ids");
  }
  auto found = vocabulary.special(text);
  if (!found) found = vocabulary.find_first(text);
  if (found) return *found;
  throw Failure("--stop: no token of the vocabulary is spelled " + text);
}

}  // namespace

Option* add_vocabulary(Command& app, VocabularyArguments& arguments,
                       const std::string& what_for) {
  auto* vocabulary =
      app.add_option("--vocabulary", arguments.file,
                     what_for +
                         "a model's folder, tokenizer.json, tekken.json, a "
                         "SentencePiece model, a GGUF file, tiktoken ranks or "
                         "a saved vocabulary")
          ->type_name("PATH");
  app.add_option("--stop", arguments.stops,
                 "A stop token, by id or spelling, instead of those that the "
                 "vocabulary names; repeatable")
      ->type_name("ID|SPELLING")
      ->allow_extra_args(false)
      ->needs(vocabulary);
  return vocabulary;
}

std::optional<Vocabulary> load_vocabulary(
    const VocabularyArguments& arguments) {
  if (!arguments.given()) return std::nullopt;
  Vocabulary vocabulary = load(arguments.file);
  if (arguments.stops.empty()) return vocabulary;
  std::vector<TokenId> ids;
  for (const std::string& stop : arguments.stops) {
    ids.push_back(stop_of(vocabulary, stop));
  }
  return or_fail(vocabulary.with_stop_ids(ids), "", "");
}

}  // namespace parlance::cli
