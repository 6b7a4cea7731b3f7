// Warnings about a format that is valid but probably not what its author meant.
//
// Each rule is a function that checks one field, or all of them, and reports
// the consequence and the remedy.  Rules about patterns use the Hir. Its nodes
// come after their children, so the properties of all nodes are computed in one
// pass over the array (see Facts).

#include "format/lint.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "format/description.h"
#include "format/load.h"
#include "format/names.h"
#include "json/located.h"
#include "regex/hir.h"

namespace parlance {
namespace {

using format::ContentKind;
using format::Delimiter;
using format::Description;
using format::Field;
using format::Transform;
using format::ValueSyntax;
using regex::HirKind;
using regex::HirNode;

// Properties of each node of a pattern.
struct Facts {
  // It can match the empty string at some position: assertions count.
  std::vector<bool> can_be_empty;
  // It can match the empty string at every position of every text.
  std::vector<bool> empty_anywhere;
  // It can begin with an endless run of nearly any text: [^<]*, .*?
  std::vector<bool> endless_start;
  // It matches one character, and nearly any.
  std::vector<bool> wide;
  // A match of the pattern can end with it.
  std::vector<bool> tail;
};

// Whether a class contains nearly all characters of ordinary text.
bool is_wide(const regex::CharClass& set) {
  for (char32_t c : {U'a', U'z', U'A', U'5', U' ', U'.'}) {
    if (!set.contains(c)) return false;
  }
  return true;
}

// What of a pattern's source is a literal of the form <|...|> or [|...|] whose
// bars or brackets are not escaped; "" if there is none.
//
// In the source, `<|` outside of classes and escapes ends an alternative with
// '<', and `|>` begins one with '>'.  Few patterns mean that, and those that do
// have only one of the two.  `[|...|]` is a class.
std::string_view unescaped_bars(std::string_view source) {
  // The '<' of the first `<|` before `i`.  Where an iteration begins, `i` is
  // outside of classes and escapes.
  std::size_t open = std::string_view::npos;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\\') {
      ++i;
    } else if (source[i] == '[') {
      // The class ends at the first ']' that is neither escaped nor its first
      // character.
      const std::size_t begin = i;
      ++i;
      if (i < source.size() && source[i] == '^') ++i;
      if (i < source.size() && source[i] == ']') ++i;
      while (i < source.size() && source[i] != ']') {
        i += source[i] == '\\' ? 2 : 1;
      }
      // With something between the bars: [||] is a class of one bar.
      if (i < source.size() && i > begin + 3 && source[begin + 1] == '|' &&
          source[i - 1] == '|') {
        return source.substr(begin, i + 1 - begin);
      }
    } else if (source[i] == '|' && i > 0 && source[i - 1] == '<' &&
               open == std::string_view::npos) {
      open = i - 1;
    } else if (source[i] == '|' && i + 1 < source.size() &&
               source[i + 1] == '>' && open != std::string_view::npos &&
               i > open + 1) {  // `<|>` has one bar
      return source.substr(open, i + 2 - open);
    }
  }
  return "";
}

// Facts::tail: from the root down.  Parents come after their children, so
// out[i] is final when the loop reaches `i`.
std::vector<bool> tails_of(const regex::Hir& hir) {
  std::vector<bool> out(hir.nodes.size());
  if (out.empty()) return out;
  out.back() = true;
  for (std::size_t i = out.size(); i-- > 0;) {
    if (!out[i]) continue;
    const HirNode& node = hir.nodes[i];
    if (node.kind == HirKind::kConcat) {
      if (!node.children.empty()) out[node.children.back()] = true;
    } else if (node.kind == HirKind::kAlternation ||
               node.kind == HirKind::kCapture) {
      for (regex::HirId child : node.children) out[child] = true;
    }
  }
  return out;
}

