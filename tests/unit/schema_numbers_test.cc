// Numbers of JSON Schemas: what is written is what is meant, at any size.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "json_recogniser/json_recogniser.h"
#include "parlance/json.h"
#include "parlance/schema_options.h"
#include "recogniser/text_reader.h"
#include "schema/document.h"

namespace parlance::json_recogniser::schema_numbers_test {
namespace {

using Made = Result<std::unique_ptr<JsonRecogniser>>;

Made make(const std::string& schema,
          JsonSpelling spelling = JsonSpelling::kCanonical) {
  Result<json::Value> value = json::parse(schema, {.exact_floats = true});
  if (!value) return std::move(value).error();
  Result<schema::Document> document = schema::load(*value, {});
  if (!document) return std::move(document).error();
  JsonSchemaOptions options;
  options.spelling = spelling;
  return JsonRecogniser::create(*std::move(document), options);
}

bool accepts(const std::shared_ptr<JsonRecogniser>& schema,
             const std::string& text) {
  recogniser::TextReader reader(std::make_shared<recogniser::Language>(schema),
                                GrammarLimits{}.work);
  const bool fits = reader.read(text) == text.size() && reader.can_end();
  EXPECT_FALSE(reader.error());
  return fits;
}

// Without notes, each text by a new recogniser and by one that read the others.
void expect(const std::string& schema, const std::vector<std::string>& valid,
            const std::vector<std::string>& invalid) {
  SCOPED_TRACE(schema.substr(0, 200));
  Made made = make(schema, JsonSpelling::kAny);
  ASSERT_TRUE(made) << made.error().message;
  const std::shared_ptr<JsonRecogniser> used = *std::move(made);
  EXPECT_TRUE(used->notes().empty());
  const auto check = [&](const std::string& text, bool right) {
    EXPECT_EQ(accepts(used, text), right) << text.substr(0, 60);
    EXPECT_EQ(accepts(*make(schema, JsonSpelling::kAny), text), right)
        << text.substr(0, 60);
  };
  for (const std::string& text : valid) check(text, true);
  for (const std::string& text : invalid) check(text, false);
}

const std::string kOnes(1002, '1');
const std::string kNearly = kOnes.substr(1) + "2";
const std::string kPower = "1" + std::string(400, '0');

TEST(SchemaNumbers, MultiplesOfAnyStep) {
  expect(R"({"multipleOf":2e18})", {"0", "2000000000000000000"},
         {"1", "1000000000000000000"});
  expect(R"({"type":"integer","multipleOf":1e-19})", {"1"}, {"1.5"});
  expect(R"({"not":{"multipleOf":7e20}})", {"1", "700000000000000000001"},
         {"0", "700000000000000000000", "\"a\""});
  expect(R"({"allOf":[{"multipleOf":3e19},{"multipleOf":7e20},{"not":{
           "multipleOf":9e21}}]})",
         {"2100000000000000000000"}, {"700000000000000000000", "0"});
}

TEST(SchemaNumbers, BoundsAndConstantsOfAnySize) {
  expect(R"({"maximum":)" + kOnes + "}", {kOnes}, {kNearly, kOnes + "1"});
  expect(R"({"items":{"minimum":)" + kOnes + "}}",
         {"[" + kOnes + "," + kNearly + "]"}, {"[" + kNearly.substr(1) + "]"});
  expect(R"({"const":)" + kOnes + "}", {kOnes, kOnes + ".0"}, {kNearly});
  expect(R"({"const":)" + kPower + "}", {kPower, "1e400"}, {kPower + "0"});
  expect(R"({"not":{"const":)" + kPower + "}}", {kPower + "0", "1e401"},
         {kPower, "1e400"});
  for (const char* number :
       {"2147483648", "4294967296", "9007199254740993", "9223372036854775808",
        "18446744073709551616", "10000000000000000001"}) {
    const std::string text = number;
    std::string more = text;
    ++more.back();
    expect(R"({"properties":{"a":{"type":"integer","exclusiveMaximum":)" +
               more + R"(,"minimum":)" + text + "}}}",
           {R"({"a":)" + text + "}"},
           {R"({"a":)" + more + "}", R"({"a":)" + text.substr(1) + "}"});
  }
}

