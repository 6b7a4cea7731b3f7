#ifndef PARLANCE_SRC_FORMAT_LOAD_FAMILY_H_
#define PARLANCE_SRC_FORMAT_LOAD_FAMILY_H_

// Reads the members of a format file other than its response template.
// docs/reference/format-files.md describes them for authors.
//
//   load_file_head   name, aliases, models, sources, date, detect
//   load_description the template (load.h)
//   load_parlance    parlance.*: refers to the fields of the template
//
// Errors have JSON pointers into the file; json::place_error() adds the span.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/description.h"
#include "format/file_value.h"
#include "parlance/error.h"
#include "parlance/json.h"

namespace parlance::format {

// Reads the members of the file except "response_template" and "parlance".
std::optional<Error> load_file_head(const json::Value& file, FormatImpl& out);

// Whether an object has a key that format files have and templates have not,
// and no "fields".
bool is_file_without_template(const json::Value& value);

// Reads "parlance".
// REQUIRES: out.description is loaded from the file's template.
std::optional<Error> load_parlance(const json::Value& file, FormatImpl& out);

// Reads "parlance.write" (load_write.cc).
Writing load_writing(const FileValue& value, const FormatImpl& format);

// The fields by their names.
class FieldNames {
 public:
  // `description`, and the names of its fields, must outlive this.
  explicit FieldNames(const Description& description);

  // The field called `name`; an error at `at` that lists the fields if there is
  // none.
  std::optional<FieldId> find(std::string_view name, const FileValue& at) const;

 private:
  std::vector<std::string_view> names_;
  std::map<std::string_view, FieldId> ids_;
};

// Reads a list of detect rules.
std::vector<DetectRule> load_detect_rules(const FileValue& value);

// Reads "parlance.variants".
std::vector<Variant> load_variants(const FileValue& value);

// The file of the variant called `name` (as written, or any alias): the file
// with the variant's merge patch, its name, aliases and models, and without
// "parlance.variants".  Nothing if the file has no such variant.
// REQUIRES: `variants` are the variants of `file`.
std::optional<json::Value> variant_file(const json::Value& file,
                                        const std::vector<Variant>& variants,
                                        std::string_view name);

}  // namespace parlance::format

#endif  // PARLANCE_SRC_FORMAT_LOAD_FAMILY_H_
