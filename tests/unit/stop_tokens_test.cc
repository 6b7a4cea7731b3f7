// Stop tokens that a grammar names, and places where no token of the vocabulary
// can write what must come.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/batch.h"
#include "parlance/constraint.h"

namespace parlance::stop_tokens_test {
namespace {

using Row = std::vector<std::int32_t>;

Vocabulary make(const std::vector<std::string>& ordinary,
                const std::vector<std::string>& control,
                const std::vector<TokenId>& stops) {
  std::vector<TokenEntry> entries;
  const auto add = [&](const std::string& bytes, TokenKind kind) {
    entries.push_back({.id = static_cast<TokenId>(entries.size()),
                       .bytes = bytes,
                       .kind = kind});
  };
  for (const std::string& text : ordinary) add(text, TokenKind::kOrdinary);
  for (const std::string& text : control) add(text, TokenKind::kControl);
  return *Vocabulary::from_table(entries, stops);
}

std::vector<TokenId> allowed(Matcher& matcher) {
  Row row(matcher.mask_words());
  matcher.fill_bitmask(row);
  std::vector<TokenId> out;
  for (TokenId id = 0; id < 32 * row.size(); ++id) {
    if ((static_cast<std::uint32_t>(row[id / 32]) >> (id % 32) & 1) != 0) {
      out.push_back(id);
    }
  }
  return out;
}

using Ids = std::vector<TokenId>;

// The ids: 0 "a", 1 "b", 2 <|end|> (stop), 3 <|more|>.
Compiler small_compiler() {
  return *Compiler::create(make({"a", "b"}, {"<|end|>", "<|more|>"}, {2}));
}

TEST(StopTokens, OneNamedByItsIdEndsTheText) {
  const Compiler compiler = small_compiler();
  const auto tag = [&](std::string_view end) {
    return compiler.compile_structural_tag(
        R"({"format":{"type":"tag","begin":"a","content":{"type":"const_string",)"
        R"("value":"b"},"end":)" +
        std::string(end) + "}}");
  };
  const std::pair<std::string, Result<Constraint>> rows[] = {
      {"lark, by name", compiler.compile_lark("start: \"ab\" <|end|>")},
      {"lark, by id", compiler.compile_lark("start: \"ab\" <[2]>")},
      {"ebnf", compiler.compile_ebnf("root ::= \"ab\" Token(2)")},
      {"dispatch",
       compiler.compile_ebnf("root ::= \"ab\" TokenTagDispatch((2, r))\n"
                             "r ::= \"\"")},
      {"a mark", tag(R"("<|end|>")")},
      {"a token of a tag", tag(R"({"type":"token","token":"<|end|>"})")},
      {"a token of a tag by id", tag(R"({"type":"token","token":2})")},
  };
  for (const auto& [name, constraint] : rows) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(constraint) << constraint.error().to_string();
    Matcher matcher = constraint->matcher();
    EXPECT_EQ(allowed(matcher), Ids{0});
    ASSERT_TRUE(matcher.accept_token(0));
    EXPECT_EQ(allowed(matcher), Ids{1});
    ASSERT_TRUE(matcher.accept_token(1));
    const Ids last = allowed(matcher);
    EXPECT_EQ(std::ranges::count(last, 2U), 1);
    EXPECT_TRUE(matcher.accept_token(2));
    EXPECT_TRUE(matcher.is_terminated());
    EXPECT_FALSE(matcher.error());
  }
}

// A set of all tokens but some means tokens that write the text.
TEST(StopTokens, AreNotMeantByAnyTokenBut) {
  const Compiler compiler = small_compiler();
  for (const Result<Constraint>& constraint :
       {compiler.compile_lark("start: \"ab\" <[^0]>"),
        compiler.compile_structural_tag(
            R"({"format":{"type":"sequence","elements":[
                {"type":"const_string","value":"ab"},
                {"type":"exclude_token","exclude_tokens":[0]}]}})")}) {
    ASSERT_TRUE(constraint) << constraint.error().to_string();
    Matcher matcher = constraint->matcher();
    ASSERT_TRUE(matcher.accept_token(0));
    ASSERT_TRUE(matcher.accept_token(1));
    EXPECT_FALSE(matcher.can_end());
    const Ids next = allowed(matcher);
    EXPECT_EQ(std::ranges::count(next, 1U), 1);
    EXPECT_EQ(std::ranges::count(next, 2U), 0);
  }
}

TEST(StopTokens, AnyTextIsEndedByATokenOfItsId) {
  const Compiler compiler = small_compiler();
  for (const std::string_view content : {"any_text", "any_tokens"}) {
    const Result<Constraint> constraint = compiler.compile_structural_tag(
        R"({"format":{"type":"tag","begin":"a","content":{"type":")" +
        std::string(content) +
        R"("},"end":{"type":"token","token":"<|end|>"}}})");
    ASSERT_TRUE(constraint) << constraint.error().to_string();
    Matcher matcher = constraint->matcher();
    ASSERT_TRUE(matcher.accept_token(0));
    ASSERT_TRUE(matcher.accept_token(1));
    EXPECT_EQ(std::ranges::count(allowed(matcher), 2U), 1) << content;
    EXPECT_TRUE(matcher.accept_token(2));
    EXPECT_TRUE(matcher.is_terminated());
  }
}

