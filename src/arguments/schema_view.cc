// The strings and types of a conjunction, and the expansion of conjunctions to
// alternatives.  alternatives.cc turns an alternative into members or items.

#include "arguments/schema_view.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "json/located.h"
#include "schema/close.h"
#include "schema/validate.h"

namespace parlance::arguments {
namespace {

using automata::LanguageId;
using automata::Languages;
using schema::Node;
using schema::NodeId;
using schema_solver::Literal;

constexpr bool is_negative(Literal literal) { return (literal & 1) != 0; }

std::uint8_t type_of(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::kNull:
      return schema::kNull;
    case json::Kind::kBool:
      return schema::kBoolean;
    case json::Kind::kString:
      return schema::kString;
    case json::Kind::kArray:
      return schema::kArray;
    case json::Kind::kObject:
      return schema::kObject;
    default:
      return schema::kNumber;
  }
}

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

// A JSON Pointer as the fragment of a URL.
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
  schema::close(*document, /*empty_lists=*/true);
  schema_solver::ItemChoices choices(*document);
  return std::shared_ptr<const ArgumentDocument>(
      new ArgumentDocument{std::move(*document), std::move(choices)});
}

ArgumentSchema::ArgumentSchema(const ArgumentDocument& loaded,
                               const json::Value& source,
                               TextLanguages& languages)
    : document_(loaded.document),
      choices_(loaded.choices),
      source_(source),
      languages_(languages) {
  solver_options_.limits.alternatives = kMaxAlternatives;
}

Error ArgumentSchema::too_many(std::string path) {
  return Error{ErrorCode::kTooLarge,
               "A value has more alternatives than arguments written as "
               "elements can have (256).",
               std::move(path)};
}

Error ArgumentSchema::unsupported(NodeId id, std::string_view keyword,
                                  std::string_view what) const {
  return Error{ErrorCode::kUnsupported,
               "'" + std::string(keyword) + "' " + std::string(what),
               json::append_pointer(document_.pointer(id), keyword)};
}

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
    for (const json::Value& scalar : *node.scalars) listed |= type_of(scalar);
    out &= listed;
  }
  if (node.has_any_of) out &= any(node.any_of);
  if (node.has_one_of) out &= any(node.one_of);
  for (NodeId part : node.all_of) out &= types_of(part);
  if (node.ref != schema::kNoNode) out &= types_of(node.ref);
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
  return is_negative(literal)
             ? schema::kAllTypes &
                   static_cast<std::uint8_t>(~whole_types(literal >> 1))
             : types_of(literal >> 1);
}

std::uint8_t ArgumentSchema::types(const Conjunction& all) {
  std::uint8_t out = schema::kAllTypes;
  for (const Literal literal : all) out &= types_of_literal(literal);
  return out;
}

bool ArgumentSchema::unconstrained(const Conjunction& all) const {
  return std::all_of(all.begin(), all.end(), [&](Literal literal) {
    return !is_negative(literal) &&
           document_.node(literal >> 1).accepts_everything();
  });
}

bool ArgumentSchema::accepts(LanguageId language, std::string_view text) {
  automata::StateId state = languages_.start(language);
  for (const char c : text) {
    if (state == automata::kDeadState) return false;
    state = languages_.step(state, static_cast<std::uint8_t>(c));
  }
  return state != automata::kDeadState && languages_.accepting(state);
}

Result<LanguageId> ArgumentSchema::pattern(schema::PatternId id) {
  const auto known = patterns_.find(id);
  if (known != patterns_.end()) return known->second;
  Result<LanguageId> made = languages_.from_hir(document_.patterns[id].hir(),
                                                Languages::Mode::kSearch);
  if (made) patterns_[id] = *made;
  return made;
}

