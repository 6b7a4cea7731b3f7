#ifndef PARLANCE_SRC_CALL_STREAM_CALL_STREAM_H_
#define PARLANCE_SRC_CALL_STREAM_CALL_STREAM_H_

// The calls of a response while they are being written
// (docs/design/streamed-calls.md).
//
//   region text --CallReader--> name, JSON text --CallStream--> events
//
//   {"name": "get", "arguments": {"city": "Be        call_open       get
//                                                    call_arguments  {"city":
//                                                    "Be
//   rn"}}                                            call_arguments  rn"}
//   </tool_call>                                     call_close
//
// A CallReader knows one way in which calls are written.  It reads the text of
// a region as the text grows, and writes what is certain to a CallWriter.  How
// the text was cut does not matter: what a reader has written is a function of
// the text so far.
//
// A reader says where a call has ended: it has written the whole call, and no
// text that follows can change it.  A call is closed when it is known to be a
// call of the message as well, and the byte that would complete its arguments
// waits until then.  So the pieces of a call's arguments are JSON if and only
// if the call is closed.
//
//   * Where the items of a region stand alone (a list of a format file), a call
//     is closed with its item, which is read as the message will read it.  An
//     item that cannot be read is none: its call stays unfinished.
//   * Else the calls that have ended are closed with the region, if it has a
//     value: they are the calls of the value, in order.
//
// Nothing is compared: what a reader has written is what the message has
// (calls_law_test, damaged_calls_law_test).  A reader that cannot know this
// does not end the call.  The calls of the value, from that one on, are then
// announced anew when the region closes.  Only bare templates have such calls:
//
//     {"name": "f", ..., "name": "g"}   a part of a call comes again after the
//                                       call was announced; the last one counts
//     {a: "x <|\"|> y"}                 an ordinary string contains a string
//                                       delimiter
//     <p=a>1</p><p=b>2                  elements that do not end
//
// The events of a call come after those of the calls before it: a call waits
// until the one before it is closed, or its region ends.  So the calls that
// were closed are exactly the calls of the message, in order, and a call that
// is not closed when the next one opens is not in the message.
//
// A reader for a shape that cannot be read piece by piece writes nothing, and
// its calls are announced when the region closes.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/round.h"
#include "parlance/json.h"
#include "parlance/message.h"

namespace parlance::call_stream {

// Collects what a reader writes.
class CallWriter {
 public:
  // Announces the next call of the region.
  void open(std::string_view name, std::string_view id) {
    written_.push_back(
        {{id.empty() ? id_ : std::string(id), std::string(name), {}, false}});
  }
  // Appends to the JSON text of the arguments of the last call.
  // REQUIRES: open() was called.
  std::string& arguments() { return written_.back().call.arguments; }
  // The last call has ended, with its item if the items stand alone: `item` of
  // the text of the region.
  void end(Span item = {}) {
    written_.back().end = End::kWritten;
    written_.back().item = item;
  }
  // The same, but the arguments are not written to their end, or not at all:
  // they are members of an object that is not closed, and the value of the
  // region has those that are missing or that have other values by now.
  void leave_rest() { written_.back().end = End::kLeft; }
  // The first call; null if there is none.
  Call* first() { return written_.empty() ? nullptr : &written_[0].call; }

 private:
  friend class CallStream;
  enum class End : std::uint8_t { kOpen, kWritten, kLeft };
  struct Written {
    Call call;
    End end = End::kOpen;
    Span item = {};
  };
  std::vector<Written> written_;
  std::string id_;  // of a call that its reader opens without one
};

// Reads the calls of one region.
class CallReader {
 public:
  virtual ~CallReader() = default;
  // Reads on.  `text` is the text of the region so far: the text of the last
  // call with more at its end.  `end`: nothing follows.
  // Complexity: linear in the text over all calls.
  virtual void advance(std::string_view text, bool end, CallWriter& out) = 0;
};

// Reads nothing, but announces a call whose name is known when its region
// opens.
class NamedCallReader final : public CallReader {
 public:
  NamedCallReader(std::string_view name, std::string_view id)
      : name_(name), id_(id) {}
  void advance(std::string_view, bool, CallWriter& out) override {
    if (opened_) return;
    opened_ = true;
    out.open(name_, id_);
    out.leave_rest();
  }

