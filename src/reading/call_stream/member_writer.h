#ifndef PARLANCE_SRC_CALL_STREAM_MEMBER_WRITER_H_
#define PARLANCE_SRC_CALL_STREAM_MEMBER_WRITER_H_

// Writes arguments that are not JSON as the JSON text of an object, member by
// member, in the spacing of json::dump:
//
//   <parameter=city>Bern</parameter>      {"city": "Bern"
//   <parameter=days>3</parameter>         , "days": 3
//                                         }
//
// An argument that comes twice is written twice.  Readers of JSON take the last
// value, and so does the message.

#include <cstddef>
#include <string>
#include <string_view>

#include "parlance/json.h"

namespace parlance::call_stream {

class MemberWriter {
 public:
  // The next member with a complete value.
  void member(std::string_view key, const json::Value& value, std::string& out);

  // The next member, whose value is a string that is written in pieces of whole
  // characters.
  void open_string(std::string_view key, std::string& out);
  void text(std::string_view piece, std::string& out);
  void close_string(std::string& out) { out += '"'; }

  bool any() const { return members_ > 0; }

  // The object ends.
  void end(std::string& out) { out += members_ == 0 ? "{}" : "}"; }

 private:
  void key(std::string_view key, std::string& out);
  std::size_t members_ = 0;
};

// Appends `text` as it stands in a JSON string, without quotes.
void append_escaped(std::string& out, std::string_view text);

}  // namespace parlance::call_stream

#endif  // PARLANCE_SRC_CALL_STREAM_MEMBER_WRITER_H_
