// Anthropic's Messages: a content block for each block.  A block of thinking
// has an empty signature.

#include <utility>

#include "chat/writers.h"
#include "json/surrogates.h"

namespace parlance::chat {
namespace {

using json::Array;
using json::Object;
using json::Value;

class MessagesWriter final : public BlockWriter {
 public:
  explicit MessagesWriter(const Conversation& conversation)
      : conversation_(conversation) {}

  void begin() override { emit("message_start", {{"message", envelope()}}); }

  void open(const Block& block, std::size_t index, Source source) override {
    emit("content_block_start",
         {{"index", number(index)},
          {"content_block", content(block, /*with_text=*/false)}},
         source);
  }

  void append(const Block& block, std::size_t index, std::string_view text,
              Source source) override {
    switch (block.kind) {
      case BlockKind::kReasoning:
        return delta(index, {{"type", "thinking_delta"}, {"thinking", text}},
                     source);
      case BlockKind::kContent:
        return delta(index, {{"type", "text_delta"}, {"text", text}}, source);
      case BlockKind::kCall:
        return delta(index,
                     {{"type", "input_json_delta"}, {"partial_json", text}},
                     source);
    }
  }

  void close(const Block& block, std::size_t index) override {
    if (block.kind == BlockKind::kReasoning) {
      delta(index, {{"type", "signature_delta"}, {"signature", ""}}, {});
    }
    emit("content_block_stop", {{"index", number(index)}});
  }

  void end() override {
    Object delta = {{"stop_reason", stop_reason()}, {"stop_sequence", nullptr}};
    conversation_.add_other(delta);
    conversation_.add_extras(delta);
    emit("message_delta",
         {{"delta", std::move(delta)},
          {"usage",
           Object{{"output_tokens", conversation_.completion_tokens()}}}});
    emit("message_stop", {});
  }

  Value response() const override {
    Value out = envelope();
    Array blocks;
    conversation_.for_each_whole([&](const Block& block) {
      blocks.push_back(content(block, /*with_text=*/true));
    });
    out.mutable_members().set("content", std::move(blocks));
    conversation_.add_other(out.mutable_members());
    conversation_.add_extras(out.mutable_members());
    return out;
  }

 private:
  static Value number(std::size_t index) {
    return static_cast<std::int64_t>(index);
  }

  // A block with its text, or as content_block_start has it.
  static Value content(const Block& block, bool with_text) {
    const std::string text = with_text ? block.text : std::string();
    switch (block.kind) {
      case BlockKind::kReasoning:
        return Object{
            {"type", "thinking"}, {"thinking", text}, {"signature", ""}};
      case BlockKind::kContent:
        return Object{{"type", "text"}, {"text", text}};
      case BlockKind::kCall:
        break;
    }
    Object out = {{"type", "tool_use"},
                  {"id", block.call_id},
                  {"name", block.name},
                  {"input", Object()}};
    if (!with_text) return out;
    // It fails only where a value passes a limit of parsing: the calls of a
    // whole response are complete, so their arguments are JSON.
    Result<Value> input = json::parse(block.text);
    if (input) {
      json::replace_surrogates(*input);
      out.set("input", std::move(*input));
    }
    return out;
  }

  Value stop_reason() const {
    if (!conversation_.ended) return nullptr;
    switch (conversation_.why) {
      case ChatEnd::kStop:
        return conversation_.has_complete_call() ? "tool_use" : "end_turn";
      case ChatEnd::kLength:
        return "max_tokens";
      case ChatEnd::kContentFilter:
        return "refusal";
    }
    return nullptr;
  }

  Value envelope() const {
    const ChatOptions& options = conversation_.options;
    return Object{
        {"id", options.id},
        {"type", "message"},
        {"role", "assistant"},
        {"model", options.model},
        {"content", Array()},
        {"stop_reason", stop_reason()},
        {"stop_sequence", nullptr},
        {"usage",
         Object{{"input_tokens", conversation_.usage.prompt_tokens},
                {"output_tokens", conversation_.ended
                                      ? conversation_.completion_tokens()
                                      : std::int64_t{0}}}}};
  }

  void delta(std::size_t index, Object what, Source source) {
    emit("content_block_delta",
         {{"index", number(index)}, {"delta", std::move(what)}}, source);
  }

  void emit(std::string_view type, Object members, Source source = {}) {
    Object body = {{"type", type}};
    for (json::Member& member : members) {
      body.set(member.key, std::move(member.value));
    }
    send(std::move(body), type, source);
  }

  const Conversation& conversation_;
};

}  // namespace

std::unique_ptr<BlockWriter> messages_writer(const Conversation& conversation) {
  return std::make_unique<MessagesWriter>(conversation);
}

}  // namespace parlance::chat
