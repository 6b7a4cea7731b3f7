// Laws of grammars made from JSON Schemas, over random schemas of few words
// and many values each:
//
//   validity     a text is accepted exactly if a plain validator, which looks
//                at the whole value rule by rule, finds it valid; where
//                report() says that the grammar is narrower, at most then
//   no dead end  whatever was written, something leads to the end; and what is
//                written so, byte by byte, is valid
//   depth        where only few levels of arrays and objects are allowed, the
//                same texts are accepted without those that have more, and
//                there is no dead end either
//   prefixes     of a text that is accepted every beginning may go on
//   spelling     where the schema's fixed values have one spelling, every value
//                still has a text; a text accepted then is accepted where any
//                spelling is allowed, and has the fixed spelling, as a
//                reference speller writes it
//   rewriting    what means the same accepts the same: a schema twice in allOf,
//                under two negations, through a reference, with its keywords in
//                another order
//
// PARLANCE_SEED=<n> runs the schemas of one seed only.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/access.h"
#include "grammar/grammar_impl.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "schema/document.h"
#include "schema/validate.h"
#include "support/fixed_spelling.h"
#include "support/sanitized.h"
#include "support/small_schemas.h"
#include "verification/long_numbers.h"

namespace parlance::grammar_law_test {
namespace {

using recogniser::Configuration;
using recogniser::Recogniser;
using testing::SmallSchemas;
using verification::has_long_number;

std::string text_of(const json::Value& value) {
  return json::dump(value, {.ascii = false, .compact = true});
}

constexpr std::size_t kAnyDepth = 1000;

JsonSchemaOptions compact(std::size_t depth = kAnyDepth) {
  JsonSchemaOptions options;
  options.layout.max_white_space = 0;
  options.spelling = JsonSpelling::kAny;
  options.limits.depth = depth;
  return options;
}

bool is_narrowed(const Grammar& grammar) {
  return std::any_of(grammar.report().begin(), grammar.report().end(),
                     [](const GrammarNote& note) {
                       return note.kind == GrammarNote::Kind::kNarrowed;
                     });
}

struct Seeds {
  std::uint32_t first = 1;
  std::uint32_t last = 1;
};
Seeds seeds(std::uint32_t count, std::uint32_t first = 1) {
  const char* one = std::getenv("PARLANCE_SEED");
  if (one == nullptr) return {first, first + testing::cases(count) - 1};
  const auto seed = static_cast<std::uint32_t>(std::strtoul(one, nullptr, 10));
  return {seed, seed};
}

// A schema of a seed; every third has no logic, every third nothing special.
json::Value schema_of(SmallSchemas& small, std::uint32_t seed) {
  return small.schema({.logic = seed % 3 != 0,
                       .unevaluated = seed % 3 == 1,
                       .references = seed % 2 == 0});
}

std::vector<json::Value> values_for(SmallSchemas& small, std::size_t count) {
  std::vector<json::Value> values = {
      nullptr, true, false, 0, 1, "", "a", json::Array(), json::Object()};
  while (values.size() < count) {
    values.push_back(small.value(small.below(3) + 1));
  }
  return values;
}

std::string rerun(std::uint32_t seed, const json::Value& schema) {
  return "PARLANCE_SEED=" + std::to_string(seed) + ", schema " +
         json::dump(schema, {.ascii = false});
}

// What became of the schemas, for a look at what the tests reach.
struct Tally {
  std::size_t exact = 0;
  std::size_t narrowed = 0;
  std::size_t refused = 0;
  std::size_t valid = 0;
  std::size_t invalid = 0;
};

// --- Validity. --------------------------------------------------------------

void check_validity(std::uint32_t seed, Tally& tally) {
  SmallSchemas small(seed);
  const json::Value schema = schema_of(small, seed);
  SCOPED_TRACE(rerun(seed, schema));
  const Result<schema::Document> document = schema::load(schema);
  const Result<Grammar> grammar = Grammar::from_json_schema(schema, compact());
  if (!document) {
    EXPECT_FALSE(grammar);
    ++tally.refused;
    return;
  }
  schema::Validator validator(*document);
  const std::vector<json::Value> values = values_for(small, 250);
  if (!grammar) {
    const ErrorCode code = grammar.error().code;
    if (code == ErrorCode::kUnsatisfiable) {
      for (const json::Value& value : values) {
        EXPECT_FALSE(validator.valid(value)) << text_of(value);
      }
    } else {
      EXPECT_TRUE(code == ErrorCode::kUnsupported ||
                  code == ErrorCode::kTooLarge)
          << grammar.error().to_string();
      ++tally.refused;
    }
    return;
  }
  const bool narrowed = is_narrowed(*grammar);
  ++(narrowed ? tally.narrowed : tally.exact);
  for (const json::Value& value : values) {
    const bool valid = validator.valid(value);
    ++(valid ? tally.valid : tally.invalid);
    const std::string text = text_of(value);
    const bool accepted = grammar->accepts(text);
    if (accepted == valid || (narrowed && !accepted)) continue;
    ADD_FAILURE() << (valid ? "valid and not accepted: "
                            : "accepted and not valid: ")
                  << text;
    return;
  }
}

void check_validity(Seeds range) {
  Tally tally;
  for (std::uint32_t seed = range.first; seed <= range.last; ++seed) {
    check_validity(seed, tally);
  }
  std::cout << "exact " << tally.exact << ", narrowed " << tally.narrowed
            << ", refused " << tally.refused << "; valid " << tally.valid
            << ", invalid " << tally.invalid << "\n";
  if (range.first == range.last) return;
  // The worlds are not empty: most schemas are exact, and both verdicts occur.
  EXPECT_GT(tally.exact, 5 * (tally.narrowed + tally.refused));
  EXPECT_GT(tally.valid, (tally.valid + tally.invalid) / 10);
  EXPECT_GT(tally.invalid, (tally.valid + tally.invalid) / 10);
}

TEST(GrammarLaws, AcceptedIsValid) { check_validity(seeds(3000)); }
TEST(GrammarLaws, AcceptedIsValidLongRun) {
  check_validity(seeds(200000, 10000));
}

// --- No dead ends. ----------------------------------------------------------

// A place in a text, and what is open there.
struct Place {
  Configuration config;
  std::string text;
  std::size_t open = 0;  // brackets, as far as bytes outside strings tell
  bool in_string = false;
  bool escaped = false;

