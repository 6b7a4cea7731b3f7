#ifndef PARLANCE_SRC_TAG_PARSER_PROGRAM_H_
#define PARLANCE_SRC_TAG_PARSER_PROGRAM_H_

// A structural tag as byte code for the threads of a Pike VM (pike_vm.h).
//
// A structural tag is a finite tree, so a parse needs no stack: its state is an
// instruction, how far the instruction has been read, and the counts of the
// enclosing repeats.
//
//   tag "<t>" any_text "</t>"       0 enter tag
//                                   1 literal "<t>"
//                                   2 enter any_text
//                                   3 free text, or continue at 4
//                                   4 leave any_text
//                                   5 literal "</t>"
//                                   6 leave tag
//                                   7 accept
//
// An instruction with several successors lists them in the order of preference.
// Formats that no text fits are not compiled, so every instruction that can be
// reached can be continued to an accepted end.
//
// A tag has one program for texts, in which markers are spelled.  If it is
// compiled for a vocabulary with tokens for some of its markers, it has a
// second program for token ids (rules/marks.h):
//
//   tag "<t>{" ... "}</t>"         1 token <t>
//                                  2 literal "{"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "arguments/reader.h"
#include "automata/aho_corasick.h"
#include "base/id.h"
#include "base/unbounded.h"
#include "parlance/error.h"
#include "parlance/tag_parser.h"
#include "recogniser/language.h"
#include "rules/excluded_words.h"
#include "rules/marks.h"
#include "structural_tag/structural_tag.h"
#include "tag_parser/regions.h"
#include "tag_parser/resume_point.h"

