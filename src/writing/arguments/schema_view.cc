// The types and the strings of a conjunction, the names of members, and the
// schema of a value.

#include "arguments/schema_view.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "arguments/markup.h"
#include "json/located.h"
#include "schema/close.h"
#include "schema/validate.h"
#include "schema_solver/node_checks.h"

namespace parlance::arguments {
namespace {

using automata::LanguageId;
using automata::Languages;
using schema::Node;
using schema::NodeId;
using schema_solver::Literal;

// Whether a schema contains a reference, or an anchor that a reference may
// name.
bool refers(const json::Value& schema) {
  std::vector<const json::Value*> left = {&schema};
  while (!left.empty()) {
    const json::Value& value = *left.back();
    left.pop_back();
    for (const json::Value& item : value.items()) left.push_back(&item);
    for (const json::Member& member : value.members()) {
      if (member.key.starts_with('$') && member.key != "$schema" &&
          member.key != "$comment" && member.key != "$defs") {
        return true;
      }
      left.push_back(&member.value);
    }
  }
  return false;
}

std::string_view type_name(std::uint8_t bit) {
  switch (bit) {
    case schema::kNull:
      return "null";
    case schema::kBoolean:
      return "boolean";
    case schema::kNumber:
      return "number";
    case schema::kString:
      return "string";
    case schema::kArray:
      return "array";
    default:
      return "object";
  }
}

JsonSchemaOptions solver_options() {
  JsonSchemaOptions out;
  // One more than objects() and arrays() accept, so that these see when the
  // solver has left some out.
  out.limits.alternatives = kMaxAlternatives + 1;
  out.spelling = JsonSpelling::kRaw;
  return out;
}

// A JSON Pointer as the fragment of a URL (RFC 6901, section 6).
std::string fragment(std::string_view pointer) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out = "#";
  for (const char c : pointer) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
        (c >= '0' && c <= '9') ||
        std::string_view("/~$-_.").find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else {
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

}  // namespace

Result<std::shared_ptr<const ArgumentDocument>> ArgumentDocument::load(
    const json::Value& schema, const Limits& limits) {
  schema::LoadOptions options;
  options.limits = limits;
  Result<schema::Document> document = schema::load(schema, options);
  if (!document) return std::move(document).error();
  schema::close(*document, /*names_declare=*/true);
  schema_solver::ItemChoices choices(*document);
  return std::shared_ptr<const ArgumentDocument>(
      new ArgumentDocument{std::move(*document), std::move(choices)});
}

ArgumentSchema::ArgumentSchema(const ArgumentDocument& loaded,
                               const json::Value& source,
                               TextLanguages& languages)
    : document_(loaded.document),
      source_(source),
      languages_(languages),
      solver_options_(solver_options()),
      solver_(document_, loaded.choices, solver_options_, &languages_) {
  schema_solver::note_negated(document_, loaded.choices, solver_.notes());
  negation_notes_ = solver_.notes().take();
}

Error ArgumentSchema::too_many(std::string path) {
  return Error{ErrorCode::kTooLarge,
               "A value has more alternatives than arguments written as "
               "elements can have (256).",
               std::move(path)};
}

// Recursive over what applies in place: the loader refuses cycles of these, and
// chains of more than Limits::json_depth.
std::uint8_t ArgumentSchema::types_of(NodeId id) {
  const auto known = types_.find(id);
  if (known != types_.end()) return known->second;
  const Node& node = document_.node(id);
  std::uint8_t out = node.types;
  const auto any = [&](const std::vector<NodeId>& nodes) {
    std::uint8_t all = 0;
    for (NodeId branch : nodes) all |= types_of(branch);
    return all;
  };
  if (node.scalars) {
    std::uint8_t listed = any(node.enum_nodes);
    for (const json::Value& scalar : *node.scalars) {
      listed |= schema::type_bit(scalar);
    }
    out &= listed;
  }
  if (node.has_any_of) out &= any(node.any_of);
  // Which alternatives exclude each other is not asked: a superset.
  if (node.has_one_of) out &= any(node.one_of);
  for (NodeId part : node.all_of) out &= types_of(part);
  if (node.ref != schema::kNoNode) out &= types_of(node.ref);
  // A value that satisfies `if` satisfies `then` as well; of any other value
  // only `else` is known.
  if (node.if_node != schema::kNoNode) {
    const auto branch = [&](NodeId part) {
      return part == schema::kNoNode ? std::uint8_t{schema::kAllTypes}
                                     : types_of(part);
    };
    out &= (types_of(node.if_node) & branch(node.then_node)) |
           branch(node.else_node);
  }
  if (node.not_node != schema::kNoNode) {
    out &= static_cast<std::uint8_t>(~whole_types(node.not_node));
  }
  types_[id] = out;
  return out;
}

// A subset of the types of which every value is valid.
std::uint8_t ArgumentSchema::whole_types(NodeId id) const {
  const Node& node = document_.node(id);
  if (node.scalars || node.has_any_of || node.has_one_of ||
      !node.all_of.empty() || node.not_node != schema::kNoNode ||
      node.if_node != schema::kNoNode || node.ref != schema::kNoNode) {
    return 0;
  }
  std::uint8_t out = node.types;
  const auto drop = [&](bool ruled, schema::TypeBits type) {
    if (ruled) out &= static_cast<std::uint8_t>(~type);
  };
  drop(node.integer_only || node.number_rules, schema::kNumber);
  drop(node.string_rules != nullptr, schema::kString);
  drop(node.array_rules != nullptr, schema::kArray);
  drop(node.object_rules != nullptr, schema::kObject);
  return out;
}

std::uint8_t ArgumentSchema::types_of_literal(Literal literal) {
  return literal.negated()
             ? schema::kAllTypes &
                   static_cast<std::uint8_t>(~whole_types(literal.node()))
             : types_of(literal.node());
}

std::uint8_t ArgumentSchema::types(const Conjunction& all) {
  std::uint8_t out = schema::kAllTypes;
  for (const Literal literal : all) out &= types_of_literal(literal);
  return out;
}

bool ArgumentSchema::unconstrained(const Conjunction& all) const {
  return std::all_of(all.begin(), all.end(), [&](Literal literal) {
    return !literal.negated() &&
           document_.node(literal.node()).accepts_everything();
  });
}

schema_solver::Constants ArgumentSchema::constants(
    const Conjunction& all, schema_solver::JsonType type) {
  using schema_solver::SchemaSolver;
  schema_solver::Constants out = 0;
  for (const schema_solver::DisjunctId disjunct :
       solver_.disjuncts(solver_.conjunction(all), type)) {
    out |= SchemaSolver::constants(disjunct);
  }
  add_notes(solver_.notes().take());
  return out;
}

bool ArgumentSchema::allows_null(const Conjunction& all) {
  return constants(all, schema_solver::JsonType::kNull) != 0;
}

std::vector<bool> ArgumentSchema::booleans(const Conjunction& all) {
  const auto found = constants(all, schema_solver::JsonType::kBoolean);
  std::vector<bool> out;
  if ((found & schema_solver::kTrueValue) != 0) out.push_back(true);
  if ((found & schema_solver::kFalseValue) != 0) out.push_back(false);
  return out;
}

bool ArgumentSchema::accepts(LanguageId language, std::string_view text) {
  automata::StateId state = languages_.start(language);
  for (const char c : text) {
    if (state == automata::kDeadState) return false;
    state = languages_.step(state, static_cast<std::uint8_t>(c));
  }
  return state != automata::kDeadState && languages_.accepting(state);
}

Result<LanguageId> ArgumentSchema::strings(const Conjunction& all) {
  note_formats(all);
  const LanguageId language = solver_.string_language(all).under;
  add_notes(solver_.notes().take());
  if (solver_.pattern_error()) return *solver_.pattern_error();
  return language;
}

// The nodes that hold with the positive literals, each once: definitions that
// refer to one another have many ways to a node.
std::vector<NodeId> ArgumentSchema::conjuncts(const Conjunction& all) const {
  std::vector<NodeId> out;
  std::unordered_set<NodeId> seen;
  const auto add = [&](NodeId id) {
    if (id != schema::kNoNode && seen.insert(id).second) out.push_back(id);
  };
  for (const Literal literal : all) {
    if (!literal.negated()) add(literal.node());
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Node& node = document_.node(out[i]);
    add(node.ref);
    for (const NodeId part : node.all_of) add(part);
  }
  return out;
}

// The first enum that has to hold lists every string that is possible.
// `language`, the strings of the whole conjunction, says which of them the
// other rules allow.
std::optional<std::vector<std::string>> ArgumentSchema::listed_strings(
    const Conjunction& all, LanguageId language) {
  for (const NodeId id : conjuncts(all)) {
    const Node& node = document_.node(id);
    if (node.scalars) {
      std::vector<std::string> out;
      for (const json::Value& scalar : *node.scalars) {
        if (scalar.is_string() && accepts(language, scalar.as_string())) {
          out.emplace_back(scalar.as_string());
        }
      }
      return out;
    }
  }
  return std::nullopt;
}

// Only where nothing else is said of strings: then the lengths are all there is
// to check.
std::optional<Lengths> ArgumentSchema::lengths(const Conjunction& all) const {
  Lengths out;
  bool limited = false;
  if (std::ranges::any_of(all, &Literal::negated)) return std::nullopt;
  for (const NodeId id : conjuncts(all)) {
    const Node& node = document_.node(id);
    const schema::StringRules& rules = node.strings();
    if (node.scalars || node.has_any_of || node.has_one_of ||
        node.not_node != schema::kNoNode || node.if_node != schema::kNoNode ||
        rules.pattern != schema::kNoPattern ||
        rules.format != schema::kNoPattern) {
      return std::nullopt;
    }
    limited = limited || rules.min_length || rules.max_length;
    out.min = std::max(out.min, rules.min_length.value_or(0));
    out.max = std::min(out.max, rules.max_length.value_or(out.max));
  }
  if (!limited) return std::nullopt;
  return out;
}

LanguageId ArgumentSchema::names_of(const ArgumentObject::Extra& extra) {
  return languages_.all_of(
      {languages_.not_containing(extra.names, extra.excludes),
       languages_.complement(languages_.literals(extra.declared))});
}

bool ArgumentSchema::remove_names(ArgumentObject& constraints,
                                  const structural_tag::ElementLayout& layout,
                                  const std::vector<std::string>& texts) {
  if (texts.empty()) return true;
  const auto holds = [&](const std::string& name) {
    const std::string written = written_name(layout, name);
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string& text) {
                         return written.find(text) != std::string::npos;
                       });
  };
  for (const ArgumentObject::Member& one : constraints.members) {
    if (one.required && holds(one.name)) return false;
  }
  std::erase_if(constraints.members, [&](const ArgumentObject::Member& one) {
    return holds(one.name);
  });
  for (ArgumentObject::Extra& one : constraints.extras) {
    // Undeclared names are written as they are (UndeclaredNames::writable).
    one.excludes.insert(one.excludes.end(), texts.begin(), texts.end());
  }
  return true;
}

