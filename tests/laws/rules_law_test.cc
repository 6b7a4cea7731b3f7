// Laws of recognisers of rules, over random rules that are recursive in every
// way, lazy and limited, and all texts up to a length:
//
//   exact         a text is accepted exactly if the interpreter, which shares
//                 nothing with the recognisers, finds it in the language
//   no dead end   what is alive can be continued to an accepted text
//   tokens        the same where budgets count tokens
//   equivalents   positions that are declared to have one mask accept the same
//                 tokens
//   captures      of rules and a run of characters in a row the first is as
//                 long as it can be, and so on
//   printing      rules that were printed and read again have the same texts
//                 and captures
//   temperatures  the next symbol has the temperature that Earley's algorithm
//                 finds by following the callers of every item
//
// PARLANCE_SEED=<n> runs the rules of one seed only.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cfg_recogniser/cfg_recogniser.h"
#include "cfg_recogniser/earley.h"
#include "notation/ebnf.h"
#include "support/interpreter.h"
#include "support/random_rules.h"
#include "support/sanitized.h"

namespace parlance::grammar::rules_law_test {

using cfg_recogniser::CfgRecogniser;
using cfg_recogniser::EarleyRecogniser;

using rules::ExprId;
using rules::Rules;

using recogniser::Configuration;
namespace {

using testing::Interpreter;
using testing::RandomRules;

std::vector<std::string> all_texts(std::size_t chars,
                                   std::vector<const char*> alphabet = {
                                       "a", "b", "é"}) {
  std::vector<std::string> out = {""};
  std::size_t first = 0;
  for (; chars > 0; --chars) {
    const std::size_t last = out.size();
    for (; first < last; ++first) {
      for (const char* c : alphabet) out.push_back(out[first] + c);
    }
  }
  return out;
}

Configuration read(CfgRecogniser& recogniser, Configuration at,
                   std::string_view text) {
  for (const char c : text) {
    at = recogniser.step(at, static_cast<std::uint8_t>(c));
  }
  return at;
}

// Whether some text leads from `at` to an end, or to more places than are
// tried.
bool can_be_continued(CfgRecogniser& recogniser, Configuration at) {
  std::vector<Configuration> places = {at};
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (recogniser.can_end(places[i]) || i > 200) return true;
    const auto add = [&](Configuration next) {
      if (!next.dead() &&
          std::find(places.begin(), places.end(), next) == places.end()) {
        places.push_back(next);
      }
    };
    const Configuration from = places[i];
    for (const char* c : {"a", "b", "é"}) add(read(recogniser, from, c));
    for (const std::uint32_t id : {1, 2, 3, 4, 5}) {
      add(recogniser.step_token(from, {}, id));
    }
  }
  return recogniser.overflowed();
}

void check_texts(const Rules& rules) {
  CfgRecogniser recogniser(rules, {});
  const Result<Rules> again = notation::read_ebnf(notation::to_ebnf(rules));
  ASSERT_TRUE(again) << again.error().to_string();
  CfgRecogniser printed(*again, {});
  EarleyRecogniser slow(rules);
  for (const std::string& text : all_texts(3)) {
    const bool fits = Interpreter(rules, text).accepts();
    const Configuration at = read(recogniser, recogniser.start(), text);
    ASSERT_EQ(recogniser.can_end(at), fits) << '"' << text << '"';
    ASSERT_EQ(printed.can_end(read(printed, printed.start(), text)), fits)
        << "printed, \"" << text << '"';
    ASSERT_EQ(slow.accepts(text), fits) << "slowly, \"" << text << '"';
  }
  for (const char* text : {"ababa", "aaaaaa", "bbaabb", "aébaéb"}) {
    const bool fits = Interpreter(rules, text).accepts();
    ASSERT_EQ(recogniser.can_end(read(recogniser, recogniser.start(), text)),
              fits)
        << '"' << text << '"';
    ASSERT_EQ(slow.accepts(text), fits) << "slowly, \"" << text << '"';
  }
  ASSERT_FALSE(recogniser.overflowed());
  for (const std::string& text : all_texts(2)) {
    const Configuration at = read(recogniser, recogniser.start(), text);
    ASSERT_TRUE(at.dead() || can_be_continued(recogniser, at))
        << "a dead end: \"" << text << '"';
  }
}

// As masks are made: a place whose equivalent is known takes its tokens from
// it.
void check_twins(const Rules& rules) {
  CfgRecogniser recogniser(rules, {});
  std::vector<std::pair<Configuration, std::vector<bool>>> known;
  const std::vector<std::string> tokens = all_texts(4, {"a", "b"});
  for (const std::string& text : all_texts(7, {"a", "b"})) {
    const Configuration at = read(recogniser, recogniser.start(), text);
    if (at.dead()) continue;
    const auto fits = [&] {
      std::vector<bool> out;
      for (const std::string& token : tokens) {
        out.push_back(!read(recogniser, at, token).dead());
      }
      return out;
    };
    const Configuration equivalent = recogniser.mask_equivalent(at);
    const auto found = std::ranges::find(
        known, equivalent, [](const auto& one) { return one.first; });
    if (found != known.end()) {
      ASSERT_EQ(fits(), found->second) << '"' << text << '"';
      continue;
    }
    recogniser.begin_tracking();
    known.emplace_back(at, fits());
    recogniser.end_tracking(at);
  }
}

std::string captured(const Rules& rules, std::string_view text) {
  EarleyRecogniser slow(rules);
  slow.record();
  EarleyRecogniser::Place place = slow.start();
  if (!slow.feed(place, text) || !slow.can_end(place)) return "none";
  std::vector<std::string> found;
  for (const EarleyRecogniser::Captured& one : slow.captures(place)) {
    found.push_back(one.name + " " + std::to_string(one.begin) + ".." +
                    std::to_string(one.end) + " ");
  }
  std::ranges::sort(found);
  std::string out;
  for (const std::string& one : found) out += one;
  return out;
}

// The captures of a row, by trying all ways to read it.
class RowJudge {
 public:
  RowJudge(const Rules& rules, const std::optional<RandomRules::Run>& run,
           std::string_view text)
      : judge_(rules, text), text_(text) {
    for (const char* name : {"a", "b", "c"}) {
      parts_.push_back({.name = name, .rule = rules.find(name)});
    }
    if (!run) return;
    parts_.insert(parts_.begin() + static_cast<std::ptrdiff_t>(run->at),
                  Part{.min = run->min, .max = run->max});
  }