  void add(std::uint8_t byte) {
    text += static_cast<char>(byte);
    if (in_string) {
      if (escaped) {
        escaped = false;
      } else if (byte == '\\') {
        escaped = true;
      } else if (byte == '"') {
        in_string = false;
      }
    } else if (byte == '"') {
      in_string = true;
    } else if (byte == '{' || byte == '[') {
      ++open;
    } else if (byte == '}' || byte == ']') {
      --open;
    }
  }
};

std::vector<std::pair<std::uint8_t, Configuration>> ways_on(
    Recogniser& machine, Configuration config) {
  std::vector<std::pair<std::uint8_t, Configuration>> ways;
  for (int byte = 0; byte < 256; ++byte) {
    const Configuration next =
        machine.step(config, static_cast<std::uint8_t>(byte));
    if (!next.dead()) ways.emplace_back(static_cast<std::uint8_t>(byte), next);
  }
  return ways;
}

// Some text to the end from `from`, the best places first: few brackets open,
// few bytes written.  Nothing when `budget` places did not do, or there is
// none; then `exhausted` says so.
std::optional<std::string> completion(Recogniser& machine, const Place& from,
                                      std::size_t budget, bool& exhausted) {
  struct Node {
    Place place;
    std::uint32_t parent;
    std::uint8_t byte;
  };
  const auto hash = [](const Configuration& config) {
    return std::array<std::uint32_t, 4>{config.lex, config.frame, config.count,
                                        config.extra};
  };
  using Entry = std::pair<std::size_t, std::size_t>;  // cost, node
  std::vector<Place> places = {from};
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  queue.push({0, 0});
  std::set<std::array<std::uint32_t, 4>> seen = {hash(from.config)};
  exhausted = false;
  while (!queue.empty()) {
    const Place here = places[queue.top().second];
    queue.pop();
    if (machine.can_end(here.config)) return here.text;
    if (budget-- == 0) return std::nullopt;
    for (const auto& [byte, next] : ways_on(machine, here.config)) {
      if (!seen.insert(hash(next)).second) continue;
      Place there = here;
      there.config = next;
      there.add(byte);
      const std::size_t cost = there.text.size() + 8 * there.open +
                               (there.in_string ? 2 : 0) +
                               (byte < ' ' || byte > '~' ? 3 : 0);
      queue.push({cost, places.size()});
      places.push_back(std::move(there));
    }
  }
  exhausted = true;
  return std::nullopt;
}

// Bytes at random, with a liking for those that JSON is made of.
std::uint8_t choose(
    const std::vector<std::pair<std::uint8_t, Configuration>>& ways,
    SmallSchemas& small, std::size_t& index) {
  constexpr std::string_view kLiked = "\"\"{}[],:ab019";
  for (int tries = 0; tries < 4; ++tries) {
    const auto byte =
        static_cast<std::uint8_t>(kLiked[small.below(kLiked.size())]);
    for (index = 0; index < ways.size(); ++index) {
      if (ways[index].first == byte) return byte;
    }
  }
  index = small.below(ways.size());
  return ways[index].first;
}

// Some text to the end from `from`, written at random with few words.
std::optional<std::string> write_on(Recogniser& machine, const Place& from,
                                    SmallSchemas& small) {
  constexpr int kTries = 60;
  constexpr int kBytes = 120;
  for (int tries = 0; tries < kTries; ++tries) {
    Place place = from;
    for (int left = kBytes; left > 0; --left) {
      if (machine.can_end(place.config)) return place.text;
      const std::string_view first = place.in_string ? "\"\"abc" : "]}\"";
      const std::string_view rest = place.in_string ? "\"abc" : "]},:\"01tfn{[";
      Configuration next;
      std::uint8_t byte = 0;
      for (int tries_here = 0; tries_here < 40 && next.dead(); ++tries_here) {
        const std::string_view bytes = tries_here < 3 ? first : rest;
        byte = static_cast<std::uint8_t>(bytes[small.below(bytes.size())]);
        next = machine.step(place.config, byte);
      }
      if (next.dead()) {
        const auto ways = ways_on(machine, place.config);
        if (ways.empty()) break;
        const auto& way = ways[small.below(ways.size())];
        byte = way.first;
        next = way.second;
      }
      place.config = next;
      place.add(byte);
    }
  }
  return std::nullopt;
}

void check_walks(std::uint32_t seed, std::size_t walks, std::size_t& given_up,
                 std::size_t depth, KeyOrder order) {
  SmallSchemas small(seed);
  const json::Value schema = schema_of(small, seed);
  SCOPED_TRACE(rerun(seed, schema));
  const Result<schema::Document> document = schema::load(schema);
  if (!document) return;
  JsonSchemaOptions options = compact(depth);
  options.key_order = order;
  if (seed % 4 != 0) options.spelling = JsonSpelling::kCanonical;
  const Result<Grammar> grammar = Grammar::from_json_schema(schema, options);
  if (!grammar) return;
  options.spelling = JsonSpelling::kAny;
  const Result<Grammar> any = Grammar::from_json_schema(schema, options);
  ASSERT_TRUE(any) << any.error().to_string();
  schema::Validator validator(*document);
  const std::shared_ptr<Recogniser> tables =
      detail::Access::impl(*grammar)->language->with_room();
  Recogniser& machine = *tables;
  for (std::size_t walk = 0; walk < walks; ++walk) {
    std::string text;
    {
      const std::lock_guard<std::mutex> lock(machine.mutex);
      Place place{.config = machine.start(), .text = {}};
      for (std::size_t left = small.below(40); left > 0; --left) {
        const auto ways = ways_on(machine, place.config);
        if (ways.empty()) break;
        std::size_t index = 0;
        place.add(choose(ways, small, index));
        place.config = ways[index].second;
      }
      bool exhausted = false;
      auto end = write_on(machine, place, small);
      if (!end) end = completion(machine, place, 3000, exhausted);
      if (!end) {
        ASSERT_FALSE(exhausted) << "a dead end after " << place.text;
        ++given_up;
        continue;
      }
      text = *end;
    }
    ASSERT_TRUE(grammar->accepts(text)) << text;
    ASSERT_TRUE(any->accepts(text)) << text;
    const Result<json::Value> value = json::parse(text);
    ASSERT_TRUE(value) << text << ": " << value.error().to_string();
    if (!has_long_number(text)) {
      ASSERT_TRUE(validator.valid(*value))
          << "accepted and not valid: " << text;
    }
    // Every beginning may go on, and is only too short.
    for (std::size_t size = 0; size < text.size(); ++size) {
      const std::string_view prefix = std::string_view(text).substr(0, size);
      const std::optional<Rejection> rejection = grammar->explain(prefix);
      if (!rejection) continue;  // a number
      ASSERT_EQ(rejection->offset, size) << prefix;
      ASSERT_FALSE(rejection->expected.empty()) << prefix;
    }
  }
}

// Beyond `depths` levels there is no limit.
void check_walks(Seeds range, std::size_t walks, std::size_t depths = 0,
                 KeyOrder order = KeyOrder::kAny) {
  std::size_t given_up = 0;
  for (std::uint32_t seed = range.first; seed <= range.last; ++seed) {
    check_walks(seed, walks, given_up,
                depths == 0 ? kAnyDepth : seed / 6 % (depths + 1), order);
  }
  std::cout << "given up: " << given_up << "\n";
  EXPECT_LE(given_up, (range.last - range.first + 1) * walks / 500);
}

TEST(GrammarLaws, NoDeadEnds) { check_walks(seeds(1000), 6); }
TEST(GrammarLaws, NoDeadEndsInOrder) {
  check_walks(seeds(1000), 6, 0, KeyOrder::kSchema);
}
TEST(GrammarLaws, NoDeadEndsLongRun) { check_walks(seeds(20000, 10000), 12); }
TEST(GrammarLaws, NoDeadEndsInOrderLongRun) {
  check_walks(seeds(20000, 10000), 12, 0, KeyOrder::kSchema);
}

TEST(GrammarLaws, NoDeadEndsNearTheGreatestDepth) {
  check_walks(seeds(1500), 6, 3);
  check_walks(seeds(500), 6, 3, KeyOrder::kSchema);
}
TEST(GrammarLaws, NoDeadEndsNearTheGreatestDepthLongRun) {
  check_walks(seeds(20000, 10000), 12, 4);
}

// --- The order of members. ---------------------------------------------------

// An object whose members are declared in some order, and rules about which of
// them come together.
class SmallObjects {
 public:
  explicit SmallObjects(std::uint32_t seed) : small_(seed) {
    // Not in the order of their texts.
    for (std::size_t i = names_.size() - 1; i > 0; --i) {
      std::swap(names_[i], names_[small_.below(i + 1)]);
    }
    declared_.assign(names_.begin(),
                     names_.end() - static_cast<int>(small_.below(3)));
  }