namespace parlance::tag_parser {

using structural_tag::TagNodeId;
struct Instruction;
using Pc = base::Id<Instruction>;
inline constexpr Pc kNoPc{0xFFFFFFFF};
using base::kUnbounded;
inline constexpr std::uint32_t kNoMark = 0xFFFFFFFF;

// ORDER: Op
enum class Op : std::uint8_t {
  // Instructions that read nothing.
  kEnter,    // format `index` began `back` bytes ago
  kLeave,    // format `index` ends
  kRule,     // the pattern of a rule of format `index` began `back` bytes ago
  kFork,     // continues at each of forks[index]
  kIterate,  // an iteration of a loop at depth `index` begins
  kIterateEnd,  // it ends; see `other` if it has read nothing
  kCountFrom,   // pushes the count 0
  kCountTest,   // forks[index] is {body, exit}: body below `max`, exit from
                // `min`
  kCountNext,   // increments the innermost count
  kCountEnd,    // pops it
  // Instructions that read.
  kLiteral,          // texts[index] from `offset` on
  kSpaces,           // white space of ASCII, as little as possible
  kText,             // free text of free_texts[index], as short as possible
  kTextToTrigger,    // the same, up to and including a trigger
  kRecogniser,       // a text of languages[index], as long as possible
  kToken,            // one token of token_sets[index]
  kTokens,           // at most `max` of them, as few as possible
  kTokensLast,       // free tokens of token_texts[index], as few as possible
  kTokensToTrigger,  // the same, up to and including a trigger
  kAccept,
};
constexpr bool reads(Op op) { return op >= Op::kLiteral; }
// Whether a thread waits at the instruction and never leaves it without input.
constexpr bool only_waits(Op op) {
  return reads(op) && op != Op::kSpaces && op != Op::kText &&
         op != Op::kRecogniser && op != Op::kTokens && op != Op::kTokensLast;
}

// A `back` that stands for the size of the last token.
inline constexpr std::uint32_t kTokenBack = kUnbounded;

struct Instruction {
  Op op = Op::kAccept;
  // Several threads may arrive here at one position of the text.
  bool joins = false;
  // Reads layout, which a message about other text does not ask for.
  bool layout = false;
  Pc next = {};
  std::uint32_t index = 0;
  std::uint32_t back = 0;    // kEnter, kRule
  std::uint32_t offset = 0;  // kLiteral
  // kIterateEnd: the successor of an empty iteration inside an empty iteration
  // of an enclosing loop.  Any other empty iteration has no successor.
  Pc other = kNoPc;
  std::uint32_t min = 0;                  // kCountFrom, kCountTest, kCountNext
  std::uint32_t max = kUnbounded;         // kText: of characters
  std::uint32_t max_tokens = kUnbounded;  // kText
};

struct FreeText {
  automata::AhoCorasick automaton;
  // By `calls` of the automaton: where a trigger leads, in order of preference.
  std::vector<std::vector<Pc>> targets;
  // By node: how many bytes of the text may be the beginning of a trigger.
  std::vector<std::uint32_t> pending;
  // Bytes that lead from state 0 to another state.
  std::array<bool, 256> special = {};
  // Nodes that spell a marker which must be written as its token, and the
  // marker.
  std::vector<rules::SpelledMarker> spelled;
};

struct TokenSet {
  std::vector<TokenId> ids;  // sorted
  bool negated = false;
  std::string spelling = {};  // if the set is a mark
  bool contains(TokenId id) const;
};

struct TokenText {
  std::map<TokenId, std::vector<Pc>> targets;
  std::vector<TokenId> excludes;  // sorted
};

// The text of one regex, grammar or json_schema.  Other tags and grammars may
// share the language.
struct EmbeddedLanguage {
  std::shared_ptr<recogniser::Language> language;  // not null
  bool reads_tokens = false;
  bool reads_marks = false;
};

struct TagProgram {
  std::vector<Instruction> code;
  Pc start;
  std::vector<std::vector<Pc>> forks;
  std::vector<std::string> texts;
  std::vector<FreeText> free_texts;
  std::vector<TokenSet> token_sets;
  std::vector<TokenText> token_texts;
  std::vector<EmbeddedLanguage> languages;
  std::vector<ResumePoint> resume_points;     // at most one of a format
  std::shared_ptr<const rules::Marks> marks;  // null: none
  // Tokens that some instruction names by their ids: the index of the mark that
  // the token is, or kNoMark.
  std::unordered_map<TokenId, std::uint32_t> roles;
  // Some of these tokens are ordinary, or the vocabulary is not known.
  bool names_ordinary = false;
  // Some instruction reads tokens by their ids without naming them.
  bool has_tokens = false;
  bool has_budgets = false;  // some free text counts tokens

  // Where parsing resumes after a tag of `format`; null: nowhere.
  const ResumePoint* resume_point(TagNodeId format) const;
};

// The implementation of CompiledTag.
struct CompiledTagImpl {
  std::shared_ptr<const structural_tag::TagTree> tag;
  std::vector<std::uint32_t> child_index;  // by format: among its siblings
  Regions regions;

  TagProgram spelled;  // for texts
  // For token ids.  Null if no marker is a token: `spelled` reads the ids too.
  std::unique_ptr<const TagProgram> tokens;
  bool for_vocabulary = false;
  Markers markers = Markers::kToken;
  std::size_t max_parses = 0;
  std::size_t parse_bytes = 0;
  std::size_t diagnostics = 0;

  // By format, of json_schema only.
  std::map<TagNodeId, arguments::ArgumentReader> arguments;

  const TagProgram& program(bool by_ids) const {
    return by_ids && tokens != nullptr ? *tokens : spelled;
  }
};

// The text of a symbol.  `marks` may be null if the symbol is a byte.
std::string spelling(const rules::Marks* marks, automata::WordSymbol symbol);

// Errors: as CompiledTag::compile().
Result<std::shared_ptr<const CompiledTagImpl>> compile(
    std::shared_ptr<const structural_tag::TagTree> tag,
    const CompiledTagOptions& options);

}  // namespace parlance::tag_parser

#endif  // PARLANCE_SRC_TAG_PARSER_PROGRAM_H_
