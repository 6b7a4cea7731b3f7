#ifndef PARLANCE_CLI_SETUP_H_
#define PARLANCE_CLI_SETUP_H_

// The arguments that commands share, and the values that are loaded from them.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "arguments.h"
#include "outline.h"
#include "parlance/format.h"
#include "parlance/tools.h"
#include "parlance/vocabulary.h"
#include "reader.h"
#include "style.h"
#include "vocabulary.h"

namespace parlance::cli {

// The colours of a command and the response that it reads.  The members are the
// values of the options of the same name.
struct ReadingArguments {
  std::string file;
  std::string format;
  std::string template_file;
  std::string tag_file;
  std::string tokenizer_config = "tokenizer_config.json";
  std::string prefix;
  std::string prefix_file;
  std::string tools_file;
  VocabularyArguments vocabulary;
  bool ids = false;
  Markers markers = Markers::kToken;
  bool attempts = false;     // tell every call that the model attempted
  bool needs_format = true;  // false: where it is not named, there is none
  bool strict = false;
  bool recover = false;
  Color color = Color::kAuto;
};

// Adds --color.
void add_color(Command& app, Color& color);
// Of an option whose number is from 1 to `most`.
Check one_or_more(std::size_t most = std::numeric_limits<std::size_t>::max());
// What to say about a value that is none of `words`, one of which may be meant.
std::string not_one_of(const std::string& given,
                       std::span<const std::string> words);

// Of an option that takes one of `words` and nothing else: a list, or a map
// from the words.  An option of an enumeration is given a map to its values,
// and ->transform().
template <typename Words>
Check one_of(const Words& words) {
  std::vector<std::string> names;
  std::vector<std::string> values;
  for (const auto& entry : words) {
    if constexpr (requires { entry.first; }) {
      names.emplace_back(entry.first);
      if constexpr (std::is_enum_v<std::decay_t<decltype(entry.second)>>) {
        values.push_back(std::to_string(static_cast<int>(entry.second)));
      }
    } else {
      names.emplace_back(entry);
    }
  }
  const auto find = [names, values](std::string& text) -> std::string {
    const auto at = std::find(names.begin(), names.end(), text);
    if (at == names.end()) return not_one_of(text, names);
    if (!values.empty()) {
      text = values[static_cast<std::size_t>(at - names.begin())];
    }
    return {};
  };
  std::string joined;
  for (const std::string& name : names) {
    joined += (joined.empty() ? "" : "|") + name;
  }
  return {find, joined};
}

// Adds FILE and every option above.  With `files`, there may be several FILEs.
void add_reading(Command& app, ReadingArguments& arguments,
                 std::vector<std::string>* files = nullptr);

// Turns a failed Result into a Failure that shows the error in `source`.
template <class T>
T or_fail(Result<T> result, std::string_view name, std::string_view source);
[[noreturn]] void fail_with(const Error& error, std::string_view name,
                            std::string_view source);

template <class T>
T or_fail(Result<T> result, std::string_view name, std::string_view source) {
  if (!result) fail_with(result.error(), name, source);
  return *std::move(result);
}

// The format of a file: a template, a format file, or a tokenizer_config.json
// (parlance::response_spec()).  Throws Failure.
Format format_of_file(const std::string& file);

// The format that an option names: a built-in format, or the path of a file (it
// ends with ".json" or contains a '/').  `option` is the option, for messages.
// Throws Failure.
Format named_format(const std::string& name, const std::string& option);
// Whether such a name is a path.
bool is_format_path(std::string_view name);

// Token ids as a JSON list, or with white space or commas between them.
// Throws Failure.
std::vector<TokenId> read_ids(std::string_view text, const std::string& name);

// Loads everything that a parser needs.  Throws Failure.
struct Reading {
  explicit Reading(const ReadingArguments& arguments);

  StreamOptions options() const;
  Reader reader() const { return reader(options()); }
  Reader reader(const StreamOptions& options) const;
  // The names of the fields, by Event::field_index.
  std::span<const std::string_view> fields() const { return fields_; }

  // Whether there is one of the two; there is, unless the arguments do not need
  // a format.
  bool is_complete() const { return format || tag; }

  std::optional<Format> format;
  std::optional<CompiledTag> tag;
  std::string prefix;
  std::optional<ToolSet> tools;
  std::optional<Vocabulary> vocabulary;
  Markers markers = Markers::kToken;
  Recover recover = Recover::kDefault;
  bool attempts = false;

 private:
  std::vector<std::string_view> fields_;
};

// A whole response in memory, fed in steps.
struct Response {
  // Reads the file of `arguments`: its bytes, or the ids written in it.
  Response(const ReadingArguments& arguments, const Reading& reading);

  // Bytes, or tokens.
  std::size_t size() const { return reads_ids ? ids.size() : bytes.size(); }
  std::span<const Event> feed(Reader& reader, std::size_t begin,
                              std::size_t end) const;

  bool reads_ids = false;
  std::string bytes;  // with ids: the text of the tokens
  std::vector<TokenId> ids;
};

// Reports diagnostics and a failure on standard error.  Returns whether any of
// them makes a strict reading fail.
bool tell_damage(const Reader& reader, const Style& style);
// `failure` may be null.
bool tell_damage(const Error* failure, std::span<const Diagnostic> diagnostics,
                 const Style& style);

// The response as its places count: what the prompt wrote of it, then what is
// added, up to the bytes that hints are looked for in.
class HintText {
 public:
  void begin(const Reading& reading, const Reader& reader);
  void add(std::string_view piece);
  // Tells on standard error what was probably meant (parlance/hints.h), if the
  // response was read by a format.
  void tell(const Reading& reading, const Message& message,
            const Style& style) const;

 private:
  std::string text_;
};

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_SETUP_H_
