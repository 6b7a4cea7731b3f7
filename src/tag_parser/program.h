#ifndef PARLANCE_SRC_TAG_PARSER_PROGRAM_H_
#define PARLANCE_SRC_TAG_PARSER_PROGRAM_H_

// A structural tag as a program whose threads read a text.
//
// A structural tag is a finite tree, so its readings need no stack: a place is
// an instruction, what the instruction has read so far, and the counts of the
// repeats around it.
//
//   tag "<t>" any_text "</t>"       0 enter tag
//                                   1 literal "<t>"
//                                   2 enter any_text
//                                   3 free text, or on to 4
//                                   4 leave any_text
//                                   5 literal "</t>"
//                                   6 leave tag
//                                   7 accept
//
// Where there is a choice the ways stand in the order of preference; a thread
// is followed on all of them (pike_vm.h).  Formats that no text fits are left
// out, so whatever instruction is reached can be continued to an accepted end.
//
// A tag has one program for texts, in which markers are their spelling.  If it
// is compiled for a vocabulary that has tokens for some of its markers, it has
// a second program for token ids (rules/marks.h):
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

#include "automata/aho_corasick.h"
#include "parlance/error.h"
#include "parlance/tag_parser.h"
#include "recogniser/recogniser.h"
#include "rules/marks.h"
#include "structural_tag/structural_tag.h"
#include "tag_parser/arguments.h"
#include "tag_parser/regions.h"