// The strings that the node itself allows, applicators disregarded.
Result<LanguageId> ArgumentSchema::strings_here(const Node& node) {
  if ((node.types & schema::kString) == 0) return languages_.nothing();
  std::vector<LanguageId> all;
  if (node.scalars) {
    std::vector<std::string> words;
    for (const json::Value& scalar : *node.scalars) {
      if (scalar.is_string()) words.emplace_back(scalar.as_string());
    }
    all.push_back(languages_.literals(words));
  }
  const schema::StringRules& rules = node.strings();
  if (rules.min_length || rules.max_length) {
    all.push_back(languages_.length_between(
        rules.min_length.value_or(0),
        rules.max_length.value_or(ArgumentObject::kUnbounded)));
  }
  for (const schema::PatternId id : {rules.pattern, rules.format}) {
    if (id == schema::kNoPattern) continue;
    Result<LanguageId> matched = pattern(id);
    if (!matched) return matched;
    all.push_back(*matched);
  }
  return languages_.all_of(std::move(all));
}

// The loader bounds the depth of in-place applicators, and thus this recursion.
Result<LanguageId> ArgumentSchema::strings_of(NodeId id) {
  const auto known = strings_.find(id);
  if (known != strings_.end()) return known->second;
  const Node& node = document_.node(id);
  Result<LanguageId> here = strings_here(node);
  if (!here) {
    Error error = std::move(here).error();
    error.path = document_.pointer(id) + error.path;
    return error;
  }
  std::vector<LanguageId> all = {*here};
  std::optional<Error> error;
  const auto of = [&](NodeId part) {
    Result<LanguageId> made = strings_of(part);
    if (made) return *made;
    error = std::move(made).error();
    return languages_.nothing();
  };
  const auto each = [&](const std::vector<NodeId>& nodes) {
    std::vector<LanguageId> out;
    out.reserve(nodes.size());
    for (NodeId branch : nodes) out.push_back(of(branch));
    return out;
  };
  for (NodeId part : node.all_of) all.push_back(of(part));
  if (node.ref != schema::kNoNode) all.push_back(of(node.ref));
  if (node.has_any_of) all.push_back(languages_.any_of(each(node.any_of)));
  if (node.has_one_of) {
    const std::vector<LanguageId> branches = each(node.one_of);
    std::vector<LanguageId> exactly;
    for (std::size_t i = 0; i < branches.size(); ++i) {
      std::vector<LanguageId> others = branches;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      exactly.push_back(languages_.all_of(
          {branches[i],
           languages_.complement(languages_.any_of(std::move(others)))}));
    }
    all.push_back(languages_.any_of(std::move(exactly)));
  }
  if (node.not_node != schema::kNoNode) {
    all.push_back(languages_.complement(of(node.not_node)));
  }
  if (node.if_node != schema::kNoNode) {
    const LanguageId condition = of(node.if_node);
    const auto branch = [&](NodeId part) {
      return part == schema::kNoNode ? languages_.everything() : of(part);
    };
    all.push_back(languages_.any_of(
        {languages_.all_of({condition, branch(node.then_node)}),
         languages_.all_of(
             {languages_.complement(condition), branch(node.else_node)})}));
  }
  if (error) return *std::move(error);
  const LanguageId made = languages_.all_of(std::move(all));
  strings_[id] = made;
  return made;
}

Result<LanguageId> ArgumentSchema::strings(const Conjunction& all) {
  std::vector<LanguageId> parts;
  parts.reserve(all.size());
  for (const Literal literal : all) {
    Result<LanguageId> part = strings_of(literal >> 1);
    if (!part) return part;
    parts.push_back(is_negative(literal) ? languages_.complement(*part)
                                         : *part);
  }
  return languages_.all_of(std::move(parts));
}

