// Implements Format::render().

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/access.h"
#include "json/located.h"
#include "json/writer.h"
#include "parlance/format.h"
#include "parlance/response_parser.h"
#include "rendering/render.h"

namespace parlance {
namespace {

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

// Reads `text` back after `prefix`.  An error if the message differs.
std::optional<Error> verify(const Format& format, const MessageFields& written,
                            std::string_view text, const ToolSet* tools,
                            std::string_view prefix = "") {
  const format::FormatImpl& impl = *detail::Access::impl(format);
  const Message read = parse_response(
      format, text,
      {.prefix = prefix, .tools = tools, .recover = Recover::kYes});
  Result<MessageFields> fields = rendering::read_message(read.fields, impl);
  if (!fields) return first_unread(written, read.fields, impl);
  for (std::size_t i = 0; i < written.fields.size(); ++i) {
    const std::string& name = impl.description.fields[i].name;
    if (auto error = compare_field(written, *fields, i, name)) return error;
  }
  return std::nullopt;
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
