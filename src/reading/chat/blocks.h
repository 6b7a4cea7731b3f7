#ifndef PARLANCE_SRC_CHAT_BLOCKS_H_
#define PARLANCE_SRC_CHAT_BLOCKS_H_

// From events to blocks: the form of a response that every chat API shares.
//
//   region_open thinking, region_chunk " Hm. "    block 0  reasoning "Hm."
//   region_open content, region_chunk "So."       block 1  content "So."
//   call_open "now", call_arguments "{}"          block 2  call "now" "{}"
//
// A block is a stretch of one kind; two neighbouring regions of one kind are
// one block.  A BlockWriter hears of each change in the order of the response
// and converts it for one API.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/field_values.h"
#include "events/token_counter.h"
#include "parlance/chat.h"
#include "parlance/json.h"
#include "parlance/message.h"

namespace parlance::chat {

enum class BlockKind : std::uint8_t { kReasoning, kContent, kCall };

struct Block {
  BlockKind kind = BlockKind::kContent;
  std::string id;        // of the item, where the API has ids for items
  std::string text;      // of text; of a call: the JSON text of its arguments
  std::size_t call = 0;  // kCall: its number in the response
  std::uint32_t event_call = 0;  // kCall: Event::call of its events
  std::string call_id = {};
  std::string name = {};
  bool complete = false;  // nothing more comes; of a call: it is not cut off
};

// Where in the response a change comes from.
struct Source {
  Span bytes = {};
  Span tokens = {};
};

// Converts changes of blocks to chunks.
class BlockWriter {
 public:
  virtual ~BlockWriter() = default;
  virtual void begin() = 0;
  // `block` is new, and its text is empty.
  virtual void open(const Block& block, std::size_t index, Source source) = 0;
  // `text` was appended to the block's text.
  virtual void append(const Block& block, std::size_t index,
                      std::string_view text, Source source) = 0;
  virtual void close(const Block& block, std::size_t index) = 0;
  virtual void end() = 0;
  virtual json::Value response() const = 0;

  std::vector<ChatChunk> take() { return std::exchange(chunks_, {}); }

 protected:
  void send(json::Value body, std::string_view event = {}, Source source = {}) {
    chunks_.push_back({std::move(body), event, source.bytes, source.tokens});
  }

 private:
  std::vector<ChatChunk> chunks_;
};

// What all writers read.
struct Conversation {
  ChatOptions options;
  std::vector<Block> blocks;
  std::vector<ChatField> fields;
  // Of the fields that are neither text of the answer nor calls.
  events::FieldValues other{0};
  events::TokenCounter tokens;
  std::int64_t last_token = 0;  // the end of the last event's tokens
  ChatEnd why = ChatEnd::kStop;
  ChatUsage usage;
  // With ChatOptions::extras.
  std::optional<bool> turn_ended;
  json::Array attempted_calls;
  std::size_t prefix_bytes = 0;
  bool ended = false;

  void set_usage(const ChatUsage& given);
  // Adds what ChatOptions::extras asks for.
  void add_extras(json::Object& out) const;
  // The other fields that are not empty and their values, as in a message, and
  // the same as a member of `out`.
  json::Object other_fields() const;
  void add_other(json::Object& out) const;

  // The blocks of the whole response, which has complete calls only.
  template <class Take>
  void for_each_whole(Take take) const {
    for (const Block& block : blocks) {
      if (block.kind != BlockKind::kCall || block.complete) take(block);
    }
  }
  std::string text(BlockKind kind) const;  // of all blocks of the kind
  bool has_complete_call() const;
  std::int64_t completion_tokens() const {
    return usage.completion_tokens.value_or(last_token);
  }
  TokenCounts counts() const { return tokens.counts(completion_tokens()); }
};

// `prefix` and 24 random letters and digits.
std::string random_id(std::string_view prefix);

// Reads events and changes the blocks of `conversation`.
class BlockBuilder {
 public:
  // Both references must outlive the builder.
  BlockBuilder(Conversation& conversation, BlockWriter& writer);

  void read(const Event& event);
  // Closes the open block.
  void finish();

 private:
  // The text of one field: what is trimmed, and what joins its regions.
  struct FieldState {
    bool any = false;       // a separator comes before the next region's text
    bool started = false;   // this region has text
    bool dirty = true;      // the chunks so far are not the region's text
    std::string held = {};  // white space that may be trimmed
  };

  const ChatField& field_of(const Event& event) const {
    return conversation_.fields[event.field_index];
  }
  BlockKind kind_of(const ChatField& field) const;
  void read_text(const Event& event);
  void write_region(const Event& event, std::string_view text);
  void write_text(BlockKind kind, std::string_view text, Source source);
  void open_call(std::string_view name, std::string_view id,
                 std::uint32_t event_call, Source source);
  bool is_open(std::uint32_t event_call) const;
  void append_arguments(std::string_view text, std::uint32_t event_call,
                        Source source);
  void close_call(std::uint32_t event_call);
  void close_region(const Event& event);
  void close_text(const Event& event);
  void set_other(std::uint32_t index, json::Value value);
  void add_calls(const json::Value& value, Source source);
  void close_block(bool complete);

  Conversation& conversation_;
  BlockWriter& writer_;
  std::vector<FieldState> states_;
  bool open_ = false;            // the last block is open
  bool call_announced_ = false;  // in the open region
  std::size_t calls_ = 0;
};

}  // namespace parlance::chat

#endif  // PARLANCE_SRC_CHAT_BLOCKS_H_
