#ifndef PARLANCE_SRC_SCHEMA_RESOURCES_H_
#define PARLANCE_SRC_SCHEMA_RESOURCES_H_

// Resolving references: schema resources, their URIs and anchors.
//
// A schema resource is a schema with a URI of its own: the root, a document
// that a reference led to, or a subschema with `$id`.  Most schemas are one
// resource whose references are "#" or "#/pointer"; these references are
// followed without an index.  The first reference that needs an index causes
// one scan of every document for identifiers.  The scan enters subschemas only,
// because an `$id` inside an `enum`, for example, is data.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/id.h"
#include "parlance/error.h"
#include "parlance/json.h"
#include "schema/document.h"
#include "schema/keywords.h"

namespace parlance::schema {

using ResourceId = base::Id<struct ResourceTag>;

// Whether `draft` defines this keyword.
inline bool in_draft(Keyword keyword, Draft draft) {
  const KeywordInfo& row = info(keyword);
  return row.since <= draft && draft <= row.until;
}

// Whether `url`, as in $schema, identifies the meta-schema of a draft.
bool names_known_draft(std::string_view url);

class Resources {
 public:
  // start() adds the root to `document`.  Both arguments must outlive this.
  Resources(Document& document, const LoadOptions& options);
  // Registers `schema` as the root.  Returns the error of its $schema, if any.
  std::optional<Error> start(const json::Value& schema);

  static constexpr ResourceId kRoot{0};
  Draft draft(ResourceId id) const { return resources_[id].draft; }

  // The resource of `schema`, whose enclosing resource is `parent`: a resource
  // of its own if the schema has an identifier, and otherwise `parent`.
  ResourceId enter(const json::Value& schema, ResourceId parent);

  struct Target {
    const json::Value* value = nullptr;
    ResourceId resource = kRoot;
    // The anchor's name, if the reference resolved to a $dynamicAnchor.
    std::string_view dynamic_name = {};
  };

  // Resolves the reference at `where`, a string in the resource `from`.
  Result<Target> resolve(ResourceId from, const json::Value& where);
  Target root_of(ResourceId id) const { return {resources_[id].root, id, {}}; }

  // The dynamic anchors of a resource.  2019-09's $recursiveAnchor has the
  // empty name.
  struct Anchor {
    std::string_view name;
    const json::Value* value = nullptr;
  };
  const std::vector<Anchor>& dynamic_anchors(ResourceId id);

 private:
  struct Resource {
    std::string base;
    const json::Value* root = nullptr;
    Draft draft = Draft::k2020;
    ResourceId document = kRoot;  // the document's root resource
    std::vector<Anchor> dynamic_anchors = {};
  };
  // A value of a source, and the innermost resource that contains it.
  struct Location {
    const json::Value* value;
    ResourceId resource;
  };

  ResourceId add(std::string base, const json::Value* root, Draft draft,
                 std::optional<ResourceId> document = std::nullopt);
  const json::Value* add_source(std::string url, const json::Value& value);
  Result<Draft> draft_of(const json::Value& schema, Draft otherwise) const;
  const json::Value* find_document(std::string_view url) const;
  void scan();
  void scan(Location root);
  void register_anchors(const json::Value& schema, ResourceId resource);
  Result<ResourceId> find_resource(const std::string& url,
                                   const json::Value& where);
  struct Step {
    Target target;
    // On failure, the token that was not found and the value without it.
    std::string missing = {};
    const json::Value* at = nullptr;  // null: success
  };
  Step follow_pointer(ResourceId from, std::string_view pointer);
  Error bad_reference(const json::Value& where, std::string why) const;

  Document& document_;
  const LoadOptions& options_;
  std::vector<Resource> resources_;
  std::unordered_map<const json::Value*, ResourceId> by_root_;
  // Once scanned: URL to resource, and "URL#name" to target.
  std::unordered_map<std::string, ResourceId> by_url_;
  std::unordered_map<std::string, Target> by_anchor_;
  std::vector<Location> to_scan_;
};

}  // namespace parlance::schema

#endif  // PARLANCE_SRC_SCHEMA_RESOURCES_H_