  json::Value schema() {
    json::Object schema = rules(2);
    json::Object properties;
    for (const std::string& name : declared_) {
      properties.set(name, value_rule());
    }
    schema.set("type", "object");
    schema.set("properties", properties);
    if (chance(3)) schema.set("additionalProperties", value_rule());
    if (chance(4)) schema.set("additionalProperties", false);
    if (chance(6)) schema.set("minProperties", count());
    if (chance(6)) schema.set("maxProperties", count());
    if (chance(6)) {
      json::Object patterns;
      patterns.set(chance(2) ? "^a" : "^(c|g|h)$", value_rule());
      schema.set("patternProperties", patterns);
    }
    return schema;
  }

  // Members in an order that is often that of the schema.
  std::string text(bool& ordered) {
    std::vector<std::string> names = names_;
    names.emplace_back("ga");
    std::erase_if(names, [&](const std::string&) { return chance(2); });
    if (chance(2)) {
      for (std::size_t i = names.size(); i > 1; --i) {
        std::swap(names[i - 1], names[small_.below(i)]);
      }
    }
    ordered = true;
    std::size_t last = 0;
    std::string text = "{";
    for (const std::string& name : names) {
      const std::size_t rank = static_cast<std::size_t>(
          std::find(declared_.begin(), declared_.end(), name) -
          declared_.begin());
      ordered = ordered && rank >= last;
      last = rank;
      if (text.size() > 1) text += ',';
      text += '"' + name + "\":" + (chance(2) ? "1" : "\"x\"");
    }
    return text + '}';
  }

