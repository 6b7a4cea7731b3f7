#ifndef PARLANCE_SRC_CALL_STREAM_CALL_STREAM_H_
#define PARLANCE_SRC_CALL_STREAM_CALL_STREAM_H_

// The calls of a response while they are being written.
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
// The value of the region has the last word: a call is closed when it is known
// to be a call of the message, and the byte that would complete its arguments
// waits until then.  So the pieces of a call's arguments are JSON if and only
// if the call is closed.
//
//   * Where the items of a region stand alone (a list of a format file), a call
//     is closed with its item, which is read as the message will read it.  An
//     item that cannot be read is none: its call stays unfinished.
//   * Else the calls are closed with the region.  The stream then compares them
//     with the calls of the value, in order:
//
//       - a call with equal name, id and arguments is closed;
//       - a call without any arguments so far gets them, written from the
//         value;
//       - a call whose rest the reader leaves to the value gets the members
//         that are missing or that differ: readers of JSON take the last of two
//         members;
//       - a call that is not in the value stays unfinished;
//       - from the first call of the value on that was not announced, the calls
//         of the value are announced anew.  In a bare template, a member that
//         comes twice in the object of a call has this effect:
//         {"name": "f", ..., "name": "g"} announces f, and the last one counts.
//
// The events of a call come after those of the calls before it: a call waits
// until the one before it is closed, or its region ends.  So the calls that
// were closed are exactly the calls of the message, in order, and a call that
// is not closed when the next one opens is none.
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
#include "parlance/limits.h"
#include "parlance/message.h"

namespace parlance::call_stream {

// Collects what a reader writes.
class CallWriter {
 public:
  // Announces the next call of the region.
  void open(std::string_view name, std::string_view id) {
    calls_.push_back(
        {id.empty() ? id_ : std::string(id), std::string(name), {}, false});
  }
  // Appends to the JSON text of the arguments of the last call.
  // REQUIRES: open() was called.
  std::string& arguments() { return calls_.back().arguments; }
  // The arguments of the last call are members of an object that is not closed:
  // the members that are missing, or that have other values by now, come from
  // the value of the region.  The reader writes no more.
  void leave_rest() { rest_ = true; }
  // The last call ends with its item, whose text is `item` of the region.
  void end_item(Span item) {
    items_.resize(calls_.size() - 1);
    items_.push_back(item);
  }

 private:
  friend class CallStream;
  std::vector<Call> calls_;
  std::vector<Span> items_;  // by call; empty: its end is not known
  bool rest_ = false;        // of the last call
  std::string id_;           // of a call that its reader opens without one
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
    if (!opened_) out.open(name_, id_);
    opened_ = true;
  }

 private:
  std::string name_;
  std::string id_;
  bool opened_ = false;
};

struct CallView;

// The value of one item of a region; nothing if it cannot be read.
using ItemReader =
    std::function<std::optional<json::Value>(std::string_view item)>;

// Memory: the calls of the open region, and their events of this round.
class CallStream {
 public:
  // The calls of every region that closes are appended to `calls`; null: they
  // are not collected.  `calls` must outlive the stream.
  CallStream(std::vector<Call>* calls, const Limits& limits)
      : calls_(calls), limits_(limits) {}

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
  // call that is not the one of the value at its place, if calls are announced
  // anew although there is such a call.
  std::optional<std::uint32_t> close(std::string_view text,
                                     const json::Value& value,
                                     const Event& like, events::Round& round);
  // The region closes without a value: the calls that were not closed stay
  // unfinished.
  void abandon(const Event& like, events::Round& round);

 private:
  void emit(std::string_view text, const Event& like, events::Round& round);
  void emit_call(bool closes, const Event& like, events::Round& round);
  // What has become of an item.
  enum class ItemState : std::uint8_t {
    kOpen,
    kCall,  // it is the call
    kNone,  // it is no call
  };
  ItemState read_item(std::string_view text);
  bool complete(std::size_t i, const CallView& wanted);
  void emit_all(const Event& like, events::Round& round);
  static Event& add(EventKind kind, std::uint32_t call, const Event& like,
                    events::Round& round);
  void finish_region();

  std::vector<Call>* const calls_;
  const Limits limits_;
  bool open_ = false;
  std::unique_ptr<CallReader> reader_;
  ItemReader read_item_;
  CallWriter writer_;
  std::uint32_t first_ = 0;  // the number of the region's first call
  // Calls of the region all of whose events are emitted; the next one is open
  // if announced_.  closed_ of them are calls of the value.
  std::size_t decided_ = 0;
  std::size_t closed_ = 0;
  bool announced_ = false;
  std::size_t written_ = 0;  // bytes of the open call that are in events
  bool waits_ = false;       // for the end of the region
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
// CallView::text() of arguments that are a string.
std::string arguments_text(std::string_view string);

}  // namespace parlance::call_stream

#endif  // PARLANCE_SRC_CALL_STREAM_CALL_STREAM_H_
