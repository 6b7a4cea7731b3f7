#include "call_stream/member_writer.h"

#include "json/writer.h"

namespace parlance::call_stream {

void append_escaped(std::string& out, std::string_view text) {
  // append_string() writes quotes, too; they are removed again.
  const std::size_t begin = out.size();
  json::append_string(out, text, false);
  out.pop_back();
  out.erase(begin, 1);
}

void MemberWriter::key(std::string_view key, std::string& out) {
  out += members_++ == 0 ? "{" : ", ";
  json::append_string(out, key, false);
  out += ": ";
}

void MemberWriter::member(std::string_view name, const json::Value& value,
                          std::string& out) {
  key(name, out);
  out += json::standard_text(value);
}

void MemberWriter::open_string(std::string_view name, std::string& out) {
  key(name, out);
  out += '"';
}

void MemberWriter::text(std::string_view piece, std::string& out) {
  append_escaped(out, piece);
}

}  // namespace parlance::call_stream
