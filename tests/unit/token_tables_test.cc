// Token tables against the obvious loop over all tokens, and against damage.

#include "vocab/token_tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "parlance/vocabulary.h"
#include "support/string_body_run.h"

namespace parlance::vocab::token_tables_test {
namespace {

using json::BodyRun;
using json::BodyState;

// A token that leaves: what remains, count, newlines, id.
using Leaving = std::tuple<std::string, int, int, Id>;

Vocabulary make_vocabulary(const std::vector<TokenEntry>& entries) {
  Result<Vocabulary> vocabulary = Vocabulary::from_table(entries);
  EXPECT_TRUE(vocabulary) << vocabulary.error().to_string();
  return *vocabulary;
}

TokenTables make_tables(const Vocabulary& vocabulary) {
  Result<TokenTables> tables = TokenTables::build(vocabulary);
  EXPECT_TRUE(tables) << tables.error().to_string();
  return *tables;
}

// Ordinary tokens with ids from 0.
std::vector<TokenEntry> entries_of(const std::vector<std::string>& texts) {
  std::vector<TokenEntry> entries;
  for (const std::string& text : texts) {
    entries.push_back({static_cast<Id>(entries.size()), text});
  }
  return entries;
}

// All bytes, and `count` tokens of pieces that JSON cares about; some of them
// twice, some ids unused, some special, one empty, some very long.
Vocabulary random_vocabulary(std::uint32_t seed, int count) {
  static const std::vector<std::string> pieces = {"a",
                                                  "b",
                                                  "e",
                                                  "1",
                                                  "0",
                                                  "\"",
                                                  "\\",
                                                  "\\\\",
                                                  "u",
                                                  "\\u",
                                                  "d8",
                                                  "DC00",
                                                  "00",
                                                  "D83D",
                                                  "\xC3",
                                                  "\xA9",
                                                  "\x80",
                                                  "\xE2",
                                                  "\x82",
                                                  "\xED",
                                                  "\xA0",
                                                  "\x9F",
                                                  "\xF0",
                                                  "\x90",
                                                  "\xF4",
                                                  "\x8F",
                                                  " ",
                                                  "\t",
                                                  "\n",
                                                  "\r\n",
                                                  "{",
                                                  "}",
                                                  ",",
                                                  ":",
                                                  "[",
                                                  "]",
                                                  "-",
                                                  "\x01",
                                                  "\\uD83D\\uDE00",
                                                  "\xF0\x9F\x98\x80",
                                                  "\": \"",
                                                  "\",",
                                                  "true",
                                                  "x",
                                                  "  ",
                                                  "\\n"};
  std::mt19937 random(seed);
  std::vector<TokenEntry> entries;
  Id id = 0;
  for (int byte = 0; byte < 256; ++byte) {
    entries.push_back({id++, std::string(1, static_cast<char>(byte))});
  }
  entries.push_back({id++, ""});
  entries.push_back({id++, "<special>", TokenKind::kControl});
  entries.push_back({id++, "ab", TokenKind::kControl});
  entries.push_back({id++, "", TokenKind::kUnused});
  for (const std::size_t size : {40, 41, 42, 100, 255, 256, 1000}) {
    entries.push_back({id++, std::string(size, 'y')});
    entries.push_back({id++, std::string(size, ' ')});
    entries.push_back({id++, '"' + std::string(size - 1, 'z')});
    entries.push_back({id++, std::string(size - 1, 'z') + '"'});
  }
  for (int i = 0; i < count; ++i) {
    if (random() % 16 == 0) id += random() % 40;
    std::string text;
    const std::size_t length = 1 + random() % 6;
    for (std::size_t n = 0; n < length; ++n) {
      text += pieces[random() % pieces.size()];
    }
    entries.push_back({id++, text});
    if (random() % 16 == 0) entries.push_back({id++, text});
  }
  // Ids say nothing about the order of the bytes.
  for (std::size_t i = entries.size(); i > 1; --i) {
    std::swap(entries[i - 1].id, entries[random() % i].id);
  }
  return make_vocabulary(entries);
}

// The tokens that tables are about, by id.
std::vector<std::pair<Id, std::string>> tokens_of(const Vocabulary& v) {
  std::vector<std::pair<Id, std::string>> tokens;
  for (Id id = 0; id < v.size(); ++id) {
    const std::string_view bytes = v.bytes(id);
    if (v.kind(id) == TokenKind::kOrdinary && !bytes.empty() &&
        bytes.size() <= kMaxTokenBytes) {
      tokens.emplace_back(id, bytes);
    }
  }
  return tokens;
}

std::vector<std::uint32_t> mask_of(const std::vector<Id>& ids,
                                   std::size_t size) {
  std::vector<std::uint32_t> mask((size + 31) / 32);
  for (const Id id : ids) mask[id / 32] |= std::uint32_t{1} << id % 32;
  return mask;
}

template <class T>
std::vector<T> list(std::span<const T> span) {
  return {span.begin(), span.end()};
}

// The texts that the nodes of a trie spell; checks that it is one.
std::vector<std::string> spelled(std::span<const TrieNode> nodes) {
  EXPECT_TRUE(is_trie(nodes, kNoToken));
  std::vector<std::string> texts = {""};
  std::string text;
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    text.resize(nodes[i].depth() - 1u);
    text += static_cast<char>(nodes[i].byte());
    texts.push_back(text);
  }
  EXPECT_TRUE(std::ranges::is_sorted(texts));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::size_t end = i;
    while (end < texts.size() && texts[end].starts_with(texts[i])) ++end;
    EXPECT_EQ(nodes[i].subtree_end(), end);
  }
  return texts;
}

