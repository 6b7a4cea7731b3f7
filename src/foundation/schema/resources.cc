// Resources, identifiers, anchors and pointers: see resources.h.
//
// by_root_ has every resource that is known.  by_url_ and by_anchor_ have the
// resources and anchors of all documents outside of to_scan_; scan() empties
// to_scan_ before they are used.

#include "schema/resources.h"

#include <charconv>

#include "json/located.h"
#include "schema/meta_schemas.h"
#include "schema/uri.h"

namespace parlance::schema {
namespace {

using json::Value;

// A draft by the URL of its meta-schema.
struct KnownDraft {
  std::string_view url;  // without scheme and '#'
  std::optional<Draft> draft;
};
constexpr KnownDraft kDrafts[] = {
    {"json-schema.org/draft-04/schema", Draft::k4},
    {"json-schema.org/draft-06/schema", Draft::k6},
    {"json-schema.org/draft-07/schema", Draft::k7},
    {"json-schema.org/draft/2019-09/schema", Draft::k2019},
    {"json-schema.org/draft/2020-12/schema", Draft::k2020},
    {"json-schema.org/schema", Draft::k2020},
    {"json-schema.org/draft-03/schema", std::nullopt},
    {"json-schema.org/draft-02/schema", std::nullopt},
    {"json-schema.org/draft-01/schema", std::nullopt},
    {"json-schema.org/draft-00/schema", std::nullopt},
};

const KnownDraft* known_draft(std::string_view url) {
  url = split_fragment(url).first;
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (url.substr(0, scheme.size()) != scheme) continue;
    for (const KnownDraft& row : kDrafts) {
      if (url.substr(scheme.size()) == row.url) return &row;
    }
  }
  return nullptr;
}

// The role of a value inside a schema: a schema, an array or an object of
// schemas, or data.
enum class Role : unsigned char { kSchema, kSchemaList, kSchemaMap, kData };

// The role of `child`, the member or item `token` of a value with role `role`.
Role role_inside(Role role, std::string_view token, const Value& child) {
  switch (role) {
    case Role::kSchemaList:
    case Role::kSchemaMap:
      return Role::kSchema;
    case Role::kData:
      return Role::kData;
    case Role::kSchema:
      break;
  }
  const Keyword keyword = find_keyword(token);
  if (keyword >= Keyword::kAnnotation) return Role::kData;
  switch (info(keyword).subschemas) {
    case Subschemas::kNone:
      return Role::kData;
    case Subschemas::kValue:
      return Role::kSchema;
    case Subschemas::kItems:
      return Role::kSchemaList;
    case Subschemas::kMembers:
      return Role::kSchemaMap;
    case Subschemas::kValueOrItems:
      return child.is_array() ? Role::kSchemaList : Role::kSchema;
  }
  return Role::kData;
}

// The member or item that one token of a pointer names.
const Value* step(const Value& value, std::string_view token) {
  if (value.is_object()) return value.find(token);
  std::size_t index = 0;
  const char* const end = token.data() + token.size();
  const auto [stop, problem] = std::from_chars(token.data(), end, index);
  if (!value.is_array() || problem != std::errc() || stop != end ||
      index >= value.size()) {
    return nullptr;
  }
  return &value.items()[index];
}

// The identifier of a schema without its fragment; "" if that is empty, or if
// the schema has none.
std::string_view identifier(const Value& schema, Draft draft) {
  const Value* id = schema.find(draft == Draft::k4 ? "id" : "$id");
  if (id == nullptr || !id->is_string()) return {};
  // Drafts before 2019-09 ignore all other keywords beside $ref.
  if (draft <= Draft::k7 && schema.find("$ref") != nullptr) return {};
  return split_fragment(id->as_string()).first;
}

}  // namespace

bool names_known_draft(std::string_view url) {
  return known_draft(url) != nullptr;
}

Resources::Resources(Document& document, const LoadOptions& options)
    : document_(document), options_(options) {}

std::optional<Error> Resources::start(const Value& schema) {
  const Value* root = add_source("", schema);
  Result<Draft> draft = draft_of(*root, options_.default_draft);
  if (!draft) return std::move(draft).error();
  document_.draft = *draft;
  document_.integer_may_have_zero_fraction = *draft != Draft::k4;
  const ResourceId id =
      add(resolve_uri("", identifier(*root, *draft)), root, *draft);
  to_scan_.push_back({root, id});
  return std::nullopt;
}

ResourceId Resources::add(std::string base, const Value* root, Draft draft,
                          std::optional<ResourceId> document) {
  const auto id = ResourceId(resources_.size());
  resources_.push_back({.base = std::move(base),
                        .root = root,
                        .draft = draft,
                        .document = document.value_or(id)});
  by_root_.emplace(root, id);
  return id;
}

