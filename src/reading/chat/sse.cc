// Server-sent events in, text out: lines become events, events become payloads,
// and of each payload the member that a known server puts its text into.

#include "parlance/sse.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "parlance/json.h"

namespace parlance {
namespace {

using json::Value;

const Value* member(const Value* object, std::string_view key) {
  return object == nullptr || !object->is_object() ? nullptr
                                                   : object->find(key);
}

// The value, if it is a text; null is an empty one.
std::optional<std::string> text_in(const Value* value) {
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return std::string(value->as_string());
  if (value->is_null()) return std::string();
  return std::nullopt;
}

// The payload of an event: its text, or the reason why it has no text.
struct Payload {
  std::optional<std::string> text = std::nullopt;
  std::string fault = {};
  bool reasoning = false;  // the server has split the reasoning off
};

Payload parsed_calls(const std::string& where) {
  return {.fault = "it has " + where +
                   ": the server has parsed the response already.  Start it "
                   "without a tool-call parser"};
}

// Of a message or a part of one.
Payload of_message(const Value& message) {
  if (const Value* calls = member(&message, "tool_calls");
      calls != nullptr && calls->is_array() && calls->size() != 0) {
    return parsed_calls("'tool_calls'");
  }
  const Value* content = member(&message, "content");
  Payload out = {.text = ""};
  if (content != nullptr) out.text = text_in(content);
  for (const char* key : {"reasoning_content", "reasoning", "thinking"}) {
    out.reasoning |= !text_in(member(&message, key)).value_or("").empty();
  }
  return out;
}

Payload of_choice(const Value& choice) {
  const Value* index = member(&choice, "index");
  if (index != nullptr && index->kind() == json::Kind::kInt &&
      index->as_int() != 0) {
    return {.text = ""};
  }
  const Value* delta = member(&choice, "delta");
  if (delta == nullptr) {
    auto text = text_in(member(&choice, "text"));
    return text ? Payload{.text = std::move(text)}
                : Payload{.fault = "its choice has neither 'delta' nor 'text'"};
  }
  return of_message(*delta);
}

// The types of events of Responses and of Messages.  Others say nothing about
// where the text is.
bool is_known(std::string_view type) {
  constexpr std::string_view kMessages[] = {"message_start",
                                            "message_delta",
                                            "message_stop",
                                            "content_block_start",
                                            "content_block_delta",
                                            "content_block_stop",
                                            "ping"};
  return type.starts_with("response.") ||
         std::ranges::find(kMessages, type) != std::end(kMessages);
}

// Of an event with a known type.
Payload of_typed(std::string_view type, const Value* delta) {
  if (type == "response.output_text.delta") return {.text = text_in(delta)};
  if (type == "response.function_call_arguments.delta" ||
      member(delta, "partial_json") != nullptr) {
    return parsed_calls("the arguments of a call");
  }
  Payload out = {.text = ""};  // the frame of a response
  out.reasoning = type == "response.reasoning_text.delta" ||
                  type == "response.reasoning_summary_text.delta";
  if (type != "content_block_delta") return out;
  out.reasoning = !text_in(member(delta, "thinking")).value_or("").empty();
  if (const Value* text = member(delta, "text")) out.text = text_in(text);
  return out;
}

// From the most certain sign to the least: an error beside text is a fault, and
// a member called "text" or "content" may stand in any object.
Payload read_payload(const Value& event) {
  if (!event.is_object()) return {.fault = "it is no JSON object"};
  const Value* type = event.find("type");
  const bool typed = type != nullptr && type->is_string();
  const Value* error = event.find("error");
  // Responses have the members of an error beside the type.
  if (error == nullptr && typed && type->as_string() == "error") error = &event;
  if (error != nullptr && !error->is_null()) {
    return {.fault =
                "the server reports " + json::dump(*error, {.ascii = false})};
  }
  if (const Value* choices = event.find("choices");
      choices != nullptr && choices->is_array()) {
    // The last chunk of a stream has the usage and no choice.
    return choices->size() == 0 ? Payload{.text = ""}
                                : of_choice(choices->items()[0]);
  }
  if (typed && is_known(type->as_string())) {
    return of_typed(type->as_string(), event.find("delta"));
  }
  // Ollama's lines of /api/chat.
  if (const Value* message = event.find("message");
      message != nullptr && message->is_object()) {
    return of_message(*message);
  }
  for (const char* key : {"content", "response", "text"}) {
    if (auto text = text_in(event.find(key))) return {.text = std::move(text)};
  }
  if (auto text = text_in(member(event.find("token"), "text"))) {
    return {.text = std::move(text)};
  }
  if (typed) {
    return {.fault = "its type \"" + std::string(type->as_string()) +
                     "\" is none of those that servers send"};
  }
  return {.fault =
              "it has none of the members 'choices', 'delta', 'message', "
              "'content', 'response', 'text' and 'token', in which servers "
              "send text"};
}

}  // namespace

// One call of feed() or finalize().  The stream is finalized meanwhile: if
// there is no memory, it stays so, because it is not known how much was read.
template <class Read>
std::string SseReader::call(bool last, const Read& read) {
  faults_.clear();
  if (std::exchange(finalized_, true)) return {};
  std::string out;
  read(out);
  finalized_ = last;
  return out;
}

std::string SseReader::feed(std::string_view bytes) {
  return call(false, [&](std::string& out) {
    for (const char c : bytes) {
      // A '\r' has ended its line already, so that the line is read without
      // waiting for the next byte.
      if (c == '\n' && after_return_) {
        after_return_ = false;
        continue;  // the second half of an end of line
      }
      after_return_ = c == '\r';
      if (c == '\n' || c == '\r') {
        end_line(out);
      } else if (line_.size() <= kLongest) {
        line_ += c;  // one byte more than fits shows that the line is longer
      }
    }
  });
}

std::string SseReader::finalize() {
  return call(true, [&](std::string& out) {
    if (!line_.empty()) end_line(out);
    end_event(out);
  });
}

// A line of the stream: "field: value", a comment, or the end of an event, by
// the HTML standard, "Interpreting an event stream".
void SseReader::end_line(std::string& out) {
  ++lines_;
  std::string line;
  line.swap(line_);
  if (lines_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
  if (line.empty()) return end_event(out);
  const std::size_t colon = line.find(':');
  const std::string_view field = std::string_view(line).substr(0, colon);
  if (field != "data") {
    // Comments (":"), "event", "id" and "retry" say nothing about the text.
    // Ollama and others stream bare lines of JSON.
    if (line.front() == '{') {
      end_event(out);  // one that is open
      data_line_ = lines_;
      too_long_ = line.size() > kLongest;
      data_.swap(line);
      has_data_ = true;
      end_event(out);
    }
    return;
  }
  std::string_view value;
  if (colon != std::string::npos) {
    value = std::string_view(line).substr(colon + 1);
  }
  // One space, not all: the standard's rule.
  if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  const std::string_view between = has_data_ ? "\n" : "";
  if (!has_data_) data_line_ = lines_;
  has_data_ = true;
  // An event that is too long is read to its end, so that the next one is
  // found, and only then reported.  `data_` keeps what has fitted.
  if (line.size() > kLongest ||
      data_.size() + between.size() + value.size() > kLongest) {
    too_long_ = true;
  } else {
    data_ += between;
    data_ += value;
  }
}

void SseReader::end_event(std::string& out) {
  const bool too_long = std::exchange(too_long_, false);
  if (!has_data_) return;
  has_data_ = false;
  std::string data;
  data.swap(data_);
  if (too_long) {
    return report("the event is longer than " + std::to_string(kLongest) +
                  " bytes");
  }
  if (data == "[DONE]") return;
  const Result<Value> event = json::parse(data);
  if (!event) {
    return report("the data is no JSON: " + event.error().message);
  }
  Payload payload = read_payload(*event);
  if (!payload.text) {
    return report(payload.fault.empty() ? "its text is no string"
                                        : payload.fault);
  }
  if (payload.reasoning && !std::exchange(reasoning_told_, true)) {
    report(
        "it has reasoning beside the content: the server has parsed the "
        "response already.  Start it without a reasoning parser");
  }
  out += *payload.text;
}

void SseReader::report(std::string what) {
  faults_.push_back({data_line_, std::move(what)});
}

}  // namespace parlance
