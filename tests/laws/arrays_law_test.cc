// The law of arrays: tuples, uniqueItems, contains, counts and small sets of
// values together.  Over a small world of values, every array of up to four
// items is tried:
//
//   an array is accepted exactly if a plain validator finds it valid;
//   a beginning is alive exactly if it begins a valid array, so no walk under
//   masks ends in a mask of zeros or in a text that only goes on;
//   a schema is unsatisfiable only if no array is valid.
//
// Where report() says that the grammar is narrower, valid arrays may be left
// out, but a beginning that is alive still leads to an accepted array.
//
// Of recursive definitions, whose items are values of their own schema, every
// value of a few nodes is accepted exactly if it is valid.
//
// PARLANCE_SEED=<n> runs the schema of one seed only.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "json_recogniser/json_recogniser.h"
#include "parlance/json.h"
#include "schema/document.h"
#include "schema/validate.h"
#include "support/sanitized.h"

namespace parlance::arrays_law_test {
namespace {

using json_recogniser::JsonRecogniser;

constexpr std::size_t kMostItems = 4;
const std::vector<std::string> kValues = {"null", "true",  "0",     "1",
                                          "2",    "\"a\"", "\"ab\""};

const std::string kScalar = R"({"type":["null","boolean","number","string"])";

class RandomArrays {
 public:
  explicit RandomArrays(std::uint32_t seed) : random_(seed) {}

  // Only arrays of kValues satisfy it.
  std::string schema() {
    return R"({"type":"array","maxItems":)" + std::to_string(2 + below(3)) +
           R"(,"allOf":[)" + world() + "," + rules(2) + "]}";
  }

 private:
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(random_() % n);
  }

  static std::string world() {
    std::string all;
    for (const std::string& value : kValues) {
      all += (all.empty() ? "" : ",") + value;
    }
    return R"({"items":{"enum":[)" + all + "]}}";
  }

  std::string enumeration() {
    std::string list;
    for (std::uint32_t i = 0, n = 1 + below(3); i < n; ++i) {
      list += (i > 0 ? "," : "") +
              (below(8) == 0 ? "1.0" : kValues[below(kValues.size())]);
    }
    return R"({"enum":[)" + list + "]}";
  }

  std::string item() {
    switch (below(12)) {
      case 0:
      case 1:
        return enumeration();
      case 2:
        return R"({"const":)" + kValues[below(kValues.size())] + "}";
      case 3:
        return R"({"type":"integer"})";
      case 4:
        return R"({"type":"integer","minimum":)" + std::to_string(below(3)) +
               R"(,"maximum":)" + std::to_string(1 + below(2)) + "}";
      case 5:
        return R"({"type":"string"})";
      case 6:
        return R"({"type":"string","maxLength":1})";
      case 7:
        return R"({"type":["boolean","null"]})";
      case 8:
        return kScalar + R"(,"not":)" + enumeration() + "}";
      case 9:
        return R"({"type":"number","multipleOf":2,"maximum":5})";
      case 10:
        return kScalar + "}";
      default:
        return R"({"anyOf":[)" + enumeration() + R"(,{"type":"string"}]})";
    }
  }

  std::string keyword() {
    switch (below(8)) {
      case 0: {
        std::string list;
        for (std::uint32_t i = 0, n = 1 + below(3); i < n; ++i) {
          list += (i > 0 ? "," : "") + item();
        }
        return R"("prefixItems":[)" + list + "]";
      }
      case 1:
        return R"("items":)" + (below(4) == 0 ? "false" : item());
      case 2:
        return R"("minItems":)" + std::to_string(1 + below(4));
      case 3:
        return R"("contains":)" + item();
      case 4:
        return R"("contains":)" + item() + R"(,"minContains":)" +
               std::to_string(below(3)) + R"(,"maxContains":)" +
               std::to_string(1 + below(2));
      default:
        return R"("uniqueItems":true)";
    }
  }

