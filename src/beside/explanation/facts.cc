// The facts of an explanation as JSON.

#include "explanation/facts.h"

#include <cstdint>
#include <utility>

#include "base/utf8.h"

namespace parlance {

// ORDER: ExplanationKind
std::string_view to_string(ExplanationKind kind) {
  static constexpr std::string_view kNames[] = {
      "open",      "text",    "close",    "unclaimed", "layout", "outside",
      "format",    "end",     "between",  "fits",      "rest",   "cut",
      "malformed", "problem", "expected", "held",      "hint"};
  return kNames[static_cast<std::size_t>(kind)];
}

bool owns_bytes(ExplanationKind kind) { return kind < ExplanationKind::kCut; }

std::string_view to_string(ExplainedBy by) {
  switch (by) {
    case ExplainedBy::kFormat:
      return "format";
    case ExplainedBy::kStructuralTag:
      return "structural_tag";
    case ExplainedBy::kGrammar:
      break;
  }
  return "grammar";
}

namespace explanation {
namespace {

json::Value number(std::size_t n) {
  return json::Value(static_cast<std::int64_t>(n));
}

json::Value pair(Span span) {
  return json::Value(json::Array{number(span.begin), number(span.end)});
}

json::Value string(std::string_view text) {
  return json::Value(base::to_utf8(text));
}

json::Value token_facts(const Explanation& explanation) {
  json::Array ids, ends, added, control;
  ids.reserve(explanation.ids.size());
  ends.reserve(explanation.ids.size());
  for (std::size_t i = 0; i < explanation.ids.size(); ++i) {
    ids.push_back(number(explanation.ids[i]));
    ends.push_back(number(explanation.token_ends[i]));
    const TokenKind kind = explanation.token_kinds[i];
    if (kind == TokenKind::kAdded) added.push_back(number(i));
    if (kind == TokenKind::kControl) control.push_back(number(i));
  }
  json::Object out;
  out.set("ids", json::Value(std::move(ids)));
  out.set("ends", json::Value(std::move(ends)));
  out.set("added", json::Value(std::move(added)));
  out.set("control", json::Value(std::move(control)));
  if (!explanation.allowed.empty()) {
    json::Array allowed;
    allowed.reserve(explanation.allowed.size());
    for (const std::uint32_t count : explanation.allowed) {
      allowed.push_back(number(count));
    }
    out.set("allowed", json::Value(std::move(allowed)));
    if (explanation.rejected) {
      out.set("rejected", number(*explanation.rejected));
    }
  }
  return json::Value(std::move(out));
}

json::Value diagnostic_facts(const Diagnostic& diagnostic) {
  json::Object out;
  out.set("start", number(diagnostic.bytes.begin));
  out.set("end", number(diagnostic.bytes.end));
  out.set("code", json::Value(to_string(diagnostic.code)));
  if (!diagnostic.field.empty()) out.set("field", string(diagnostic.field));
  out.set("message", string(diagnostic.message));
  if (diagnostic.at) out.set("at", number(*diagnostic.at));
  return json::Value(std::move(out));
}

json::Value failure_facts(const Error& failure) {
  json::Object out;
  out.set("code", json::Value(to_string(failure.code)));
  out.set("message", string(failure.message));
  if (failure.span) {
    out.set("start", number(failure.span->begin));
    out.set("end", number(failure.span->end));
  }
  return json::Value(std::move(out));
}

}  // namespace

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

json::Object row_facts(const ExplanationRow& row, const std::string* all) {
  json::Object out;
  const bool owns = owns_bytes(row.kind);
  out.set("kind", json::Value(to_string(row.kind)));
  if (all != nullptr || !owns) {
    out.set("start", number(row.bytes.begin));
    out.set("end", number(row.bytes.end));
  }
  if (all != nullptr && row.tokens.size() > 0) {
    out.set("tokens", pair(row.tokens));
  }
  if (!row.field.empty()) out.set("field", string(row.field));
  if (!row.captures.empty()) {
    json::Object captures;
    for (const auto& [name, text] : row.captures) {
      captures.set(base::to_utf8(name), string(text));
    }
    out.set("captures", json::Value(std::move(captures)));
  }
  if (!row.type.empty()) {
    out.set("type", string(row.type));
    out.set("path", string(row.path));
    out.set("depth", number(row.depth));
    if (row.alternative) out.set("alternative", number(*row.alternative));
    if (!row.finished) out.set("finished", json::Value(false));
  }
  if (row.code) out.set("code", json::Value(to_string(*row.code)));
  if (row.hint) out.set("hint", json::Value(to_string(*row.hint)));
  if (!row.format.empty()) out.set("format", string(row.format));
  if (!row.message.empty()) out.set("message", string(row.message));
  if (row.at) out.set("at", number(*row.at));
  if (row.kind == ExplanationKind::kHeld) out.set("fed", number(row.fed));
  out.set("what", string(row.what));
  if (all != nullptr && (owns || row.kind == ExplanationKind::kHeld)) {
    const std::string_view text =
        std::string_view(*all).substr(row.bytes.begin, row.bytes.size());
    out.set("text", string(text));
    // "text" has U+FFFD for bytes that are not UTF-8, so the bytes are given
    // as well.
    if (!base::is_utf8(text)) out.set("hex", json::Value(hex(text)));
  }
  return out;
}

json::Object head_facts(const Explanation& e) {
  json::Object out;
  out.set("by", json::Value(to_string(e.by)));
  if (!e.name.empty()) out.set("name", string(e.name));
  out.set("bytes", number(e.text.size()));
  out.set("prefix_bytes", number(e.prefix_bytes));
  if (e.message) {
    out.set("complete", json::Value(e.message->complete));
    out.set("turn_ended", json::Value(e.message->turn_ended));
  } else {
    out.set("accepted", json::Value(e.accepted));
  }
  return out;
}

void add_tail_facts(const Explanation& e, bool tokens, json::Object& out) {
  if (tokens && !e.ids.empty()) out.set("tokens", token_facts(e));
  if (e.message) {
    json::Array diagnostics;
    diagnostics.reserve(e.message->diagnostics.size());
    for (const Diagnostic& diagnostic : e.message->diagnostics) {
      diagnostics.push_back(diagnostic_facts(diagnostic));
    }
    out.set("diagnostics", json::Value(std::move(diagnostics)));
  }
  if (e.failure) out.set("error", failure_facts(*e.failure));
}

}  // namespace explanation

json::Value to_json(const Explanation& e) {
  json::Object out = explanation::head_facts(e);
  json::Array rows;
  rows.reserve(e.rows.size());
  for (const ExplanationRow& row : e.rows) {
    rows.emplace_back(explanation::row_facts(row, &e.text));
  }
  out.set("rows", json::Value(std::move(rows)));
  if (e.message) {
    out.set("message", e.message->fields);
    json::Array attempts;
    attempts.reserve(e.message->attempts.size());
    for (const Attempt& attempt : e.message->attempts) {
      attempts.push_back(to_json(attempt));
    }
    out.set("attempts", json::Value(std::move(attempts)));
  }
  explanation::add_tail_facts(e, true, out);
  return json::Value(std::move(out));
}

}  // namespace parlance
