// Warnings about a response schema: nodes that fail for every text that reaches
// them, and nodes that no text reaches.

#include <algorithm>
#include <array>
#include <string>

#include "format/names.h"
#include "json/located.h"
#include "regex/hir_properties.h"
#include "response_schema/description.h"

namespace parlance::response_schema {
namespace {

class Linter {
 public:
  explicit Linter(const Description& schema) : schema_(schema) {}

  std::vector<Lint> run() && {
    for (const Node& node : schema_.nodes) {
      if (!node.constant) check(node);
    }
    return std::move(lints_);
  }

 private:
  void add(LintCode code, std::string path, std::string message) {
    lints_.push_back({code, std::move(message), std::move(path)});
  }
  void add_at(LintCode code, const Node& node, std::string_view key,
              std::string message) {
    add(code, json::append_pointer(node.pointer, key), std::move(message));
  }

  void check(const Node& node) {
    check_keys(node);
    check_substitutions(node);
    if (node.regex) check_extract(node, *node.regex, "x-regex");
    if (node.iterator) check_extract(node, *node.iterator, "x-regex-iterator");
    if (node.key_value) check_key_value(node);
    check_order(node);
    check_parser(node);
    check_type(node);
  }

  void check_keys(const Node& node) {
    for (const std::string& key : node.unknown_keys) {
      add_at(LintCode::kUnknownKey, node, key,
             "nothing reads the key '" + key + "'" +
                 format::did_you_mean(key, keys_that_read()));
    }
  }

  // Whether the pattern is valid, so that further checks make sense.
  bool check_pattern(const NodePattern& pattern, const std::string& path) {
    if (pattern.fault) {
      add(LintCode::kFailsOnText, path,
          pattern.fault->message + "  A text that comes to this node fails.");
      return false;
    }
    const regex::Hir& hir = pattern.pattern.hir;
    if (!hir.regular()) {
      add(LintCode::kBacktracking, path,
          "the pattern needs backtracking (" + *hir.not_regular +
              "), which is slower and has a step limit; a pattern "
              "without it is matched in one pass.");
    }
    return true;
  }

  void check_substitutions(const Node& node) {
    if (node.null_substitutions) {
      add_at(LintCode::kFailsOnText, node, "x-regex-substitutions",
             "is null: a text that comes to this node fails.  Write a list, or "
             "leave the key out.");
    }
    for (std::size_t i = 0; i < node.substitutions.size(); ++i) {
      const Substitution& substitution = node.substitutions[i];
      const std::string path = json::append_pointer(
          json::append_pointer(node.pointer, "x-regex-substitutions"), i);
      check_pattern(substitution.pattern,
                    json::append_pointer(path, std::size_t{0}));
      if (substitution.fault) {
        add(LintCode::kFailsOnText, substitution.fault->path,
            substitution.fault->message +
                "  A text that comes to this node fails.");
      }
    }
  }

  void check_extract(const Node& node, const NodePattern& pattern,
                     const std::string& key) {
    const std::string path = json::append_pointer(node.pointer, key);
    if (!check_pattern(pattern, path)) return;
    const regex::Hir& hir = pattern.pattern.hir;
    if (!pattern.has_names() && hir.group_count != 1) {
      add(LintCode::kFailsOnText, path,
          hir.group_count == 0
              ? "the pattern has no group, so a text that it matches fails.  "
                "Put ( ) around the part that is wanted."
              : "the pattern has " + std::to_string(hir.group_count) +
                    " groups without names, so a text that it matches fails.  "
                    "Name them, or write (?: ) around all but one.");
      return;
    }
    if (!pattern.has_names()) return;
    std::size_t unnamed = hir.group_count - hir.names.size();
    if (unnamed > 0) {
      add(LintCode::kUnusedGroup, path,
          "the pattern has groups with names and " + std::to_string(unnamed) +
              " without, and those are ignored.  Write (?: ) instead.");
    }
    if (key == "x-regex") check_names(node, pattern, path);
  }

