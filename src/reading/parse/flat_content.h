#ifndef PARLANCE_SRC_PARSE_FLAT_CONTENT_H_
#define PARLANCE_SRC_PARSE_FLAT_CONTENT_H_

// The values of JSON regions as flat values: what parse_content() and
// apply_transform() give, for hosts that need no json::Value.

#include <string_view>
#include <vector>

#include "format/description.h"
#include "json/flat.h"
#include "parlance/limits.h"
#include "parse/content.h"

namespace parlance::parse {

class FlatContent {
 public:
  // Appends the value of a region to `out`.  False, and `out` as it was, if
  // the region has to be read otherwise: for its error, because read_flat()
  // does not read it, or, with `once`, because it gives a part of a call twice.
  // REQUIRES: the content of the field is JSON, in any dialect; `text` and the
  // field outlive the nodes.
  bool append_region(const format::Field& field, std::string_view text,
                     Captures captures, const DelimiterProgram& program,
                     const Limits& limits, bool once,
                     std::vector<json::FlatNode>& out);

 private:
  // What a placeholder may refer to.
  struct Scope {
    Captures captures;
    const json::FlatNode* content = nullptr;
    const json::FlatNode* item = nullptr;  // transform_each: its keys
  };
  bool append(const format::Transform& transform, const Scope& scope,
              std::vector<json::FlatNode>& out);
  bool append_each(const format::Transform& transform, Scope& scope,
                   std::vector<json::FlatNode>& out);
  bool append_found(const std::vector<std::string>& path, const Scope& scope,
                    std::vector<json::FlatNode>& out);

  const json::FlatNode* find(const json::FlatNode* object,
                             std::string_view key);

  bool once_ = false;
  bool repeated_ = false;  // with once_: a member was there twice
  json::FlatTexts texts_;
  std::vector<json::FlatNode> content_;  // before the transform
};

}  // namespace parlance::parse

#endif  // PARLANCE_SRC_PARSE_FLAT_CONTENT_H_
