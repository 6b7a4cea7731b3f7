// Laws of reading token ids by a structural tag, where the vocabulary has
// tokens for the tag's markers:
//
//   agree       what a mask lets through is read completely, without a
//               diagnostic; of any ids, as many are read as a matcher accepts
//   mask        a token is accepted if and only if its bit is set
//   text        the decoded text is accepted and read as the same message
//   chunking    however the ids are cut, and however many of them the prompt
//               wrote, events, message and tree are the same
//   no spoofing ordinary tokens that spell a marker are not the marker
//
// over all tags and sequences of small worlds, in which tokens are parts of
// markers and of characters, and over random walks through the tags of all
// families.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "parlance/constraint.h"
#include "parlance/format.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/structural_tag.h"
#include "parlance/tag_parser.h"
#include "support/family_laws.h"
#include "support/random_tags.h"
#include "support/sanitized.h"
#include "support/tag_record.h"

namespace parlance::tag_marks_law_test {
namespace {

using Ids = std::vector<TokenId>;

std::string shown(const Vocabulary& vocabulary, const Ids& ids) {
  std::string out;
  for (const TokenId id : ids) {
    out += json::dump(json::Value(vocabulary.spelling(id))) + ":" +
           std::to_string(id) + " ";
  }
  return out;
}

// Where the text ends that the tag has read.
std::size_t read_end(const json::Value& tree) {
  const json::Value& span = *tree.find("format")->find("span");
  return static_cast<std::size_t>(span.items()[1].as_int());
}

// --- A small world -----------------------------------------------------------

// A vocabulary over two letters, the second of which may be a character of
// several bytes, and which tokens may end a response.
struct SmallWorld {
  std::string_view second = "b";
  std::vector<std::pair<std::string, TokenKind>> tokens;
  std::vector<TokenId> stops = {};
};

const std::vector<SmallWorld>& small_worlds() {
  constexpr TokenKind kText = TokenKind::kOrdinary;
  constexpr TokenKind kAdded = TokenKind::kAdded;
  constexpr TokenKind kControl = TokenKind::kControl;
  static const std::vector<SmallWorld> kWorlds = {
      // Tokens that are markers, and tokens that spell parts of them.
      {"b",
       {{"a", kText},
        {"b", kText},
        {"ab", kAdded},
        {"ba", kControl},
        {"aa", kText}}},
      // A marker inside another one.
      {"b",
       {{"aba", kAdded},
        {"b", kAdded},
        {"a", kText},
        {"ab", kText},
        {"bb", kControl}}},
      // Tokens that split a character, and markers that end in one.
      {"\u00E9",
       {{"a", kText},
        {"\xC3", kText},
        {"\xA9", kText},
        {"\xC3\xA9", kAdded},
        {"\xA9\x61\xC3", kText},
        {"\xC3\xA9\x61", kControl}}},
      // Tokens that end a response: an ordinary one, and one that is a marker.
      {"b",
       {{"a", kText},
        {"b", kText},
        {"ab", kAdded},
        {"ba", kControl},
        {"bb", kText}},
       {3, 4}},
  };
  return kWorlds;
}

Vocabulary vocabulary_of(const SmallWorld& world) {
  std::vector<TokenEntry> entries;
  for (const auto& [text, kind] : world.tokens) {
    entries.push_back({static_cast<TokenId>(entries.size()), text, kind});
  }
  return *Vocabulary::from_table(entries, world.stops);
}

// A tag with all that reads it.
struct SmallReaders {
  const Vocabulary& vocabulary;
  const CompiledTag& program;
  const Grammar* grammar = nullptr;  // null: the tag has formats of tokens
};

// The matcher has accepted `fits` of the ids, and says whether they are
// complete.
void check_ids(const SmallReaders& with, const Ids& ids, std::size_t fits,
               bool complete) {
  const Vocabulary& vocabulary = with.vocabulary;
  SCOPED_TRACE(shown(vocabulary, ids));
  const StreamOptions options = {.vocabulary = &vocabulary,
                                 .recover = Recover::kNo};
  const testing::TagRecord whole =
      testing::record_tag_parse(with.program, ids, ids.size() + 1, options);
  const auto is_stop = [&](TokenId id) {
    return std::ranges::find(vocabulary.stop_ids(), id) !=
           vocabulary.stop_ids().end();
  };
  // The parser reads markers that are stop tokens, and what follows them, where
  // a mask does not let them through.
  const bool same =
      fits == ids.size() ||
      (!is_stop(ids[fits]) && (fits == 0 || !is_stop(ids[fits - 1])));
  if (same) {
    ASSERT_EQ(whole.complete, complete);
  }
  if (complete) {
    ASSERT_EQ(json::dump(*whole.tree.find("diagnostics")), "[]");
  }
  // It ends inside the first token that does not fit.
  const std::size_t end = read_end(whole.tree);
  std::string text;
  for (std::size_t i = 0; i < fits; ++i) text += vocabulary.spelling(ids[i]);
  if (fits > 0 && same && is_stop(ids[fits - 1])) {
    // A token that ends the response is no text, unless the tag names it.
    ASSERT_LE(end, text.size());
    text.resize(
        std::max(end, text.size() - vocabulary.spelling(ids[fits - 1]).size()));
  } else if (fits == ids.size()) {
    // A character that has begun may go to the rest.
    ASSERT_LE(end, text.size());
    ASSERT_GE(end + (complete ? 0 : base::begun_character(text)), text.size());
  } else if (same) {
    ASSERT_LE(text.size() - base::begun_character(text), end);
    ASSERT_LT(end, text.size() + vocabulary.spelling(ids[fits]).size());
  }
  if (complete && with.grammar != nullptr) {
    ASSERT_TRUE(with.grammar->accepts(text)) << text;
  }
  const testing::TagRecord single =
      testing::record_tag_parse(with.program, ids, 1, options);
  ASSERT_EQ(json::dump(single.tree), json::dump(whole.tree));
  ASSERT_EQ(single.events, whole.events);
  // What the prompt wrote of it.
  for (std::size_t i = 1; i <= ids.size() && fits == ids.size(); ++i) {
    if (is_stop(ids[i - 1])) break;
    StreamOptions after = options;
    after.prefix_ids = std::span(ids).first(i);
    ASSERT_EQ(json::dump(*testing::record_tag_parse(
                              with.program, std::span(ids).subspan(i), 1, after)
                              .tree.find("message")),
              json::dump(*whole.tree.find("message")))
        << i;
  }
  if (fits == ids.size()) return;
  // Recovery after text that does not fit.
  const StreamOptions recover = {.vocabulary = &vocabulary};
  const testing::TagRecord on =
      testing::record_tag_parse(with.program, ids, ids.size() + 1, recover);
  const testing::TagRecord on_single =
      testing::record_tag_parse(with.program, ids, 1, recover);
  ASSERT_EQ(json::dump(on_single.tree), json::dump(on.tree));
  ASSERT_EQ(on_single.events, on.events);
  ASSERT_EQ(on.complete, whole.complete);
  ASSERT_LE(end, read_end(on.tree));
}

// All sequences of at most `longest` ids.  Returns how many are complete.
std::size_t check_sequences(const SmallReaders& with, Matcher& matcher,
                            Ids& ids, std::size_t fits, std::size_t longest) {
  const bool all = fits == ids.size();
  const bool complete = all && (matcher.is_terminated() || matcher.can_end());
  check_ids(with, ids, fits, complete);
  std::size_t count = complete ? 1 : 0;
  if (ids.size() == longest || ::testing::Test::HasFatalFailure()) return count;
  std::vector<std::int32_t> row((with.vocabulary.size() + 31) / 32);
  if (all && !matcher.is_terminated()) matcher.fill_bitmask(row);
  // Maybe no token of so small a vocabulary writes what must come.
  if (matcher.error()) {
    matcher.rollback(0);
    return count;
  }
  for (TokenId id = 0; id < with.vocabulary.size(); ++id) {
    ids.push_back(id);
    const bool bit =
        (static_cast<std::uint32_t>(row[id >> 5]) >> (id & 31) & 1) != 0;
    const bool fed =
        all && !matcher.is_terminated() && matcher.accept_token(id);
    EXPECT_EQ(fed, bit) << shown(with.vocabulary, ids);
    count +=
        check_sequences(with, matcher, ids, fed ? ids.size() : fits, longest);
    if (fed) matcher.rollback(1);
    ids.pop_back();
    if (::testing::Test::HasFailure()) break;
  }
  return count;
}

void run_small(std::uint32_t first, std::uint32_t count, std::size_t longest,
               bool tokens) {
  std::size_t accepted = 0;
  for (const SmallWorld& world : small_worlds()) {
    const Vocabulary vocabulary = vocabulary_of(world);
    const Compiler compiler = *Compiler::create(vocabulary);
    for (std::uint32_t seed = first; seed < first + count; ++seed) {
      const json::Value spec =
          testing::RandomTags(
              seed, {.tokens = tokens, .longest = 3, .second = world.second})
              .envelope();
      const Result<StructuralTag> tag = StructuralTag::from_value(spec);
      if (!tag) continue;
      const Result<Grammar> grammar = Grammar::from_structural_tag(*tag);
      for (const Markers markers :
           {Markers::kToken, Markers::kEither, Markers::kText}) {
        SCOPED_TRACE("world " + std::to_string(&world - small_worlds().data()) +
                     " seed " + std::to_string(seed) + " markers " +
                     std::to_string(static_cast<int>(markers)) + " " +
                     json::dump(spec));
        const Result<Constraint> constraint =
            compiler.compile_structural_tag(*tag, {}, {.markers = markers});
        const Result<CompiledTag> program = CompiledTag::compile(
            *tag, {.vocabulary = &vocabulary, .markers = markers});
        if (!constraint && program) {
          // A token that ends a text is named where something must follow.
          ASSERT_EQ(constraint.error().code, ErrorCode::kConflict);
          ASSERT_FALSE(world.stops.empty());
          continue;
        }
        ASSERT_EQ(constraint.has_value(), program.has_value());
        if (!program) continue;
        Matcher matcher = constraint->matcher();
        Ids ids;
        const SmallReaders with{vocabulary, *program,
                                grammar && !tokens ? &*grammar : nullptr};
        accepted += check_sequences(with, matcher, ids, 0, longest);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
  EXPECT_GT(accepted, count);
}

TEST(TagMarksLaw, SmallWorld) { run_small(1, 60, 3, false); }
TEST(TagMarksLaw, SmallWorldOfTokens) { run_small(1, 60, 3, true); }
TEST(TagMarksLaw, LongRunSmallWorld) { run_small(100000, 4000, 4, false); }
TEST(TagMarksLaw, LongRunSmallWorldOfTokens) {
  run_small(100000, 4000, 4, true);
}

// --- Walks -------------------------------------------------------------------

constexpr std::string_view kTools = R"([
  {"type": "function", "function": {"name": "weather", "parameters": {
    "type": "object", "required": ["city"], "properties": {
      "city": {"type": "string"}, "days": {"type": "integer"},
      "unit": {"enum": ["c", "f"]}}}}},
  {"type": "function", "function": {"name": "note", "parameters": {
    "type": "object", "properties": {
      "text": {"type": "string"}, "tags": {"type": "array",
        "items": {"type": "string"}}}}}}])";

// Stretches of a tag's texts that look like markers.
void collect_markers(const json::Value& value, std::set<std::string>& out) {
  std::vector<const json::Value*> open = {&value};
  while (!open.empty()) {
    const json::Value& one = *open.back();
    open.pop_back();
    if (one.is_array()) {
      for (const json::Value& item : one.items()) open.push_back(&item);
    } else if (one.is_object()) {
      for (const auto& [key, member] : one.members()) open.push_back(&member);
    } else if (one.is_string()) {
      const std::string_view text = one.as_string();
      for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '<' && text[at] != '[') continue;
        const std::size_t end = text.find_first_of(
            text[at] == '<' ? "<> \n={" : "[] \n={\"", at + 1);
        if (end == std::string_view::npos || end < at + 4) continue;
        if (text[end] != '>' && text[end] != ']') continue;
        out.emplace(text.substr(at, end + 1 - at));
      }
    }
  }
}

// Bytes, words, the tag's markers, those of argument styles, and two stops.
// `spaces`: its tokens take white space along.
Vocabulary walked_vocabulary(const json::Value& tag, bool spaces) {
  std::vector<TokenEntry> entries;
  const auto add = [&](std::string text, TokenKind kind) {
    entries.push_back(
        {static_cast<TokenId>(entries.size()), std::move(text), kind});
  };
  for (int byte = 0; byte < 256; ++byte) {
    add(std::string(1, static_cast<char>(byte)), TokenKind::kOrdinary);
  }
  for (const char* word :
       {" the",      "Hello", "tool",      "_call",    "weather",
        "note",      "city",  "text",      "\": \"",   "\", \"",
        "\"}",       "{\"",   "}\n",       "</",       "<|",
        "|>",        "><",    ">\n",       "[\"",      "\"]",
        "]}",        " 12",   "true",      "\xC3\xBC", "\xE4\xBD\xA0",
        "arguments", "name",  "parameter", "call>",    "\n\n",
        "\n{\"",     "\\n",   "think",     "<t",       "to=",
        "function",  "s.",    "json"}) {
    add(word, TokenKind::kOrdinary);
  }
  std::set<std::string> markers = {
      "<arg_key>",    "</arg_key>",   "<arg_value>",
      "</arg_value>", "</parameter>", "</parameters>",
      "</invoke>",    "<other>",      "<|extra|>"};
  collect_markers(tag, markers);
  std::size_t count = 0;
  for (const std::string& marker : markers) {
    add(marker, ++count % 3 == 0 ? TokenKind::kControl : TokenKind::kAdded);
    entries.back().strips_left = spaces && count % 2 == 0;
    entries.back().strips_right = spaces && count % 5 < 2;
  }
  const auto stop = static_cast<TokenId>(entries.size());
  add("<|stop_1|>", TokenKind::kControl);
  add("<|stop_2|>", TokenKind::kControl);
  const TokenId stops[] = {stop, stop + 1};
  return Vocabulary::from_table(entries, stops)
      ->with_space_after_marks(spaces && markers.size() % 2 == 0);
}

// Ids that the masks let through, at most `most`.
Ids walk(const Constraint& constraint, const Vocabulary& vocabulary,
         std::size_t most, std::mt19937& random, bool* ended) {
  Matcher matcher = constraint.matcher();
  Ids out;
  std::vector<std::int32_t> row((vocabulary.size() + 31) / 32);
  while (out.size() < most && !matcher.is_terminated()) {
    matcher.fill_bitmask(row);
    Ids all;
    Ids marks;
    Ids closing;
    for (TokenId id = 0; id < vocabulary.size(); ++id) {
      if ((static_cast<std::uint32_t>(row[id >> 5]) >> (id & 31) & 1) == 0) {
        continue;
      }
      all.push_back(id);
      if (vocabulary.kind(id) != TokenKind::kOrdinary) marks.push_back(id);
      if (vocabulary.bytes(id).find_first_of("\"}]>") !=
          std::string_view::npos) {
        closing.push_back(id);
      }
    }
    if (all.empty()) {
      ADD_FAILURE() << "no token may follow " << shown(vocabulary, out);
      break;
    }
    const Ids* from = &all;
    if (random() % 3 == 0 && !marks.empty()) {
      from = &marks;
    } else if (random() % 2 == 0 && !closing.empty()) {
      from = &closing;
    }
    const TokenId id = (*from)[random() % from->size()];
    EXPECT_TRUE(matcher.accept_token(id)) << id;
    out.push_back(id);
  }
  *ended = matcher.is_terminated();
  return out;
}

struct Walked {
  const Vocabulary& vocabulary;
  const Constraint& constraint;
  const CompiledTag& program;
  const CompiledTag& texts;  // without a vocabulary
  const Grammar& grammar;
  bool spaces = false;
};

void check_walk(const Walked& with, const Ids& ids, bool ended) {
  const Vocabulary& vocabulary = with.vocabulary;
  SCOPED_TRACE(shown(vocabulary, ids));
  const StreamOptions options = {.vocabulary = &vocabulary};
  const testing::TagRecord whole =
      testing::record_tag_parse(with.program, ids, ids.size() + 1, options);
  // A character that has begun goes to the rest.
  const std::string_view rest = whole.tree.find("rest")->as_string();
  EXPECT_TRUE(rest.empty() || (!ended && rest == "\xEF\xBF\xBD")) << rest;
  if (ended) {
    EXPECT_TRUE(whole.complete);
    EXPECT_EQ(json::dump(*whole.tree.find("diagnostics")), "[]");
  }
  for (const std::size_t step : {1, 3}) {
    const testing::TagRecord cut =
        testing::record_tag_parse(with.program, ids, step, options);
    EXPECT_EQ(json::dump(cut.tree), json::dump(whole.tree));
    EXPECT_EQ(cut.events, whole.events);
  }
  // White space that a token takes along is missing in the text.
  if (!ended || with.spaces) return;
  // Without the token that ended it, unless that is a marker of the tag.
  std::string text;
  for (const TokenId id : ids) text += vocabulary.spelling(id);
  text.resize(read_end(whole.tree));
  EXPECT_TRUE(with.grammar.accepts(text)) << text;
  const json::Value spelled = parse_by_tag(with.texts, text);
  EXPECT_EQ(json::dump(*spelled.find("message")),
            json::dump(*whole.tree.find("message")))
      << text;
}

// Any other ids: the parser reads what the matcher accepts, and no more.
void check_changed(const Walked& with, const Ids& ids) {
  const Vocabulary& vocabulary = with.vocabulary;
  SCOPED_TRACE(shown(vocabulary, ids));
  Matcher matcher = with.constraint.matcher();
  const std::size_t fits = matcher.accept_tokens(ids);
  const testing::TagRecord whole = testing::record_tag_parse(
      with.program, ids, ids.size() + 1,
      {.vocabulary = &vocabulary, .recover = Recover::kNo});
  const testing::TagRecord on = testing::record_tag_parse(
      with.program, ids, ids.size() + 1, {.vocabulary = &vocabulary});
  EXPECT_EQ(on.complete, whole.complete);
  EXPECT_EQ(on.events, testing::record_tag_parse(with.program, ids, 1,
                                                 {.vocabulary = &vocabulary})
                           .events);
  EXPECT_EQ(whole.complete, fits == ids.size() &&
                                (matcher.is_terminated() || matcher.can_end()));
  if (fits == ids.size()) {
    const std::string_view rest = whole.tree.find("rest")->as_string();
    EXPECT_TRUE(rest.empty() || rest == "\xEF\xBF\xBD") << rest;
  } else if (std::find(vocabulary.stop_ids().begin(),
                       vocabulary.stop_ids().end(),
                       ids[fits]) == vocabulary.stop_ids().end()) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < fits; ++i) {
      begin += vocabulary.spelling(ids[i]).size();
    }
    if (matcher.is_terminated()) return;
    EXPECT_LE(begin, read_end(whole.tree) + 3);  // a character goes as a whole
    EXPECT_LT(read_end(whole.tree),
              begin + std::max<std::size_t>(
                          1, vocabulary.spelling(ids[fits]).size()));
  }
}