// A stop token after which more must come does not end the text, and no other
// token can come.
TEST(StopTokens, ATextThatOwesMoreIsNotEnded) {
  const Compiler compiler = small_compiler();
  const Result<Constraint> constraint =
      compiler.compile_ebnf("root ::= \"a\" Token(2) \"b\"");
  ASSERT_TRUE(constraint);
  Matcher matcher = constraint->matcher();
  ASSERT_TRUE(matcher.accept_token(0));
  EXPECT_FALSE(matcher.accept_token(2));
  EXPECT_EQ(allowed(matcher), Ids{2});
  ASSERT_TRUE(matcher.error());
  EXPECT_EQ(matcher.error()->code, ErrorCode::kUnsatisfiable);
  // With other stop tokens it is a token as any other.
  MatcherOptions options;
  options.stop_ids = Ids{3};
  Matcher other = constraint->matcher(options);
  EXPECT_TRUE(other.accept_token(0));
  EXPECT_TRUE(other.accept_token(2));
  EXPECT_TRUE(other.accept_token(1));
  EXPECT_EQ(allowed(other), Ids{3});
}

// One tag, in which the control tokens are marks, or are named by their ids:
// equal masks on all texts of up to six tokens.
TEST(StopTokens, MarksAndIdsAgree) {
  const Compiler compiler = small_compiler();
  std::mt19937 random(11);
  const auto draw = [&](auto& self, int depth, bool marks) -> std::string {
    const auto token = [&](std::string_view spelling) {
      const std::string quoted = '"' + std::string(spelling) + '"';
      return marks ? R"({"type":"const_string","value":)" + quoted + "}"
                   : R"({"type":"token","token":)" + quoted + "}";
    };
    const auto list = [&](std::string_view type) {
      std::string out =
          R"({"type":")" + std::string(type) + R"(","elements":[)";
      const auto count = 1 + random() % 3;
      for (std::size_t i = 0; i < count; ++i) {
        out += (i == 0 ? "" : ",") + self(self, depth - 1, marks);
      }
      return out + "]}";
    };
    const auto kind = random() % (depth > 0 ? 8 : 4);
    switch (kind) {
      case 0:
      case 1:
        return token("<|end|>");
      case 2:
        return token("<|more|>");
      case 3:
        return random() % 2 == 0
                   ? std::string(R"({"type":"const_string","value":"a"})")
                   : std::string(R"({"type":"const_string","value":"b"})");
      case 4:
        return R"({"type":"optional","content":)" +
               self(self, depth - 1, marks) + "}";
      case 5:
        return list("or");
      default:
        return list("sequence");
    }
  };
  int compared = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    std::optional<Constraint> both[2];
    for (const bool marks : {false, true}) {
      random.seed(seed);
      const std::string tag = R"({"format":)" + draw(draw, 3, marks) + "}";
      Result<Constraint> made = compiler.compile_structural_tag(tag);
      if (made) both[marks] = *std::move(made);
    }
    ASSERT_EQ(both[0].has_value(), both[1].has_value()) << seed;
    if (!both[0]) continue;
    std::vector<std::pair<Matcher, Matcher>> left;
    left.emplace_back(both[0]->matcher(), both[1]->matcher());
    while (!left.empty()) {
      auto [by_id, by_mark] = std::move(left.back());
      left.pop_back();
      const Ids next = allowed(by_id);
      ASSERT_EQ(next, allowed(by_mark)) << seed;
      ASSERT_EQ(by_id.error().has_value(), by_mark.error().has_value());
      ASSERT_EQ(by_id.can_end(), by_mark.can_end());
      ++compared;
      if (by_id.is_terminated() || by_id.error() || by_id.steps() == 6)
        continue;
      for (const TokenId id : next) {
        Matcher one = by_id.copy();
        Matcher other = by_mark.copy();
        ASSERT_TRUE(one.accept_token(id));
        ASSERT_TRUE(other.accept_token(id));
        ASSERT_EQ(one.is_terminated(), other.is_terminated());
        left.emplace_back(std::move(one), std::move(other));
      }
    }
  }
  EXPECT_GT(compared, 500);
}

// --- What the vocabulary cannot write ----------------------------------------

// The ids: 0 "a", 1 "b", 2 <end> (stop).
Compiler poor_compiler(const std::vector<TokenId>& stops = {2}) {
  return *Compiler::create(make({"a", "b"}, {"<end>"}, stops));
}

