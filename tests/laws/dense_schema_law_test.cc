// The law *validity* of grammars made from JSON Schemas in which many keywords
// meet (support/dense_schemas.h): a text is accepted exactly if a plain
// validator finds its value valid; where report() says that the grammar is
// narrower, at most then; and a schema is unsatisfiable only if no value is
// valid.
// Every third schema is read with few alternatives, so that its unions are
// conditions (schema_solver/conditions.h).
//
// PARLANCE_SEED=<n> runs the schema of one seed only, PARLANCE_SEEDS=<a>-<b>
// those of a range in place of the long run's.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "parlance/grammar.h"
#include "parlance/json.h"
#include "schema/document.h"
#include "schema/validate.h"
#include "support/dense_schemas.h"
#include "support/sanitized.h"

namespace parlance::dense_schema_law_test {
namespace {

using testing::DenseSchemas;

struct Tally {
  std::size_t exact = 0;
  std::size_t narrowed = 0;
  std::size_t refused = 0;
  std::size_t unsatisfiable = 0;
  std::size_t valid = 0;
  std::size_t invalid = 0;
  std::size_t missed = 0;  // valid values that a narrowed grammar leaves out
};

std::string text_of(const json::Value& value) {
  return json::dump(value, {.ascii = false, .compact = true});
}

void check(std::uint32_t seed, std::size_t count, Tally& tally) {
  DenseSchemas dense(seed);
  const json::Value schema = dense.schema();
  SCOPED_TRACE("PARLANCE_SEED=" + std::to_string(seed) + ", schema " +
               json::dump(schema, {.ascii = false}));
  const Result<schema::Document> document = schema::load(schema);
  JsonSchemaOptions options;
  options.layout.max_white_space = 0;
  options.spelling = JsonSpelling::kAny;
  // With few alternatives, those of objects and strings are joined instead.
  if (seed % 3 == 0) options.limits.alternatives = 4;
  const Result<Grammar> grammar = Grammar::from_json_schema(schema, options);
  if (!document) {
    EXPECT_FALSE(grammar);
    ++tally.refused;
    return;
  }
  schema::Validator validator(*document);
  const bool empty =
      !grammar && grammar.error().code == ErrorCode::kUnsatisfiable;
  if (!grammar && !empty) {
    const ErrorCode code = grammar.error().code;
    EXPECT_TRUE(code == ErrorCode::kUnsupported || code == ErrorCode::kTooLarge)
        << grammar.error().to_string();
    ++tally.refused;
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const json::Value value =
        i % 8 == 7 ? dense.any_value(3) : dense.value(dense.main_type());
    const bool valid = validator.valid(value);
    ++(valid ? tally.valid : tally.invalid);
    const std::string text = text_of(value);
    const bool accepted = grammar && grammar->accepts(text);
    if (accepted == valid) continue;
    const bool narrowed =
        grammar &&
        std::any_of(grammar->report().begin(), grammar->report().end(),
                    [](const GrammarNote& note) {
                      return note.kind == GrammarNote::Kind::kNarrowed;
                    });
    if (narrowed && !accepted) {
      ++tally.missed;
      continue;
    }
    ADD_FAILURE() << (valid ? "valid and not accepted: "
                            : "accepted and not valid: ")
                  << text;
    return;
  }
  if (empty) {
    ++tally.unsatisfiable;
    return;
  }
  const bool narrowed =
      std::any_of(grammar->report().begin(), grammar->report().end(),
                  [](const GrammarNote& note) {
                    return note.kind == GrammarNote::Kind::kNarrowed;
                  });
  ++(narrowed ? tally.narrowed : tally.exact);
}

void check(std::uint32_t first, std::uint32_t last, std::size_t values) {
  const char* one = std::getenv("PARLANCE_SEED");
  if (one != nullptr) {
    first = last = static_cast<std::uint32_t>(std::strtoul(one, nullptr, 10));
  }
  Tally tally;
  for (std::uint32_t seed = first; seed <= last; ++seed) {
    check(seed, values, tally);
  }
  std::cout << "schemas: exact " << tally.exact << ", narrowed "
            << tally.narrowed << ", unsatisfiable " << tally.unsatisfiable
            << ", refused " << tally.refused << "; values: valid "
            << tally.valid << ", invalid " << tally.invalid
            << ", valid ones left out by narrowed grammars " << tally.missed
            << "\n";
  if (first == last) return;
  // The worlds are not empty.
  EXPECT_GT(tally.exact, 3 * (tally.narrowed + tally.refused) / 2);
  EXPECT_GT(tally.valid, (tally.valid + tally.invalid) / 20);
}

TEST(DenseSchemas, AcceptedIsValid) { check(1, testing::cases(10'000), 50); }

TEST(DenseSchemas, AcceptedIsValidLongRun) {
  std::uint32_t first = 100'000;
  std::uint32_t last = 1'099'999;
  if (const char* range = std::getenv("PARLANCE_SEEDS")) {
    char* end = nullptr;
    first = static_cast<std::uint32_t>(std::strtoul(range, &end, 10));
    last = *end == '-'
               ? static_cast<std::uint32_t>(std::strtoul(end + 1, nullptr, 10))
               : first;
  }
  check(first, last, 50);
}

}  // namespace
}  // namespace parlance::dense_schema_law_test
