#ifndef PARLANCE_SRC_GRAMMAR_SOURCE_H_
#define PARLANCE_SRC_GRAMMAR_SOURCE_H_

// What a grammar was made from, as JSON from which it is made again.
//
//   {"kind": "ebnf", "text": "root ::= \"a\"", "root": "root",
//    "limits": ["512", "4000000", "1000", "268435456", "4000000"]}
//
// A source has the kind, the text, all options, the tokens that the compile
// looked up, and the sources of the grammars inside.  Equal sources make equal
// grammars.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grammar/grammar_impl.h"
#include "notation/expression_reader.h"
#include "parlance/error.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/schema_options.h"
#include "parlance/structural_tag.h"

namespace parlance::grammar {

// The tokens of each text that a compile looked up.
using LookedUp =
    std::vector<std::pair<std::string, std::vector<std::uint32_t>>>;

// Looks tokens up as `find` does, and records them in `tokens`.  Null if `find`
// is.  Both must outlive the result.
notation::TokensSpelled recorded(const notation::TokensSpelled& find,
                                 LookedUp& tokens);

// The sources of grammars.  They are written when they are asked for.
std::shared_ptr<const Source> schema_source(
    std::shared_ptr<const json::Value> schema,
    const JsonSchemaOptions& options);
std::shared_ptr<const Source> ebnf_source(std::string_view text,
                                          const EbnfOptions& options);
std::shared_ptr<const Source> gbnf_source(std::string_view text,
                                          const GbnfOptions& options,
                                          LookedUp tokens);
std::shared_ptr<const Source> regex_source(std::string_view pattern,
                                           const GrammarLimits& limits);
std::shared_ptr<const Source> lark_source(std::string_view text,
                                          const LarkGrammarOptions& options,
                                          LookedUp tokens);
// `text`: what the tag was read from, if it was read from a text.
std::shared_ptr<const Source> tag_source(
    const parlance::StructuralTag& tag, std::optional<std::string_view> text,
    const StructuralTagGrammarOptions& options, LookedUp tokens);
std::shared_ptr<const Source> parts_source(const std::vector<Grammar>& parts,
                                           bool in_sequence,
                                           const GrammarLimits& limits);

// Makes the grammar of a source again.  A limit of the source that exceeds that
// of `limits` is an error (kTooLarge); `limits` also say when to cancel.
// Errors: kInvalidValue for a value that is no source, and those of the
// functions of Grammar.
Result<Grammar> read_source(const json::Value& source,
                            const GrammarLimits& limits);

// The limits of a source.  Errors: as read_source().
Result<GrammarLimits> read_limits(const json::Value& source,
                                  const GrammarLimits& limits);

// A document with a signature, a version and a checksum.  `kind` is a word of
// the signature, such as "grammar".  open_document() fails with kInvalidValue,
// kUnsupportedVersion.
std::string make_document(std::string_view kind, const json::Value& content);
Result<json::Value> open_document(std::string_view kind,
                                  std::string_view bytes);

}  // namespace parlance::grammar

#endif  // PARLANCE_SRC_GRAMMAR_SOURCE_H_
