// Implements Format::render().

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/access.h"
#include "json/located.h"
#include "json/writer.h"
#include "parlance/format.h"
#include "parlance/response_parser.h"
#include "rendering/marks.h"
#include "rendering/render.h"

namespace parlance {
namespace {

using rendering::FormatMarks;
using rendering::MessageCall;
using rendering::MessageFields;

Error differs(std::string what, std::string pointer) {
  return {ErrorCode::kConflict,
          "message: this format cannot express it: " + std::move(what) + ".",
          std::move(pointer)};
}

// A text for a message, cut if it is long.
std::string shown(std::string text) {
  constexpr std::size_t kMost = 100;
  if (text.size() > kMost) {
    std::size_t end = kMost;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
      --end;
    }
    text = text.substr(0, end) + "...";
  }
  return text;
}

// Equality, whatever the order of members: some families sort them.  Depth is
// that of json::parse().
bool same_members(const json::Value& a, const json::Value& b) {
  if (a.is_array() && b.is_array()) {
    return std::ranges::equal(a.items(), b.items(), same_members);
  }
  if (!a.is_object() || !b.is_object()) return a == b;
  return a.size() == b.size() &&
         std::ranges::all_of(a.members(), [&](const json::Member& member) {
           const json::Value* other = b.find(member.key);
           return other != nullptr && same_members(member.value, *other);
         });
}

// The first difference between the calls that were written and that were read.
std::optional<Error> compare_calls(const std::vector<MessageCall>& written,
                                   const std::vector<MessageCall>& read,
                                   const std::string& pointer) {
  if (written.size() != read.size()) {
    return differs(std::to_string(written.size()) +
                       " calls would be read back as " +
                       std::to_string(read.size()),
                   pointer);
  }
  for (std::size_t i = 0; i < written.size(); ++i) {
    const std::string at = json::append_pointer(pointer, i);
    if (written[i].name != read[i].name) {
      return differs("the name " + json::quoted(shown(written[i].name)) +
                         " would be read back as " +
                         json::quoted(shown(read[i].name)),
                     at + "/function/name");
    }
    if (!same_members(written[i].arguments, read[i].arguments)) {
      return differs("the arguments would be read back as " +
                         shown(json::dump(read[i].arguments, {.ascii = false})),
                     at + "/function/arguments");
    }
  }
  return std::nullopt;
}

// The first difference between a field that was written and that was read.
std::optional<Error> compare_field(const MessageFields& written,
                                   const MessageFields& read, std::size_t index,
                                   const std::string& name) {
  const std::string pointer = json::append_pointer("", name);
  const MessageFields::Field& a = written.fields[index];
  const MessageFields::Field& b = read.fields[index];
  if (auto error = compare_calls(a.calls, b.calls, pointer)) return error;
  if (a.text == b.text) return std::nullopt;
  return differs("the text of '" + name + "' would be read back as " +
                     json::quoted(shown(b.text)),
                 pointer);
}

// The first difference between the fields that were written and a message that
// is not one that could be written, such as a call whose arguments are a list.
// There is one.
Error first_unread(const MessageFields& written, const json::Value& read,
                   const format::FormatImpl& impl) {
  for (std::size_t i = 0; i < written.fields.size(); ++i) {
    const std::string& name = impl.description.fields[i].name;
    json::Object one;
    const json::Value* value = read.find(name);
    if (value != nullptr) one.set(name, *value);
    const Result<MessageFields> field =
        rendering::read_message(std::move(one), impl);
    if (!field) {
      std::string pointer = field.error().path;
      // A call that the message does not have differs as the whole list does.
      const std::size_t calls = written.fields[i].calls.size();
      if (value->is_array() && value->size() > calls) {
        pointer = json::append_pointer("", name);
      }
      return differs("'" + name + "' would be read back as " +
                         shown(json::dump(*value, {.ascii = false})),
                     std::move(pointer));
    }
    if (auto error = compare_field(written, *field, i, name)) return *error;
  }
  return differs("the text is not read back", "");
}

// Reads `text` back after `prefix`; with `marks`, as token ids.  An error if
// the message differs.
std::optional<Error> verify(const Format& format, const MessageFields& written,
                            std::string_view text, const ToolSet* tools,
                            std::string_view prefix = "",
                            FormatMarks* marks = nullptr) {
  const format::FormatImpl& impl = *detail::Access::impl(format);
  StreamOptions options = {
      .prefix = prefix, .tools = tools, .recover = Recover::kYes};
  if (marks != nullptr) options.vocabulary = &marks->vocabulary();
  ResponseParser parser(format, options);
  if (marks == nullptr) {
    parser.feed(text);
  } else {
    parser.feed_tokens(marks->encode(text));
  }
  parser.finalize();
  const Message& read = parser.message();
  Result<MessageFields> fields = rendering::read_message(read.fields, impl);
  if (!fields) return first_unread(written, read.fields, impl);
  for (std::size_t i = 0; i < written.fields.size(); ++i) {
    const std::string& name = impl.description.fields[i].name;
    if (auto error = compare_field(written, *fields, i, name)) return error;
  }
  return std::nullopt;
}

// Calls `see` with each string that a message has written into it, which it may
// change, and the pointer of the field, name or arguments that has it.
template <class See>
void for_each_string(json::Value& value, const std::string& pointer,
                     const See& see) {
  if (value.is_string()) {
    std::string text(value.as_string());
    see(text, pointer);
    value = json::Value(text);
  } else if (value.is_array()) {
    for (json::Value& item : value.mutable_items()) {
      for_each_string(item, pointer, see);
    }
  } else if (value.is_object()) {
    json::Object out;
    for (const json::Member& member : value.members()) {
      std::string key = member.key;
      json::Value inner = member.value;
      see(key, pointer);
      for_each_string(inner, json::append_pointer(pointer, member.key), see);
      out.set(std::move(key), std::move(inner));
    }
    value = json::Value(std::move(out));
  }
}
template <class See>
void for_each_string(MessageFields& message, const format::FormatImpl& impl,
                     const See& see) {
  for (std::size_t i = 0; i < message.fields.size(); ++i) {
    MessageFields::Field& field = message.fields[i];
    const std::string pointer =
        json::append_pointer("", impl.description.fields[i].name);
    see(field.text, pointer);
    for (std::size_t c = 0; c < field.calls.size(); ++c) {
      const std::string at = json::append_pointer(pointer, c) + "/function";
      see(field.calls[c].name, at + "/name");
      for_each_string(field.calls[c].arguments, at + "/arguments", see);
    }
  }
}

// The strings of a message.
std::vector<std::string> strings_of(MessageFields message,
                                    const format::FormatImpl& impl) {
  std::vector<std::string> out;
  for_each_string(message, impl,
                  [&](const std::string& text, const std::string&) {
                    if (!text.empty()) out.push_back(text);
                  });
  return out;
}

// The error for a message that is not read back as ids: the first place where
// it spells a mark and, if all others spelled none, would not be read back
// either; else the first place.
Error spelled_mark(const Format& format, const MessageFields& message,
                   FormatMarks& marks, rendering::Absent absent,
                   const ToolSet* tools) {
  const format::FormatImpl& impl = *detail::Access::impl(format);
  struct Place {
    std::string pointer;
    std::string mark;
  };
  std::vector<Place> places;
  MessageFields copy = message;
  for_each_string(copy, impl,
                  [&](const std::string& text, const std::string& pointer) {
                    for (const std::string& mark : marks.texts()) {
                      if (text.find(mark) != std::string::npos) {
                        places.push_back({pointer, mark});
                      }
                    }
                  });
  const auto made = [&](const Place& place) {
    return differs("as token ids, " + json::quoted(place.mark) +
                       " in this text would be read as the mark that it spells",
                   place.pointer);
  };
  for (const Place& place : places) {
    MessageFields alone = message;
    for_each_string(alone, impl,
                    [&](std::string& text, const std::string& pointer) {
                      for (const std::string& mark : marks.texts()) {
                        if (pointer == place.pointer && mark == place.mark) {
                          continue;
                        }
                        for (std::size_t at = 0;
                             (at = text.find(mark, at)) != std::string::npos;) {
                          text.replace(at, mark.size(), "x");
                        }
                      }
                    });
    const Result<std::string> text = rendering::render(alone, impl, absent);
    if (text && verify(format, alone, *text, tools, "", &marks)) {
      return made(place);
    }
  }
  if (!places.empty()) return made(places.front());
  return differs(
      "as token ids, a mark that a text of it begins or ends would be read",
      "");
}

}  // namespace