  std::string node() {
    std::vector<std::string> parts;
    std::set<std::string> names;
    for (std::uint32_t i = 0, n = 1 + below(4); i < n; ++i) {
      std::string one = keyword();
      if (names.insert(one.substr(0, one.find(':'))).second) {
        parts.push_back(std::move(one));
      }
    }
    if (!names.contains(R"("items")")) {
      parts.push_back(R"("items":)" + kScalar + "}");
    }
    std::string out = "{";
    for (const std::string& part : parts) {
      out += (out.size() > 1 ? "," : "") + part;
    }
    return out + "}";
  }

  std::string rules(int depth) {
    if (depth > 0) {
      switch (below(9)) {
        case 0:
          return R"({"not":)" + rules(depth - 1) + "}";
        case 1:
          return R"({"oneOf":[)" + rules(depth - 1) + "," + rules(depth - 1) +
                 "]}";
        case 2:
          return R"({"anyOf":[)" + rules(depth - 1) + "," + rules(depth - 1) +
                 "]}";
        case 3:
        case 4:
        case 5:
          return R"({"allOf":[)" + rules(depth - 1) + "," + rules(depth - 1) +
                 "]}";
        default:
          break;
      }
    }
    return node();
  }

  std::mt19937 random_;
};

struct Tally {
  std::size_t exact = 0;
  std::size_t narrowed = 0;
  std::size_t unsatisfiable = 0;
  std::size_t refused = 0;
};

void add_beginnings(const std::string& text, std::set<std::string>& to) {
  for (std::size_t i = 0; i <= text.size(); ++i) to.insert(text.substr(0, i));
}

// Adds the beginnings of an array, and of the other spellings of its integers.
void add_beginnings(const std::vector<std::string>& items,
                    std::set<std::string>& to) {
  std::string text = "[";
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += ',';
    if (items[i][0] <= '9' && items[i][0] >= '0') {
      add_beginnings(text + items[i] + ".0", to);
    }
    text += items[i];
  }
  add_beginnings(text + ']', to);
}

class Arrays {
 public:
  Arrays(const schema::Document& document, JsonRecogniser* machine)
      : validator_(document), machine_(machine) {}

  // Tries every array that begins with the items.
  void try_all(std::vector<std::string>& items) {
    std::string text;
    for (const std::string& item : items) {
      text += (text.empty() ? "[" : ",") + item;
    }
    text = (text.empty() ? "[" : text) + "]";
    const bool valid = validator_.valid(*json::parse(text));
    const bool accepted = read(text);
    valid_ += valid;
    if (accepted) add_beginnings(items, of_accepted_);
    if (accepted && !valid) wrong_.push_back("accepted, not valid: " + text);
    if (!accepted && valid) missed_.push_back("valid, not accepted: " + text);
    if (items.size() == kMostItems) return;
    for (const std::string& value : kValues) {
      items.push_back(value);
      try_all(items);
      items.pop_back();
    }
  }

  void judge(bool narrowed, Tally& tally) {
    for (const std::string& one : wrong_) ADD_FAILURE() << one;
    if (!narrowed && !missed_.empty()) {
      ADD_FAILURE() << missed_.size() << " are missed. " << missed_.front();
    }
    for (const std::string& alive : alive_) {
      if (!of_accepted_.contains(alive)) {
        ADD_FAILURE() << "leads nowhere: " << alive;
        break;
      }
    }
    ++(narrowed ? tally.narrowed : tally.exact);
  }
  std::size_t valid() const { return valid_; }

 private:
  bool read(const std::string& text) {
    if (machine_ == nullptr) return false;
    recogniser::Configuration config = machine_->start();
    std::string so_far;
    for (const char c : text) {
      config = machine_->step(config, static_cast<std::uint8_t>(c));
      if (config.dead()) return false;
      so_far += c;
      alive_.insert(so_far);
      // Another spelling, which must end.
      if (c >= '0' && c <= '9') {
        const auto point = machine_->step(config, '.');
        if (!point.dead()) alive_.insert(so_far + '.');
      }
    }
    return machine_->can_end(config);
  }