  std::string captures() {
    read(0, 0, {}, "");
    return found_;
  }

 private:
  // A rule, or a run.
  struct Part {
    std::string name = {};
    rules::RuleId rule = rules::kNoRule;
    unsigned min = 0;
    unsigned max = 0;
  };

  // Of two ways the one with the longer part where they first differ, or with
  // fewer parts.  An empty run is none.
  void read(std::size_t part, unsigned at, std::vector<unsigned> ends,
            const std::string& captured) {
    if (part == parts_.size()) {
      if (at != text_.size()) return;
      if (found_ != "none" &&
          !std::ranges::lexicographical_compare(ends, best_, std::greater())) {
        return;
      }
      best_ = std::move(ends);
      found_ = captured;
      return;
    }
    const Part& here = parts_[part];
    if (here.rule == rules::kNoRule) {
      if (here.min == 0) read(part + 1, at, ends, captured);
      ends.push_back(at);
      for (unsigned n = 1; n <= here.max; ++n) {
        if (at == text_.size() || (text_[at] != 'a' && text_[at] != 'b')) break;
        ends.back() = ++at;
        if (n >= here.min) read(part + 1, at, ends, captured);
      }
      return;
    }
    ends.push_back(at);
    for (unsigned end = at; end <= text_.size(); ++end) {
      if ((judge_.ends(here.rule, at) >> end & 1) == 0) continue;
      ends.back() = end;
      read(part + 1, end, ends,
           captured + here.name + " " + std::to_string(at) + ".." +
               std::to_string(end) + " ");
    }
  }

