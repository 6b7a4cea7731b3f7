// The fields of the two parsers, as chat shapes need them.

#include "parlance/chat.h"
#include "parlance/format.h"
#include "parlance/tag_parser.h"

namespace parlance {

std::vector<ChatField> chat_fields(const Format& format) {
  std::vector<ChatField> out;
  for (std::size_t i = 0; i < format.field_count(); ++i) {
    out.push_back({.name = std::string(format.field_name(i)),
                   .trimmed = format.field_trimmed(i),
                   .join = std::string(format.field_join(i).value_or("\n"))});
  }
  return out;
}

std::vector<ChatField> chat_fields(const CompiledTag& tag) {
  std::vector<ChatField> out;
  for (std::size_t i = 0; i < tag.fields().size(); ++i) {
    const bool rest = tag.fields()[i] == "rest";
    out.push_back({.name = std::string(tag.fields()[i]),
                   .join = std::string(rest ? "" : tag.field_join(i)),
                   .is_content = rest});
  }
  return out;
}

}  // namespace parlance
