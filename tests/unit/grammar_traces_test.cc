// Recorded sessions of a matcher, replayed token by token with the slow
// recogniser: a token is allowed when a copy of the session is alive after it.
//
// Left out is find_jump_forward_string, which is a matcher's.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cfg_recogniser/earley.h"
#include "support/conformance.h"
#include "support/differences.h"
#include "support/grammar_vectors.h"

namespace parlance::grammar::grammar_traces_test {

using cfg_recogniser::EarleyRecogniser;

using rules::Token;
namespace {

using json::Value;
using testing::bytes_of;
using testing::rules_of;
using testing::text_of;

// Sessions that go another way here, each with its reason.
const auto& differences() {
  static const auto all = testing::documented_differences("grammars.md");
  return all;
}

// A byte-level vocabulary spells bytes that are not printable as characters
// from U+0100 on.
std::string from_byte_level(std::string_view text) {
  static const std::map<char32_t, char> bytes = [] {
    std::map<char32_t, char> out;
    char32_t next = 256;
    for (int b = 0; b < 256; ++b) {
      const bool printable =
          (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
      out[printable ? static_cast<char32_t>(b) : next++] = static_cast<char>(b);
    }
    return out;
  }();
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    out += bytes.at(base::next_code_point(text, i));
  }
  return out;
}

class Session {
 public:
  Session(const Value& vector, const rules::Rules& rules)
      : schemas_(rules), recogniser_(rules, schemas_.recognisers()) {
    const Value& tokenizer = *vector.find("tokenizer");
    const bool byte_level = text_of(tokenizer, "vocab_type") == "BYTE_LEVEL";
    for (const Value& word : tokenizer.find("vocab")->items()) {
      std::string bytes = bytes_of(word);
      const auto id = static_cast<Token>(vocabulary_.size());
      // Recognised by name where the recording does not list them.
      if (bytes == "</s>") stops_.insert(id);
      if (bytes == "</s>") {
        bytes.clear();
      } else if (byte_level) {
        bytes = from_byte_level(bytes);
      }
      vocabulary_.push_back(bytes);
    }
    if (const Value* listed = tokenizer.find("stop_token_ids")) {
      stops_.clear();
      for (const Value& id : listed->items()) {
        stops_.insert(static_cast<Token>(id.as_int()));
      }
    }
    const Value* options = vector.find("matcher_options");
    const Value* without = options == nullptr
                               ? nullptr
                               : options->find("terminate_without_stop_token");
    without_stop_ = without != nullptr && without->as_bool();
    recogniser_.record();
    history_.push_back({.place = recogniser_.start()});
  }

  // "" or what went wrong.
  std::string run(const Value& step) {
    const std::string_view op = text_of(step, "op");
    const Value* arg = step.find("arg");
    const Value* result = step.find("result");
    auto same = [&](bool got) {
      return result == nullptr || result->as_bool() == got
                 ? std::string()
                 : std::string(op) + " gave " + (got ? "true" : "false");
    };
    if (op == "accept_token") {
      return same(accept(static_cast<Token>(arg->as_int())));
    }
    if (op == "accept_string") return same(accept_string(bytes_of(*arg)));
    if (op == "is_completed") return same(can_end());
    if (op == "is_terminated") {
      return same(history_.back().stopped || (without_stop_ && can_end()));
    }
    if (op == "rollback") {
      history_.resize(history_.size() -
                      static_cast<std::size_t>(arg->as_int()));
    } else if (op == "reset") {
      history_.resize(1);
    } else if (op == "get_captures") {
      const Value* deduplicate = step.find("deduplicate");
      // Without it the recording lists what is shorter, too.
      if (deduplicate == nullptr || deduplicate->as_bool()) {
        return captures(*result);
      }
    } else if (op == "fill_next_token_bitmask") {
      return mask(*step.find("allowed"));
    }
    return "";
  }

