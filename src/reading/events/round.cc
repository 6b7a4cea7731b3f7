// Keeps what the events of a round point to; see round.h.

#include "events/round.h"

namespace parlance::events {
namespace {

// Bytes of capacity that a text may retain for the next one.
constexpr std::size_t kRetainedBytes = std::size_t{64} << 10;

}  // namespace

void Round::forget() {
  keeps_ = false;
  texts_.clear([](std::string& text) {
    if (text.capacity() > kRetainedBytes) std::string().swap(text);
    text.clear();
  });
  values_.clear([](json::Value& value) { value = nullptr; });
  diagnostics_.clear([](Diagnostic& diagnostic) { diagnostic = {}; });
  captures_.clear([](std::vector<Capture>& captures) { captures.clear(); });
}

std::string_view Round::keep_text(std::string_view text) {
  keeps_ = true;
  std::string& out = texts_.add();
  out.assign(text);
  return out;
}

std::string_view Round::take_text(std::string& text) {
  keeps_ = true;
  std::string& out = texts_.add();
  out.swap(text);
  return out;
}

const json::Value& Round::keep_value(json::Value value) {
  keeps_ = true;
  return values_.add() = std::move(value);
}

const Diagnostic& Round::keep_diagnostic(Diagnostic diagnostic) {
  keeps_ = true;
  return diagnostics_.add() = std::move(diagnostic);
}

std::span<const Capture> Round::keep_captures(
    std::span<const std::pair<std::string_view, std::string_view>> captures) {
  keeps_ = true;
  std::vector<Capture>& out = captures_.add();
  for (const auto& [name, text] : captures) {
    const std::string_view own_name = keep_text(name);
    out.push_back({own_name, keep_text(text)});
  }
  return out;
}

}  // namespace parlance::events

namespace parlance {

std::string_view to_string(EventKind kind) {
  constexpr std::string_view kNames[] = {
      "region_open",      "region_chunk",   "region_close",
      "region_malformed", "text_unclaimed", "call_open",
      "call_arguments",   "call_close",     "call_attempt"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view to_string(CallStatus status) {
  constexpr std::string_view kNames[] = {"ok",           "invalid_arguments",
                                         "unknown_tool", "no_name",
                                         "malformed",    "cut_off"};
  return kNames[static_cast<std::size_t>(status)];
}

json::Value to_json(const Attempt& attempt) {
  const auto range = [](const Span& span) {
    return json::Array{static_cast<std::int64_t>(span.begin),
                       static_cast<std::int64_t>(span.end)};
  };
  return json::Object{{"status", to_string(attempt.status)},
                      {"id", attempt.id},
                      {"name", attempt.name},
                      {"arguments", attempt.arguments},
                      {"text", attempt.text},
                      {"bytes", range(attempt.bytes)},
                      {"tokens", range(attempt.tokens)},
                      {"why", attempt.why}};
}

}  // namespace parlance