// The exits of a trie; checks its ranges.
std::vector<Leaving> leavings_of(const ExitTrie& trie) {
  std::vector<Leaving> all;
  const std::vector<std::string> texts = spelled(trie.nodes());
  std::size_t before = 0;
  for (std::uint32_t i = 0; i < trie.node_count(); ++i) {
    EXPECT_EQ(trie.node(i).token(), kNoToken);
    for (const ExitToken& exit : trie.exits(i)) {
      all.emplace_back(texts[i], exit.count, exit.newlines, exit.id);
    }
    const auto below = trie.subtree_exits(i);
    EXPECT_FALSE(i > 0 && below.empty()) << "a node for nothing";
    EXPECT_EQ(below.data(), trie.exits().data() + before);
    std::size_t size = 0;
    for (std::uint32_t j = i; j < trie.node(i).subtree_end(); ++j) {
      size += trie.exits(j).size();
    }
    EXPECT_EQ(below.size(), size);
    before += trie.exits(i).size();
  }
  EXPECT_EQ(before, trie.exits().size());
  return all;
}

void expect_trie(const Vocabulary& vocabulary, const TokenTables& tables) {
  std::map<std::string, std::vector<Id>> wanted;
  std::vector<Id> all;
  for (const auto& [id, bytes] : tokens_of(vocabulary)) {
    wanted[bytes].push_back(id);
    all.push_back(id);
  }
  const TokenTrie& trie = tables.trie();
  const std::vector<std::string> texts = spelled(trie.nodes());
  std::map<std::string, std::vector<Id>> found;
  std::size_t duplicates = 0;
  for (std::uint32_t i = 1; i < trie.node_count(); ++i) {
    const Id id = trie.token(i);
    if (id == kNoToken) {
      EXPECT_GT(trie.subtree_end(i), i + 1) << "a leaf for nothing";
      continue;
    }
    found[texts[i]].push_back(id);
    for (const Duplicate& pair : trie.duplicates(id)) {
      EXPECT_EQ(pair.id, id);
      found[texts[i]].push_back(pair.other);
      ++duplicates;
    }
  }
  EXPECT_EQ(found, wanted);
  EXPECT_EQ(trie.all_duplicates().size(), duplicates);
  for (int byte = 0; byte < 256; ++byte) {
    const auto at =
        std::ranges::find(texts, std::string(1, static_cast<char>(byte)));
    EXPECT_EQ(trie.root_child(static_cast<std::uint8_t>(byte)),
              at == texts.end() ? 0 : at - texts.begin());
  }
  EXPECT_EQ(list(tables.all_text()), mask_of(all, vocabulary.size()));
}

void expect_body(const Vocabulary& vocabulary, const BodyTable& table,
                 BodyState from, bool after_quote) {
  std::vector<std::pair<std::uint32_t, Id>> inner;
  std::vector<Leaving> exits;
  for (const auto& [id, bytes] : tokens_of(vocabulary)) {
    std::string_view text = bytes;
    if (after_quote) {
      if (text[0] != '"') continue;
      text.remove_prefix(1);
    }
    const BodyRun run = json::run_body(from, text);
    if (is_live(run.state)) {
      inner.emplace_back(run.chars_begun(), id);
    } else if (run.state == BodyState::kExit) {
      exits.emplace_back(text.substr(run.size), run.chars, 0, id);
    }
  }
  std::ranges::sort(inner);
  std::ranges::sort(exits);
  EXPECT_EQ(leavings_of(table.exits()), exits);

  std::vector<Id> ids;
  for (const auto& [chars, id] : inner) ids.push_back(id);
  EXPECT_EQ(list(table.by_chars()), ids);
  EXPECT_EQ(list(table.inner()), mask_of(ids, vocabulary.size()));
  EXPECT_EQ(table.max_chars(), inner.empty() ? 0 : inner.back().first);
  const bool stored = from == BodyState::kText;
  std::vector<std::uint32_t> mask(table.inner().size());
  std::size_t fit = 0;
  for (std::uint32_t n = 0; n <= 300; ++n) {
    while (fit < inner.size() && inner[fit].first <= n) ++fit;
    EXPECT_EQ(table.count_at_most(n), fit);
    const auto wanted =
        mask_of({ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(fit)},
                vocabulary.size());
    EXPECT_EQ(table.has_at_most(n),
              n >= table.max_chars() || (stored && n <= kMaxBoundedChars));
    if (table.has_at_most(n)) {
      EXPECT_EQ(list(table.inner_at_most(n)), wanted) << n;
    }
    std::ranges::fill(mask, 0xA5A5A5A5u);
    table.fill_at_most(n, mask);
    EXPECT_EQ(mask, wanted) << n;
  }
}