namespace parlance::tag_parser {

using structural_tag::TagNodeId;
using Pc = std::uint32_t;
constexpr Pc kNoPc = 0xFFFFFFFF;
constexpr std::uint32_t kUnbounded = 0xFFFFFFFF;
constexpr std::uint32_t kNoMark = 0xFFFFFFFF;

// ORDER: Op
enum class Op : std::uint8_t {
  // Without reading.
  kEnter,       // format `index` begins, `back` bytes ago
  kLeave,       // format `index` ends
  kRule,        // the pattern of a rule of format `index` began, `back` ago
  kFork,        // the ways of forks[index], in order
  kIterate,     // an iteration of a loop at depth `index` begins
  kIterateEnd,  // it ends; if nothing was read since, see `other`
  kCountFrom,   // counts from 0
  kCountTest,   // forks[index] is {body, exit}: by `min`, `max`
  kCountNext,   // one more
  kCountEnd,    // the count is not needed any more
  // Reading.
  kLiteral,        // texts[index] from `offset` on
  kText,           // free text of free_texts[index]: ends where it may
  kTextToTrigger,  // the same, which ends with a trigger
  kRecogniser,     // recognisers[index]
  kToken,          // one token of token_sets[index]
  kTokens,         // any number of them up to `max`
  kTokensLast,     // free tokens of token_texts[index]: end where they may
  kTokensToTrigger,
  kAccept,
};
constexpr bool reads(Op op) { return op >= Op::kLiteral; }

// `back`: as many bytes as the last token has.
constexpr std::uint32_t kTokenBack = kUnbounded;

struct Instruction {
  Op op = Op::kAccept;
  // Several threads of one position may meet here.
  bool joins = false;
  Pc next = 0;
  std::uint32_t index = 0;
  std::uint32_t back = 0;    // kEnter, kRule
  std::uint32_t offset = 0;  // kLiteral
  // kIterateEnd: where to go if not even what is around the loop has read
  // anything; an iteration that has read nothing leads nowhere.
  Pc other = kNoPc;
  std::uint32_t min = 0;  // kCountTest
  std::uint32_t max = kUnbounded;
  std::uint32_t max_tokens = kUnbounded;  // kText; `max` is of characters
};

struct FreeText {
  automata::AhoCorasick automaton;
  // By `calls` of the automaton: where a trigger leads, in order.
  std::vector<std::vector<Pc>> targets;
  // By node: how many bytes of the text may still become a trigger.
  std::vector<std::uint32_t> pending;
  // Whether a byte may leave the node 0.
  std::array<bool, 256> special = {};
  // Nodes at which a marker is spelled that only tokens write, and the marker.
  std::vector<std::pair<std::uint32_t, std::string>> spelled;
};

struct TokenSet {
  std::vector<TokenId> ids;  // sorted
  bool negated = false;
  std::string spelling = {};  // of a mark
  bool contains(TokenId id) const;
};

struct TokenText {
  std::map<TokenId, std::vector<Pc>> targets;
  std::vector<TokenId> excludes;  // sorted
};

// Where reading goes on when a tag of triggered_tags or token_triggered_tags
// does not fit: behind the next end of one of its tags, or with the next
// trigger.
struct Resume {
  TagNodeId format = structural_tag::kNoFormat;
  Pc place = kNoPc;               // its free text
  std::uint32_t count_depth = 0;  // how many counts there are around it
  // Triggers and ends.  A call below `ends` is a place in `targets`; the others
  // are ends.
  automata::AhoCorasick automaton;
  std::vector<std::vector<Pc>> targets;
  std::vector<std::uint32_t> trigger_bytes = {};  // as many as `targets`
  std::uint32_t ends = 0;
  std::vector<std::uint32_t> bytes = {};  // by node: of the word so far
  // The same of tokens.
  std::map<TokenId, std::vector<Pc>> token_targets = {};
  std::vector<TokenId> token_ends = {};  // sorted
};

// Reads the text of one format.  Others may use the recogniser too.
struct EmbeddedRecogniser {
  std::shared_ptr<recogniser::Recogniser> recogniser;  // not null
  bool reads_tokens = false;
  bool reads_marks = false;
};

struct TagProgram {
  std::vector<Instruction> code;
  Pc start = 0;
  std::vector<std::vector<Pc>> forks;
  std::vector<std::string> texts;
  std::vector<FreeText> free_texts;
  std::vector<TokenSet> token_sets;
  std::vector<TokenText> token_texts;
  std::vector<EmbeddedRecogniser> recognisers;
  std::vector<Resume> resumes;                // by format, in no order
  std::shared_ptr<const rules::Marks> marks;  // null: none
  // Tokens that some place names by their ids, and which marks they are.
  std::unordered_map<TokenId, std::uint32_t> roles;
  bool names_ordinary = false;  // some of them are ordinary tokens, or may be
  // Some place reads tokens by their ids that it does not name.
  bool has_tokens = false;
  bool has_budgets = false;  // some free text counts tokens

  // Null: a tag of this format that does not fit leads nowhere.
  const Resume* resume_of(TagNodeId format) const;
};

// What is inside a CompiledTag.
struct CompiledTagImpl {
  std::shared_ptr<const structural_tag::TagTree> tag;
  std::vector<TagNodeId> parents;          // by format
  std::vector<std::uint32_t> child_index;  // by format: its place there
  Regions regions;

  TagProgram spelled;  // reads texts
  // Reads token ids.  Null: `spelled` does, the vocabulary has no marks.
  std::unique_ptr<const TagProgram> tokens;
  bool for_vocabulary = false;
  Markers markers = Markers::kToken;

  // By format, of json_schema only.
  std::map<TagNodeId, ArgumentReader> arguments;

  const TagProgram& program(bool by_ids) const {
    return by_ids && tokens != nullptr ? *tokens : spelled;
  }
};

// What a symbol is written as.  `marks` may be null where there is none.
std::string spelling(const rules::Marks* marks, automata::WordSymbol symbol);

// Errors: as CompiledTag::compile().
Result<std::shared_ptr<const CompiledTagImpl>> compile(
    std::shared_ptr<const structural_tag::TagTree> tag,
    const CompiledTagOptions& options);

}  // namespace parlance::tag_parser

#endif  // PARLANCE_SRC_TAG_PARSER_PROGRAM_H_
