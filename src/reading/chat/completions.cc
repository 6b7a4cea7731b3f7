// OpenAI's chat completions: chat.completion.chunk and chat.completion.

#include "chat/writers.h"

namespace parlance::chat {
namespace {

using json::Array;
using json::Object;
using json::Value;

class CompletionsWriter final : public BlockWriter {
 public:
  explicit CompletionsWriter(const Conversation& conversation)
      : conversation_(conversation) {}

  void begin() override {
    // Not "": a client would begin a part of text, also where calls alone come.
    send(chunk(Object{{"role", "assistant"}, {"content", nullptr}}));
  }

  void open(const Block& block, std::size_t, Source source) override {
    if (block.kind != BlockKind::kCall) return;
    send(chunk(Object{
             {"tool_calls",
              Array{Object{{"index", static_cast<std::int64_t>(block.call)},
                           {"id", block.call_id},
                           {"type", "function"},
                           {"function", Object{{"name", block.name},
                                               {"arguments", ""}}}}}}}),
         {}, source);
  }

  void append(const Block& block, std::size_t, std::string_view text,
              Source source) override {
    switch (block.kind) {
      case BlockKind::kReasoning: {
        Object delta;
        delta.set(conversation_.options.reasoning_name, text);
        send(chunk(std::move(delta)), {}, source);
        return;
      }
      case BlockKind::kContent:
        send(chunk(Object{{"content", text}}), {}, source);
        return;
      case BlockKind::kCall:
        send(chunk(Object{
                 {"tool_calls",
                  Array{Object{{"index", static_cast<std::int64_t>(block.call)},
                               {"function", Object{{"arguments", text}}}}}}}),
             {}, source);
        return;
    }
  }

  // Chunks have no end of a part: the next part, or the end, shows it.
  void close(const Block&, std::size_t) override {}

  void end() override {
    send(chunk(conversation_.other_fields(), finish_reason()));
    if (!has_usage()) return;
    Object last = envelope("chat.completion.chunk");
    last.set("choices", Array());
    last.set("usage", usage());
    send(std::move(last));
  }

  Value response() const override;

 private:
  Object envelope(std::string_view object) const {
    const ChatOptions& options = conversation_.options;
    return Object{{"id", options.id},
                  {"object", object},
                  {"created", options.created},
                  {"model", options.model}};
  }

  Value chunk(Object delta, Value finish_reason = nullptr) const {
    Object out = envelope("chat.completion.chunk");
    Object choice = {{"index", conversation_.options.choice},
                     {"delta", std::move(delta)},
                     {"finish_reason", std::move(finish_reason)}};
    conversation_.add_extras(choice);
    out.set("choices", Array{std::move(choice)});
    return out;
  }

  Value finish_reason() const {
    if (!conversation_.ended) return nullptr;
    switch (conversation_.why) {
      case ChatEnd::kStop:
        return conversation_.has_complete_call() ? "tool_calls" : "stop";
      case ChatEnd::kLength:
        return "length";
      case ChatEnd::kContentFilter:
        return "content_filter";
    }
    return nullptr;
  }

  bool has_usage() const { return conversation_.completion_tokens() > 0; }

  Value usage() const {
    const std::int64_t prompt = conversation_.usage.prompt_tokens;
    const std::int64_t completion = conversation_.completion_tokens();
    return Object{
        {"prompt_tokens", prompt},
        {"completion_tokens", completion},
        {"total_tokens", prompt + completion},
        {"completion_tokens_details",
         Object{{"reasoning_tokens", conversation_.counts().reasoning}}}};
  }

  const Conversation& conversation_;
};

Value CompletionsWriter::response() const {
  Array calls;
  conversation_.for_each_whole([&](const Block& block) {
    if (block.kind != BlockKind::kCall) return;
    calls.push_back(Object{
        {"id", block.call_id},
        {"type", "function"},
        {"function", Object{{"name", block.name}, {"arguments", block.text}}}});
  });
  const std::string content = conversation_.text(BlockKind::kContent);
  const std::string reasoning = conversation_.text(BlockKind::kReasoning);
  Object message = {
      {"role", "assistant"},
      {"content",
       content.empty() && !calls.empty() ? Value() : Value(content)}};
  if (!reasoning.empty()) {
    message.set(conversation_.options.reasoning_name, reasoning);
  }
  if (!calls.empty()) message.set("tool_calls", std::move(calls));
  for (json::Member& member : conversation_.other_fields()) {
    message.set(std::move(member.key), std::move(member.value));
  }
  Object out = envelope("chat.completion");
  Object choice = {{"index", conversation_.options.choice},
                   {"message", std::move(message)},
                   {"logprobs", nullptr},
                   {"finish_reason", finish_reason()}};
  conversation_.add_extras(choice);
  out.set("choices", Array{std::move(choice)});
  if (has_usage()) out.set("usage", usage());
  return out;
}

}  // namespace

std::unique_ptr<BlockWriter> completions_writer(
    const Conversation& conversation) {
  return std::make_unique<CompletionsWriter>(conversation);
}

}  // namespace parlance::chat