std::optional<std::vector<std::string>> ArgumentSchema::listed_strings(
    const Conjunction& all, LanguageId language) {
  std::vector<NodeId> left;
  for (const Literal literal : all) {
    if (!is_negative(literal)) left.push_back(literal >> 1);
  }
  while (!left.empty()) {
    const Node& node = document_.node(left.back());
    left.pop_back();
    if (node.scalars) {
      std::vector<std::string> out;
      for (const json::Value& scalar : *node.scalars) {
        if (scalar.is_string() && accepts(language, scalar.as_string())) {
          out.emplace_back(scalar.as_string());
        }
      }
      return out;
    }
    if (node.ref != schema::kNoNode) left.push_back(node.ref);
    left.insert(left.end(), node.all_of.begin(), node.all_of.end());
  }
  return std::nullopt;
}

std::optional<Lengths> ArgumentSchema::lengths(const Conjunction& all) const {
  Lengths out;
  bool limited = false;
  std::vector<NodeId> left;
  for (const Literal literal : all) {
    if (is_negative(literal)) return std::nullopt;
    left.push_back(literal >> 1);
  }
  while (!left.empty()) {
    const Node& node = document_.node(left.back());
    left.pop_back();
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
    if (node.ref != schema::kNoNode) left.push_back(node.ref);
    left.insert(left.end(), node.all_of.begin(), node.all_of.end());
  }
  if (!limited) return std::nullopt;
  return out;
}

// Whether both branches require a common member, for which they list disjoint
// values.
bool ArgumentSchema::mutually_exclusive(NodeId a, NodeId b) const {
  const auto through = [&](NodeId id) {
    while (document_.node(id).ref != schema::kNoNode) {
      id = document_.node(id).ref;
    }
    return id;
  };
  const schema::ObjectRules& first = document_.node(through(a)).objects();
  const schema::ObjectRules& second = document_.node(through(b)).objects();
  const auto listed = [&](const schema::ObjectRules& rules,
                          std::string_view name) -> const Node* {
    if (std::find(rules.required.begin(), rules.required.end(), name) ==
        rules.required.end()) {
      return nullptr;
    }
    for (const auto& [key, id] : rules.properties) {
      if (key != name) continue;
      const Node& node = document_.node(through(id));
      return node.scalars && node.enum_nodes.empty() ? &node : nullptr;
    }
    return nullptr;
  };
  for (const auto& [name, id] : first.properties) {
    const Node* left = listed(first, name);
    const Node* right = listed(second, name);
    if (left == nullptr || right == nullptr) continue;
    bool common = false;
    for (const json::Value& value : *left->scalars) {
      for (const json::Value& other : *right->scalars) {
        common = common || schema::equal_values(value, other);
      }
    }
    if (!common) return true;
  }
  return false;
}

ArgumentSchema::Nodes ArgumentSchema::able_branches(const Node& node,
                                                    schema::TypeBits type) {
  Nodes branches;
  for (const NodeId branch : node.one_of) {
    if ((types_of(branch) & type) != 0) branches.push_back(branch);
  }
  return branches;
}

template <class Use>
bool ArgumentSchema::any_in_place(const Nodes& nodes, schema::TypeBits type,
                                  Use use) {
  std::vector<NodeId> left = nodes;
  std::set<NodeId> seen(nodes.begin(), nodes.end());
  while (!left.empty()) {
    const Node& node = document_.node(left.back());
    left.pop_back();
    if (use(node)) return true;
    const auto add = [&](NodeId other) {
      if ((types_of(other) & type) != 0 && seen.insert(other).second) {
        left.push_back(other);
      }
    };
    if (node.ref != schema::kNoNode) add(node.ref);
    for (const auto* list :
         {&node.all_of, &node.any_of, &node.one_of, &node.enum_nodes}) {
      for (const NodeId other : *list) add(other);
    }
  }
  return false;
}