  // Named groups make an object of the match.
  void check_names(const Node& node, const NodePattern& pattern,
                   const std::string& path) {
    if (node.type != ValueType::kObject) {
      if (node.type == ValueType::kAny) return;
      if (node.type == ValueType::kArray && node.prefix_items.size() == 1) {
        return;
      }
      add(LintCode::kFailsOnText, path,
          "the pattern has groups with names, which make an object, and "
          "the type here is " +
              node.type_text +
              ": a text that it matches fails.  Use one group without a "
              "name.");
      return;
    }
    for (const auto& [name, child] : node.properties) {
      const Node& property = schema_.nodes[child];
      if (property.constant || property.fallback) continue;
      const auto& names = pattern.pattern.hir.names;
      const bool known =
          std::any_of(names.begin(), names.end(),
                      [&wanted = name](const regex::GroupName& n) {
                        return n.name == wanted;
                      });
      if (!known && node.parser == NodeParser::kNone) {
        add(LintCode::kUnused, property.pointer,
            "no group of the node's x-regex is called '" + name +
                "', so nothing ever comes to this property.");
      }
    }
  }

  void check_key_value(const Node& node) {
    const std::string path =
        json::append_pointer(node.pointer, "x-regex-key-value");
    if (node.type != ValueType::kObject) {
      add(LintCode::kFailsOnText, path,
          "needs \"type\": \"object\" beside it: a text that comes to "
          "this node fails.");
    }
    if (!check_pattern(*node.key_value, path)) return;
    for (const char* wanted : {"key", "value"}) {
      const auto& names = node.key_value->pattern.hir.names;
      const bool known = std::any_of(
          names.begin(), names.end(),
          [&](const regex::GroupName& n) { return n.name == wanted; });
      if (known) continue;
      add(LintCode::kMissingGroup, path,
          std::string("the pattern has no group named '") + wanted +
              "', so a text that it matches fails.  Write it as in "
              "(?P<key>\\w+)=(?P<value>\\w+).");
      return;
    }
    const regex::Hir& hir = node.key_value->pattern.hir;
    if (hir.group_count > hir.names.size()) {
      add(LintCode::kUnusedGroup, path,
          "nothing reads groups without names: a pair is made of 'key' and "
          "'value'.  Write (?: ) instead.");
    }
    for (const regex::GroupName& group : hir.names) {
      if (group.name == "key" || group.name == "value") continue;
      add(LintCode::kUnusedGroup, path,
          "nothing reads the group '" + group.name +
              "': a pair is made of 'key' and 'value'.");
    }
  }

  void check_order(const Node& node) {
    if (node.iterator && node.type != ValueType::kArray) {
      add_at(LintCode::kFailsOnText, node, "x-regex-iterator",
             "needs \"type\": \"array\" beside it: a text that comes to this "
             "node fails.");
    }
    if (node.regex && node.regex->has_names()) {
      for (const char* key : {"x-regex-iterator", "x-regex-key-value"}) {
        const bool there = std::string_view(key) == "x-regex-iterator"
                               ? node.iterator.has_value()
                               : node.key_value.has_value();
        if (!there) continue;
        add_at(LintCode::kFailsOnText, node, key,
               "x-regex comes first, and with groups that have names it gives "
               "an object, in which no pattern can be searched: a text that it "
               "matches fails.");
      }
    }
    const bool no_text = (node.regex && node.regex->has_names()) ||
                         node.iterator || node.key_value;
    if (no_text && node.parser != NodeParser::kNone) {
      add_at(LintCode::kFailsOnText, node, "x-parser",
             "the patterns of this node come first and give no text, which the "
             "parser needs: a text that they match fails.  Put the parser into "
             "a child.");
    }
  }

