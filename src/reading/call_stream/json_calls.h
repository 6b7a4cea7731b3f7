#ifndef PARLANCE_SRC_CALL_STREAM_JSON_CALLS_H_
#define PARLANCE_SRC_CALL_STREAM_JSON_CALLS_H_

// Calls that are written as JSON.
//
//   shape                                text of the region
//   name "get", arguments []             {"city": "Bern"}
//   name [name], arguments [arguments]   {"name": "get", "arguments": {...}}
//   the same, list                       [{"name": "get", "arguments": {...}}]
//
// The members of a call may come in any order, and members that the shape does
// not name are skipped.  Arguments that come before the name, or before the id,
// wait for it: they are in the text of the region, which is in memory anyway.
//
// The text of the arguments is the model's own, from its first byte to its
// last, white space and repeated keys included, but for NaN and Infinity, which
// are no JSON (JsonScanner::copy).  Values that the schema of the
// tool casts are written as json::dump writes them; a value that may be cast
// waits for its end.
//
// If a name, id or arguments come again after the call was announced, or under
// a name that counts more, the reader writes no more: the stream corrects the
// call when the region closes.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "call_stream/call_stream.h"
#include "call_stream/json_scanner.h"
#include "parlance/limits.h"
#include "parlance/tools.h"
#include "schema/cast_calls.h"

namespace parlance::call_stream {

using Path = std::vector<std::string>;  // keys, from the call inwards

// Where the name or the id of a call comes from.
struct Source {
  enum class Kind : std::uint8_t {
    kNone,   // there is none
    kText,   // known when the region opens
    kPaths,  // the value at the first of `paths` that the call has
  };
  Kind kind = Kind::kNone;
  std::string text = {};
  std::vector<Path> paths = {};
  // kPaths: a call may lack it.
  bool optional = false;
};

struct JsonCallShape {
  enum class Count : std::uint8_t {
    kOne,
    kList,       // a list of calls
    kListOrOne,  // the same, or one call
    kSequence,   // values one after another: calls, or lists of them
  };
  Count count = Count::kOne;
  std::string separator = {};  // kSequence: may come between values
  Source name = {};
  Source id = {};
  // The first that the call has counts.  An empty path: the call itself.
  std::vector<Path> arguments = {{}};
  // A string that contains the JSON text of an object stands for the object.
  bool as_text = false;
  // {"f": {...}}: the only key of a call is its name.
  bool only_key = false;
  // The reader says where the items of a list or a sequence end.
  bool ends_items = false;
};

// How the tools of a request change arguments.
struct Casts {
  ToolSet tools = {};
  schema::Strings strings = schema::Strings::kText;
};

class JsonCallReader final : public CallReader {
 public:
  // Nothing if one path of the shape begins with another: then the parts of a
  // call are inside each other.
  static std::unique_ptr<JsonCallReader> make(JsonCallShape shape, Casts casts,
                                              const Limits& limits);

  void advance(std::string_view text, bool end, CallWriter& out) override;

 private:
  enum class Part : std::uint8_t { kNone, kName, kId, kArguments };
  // A node of the trie of the shape's paths.  Node 0 is the call.
  struct Node {
    Part part = Part::kNone;
    std::uint32_t rank = 0;  // of the path among those of the part
    std::vector<std::pair<std::string, std::int32_t>> children = {};
  };
  static constexpr std::int32_t kOutside = -1;  // on no path
  static constexpr std::int32_t kList = -2;     // the list of calls
  // A value that is open.
  struct Frame {
    std::int32_t node = kOutside;
    bool object = false;
    std::size_t begin = 0;
  };

  JsonCallReader(JsonCallShape shape, Casts casts, const Limits& limits);
  bool add_paths(const std::vector<Path>& paths, Part part);
  bool add_path(const Path& path, Part part, std::uint32_t rank);
  bool next_value(std::string_view text, bool end);
  void announce(CallWriter& out);
  void read_key(std::string_view text);
  void end_call();
  bool begins_only_value(std::int32_t node) const;
  void begin_only_value(std::string_view text);
  bool id_known_or_optional() const { return id_known_ || shape_.id.optional; }
  std::int32_t child_node(char first) const;
  void begin_call();
  void begin_value(std::string_view text);
  void end_value(std::string_view text);
  bool stands_alone() const;
  void set_text(Source& source, std::string_view raw, bool& known);
  bool continue_string(std::string_view text, CallWriter& out);
  void write_arguments(std::string_view text, CallWriter& out);
  void write_decoded(std::string_view raw, CallWriter& out);
  void write_cast(std::string_view text, std::size_t limit, CallWriter& out);

  JsonCallShape shape_;
  const Casts casts_;
  const Limits limits_;
  std::vector<Node> nodes_ = {Node{}};
  JsonScanner scanner_;
  std::vector<Frame> frames_;
  std::int32_t key_node_ = kOutside;  // of the member whose key was read
  bool stopped_ = false;

  bool between_ = false;  // kSequence: after a value

  // The call that is being read.
  static constexpr std::uint32_t kNoRank = ~std::uint32_t{0};
  std::uint32_t ranks_[4] = {kNoRank, kNoRank, kNoRank, kNoRank};  // by Part
  bool name_known_ = false;
  bool id_known_ = false;
  bool announced_ = false;
  bool repeated_ = false;  // a part came again after the announcement
  static constexpr std::size_t kNowhere = ~std::size_t{0};
  std::size_t arguments_begin_ = kNowhere;
  std::size_t arguments_end_ = kNowhere;
  bool in_text_ = false;     // the arguments are a string that may be decoded
  std::size_t members_ = 0;  // of the call so far
  std::string only_key_;     // the key of the first one
  std::pair<std::size_t, std::size_t> only_value_ = {0, 0};
  std::size_t written_ = 0;  // arguments before this position are written

  // Casting.
  const schema::StringMap<schema::Parameter>* parameters_ = nullptr;
  std::optional<JsonScanner> inner_;              // reads the arguments again
  bool inner_object_ = false;                     // the arguments are an object
  const schema::Parameter* parameter_ = nullptr;  // of the member being read
  bool waiting_ = false;  // for the end of a value that may be cast
};

}  // namespace parlance::call_stream

#endif  // PARLANCE_SRC_CALL_STREAM_JSON_CALLS_H_