const Value* Resources::add_source(std::string url, const Value& value) {
  document_.sources.push_back(std::make_unique<const Document::Source>(
      Document::Source{std::move(url), value}));
  return &document_.sources.back()->value;
}

Result<Draft> Resources::draft_of(const Value& schema, Draft otherwise) const {
  if (options_.draft) return *options_.draft;
  const Value* url = schema.find("$schema");
  // Follows the chain of custom meta-schemas to a known draft.  The number of
  // hops is bounded, because a chain can be a cycle.
  for (int hops = 0; url != nullptr && url->is_string() && hops < 8; ++hops) {
    if (const KnownDraft* row = known_draft(url->as_string())) {
      if (row->draft) return *row->draft;
      return Error{.code = ErrorCode::kUnsupportedVersion,
                   .message =
                       "Drafts of JSON Schema before draft 4 are not "
                       "read; found " +
                       std::string(url->as_string()) + ".",
                   .path = document_.pointer(schema.find("$schema"))};
    }
    const Value* meta = find_document(split_fragment(url->as_string()).first);
    if (meta == nullptr) break;
    const Value* vocabulary = meta->find("$vocabulary");
    if (vocabulary != nullptr) {
      bool validates = false;
      for (const json::Member& member : vocabulary->members()) {
        validates |= member.key.ends_with("/vocab/validation");
      }
      if (!validates) {
        return Error{.code = ErrorCode::kUnsupported,
                     .message = "The meta-schema " +
                                std::string(url->as_string()) +
                                " leaves out the validation vocabulary; only "
                                "whole drafts are read.",
                     .path = document_.pointer(schema.find("$schema"))};
      }
    }
    url = meta->find("$schema");
  }
  return otherwise;
}

const Value* Resources::find_document(std::string_view url) const {
  for (const auto& [name, value] : options_.documents) {
    if (split_fragment(name).first == url) return &value;
  }
  return nullptr;
}

ResourceId Resources::enter(const Value& schema, ResourceId parent) {
  Draft draft = resources_[parent].draft;
  const std::string_view id = identifier(schema, draft);
  if (id.empty()) {
    // An embedded schema of another draft spells its identifier differently.
    if (options_.draft || schema.find("$schema") == nullptr) return parent;
    if (schema.find("id") == nullptr && schema.find("$id") == nullptr) {
      return parent;
    }
  }
  const auto known = by_root_.find(&schema);
  if (known != by_root_.end()) return known->second;
  if (Result<Draft> own = draft_of(schema, draft)) draft = *own;
  const std::string_view own_id = identifier(schema, draft);
  if (own_id.empty()) return parent;
  return add(resolve_uri(resources_[parent].base, own_id), &schema, draft,
             resources_[parent].document);
}

void Resources::scan() {
  while (!to_scan_.empty()) {
    const Location location = to_scan_.back();
    to_scan_.pop_back();
    scan(location);
  }
}

void Resources::scan(Location root) {
  std::vector<Location> pending = {root};
  while (!pending.empty()) {
    auto [value, resource] = pending.back();
    pending.pop_back();
    if (!value->is_object()) continue;
    resource = enter(*value, resource);
    register_anchors(*value, resource);
    for (const json::Member& member : value->members()) {
      const Role role = role_inside(Role::kSchema, member.key, member.value);
      if (role == Role::kSchema) {
        pending.push_back({&member.value, resource});
      } else if (role == Role::kSchemaList) {
        for (const Value& item : member.value.items()) {
          pending.push_back({&item, resource});
        }
      } else if (role == Role::kSchemaMap) {
        for (const json::Member& inner : member.value.members()) {
          pending.push_back({&inner.value, resource});
        }
      }
    }
  }
}

void Resources::register_anchors(const Value& schema, ResourceId id) {
  Resource& resource = resources_[id];
  const Draft draft = resource.draft;
  if (resource.root == &schema) by_url_.emplace(resource.base, id);
  const auto name = [&](std::string_view key) -> std::string_view {
    const Value* value = schema.find(key);
    return value == nullptr ? std::string_view() : value->as_string();
  };
  const auto store = [&](std::string_view anchor, bool dynamic) {
    if (anchor.empty()) return;
    std::string key = resource.base + "#" + std::string(anchor);
    by_anchor_.emplace(
        std::move(key),
        Target{&schema, id, dynamic ? anchor : std::string_view()});
    if (dynamic) resource.dynamic_anchors.push_back({anchor, &schema});
  };
  if (draft <= Draft::k7) {
    // An identifier that is only a fragment is an anchor.
    const auto key = draft == Draft::k4 ? "id" : "$id";
    store(split_fragment(name(key)).second, false);
    return;
  }
  if (draft == Draft::k2020) store(name("$dynamicAnchor"), true);
  store(name("$anchor"), false);
  if (draft == Draft::k2019 && resource.root == &schema) {
    const Value* recursive = schema.find("$recursiveAnchor");
    if (recursive != nullptr && recursive->as_bool()) {
      resource.dynamic_anchors.push_back({{}, &schema});
    }
  }
}

