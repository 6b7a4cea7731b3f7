#ifndef PARLANCE_SRC_PARSE_ELEMENT_CALLS_H_
#define PARLANCE_SRC_PARSE_ELEMENT_CALLS_H_

// Arguments that are written as elements or as lines (xml-inline, kv-lines), as
// JSON text while they are being written.
//
//   <parameter=city>Be             {"city": "Be
//   rn</parameter>                 rn"
//   <parameter=days>3</parameter>  , "days": 3
//
// A value that can only be the string of its text is written while it grows,
// except for text that may still be its end.  A value that the tool's schema
// may cast, or that a value parser reads, is written when its element ends.  An
// element that comes twice is written twice; if the values of
// equal elements are a list, everything from the second one on is written when
// the region closes.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "automata/dfa.h"
#include "call_stream/call_stream.h"
#include "call_stream/json_calls.h"
#include "call_syntax/json_text.h"
#include "format/description.h"
#include "parlance/limits.h"
#include "parse/delimiter_program.h"
#include "parse/element_scanner.h"
#include "parse/marked_text.h"

namespace parlance::parse {

// The parts that the readers of elements and of lines share.
class MemberReader : public call_stream::CallReader {
 protected:
  MemberReader(std::string_view name, std::string_view id,
               const format::Content& content, const DelimiterProgram& program,
               const std::vector<MarkAt>& marks, call_stream::Casts casts,
               const Limits& limits);

  void open(call_stream::CallWriter& out);
  void end(call_stream::CallWriter& out);
  std::shared_ptr<const schema::Parameter> parameter_of(
      std::string_view key) const;
  // Writes a member with the value of `raw`, which `type` types ("": nothing
  // does).  False: it cannot be read.
  bool write(std::string_view key, std::string_view type, const MarkedText& raw,
             bool null, std::string& out);
  void write(std::string_view key, json::Value value, std::string& out);
  MarkedText marked(std::string_view text) const { return {text, marks_}; }

  const format::Content& content_;
  const DelimiterProgram& program_;
  const std::vector<MarkAt>& marks_;  // of the region; grows with its text
  const call_stream::Casts casts_;
  const Limits limits_;
  // What a family file says about arguments; may be null.
  const format::ArgumentReading* reading_ = nullptr;
  call_syntax::JsonText json_;
  bool stopped_ = false;  // nothing more can be written
  // Whether the values of equal keys are a list, and `key` has come before:
  // then the value of the region has the rest.
  bool repeats(std::string_view key) {
    rest_ = content_.merge_duplicates && !keys_.emplace(key).second;
    return rest_;
  }
  bool rest_ = false;

 private:
  std::set<std::string, std::less<>> keys_;  // with merge_duplicates
  std::string name_;
  std::string id_;
  bool opened_ = false;
};

// xml-inline.  REQUIRES: the tag pattern runs on an automaton.
class ElementCallReader final : public MemberReader {
 public:
  ElementCallReader(std::string_view name, std::string_view id,
                    const format::Content& content,
                    const DelimiterProgram& program,
                    const std::vector<MarkAt>& marks, call_stream::Casts casts,
                    const Limits& limits);
  void advance(std::string_view text, bool end,
               call_stream::CallWriter& out) override;

 private:
  void search_from(std::size_t begin, std::string_view text);
  bool run(std::string_view text, bool end);
  bool is_string() const;
  // The name of an argument that is written as `written`.
  std::string name_of(std::string_view written) const;
  // Each writes what has come; false: nothing more can be written.
  bool read_whole(std::string_view text, bool end, std::string& out);
  bool read_halves(std::string_view text, bool end, std::string& out);
  bool read_element(std::string_view text, std::string& out);
  bool read_head(std::string_view text, std::string& out);
  bool read_tail(std::string_view text, std::string& out);
  bool read_object(std::string_view text, std::string& out);
  // Writes the growing value up to `end`.
  void grow(std::string_view text, std::size_t end, std::string& out);

  const Finder& whole_;
  const ElementFinder& halves_;
  // Elements, if the pattern has halves; else `search_` finds whole elements.
  ElementScanner scanner_;
  std::size_t blank_ = 0;  // white space stands before it
  bool started_ = false;
  automata::Search search_;
  automata::Match match_;
  std::string key_;
  std::string type_;
  bool object_ = false;      // the arguments are an object
  bool growing_ = false;     // the value is written while it grows
  bool begun_ = false;       // its first byte has come
  std::size_t written_ = 0;  // the value before this position is written
};

// kv-lines.  A line is written when it ends.
class LineCallReader final : public MemberReader {
 public:
  LineCallReader(std::string_view name, std::string_view id,
                 const format::Content& content,
                 const DelimiterProgram& program,
                 const std::vector<MarkAt>& marks, call_stream::Casts casts,
                 const Limits& limits)
      : MemberReader(name, id, content, program, marks, std::move(casts),
                     limits) {}
  void advance(std::string_view text, bool end,
               call_stream::CallWriter& out) override;

 private:
  std::size_t at_ = 0;        // the beginning of the line
  std::size_t searched_ = 0;  // no separator begins before this position
};

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_ELEMENT_CALLS_H_
