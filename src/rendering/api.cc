// Implements Format::render().

#include <algorithm>
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
    if (!(written[i].arguments == read[i].arguments)) {
      return differs("the arguments would be read back as " +
                         shown(json::dump(read[i].arguments, {.ascii = false})),
                     at + "/function/arguments");
    }
  }
  return std::nullopt;
}

// Reads `text` back.  An error if the message differs.
std::optional<Error> verify(const Format& format, const MessageFields& written,
                            std::string_view text, const ToolSet* tools) {
  const format::FormatImpl& impl = *detail::Access::impl(format);
  const Message read =
      parse_response(format, text, {.tools = tools, .recover = Recover::kYes});
  Result<MessageFields> fields = rendering::read_message(read.fields, impl);
  if (!fields) return differs("the text is not read back", "");
  for (std::size_t i = 0; i < written.fields.size(); ++i) {
    const std::string& name = impl.description.fields[i].name;
    const std::string pointer = json::append_pointer("", name);
    const MessageFields::Field& a = written.fields[i];
    const MessageFields::Field& b = fields->fields[i];
    if (auto error = compare_calls(a.calls, b.calls, pointer)) return error;
    if (a.text != b.text) {
      return differs("the text of '" + name + "' would be read back as " +
                         json::quoted(shown(b.text)),
                     pointer);
    }
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
  Result<std::string> text = rendering::render(*fields, impl);
  if (!text) return text;
  if (options.verify) {
    if (auto error = verify(*this, *fields, *text, options.tools)) {
      // After "off" the reader may take white space of the next field for
      // layout; a response without it says the same.
      Result<std::string> other =
          rendering::render(*fields, impl, rendering::Absent::kNothing);
      if (!other || *other == *text ||
          verify(*this, *fields, *other, options.tools)) {
        return *std::move(error);
      }
      text = std::move(other);
    }
  }
  // Leave out what the prompt has written.
  if (!options.prefix.empty()) {
    ResponseParser parser(*this, {.prefix = options.prefix});
    const std::string_view written =
        options.prefix.substr(options.prefix.size() - parser.prefix_bytes());
    if (!text->starts_with(written)) {
      return Error{ErrorCode::kConflict,
                   "render: the prompt begins this response with " +
                       json::quoted(shown(std::string(written))) +
                       ", and the message does not begin so.",
                   ""};
    }
    text->erase(0, written.size());
  }
  return text;
}

}  // namespace parlance
