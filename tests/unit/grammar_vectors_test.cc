// The recorded vectors of EBNF, regular expressions and Lark, run through the
// slow recogniser.
//
// Vectors that we answer differently are listed here, each with its reason.  A
// vector that stands in the list and passes is a failure too.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/ebnf.h"
#include "grammar/lark.h"
#include "grammar/regex_rules.h"
#include "grammar/slow_recogniser.h"
#include "support/vectors.h"

namespace parlance::grammar {
namespace {

using json::Value;

constexpr std::string_view kLookAround =
    "look-around is refused; the recording ignores it";
constexpr std::string_view kRegular =
    "regular, so its first end is well defined, and supported";

const std::map<std::string_view, std::string_view>& differences() {
  static const std::map<std::string_view, std::string_view> all = {
      {"ebnf-00858", kLookAround},
      {"ebnf-errors-00012", "a hint (= ...) may hold any alternatives"},
      {"lark-00048", kLookAround},
      {"lark-00099", kLookAround},
      {"lark-00150", kLookAround},
      {"lark-00193", kLookAround},
      {"lark-errors-00027", "a marker may ignore case"},
      {"lark-errors-00117", kRegular},
      {"lark-errors-00118", kRegular},
      {"lark-errors-00125", "any rule may have a temperature"},
  };
  return all;
}

std::string_view text_of(const Value& value, std::string_view key) {
  const Value* found = value.find(key);
  return found == nullptr ? std::string_view() : found->as_string();
}

std::string bytes_of(const Value& value) {
  const Value* hex = value.find("hex");
  if (hex == nullptr) return std::string(value.as_string());
  std::string out;
  std::string_view digits = hex->as_string();
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    out += static_cast<char>(
        std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  }
  return out;
}

Result<Rules> rules_of(const Value& vector) {
  const std::string_view kind = text_of(vector, "kind");
  if (kind == "union" || kind == "concat") {
    std::vector<Rules> parts;
    for (const Value& part : vector.find("parts")->items()) {
      Result<Rules> rules = rules_of(part);
      if (!rules) return rules.error();
      parts.push_back(std::move(*rules));
    }
    return kind == "union" ? union_of(parts) : concat_of(parts);
  }
  const std::string_view spec = text_of(vector, "spec");
  if (kind == "regex") return regex_rules(spec);
  if (kind != "lark") return read_ebnf(spec);
  LarkOptions options;
  const Value none;
  const Value* given = vector.find("options");
  const Value* named =
      given == nullptr ? nullptr : given->find("named_grammars");
  for (const auto& [name, part] : (named ? *named : none).members()) {
    if (text_of(part, "kind") == "lark") {
      options.sources[name] = text_of(part, "spec");
      continue;
    }
    Result<Rules> rules = rules_of(part);
    if (!rules) return rules.error();
    options.grammars[name] = std::move(*rules);
  }
  const Value* tokenizer =
      given == nullptr ? nullptr : given->find("tokenizer");
  if (tokenizer != nullptr) {
    options.tokens_spelled = [&](std::string_view spelled) {
      std::vector<Token> tokens;
      const json::Array& words = tokenizer->find("vocab")->items();
      for (std::size_t i = 0; i < words.size(); ++i) {
        if (bytes_of(words[i]) == spelled) {
          tokens.push_back(static_cast<Token>(i));
        }
      }
      return tokens;
    };
  }
  return read_lark(spec, options);
}

// "" when the vector is answered as recorded.
std::string check(const Value& vector) {
  Result<Rules> rules = rules_of(vector);
  if (vector.find("expected_error") != nullptr) {
    return rules ? "is not refused" : "";
  }
  if (!rules) return "is refused: " + rules.error().to_string();
  // JSON Schemas are read by a recogniser of their own, which is not part of
  // what is tested here.
  if (!rules->schemas.empty()) return "";
  SlowRecogniser recogniser(*rules);
  const std::string text = bytes_of(*vector.find("instance"));
  SlowRecogniser::Place place = recogniser.start();
  const bool alive = recogniser.feed(place, text);
  const bool prefix = text_of(vector, "mode") == "prefix";
  const bool accepted = alive && (prefix || recogniser.can_end(place));
  if (recogniser.overflowed()) return "has too many items";
  if (accepted == vector.find("accepted")->as_bool()) return "";
  return accepted ? "is accepted" : "is not accepted";
}

void run(std::string_view file) {
  std::optional<std::filesystem::path> folder = testing::vector_folder();
  if (!folder) GTEST_SKIP() << "there are no vectors beside the tree";
  const Value vectors = testing::read_json(*folder / "grammar" / file);
  ASSERT_GT(vectors.size(), 0u);
  for (const Value& vector : vectors.items()) {
    const std::string_view id = text_of(vector, "id");
    const std::string said = check(vector);
    if (differences().contains(id)) {
      EXPECT_NE(said, "") << id << " is listed and passes";
      continue;
    }
    EXPECT_EQ(said, "") << id << "\n"
                        << text_of(vector, "spec").substr(0, 300) << "\n"
                        << json::dump(*(vector.find("instance") != nullptr
                                            ? vector.find("instance")
                                            : &vector))
                               .substr(0, 300);
  }
}

TEST(GrammarVectors, Ebnf) { run("ebnf.json"); }
TEST(GrammarVectors, EbnfErrors) { run("ebnf_errors.json"); }
TEST(GrammarVectors, Regex) { run("regex.json"); }
TEST(GrammarVectors, RegexErrors) { run("regex_errors.json"); }
TEST(GrammarVectors, Lark) { run("lark.json"); }
TEST(GrammarVectors, LarkErrors) { run("lark_errors.json"); }
TEST(GrammarVectors, Combine) { run("combine.json"); }

}  // namespace
}  // namespace parlance::grammar