void expect_white_space(const Vocabulary& vocabulary,
                        const WhiteSpaceTable& table) {
  std::vector<std::tuple<std::size_t, Id, std::size_t>> tokens;
  std::vector<Leaving> exits;
  for (const auto& [id, bytes] : tokens_of(vocabulary)) {
    const std::size_t space =
        std::min(bytes.find_first_not_of(" \t\n\r"), bytes.size());
    const auto newlines = std::ranges::count(bytes.substr(0, space), '\n');
    if (space == bytes.size()) {
      tokens.emplace_back(space, id, newlines);
    } else if (space > 0 &&
               std::string_view("\"{}[],:-0123456789tfn").find(bytes[space]) !=
                   std::string::npos) {
      exits.emplace_back(bytes.substr(space), space, newlines, id);
    }
  }
  std::ranges::sort(tokens);
  std::ranges::sort(exits, [](const Leaving& a, const Leaving& b) {
    return std::tie(std::get<0>(a), std::get<1>(a), std::get<3>(a)) <
           std::tie(std::get<0>(b), std::get<1>(b), std::get<3>(b));
  });
  std::vector<std::tuple<std::size_t, Id, std::size_t>> found;
  for (const WhiteSpaceToken& token : table.tokens()) {
    found.emplace_back(token.bytes, token.id, token.newlines);
  }
  EXPECT_EQ(found, tokens);
  EXPECT_EQ(leavings_of(table.exits()), exits);
}

void expect_tables(const Vocabulary& vocabulary, const TokenTables& tables) {
  EXPECT_EQ(tables.vocabulary_size(), vocabulary.size());
  EXPECT_EQ(tables.mask_words(), (vocabulary.size() + 31) / 32);
  expect_trie(vocabulary, tables);
  for (std::size_t s = 0; s < json::kLiveBodyStateCount; ++s) {
    SCOPED_TRACE("state " + std::to_string(s));
    const auto state = static_cast<BodyState>(s);
    expect_body(vocabulary, tables.body(state), state, false);
  }
  SCOPED_TRACE("other tables");
  expect_body(vocabulary, tables.string_start(), BodyState::kText, true);
  expect_white_space(vocabulary, tables.white_space());
}

TEST(TokenTables, SayWhatALoopOverAllTokensSays) {
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Vocabulary vocabulary = random_vocabulary(seed, 1200);
    const TokenTables tables = make_tables(vocabulary);
    expect_tables(vocabulary, tables);
    EXPECT_FALSE(tables.trie().all_duplicates().empty());
  }
}

TEST(TokenTables, SmallVocabularies) {
  for (const std::vector<std::string>& texts :
       std::vector<std::vector<std::string>>{
           {}, {""}, {"a"}, {"\""}, {"\"\""}, {" "}, {"a", "a", "a"}}) {
    SCOPED_TRACE(::testing::PrintToString(texts));
    const Vocabulary vocabulary = make_vocabulary(entries_of(texts));
    const TokenTables tables = make_tables(vocabulary);
    expect_tables(vocabulary, tables);
    const std::optional<TokenTables> again =
        TokenTables::read(copy_bytes(tables.bytes()), vocabulary);
    ASSERT_TRUE(again);
    expect_tables(vocabulary, *again);
  }
}

TEST(TokenTables, TwinsAreEverywhere) {
  const Vocabulary vocabulary =
      make_vocabulary(entries_of({"b", "a\"", "a", "a\"", "a", " ", " ", "a"}));
  const TokenTables tables = make_tables(vocabulary);
  std::vector<Id> duplicates;
  for (const Duplicate& pair : tables.trie().duplicates(2)) {
    duplicates.push_back(pair.other);
  }
  EXPECT_EQ(duplicates, (std::vector<Id>{4, 7}));
  EXPECT_TRUE(tables.trie().duplicates(4).empty());
  EXPECT_EQ(leavings_of(tables.body(BodyState::kText).exits()),
            (std::vector<Leaving>{{"", 1, 0, 1}, {"", 1, 0, 3}}));
}

