#ifndef PARLANCE_SRC_EVENTS_STREAM_HOST_H_
#define PARLANCE_SRC_EVENTS_STREAM_HOST_H_

// The host of a stream: all of a parser but its reading.  It has the functions
// of a StreamParser (parlance/stream.h), the rounds, the tokens of the events,
// and what was asked for.
//
//   struct Reader : events::StreamHost<Reader> {
//     // The events of the last round are dropped, and what they pointed to may
//     // be.
//     void begin_round();
//     // Read a whole input, to the last event that is certain.
//     void read(std::string_view chunk);
//     void read(std::span<const TokenId> ids);
//     void read_end();
//     json::Value fields() const;     // of the message
//     std::uint64_t bytes_in() const; // that have been read
//     bool turn_ended() const;        // for Message::turn_ended
//     std::string_view held();
//   };
//
// A reader adds each token, with the end of its bytes, to `tokens`.
//
// A round is begin_round(), one of the functions that read, and the end of the
// stage.  A round that an exception leaves has no end, so `stage` knows of it,
// and finalize() says so instead of reading on from an unknown place.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "events/output.h"
#include "events/stage.h"
#include "events/token_counter.h"
#include "parlance/stream.h"
#include "vocab/token_log.h"

namespace parlance::events {

template <class Reader>
struct StreamHost {
  // `diagnostics`: the most that the message has.
  StreamHost(const StreamOptions& options, std::size_t diagnostics)
      : out(options.keep_message, diagnostics) {
    if (options.vocabulary == nullptr) return;
    vocabulary = *options.vocabulary;
    const std::span<const TokenId> ids =
        options.stop_ids ? *options.stop_ids : vocabulary->stop_ids();
    stop_ids.assign(ids.begin(), ids.end());
    std::ranges::sort(stop_ids);
    stops_on_text = std::ranges::any_of(stop_ids, [this](TokenId id) {
      return vocabulary->kind(id) == TokenKind::kOrdinary;
    });
  }

  // Those of the prefix, until the first round begins.
  std::span<const Event> initial_events() {
    return stage.initial() ? events() : std::span<const Event>();
  }

  // In all three, the events of the last round are gone even if the call is
  // refused (Stage::misuse()).
  std::span<const Event> feed(std::string_view chunk) {
    begin();
    if (!stage.begin_text(reads_tokens())) return {};
    reader().read(chunk);
    out.end_attempts();
    stage.end_input();
    return events();
  }

  std::span<const Event> feed_tokens(std::span<const TokenId> ids) {
    begin();
    if (!stage.begin_tokens(reads_tokens())) return {};
    reader().read(ids);
    number_tokens();
    out.end_attempts();
    stage.end_input();
    return events();
  }

  std::span<const Event> finalize() {
    begin();
    // An earlier round was left by an exception.
    if (stage.failed()) {
      out.diagnose(
          Stage::failure(static_cast<std::size_t>(reader().bytes_in())));
      out.message.complete = false;
      stage.end();
    }
    if (!stage.begin_end()) return {};
    reader().read_end();
    number_tokens();
    out.end_attempts();
    out.message.turn_ended = reader().turn_ended();
    stage.end();
    return events();
  }

  bool reads_tokens() const { return vocabulary.has_value(); }
  bool is_stop(TokenId id) const {
    return std::ranges::binary_search(stop_ids, id);
  }

  // The message, with the fields that it has by now.  They are made only when
  // they are asked for, because that costs as much as the message is long.
  Message& message() {
    out.message.prefix_bytes = static_cast<std::size_t>(prefix_bytes);
    out.message.tokens = counts();
    if (std::exchange(out.fields_stale, false)) {
      out.message.fields = reader().fields();
    }
    return out.message;
  }

  TokenCounts counts() const {
    if (!vocabulary) return {};
    return counter.counts(
        static_cast<std::int64_t>(tokens.size() - prefix_tokens));
  }

  std::optional<Vocabulary> vocabulary;  // of a stream of tokens
  std::vector<TokenId> stop_ids;         // sorted
  bool stops_on_text = false;            // an ordinary token is one of them
  Stage stage;
  Output out;
  vocab::TokenLog tokens;
  std::uint64_t prefix_bytes = 0;
  std::size_t prefix_tokens = 0;  // of `tokens`

 private:
  Reader& reader() { return static_cast<Reader&>(*this); }
  std::span<const Event> events() { return out.round.events(); }

  void begin() {
    out.round.begin();
    out.begin_attempts();
    reader().begin_round();
  }

  // Events count tokens from the first that was fed: those of the prefix are
  // not numbered.  An event may end inside a token whose end only this round
  // knows, so the numbers come last.
  void number_tokens() {
    if (!vocabulary) return;
    for (Event& event : out.round.events()) {
      event.tokens = tokens.holding(event.bytes, prefix_bytes);
      event.tokens.begin -= std::min(event.tokens.begin, prefix_tokens);
      event.tokens.end -= std::min(event.tokens.end, prefix_tokens);
      if (has_text(event)) counter.count(part_of(event), event.tokens);
    }
  }

  // The part of which most events are is found once.
  TokenPart part_of(const Event& event) {
    if (event.field_index != counted_field) {
      counted_field = event.field_index;
      counted_part = events::part_of(event.field);
    }
    return counted_part;
  }

  TokenCounter counter;
  std::uint32_t counted_field = 0xFFFFFFFF;
  TokenPart counted_part = nullptr;
};

}  // namespace parlance::events

#endif  // PARLANCE_SRC_EVENTS_STREAM_HOST_H_