void run_walks(std::size_t walks, std::size_t most, bool spaces) {
  std::mt19937 random(7);
  std::size_t finished = 0;
  for (const std::string& family : testing::tried(testing::families())) {
    for (const char* choice : {"auto", "required"}) {
      SCOPED_TRACE(family + " " + choice);
      StructuralTagOptions options;
      options.tools = *json::parse(kTools);
      options.tool_choice = choice;
      options.max_white_space = 2;
      Result<StructuralTag> tag = tool_calling(family, options);
      if (!tag) {  // no calls, or none that can be constrained
        ASSERT_TRUE(tag.error().code == ErrorCode::kUnsupported ||
                    tag.error().code == ErrorCode::kConflict)
            << tag.error().to_string();
        continue;
      }
      // The tag alone, whose parser knows no layout besides.
      tag = StructuralTag::from_value(tag->to_json());
      ASSERT_TRUE(tag) << tag.error().to_string();
      const Vocabulary vocabulary = walked_vocabulary(tag->to_json(), spaces);
      const Compiler compiler = *Compiler::create(vocabulary);
      const auto constraint = compiler.compile_structural_tag(*tag);
      ASSERT_TRUE(constraint) << constraint.error().to_string();
      const auto program =
          CompiledTag::compile(*tag, {.vocabulary = &vocabulary});
      ASSERT_TRUE(program) << program.error().to_string();
      const auto texts = CompiledTag::compile(*tag);
      const auto grammar = Grammar::from_structural_tag(*tag);
      const Walked with{vocabulary, *constraint, *program,
                        *texts,     *grammar,    spaces};
      for (std::size_t i = 0; i < walks; ++i) {
        bool ended = false;
        const Ids ids = walk(*constraint, vocabulary, most, random, &ended);
        finished += ended;
        check_walk(with, ids, ended);
        if (::testing::Test::HasFailure()) return;
        if (ids.empty()) continue;
        // Another token in the place of one; a marker that is spelled.
        Ids changed = ids;
        changed[random() % ids.size()] =
            static_cast<TokenId>(random() % vocabulary.size());
        check_changed(with, changed);
        for (std::size_t at = 0; at < ids.size(); ++at) {
          if (vocabulary.kind(ids[at]) == TokenKind::kOrdinary ||
              random() % 4 != 0) {
            continue;
          }
          Ids spelled(ids.begin(),
                      ids.begin() + static_cast<std::ptrdiff_t>(at));
          for (const char c : vocabulary.spelling(ids[at])) {
            spelled.push_back(static_cast<std::uint8_t>(c));
          }
          spelled.insert(spelled.end(),
                         ids.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                         ids.end());
          check_changed(with, spelled);
        }
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
  EXPECT_GT(finished, walks * 8);
}

TEST(TagMarksLaw, Walks) {
  run_walks(testing::reduced() ? testing::cases(20) : 6, 150, false);
}
TEST(TagMarksLaw, WalksWithWhiteSpace) {
  run_walks(testing::reduced() ? 1 : 3, 150, true);
}
TEST(TagMarksLaw, LongRunWalks) { run_walks(1000, 400, false); }
TEST(TagMarksLaw, LongRunWalksWithWhiteSpace) { run_walks(500, 300, true); }

}  // namespace
}  // namespace parlance::tag_marks_law_test
