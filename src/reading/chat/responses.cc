// OpenAI's Responses: an item for each block, and for an item of text one part.

#include <utility>

#include "chat/writers.h"

namespace parlance::chat {
namespace {

using json::Array;
using json::Object;
using json::Value;

class ResponsesWriter final : public BlockWriter {
 public:
  explicit ResponsesWriter(const Conversation& conversation)
      : conversation_(conversation) {}

  void begin() override {
    emit("response.created", {{"response", envelope("in_progress")}});
    emit("response.in_progress", {{"response", envelope("in_progress")}});
  }

  void open(const Block& block, std::size_t index, Source source) override {
    emit("response.output_item.added",
         {{"output_index", number(index)},
          {"item", item(block, "in_progress", /*with_text=*/false)}},
         source);
    if (block.kind == BlockKind::kCall) return;
    emit("response.content_part.added",
         {{"item_id", block.id},
          {"output_index", number(index)},
          {"content_index", 0},
          {"part", part(block.kind, "")}},
         source);
  }

  void append(const Block& block, std::size_t index, std::string_view text,
              Source source) override {
    Object body = {{"item_id", block.id}, {"output_index", number(index)}};
    if (block.kind != BlockKind::kCall) body.set("content_index", 0);
    body.set("delta", text);
    if (block.kind == BlockKind::kContent) body.set("logprobs", Array());
    emit(event_name(block.kind, /*done=*/false), std::move(body), source);
  }

  void close(const Block& block, std::size_t index) override {
    Object body = {{"item_id", block.id}, {"output_index", number(index)}};
    if (block.kind == BlockKind::kCall) {
      body.set("name", block.name);
      body.set("arguments", block.text);
    } else {
      body.set("content_index", 0);
      body.set("text", block.text);
      if (block.kind == BlockKind::kContent) body.set("logprobs", Array());
    }
    emit(event_name(block.kind, /*done=*/true), std::move(body));
    if (block.kind != BlockKind::kCall) {
      emit("response.content_part.done",
           {{"item_id", block.id},
            {"output_index", number(index)},
            {"content_index", 0},
            {"part", part(block.kind, block.text)}});
    }
    emit("response.output_item.done",
         {{"output_index", number(index)},
          {"item", item(block, status_of(block), /*with_text=*/true)}});
  }

  void end() override {
    const std::string_view status = final_status();
    emit(status == "completed" ? "response.completed" : "response.incomplete",
         {{"response", envelope(status)}});
  }

  Value response() const override {
    return envelope(conversation_.ended ? final_status() : "in_progress");
  }

 private:
  static Value number(std::size_t index) {
    return static_cast<std::int64_t>(index);
  }

  static std::string_view status_of(const Block& block) {
    return block.complete ? "completed" : "incomplete";
  }

  static std::string_view event_name(BlockKind kind, bool done) {
    switch (kind) {
      case BlockKind::kReasoning:
        return done ? "response.reasoning_text.done"
                    : "response.reasoning_text.delta";
      case BlockKind::kContent:
        return done ? "response.output_text.done"
                    : "response.output_text.delta";
      case BlockKind::kCall:
        break;
    }
    return done ? "response.function_call_arguments.done"
                : "response.function_call_arguments.delta";
  }

  static Value part(BlockKind kind, std::string_view text) {
    if (kind == BlockKind::kReasoning) {
      return Object{{"type", "reasoning_text"}, {"text", text}};
    }
    return Object{
        {"type", "output_text"}, {"text", text}, {"annotations", Array()}};
  }

  static Value item(const Block& block, std::string_view status,
                    bool with_text) {
    Object out = {{"id", block.id}};
    Array content;
    if (with_text) content.push_back(part(block.kind, block.text));
    switch (block.kind) {
      case BlockKind::kReasoning:
        out.set("type", "reasoning");
        out.set("summary", Array());
        out.set("content", std::move(content));
        break;
      case BlockKind::kContent:
        out.set("type", "message");
        out.set("role", "assistant");
        out.set("content", std::move(content));
        break;
      case BlockKind::kCall:
        out.set("type", "function_call");
        out.set("call_id", block.call_id);
        out.set("name", block.name);
        out.set("arguments", with_text ? block.text : std::string());
        break;
    }
    out.set("status", status);
    return out;
  }

  std::string_view final_status() const {
    return conversation_.why == ChatEnd::kStop ? "completed" : "incomplete";
  }

  Value envelope(std::string_view status) const {
    const ChatOptions& options = conversation_.options;
    Array output;
    conversation_.for_each_whole([&](const Block& block) {
      output.push_back(item(block, status_of(block), /*with_text=*/true));
    });
    Object out = {{"id", options.id},
                  {"object", "response"},
                  {"created_at", options.created},
                  {"status", status},
                  {"error", nullptr},
                  {"incomplete_details", nullptr},
                  {"model", options.model},
                  {"output", std::move(output)}};
    if (status == "incomplete") {
      out.set("incomplete_details",
              Object{{"reason", conversation_.why == ChatEnd::kLength
                                    ? "max_output_tokens"
                                    : "content_filter"}});
    }
    const std::int64_t completion = conversation_.completion_tokens();
    Value usage;
    if (conversation_.ended && completion > 0) {
      const std::int64_t prompt = conversation_.usage.prompt_tokens;
      usage = Object{
          {"input_tokens", prompt},
          {"input_tokens_details",
           Object{{"cached_tokens", 0}, {"cache_write_tokens", 0}}},
          {"output_tokens", completion},
          {"output_tokens_details",
           Object{{"reasoning_tokens", conversation_.counts().reasoning}}},
          {"total_tokens", prompt + completion}};
    }
    out.set("usage", std::move(usage));
    conversation_.add_other(out);
    conversation_.add_extras(out);
    return out;
  }

  // Sends an event: its type and number, then `members`.
  void emit(std::string_view type, Object members, Source source = {}) {
    Object body = {{"type", type}, {"sequence_number", next_++}};
    for (json::Member& member : members) {
      body.set(member.key, std::move(member.value));
    }
    send(std::move(body), type, source);
  }

  const Conversation& conversation_;
  std::int64_t next_ = 0;
};

}  // namespace

std::unique_ptr<BlockWriter> responses_writer(
    const Conversation& conversation) {
  return std::make_unique<ResponsesWriter>(conversation);
}

}  // namespace parlance::chat
