#ifndef PARLANCE_CLI_SOURCE_H_
#define PARLANCE_CLI_SOURCE_H_

// Files that describe a language of texts, and the notation of each.
//
//   schema   JSON Schema                      tag     structural tag
//   ebnf     EBNF                             gbnf    GBNF, as llama.cpp has it
//   lark     Lark                             regex   one regular expression
//
// The kind is given by an option, else by the file's name, else by its content;
// see kind_of().

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.h"
#include "parlance/error.h"
#include "parlance/grammar.h"
#include "parlance/vocabulary.h"
#include "style.h"

namespace parlance::cli {

enum class SourceKind { kSchema, kTag, kEbnf, kGbnf, kLark, kRegex };

struct Source {
  SourceKind kind = SourceKind::kSchema;
  std::string name;  // for people
  std::string text;
};

// By the end of the name: .ebnf, .gbnf, .lark, .regex.  Else JSON is a
// structural tag if it is an object with "type": "structural_tag", with
// "structures" or "response_format", or with an object as "format", and a
// schema if not; a text with "::=" is EBNF, and one that defines the rule
// "start:" Lark.  Nothing for any other text.
std::optional<SourceKind> kind_of(std::string_view name, std::string_view text);

// Makes a source from the content of a file.  A newline at the end of a regular
// expression is dropped.
Source make_source(std::string name, std::string text, SourceKind kind);

// Reads the file.  If `file` begins with '{', it is the text itself, and the
// name of the option is its name.  Throws Failure if `kind` is not given and
// cannot be recognised.
Source read_source(const std::string& file, const std::string& option,
                   std::optional<SourceKind> kind);

// The options that name a source; one of them is given.
struct SourceArguments {
  std::string grammar;  // of any kind
  std::string schema;
  std::string tag;
  std::string ebnf;
  std::string gbnf;
  std::string lark;
  std::string regex;  // the pattern itself
  std::string root;   // "": "root", and "start" in Lark
};

// Adds --grammar, --schema, --tag (if wanted), --ebnf, --gbnf, --lark, --regex
// and --root, as options that exclude each other.
void add_sources(Command& app, SourceArguments& arguments,
                 bool with_tag = true);
bool any_source(const SourceArguments& arguments);
// Throws Failure when there is none.
Source read_source(const SourceArguments& arguments);

struct CompileOptions {
  JsonSchemaOptions schema = {};
  std::string root = {};  // as SourceArguments::root
  // What tokens that are named by their text are looked up in.  Null: such a
  // token is an error.
  const Vocabulary* vocabulary = nullptr;
  // Any token that is named by its text exists.
  bool every_token = false;
};

// Errors without a span have it where their path leads into the source.
Result<Grammar> compile(const Source& source, const CompileOptions& options);
// Errors in the schemas of a request that the tag was made from lead there.
Result<Grammar> compile(const StructuralTag& tag,
                        const CompileOptions& options);

// "ignored 'title': ..." for each note of the grammar, as warnings.
std::vector<std::string> describe_notes(const Grammar& grammar,
                                        const Source& source,
                                        const Style& style);

}  // namespace parlance::cli

#endif  // PARLANCE_CLI_SOURCE_H_
