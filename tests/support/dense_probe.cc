// Dense schemas (dense_schemas.h), values, and what the grammars of the schemas
// say of them, for a test in Python that asks another validator.
//
//   dense_probe FIRST LAST VALUES [closed]
//   closed: with JsonSchemaOptions::closed
//   stdout: for each seed from FIRST to LAST one JSON object in a line:
//     seed, schema, type (of most values),
//     state: "exact", "narrowed", or the code of the error,
//     values, accepted (a string of 0 and 1); both empty where it was refused

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include "parlance/grammar.h"
#include "parlance/json.h"
#include "support/dense_schemas.h"

namespace {

using namespace parlance;

bool is_narrowed(const Grammar& grammar) {
  return std::any_of(grammar.report().begin(), grammar.report().end(),
                     [](const GrammarNote& note) {
                       return note.kind == GrammarNote::Kind::kNarrowed;
                     });
}

json::Value answer(std::uint32_t seed, std::size_t count, bool closed) {
  testing::DenseSchemas dense(seed);
  const json::Value schema = dense.schema();
  JsonSchemaOptions options;
  options.layout.max_white_space = 0;
  options.spelling = JsonSpelling::kAny;
  options.closed = closed;
  const Result<Grammar> grammar = Grammar::from_json_schema(schema, options);
  json::Object out{{"seed", static_cast<std::int64_t>(seed)},
                   {"schema", schema},
                   {"type", std::string(dense.main_type())}};
  json::Array values;
  std::string accepted;
  std::string state = "exact";
  if (!grammar) {
    state = std::string(to_string(grammar.error().code));
  } else if (is_narrowed(*grammar)) {
    state = "narrowed";
  }
  if (grammar || grammar.error().code == ErrorCode::kUnsatisfiable) {
    for (std::size_t i = 0; i < count; ++i) {
      json::Value value =
          i % 8 == 7 ? dense.any_value(3) : dense.value(dense.main_type());
      const std::string text =
          json::dump(value, {.ascii = false, .compact = true});
      accepted += grammar && grammar->accepts(text) ? '1' : '0';
      values.push_back(std::move(value));
    }
  }
  out.set("state", state);
  out.set("values", std::move(values));
  out.set("accepted", accepted);
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const bool closed = argc == 5 && std::string_view(argv[4]) == "closed";
  if (argc != 4 && !closed) {
    std::cerr << "dense_probe FIRST LAST VALUES [closed]\n";
    return 2;
  }
  const auto number = [&](int i) {
    return static_cast<std::uint32_t>(std::strtoul(argv[i], nullptr, 10));
  };
  const std::uint32_t last = number(2);
  for (std::uint32_t seed = number(1); seed <= last; ++seed) {
    std::cout << parlance::json::dump(answer(seed, number(3), closed)) << "\n";
  }
}