// A node's facts follow from those of its children, which come before it.
Facts facts_of(const regex::Hir& hir) {
  const std::size_t count = hir.nodes.size();
  Facts out{std::vector<bool>(count), std::vector<bool>(count),
            std::vector<bool>(count), std::vector<bool>(count), tails_of(hir)};
  for (std::size_t i = 0; i < count; ++i) {
    const HirNode& node = hir.nodes[i];
    const auto all = [&](const std::vector<bool>& fact) {
      return std::all_of(node.children.begin(), node.children.end(),
                         [&](regex::HirId child) { return fact[child]; });
    };
    const auto any = [&](const std::vector<bool>& fact) {
      return std::any_of(node.children.begin(), node.children.end(),
                         [&](regex::HirId child) { return fact[child]; });
    };
    switch (node.kind) {
      case HirKind::kEmpty:
        out.can_be_empty[i] = out.empty_anywhere[i] = true;
        break;
      case HirKind::kNothing:
      case HirKind::kLiteral:
        break;
      case HirKind::kClass:
        out.wide[i] = is_wide(node.char_class);
        break;
      case HirKind::kConcat: {
        out.can_be_empty[i] = all(out.can_be_empty);
        out.empty_anywhere[i] = all(out.empty_anywhere);
        // Parts that may be empty, and the first that may not.
        for (regex::HirId child : node.children) {
          if (out.endless_start[child]) out.endless_start[i] = true;
          if (!out.can_be_empty[child]) break;
        }
        break;
      }
      case HirKind::kAlternation:
      case HirKind::kConditional:
      case HirKind::kCapture:
      case HirKind::kAtomic:
        out.can_be_empty[i] = any(out.can_be_empty);
        out.empty_anywhere[i] = any(out.empty_anywhere);
        out.endless_start[i] = any(out.endless_start);
        out.wide[i] = any(out.wide);
        break;
      case HirKind::kRepeat:
        out.can_be_empty[i] = node.min == 0 || all(out.can_be_empty);
        out.empty_anywhere[i] = node.min == 0 || all(out.empty_anywhere);
        out.endless_start[i] = any(out.endless_start) ||
                               (node.max == base::kUnbounded && any(out.wide));
        break;
      case HirKind::kAssert:
      case HirKind::kBackref:
      case HirKind::kLook:
        out.can_be_empty[i] = true;
        break;
    }
  }
  return out;
}

// The literal that every match of the node begins with.  Sets `whole` if the
// literal is the whole match.
std::string_view literal_start(const regex::Hir& hir, regex::HirId id,
                               bool& whole) {
  const HirNode& node = hir.nodes[id];
  whole = node.kind == HirKind::kLiteral;
  if (whole) return node.text;
  if (node.kind == HirKind::kConcat && !node.children.empty()) {
    const HirNode& first = hir.nodes[node.children[0]];
    if (first.kind == HirKind::kLiteral) return first.text;
  }
  return "";
}

class Linter {
 public:
  explicit Linter(const format::FormatImpl& impl)
      : impl_(impl),
        description_(impl.description),
        spec_(impl.response_template),
        root_(impl.recovers ? "/response_template" : "") {}

  // The first fault because of which every text of a field fails.
  std::optional<Error> find_failure() && {
    for (const Field& field : description_.fields) {
      const std::string path = path_of(field);
      check_transform(field, path);
      check_content(field, path);
    }
    return std::move(failure_);
  }

  std::vector<Lint> run() && {
    check_defaults();
    check_ignored();
    for (const Field& field : description_.fields) check_field(field);
    check_shared_openers();
    check_pattern(description_.start_anchor, root_, "start_anchor");
    check_unclaimed();
    check_extension();
    check_write();
    return std::move(lints_);
  }

 private:
  void add(LintCode code, const std::string& path, std::string message) {
    lints_.push_back({code, std::move(message), path});
  }

  // What makes every text of a field fail.
  void add_failure(LintCode code, ErrorCode error, const std::string& path,
                   const std::string& message) {
    if (!failure_) failure_ = Error{error, message, path};
    add(code, path, message);
  }

  std::string path_of(const Field& field) const {
    return json::append_pointer(root_ + "/fields", field.template_name);
  }

  // The fields by their names in messages, or in the template.
  std::map<std::string_view, const Field*> fields_by(
      std::string Field::*name) const {
    std::map<std::string_view, const Field*> out;
    for (const Field& field : description_.fields) {
      out.emplace(field.*name, &field);
    }
    return out;
  }

