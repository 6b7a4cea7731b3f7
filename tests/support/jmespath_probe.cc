// Answers questions about JMESPath expressions, one JSON object per line on
// stdin, one answer per line on stdout.  Spoken to by
// tests/differential/test_jmespath.py.
//
//   {"expression": "a.b", "values": [{"a": {"b": 1}}]}
//       {"answers": [{"ok": 1}]}
//       {"code": "bad_expression", "message": ..., "span": [0, 1]}
//
// An answer is {"ok": value} or, for an error of the search, as the second
// form.

#include <iostream>
#include <string>
#include <utility>

#include "parlance/jmespath.h"
#include "parlance/json.h"
#include "support/json_host.h"

namespace {

using parlance::json::Array;
using parlance::json::Object;
using parlance::json::Value;

Value number(std::size_t n) { return Value(static_cast<std::int64_t>(n)); }

Value error_of(const parlance::Error& error) {
  Array span;
  if (error.span) span = {number(error.span->begin), number(error.span->end)};
  return Object{{"code", Value(to_string(error.code))},
                {"message", Value(error.message)},
                {"span", Value(span)}};
}

Value answer(const Value& question) {
  const auto expression =
      parlance::Jmespath::compile(question.find("expression")->as_string());
  if (!expression) return error_of(expression.error());
  Array answers;
  for (const Value& value : question.find("values")->items()) {
    const auto found = expression->search(value);
    long leaked = 0;
    const auto hosted =
        parlance::testing::search_host(*expression, value, &leaked);
    if (leaked != 0 || hosted.has_value() != found.has_value() ||
        (found && !(*hosted == *found))) {
      answers.push_back(Value(Object{{"differs", Value("over a host")}}));
      continue;
    }
    answers.push_back(found ? Value(Object{{"ok", *found}})
                            : error_of(found.error()));
  }
  return Object{{"answers", Value(std::move(answers))}};
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto question = parlance::json::parse(line);
    if (!question || question->find("expression") == nullptr ||
        question->find("values") == nullptr) {
      std::cerr << "not a question: " << line << '\n';
      return 1;
    }
    std::cout << parlance::json::dump(answer(*question)) << '\n';
  }
  return 0;
}