TEST(NoToken, IsAnErrorThatNamesTheBytes) {
  struct Case {
    std::string_view grammar;
    std::size_t accepted;  // of the token "a"
    std::string_view message;
  };
  const Case cases[] = {
      {"root ::= \"az\"", 1,
       "after byte 1 of the text: the next byte must be "
       "'z', and no token"},
      {"root ::= \"aa\" [x-z]", 2, "one of 'x', 'y', 'z'"},
      {"root ::= \"a\" \"é\"", 1, "must be 0xC3"},
      {"root ::= \"a\" Token(7)", 1, "by their ids"},
      {"root ::= \"a\" (\"bz\" | \"z\")", 1, ""},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.grammar);
    const Result<Constraint> constraint =
        poor_compiler().compile_ebnf(one.grammar);
    ASSERT_TRUE(constraint) << constraint.error().to_string();
    for (const bool in_batch : {false, true}) {
      Matcher matcher = constraint->matcher();
      for (std::size_t i = 0; i < one.accepted; ++i) {
        EXPECT_EQ(allowed(matcher), Ids{0});
        ASSERT_TRUE(matcher.accept_token(0));
      }
      if (one.message.empty()) {
        ASSERT_TRUE(matcher.accept_token(1));
      }
      EXPECT_FALSE(matcher.error());
      Row row(matcher.mask_words());
      if (in_batch) {
        Matcher* const list[] = {&matcher};
        ASSERT_FALSE(fill_bitmasks(list, row, row.size(), 1));
      } else {
        EXPECT_EQ(matcher.fill_bitmask(row), MaskFill::kConstrains);
      }
      EXPECT_EQ(row[0], 1 << 2);
      ASSERT_TRUE(matcher.error());
      EXPECT_EQ(matcher.error()->code, ErrorCode::kUnsatisfiable);
      EXPECT_NE(matcher.error()->message.find(one.message), std::string::npos)
          << matcher.error()->message;
      EXPECT_FALSE(matcher.accept_token(1));
      Matcher copy = matcher.copy();
      EXPECT_TRUE(copy.accept_token(2));
      EXPECT_TRUE(copy.is_terminated());
      // The masks are the same again after the step is undone.
      ASSERT_TRUE(matcher.rollback(1));
      EXPECT_FALSE(matcher.error());
      EXPECT_FALSE(allowed(matcher).empty());
    }
  }
}

TEST(NoToken, AtTheBeginningIsAnErrorOfTheFirstMask) {
  for (const std::string_view grammar :
       {"root ::= \"z\"", "root ::= Token(7)", "root ::= [c-z]+"}) {
    const Result<Constraint> constraint = poor_compiler().compile_ebnf(grammar);
    ASSERT_TRUE(constraint) << grammar;
    Matcher matcher = constraint->matcher();
    EXPECT_EQ(allowed(matcher), Ids{2});
    ASSERT_TRUE(matcher.error());
    EXPECT_NE(matcher.error()->message.find("after byte 0"), std::string::npos)
        << matcher.error()->message;
    matcher.reset();
    EXPECT_EQ(matcher.accept_bytes("z"), grammar != "root ::= Token(7)");
  }
}

// Without stop tokens a text that may end is over where no token can come, and
// one that may not has the error, which terminates the matcher.
TEST(NoToken, TerminatesATextWithoutStopTokens) {
  const Compiler compiler = poor_compiler(std::vector<TokenId>{});
  Matcher may_end = compiler.compile_ebnf("root ::= \"a\" \"z\"?")->matcher();
  ASSERT_TRUE(may_end.accept_token(0));
  EXPECT_TRUE(may_end.is_terminated());
  EXPECT_FALSE(may_end.error());
  Matcher owes = compiler.compile_ebnf("root ::= \"az\"")->matcher();
  ASSERT_TRUE(owes.accept_token(0));
  EXPECT_FALSE(owes.is_terminated());
  allowed(owes);
  EXPECT_TRUE(owes.error());
  EXPECT_TRUE(owes.is_terminated());
  Matcher goes_on = compiler.compile_ebnf("root ::= \"a\" \"b\"?")->matcher();
  ASSERT_TRUE(goes_on.accept_token(0));
  EXPECT_FALSE(goes_on.is_terminated());
  EXPECT_EQ(allowed(goes_on), Ids{1});
}

TEST(NoToken, InADraftTreeEndsTheBranch) {
  const Result<Constraint> constraint =
      poor_compiler().compile_ebnf("root ::= \"az\" | \"ba\"");
  ASSERT_TRUE(constraint);
  Matcher matcher = constraint->matcher();
  // The root, and its children "a" and "b".
  const std::vector<std::int64_t> first_child = {1, -1, -1};
  const std::vector<std::int64_t> next_sibling = {-1, 2, -1};
  const std::vector<std::int64_t> tokens = {0, 0, 1};
  Row rows(3 * matcher.mask_words());
  EXPECT_TRUE(matcher.fill_tree(first_child, next_sibling, tokens, rows));
  EXPECT_EQ(rows, (Row{3, 4, 1}));
  EXPECT_FALSE(matcher.error());
  ASSERT_TRUE(matcher.accept_token(1));
  EXPECT_EQ(allowed(matcher), Ids{0});
}

}  // namespace
}  // namespace parlance::stop_tokens_test
