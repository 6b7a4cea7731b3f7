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
// last, white space and repeated keys included, but for what is no JSON: NaN
// and Infinity, and what a dialect adds.  Values that the schema of the tool
// casts are written as json::dump writes them; a value that may be cast waits
// for its end.
//
// Where items stand alone, damage ends an item: the call stays unfinished, and
// the items after it are read.  Elsewhere it ends the reading.
//
// If a name, id or arguments come again after the call was announced, or under
// a name that counts more, the reader writes no more of the call.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "call_stream/call_stream.h"
#include "call_syntax/json_scanner.h"
#include "call_syntax/json_text.h"
#include "call_syntax/token.h"
#include "call_syntax/value_builder.h"
#include "format/call_parts.h"
#include "parlance/limits.h"
#include "parlance/tools.h"
#include "schema/cast_calls.h"

namespace parlance::call_stream {

using call_syntax::JsonDialect;
using call_syntax::MarkAt;

using format::CallPart;
using format::Path;

// Whether a call without arguments may have the member: under any other name,
// the member may be the arguments.
inline bool is_no_arguments(std::string_view key) {
  return key == "type" || key == "id";
}

struct JsonCallShape {
  enum class Count : std::uint8_t {
    kOne,
    kList,       // a list of calls
    kListOrOne,  // the same, or one call
    kSequence,   // values one after another: calls, or lists of them
  };
  Count count = Count::kOne;
  std::string separator = {};  // kSequence: may come between values
  // `values` and `separator` follow from the above.
  JsonDialect dialect = {};
  // A delimiter in an ordinary string counts, and then nobody knows before the
  // region closes where strings begin.
  bool delimiters_first = false;
  // kNowhere, kText or kItem: the item is the call.
  CallPart name = {};
  CallPart id = {};
  // The first that the call has counts.  An empty path: the call itself.
  std::vector<Path> arguments = {{}};
  // A call that has none of them has the arguments {}, if each of its other
  // members is its name, its id, or is_no_arguments().
  bool arguments_optional = false;
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
  // call are inside each other.  `marks`, if not null, are those of the region;
  // they grow with its text, and must outlive the reader.
  static std::unique_ptr<JsonCallReader> make(
      JsonCallShape shape, Casts casts, const Limits& limits,
      const std::vector<MarkAt>* marks = nullptr);

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
    bool string = false;
    std::size_t begin = 0;
    std::size_t text = 0;  // of a string: after its quote
  };
  using Token = call_syntax::Token;
  using Kind = call_syntax::Kind;
  using Input = call_syntax::Input;

  JsonCallReader(JsonCallShape shape, Casts casts, const Limits& limits,
                 const std::vector<MarkAt>* marks);
  bool add_paths(const std::vector<Path>& paths, Part part);
  bool add_path(const Path& path, Part part, std::uint32_t rank);
  Input input_of(std::string_view text, bool end) const;
  void announce(CallWriter& out);
  void read_key(std::string_view text, const Token& token);
  void end_call();
  bool begins_only_value(std::int32_t node, const Token& token) const;
  void begin_only_value(const Token& token);
  bool id_known_or_optional() const { return id_known_ || shape_.id.optional; }
  std::int32_t child_node(Kind kind) const;
  void begin_call();
  void begin_arguments(const Token& token);
  void begin_value(const Token& token);
  void end_value(std::string_view text, const Token& token);
  void read_value_end(std::string_view text, const Token& token,
                      CallWriter& out);
  bool is_item() const;
  bool damage();
  bool doubtful(std::string_view text, const Token& token) const;
  void note_number(std::string_view text, const Token& token);
  bool continue_string(std::string_view text, CallWriter& out);
  bool rewrites() const;
  void copy(std::string_view text, std::size_t to, std::string& out);
  void write_arguments(std::string_view text, CallWriter& out);
  void write_decoded(CallWriter& out);
  void write_tokens(std::string_view text, std::size_t limit, CallWriter& out);
  void wait(const Token& token);
  void write_waiting(std::string_view text, std::string& out);

  JsonCallShape shape_;
  const Casts casts_;
  const Limits limits_;
  const std::vector<MarkAt>* const marks_;
  std::vector<Node> nodes_ = {Node{}};
  call_syntax::JsonScanner scanner_;
  std::vector<Frame> frames_;
  std::int32_t key_node_ = kOutside;  // of the member whose key was read
  bool stopped_ = false;

  // The call that is being read.
  static constexpr std::uint32_t kNoRank = ~std::uint32_t{0};
  std::uint32_t ranks_[4] = {kNoRank, kNoRank, kNoRank, kNoRank};  // by Part
  bool name_known_ = false;
  bool id_known_ = false;
  bool announced_ = false;
  bool repeated_ = false;  // a part came again after the announcement
  bool damaged_ = false;   // the item is no call
  static constexpr std::size_t kNowhere = ~std::size_t{0};
  std::size_t arguments_begin_ = kNowhere;
  std::size_t arguments_end_ = kNowhere;
  bool in_text_ = false;  // the arguments are a string with an object in it
  bool text_written_ = false;
  std::string string_;       // in_text_: the string
  std::size_t members_ = 0;  // of the call so far
  bool others_ = false;      // one of them may be the arguments
  std::string only_key_;     // the key of the first one
  std::pair<std::size_t, std::size_t> only_value_ = {0, 0};
  std::size_t written_ = kNowhere;  // arguments before it are written
  // Where the numbers of the region begin that are no JSON and not written yet.
  std::vector<std::size_t> nonfinite_;

  // Rewriting and casting.
  const schema::StringMap<schema::Parameter>* parameters_ = nullptr;
  bool arguments_are_object_ = false;
  // Reads the arguments again, token by token.
  std::optional<call_syntax::JsonScanner> inner_;
  call_syntax::JsonText json_;
  const schema::Parameter* parameter_ = nullptr;  // of the member being read
  // The value that waits for its end: it may be cast, or is doubtful().
  std::optional<call_syntax::ValueBuilder> waiting_;
  bool casts_waiting_ = false;
  std::size_t waiting_begin_ = 0;
};

}  // namespace parlance::call_stream

#endif  // PARLANCE_SRC_CALL_STREAM_JSON_CALLS_H_