 private:
  bool chance(std::size_t of) { return small_.below(of) == 0; }
  int count() { return static_cast<int>(small_.below(4)); }
  const std::string& name() { return names_[small_.below(names_.size())]; }

  json::Value value_rule() {
    if (chance(2)) return true;
    json::Object rule;
    rule.set("type", chance(2) ? "integer" : "string");
    return rule;
  }
  json::Array some_names(std::size_t most) {
    std::vector<std::string> some;
    for (std::size_t n = 1 + small_.below(most); n > 0; --n) {
      some.push_back(name());
    }
    std::sort(some.begin(), some.end());
    some.erase(std::unique(some.begin(), some.end()), some.end());
    return json::Array(some.begin(), some.end());
  }

  json::Object rules(std::size_t depth) {
    json::Object rules;
    if (chance(2)) rules.set("required", some_names(2));
    if (chance(3)) {
      json::Object dependent;
      for (std::size_t n = 1 + small_.below(2); n > 0; --n) {
        dependent.set(name(), some_names(2));
      }
      rules.set("dependentRequired", dependent);
    }
    if (depth == 0) return rules;
    // No rules for values of names that the object itself does not declare:
    // they would have a place in the order, too.
    if (depth < 2 && chance(3)) {
      json::Object properties;
      properties.set(declared_[small_.below(declared_.size())], value_rule());
      rules.set("properties", properties);
    }
    switch (small_.below(7)) {
      case 0:
        rules.set("not", this->rules(depth - 1));
        break;
      case 1:
        rules.set("if", this->rules(depth - 1));
        rules.set("then", this->rules(depth - 1));
        if (chance(2)) rules.set("else", this->rules(depth - 1));
        break;
      case 2:
      case 3:
        rules.set(chance(2) ? "anyOf" : "oneOf",
                  json::Array{this->rules(depth - 1), this->rules(depth - 1)});
        break;
      default:
        break;
    }
    return rules;
  }