// What is not plain: a negation, also one that `oneOf`, `if` or a dependency
// implies, and for arrays rules on which items are evaluated.
bool ArgumentSchema::needs_solver(const Conjunction& all,
                                  schema::TypeBits type) {
  Nodes nodes;
  for (const Literal literal : all) {
    if (is_negative(literal)) return true;
    nodes.push_back(literal >> 1);
  }
  return any_in_place(nodes, type, [&](const Node& node) {
    const schema::ObjectRules& objects = node.objects();
    if (node.not_node != schema::kNoNode || node.if_node != schema::kNoNode) {
      return true;
    }
    if (type == schema::kObject && (!objects.dependent_required.empty() ||
                                    !objects.dependent_schemas.empty())) {
      return true;
    }
    if (type == schema::kArray &&
        node.arrays().unevaluated_items != schema::kNoNode) {
      return true;
    }
    if (!node.has_one_of) return false;
    const Nodes branches = able_branches(node, type);
    for (std::size_t i = 0; i < branches.size(); ++i) {
      for (std::size_t j = i + 1; j < branches.size(); ++j) {
        if (!mutually_exclusive(branches[i], branches[j])) return true;
      }
    }
    return false;
  });
}

// Whether the members or items that are declared depend on which nodes hold,
// because some node in place has an unevaluated rule, or close() gave it one.
bool ArgumentSchema::tracks_evaluated(const Nodes& all, schema::TypeBits type) {
  return any_in_place(all, type, [&](const Node& node) {
    const schema::Closing closing =
        type == schema::kObject ? node.object_closing : node.array_closing;
    return closing == schema::Closing::kUnevaluated ||
           (type == schema::kObject &&
            node.objects().unevaluated_properties != schema::kNoNode);
  });
}

// The sets of nodes of an anyOf of which one has to hold.  Each single node;
// with `tracked`, for up to kMaxSets nodes also their sets, because together
// nodes declare more than each alone.
std::vector<ArgumentSchema::Nodes> ArgumentSchema::any_sets(
    const Node& node, schema::TypeBits type, bool tracked) {
  constexpr std::size_t kMaxSets = 6;
  std::vector<NodeId> able;
  for (const NodeId branch : node.any_of) {
    if ((types_of(branch) & type) != 0) able.push_back(branch);
  }
  std::vector<Nodes> sets;
  sets.reserve(able.size());
  for (const NodeId branch : able) sets.push_back({branch});
  if (!tracked || able.size() < 2) return sets;
  if (able.size() > kMaxSets) {
    std::pair<std::string, std::string> note(
        document_.pointer(node.source) + "/anyOf",
        "of more than six alternatives that declare members together, a value "
        "satisfies one at a time");
    if (std::ranges::find(narrowed_, note) == narrowed_.end()) {
      narrowed_.push_back(std::move(note));
    }
    return sets;
  }
  for (std::uint32_t bits = 1; bits < 1U << able.size(); ++bits) {
    Nodes set;
    bool possible = true;
    for (std::size_t i = 0; i < able.size(); ++i) {
      if ((bits >> i & 1) == 0) continue;
      for (const NodeId other : set) {
        possible = possible && !mutually_exclusive(able[i], other);
      }
      insert(set, able[i]);
    }
    if (possible && std::ranges::find(sets, set) == sets.end()) {
      sets.push_back(std::move(set));
    }
  }
  return sets;
}