  void check_defaults() {
    const auto fields = fields_by(&Field::name);
    for (const json::Member& member : description_.defaults.members()) {
      const std::string path =
          json::append_pointer(root_ + "/defaults", member.key);
      const auto found = fields.find(member.key);
      const Field* field = found == fields.end() ? nullptr : found->second;
      if (field == nullptr) {
        // A key that every message has and no model writes.
        if (member.key == "role") continue;
        add(LintCode::kUnknownName, path,
            "no field is called '" + member.key +
                "', so every message has this value; remove it, or "
                "correct the name if a field was meant.");
      } else if (field->join) {
        if (!member.value.is_string() && !member.value.is_null()) {
          add(LintCode::kBadDefault, path,
              "field '" + member.key +
                  "' joins text, and this default is no text: the "
                  "first region that closes fails.  Write a string.");
        }
      } else if (field->repeats && !member.value.is_array()) {
        add(LintCode::kBadDefault, path,
            "field '" + member.key +
                "' repeats, and this default is no list: the first "
                "region that closes fails.  Write a list.");
      }
    }
  }

  // Keys that nothing reads, and flags that are not true or false.
  void check_ignored() {
    const json::Value* fields = spec_.find("fields");
    if (fields == nullptr) return;
    const auto loaded = fields_by(&Field::template_name);
    for (const auto& [name, field] : fields->members()) {
      const std::string path = json::append_pointer(root_ + "/fields", name);
      check_flags(field, path, {"repeats", "optional"});
      const json::Value* args = field.find("content_args");
      if (args == nullptr) continue;
      const auto found = loaded.find(name);
      if (found == loaded.end()) continue;
      check_arguments(found->second->content, *args,
                      json::append_pointer(path, "content_args"));
    }
  }

  // The arguments of a content parser and of its value parsers.
  void check_arguments(const format::Content& first, const json::Value& outer,
                       std::string path) {
    const format::Content* content = &first;
    const json::Value* args = &outer;
    while (args != nullptr && args->is_object() && !content->fault) {
      const std::vector<std::string_view> known = arguments_of(content->kind);
      for (const json::Member& member : args->members()) {
        if (std::find(known.begin(), known.end(), member.key) != known.end()) {
          continue;
        }
        add(LintCode::kUnknownKey, json::append_pointer(path, member.key),
            "the content parser '" +
                std::string(format::to_string(content->kind)) +
                "' has no argument '" + member.key + "', which is ignored" +
                format::did_you_mean(member.key, known) +
                (known.empty()
                     ? ""
                     : "  Arguments: " + format::listed(known) + "."));
      }
      check_flags(
          *args, path,
          {"strip", "allow_non_json", "unquoted_keys", "merge_duplicates"});
      const json::Value* parser = args->find("value_parser");
      content = content->value_parser.get();
      if (parser == nullptr || content == nullptr) return;
      path = json::append_pointer(path, "value_parser");
      constexpr std::string_view kKeys[] = {"name", "args"};
      for (const json::Member& member : parser->members()) {
        if (member.key == "name" || member.key == "args") continue;
        add(LintCode::kUnknownKey, json::append_pointer(path, member.key),
            "'" + member.key + "' means nothing here and is ignored" +
                format::did_you_mean(member.key, kKeys) +
                "  Keys: name, args.");
      }
      args = parser->find("args");
      path = json::append_pointer(path, "args");
    }
  }

  static std::vector<std::string_view> arguments_of(ContentKind kind) {
    switch (kind) {
      case ContentKind::kText:
      case ContentKind::kInt:
      case ContentKind::kFloat:
      case ContentKind::kBool:
        return {"strip"};
      case ContentKind::kJson:
        return {"allow_non_json", "unquoted_keys", "string_delims", "strip"};
      case ContentKind::kXmlInline:
        return {"tag_pattern", "value_parser", "merge_duplicates"};
      case ContentKind::kKvLines:
        return {"line_sep", "kv_sep", "value_parser", "strip"};
      case ContentKind::kPythonCallList:
        break;
    }
    return {};
  }