  const Interpreter judge_;
  const std::string_view text_;
  std::vector<Part> parts_;
  std::vector<unsigned> best_;
  std::string found_ = "none";
};

void check_captures(const Rules& rules,
                    const std::optional<RandomRules::Run>& run) {
  const Result<Rules> again = notation::read_ebnf(notation::to_ebnf(rules));
  ASSERT_TRUE(again) << again.error().to_string();
  std::vector<std::string> texts = all_texts(3);
  for (const char* text : {"aaaa", "abab", "aabba"}) texts.push_back(text);
  for (const std::string& text : texts) {
    const std::string wanted = RowJudge(rules, run, text).captures();
    ASSERT_EQ(captured(rules, text), wanted) << '"' << text << '"';
    ASSERT_EQ(captured(*again, text), wanted) << "printed, \"" << text << '"';
  }
}

void check_tokens(const Rules& rules, RandomRules& random) {
  CfgRecogniser recogniser(rules, {});
  for (const char* all : {"", "a", "ab", "aabb", "babab", "aaaaaa"}) {
    const std::string_view text = all;
    Configuration at = recogniser.start();
    std::vector<Interpreter::Token> tokens;
    for (std::size_t done = 0; done < text.size();) {
      const std::size_t size =
          1 + random.pick(std::min<std::size_t>(3, text.size() - done));
      const std::uint32_t id = 1 + random.pick(4);
      const Configuration from = at;
      at = read(recogniser, at, text.substr(done, size));
      at = recogniser.step_token(from, at, id);
      tokens.push_back({.end = done += size, .id = id});
    }
    ASSERT_EQ(recogniser.can_end(at),
              Interpreter(rules, text, tokens).accepts())
        << '"' << text << "\" in " << tokens.size() << " tokens, the first "
        << (tokens.empty() ? 0 : tokens[0].id) << " of "
        << (tokens.empty() ? 0 : tokens[0].end) << " bytes";
  }
}

void check_temperatures(Rules rules, RandomRules random) {
  const std::uint32_t most = 1 + random.pick(3);
  for (rules::Rule& rule : rules.rules) {
    if (random.pick(2) == 0) continue;
    rule.options.temperature = 0.5 * random.pick(most);
  }
  SCOPED_TRACE(notation::to_ebnf(rules));
  CfgRecogniser recogniser(rules, {});
  EarleyRecogniser slow(rules);
  for (const std::string& text : all_texts(4)) {
    EarleyRecogniser::Place place = slow.start();
    const bool alive = slow.feed(place, text);
    const Configuration at = read(recogniser, recogniser.start(), text);
    ASSERT_EQ(at.dead(), !alive) << '"' << text << '"';
    ASSERT_EQ(recogniser.temperature(at), slow.temperature(place))
        << '"' << text << '"';
  }
}

void check(std::uint32_t first, std::uint32_t last, bool texts = false) {
  if (const char* seed = std::getenv("PARLANCE_SEED")) {
    first = static_cast<std::uint32_t>(std::strtoul(seed, nullptr, 10));
    last = first + 1;
  }
  for (std::uint32_t seed = first; seed < last; ++seed) {
    RandomRules random(seed, texts);
    const Rules rules = random.make();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" +
                 notation::to_ebnf(rules));
    check_texts(rules);
    check_tokens(rules, random);
    check_twins(rules);
    if (::testing::Test::HasFatalFailure()) return;
    if (texts) continue;
    if (seed % 8 == 1) check_temperatures(rules, RandomRules(~seed));
    if (seed % 2 != 0) continue;
    const Rules row = random.make_row();
    SCOPED_TRACE(notation::to_ebnf(row));
    check_captures(row, random.run());
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(RulesLaw, RandomRules) { check(1, 1 + testing::cases(10'000)); }
TEST(RulesLaw, RandomRulesLongRun) { check(100'000, 1'100'000); }
TEST(RulesLaw, RandomTexts) { check(1, 1 + testing::cases(4'000), true); }
TEST(RulesLaw, RandomTextsLongRun) { check(100'000, 600'000, true); }

}  // namespace
}  // namespace parlance::grammar::rules_law_test