  schema::Validator validator_;
  JsonRecogniser* machine_;
  std::size_t valid_ = 0;
  std::set<std::string> of_accepted_, alive_;
  std::vector<std::string> wrong_, missed_;
};

void check(std::uint32_t seed, Tally& tally) {
  const std::string schema = RandomArrays(seed).schema();
  SCOPED_TRACE("PARLANCE_SEED=" + std::to_string(seed) + ", schema " + schema);
  const Result<schema::Document> document = schema::load(*json::parse(schema));
  ASSERT_TRUE(document) << schema;
  JsonSchemaOptions options;
  options.layout.max_white_space = 0;
  Result<std::unique_ptr<JsonRecogniser>> made =
      JsonRecogniser::create(*schema::load(*json::parse(schema)), options);
  std::vector<std::string> none;
  if (!made) {
    if (made.error().code != ErrorCode::kUnsatisfiable) {
      ++tally.refused;
      return;
    }
    Arrays all(*document, nullptr);
    all.try_all(none);
    EXPECT_EQ(all.valid(), 0U) << "is not unsatisfiable";
    ++tally.unsatisfiable;
    return;
  }
  Arrays all(*document, made->get());
  all.try_all(none);
  bool narrowed = false;
  for (const auto& notes : {(*made)->notes(), (*made)->survey()}) {
    for (const GrammarNote& note : notes) {
      narrowed = narrowed || note.kind == GrammarNote::Kind::kNarrowed;
    }
  }
  all.judge(narrowed, tally);
}

// --- Values of their own schema. ---------------------------------------------

// Definitions a, b and c, each one of up to three arrays and objects, whose
// items are 0 or values of a definition: how many different items there are is
// asked of a definition that is itself being decided.
class RandomRecursion {
 public:
  explicit RandomRecursion(std::uint32_t seed) : random_(seed) {}

  std::string schema() {
    std::string all;
    for (const char* name : {"a", "b", "c"}) {
      std::string some;
      for (std::uint32_t i = 0, n = 1 + below(3); i < n; ++i) {
        some += (i > 0 ? "," : "") + (below(6) == 0 ? object() : array());
      }
      all += (all.empty() ? "\"" : ",\"") + std::string(name) +
             R"(":{"anyOf":[)" + some + "]}";
    }
    return R"({"$ref":"#/$defs/a","$defs":{)" + all + "}}";
  }

 private:
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(random_() % n);
  }

  std::string value() {
    static const char* const kItems[] = {
        R"({"$ref":"#/$defs/a"})", R"({"$ref":"#/$defs/b"})",
        R"({"$ref":"#/$defs/c"})", R"({"enum":[0]})"};
    const std::string one = kItems[below(4)];
    if (below(3) != 0) return one;
    return R"({"anyOf":[)" + one + "," + kItems[below(4)] + "]}";
  }

  std::string array() {
    std::string out = R"({"type":"array","items":)" + value();
    if (below(2) == 0) out += R"(,"minItems":)" + std::to_string(1 + below(3));
    if (below(2) == 0) out += R"(,"maxItems":)" + std::to_string(below(4));
    if (below(3) != 0) out += R"(,"uniqueItems":true)";
    if (below(6) == 0) out += R"(,"contains":)" + value();
    return out + "}";
  }

  std::string object() {
    std::string out = R"({"type":"object","properties":{"k":)" + value() + "}";
    if (below(2) == 0) out += R"(,"required":["k"])";
    return out + R"(,"additionalProperties":false})";
  }

  std::mt19937 random_;
};

// All values of `nodes` nodes, each 0, an array, or an object whose key is k.
const std::vector<std::string>& values_of(std::size_t nodes) {
  static std::map<std::size_t, std::vector<std::string>> known;
  const auto [at, is_new] = known.try_emplace(nodes);
  if (!is_new || nodes == 0) return at->second;
  std::vector<std::string> out;
  if (nodes == 1) {
    out = {"0", "[]", "{}"};
  } else {
    for (const std::string& member : values_of(nodes - 1)) {
      out.push_back(R"({"k":)" + member + "}");
    }
  }
  // The first item, and an array of the others.
  for (std::size_t first = 1; first < nodes; ++first) {
    for (const std::string& item : values_of(first)) {
      for (const std::string& rest : values_of(nodes - first)) {
        if (rest[0] != '[') continue;
        out.push_back("[" + item + (rest == "[]" ? "" : ",") + rest.substr(1));
      }
    }
  }
  return known[nodes] = std::move(out);
}