// A canonical constant is written as the schema has it.
TEST(SchemaNumbers, ConstantsAreWrittenAsTheSchemaHasThem) {
  for (const std::string& number : {kOnes, kPower, std::string("1e-400"),
                                    std::string("9007199254740993.0")}) {
    Made made = make(R"({"const":)" + number + "}");
    ASSERT_TRUE(made);
    EXPECT_TRUE(accepts(*std::move(made), number)) << number.substr(0, 40);
  }
}

TEST(SchemaNumbers, DigitsThatADoubleLosesAreKept) {
  expect(R"({"const":1e-400})", {"1e-400"}, {"0", "0.0", "1e-401"});
  expect(R"({"enum":[9007199254740993.0]})",
         {"9007199254740993", "9007199254740993.0"},
         {"9007199254740992", "9007199254740994.0"});
  expect(R"({"minimum":1.0000000000000000000000001})",
         {"1.1", "1.0000000000000000000000001"}, {"1"});
  expect(R"({"maximum":1e400})", {"1e400", "5"}, {"2e400"});
  expect(R"({"not":{"properties":{"a":{"maximum":1e-400}}}})",
         {R"({"a":2e-400})"}, {R"({"a":1e-400})", R"({"a":0})"});
  expect(R"({"enum":[[1e400],{"a":0.1000000000000000000001}]})",
         {"[1e400]", R"({"a":0.1000000000000000000001})"},
         {"[1e401]", R"({"a":0.1})"});
}

TEST(SchemaNumbers, MoreDigitsThanAreKeptAreAnError) {
  for (const char* schema :
       {R"({"items":{"maximum":1e4301}})", R"({"items":{"const":1e-4301}})",
        R"({"items":{"multipleOf":1e1000000000}})",
        R"({"items":{"enum":[1,[1e99999999999]]}})"}) {
    Made made = make(schema);
    ASSERT_FALSE(made) << schema;
    EXPECT_EQ(made.error().code, ErrorCode::kTooLarge) << schema;
    EXPECT_TRUE(made.error().path.starts_with("/items")) << made.error().path;
  }
}

TEST(SchemaNumbers, CountsDoNotOverflow) {
  for (const char* number :
       {"9223372036854775807", "9223372036854775808", "18446744073709551615",
        "18446744073709551616", "1e30"}) {
    for (const auto& [keyword, value] :
         std::vector<std::pair<std::string, std::string>>{
             {"Length", "\"a\""},
             {"Items", "[1]"},
             {"Properties", R"({"a":1})"}}) {
      const std::string count = keyword + "\":" + number;
      expect(R"({"max)" + count + "}", {value}, {});
      expect(R"({"anyOf":[{"const":null},{"not":{"max)" + count + "}}]}",
             {"null"}, {value, "1"});
      expect(R"({"not":{"min)" + count + R"(}})", {value}, {});
    }
    expect(R"({"contains":{"type":"null"},"maxContains":)" +
               std::string(number) + R"(,"type":"array"})",
           {"[null]"}, {"[1]"});
  }
}

TEST(SchemaNumbers, IntegersOfDraftFour) {
  const std::string draft =
      R"({"$schema":"http://json-schema.org/draft-04/schema#",)";
  expect(draft + R"("type":"integer"})", {"1", "-20"}, {"1.0", "1e2", "1.5"});
  expect(draft + R"("not":{"type":"integer"}})", {"1.0", "1.5", "1e2", "\"a\""},
         {"1", "-20"});
  expect(draft + R"("oneOf":[{},{"type":"integer"}]})", {"100.0", "1.5"},
         {"100"});
}

}  // namespace
}  // namespace parlance::json_recogniser::schema_numbers_test