 private:
  std::string name_;
  std::string id_;
  bool opened_ = false;
};

// Whether one item of a region can be read.
using ItemReader = std::function<bool(std::string_view item)>;

// Memory: the calls of the open region, and their events of this round.
class CallStream {
 public:
  // The calls of every region that closes are appended to `calls`; null: they
  // are not collected.  `calls` must outlive the stream.  `encodable`: half of
  // a surrogate pair is U+FFFD in what is sent, as in the values of regions.
  explicit CallStream(std::vector<Call>* calls, bool encodable = false)
      : calls_(calls), encodable_(encodable) {}

  // A region with calls opens.  `reader` may be null: the calls are announced
  // when the region closes.  `read_item` is null unless the items of the region
  // stand alone: an item that it reads is in the value of the region, whatever
  // follows.
  void open(std::unique_ptr<CallReader> reader, ItemReader read_item = nullptr);
  bool is_open() const { return open_; }
  // The id of the one call of the region, where the reader does not know it.
  void identify(std::string_view id) { writer_.id_ = id; }

  // Reads the text of the region so far, and adds the events to `round`.
  // Their field and their bytes are those of `like`.
  void advance(std::string_view text, const Event& like, events::Round& round);
  // The region closes; `value` is its value.  Returns the number of the first
  // call that its reader did not end, if the value has calls from there on:
  // they are announced anew.
  std::optional<std::uint32_t> close(std::string_view text,
                                     const json::Value& value,
                                     const Event& like, events::Round& round);
  // The region closes without a value: the calls that were not closed stay
  // unfinished.
  void abandon(const Event& like, events::Round& round);

 private:
  void emit(std::string_view text, const Event& like, events::Round& round);
  void emit_call(bool closes, const Event& like, events::Round& round);
  bool read_item(std::string_view text, bool& closes) const;
  void emit_all(const Event& like, events::Round& round);
  static Event& add(EventKind kind, std::uint32_t call, const Event& like,
                    events::Round& round);
  void finish_region();

  std::vector<Call>* const calls_;
  const bool encodable_;
  bool open_ = false;
  std::unique_ptr<CallReader> reader_;
  ItemReader read_item_;
  CallWriter writer_;
  std::uint32_t first_ = 0;  // the number of the region's first call
  // Calls of the region all of whose events are emitted, closed_ of which are
  // calls of the message; the next one is open if announced_.
  std::size_t decided_ = 0;
  std::size_t closed_ = 0;
  bool announced_ = false;
  std::size_t sent_ = 0;  // bytes of the open call that are in events
};

// A call as a value: an object whose "function" is an object with a string
// "name", and perhaps "arguments"; or an object that has both itself.
struct CallView {
  std::string_view name;
  std::string id;  // a string as it is, any other value as JSON; "" if absent
  const json::Value* arguments = nullptr;  // null: there are none

  // The arguments as JSON.
  std::string json() const;
  // As chat APIs have them: arguments that are a string in which an object is
  // written are that object.
  std::string text() const;
};
std::optional<CallView> view_call(const json::Value& value);
// The call that `value` is; if it is a list, those of its elements, recursively
// through lists.
std::vector<CallView> calls_in(const json::Value& value);
// A value where text is expected: a string as it is, any other as JSON.
std::string text_of(const json::Value& value);
// The value of a field of calls without its calls, as text: of a list the
// elements that are no calls, with a line feed between two; without a call all
// of it.  "" if it consists of calls, or is an empty list.
std::string text_beside_calls(const json::Value& value);
// The object that is written in arguments that are a string; nothing if none
// is.  It stands for them.
std::optional<json::Value> object_in(std::string_view string);
// CallView::text() of arguments that are a string.
std::string arguments_text(std::string_view string);

// As much of a name as a sentence shows, in quotes.
std::string shown_name(std::string_view name);

// How many bytes of the arguments that a reader has written can be sent before
// it is known that the call is complete.  Of an object or a list: all but the
// byte that completes it and an escape that may continue.  Of any other value:
// none.
// `sent`: the result of the last call for the same arguments, or 0.
std::size_t sendable(std::string_view arguments, std::size_t sent);

}  // namespace parlance::call_stream

#endif  // PARLANCE_SRC_CALL_STREAM_CALL_STREAM_H_
