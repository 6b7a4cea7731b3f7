#ifndef PARLANCE_TESTS_SUPPORT_CALL_RECORD_H_
#define PARLANCE_TESTS_SUPPORT_CALL_RECORD_H_

// The calls that the events of a parser announce, and the laws they obey.
//
//   CallRecord record;
//   record.add(parser.feed(chunk));
//   EXPECT_EQ(record.check(parser.message()), "");

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "json/writer.h"
#include "parlance/json.h"
#include "parlance/message.h"

namespace parlance::testing {

// The calls of a value: name, id, arguments.
inline void final_calls(const json::Value& value, json::Array& out) {
  if (value.is_array()) {
    for (const json::Value& item : value.items()) final_calls(item, out);
    return;
  }
  const json::Value* function = value.find("function");
  const json::Value& inner = function == nullptr ? value : *function;
  const json::Value* name = inner.find("name");
  const json::Value* arguments = inner.find("arguments");
  if (name == nullptr || !name->is_string() || arguments == nullptr) return;
  const json::Value* id = value.find("id");
  json::Value text("");
  if (id != nullptr)
    text = id->is_string() ? *id : json::Value(json::dump(*id));
  out.push_back(json::Array{*name, text, *arguments});
}

class CallRecord {
 public:
  void add(std::span<const Event> events) {
    for (const Event& event : events) add(event);
  }

  void add(const Event& event) {
    switch (event.kind) {
      case EventKind::kRegionOpen:
        expect(!region_open_, "a region opens inside another");
        region_open_ = true;
        break;
      case EventKind::kRegionClose:
      case EventKind::kRegionMalformed:
        region_open_ = false;
        break;
      case EventKind::kCallOpen:
        expect(event.call == calls.size(), "calls are counted from 0");
        expect(region_open_, "a call outside of a region");
        calls.push_back(
            {std::string(event.call_id), std::string(event.text), "", false});
        log += "open " + calls.back().id + " " + calls.back().name + "\n";
        last_ = EventKind::kCallOpen;
        break;
      case EventKind::kCallArguments:
        expect(event.call < calls.size(), "arguments before their call");
        expect(region_open_, "arguments outside of a region");
        expect(!event.text.empty(), "an empty piece");
        if (event.call >= calls.size()) break;
        expect(!calls[event.call].complete, "arguments after the close");
        calls[event.call].arguments += event.text;
        if (last_ != EventKind::kCallArguments || event.call != last_call_) {
          log += "\narguments " + std::to_string(event.call) + " ";
        }
        log += event.text;
        last_ = EventKind::kCallArguments;
        last_call_ = event.call;
        break;
      case EventKind::kCallClose:
        expect(event.call < calls.size(), "a close before its call");
        expect(region_open_, "a close outside of a region");
        if (event.call >= calls.size()) break;
        expect(!calls[event.call].complete, "a second close");
        calls[event.call].complete = true;
        log += "\nclose " + std::to_string(event.call) + "\n";
        last_ = EventKind::kCallClose;
        break;
      default:
        break;
    }
  }

  // The calls that were closed, in the form of final_calls().
  json::Array closed() {
    json::Array out;
    for (const Call& call : calls) {
      if (!call.complete) continue;
      json::ParseOptions options;
      options.allow_nonfinite = false;
      const Result<json::Value> arguments =
          json::parse(call.arguments, options);
      expect(arguments.has_value(), "not JSON: " + call.arguments);
      out.push_back(json::Array{call.name, call.id,
                                arguments ? *arguments : json::Value()});
    }
    return out;
  }

  // "" if the events agree with the message at its end, and with each other.
  std::string check(const Message& message, std::string_view field) {
    json::Array wanted;
    if (const json::Value* value = message.fields.find(field)) {
      final_calls(*value, wanted);
    }
    const json::Value got(closed());
    const json::Value all(wanted);
    // NaN is no JSON, and written as null.
    if (got != all && got != *json::parse(json::standard_text(all))) {
      expect(false, "closed " + json::dump(got) + ", the message has " +
                        json::dump(all));
    }
    bool same = message.calls.size() == calls.size();
    for (std::size_t i = 0; same && i < calls.size(); ++i) {
      const Call& a = message.calls[i];
      const Call& b = calls[i];
      same = a.name == b.name && a.id == b.id && a.arguments == b.arguments &&
             a.complete == b.complete;
    }
    expect(same, "Message::calls differ from the events");
    return wrong_;
  }

  std::vector<Call> calls;
  std::string log;  // the events, neighbouring pieces joined

 private:
  void expect(bool holds, const std::string& what) {
    if (!holds) wrong_ += what + "\n";
  }
  bool region_open_ = false;
  EventKind last_ = EventKind::kRegionOpen;
  std::uint32_t last_call_ = 0;
  std::string wrong_;
};

}  // namespace parlance::testing

#endif  // PARLANCE_TESTS_SUPPORT_CALL_RECORD_H_