 private:
  struct Moment {
    EarleyRecogniser::Place place;
    std::string text = {};
    bool stopped = false;
  };

  bool can_end() const { return recogniser_.can_end(history_.back().place); }

  bool feed(EarleyRecogniser::Place& place, Token token) {
    return recogniser_.feed_token(place, token, vocabulary_[token]);
  }

  bool accept(Token token) {
    Moment next = history_.back();
    if (next.stopped) return false;
    if (stops_.contains(token)) {
      if (!can_end() || without_stop_) return false;
      next.stopped = true;
    } else if (!feed(next.place, token)) {
      return false;
    }
    next.text += vocabulary_[token];
    history_.push_back(std::move(next));
    return true;
  }

  bool accept_string(const std::string& bytes) {
    Moment next = history_.back();
    if (next.stopped || !recogniser_.feed(next.place, bytes)) return false;
    next.text += bytes;
    history_.push_back(std::move(next));
    return true;
  }

  std::string captures(const Value& wanted) const {
    const Moment& now = history_.back();
    json::Array out;
    for (const auto& one : recogniser_.captures(now.place)) {
      std::string text;
      std::size_t at = one.begin;
      for (const auto& [begin, end] : one.hidden) {
        text += now.text.substr(at, begin - at);
        at = end;
      }
      text += now.text.substr(at, one.end - at);
      out.push_back(json::Array{one.name, text});
    }
    return Value(out) == wanted ? "" : "captures are " + json::dump(Value(out));
  }

  std::string mask(const Value& wanted) {
    std::vector<std::int64_t> allowed;
    for (Token token = 0; token < vocabulary_.size(); ++token) {
      EarleyRecogniser::Place place = history_.back().place;
      if (stops_.contains(token) ? can_end() : feed(place, token)) {
        allowed.push_back(token);
      }
    }
    std::vector<std::int64_t> recorded;
    for (const Value& id : wanted.items()) recorded.push_back(id.as_int());
    std::vector<std::int64_t> extra;
    std::vector<std::int64_t> missing;
    std::set_difference(allowed.begin(), allowed.end(), recorded.begin(),
                        recorded.end(), std::back_inserter(extra));
    std::set_difference(recorded.begin(), recorded.end(), allowed.begin(),
                        allowed.end(), std::back_inserter(missing));
    if (allowed == recorded) return "";
    return "the mask has " + ::testing::PrintToString(extra) + " and lacks " +
           ::testing::PrintToString(missing);
  }

  testing::SchemaRecognisers schemas_;
  EarleyRecogniser recogniser_;
  std::vector<std::string> vocabulary_;
  std::set<Token> stops_;
  bool without_stop_ = false;
  std::vector<Moment> history_;
};

std::string replay(const Value& vector) {
  Result<rules::Rules> rules = rules_of(vector);
  if (!rules) return "is refused: " + rules.error().to_string();
  Session session(vector, *rules);
  std::size_t at = 0;
  for (const Value& step : vector.find("steps")->items()) {
    const std::string failure = session.run(step);
    if (!failure.empty()) return "step " + std::to_string(at) + ": " + failure;
    ++at;
  }
  return "";
}

void run(const std::string& file) {
  const Value vectors = testing::vectors("grammar/" + file);
  for (const Value& vector : vectors.items()) {
    const std::string_view id = text_of(vector, "id");
    const std::string failure = replay(vector);
    if (differences().contains(id)) {
      EXPECT_NE(failure, "") << id << " is listed and passes";
      continue;
    }
    EXPECT_EQ(failure, "") << id << "\n"
                           << text_of(vector, "spec").substr(0, 300);
  }
}

TEST(GrammarTraces, Ebnf) { run("ebnf_traces.json"); }
TEST(GrammarTraces, Lark) { run("lark_traces.json"); }
TEST(GrammarTraces, Regex) { run("regex_traces.json"); }

}  // namespace
}  // namespace parlance::grammar::grammar_traces_test
