// The recorded vectors of EBNF, regular expressions and Lark, run through the
// slow recogniser.
//
// Vectors that we answer differently are listed in docs/reference/grammars.md,
// each with its reason.  A vector that stands in the list and passes is a
// failure too.

#include "support/grammar_vectors.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "cfg_recogniser/earley.h"
#include "support/conformance.h"
#include "support/differences.h"

namespace parlance::grammar::grammar_vectors_test {

using rules::Rules;
namespace {

using json::Value;
using testing::bytes_of;
using testing::rules_of;
using testing::text_of;

const auto& differences() {
  static const auto all = testing::documented_differences("grammars.md");
  return all;
}

std::string answer(const Rules& rules, const Value& vector) {
  const testing::SchemaRecognisers schemas(rules);
  if (!schemas.failure().empty()) return schemas.failure();
  cfg_recogniser::EarleyRecogniser recogniser(rules, schemas.recognisers());
  const std::string text = bytes_of(*vector.find("instance"));
  cfg_recogniser::EarleyRecogniser::Place place = recogniser.start();
  const bool alive = recogniser.feed(place, text);
  const bool prefix = text_of(vector, "mode") == "prefix";
  const bool accepted = alive && (prefix || recogniser.can_end(place));
  if (recogniser.overflowed()) return "has too many items";
  if (accepted == vector.find("accepted")->as_bool()) return "";
  return accepted ? "is accepted" : "is not accepted";
}

// "" when the vector is answered as recorded, also after its grammar was
// printed and read again.
std::string check(const Value& vector) {
  Result<Rules> rules = rules_of(vector);
  if (vector.find("expected_error") != nullptr) {
    return rules ? "is not refused" : "";
  }
  if (!rules) return "is refused: " + rules.error().to_string();
  std::string failure = answer(*rules, vector);
  if (!failure.empty()) return failure;
  const std::string printed = notation::to_ebnf(*rules);
  Result<Rules> again = notation::read_ebnf(printed);
  if (!again) return "is printed as\n" + printed + again.error().to_string();
  failure = answer(*again, vector);
  return failure.empty() ? "" : failure + " when printed as\n" + printed;
}

void run(const std::string& file) {
  const Value vectors = testing::vectors("grammar/" + file);
  for (const Value& vector : vectors.items()) {
    const std::string_view id = text_of(vector, "id");
    const std::string failure = check(vector);
    if (differences().contains(id)) {
      EXPECT_NE(failure, "") << id << " is listed and passes";
      continue;
    }
    EXPECT_EQ(failure, "") << id << "\n"
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
TEST(GrammarVectors, DifferencesAreTold) {
  EXPECT_EQ(differences().size(), 29u);
  for (const auto& [id, why] : differences()) EXPECT_GT(why.size(), 4u) << id;
}

TEST(GrammarVectors, Combine) { run("combine.json"); }

}  // namespace
}  // namespace parlance::grammar::grammar_vectors_test