namespace {

std::string_view id_key(schema::Draft draft) {
  return draft == schema::Draft::k4 ? "id" : "$id";
}

// All of the parts.  `refers`: one of them is a reference, which may have no
// siblings in old drafts.
json::Value all_of(json::Array parts, bool refers) {
  if (parts.empty()) return json::Object{};
  if (parts.size() == 1 && !refers) return std::move(parts[0]);
  return json::Object{{"allOf", std::move(parts)}};
}

}  // namespace

// The base of references to the source, which schema_of() embeds.  An id that
// is empty but for "#" names no base.
std::string ArgumentSchema::base_uri() const {
  const json::Value* const id = source_.find(id_key(document_.draft));
  std::string base(id == nullptr ? "" : id->as_string());
  while (base.ends_with('#')) base.pop_back();
  return base.empty() ? "parlance:arguments" : base;
}

// Each literal becomes the schema that its node was loaded from, negated or
// not, and the types become "type".  A schema that contains a reference, or an
// anchor, means something only where it stands: then the whole source is
// embedded, under its base, and the part is a reference into it.
json::Value ArgumentSchema::schema_of(const Conjunction& all,
                                      std::uint8_t wanted, bool integers) {
  json::Array parts;
  bool wraps = false;
  const std::string base = base_uri();
  for (const Literal literal : all) {
    const NodeId id = literal.node();
    const Node& node = document_.node(id);
    const bool negative = literal.negated();
    if (node.accepts_everything() && !negative) continue;
    json::Value part;
    if (node.literal) {
      part = json::Object{{"enum", json::Array{*node.source}}};
    } else if (!refers(*node.source)) {
      part = *node.source;
    } else {
      wraps = true;
      part = json::Object{{"$ref", base + fragment(document_.pointer(id))}};
    }
    if (negative) part = json::Object{{"not", std::move(part)}};
    parts.push_back(std::move(part));
  }
  integers = integers && (types(all) & wanted & schema::kNumber) != 0;
  if (integers || (types(all) & ~wanted) != 0) {
    json::Array names;
    for (std::uint8_t bit = 1; bit <= schema::kObject; bit <<= 1) {
      if ((wanted & bit) == 0) continue;
      names.emplace_back(integers && bit == schema::kNumber ? "integer"
                                                            : type_name(bit));
    }
    parts.push_back(json::Object{{"type", std::move(names)}});
  }
  json::Value out = all_of(std::move(parts), wraps);
  const json::Value* dialect = source_.find("$schema");
  if (dialect != nullptr && out.is_object()) {
    out.mutable_members().set("$schema", *dialect);
  }
  if (wraps) embed_source(out, base);
  return out;
}

// Adds the source, under `base`, to a schema that refers to it.
void ArgumentSchema::embed_source(json::Value& out,
                                  const std::string& base) const {
  json::Value root = source_;
  const std::string_view key = id_key(document_.draft);
  root.mutable_members().set(std::string(key), base);
  const bool modern = document_.draft >= schema::Draft::k2019;
  out.mutable_members().set(modern ? "$defs" : "definitions",
                            json::Object{{"arguments", std::move(root)}});
}

}  // namespace parlance::arguments