// Expands nodes, all of which must hold, to disjunctive normal form, as a
// tableau does: a value of the type satisfies `all` if it satisfies one of the
// results.  All references, allOf, anyOf and oneOf have been followed in the
// results.
//
// Invariant: a value satisfies `all` if it satisfies one of `out`, or both
// `left` and `done` of an open branch.
Result<std::vector<ArgumentSchema::Nodes>> ArgumentSchema::alternatives(
    const Nodes& all, schema::TypeBits type) {
  struct Branch {
    std::vector<NodeId> left;
    Nodes done;
  };
  const bool tracked = tracks_evaluated(all, type);
  std::vector<Nodes> out;
  std::vector<Branch> open = {{{all.rbegin(), all.rend()}, {}}};
  std::size_t steps = 0;
  while (!open.empty()) {
    if (++steps > 64 * kMaxAlternatives || open.size() > kMaxAlternatives) {
      return too_many(all.empty() ? "" : document_.pointer(all[0]));
    }
    Branch now = std::move(open.back());
    open.pop_back();
    bool branched = false;
    while (!now.left.empty() && !branched) {
      const NodeId id = now.left.back();
      now.left.pop_back();
      if (std::binary_search(now.done.begin(), now.done.end(), id)) continue;
      const Node& node = document_.node(id);
      insert(now.done, id);
      if ((types_of(id) & type) == 0) {
        branched = true;  // of no type that fits: no alternative
        break;
      }
      if (node.ref != schema::kNoNode) now.left.push_back(node.ref);
      now.left.insert(now.left.end(), node.all_of.rbegin(), node.all_of.rend());
      // The branch splits: one set of nodes must be chosen from each of these
      // lists.  The lists of one node multiply.
      std::vector<std::vector<Nodes>> choices;
      const auto each = [](const std::vector<NodeId>& branches) {
        std::vector<Nodes> sets;
        sets.reserve(branches.size());
        for (const NodeId branch : branches) sets.push_back({branch});
        return sets;
      };
      if (node.scalars) choices.push_back(each(node.enum_nodes));
      if (node.has_any_of) choices.push_back(any_sets(node, type, tracked));
      // The branches are mutually exclusive, so oneOf is the same as anyOf.
      if (node.has_one_of) choices.push_back(each(able_branches(node, type)));
      if (choices.empty()) continue;
      branched = true;
      std::vector<Branch> next = {std::move(now)};
      for (const std::vector<Nodes>& choice : choices) {
        std::vector<Branch> more;
        for (const Branch& prefix : next) {
          for (const Nodes& set : choice) {
            more.push_back(prefix);
            more.back().left.insert(more.back().left.end(), set.rbegin(),
                                    set.rend());
          }
        }
        next = std::move(more);
        if (next.size() > kMaxAlternatives) break;
      }
      open.insert(open.end(), next.rbegin(), next.rend());
    }
    if (!branched) out.push_back(std::move(now.done));
  }
  return out;
}

json::Value ArgumentSchema::schema_of(const Conjunction& all,
                                      std::uint8_t wanted, bool integers,
                                      bool finite) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  json::Array parts;
  bool wraps = false;
  const bool modern = document_.draft >= schema::Draft::k2019;
  const std::string_view id_key =
      document_.draft == schema::Draft::k4 ? "id" : "$id";
  std::string base = "parlance:arguments";
  if (const json::Value* id = source_.find(id_key); id && id->is_string()) {
    base = std::string(id->as_string());
    while (base.ends_with('#')) base.pop_back();
  }
  for (const Literal literal : all) {
    const NodeId id = literal >> 1;
    const Node& node = document_.node(id);
    const bool negative = is_negative(literal);
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
  if (finite) {
    parts.push_back(
        json::Object{{"minimum", -kLargest}, {"maximum", kLargest}});
  }
  json::Value out;
  if (parts.empty()) {
    out = json::Object{};
  } else if (parts.size() == 1 && !wraps) {
    out = std::move(parts[0]);
  } else {
    out = json::Object{{"allOf", std::move(parts)}};
  }
  const json::Value* dialect = source_.find("$schema");
  if (dialect != nullptr && out.is_object()) {
    out.mutable_members().set("$schema", *dialect);
  }
  if (wraps) {
    json::Value root = source_;
    if (root.find(id_key) == nullptr) {
      root.mutable_members().set(std::string(id_key), base);
    }
    out.mutable_members().set(modern ? "$defs" : "definitions",
                              json::Object{{"arguments", std::move(root)}});
  }
  return out;
}

void insert(std::vector<std::uint32_t>& sorted, std::uint32_t id) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), id);
  if (at == sorted.end() || *at != id) sorted.insert(at, id);
}

}  // namespace parlance::arguments