Result<std::string> Format::render(const json::Value& message,
                                   const RenderOptions& options) const {
  const format::FormatImpl& impl = *impl_;
  if (!impl.family.writing) {
    return Error{ErrorCode::kUnsupported,
                 "render: the format does not say how a response is written "
                 "(\"parlance\": {\"write\": ...} of a format file).",
                 ""};
  }
  Result<MessageFields> fields = rendering::read_message(message, impl);
  if (!fields) return std::move(fields).error();
  // What the prompt has written of the response.
  std::string_view written;
  if (!options.prefix.empty()) {
    ResponseParser parser(*this, {.prefix = options.prefix});
    written =
        options.prefix.substr(options.prefix.size() - parser.prefix_bytes());
  }
  // The first spelling that begins as the prompt does and is read back.  After
  // "off" the reader may take white space of the next field for layout; where
  // the prompt has begun a block of reasoning, only that block can be ended.
  using rendering::Absent;
  std::optional<Error> error;  // of the first spelling
  std::string first;
  // A mark that a value spells is met as a token.
  std::optional<FormatMarks> marks;
  if (options.verify) {
    const std::vector<std::string> texts = strings_of(*fields, impl);
    marks.emplace(impl, texts);
    if (std::ranges::none_of(texts, [&](const std::string& text) {
          return marks->touch(text);
        })) {
      marks.reset();
    }
  }
  for (const Absent absent : {Absent::kOff, Absent::kNothing, Absent::kBlock}) {
    Result<std::string> text = rendering::render(*fields, impl, absent);
    if (!text) return text;
    if (error && *text == first) continue;
    std::optional<Error> wrong;
    if (!text->starts_with(written)) {
      wrong = Error{ErrorCode::kConflict,
                    "render: the prompt begins this response with " +
                        json::quoted(shown(std::string(written))) +
                        ", and the message does not begin so.",
                    ""};
    } else if (options.verify) {
      wrong = verify(*this, *fields, *text, options.tools);
    }
    if (!wrong && marks &&
        verify(*this, *fields, *text, options.tools, "", &*marks)) {
      // In JSON, the mark can be escaped.
      Result<std::string> escaped =
          rendering::render(*fields, impl, absent, marks->texts());
      if (escaped && *escaped != *text && escaped->starts_with(written) &&
          !verify(*this, *fields, *escaped, options.tools) &&
          !verify(*this, *fields, *escaped, options.tools, "", &*marks)) {
        *text = *std::move(escaped);
      } else {
        wrong = spelled_mark(*this, *fields, *marks, absent, options.tools);
      }
    }
    if (!wrong) {
      text->erase(0, written.size());
      if (absent != Absent::kOff || !written.empty()) return text;
      // "off" may close what nothing opens, such as "<|assistant|></think>".
      // Then the prompt ends with it, and still no region has begun there.
      Result<std::string> rest =
          rendering::render(*fields, impl, Absent::kNothing);
      if (rest && rest->size() < text->size() && text->ends_with(*rest) &&
          options.prefix.ends_with(
              std::string_view(*text).substr(0, text->size() - rest->size())) &&
          !verify(*this, *fields, *rest, options.tools, options.prefix)) {
        return rest;
      }
      return text;
    }
    if (error) continue;
    error = std::move(wrong);
    first = *std::move(text);
  }
  return *std::move(error);
}

}  // namespace parlance