const std::vector<Resources::Anchor>& Resources::dynamic_anchors(
    ResourceId id) {
  scan();
  return resources_[id].dynamic_anchors;
}

Error Resources::bad_reference(const Value& where, std::string why) const {
  return Error{.code = ErrorCode::kBadReference,
               .message = "The reference \"" + std::string(where.as_string()) +
                          "\" leads nowhere: " + std::move(why),
               .path = document_.pointer(&where)};
}

Result<ResourceId> Resources::find_resource(const std::string& url,
                                            const Value& where) {
  scan();
  const auto known = by_url_.find(url);
  if (known != by_url_.end()) return known->second;
  const Value* found = find_document(url);
  std::optional<Value> meta;
  if (found == nullptr) meta = meta_schema(url);
  if (found == nullptr && !meta) {
    return bad_reference(where, "no document for " + url +
                                    " was given, and no schema here has it as "
                                    "its identifier.");
  }
  const Value* root = add_source(url, meta ? *meta : *found);
  // A meta-schema that is built in is of its own draft, whatever was asked for.
  Result<Draft> draft =
      meta ? *known_draft(root->find("$schema")->as_string())->draft
           : draft_of(*root, document_.draft);
  if (!draft) return std::move(draft).error();
  const ResourceId id =
      add(resolve_uri(url, identifier(*root, *draft)), root, *draft);
  to_scan_.push_back({root, id});
  scan();
  by_url_.emplace(url, id);
  return id;
}

// Step 1 finds the resource that the part before '#' names; if this part is
// empty or the resource's own URL, it is `from`.  Step 2 finds the target of
// the fragment in that resource: its root, the target of a JSON pointer, or an
// anchor.
Result<Resources::Target> Resources::resolve(ResourceId from,
                                             const Value& where) {
  const auto [url, fragment] = split_fragment(where.as_string());
  ResourceId resource = from;
  if (!url.empty()) {
    std::string target = resolve_uri(resources_[from].base, url);
    if (target != resources_[from].base) {
      Result<ResourceId> found = find_resource(target, where);
      if (!found) return std::move(found).error();
      resource = *found;
    }
  }
  if (fragment.empty()) return root_of(resource);
  std::optional<std::string> decoded;
  if (fragment.find('%') != std::string_view::npos) {
    decoded = percent_decode(fragment);
    if (!decoded) {
      return bad_reference(where,
                           "after '%' two hexadecimal digits must follow.");
    }
  }
  const std::string_view name = decoded ? *decoded : fragment;
  if (name[0] == '/') {
    const Step found = follow_pointer(resource, name);
    if (found.at == nullptr) return found.target;
    // Differs from the standard: if a pointer has no target in an embedded
    // resource, it is tried from the root of the document.  Many authors who
    // give identifiers to subschemas write their pointers from the root.
    const ResourceId document = resources_[resource].document;
    if (url.empty() && document != resource) {
      const Step outer = follow_pointer(document, name);
      if (outer.at == nullptr) return outer.target;
    }
    return bad_reference(where, "there is no \"" + found.missing + "\" at \"" +
                                    document_.pointer(found.at) + "\".");
  }
  scan();
  const auto anchor =
      by_anchor_.find(resources_[resource].base + "#" + std::string(name));
  if (anchor != by_anchor_.end()) return anchor->second;
  return bad_reference(
      where, "no schema has the anchor \"" + std::string(name) + "\".");
}

// Invariant of the loop: target.value is the value at the tokens so far, `role`
// its role, and target.resource the resource that contains it.
Resources::Step Resources::follow_pointer(ResourceId from,
                                          std::string_view pointer) {
  Target target = root_of(from);
  Role role = Role::kSchema;
  while (!pointer.empty()) {
    if (role == Role::kSchema) {
      target.resource = enter(*target.value, target.resource);
    }
    const std::string token = json::take_token(pointer);
    const Value* next = step(*target.value, token);
    if (next == nullptr) {
      return {.target = {}, .missing = token, .at = target.value};
    }
    role = role_inside(role, token, *next);
    target.value = next;
  }
  // If the target itself begins an embedded resource, that resource is entered.
  if (role == Role::kSchema) {
    target.resource = enter(*target.value, target.resource);
  }
  return {.target = target};
}

}  // namespace parlance::schema