  void check_parser(const Node& node) {
    if (node.parser == NodeParser::kUnknown) {
      add_at(LintCode::kFailsOnText, node, "x-parser",
             "there is no parser called " + node.parser_text +
                 ", so what comes to this node fails.  \"json\" and "
                 "\"gemma4-tool-call\" exist.");
    }
    if (node.parser_args && node.parser == NodeParser::kNone) {
      add_at(LintCode::kUnused, node, "x-parser-args",
             "does nothing without x-parser.");
    }
    for (const std::string& name : node.unknown_args) {
      add(LintCode::kUnknownKey,
          json::append_pointer(
              json::append_pointer(node.pointer, "x-parser-args"), name),
          "does nothing" +
              format::did_you_mean(name, std::to_array<std::string_view>(
                                             {"allow_non_json", "transform"})) +
              "  Arguments: allow_non_json, transform.");
    }
    if (node.transform_fault) {
      add(LintCode::kFailsOnText, node.transform_fault->path,
          node.transform_fault->message +
              "  A text that comes to this node fails.");
    }
  }

  void check_type(const Node& node) {
    const bool structured = node.parser != NodeParser::kNone || node.iterator ||
                            node.key_value ||
                            (node.regex && node.regex->has_names());
    switch (node.type) {
      case ValueType::kUnknown:
        add_at(LintCode::kFailsOnText, node, "type",
               "the type " + node.type_text +
                   " is unknown here, so what comes to this node fails.  "
                   "object, array, string, integer, number, boolean and any "
                   "exist.");
        return;
      case ValueType::kArray:
        if (!node.items && !node.has_prefix_items) {
          add(LintCode::kFailsOnText, node.pointer,
              "an array without items or prefixItems fails unless it is empty. "
              " Add \"items\": {}.");
        } else if (!structured && node.items && gets_text(node)) {
          add(LintCode::kFailsOnText, node.pointer,
              "this array gets text, and has neither x-regex-iterator nor "
              "x-parser to make a list of it: any text but the empty one "
              "fails.");
        }
        return;
      case ValueType::kObject:
        if (!structured && !node.has_properties && gets_text(node)) {
          add(LintCode::kFailsOnText, node.pointer,
              "this object gets text, and has neither properties nor a regex "
              "nor a parser: it always fails.");
        }
        if (!structured && gets_text(node)) check_unused(node);
        return;
      default:
        return;
    }
  }

  // In an object that is read from text directly these have no effect.
  void check_unused(const Node& node) {
    for (const auto& [name, child] : node.properties) {
      const Node& property = schema_.nodes[child];
      if (property.fallback && !property.constant) {
        add_at(LintCode::kUnused, property, "default",
               "has no effect: this object gets text, and its properties are "
               "read from the whole of it.");
      }
    }
    if (node.additional) {
      add_at(LintCode::kUnused, node, "additionalProperties",
             "has no effect, and nothing comes to it: this object gets text.");
    }
  }

  // Whether it is certain that only text reaches the node: the root, and the
  // nodes to which such a node passes its text.
  bool gets_text(const Node& node) {
    if (gets_text_.empty()) find_text_nodes();
    return gets_text_[static_cast<std::size_t>(&node - schema_.nodes.data())];
  }

  void find_text_nodes() {
    gets_text_.assign(schema_.nodes.size(), false);
    gets_text_[0] = true;
    // Children come after their parents.
    for (std::size_t i = 0; i < schema_.nodes.size(); ++i) {
      const Node& node = schema_.nodes[i];
      if (node.parser != NodeParser::kNone) continue;
      const bool named = node.regex && node.regex->has_names();
      if (node.iterator) {
        if (!node.iterator->has_names() && node.items) {
          gets_text_[*node.items] = true;
        }
        continue;
      }
      const bool passes = named || node.key_value ||
                          (gets_text_[i] && node.type == ValueType::kObject);
      if (!passes) continue;
      for (const auto& [name, child] : node.properties) {
        gets_text_[child] = true;
      }
      if ((named || node.key_value) && node.additional) {
        gets_text_[*node.additional] = true;
      }
    }
  }

  const Description& schema_;
  std::vector<Lint> lints_;
  std::vector<bool> gets_text_;
};

}  // namespace

std::vector<Lint> lint(const Description& schema) {
  return Linter(schema).run();
}

}  // namespace parlance::response_schema