  // A flag counts as Python's bool() of its value: "no" is true.
  void check_flags(const json::Value& object, const std::string& path,
                   std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) {
      const json::Value* value = object.find(key);
      if (value == nullptr || value->kind() == json::Kind::kBool) continue;
      add(LintCode::kNotBoolean, json::append_pointer(path, key),
          "is " + format::describe_kind(*value) + ", which counts as " +
              (value->truthy() ? "true" : "false") + ".  Write true or false.");
    }
  }

  void check_field(const Field& field) {
    const std::string path = path_of(field);
    check_implicit(field, path);
    check_pattern(field.open, path, "open");
    check_pattern(field.close, path, "close");
    check_widths(field, path);
    check_captures(field, path);
    check_transform(field, path);
    check_content(field, path);
  }

  void check_implicit(const Field& field, const std::string& path) {
    if (field.open || field.repeats) return;
    if (description_.fields.size() < 2 && !field.close) return;
    add(LintCode::kTextReplaced, path,
        "text outside the other fields comes in stretches, and each replaces "
        "the one before: a newline behind a tool call or behind the end of "
        "the turn is enough to lose what was said.  Add \"repeats\": true "
        "and \"join\": \"\" to keep all of it.");
  }

  void check_pattern(const Delimiter& delimiter, const std::string& path,
                     const std::string& key) {
    if (delimiter.kind != Delimiter::Kind::kPattern) return;
    const std::string at = json::append_pointer(path, key + "_pattern");
    const regex::Hir& hir = delimiter.pattern.hir;
    check_regular(hir, at);
    check_bars(delimiter.pattern.source, at);
    // The anchor is searched in a complete prefix.
    if (&delimiter == &description_.start_anchor) return;
    const Facts facts = facts_of(hir);
    const std::size_t root = hir.nodes.size() - 1;
    if (facts.endless_start[root]) {
      add(LintCode::kHoldsText, at,
          "a match can begin with an endless run of any text, so all text is "
          "held back until the rest of the pattern comes.  Begin the pattern "
          "with the literal that marks the place.");
    }
    if (!facts.endless_start[root]) check_endless(hir, at);
    // Only at the end of the pattern: in (a|ab)c the second branch does match.
    for (std::size_t i = 0; i < hir.nodes.size(); ++i) {
      if (hir.nodes[i].kind == HirKind::kAlternation && facts.tail[i]) {
        check_order(hir, hir.nodes[i], at);
      }
    }
  }

  void check_bars(std::string_view source, const std::string& at) {
    const std::string_view found = unescaped_bars(source);
    if (found.empty()) return;
    if (found.front() == '[') {
      add(LintCode::kUnescapedBar, at,
          "'" + std::string(found) +
              "' is a class that matches one of these characters.  To "
              "match the text, escape the brackets and bars: \\[\\|.");
      return;
    }
    add(LintCode::kUnescapedBar, at,
        "in '" + std::string(found) +
            "' each bar separates alternatives, so '<' alone matches.  To "
            "match the text, escape the bars: <\\|...\\|>.");
  }

  // An unbounded run of any text at all.  A greedy one may always become
  // longer, so nothing after its beginning is emitted before the end of the
  // stream.
  void check_endless(const regex::Hir& hir, const std::string& at) {
    for (const HirNode& node : hir.nodes) {
      if (node.kind != HirKind::kRepeat || node.max != base::kUnbounded ||
          !node.greedy) {
        continue;
      }
      const HirNode& inner = hir.nodes[node.children[0]];
      if (inner.kind != HirKind::kClass ||
          !inner.char_class.negated().empty()) {
        continue;
      }
      add(LintCode::kHoldsText, at,
          "a greedy run of any text ('.' matches line feeds too) extends to "
          "the last place in the stream where the rest of the pattern "
          "matches, so all text after its beginning is held back until the "
          "stream ends.  Exclude what ends the run, as in [^<]*, or write "
          ".*? to stop at the first such place.");
      return;
    }
  }

  void check_regular(const regex::Hir& hir, const std::string& at) {
    if (hir.regular()) return;
    add(LintCode::kBacktracking, at,
        "the pattern needs backtracking (" + *hir.not_regular +
            "), which is slower and has a step limit; a pattern without "
            "it is matched in one pass.");
  }

  // An earlier branch that is a prefix of a later one hides it.
  void check_order(const regex::Hir& hir, const HirNode& alternation,
                   const std::string& at) {
    const std::vector<regex::HirId>& branches = alternation.children;
    for (std::size_t later = 1; later < branches.size(); ++later) {
      bool whole = false;
      const std::string_view longer =
          literal_start(hir, branches[later], whole);
      for (std::size_t earlier = 0; earlier < later; ++earlier) {
        bool earlier_whole = false;
        const std::string_view shorter =
            literal_start(hir, branches[earlier], earlier_whole);
        if (!earlier_whole || shorter.empty() ||
            longer.substr(0, shorter.size()) != shorter) {
          continue;
        }
        add(LintCode::kHiddenBranch, at,
            "the branch '" + std::string(shorter) +
                "' stands before a longer one that begins with it, and "
                "branches are tried in order: the longer one never "
                "matches.  Put it first, or use a list of literals, "
                "where the longest wins.");
        return;
      }
    }
  }

  void check_widths(const Field& field, const std::string& path) {
    const auto facts = [](const Delimiter& delimiter, bool anywhere) -> bool {
      if (delimiter.kind != Delimiter::Kind::kPattern) return false;
      const Facts known = facts_of(delimiter.pattern.hir);
      return anywhere ? known.empty_anywhere.back() : known.can_be_empty.back();
    };
    const std::string open = json::append_pointer(path, "open_pattern");
    const std::string close = json::append_pointer(path, "close_pattern");
    if (facts(field.open, true)) {
      add(LintCode::kEmptyMatch, open,
          "the pattern can match nothing at all, so the region opens at "
          "every place.  Make a part of it required.");
    }
    if (!field.open && facts(field.close, false)) {
      add(LintCode::kEmptyMatch, close,
          "this close can match without consuming text, and nothing need "
          "open there: other readers of templates stop here and lose the "
          "rest.  Consume at least one character.");
    } else if (facts(field.open, false) && facts(field.close, false)) {
      add(LintCode::kEmptyMatch, close,
          "open and close can both match without consuming text: other "
          "readers of templates may never end.  Let one of them consume a "
          "character.");
    } else if (facts(field.close, true)) {
      add(LintCode::kEmptyMatch, close,
          "the pattern can match nothing at all, so the region closes as "
          "soon as it opens.  Make a part of it required.");
    }
  }

  void check_captures(const Field& field, const std::string& path) {
    for (const regex::GroupName& group : field.open.pattern.hir.names) {
      if (group.name == "content" && !field.transform_each) {
        add(LintCode::kUnusedGroup, json::append_pointer(path, "open_pattern"),
            "the group 'content' is hidden by the region's own content in "
            "the transform.  Give it another name.");
      }
    }
    if (!field.close.pattern.hir.names.empty()) {
      add(LintCode::kUnusedGroup, json::append_pointer(path, "close_pattern"),
          "the group '" + field.close.pattern.hir.names[0].name +
              "' belongs to the closing delimiter; other readers of templates "
              "do not give it to the transform, which then fails.  Capture it "
              "in the opening delimiter if it can be known there.");
    }
  }

  void check_transform(const Field& field, const std::string& path) {
    if (!field.transform) return;
    // A syntax of the file takes the place of the content parser.
    const ValueSyntax syntax = syntax_of(field);
    if (field.transform_each) {
      if (field.content.kind != ContentKind::kJson &&
          field.content.kind != ContentKind::kPythonCallList &&
          syntax == ValueSyntax::kTemplate) {
        add_failure(LintCode::kFailsOnText, ErrorCode::kConflict,
                    json::append_pointer(path, "transform_each"),
                    "transform_each needs a list, and content '" +
                        std::string(format::to_string(field.content.kind)) +
                        "' never gives one.  Use \"content\": \"json\".");
      }
    }
    if (field.transform_each || syntax == ValueSyntax::kPythonCalls) {
      return;  // because names come from the elements
    }
    check_placeholders(field, *field.transform,
                       json::append_pointer(path, "transform"));
  }

  ValueSyntax syntax_of(const Field& field) const {
    const auto i =
        static_cast<std::size_t>(&field - &description_.fields.front());
    return impl_.family.reading.fields[i].syntax;
  }

  // The recursion depth is at most format::kMaxTransformDepth.
  void check_placeholders(const Field& field, const Transform& transform,
                          const std::string& path) {
    switch (transform.kind) {
      case Transform::Kind::kConstant:
        return;
      case Transform::Kind::kPlaceholder:
        if (!in_scope(field, transform.path[0])) {
          add_failure(LintCode::kUnknownName, ErrorCode::kUnknownName, path,
                      "nothing is called '" + transform.path[0] +
                          "' when this region closes, so it always fails.  "
                          "There are 'content' and the named groups of the "
                          "field's patterns.");
        }
        return;
      case Transform::Kind::kList:
        for (std::size_t i = 0; i < transform.items.size(); ++i) {
          check_placeholders(field, transform.items[i],
                             json::append_pointer(path, i));
        }
        return;
      case Transform::Kind::kObject:
        for (const auto& [key, member] : transform.members) {
          check_placeholders(field, member, json::append_pointer(path, key));
        }
        return;
    }
  }

  static bool in_scope(const Field& field, std::string_view name) {
    if (name == "content") return true;
    for (const Delimiter* delimiter : {&field.open, &field.close}) {
      for (const regex::GroupName& group : delimiter->pattern.hir.names) {
        if (group.name == name) return true;
      }
    }
    return false;
  }

  void check_content(const Field& field, const std::string& path) {
    std::string at = json::append_pointer(path, "content_args");
    for (const format::Content* content = &field.content; content != nullptr;
         content = content->value_parser.get()) {
      if (content->fault) {
        add_failure(
            LintCode::kFailsOnText, content->fault->code, content->fault->path,
            content->fault->message +
                "  A region fails as soon as a value comes to this parser.");
        return;
      }
      if (content->kind == ContentKind::kXmlInline) {
        check_regular(content->tag_pattern.hir,
                      json::append_pointer(at, "tag_pattern"));
        check_bars(content->tag_pattern.source,
                   json::append_pointer(at, "tag_pattern"));
        const auto& names = content->tag_pattern.hir.names;
        bool has_key = std::any_of(
            names.begin(), names.end(),
            [](const regex::GroupName& group) { return group.name == "key"; });
        if (!has_key) {
          add_failure(
              LintCode::kMissingGroup, ErrorCode::kMissingKey,
              json::append_pointer(at, "tag_pattern"),
              "has no named group 'key', so a region fails as soon as it "
              "matches.  Write it as in <(?P<key>\\w+)>(?P<value>.*?)</\\w+>.");
        }
        const bool has_value = std::any_of(names.begin(), names.end(),
                                           [](const regex::GroupName& group) {
                                             return group.name == "value";
                                           });
        if (has_key && !has_value) {
          add(LintCode::kMissingGroup, json::append_pointer(at, "tag_pattern"),
              "has no named group 'value', so no tag has one.  Write it as in "
              "<(?P<key>\\w+)>(?P<value>.*?)</\\w+>.");
        }
      }
      if (content->kind == ContentKind::kKvLines &&
          content->key_separator.empty()) {
        add_failure(LintCode::kFailsOnText, ErrorCode::kEmptyValue,
                    json::append_pointer(at, "kv_sep"),
                    "is empty, so a region fails at its first line that is not "
                    "blank: there is nothing to split it at.");
      }
      at = json::append_pointer(json::append_pointer(at, "value_parser"),
                                "args");
    }
  }

  // A format file without an implicit field says what may stand between its
  // regions ("markup"), and other text is reported when it comes.
  void check_unclaimed() {
    if (impl_.recovers || description_.implicit ||
        description_.fields.empty()) {
      return;
    }
    add(LintCode::kTextUnclaimed, root_ + "/fields",
        "each field has an opening delimiter, so text outside the regions is "
        "in no field and lost without a word.  Add a field without one, as in "
        "\"content\": {\"repeats\": true, \"join\": \"\"}.");
  }

  // The patterns of a format file outside the template.
  void check_extension() {
    if (description_.markup.kind == Delimiter::Kind::kPattern) {
      const std::string at = "/parlance/markup_pattern";
      check_regular(description_.markup.pattern.hir, at);
      check_bars(description_.markup.pattern.source, at);
    }
    for (std::size_t i = 0; i < impl_.marks.size(); ++i) {
      check_bars(impl_.marks[i].pattern.source,
                 json::append_pointer(
                     json::append_pointer("/parlance/marks", i), "pattern"));
    }
  }

  // A text of 'turn_end' ends the response wherever it stands, so no other
  // text may follow it in what 'write' says.
  void check_write() {
    if (!impl_.family.writing || impl_.family.reading.turn_end.empty()) return;
    const format::Writing& writing = *impl_.family.writing;
    for (std::size_t i = 0; i < writing.fields.size(); ++i) {
      const std::string at = json::append_pointer(
          "/parlance/write", description_.fields[i].template_name);
      for (const format::WriteLayout& layout : writing.fields[i]) {
        const bool last = layout.section_end.empty();
        check_written(layout.section_end, true, at);
        check_written(layout.parts, last && layout.between.empty(), at);
        for (const format::WriteParts* parts :
             {&layout.section_begin, &layout.before, &layout.between,
              &layout.off}) {
          check_written(*parts, false, at);
        }
      }
    }
    if (writing.messages) {
      check_written(writing.messages->between, false, "/parlance/write/order");
    }
  }

  // One list of parts; `last`: nothing follows it.
  void check_written(const format::WriteParts& parts, bool last,
                     const std::string& at) {
    // The texts before part `i` back to the last part that is none: a text of
    // 'turn_end' may extend over several of them.
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].kind == format::WritePart::Kind::kText) {
        text += parts[i].text;
        if (i + 1 < parts.size()) continue;
      }
      check_written(text, last && i + 1 == parts.size(), at);
      text.clear();
      for (const format::WriteParts& choice : parts[i].choices) {
        check_written(choice, last && i + 1 == parts.size(), at);
      }
    }
  }

  void check_written(std::string_view text, bool last, const std::string& at) {
    for (const std::string& end : impl_.family.reading.turn_end) {
      const std::size_t found = text.find(end);
      if (found == std::string_view::npos) continue;
      if (last && found + end.size() == text.size()) continue;
      add(LintCode::kTurnEndWritten, at,
          "'" + std::string(text) + "' has '" + end +
              "' in it, which 'turn_end' says ends the response: what follows "
              "is not read.  Take it out of 'turn_end', or write something "
              "else here.");
    }
  }

  void check_shared_openers() {
    const std::vector<Field>& fields = description_.fields;
    // The first field that each opener opens, and the opener's place in it.
    using Key = std::pair<Delimiter::Kind, std::string_view>;
    std::map<Key, std::pair<std::size_t, std::size_t>> owners;
    // The first opener that two fields share, in the order of the fields.
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> shared;
    for (std::size_t j = 0; j < fields.size(); ++j) {
      for (std::size_t n = 0; n < opener_count(fields[j].open); ++n) {
        const Key key(fields[j].open.kind, opener(fields[j].open, n));
        const auto [owner, fresh] = owners.try_emplace(key, j, n);
        const auto& [i, place] = owner->second;
        if (fresh || i == j) continue;
        const auto known = shared.try_emplace({i, j}, place).first;
        known->second = std::min(known->second, place);
      }
    }
    for (const auto& [both, place] : shared) {
      const Field& first = fields[both.first];
      const Field& second = fields[both.second];
      // Upstream's rule: of two matches at one place, the first name wins.
      const auto [winner, loser] = std::minmax(first.name, second.name);
      const bool pattern = second.open.kind == Delimiter::Kind::kPattern;
      add(LintCode::kSharedOpener,
          json::append_pointer(path_of(second),
                               pattern ? "open_pattern" : "open"),
          "'" + std::string(opener(first.open, place)) +
              "' also opens field '" + first.name + "'.  Where both match, '" +
              winner + "' wins by its name, and '" + loser +
              "' never opens.  Give each field an opening delimiter of its "
              "own.");
    }
  }

  static std::size_t opener_count(const Delimiter& open) {
    return open.kind == Delimiter::Kind::kPattern ? 1 : open.literals.size();
  }
  static std::string_view opener(const Delimiter& open, std::size_t index) {
    return open.kind == Delimiter::Kind::kPattern
               ? std::string_view(open.pattern.source)
               : open.literals[index];
  }

  const format::FormatImpl& impl_;
  const Description& description_;
  const json::Value& spec_;  // the template
  std::string root_;         // its pointer
  std::vector<Lint> lints_;
  std::optional<Error> failure_ = std::nullopt;
};

}  // namespace

std::string_view to_string(LintCode code) {
  // ORDER: LintCode
  static constexpr std::string_view kNames[] = {
      "unknown_key",   "not_boolean",    "unknown_name",    "bad_default",
      "text_replaced", "text_unclaimed", "unescaped_bar",   "holds_text",
      "backtracking",  "empty_match",    "hidden_branch",   "shared_opener",
      "missing_group", "unused_group",   "unused",          "fails_on_text",
      "kind_guessed",  "not_invertible", "turn_end_written"};
  return kNames[static_cast<std::size_t>(code)];
}

std::optional<Error> format::find_failure(const format::FormatImpl& format) {
  return Linter(format).find_failure();
}

std::vector<Lint> format::lint(const format::FormatImpl& format) {
  return Linter(format).run();
}

}  // namespace parlance
