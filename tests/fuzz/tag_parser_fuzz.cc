// Any text through any structural tag: a line with a tag, then the text.  A
// text is read completely if and only if the grammar accepts it, wherever it is
// cut; the tree covers what was read, and the rest is the rest.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/tag_parser.h"

namespace {

using parlance::json::Value;

void require(bool holds) {
  if (!holds) std::abort();
}

Value read(const parlance::CompiledTag& program, std::string_view text,
           std::size_t chunk, bool recover) {
  parlance::StreamOptions options;
  using parlance::Recover;
  options.recover = recover ? Recover::kYes : Recover::kNo;
  parlance::TagParser parser(program, options);
  for (std::size_t at = 0; at < text.size(); at += chunk) {
    for (const parlance::Event& event : parser.feed(text.substr(at, chunk))) {
      require(event.bytes.begin <= event.bytes.end &&
              event.bytes.end <= text.size());
    }
  }
  parser.finalize();
  return parser.tree();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t line = input.find('\n');
  if (line == std::string_view::npos || line > 4096) return 0;
  const auto tag = parlance::StructuralTag::from_json(input.substr(0, line));
  if (!tag) return 0;
  const std::string_view text = input.substr(line + 1);
  parlance::StructuralTagGrammarOptions options;
  options.limits.bytes = std::size_t{4} << 20;
  options.limits.steps = 20000;
  const auto grammar = parlance::Grammar::from_structural_tag(*tag, options);
  parlance::CompiledTagOptions reading;
  reading.limits = options.limits;
  reading.max_parses = 256;
  reading.parse_bytes = std::size_t{1} << 20;
  const auto program = parlance::CompiledTag::compile(*tag, reading);
  if (!grammar || !program) return 0;
  const Value whole = read(*program, text, text.size() + 1, false);
  const Value bytes = read(*program, text, 1, false);
  require(parlance::json::dump(whole) == parlance::json::dump(bytes));
  // Recovery changes nothing where everything fits.
  const Value on = read(*program, text, text.size() + 1, true);
  require(parlance::json::dump(on) ==
          parlance::json::dump(read(*program, text, 1, true)));
  bool limited = false;
  for (const Value& one : whole.find("diagnostics")->items()) {
    limited = limited || one.find("code")->as_string() == "too_large";
  }
  const bool complete = whole.find("complete")->as_bool();
  require(limited || complete == grammar->accepts(text));
  require(on.find("complete")->as_bool() == complete);
  require(!complete || parlance::json::dump(on) == parlance::json::dump(whole));
  const Value& span = *whole.find("format")->find("span");
  require(span.items()[0].as_int() == 0);
  const auto end = static_cast<std::size_t>(span.items()[1].as_int());
  require(end <= text.size());
  require(complete ? end == text.size()
                   : !whole.find("diagnostics")->items().empty());
  require(whole.find("rest")->as_string().empty() == (end == text.size()));
  return 0;
}
