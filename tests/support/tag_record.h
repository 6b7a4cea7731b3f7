#ifndef PARLANCE_TESTS_SUPPORT_TAG_RECORD_H_
#define PARLANCE_TESTS_SUPPORT_TAG_RECORD_H_

// All that a TagParser reported about a text, in a form that can be compared.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/json.h"
#include "parlance/tag_parser.h"

namespace parlance::testing {

struct TagRecord {
  json::Value tree;
  json::Value fields;
  std::vector<std::string> events;  // neighbouring chunks joined
  bool complete = false;
};

// A tree as one line: types, texts and what is open.
inline std::string brief(const json::Value& node) {
  if (node.is_null()) return "-";
  std::string out;
  const auto all = [&](std::string_view key) {
    std::string list = "[";
    for (const json::Value& item : node.find(key)->items()) {
      if (list.size() > 1) list += " ";
      list += brief(item);
    }
    return list + "]";
  };
  const std::string type(node.find("type")->as_string());
  if (const json::Value* index = node.find("index")) {
    out += json::dump(*index) + ":";
  }
  if (type == "tag") {
    out += "tag(" + json::dump(*node.find("begin")) + " " +
           brief(*node.find("content")) + " " + json::dump(*node.find("end")) +
           ")";
  } else if (type == "rule") {
    out += json::dump(*node.find("pattern")) + brief(*node.find("content"));
  } else if (const json::Value* value = node.find("value")) {
    out += json::dump(*value);
  } else if (const json::Value* text = node.find("text")) {
    out += json::dump(*text);
  } else if (const json::Value* content = node.find("content")) {
    out += type + "(" + brief(*content) + ")";
  } else {
    for (const char* key : {"elements", "items", "parts", "tags"}) {
      if (node.find(key) != nullptr) out += all(key);
    }
  }
  if (node.find("complete") != nullptr) out += "...";
  return out;
}

// Joins chunks, and checks that events follow each other as they must.
class EventLog {
 public:
  void add(std::span<const Event> events) {
    for (const Event& event : events) add(event);
  }
  std::vector<std::string> lines() {
    flush();
    return lines_;
  }

 private:
  static std::string span(Span bytes) {
    return " " + std::to_string(bytes.begin) + ".." + std::to_string(bytes.end);
  }
  void flush() {
    if (!chunk_.empty()) {
      lines_.push_back("text " + json::dump(json::Value(chunk_)) +
                       span(chunk_bytes_));
    }
    chunk_.clear();
  }
  void add(const Event& event) {
    const std::string field(event.field);
    if (event.kind == EventKind::kRegionChunk) {
      EXPECT_TRUE(open_);
      EXPECT_FALSE(event.text.empty());
      if (chunk_.empty()) {
        chunk_bytes_ = event.bytes;
      } else {
        EXPECT_EQ(chunk_bytes_.end, event.bytes.begin);
        chunk_bytes_.end = event.bytes.end;
      }
      chunk_.append(event.text);
      return;
    }
    flush();
    std::string line(to_string(event.kind));
    line += " " + field + span(event.bytes);
    for (const Capture& capture : event.captures) {
      line += " " + std::string(capture.name) + "=" + std::string(capture.text);
    }
    if (event.value != nullptr) line += " " + json::dump(*event.value);
    if (event.cut) line += " cut";
    if (event.diagnostic != nullptr) line += " " + event.diagnostic->message;
    EXPECT_EQ(open_, event.kind != EventKind::kRegionOpen) << line;
    open_ = event.kind == EventKind::kRegionOpen;
    lines_.push_back(std::move(line));
  }

  std::vector<std::string> lines_;
  std::string chunk_;
  Span chunk_bytes_;
  bool open_ = false;
};

// Reads `text` cut at `cuts`, which ascend.
inline TagRecord record_tag_parse(const CompiledTag& program,
                                  std::string_view text,
                                  const std::vector<std::size_t>& cuts = {},
                                  const StreamOptions& options = {}) {
  TagParser parser(program, options);
  EventLog log;
  log.add(parser.initial_events());
  std::size_t begin = 0;
  for (const std::size_t cut : cuts) {
    log.add(parser.feed(text.substr(begin, cut - begin)));
    begin = cut;
  }
  log.add(parser.feed(text.substr(begin)));
  log.add(parser.finalize());
  return {parser.tree(), parser.message().fields, log.lines(),
          parser.complete()};
}

// Reads token ids, `step` at a time.
inline TagRecord record_tag_parse(const CompiledTag& program,
                                  std::span<const TokenId> ids,
                                  std::size_t step,
                                  const StreamOptions& options) {
  TagParser parser(program, options);
  EventLog log;
  log.add(parser.initial_events());
  for (std::size_t at = 0; at < ids.size(); at += step) {
    log.add(
        parser.feed_tokens(ids.subspan(at, std::min(step, ids.size() - at))));
  }
  log.add(parser.finalize());
  return {parser.tree(), parser.message().fields, log.lines(),
          parser.complete()};
}

// Cuts between all bytes.
inline std::vector<std::size_t> all_cuts(std::string_view text) {
  std::vector<std::size_t> out;
  for (std::size_t i = 1; i < text.size(); ++i) out.push_back(i);
  return out;
}

// The texts of the leaves and the markers of a tree, in order, with "\n" for
// separators that have no node of their own.  Checks that spans lie in each
// other and follow each other.
inline void check_spans(const json::Value& node, std::int64_t begin,
                        std::int64_t end) {
  if (node.is_array()) {
    for (const json::Value& item : node.items()) {
      if (!item.is_object()) continue;
      const json::Value* span = item.find("span");
      ASSERT_NE(span, nullptr) << json::dump(item);
      ASSERT_LE(begin, span->items()[0].as_int()) << json::dump(node);
      check_spans(item, begin, end);
      begin = span->items()[1].as_int();
    }
    return;
  }
  if (!node.is_object()) return;
  const json::Value* span = node.find("span");
  ASSERT_NE(span, nullptr) << json::dump(node);
  const std::int64_t first = span->items()[0].as_int();
  const std::int64_t last = span->items()[1].as_int();
  ASSERT_LE(begin, first) << json::dump(node);
  ASSERT_LE(first, last) << json::dump(node);
  ASSERT_LE(last, end) << json::dump(node);
  for (const char* key : {"content", "elements", "items", "parts", "tags"}) {
    const json::Value* inside = node.find(key);
    if (inside != nullptr && !inside->is_string()) {
      check_spans(*inside, first, last);
    }
  }
}

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_TAG_RECORD_H_