void check_recursion(std::uint32_t seed, Tally& tally) {
  constexpr std::size_t kMostNodes = 5;
  const std::string schema = RandomRecursion(seed).schema();
  SCOPED_TRACE("PARLANCE_SEED=" + std::to_string(seed) + ", schema " + schema);
  const Result<schema::Document> document = schema::load(*json::parse(schema));
  ASSERT_TRUE(document) << schema;
  JsonSchemaOptions options;
  options.layout.max_white_space = 0;
  const Result<std::unique_ptr<JsonRecogniser>> made =
      JsonRecogniser::create(*schema::load(*json::parse(schema)), options);
  if (!made && made.error().code != ErrorCode::kUnsatisfiable) {
    ++tally.refused;
    return;
  }
  if (!made) ++tally.unsatisfiable;
  schema::Validator validator(*document);
  std::vector<std::string> missed;
  for (std::size_t nodes = 1; nodes <= kMostNodes; ++nodes) {
    for (const std::string& text : values_of(nodes)) {
      const bool valid = validator.valid(*json::parse(text));
      if (!made) {
        EXPECT_FALSE(valid) << "is not unsatisfiable: " << text;
        continue;
      }
      recogniser::Configuration config = (*made)->start();
      for (std::size_t i = 0; i < text.size() && !config.dead(); ++i) {
        config = (*made)->step(config, static_cast<std::uint8_t>(text[i]));
      }
      const bool accepted = !config.dead() && (*made)->can_end(config);
      EXPECT_TRUE(valid || !accepted) << "accepted, not valid: " << text;
      if (valid && !accepted) missed.push_back(text);
    }
  }
  if (!made) return;
  bool narrowed = false;
  for (const auto& notes : {(*made)->notes(), (*made)->survey()}) {
    for (const GrammarNote& note : notes) {
      narrowed = narrowed || note.kind == GrammarNote::Kind::kNarrowed;
    }
  }
  if (!narrowed && !missed.empty()) {
    ADD_FAILURE() << missed.size() << " are missed. " << missed.front();
  }
  ++(narrowed ? tally.narrowed : tally.exact);
}

void check(std::uint32_t first, std::uint32_t last,
           void (*one_schema)(std::uint32_t, Tally&) = check) {
  if (const char* one = std::getenv("PARLANCE_SEED")) {
    first = last = static_cast<std::uint32_t>(std::strtoul(one, nullptr, 10));
  }
  Tally tally;
  for (std::uint32_t seed = first; seed <= last; ++seed) {
    one_schema(seed, tally);
  }
  std::cout << "schemas: exact " << tally.exact << ", narrowed "
            << tally.narrowed << ", unsatisfiable " << tally.unsatisfiable
            << ", refused " << tally.refused << "\n";
  // Of the few that are drawn with sanitizers a share says nothing.
  if (first == last || testing::kSanitized) return;
  EXPECT_GT(2 * tally.exact, 3 * tally.narrowed);
}

TEST(ArraysLaw, EveryBeginningCanBeCompleted) {
  check(1, static_cast<std::uint32_t>(testing::cases(150)));
}
TEST(ArraysLaw, EveryBeginningCanBeCompletedLongRun) { check(1001, 21000); }

TEST(ArraysLaw, ValuesOfTheirOwnSchema) {
  check(1, static_cast<std::uint32_t>(testing::cases(200)), check_recursion);
}
TEST(ArraysLaw, ValuesOfTheirOwnSchemaLongRun) {
  check(1001, 21000, check_recursion);
}

}  // namespace
}  // namespace parlance::arrays_law_test
