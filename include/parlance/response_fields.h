#ifndef PARLANCE_RESPONSE_FIELDS_H_
#define PARLANCE_RESPONSE_FIELDS_H_

// The fields of a whole response, for hosts that turn them into values of their
// own: what parse_response() gives, without events, parts and copies of texts.
//
//   ResponseFields read(format, response, {.prefix = prompt});
//   for (const ResponseFields::Field& field : read.fields())
//     if (field.value == nullptr && field.nodes.empty())
//       show(field.name, field.text);

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "parlance/error.h"
#include "parlance/flat_json.h"
#include "parlance/format.h"
#include "parlance/json.h"
#include "parlance/response_parser.h"

namespace parlance {

class ResponseFields {
 public:
  // Nothing is read yet, and there are no fields.
  ResponseFields();
  // Reads `response`, which outlives this object.  If it is `well_formed`, it
  // is UTF-8 in whole characters, and is not checked; with
  // ParserOptions::allow_surrogates it may have lone surrogates.
  //
  // REQUIRES: no vocabulary.  keep_message and stream_calls are ignored.
  // Complexity: O(bytes of prefix and response), as ResponseParser::feed().
  ResponseFields(const Format& format, std::string_view response,
                 const ParserOptions& options = {}, bool well_formed = false);
  ~ResponseFields();
  ResponseFields(ResponseFields&&) noexcept;
  ResponseFields& operator=(ResponseFields&&) noexcept;

  // Reads another response, as the constructor does.
  void read(const Format& format, std::string_view response,
            const ParserOptions& options = {}, bool well_formed = false);
  // Drops what was read, but not all of its memory: another read() is faster
  // than another object.
  void clear();

  // A member of Message::fields.  Valid as long as the ResponseFields, and
  // until its next read() or clear().
  struct Field {
    std::string_view name;
    const json::Value* value = nullptr;  // null: it is `nodes` or `text`
    // The value as a sequence of nodes; empty: the value is `text`.
    std::span<const json::FlatNode> nodes = {};
    std::string_view text = {};  // into the response, or of joined regions
    // `text` is of the format, and the same in every response.
    bool fixed = false;
  };
  // In the order of Message::fields.
  std::span<const Field> fields() const { return fields_; }

  // As ResponseParser::failure(); null if nothing is read.
  const Error* failure() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::vector<Field> fields_;
};

}  // namespace parlance

#endif  // PARLANCE_RESPONSE_FIELDS_H_
