// Any bytes as an expression over any value: whatever compiles can be searched,
// with the same answer over the values of a host, and the answer can be
// written.
//
// The input is an expression, a zero byte, and JSON.  Without JSON the value
// is a fixed one.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "parlance/jmespath.h"
#include "parlance/json.h"
#include "support/json_host.h"

namespace {

using namespace parlance;

void require(bool condition) {
  if (!condition) std::abort();
}

const json::Value& fixed_value() {
  static const json::Value value =
      *json::parse(R"({"a": [1, [2.5, {"b": "x"}], null], "b": {"a": "é"}})");
  return value;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t end = bytes.find('\0');
  const std::string_view text = bytes.substr(0, end);
  Limits limits;
  limits.source_bytes = 1 << 16;
  const Result<Jmespath> expression = Jmespath::compile(text, limits);
  if (!expression) {
    require(!expression.error().message.empty());
    if (expression.error().span) {
      const Span span = *expression.error().span;
      require(span.begin <= span.end && span.end <= text.size());
    }
    return 0;
  }
  require(expression->expression() == text);

  json::Value value = fixed_value();
  if (end != std::string_view::npos) {
    Result<json::Value> read = json::parse(bytes.substr(end + 1));
    if (read) value = *std::move(read);
  }
  const json::Value before = value;
  const Result<json::Value> found = expression->search(value);
  // Law: the values of a host give the same answer.
  long leaked = 0;
  const Result<json::Value> again =
      testing::search_host(*expression, value, &leaked);
  require(leaked == 0);
  require(value == before);
  require(found.has_value() == again.has_value());
  if (!found) {
    require(found.error().code == again.error().code);
    require(found.error().span && found.error().span->end <= text.size());
  } else if (found->memory_bytes() < std::size_t{1} << 20) {
    require(*found == *again);
    require(!json::dump(*found).empty());
  }
  return 0;
}
