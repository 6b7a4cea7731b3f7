// The fields of the two parsers, as chat shapes need them.

#include "base/access.h"
#include "format/description.h"
#include "parlance/chat.h"
#include "parlance/format.h"
#include "parlance/tag_parser.h"

namespace parlance {

std::vector<ChatField> chat_fields(const Format& format) {
  std::vector<ChatField> out;
  for (const format::Field& field :
       detail::Access::impl(format)->description.fields) {
    out.push_back({.name = field.name,
                   .trimmed = field.content.strip,
                   .repeats = field.repeats,
                   .join = field.join});
  }
  return out;
}

std::vector<ChatField> chat_fields(const CompiledTag& tag) {
  std::vector<ChatField> out;
  for (std::size_t i = 0; i < tag.fields().size(); ++i) {
    const bool rest = tag.fields()[i] == "rest";
    out.push_back({.name = std::string(tag.fields()[i]),
                   .repeats = tag.fields()[i] == "tags",
                   .join = std::string(rest ? "" : tag.field_join(i)),
                   .is_content = rest});
  }
  return out;
}

}  // namespace parlance
