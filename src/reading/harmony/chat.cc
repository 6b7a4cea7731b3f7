// Messages of Harmony as one chat message, see parlance/harmony.h.

#include <string>
#include <utility>

#include "parlance/harmony.h"

namespace parlance {
namespace {

enum class Piece : std::uint8_t { kReasoning, kContent, kCall, kNone };

// What one message is in the chat message.
Piece piece_of(const HarmonyMessage& message, bool cut) {
  if (message.recipient && !message.recipient->empty() &&
      *message.recipient != "assistant" && *message.recipient != "user" &&
      *message.recipient != "all") {
    const bool unfinished = message.end == HarmonyEnd::kOpen ||
                            (cut && message.end == HarmonyEnd::kEos);
    return unfinished ? Piece::kNone : Piece::kCall;
  }
  if (message.content.empty()) return Piece::kNone;
  return message.channel == "analysis" ? Piece::kReasoning : Piece::kContent;
}

// Calls `take(piece, message)` for the messages of the assistant's turn.
template <class Take>
void for_each_piece(std::span<const HarmonyMessage> messages,
                    const HarmonyMessageOptions& options, Take&& take) {
  for (const HarmonyMessage& message : messages) {
    if (message.role != HarmonyRole::kAssistant) return;
    const Piece piece = piece_of(message, options.cut);
    if (piece != Piece::kNone) take(piece, message);
    if (message.end == HarmonyEnd::kReturn) return;
  }
}

std::string_view call_name(const HarmonyMessage& message) {
  std::string_view name = *message.recipient;
  constexpr std::string_view kSpace = "functions.";
  if (name.starts_with(kSpace)) name.remove_prefix(kSpace.size());
  return name;
}

void append_line(std::string& text, std::string_view line) {
  if (!text.empty()) text += '\n';
  text += line;
}

json::Value arguments_value(const HarmonyMessage& message,
                            const Limits& limits) {
  json::ParseOptions options;
  options.limits = limits;
  Result<json::Value> value = json::parse(message.content, options);
  if (value && value->is_object()) return std::move(*value);
  return message.content;
}

// The texts and calls of a turn.
struct Turn {
  std::string reasoning;
  std::string content;
  json::Array calls;
};

Turn collect(std::span<const HarmonyMessage> messages,
             const HarmonyMessageOptions& options, bool chat) {
  Turn turn;
  for_each_piece(messages, options, [&](Piece piece, const HarmonyMessage& m) {
    if (piece == Piece::kReasoning) {
      return append_line(turn.reasoning, m.content);
    }
    if (piece == Piece::kContent) return append_line(turn.content, m.content);
    json::Object function{
        {"name", json::Value(call_name(m))},
        {"arguments",
         chat ? json::Value(m.content) : arguments_value(m, options.limits)}};
    json::Object call;
    const auto index = static_cast<std::int64_t>(turn.calls.size());
    if (chat) call.set("id", "call_" + std::to_string(index));
    call.set("type", "function");
    if (chat) call.set("index", index);
    call.set("function", std::move(function));
    turn.calls.push_back(std::move(call));
  });
  return turn;
}

}  // namespace

json::Value harmony_message(std::span<const HarmonyMessage> messages,
                            const HarmonyMessageOptions& options) {
  Turn turn = collect(messages, options, false);
  json::Object out;
  out.set("role", "assistant");
  if (!turn.reasoning.empty()) {
    out.set(std::string(options.reasoning), turn.reasoning);
  }
  if (!turn.content.empty()) out.set("content", turn.content);
  if (!turn.calls.empty()) out.set("tool_calls", std::move(turn.calls));
  return out;
}

json::Value harmony_chat_message(std::span<const HarmonyMessage> messages,
                                 const HarmonyMessageOptions& options) {
  Turn turn = collect(messages, options, true);
  json::Object out;
  out.set("role", "assistant");
  out.set("content",
          turn.content.empty() ? json::Value() : json::Value(turn.content));
  if (!turn.reasoning.empty()) {
    out.set(std::string(options.reasoning), turn.reasoning);
  }
  if (!turn.calls.empty()) out.set("tool_calls", std::move(turn.calls));
  return out;
}

json::Value harmony_response_items(std::span<const HarmonyMessage> messages,
                                   const HarmonyMessageOptions& options) {
  json::Array items;
  for_each_piece(messages, options, [&](Piece piece, const HarmonyMessage& m) {
    if (piece == Piece::kCall) {
      items.push_back(json::Object{{"type", "function_call"},
                                   {"name", json::Value(call_name(m))},
                                   {"arguments", json::Value(m.content)}});
      return;
    }
    const bool reasoning = piece == Piece::kReasoning;
    json::Object item{{"type", reasoning ? "reasoning" : "message"}};
    if (!reasoning) item.set("role", "assistant");
    json::Array content{
        json::Object{{"type", reasoning ? "reasoning_text" : "output_text"},
                     {"text", json::Value(m.content)}}};
    item.set("content", std::move(content));
    items.push_back(std::move(item));
  });
  return items;
}

}  // namespace parlance
