#ifndef PARLANCE_SRC_EVENTS_ROUND_H_
#define PARLANCE_SRC_EVENTS_ROUND_H_

// The events of one round of a parser, and what they point to.
//
// A round is one call of feed(), feed_tokens() or finalize().  Its events are
// valid until the next one begins, and so is what the round keeps for them:
// texts, values, diagnostics and captures.  Nothing that is kept moves, so an
// event can point to it at once.

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlance/json.h"
#include "parlance/message.h"

namespace parlance::events {

// Copying an event takes a third of the time of clearing one, which GCC does
// with a string instruction.
inline constexpr Event kEmptyEvent;

// An event of a field without a kind.
inline Event event_of(std::string_view field, std::uint32_t index, Span bytes) {
  Event event = kEmptyEvent;
  event.field = field;
  event.field_index = index;
  event.bytes = bytes;
  return event;
}

// Objects that do not move.  clear() retains some of the memory.
template <class T>
class Kept {
 public:
  bool empty() const { return list_.empty(); }
  // An object for the caller to fill: a new one, or one that was cleared.
  T& add() {
    if (spare_.empty()) return list_.emplace_back();
    list_.splice(list_.end(), spare_, spare_.begin());
    return list_.back();
  }
  // `reset` clears one object.
  template <class Reset>
  void clear(Reset reset) {
    // Nodes move from one list to the other, so a short chunk allocates none.
    while (!list_.empty() && spare_.size() < kMostSpare) {
      reset(list_.front());
      spare_.splice(spare_.end(), list_, list_.begin());
    }
    list_.clear();
  }

 private:
  static constexpr std::size_t kMostSpare = 4;
  std::list<T> list_;
  std::list<T> spare_;
};

class Round {
 public:
  // Drops the events and what was kept for them.
  void begin() {
    // The memory that a long chunk needed is not retained for the next one.
    if (events_.capacity() > kRetainedEvents) {
      std::vector<Event>().swap(events_);
    }
    events_.clear();
    if (keeps_) forget();
  }

  std::vector<Event>& events() { return events_; }
  std::size_t size() const { return events_.size(); }

  Event& add(EventKind kind, const Event& like) {
    Event& event = events_.emplace_back(like);
    event.kind = kind;
    return event;
  }
  Event& add(EventKind kind, std::string_view field, std::uint32_t index,
             Span bytes) {
    Event& event = add(kind, kEmptyEvent);
    event.field = field;
    event.field_index = index;
    event.bytes = bytes;
    return event;
  }

  // A copy of a text.
  std::string_view keep_text(std::string_view text);
  // Takes a text over.  `text` is empty then, with memory of an earlier text.
  std::string_view take_text(std::string& text);
  const json::Value& keep_value(json::Value value);
  const Diagnostic& keep_diagnostic(Diagnostic diagnostic);
  std::span<const Capture> keep_captures(
      std::span<const std::pair<std::string_view, std::string_view>> captures);

 private:
  static constexpr std::size_t kRetainedEvents = 1024;

  void forget();

  std::vector<Event> events_;
  bool keeps_ = false;
  Kept<std::string> texts_;
  Kept<json::Value> values_;
  Kept<Diagnostic> diagnostics_;
  Kept<std::vector<Capture>> captures_;
};

}  // namespace parlance::events

#endif  // PARLANCE_SRC_EVENTS_ROUND_H_