TEST(TokenTables, ComeBackFromTheirBytes) {
  const Vocabulary vocabulary = random_vocabulary(7, 800);
  const TokenTables tables = make_tables(vocabulary);
  const std::optional<TokenTables> again =
      TokenTables::read(copy_bytes(tables.bytes()), vocabulary);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->bytes(), tables.bytes());
  expect_tables(vocabulary, *again);
}

// The tables that a file has must spell the tokens of the file.
TEST(TokenTables, SpellTheirVocabulary) {
  const auto text = [](const char* bytes) {
    return make_vocabulary({{0, "a"}, {1, bytes}});
  };
  const TokenTables tables = make_tables(text("b"));
  const auto reads = [&](const Vocabulary& vocabulary) {
    return TokenTables::read(copy_bytes(tables.bytes()), vocabulary)
        .has_value();
  };
  EXPECT_TRUE(reads(text("b")));
  for (const Vocabulary& other :
       {text("c"), text("bb"), make_vocabulary({{0, "a"}}),
        make_vocabulary({{0, "b"}, {1, "a"}})}) {
    EXPECT_FALSE(reads(other));
  }
}

// Damage.

// Few tokens, and something in every section.
Vocabulary small_vocabulary() {
  std::vector<TokenEntry> entries = entries_of(
      {"a", "ab", "\"", "a\"", "\":", "\"b", "\"b\",", " ", " \"", "\n\n", "a",
       "\\", "n\"", "\xC3", "\xA9\"", std::string(300, 'x')});
  return make_vocabulary(entries);
}

// Reads everything that tables offer; what it says does not matter.
std::uint64_t touch(const TokenTables& tables) {
  std::uint64_t sum = 0;
  const auto exits = [&](const ExitTrie& trie) {
    for (std::uint32_t i = 0; i < trie.node_count(); ++i) {
      for (const ExitToken& exit : trie.exits(i)) sum += exit.id;
      for (const ExitToken& exit : trie.subtree_exits(i)) sum += exit.id;
    }
  };
  std::vector<std::uint32_t> mask(tables.mask_words());
  const auto body = [&](const BodyTable& table) {
    for (const std::uint32_t n : {0u, 1u, 2u, 40u, 300u}) {
      table.fill_at_most(n, mask);
      sum += mask.empty() ? 0 : mask[0];
    }
    for (const Id id : table.by_chars()) sum += tables.all_text()[id / 32];
    exits(table.exits());
  };
  const TokenTrie& trie = tables.trie();
  for (std::uint32_t i = 0; i < trie.node_count(); ++i) {
    sum += trie.subtree_end(i);
    if (trie.token(i) == kNoToken) continue;
    sum += tables.all_text()[trie.token(i) / 32];
    for (const Duplicate& t : trie.duplicates(trie.token(i))) sum += t.other;
  }
  for (int byte = 0; byte < 256; ++byte) {
    sum += trie.node(trie.root_child(static_cast<std::uint8_t>(byte))).depth();
  }
  for (std::size_t s = 0; s < json::kLiveBodyStateCount; ++s) {
    body(tables.body(static_cast<BodyState>(s)));
  }
  body(tables.string_start());
  for (const WhiteSpaceToken& t : tables.white_space().tokens()) sum += t.id;
  exits(tables.white_space().exits());
  return sum;
}

TEST(TokenTablesDamage, EveryTruncationIsRefused) {
  const Vocabulary vocabulary = small_vocabulary();
  const TokenTables tables = make_tables(vocabulary);
  const std::string_view blob = tables.bytes();
  for (std::size_t size = 0; size < blob.size(); ++size) {
    EXPECT_FALSE(
        TokenTables::read(copy_bytes(blob.substr(0, size)), vocabulary))
        << size;
  }
}

TEST(TokenTablesDamage, NoForgedByteReadsElsewhere) {
  const Vocabulary vocabulary = small_vocabulary();
  const TokenTables tables = make_tables(vocabulary);
  const std::string blob(tables.bytes());
  std::size_t refused = 0;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < blob.size(); ++i) {
    for (const int change : {1, 2, 0x40, 0x80, 0xFF}) {
      std::string forged = blob;
      forged[i] = static_cast<char>(forged[i] ^ change);
      const std::optional<TokenTables> read =
          TokenTables::read(copy_bytes(forged), vocabulary);
      if (read) {
        sum += touch(*read);
      } else {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, blob.size());  // one in five at least
  EXPECT_NE(sum, 0u);
}

}  // namespace
}  // namespace parlance::vocab::token_tables_test