  SmallSchemas small_;
  std::vector<std::string> names_ = {"a", "ab", "b", "c", "d", "e", "f", "g"};
  std::vector<std::string> declared_;
};

// In the order of the schema exactly the valid texts fit whose members come in
// that order.
void check_order(Seeds range, std::size_t texts) {
  Tally tally;
  for (std::uint32_t seed = range.first; seed <= range.last; ++seed) {
    SmallObjects small(seed);
    const json::Value schema = small.schema();
    SCOPED_TRACE(rerun(seed, schema));
    JsonSchemaOptions options = compact();
    options.key_order = KeyOrder::kSchema;
    const Result<schema::Document> document = schema::load(schema);
    ASSERT_TRUE(document) << document.error().to_string();
    schema::Validator validator(*document);
    const Result<Grammar> grammar = Grammar::from_json_schema(schema, options);
    if (!grammar) {
      ASSERT_EQ(grammar.error().code, ErrorCode::kUnsatisfiable)
          << grammar.error().to_string();
    }
    const bool narrowed = grammar && is_narrowed(*grammar);
    ++(!grammar ? tally.refused : narrowed ? tally.narrowed : tally.exact);
    for (std::size_t i = 0; i < texts; ++i) {
      bool ordered = false;
      const std::string text = small.text(ordered);
      const bool fits = validator.valid(*json::parse(text)) && ordered;
      ++(fits ? tally.valid : tally.invalid);
      const bool accepted = grammar && grammar->accepts(text);
      if (narrowed ? accepted && !fits : accepted != fits) {
        ADD_FAILURE() << text << (fits ? " fits" : " does not fit");
        return;
      }
    }
  }
  std::cout << "exact " << tally.exact << ", narrowed " << tally.narrowed
            << ", refused " << tally.refused << "; fit " << tally.valid
            << ", do not " << tally.invalid << "\n";
  EXPECT_GT(tally.valid * 50, tally.invalid);
}

TEST(GrammarLaws, InOrderAreTheValidTextsInOrder) {
  check_order(seeds(1500), 60);
}
TEST(GrammarLaws, InOrderAreTheValidTextsInOrderLongRun) {
  check_order(seeds(40000, 10000), 100);
}

// --- Depth. -----------------------------------------------------------------

std::size_t levels_of(std::string_view text) {
  std::size_t most = 0;
  Place place{.config = {}, .text = {}};
  for (const char c : text) {
    place.add(static_cast<std::uint8_t>(c));
    most = std::max(most, place.open);
  }
  return most;
}

void check_depth(std::uint32_t seed, std::size_t& compared) {
  SmallSchemas small(seed);
  const json::Value schema = schema_of(small, seed);
  SCOPED_TRACE(rerun(seed, schema));
  const Result<Grammar> any = Grammar::from_json_schema(schema, compact());
  if (!any || is_narrowed(*any)) return;
  std::vector<std::string> texts;
  for (const json::Value& value : values_for(small, 120)) {
    const std::string text = text_of(value);
    if (any->accepts(text)) texts.push_back(text);
  }
  for (std::size_t depth = 0; depth < 4; ++depth) {
    const Result<Grammar> some =
        Grammar::from_json_schema(schema, compact(depth));
    if (!some) {
      ASSERT_EQ(some.error().code, ErrorCode::kTooLarge);
    }
    for (const std::string& text : texts) {
      ++compared;
      ASSERT_EQ(some && some->accepts(text), levels_of(text) <= depth)
          << text << " at most " << depth << " deep";
    }
  }
}

TEST(GrammarLaws, DepthTakesAwayDeeperTextsOnly) {
  std::size_t compared = 0;
  const Seeds range = seeds(1500);
  for (std::uint32_t seed = range.first; seed <= range.last; ++seed) {
    check_depth(seed, compared);
  }
  std::cout << "compared: " << compared << "\n";
}

// --- Spelling. ---------------------------------------------------------------

struct SpellingTally {
  std::size_t kept = 0;     // values that have a text in both
  std::size_t refused = 0;  // texts that have another spelling
  std::size_t judged = 0;   // texts that the reference knows
};

void check_spelling(std::uint32_t seed, SpellingTally& tally) {
  SmallSchemas small(seed);
  const json::Value schema = schema_of(small, seed);
  SCOPED_TRACE(rerun(seed, schema));
  const Result<Grammar> any = Grammar::from_json_schema(schema, compact());
  JsonSchemaOptions options = compact();
  options.spelling = JsonSpelling::kCanonical;
  const Result<Grammar> one = Grammar::from_json_schema(schema, options);
  ASSERT_EQ(any.has_value(), one.has_value());
  if (!any) {
    EXPECT_EQ(any.error().code, one.error().code);
    return;
  }
  const bool covered =
      !is_narrowed(*one) && testing::FixedSpelling::covers(schema);
  for (const json::Value& value : values_for(small, 120)) {
    if (!any->accepts(text_of(value))) {
      ASSERT_FALSE(one->accepts(text_of(value))) << text_of(value);
      continue;
    }
    // Strings as they are written anyway; each number as 1 or as 1.0, of which
    // a constant has one.
    bool kept = false;
    for (int tries = 0; tries < 200 && !kept; ++tries) {
      kept = one->accepts(
          testing::FixedSpelling(
              testing::RandomSpelling(small, 0, tries == 0 ? 0 : 50))
              .write(value, {}));
    }
    ASSERT_TRUE(kept) << text_of(value);
    ++tally.kept;
    for (const std::size_t percent : {10U, 50U}) {
      testing::FixedSpelling reference(
          testing::RandomSpelling(small, percent, percent));
      const std::string text = reference.write(value, {schema});
      const bool accepted = one->accepts(text);
      tally.refused += !accepted;
      ASSERT_TRUE(any->accepts(text)) << text;
      if (!covered) continue;
      ++tally.judged;
      ASSERT_EQ(accepted, reference.canonical()) << text;
    }
  }
}

void check_spelling(Seeds range) {
  SpellingTally tally;
  for (std::uint32_t seed = range.first; seed <= range.last; ++seed) {
    check_spelling(seed, tally);
    if (::testing::Test::HasFatalFailure()) return;
  }
  std::cout << "values " << tally.kept << "; texts refused " << tally.refused
            << ", judged " << tally.judged << "\n";
  if (range.first == range.last) return;
  EXPECT_GT(tally.refused, tally.kept / 30);
  EXPECT_GT(tally.judged, tally.kept / 5);
}

TEST(GrammarLaws, ValuesKeepATextInOneSpelling) { check_spelling(seeds(1500)); }
TEST(GrammarLaws, ValuesKeepATextInOneSpellingLongRun) {
  check_spelling(seeds(100000, 10000));
}

// --- Rewriting. -------------------------------------------------------------

// The same, with the keywords of every subschema in another order.  Names of
// properties are shuffled too.
json::Value shuffled(const json::Value& value, SmallSchemas& small) {
  if (value.is_array()) {
    json::Array items;
    for (const json::Value& item : value.items()) {
      items.push_back(shuffled(item, small));
    }
    return items;
  }
  if (!value.is_object()) return value;
  std::vector<json::Member> members;
  for (const json::Member& member : value.members()) {
    members.push_back({member.key, shuffled(member.value, small)});
  }
  std::shuffle(members.begin(), members.end(), small.random());
  json::Object out;
  for (const json::Member& member : members) out.set(member.key, member.value);
  return out;
}

// `wrap` around a schema, whose references go to the root's place.
json::Value with_inner(const json::Value& schema, json::Object wrap) {
  json::Object inner;
  inner.set("inner", schema);
  wrap.set("$defs", inner);
  return wrap;
}

void check_rewriting(std::uint32_t seed) {
  SmallSchemas small(seed);
  const json::Value schema = small.schema({.logic = seed % 3 != 0,
                                           .unevaluated = seed % 3 == 1,
                                           .references = false});
  SCOPED_TRACE(rerun(seed, schema));
  const Result<Grammar> plain = Grammar::from_json_schema(schema, compact());
  if (!plain || is_narrowed(*plain)) return;
  const json::Value inner = json::Object{{"$ref", "#/$defs/inner"}};
  const json::Value no_inner = json::Object{{"not", inner}};
  const std::pair<const char*, json::Value> rewritten[] = {
      {"twice in allOf",
       with_inner(schema, {{"allOf", json::Array{inner, inner}}})},
      {"twice in anyOf",
       with_inner(schema, {{"anyOf", json::Array{inner, inner}}})},
      {"once in oneOf", with_inner(schema, {{"oneOf", json::Array{inner}}})},
      {"through a reference", with_inner(schema, {{"$ref", "#/$defs/inner"}})},
      {"under two negations", with_inner(schema, {{"not", no_inner}})},
      {"as the condition of false",
       with_inner(schema, {{"if", inner}, {"else", false}})},
      {"in another order", shuffled(schema, small)},
  };
  const std::vector<json::Value> values = values_for(small, 120);
  for (const auto& [how, other] : rewritten) {
    SCOPED_TRACE(how);
    const Result<Grammar> same = Grammar::from_json_schema(other, compact());
    if (!same) {
      // Negation may need more than there is.
      EXPECT_TRUE(same.error().code == ErrorCode::kTooLarge ||
                  same.error().code == ErrorCode::kUnsupported)
          << same.error().to_string();
      continue;
    }
    const bool narrowed = is_narrowed(*same);
    for (const json::Value& value : values) {
      const std::string text = text_of(value);
      const bool accepted = same->accepts(text);
      if (narrowed && !accepted) continue;
      ASSERT_EQ(accepted, plain->accepts(text)) << text;
    }
  }
}

TEST(GrammarLaws, RewritingChangesNothing) {
  const Seeds range = seeds(800);
  for (std::uint32_t seed = range.first; seed <= range.last; ++seed) {
    check_rewriting(seed);
  }
}
TEST(GrammarLaws, RewritingChangesNothingLongRun) {
  const Seeds range = seeds(50000, 10000);
  for (std::uint32_t seed = range.first; seed <= range.last; ++seed) {
    check_rewriting(seed);
  }
}

}  // namespace
}  // namespace parlance::grammar_law_test
