// See cache_key.h.

#include "recogniser/cache_key.h"

#include "parlance/limit_names.h"

namespace parlance::recogniser {

KeyWriter& KeyWriter::number(std::uint64_t value) {
  key_.append(reinterpret_cast<const char*>(&value), sizeof value);
  return *this;
}

KeyWriter& KeyWriter::text(std::string_view text) {
  number(text.size());
  key_.append(text);
  return *this;
}

KeyWriter& KeyWriter::value(const json::Value& value) {
  return text(json::dump(value, {.ascii = false, .compact = true}));
}

KeyWriter& KeyWriter::limits(const GrammarLimits& limits) {
  for (const auto& [name, limit] : kGrammarLimits) number(limits.*limit);
  return *this;
}

KeyWriter& KeyWriter::limits(const Limits& limits) {
  const auto& [json_depth, digits, held, diagnostics, states, steps, depth,
               automaton, source] = limits;
  return number(json_depth)
      .number(digits)
      .number(held)
      .number(diagnostics)
      .number(states)
      .number(steps)
      .number(depth)
      .number(automaton)
      .number(source);
}

KeyWriter& KeyWriter::options(const JsonSchemaOptions& options) {
  const auto& [layout, order, spelling, draft, closed, lenient, formats,
               excludes, documents, given] = options;
  const auto& [exact, space, indent, item, key] = layout;
  number((exact ? 1u : 0u) | (closed ? 2u : 0u) | (lenient ? 4u : 0u) |
         (formats ? 8u : 0u) | static_cast<std::uint64_t>(spelling) << 4 |
         static_cast<std::uint64_t>(order) << 8 |
         (draft ? static_cast<std::uint64_t>(*draft) + 1 : 0) << 16 |
         (indent ? std::uint64_t{*indent} + 1 : 0) << 24);
  number(space);
  // No separator has a zero byte.
  text(item.value_or(std::string(1, '\0'))).text(key);
  number(excludes.size());
  for (const std::string& one : excludes) text(one);
  number(documents.size());
  for (const auto& [url, document] : documents) text(url).value(document);
  return limits(given);
}

}  // namespace parlance::recogniser
