#ifndef PARLANCE_SRC_CALL_STREAM_NESTED_CALLS_H_
#define PARLANCE_SRC_CALL_STREAM_NESTED_CALLS_H_

// Arguments that are written as nested elements (call_syntax/nested_scanner.h):
// their value, and their JSON text while they are being written.
//
//   <cofl:value name="a" type="dict">           {"a": {
//   <cofl:value name="b" type="raw">Be          "b": "Be
//   rn</cofl:value></cofl:value>                rn"}
//
// In minimax_m3_xml elements in an element are the members of an object, or the
// items of a list if the schema says so, or, without a schema, if all are
// called "item".  Members with the same name are a list.
//
// What the JSON text waits for:
//
//   cohere_xml       the end of an argument that the schema of the tool may
//                    cast, and of a value that is JSON
//   minimax_m3_xml   the end of a text that the schema does not declare as a
//                    string, of elements that may be a list or an object, and
//                    of a list that the schema of the tool may cast
//
// A member that is repeated in minimax_m3_xml is written again as a list where
// the object ends: readers of JSON take the last of two members.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "call_stream/call_stream.h"
#include "call_stream/json_calls.h"
#include "call_syntax/json_text.h"
#include "call_syntax/nested_scanner.h"
#include "call_syntax/value_builder.h"
#include "parlance/error.h"
#include "parlance/json.h"
#include "parlance/limits.h"
#include "parlance/tools.h"
#include "schema/tool_table.h"

namespace parlance::call_stream {

using call_syntax::NestedStyle;

struct NestedValue {
  std::optional<json::Value> value = {};
  // Without a value: what is wrong with the text in `bytes`.
  std::string_view damage = {};
  ErrorCode code = {};
  Span bytes = {};
  std::vector<Span> stray = {};  // closing markers that close nothing
};

// The arguments of a call of `tool`, which `tools` may lack.
// Complexity: O(text.size()).  Nesting does not use the call stack.
NestedValue read_nested(NestedStyle style, std::string_view text,
                        const ToolSet& tools, std::string_view tool,
                        const Limits& limits);

// The arguments of a call whose name is known.
class NestedCallReader : public CallReader {
 public:
  void advance(std::string_view text, bool end, CallWriter& out) final;

 protected:
  NestedCallReader(NestedStyle style, std::string_view name,
                   std::string_view id, Casts casts, const Limits& limits)
      : name_(name),
        id_(id),
        casts_(std::move(casts)),
        limits_(limits),
        scanner_(style, limits) {}

  // Writes a token.  False: nothing more is written.
  virtual bool read(const call_syntax::Token& token,
                    const call_syntax::Input& input, std::string& out) = 0;
  // The arguments are JSON: `text`.
  void write_body(std::string_view text, std::string& out);

  const std::string name_;
  const std::string id_;
  const Casts casts_;
  const Limits limits_;
  call_syntax::NestedScanner scanner_;
  call_syntax::JsonText json_;
  bool rest_ = false;  // what follows is known when the region closes

 private:
  bool opened_ = false;
  bool stopped_ = false;
};

// cohere_xml.
class CohereCallReader final : public NestedCallReader {
 public:
  CohereCallReader(std::string_view name, std::string_view id, Casts casts,
                   const Limits& limits);

 private:
  bool read(const call_syntax::Token& token, const call_syntax::Input& input,
            std::string& out) override;

  const schema::StringMap<schema::Parameter>* const parameters_;
  // The argument that is being read, if it may be cast.
  const schema::Parameter* held_ = nullptr;
  call_syntax::ValueBuilder builder_;
};

// An open element of minimax_m3_xml, or the arguments.
struct MinimaxElement {
  std::string name = {};
  std::shared_ptr<const schema::Parameter> declared = nullptr;  // may be null
  bool has_elements = false;
  bool only_items = true;     // all of them are called "item"
  json::Object members = {};  // those that have ended
  std::set<std::string, std::less<>> listed = {};  // of them: those repeated
  json::Array items = {};  // the same values in order, while only_items

  const schema::Parameter& parameter() const {
    static const schema::Parameter kUnknown;
    return declared != nullptr ? *declared : kUnknown;
  }

  // What is written of it while it grows.
  enum class Kind : std::uint8_t {
    kOpen,     // nothing yet
    kString,   // its text so far
    kList,     // its items so far
    kObject,   // its members so far
    kHeld,     // its value, where it ends
    kSkipped,  // nothing, but perhaps the element that holds it
    kWrong,    // its items so far, but it is no list
  };
  Kind kind = Kind::kOpen;
  // Members to write again where it ends.
  std::set<std::string, std::less<>> again = {};
};

// minimax_m3_xml.
class MinimaxCallReader final : public NestedCallReader {
 public:
  // `tools` give the elements their types.  `exact`: the text is one that a
  // grammar of the schema generates, whose rules say what its values are; from
  // the first value on that the schema alone does not determine, all waits
  // until the region closes.
  MinimaxCallReader(std::string_view name, std::string_view id, Casts casts,
                    bool exact, const Limits& limits);

 private:
  using Element = MinimaxElement;

  bool read(const call_syntax::Token& token, const call_syntax::Input& input,
            std::string& out) override;
  bool begin_element(std::string_view name, std::string& out);
  bool open_elements(std::string_view first, std::string& out);
  void take_back_list();
  bool end_element(std::string_view text, std::string& out);
  std::optional<json::Value> exact_value(
      std::string_view text, const schema::Parameter& parameter) const;
  void write_key(std::string& out);
  void write_value(std::string_view key, const json::Value& value,
                   std::size_t depth, std::string& out);
  bool is_string(const schema::Parameter& parameter) const;

  const bool exact_;
  std::vector<Element> open_;  // the first is the arguments
};

}  // namespace parlance::call_stream

#endif  // PARLANCE_SRC_CALL_STREAM_NESTED_CALLS_H_
