// Conversion of a response schema to the response template that means the same.
//
// A schema searches the finished text once per property; a template cuts the
// text into regions from left to right.  They agree where every property's
// pattern is an opening, a body that takes anything, and a closing:
//
//   <think>(.*?)(?:</think>|$)   open "<think>", close "</think>"
//
// and the regions of a response neither repeat (except those of an iterator)
// nor overlap.  Patterns are analysed as text.  A pattern of any other form is
// refused with a reason.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/located.h"
#include "regex/pattern.h"
#include "response_schema/description.h"

namespace parlance::response_schema {
namespace {

using json::Object;
using json::Value;
using Items = std::vector<std::string>;

Error refuse(const Node& node, std::string_view key, const std::string& why) {
  return {ErrorCode::kNotConvertible,
          "no response template means the same: " + why,
          key.empty() ? node.pointer : json::append_pointer(node.pointer, key)};
}

// Whether the pattern begins with flags of the whole, which its parts would
// lose.  That "." matches a line break holds for each part anyway.
bool begins_with_flags(std::string_view pattern) {
  if (!pattern.starts_with("(?")) return false;
  const std::string_view flags =
      pattern.substr(2, pattern.find_first_not_of("aiLmsux", 2) - 2);
  return !flags.empty() && flags != "s" &&
         pattern.substr(2 + flags.size()).starts_with(')');
}

// The items of a pattern at its top level, each with its quantifier.  Nothing
// if there is a bar at the top level, or flags of the whole pattern.
//
// Invariant: the items in `out` are pattern[0, i), and i is at the beginning of
// an item.
std::optional<Items> split(std::string_view pattern) {
  Items out;
  if (begins_with_flags(pattern)) return std::nullopt;
  for (std::size_t i = 0; i < pattern.size();) {
    std::size_t end = i + 1;
    if (pattern[i] == '|') return std::nullopt;
    // Set `end` after the item: an escape, a group or class up to the bracket
    // that closes it, or one character of UTF-8.
    if (pattern[i] == '\\') {
      end = i + 2;
    } else if (pattern[i] == '(' || pattern[i] == '[') {
      int depth = 0;
      bool in_class = false;
      for (end = i; end < pattern.size();) {
        const char c = pattern[end++];
        if (c == '\\') {
          ++end;
        } else if (in_class) {
          in_class = c != ']';
        } else if (c == '[') {
          in_class = true;
          if (end < pattern.size() && pattern[end] == '^') ++end;
          if (end < pattern.size() && pattern[end] == ']') ++end;
        } else if (c == '(') {
          ++depth;
        } else if (c == ')') {
          --depth;
        }
        if (depth == 0 && !in_class) break;
      }
    } else {
      while (end < pattern.size() &&
             (static_cast<unsigned char>(pattern[end]) & 0xC0) == 0x80) {
        ++end;
      }
    }
    end = std::min(end, pattern.size());
    // Move `end` after the quantifier, if there is one, and after its lazy '?'.
    if (end < pattern.size() && pattern[end] == '{') {
      const std::size_t close = pattern.find('}', end);
      if (close != std::string_view::npos) end = close + 1;
    } else if (end < pattern.size() &&
               (pattern[end] == '*' || pattern[end] == '+' ||
                pattern[end] == '?')) {
      ++end;
    }
    if (end < pattern.size() && pattern[end] == '?' && end > i + 1) ++end;
    out.emplace_back(pattern.substr(i, end - i));
    i = end;
  }
  return out;
}

std::string join(const Items& items, std::size_t begin, std::size_t end) {
  std::string out;
  for (std::size_t i = begin; i < end; ++i) out += items[i];
  return out;
}

// The text between `open` and `close`, if `item` begins with `open` and ends
// with `close`.  An `open` of "(" matches only a capturing group without a
// name.
std::optional<std::string> inside(std::string_view item, std::string_view open,
                                  std::string_view close = ")") {
  if (item.size() < open.size() + close.size() ||
      item.substr(0, open.size()) != open ||
      item.substr(item.size() - close.size()) != close) {
    return std::nullopt;
  }
  const std::string_view inner =
      item.substr(open.size(), item.size() - open.size() - close.size());
  if (open == "(" && !inner.empty() && inner[0] == '?') return std::nullopt;
  return std::string(inner);
}

bool takes_anything(std::string_view body) {
  return body == ".*?" || body == ".+?" || body == ".*" || body == ".+";
}

// A pattern split at its first capturing group.
struct Cut {
  std::string open;
  std::string body;
  std::string close;  // "": the body extends to the end of the text
  // Whether anything follows the body, if only a '$', which `close` lacks.  A
  // lazy body that nothing follows takes as little as it can.
  bool ends = true;
};

// What is known of the pattern of an opening or a closing: the literals that
// are in every match, in order, and whether the empty text matches everywhere
// in a text.
struct Delimiter {
  std::vector<std::string> literals;
  bool nullable = false;
  bool literal = false;    // it is nothing but one literal
  std::size_t groups = 0;  // that capture
};

Delimiter read_delimiter(const std::string& source) {
  Delimiter out;
  const auto read = regex::parse_pattern(
      source, {.flavor = regex::Flavor::kPythonRe, .dot_all = true});
  if (!read) return out;
  using regex::HirKind;
  const std::vector<regex::HirNode>& nodes = read->hir.nodes;
  // Invariant: empty[k] is final for each node k before the i-th.  Children
  // come before their parents, so one loop suffices.
  std::vector<bool> empty(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const regex::HirNode& node = nodes[i];
    const auto is_empty = [&](regex::HirId child) { return empty[child]; };
    switch (node.kind) {
      case HirKind::kNothing:
      case HirKind::kLiteral:
      case HirKind::kClass:
      case HirKind::kAssert:  // empty, but not everywhere: "^" only at 0
      case HirKind::kLook:    // the same
        break;
      case HirKind::kConcat:
        empty[i] = std::ranges::all_of(node.children, is_empty);
        break;
      case HirKind::kAlternation:
      case HirKind::kConditional:
        empty[i] = std::ranges::any_of(node.children, is_empty);
        break;
      case HirKind::kRepeat:
        empty[i] = node.min == 0 || empty[node.children[0]];
        break;
      case HirKind::kCapture:
        ++out.groups;
        [[fallthrough]];
      case HirKind::kAtomic:
        empty[i] = empty[node.children[0]];
        break;
      default:
        empty[i] = true;
    }
  }
  out.nullable = empty.back();
  out.literal = nodes.back().kind == HirKind::kLiteral;
  // Invariant: the nodes of `left` are part of every match, and the one that
  // comes first in the pattern is the last of the list.  What is below an
  // alternation or a repetition that may be left out is in some matches only.
  std::vector<std::size_t> left = {nodes.size() - 1};
  while (!left.empty()) {
    const regex::HirNode& node = nodes[left.back()];
    left.pop_back();
    if (node.kind == HirKind::kLiteral) out.literals.push_back(node.text);
    const bool always = node.kind == HirKind::kConcat ||
                        node.kind == HirKind::kCapture ||
                        node.kind == HirKind::kAtomic ||
                        (node.kind == HirKind::kRepeat && node.min > 0);
    if (always) {
      left.insert(left.end(), node.children.rbegin(), node.children.rend());
    }
  }
  return out;
}

// Whether a match of `text` may overlap one of `next` that begins in it or with
// its end.
bool overlap(std::string_view text, std::string_view next) {
  if (text.find(next) != std::string_view::npos) return true;
  for (std::size_t size = 1; size <= std::min(text.size(), next.size());
       ++size) {
    if (text.substr(text.size() - size) == next.substr(0, size)) return true;
  }
  return false;
}

// Reduces the closing "(?:X|$)" to X: a region without a closing ends with the
// text anyway.
std::string without_end(const std::string& close) {
  if (close == "$" || close == "\\Z") return "";
  const std::optional<std::string> inner = inside(close, "(?:");
  if (!inner) return close;
  for (std::string_view end : {"|$", "|\\Z"}) {
    if (inner->size() > end.size() &&
        std::string_view(*inner).substr(inner->size() - end.size()) == end) {
      const std::string some = inner->substr(0, inner->size() - end.size());
      return split(some) ? some : "(?:" + some + ")";
    }
  }
  return close;
}

std::optional<Cut> cut_pattern(std::string_view pattern) {
  const std::optional<Items> items = split(pattern);
  if (!items) return std::nullopt;
  for (std::size_t i = 0; i < items->size(); ++i) {
    const std::optional<std::string> body = inside((*items)[i], "(");
    if (!body) continue;
    Cut out;
    out.open = join(*items, 0, i);
    out.body = *body;
    const std::string close = join(*items, i + 1, items->size());
    out.close = without_end(close);
    out.ends = !close.empty();
    return out;
  }
  return std::nullopt;
}

// Reads a JMESPath expression of the few forms that a transform can express.
class TransformReader {
 public:
  struct Read {
    bool each = false;     // [*].{...}
    bool wrapped = false;  // [{...}]
    Value transform = {};
  };

  explicit TransformReader(std::string_view text) {
    // Drop white space outside of quotes, where it has no meaning.
    char quote = 0;
    for (char c : text) {
      if (quote == 0 && (c == ' ' || c == '\n' || c == '\t' || c == '\r')) {
        continue;
      }
      if (c == quote) {
        quote = 0;
      } else if (quote == 0 && (c == '\'' || c == '"')) {
        quote = c;
      }
      text_ += c;
    }
  }

  std::optional<Read> run() && {
    Read out;
    out.each = take("[*].");
    each_ = out.each;
    out.wrapped = !out.each && take("[");
    std::optional<Value> value = object(1);
    if (!value) return std::nullopt;
    if (out.wrapped && !take("]")) return std::nullopt;
    if (at_ != text_.size()) return std::nullopt;
    out.transform = std::move(*value);
    return out;
  }

 private:
  bool take(std::string_view text) {
    if (std::string_view(text_).substr(at_, text.size()) != text) return false;
    at_ += text.size();
    return true;
  }

  std::string name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           ((text_[at_] >= 'a' && text_[at_] <= 'z') ||
            (text_[at_] >= 'A' && text_[at_] <= 'Z') || text_[at_] == '_' ||
            (at_ > begin && text_[at_] >= '0' && text_[at_] <= '9'))) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  std::optional<Value> object(std::size_t depth) {
    if (depth > 16 || !take("{")) return std::nullopt;
    Object out;
    do {
      std::string key = name();
      if (key.empty() || !take(":")) return std::nullopt;
      std::optional<Value> value = member(depth);
      if (!value) return std::nullopt;
      out.set(std::move(key), std::move(*value));
    } while (take(","));
    if (!take("}")) return std::nullopt;
    return Value(std::move(out));
  }

  std::optional<Value> member(std::size_t depth) {
    if (at_ < text_.size() && text_[at_] == '{') return object(depth + 1);
    if (take("@")) {
      if (each_) return std::nullopt;
      return Value("{content}");
    }
    if (take("'")) {
      const std::size_t end = text_.find('\'', at_);
      if (end == std::string::npos) return std::nullopt;
      const std::string literal = text_.substr(at_, end - at_);
      at_ = end + 1;
      if (literal.find_first_of("{\\") != std::string::npos) {
        return std::nullopt;
      }
      return Value(literal);
    }
    std::string path = each_ ? "" : "content";
    do {
      const std::string key = name();
      if (key.empty()) return std::nullopt;
      path += (path.empty() ? "" : ".") + key;
    } while (take("."));
    return Value("{" + path + "}");
  }

  std::string text_;
  std::size_t at_ = 0;
  bool each_ = false;
};

class Converter {
 public:
  Converter(const Description& schema, std::string_view start_anchor)
      : schema_(schema), start_anchor_(start_anchor) {}

  Result<Value> run() && {
    const Node& root = schema_.nodes[0];
    if (root.type != ValueType::kObject) {
      return refuse(root, "type", "a message is an object.");
    }
    if (!root.substitutions.empty()) {
      return refuse(root, "x-regex-substitutions",
                    "templates do not rewrite the text.");
    }
    if (root.parser != NodeParser::kNone || root.key_value || root.iterator) {
      return refuse(root, "",
                    "the whole text is parsed at once, not in regions.");
    }
    std::optional<Error> error =
        root.regex ? read_sequence(root) : read_properties(root);
    if (error) return *std::move(error);
    Object out;
    out.set("version", 1);
    if (!defaults_.empty()) out.set("defaults", std::move(defaults_));
    if (start_anchor_.empty()) {
      out.set("start_anchor_pattern", "\\Z");
    } else {
      out.set("start_anchor", start_anchor_);
    }
    out.set("fields", std::move(fields_));
    return Value(std::move(out));
  }

 private:
  const Node& node(NodeId id) const { return schema_.nodes[id]; }

  // Reads a root without a pattern: each property searches the whole text, and
  // becomes a field whose opening, body and closing are those of its pattern.
  std::optional<Error> read_properties(const Node& root) {
    for (const auto& [name, child] : root.properties) {
      const Node& property = node(child);
      if (property.constant) {
        defaults_.set(name, *property.constant);
        continue;
      }
      const std::optional<NodePattern>& pattern =
          property.iterator ? property.iterator : property.regex;
      const char* key = property.iterator ? "x-regex-iterator" : "x-regex";
      if (!pattern) {
        return refuse(property, "",
                      "the property takes the whole text, which no region "
                      "is.");
      }
      if (property.iterator && property.regex) {
        return refuse(property, key, "two patterns are nested.");
      }
      const std::optional<Cut> cut =
          pattern->fault ? std::nullopt : cut_pattern(pattern->source);
      if (!cut || cut->open.empty()) {
        return refuse(property, key,
                      "the pattern is not an opening, one group and a "
                      "closing, without flags of the whole pattern.");
      }
      regions_.push_back({&property, key, name, read_delimiter(cut->open),
                          read_delimiter(cut->close)});
      if (regions_.back().open.groups + regions_.back().close.groups > 0) {
        return refuse(property, key,
                      "the pattern has several groups, and a region has one "
                      "content.");
      }
      Object field;
      if (auto error = read_field(property, key, *cut,
                                  property.iterator.has_value(), field)) {
        return error;
      }
      fields_.set(name, std::move(field));
    }
    require(root);
    return check_apart();
  }

  // Refuses properties whose matches may share bytes.  The searches of a schema
  // do not know of each other: with one property between "<a>" and "<b>" and
  // another one after "<b>", the same "<b>" ends the first and begins the
  // second. A template reads each byte once: what closes a region cannot open
  // the next.
  std::optional<Error> check_apart() const {
    for (const Region& one : regions_) {
      if (one.open.literals.empty()) continue;
      const std::string& opening = one.open.literals.front();
      for (const Region& other : regions_) {
        if (&one == &other) continue;
        bool shared = false;
        for (const std::string& text : other.open.literals) {
          shared = shared || (one.open.literal &&
                              text.find(opening) != std::string::npos);
        }
        // Patterns that begin alike may match the same text.
        if (!other.open.literals.empty()) {
          const std::string& begin = other.open.literals.front();
          shared = shared ||
                   (!(one.open.literal && other.open.literal) &&
                    (begin.starts_with(opening) || opening.starts_with(begin)));
        }
        for (const std::string& text : other.close.literals) {
          shared = shared || text.find(opening) != std::string::npos;
        }
        if (!other.close.literals.empty()) {
          shared = shared || overlap(other.close.literals.back(), opening);
        }
        if (!shared) continue;
        return refuse(*one.property, one.key,
                      "what opens it is a part of what opens or closes \"" +
                          other.name + "\", and a template reads it once.");
      }
    }
    return std::nullopt;
  }

  // Reads a root whose pattern is a sequence of optional named regions, with
  // white space between them.  The last region may be the rest of the text.
  //
  // Invariant: fields_ has the regions of the items before the i-th, in order.
  // An item is "(?:open(?P<name>body)close)?", which becomes the field `name`,
  // or the named group of the rest, which ends the sequence.
  std::optional<Error> read_sequence(const Node& root) {
    const std::string form =
        "the pattern is not a sequence of optional groups, each an opening, a "
        "named group and a closing, with the rest of the text in the last.";
    std::optional<Items> items =
        root.regex->fault ? std::nullopt : split(root.regex->source);
    if (!items) return refuse(root, "x-regex", form);
    for (const auto& [name, child] : root.properties) {
      if (node(child).constant) defaults_.set(name, *node(child).constant);
    }
    std::size_t i = !items->empty() && (*items)[0] == "^" ? 1 : 0;
    for (; i < items->size(); ++i) {
      const std::string& item = (*items)[i];
      if (item == "\\s*") continue;
      if (const auto rest = inside(item, "(?P<", ")?")) {
        return read_rest(root, *rest, *items, i, form);
      }
      // Split the item at its named group, which is parts[at].
      const std::optional<std::string> piece = inside(item, "(?:", ")?");
      std::optional<Items> parts = piece ? split(*piece) : std::nullopt;
      if (!parts) return refuse(root, "x-regex", form);
      std::size_t at = 0;
      std::optional<std::string> named;
      while (at < parts->size() && !(named = inside((*parts)[at], "(?P<"))) {
        ++at;
      }
      if (!named) return refuse(root, "x-regex", form);
      // Make an optional opening such as "(?:<think>)?" required.  It is
      // optional because the prompt may contain it, and a template reads that
      // part of the prompt too.
      for (std::size_t p = 0; p < at; ++p) {
        if (const auto literal = inside((*parts)[p], "(?:", ")?")) {
          (*parts)[p] = "(?:" + *literal + ")";
        }
      }
      // Write the field of the property that the group names.
      Cut cut;
      cut.open = join(*parts, 0, at);
      cut.close = join(*parts, at + 1, parts->size());
      const std::size_t bracket = named->find('>');
      const std::string name = named->substr(0, bracket);
      cut.body = named->substr(bracket + 1);
      const Value* index = root.property_index.find(name);
      if (cut.open.empty() || cut.close.empty() || index == nullptr) {
        return refuse(root, "x-regex", form);
      }
      const Node& property = node(
          root.properties[static_cast<std::size_t>(index->as_int())].second);
      if (property.constant) continue;
      Object field;
      if (auto error = read_field(property, "x-regex", cut, false, field)) {
        return error;
      }
      fields_.set(name, std::move(field));
    }
    require(root);
    return std::nullopt;
  }

  // Reads the rest of the text, "(?P<content>.+?)?\s*(?:END|$)": a region that
  // opens at the first character that is not white space and that opens no
  // other region.
  std::optional<Error> read_rest(const Node& root, const std::string& group,
                                 const Items& items, std::size_t at,
                                 const std::string& form) {
    const std::size_t bracket = group.find('>');
    const std::string name = group.substr(0, bracket);
    const bool spaced = at + 1 < items.size() && items[at + 1] == "\\s*";
    const std::string close = join(items, at + (spaced ? 2 : 1), items.size());
    const Value* index = root.property_index.find(name);
    if (group.substr(bracket + 1) != ".+?" || close.empty() ||
        index == nullptr || (close != "$" && without_end(close) == close)) {
      return refuse(root, "x-regex", form);
    }
    const Node& property =
        node(root.properties[static_cast<std::size_t>(index->as_int())].second);
    if (property.type != ValueType::kString &&
        property.type != ValueType::kAny) {
      return refuse(property, "type", "the rest of the text is a string.");
    }
    Object field;
    field.set("open_pattern", "(?=\\S)");
    const std::string end = without_end(close);
    if (!end.empty()) {
      field.set("close_pattern", (spaced ? "\\s*" : "") + end);
    }
    field.set("content", "text");
    if (!spaced) field.set("content_args", Object{{"strip", false}});
    fields_.set(name, std::move(field));
    require(root);
    return std::nullopt;
  }

  void require(const Node& root) {
    for (const std::string& name : root.required) {
      Value* field = fields_.find(name);
      if (field != nullptr) field->mutable_members().set("optional", false);
    }
  }

  static void set_delimiters(const Cut& cut, Object& field) {
    field.set("open_pattern", cut.open);
    if (!cut.close.empty()) field.set("close_pattern", cut.close);
  }

  // Writes the field for the region `cut` of `property`.  `each`: the region is
  // one match of an iterator.
  std::optional<Error> read_field(const Node& property, std::string_view key,
                                  const Cut& cut, bool each, Object& field) {
    if (!property.substitutions.empty()) {
      return refuse(property, "x-regex-substitutions",
                    "templates do not rewrite the text.");
    }
    if (each) {
      if (!property.items) {
        return refuse(property, "", "the items are not all of one kind.");
      }
      field.set("repeats", true);
      return read_item(node(*property.items), property, key, cut, field);
    }
    // An array whose only element is the group of the sequence itself.
    if (property.iterator && property.items &&
        property.type == ValueType::kArray &&
        property.iterator->source == "^(.*)$" && key == "x-regex" &&
        !property.regex) {
      field.set("repeats", true);
      return read_item(node(*property.items), property, key, cut, field);
    }
    if (property.iterator || property.key_value) {
      return refuse(
          property,
          property.iterator ? "x-regex-iterator" : "x-regex-key-value",
          "a second pattern searches inside of the region.");
    }
    return read_item(property, property, key, cut, field);
  }

  // Returns an error unless `body`, the last item of the group, ends where a
  // region does: at the first closing, or at the end of the text.
  std::optional<Error> check_end(const Node& property, std::string_view key,
                                 const Cut& cut, std::string_view body) const {
    if (read_delimiter(cut.open).nullable) {
      return refuse(property, key,
                    "what opens the region may be empty, so that it is open "
                    "from the first byte.");
    }
    const bool lazy = body.ends_with('?');
    if (lazy && !cut.ends) {
      return refuse(property, key,
                    "nothing follows the group, so that it takes as little as "
                    "it can; end the pattern with \"$\".");
    }
    if (!lazy && !cut.close.empty()) {
      return refuse(property, key,
                    "the group takes the text up to the last closing, and a "
                    "region ends at the first; write \"" +
                        std::string(body) + "?\".");
    }
    if (!cut.close.empty() && read_delimiter(cut.close).nullable) {
      return refuse(property, key,
                    "what closes the region may be empty, so that it is closed "
                    "at once.");
    }
    return std::nullopt;
  }

  std::optional<Error> read_item(const Node& item, const Node& property,
                                 std::string_view key, Cut cut, Object& field) {
    const bool own = &item == &property;
    if (item.parser == NodeParser::kNone && item.type == ValueType::kObject) {
      return read_call(item, property, key, std::move(cut), field);
    }
    if (!own && item.regex) {
      return refuse(item, "x-regex",
                    "a second pattern searches inside of the region.");
    }
    if (!takes_anything(cut.body)) {
      return refuse(property, key,
                    "the group asks something of its text, and a region takes "
                    "what comes until it closes.");
    }
    if (auto error = check_end(property, key, cut, cut.body)) return error;
    set_delimiters(cut, field);
    if (item.parser != NodeParser::kNone) {
      return read_json(item, own, field);
    }
    switch (item.type) {
      case ValueType::kString:
      case ValueType::kAny:
        field.set("content", "text");
        field.set("content_args", Object{{"strip", false}});
        return std::nullopt;
      case ValueType::kInteger:
        field.set("content", "int");
        return std::nullopt;
      case ValueType::kNumber:
        field.set("content", "float");
        return std::nullopt;
      default:
        return refuse(item, "type",
                      "a region that is not JSON is text, an integer or a "
                      "number.");
    }
  }

  static void set_json(const Node& item, Object& field) {
    Object args;
    if (item.parser == NodeParser::kGemma4) {
      args.set("unquoted_keys", true);
      // Not Array{Array{...}}: compilers disagree whether that is a copy.
      json::Array pairs;
      pairs.emplace_back(json::Array{"<|\"|>", "<|\"|>"});
      args.set("string_delims", std::move(pairs));
    }
    if (item.allow_non_json) {
      args.set("allow_non_json", true);
      args.set("strip", false);
    }
    field.set("content", "json");
    if (!args.empty()) field.set("content_args", std::move(args));
  }

  std::optional<Error> read_json(const Node& item, bool own, Object& field) {
    set_json(item, field);
    if (item.transform_fault) {
      return refuse(item, "x-parser-args", "the transform is invalid.");
    }
    const Node* target = &item;
    if (item.transform) {
      const auto read = TransformReader(item.transform->expression()).run();
      if (!read) {
        return refuse(item, "x-parser-args",
                      "a template's transform builds objects of constants and "
                      "of parts of the content, and this JMESPath says more.");
      }
      if (read->each) field.set("transform_each", true);
      if (read->wrapped) {
        if (!own) {
          return refuse(item, "x-parser-args",
                        "each region gives a list of its own.");
        }
        field.set("repeats", true);
      }
      field.set("transform", read->transform);
      if (read->each || read->wrapped) {
        if (!item.items) {
          return refuse(item, "", "the items are not all of one kind.");
        }
        target = &node(*item.items);
      }
      return check_unchanged(*target, &read->transform);
    }
    return check_unchanged(*target, nullptr);
  }

  // Returns an error unless node `target` leaves every value that the transform
  // `made` produces unchanged, apart from the order of keys and from failures.
  // If `made` is null, the value is any JSON value.
  //
  // Recurses over target and `made` together.  Invariant: `made` is the part of
  // the transform that produces the value of `target`.  A placeholder, such as
  // "{content}", again produces any value.
  std::optional<Error> check_unchanged(const Node& target, const Value* made) {
    if (target.constant) {
      if (made != nullptr && *made == *target.constant) return std::nullopt;
      return refuse(target, "const", "a value is replaced by a constant.");
    }
    const bool placeholder = made == nullptr || !made->is_object();
    // Patterns change a value.  A lone x-regex does not, because it is the
    // pattern of the region itself.
    if (target.wants_text ||
        (target.parser != NodeParser::kNone && made == nullptr &&
         target.pointer.find("/properties/") == std::string::npos)) {
      if (!target.regex || target.iterator || target.key_value ||
          !target.substitutions.empty()) {
        return refuse(target, "", "a pattern searches inside of a value.");
      }
    }
    // "type" converts scalars and rejects every value if it is unknown.
    switch (target.type) {
      case ValueType::kInteger:
      case ValueType::kNumber:
      case ValueType::kBoolean:
        return refuse(target, "type", "a value inside of JSON is converted.");
      case ValueType::kUnknown:
        return refuse(target, "type", "every value fails here.");
      default:
        break;
    }
    if (target.type == ValueType::kObject) {
      if (target.drops_additional) {
        return refuse(target, "additionalProperties", "keys are dropped.");
      }
      for (const auto& [name, child] : target.properties) {
        const Value* part = placeholder ? nullptr : made->find(name);
        if (node(child).fallback && part == nullptr) {
          return refuse(node(child), "default", "a default is put in.");
        }
        if (auto error = check_child(node(child), part)) return error;
      }
      if (target.additional) {
        return check_child(node(*target.additional), nullptr);
      }
    }
    if (target.type == ValueType::kArray && target.items && placeholder) {
      return check_child(node(*target.items), nullptr);
    }
    return std::nullopt;
  }

  std::optional<Error> check_child(const Node& child, const Value* made) {
    if (!child.constant &&
        (child.wants_text || child.parser != NodeParser::kNone)) {
      return refuse(child, "", "a value inside of JSON is parsed once more.");
    }
    return check_unchanged(child, made);
  }

  // Reads an object whose properties take parts of the text of the region: the
  // opening captures names, and one part is the content.
  std::optional<Error> read_call(const Node& item, const Node& property,
                                 std::string_view key, Cut cut, Object& field) {
    Call call;
    if (auto error = collect(item, item, call)) return error;
    if (call.content == nullptr) {
      return refuse(item, "", "no part of the object is the region's content.");
    }
    if (auto error = build_open(property, key, call, cut)) return error;
    set_delimiters(cut, field);
    if (call.content->key_value) {
      Object args{{"tag_pattern", call.content->key_value->source}};
      if (call.content->additional) {
        const Node& values = node(*call.content->additional);
        if (values.parser == NodeParser::kJson && !values.transform) {
          Object parser{{"name", "json"}};
          if (values.allow_non_json) {
            parser.set("args",
                       Object{{"allow_non_json", true}, {"strip", false}});
          }
          args.set("value_parser", std::move(parser));
        } else if (values.parser != NodeParser::kNone || values.wants_text ||
                   values.constant ||
                   (values.type != ValueType::kAny &&
                    values.type != ValueType::kString)) {
          return refuse(values, "", "values are parsed in more than one step.");
        }
      }
      field.set("content", "xml-inline");
      field.set("content_args", std::move(args));
    } else {
      set_json(*call.content, field);
    }
    field.set("transform", std::move(call.transform));
    return std::nullopt;
  }

  struct Capture {
    std::string name;
    const Node* node;
  };
  struct Call {
    std::vector<Capture> captures;
    const Node* content = nullptr;
    const Node* named = nullptr;  // has an x-regex with named groups
    Value transform;
  };

  // Adds the parts of `target`, an object, to `call`, with those of the objects
  // inside it.  Captures and content add up over all objects; call.transform is
  // the transform of the object that was collected last, so the caller puts it
  // into its own before the next one.
  std::optional<Error> collect(const Node& target, const Node& top,
                               Call& call) {
    if (target.regex && target.regex->has_names()) {
      if (call.named != nullptr) {
        return refuse(target, "x-regex", "two patterns give names.");
      }
      call.named = &target;
    } else if (target.wants_text) {
      return refuse(target, "",
                    "a second pattern searches inside of the "
                    "region.");
    }
    Object out;
    for (const auto& [name, child] : target.properties) {
      const Node& part = node(child);
      if (part.constant) {
        out.set(name, *part.constant);
      } else if (part.parser == NodeParser::kNone && !part.key_value &&
                 part.type == ValueType::kObject) {
        Call inner = std::move(call);
        if (auto error = collect(part, top, inner)) return error;
        out.set(name, inner.transform);
        call = std::move(inner);
      } else if (part.type == ValueType::kString &&
                 part.parser == NodeParser::kNone) {
        call.captures.push_back({name, &part});
        out.set(name, "{" + name + "}");
      } else if (call.content == nullptr && !part.transform &&
                 (part.parser != NodeParser::kNone || part.key_value)) {
        if (auto error = check_content(part)) return error;
        call.content = &part;
        out.set(name, "{content}");
      } else {
        return refuse(part, "",
                      "it is neither a name in the opening nor the "
                      "one content of the region.");
      }
    }
    call.transform = Value(std::move(out));
    return std::nullopt;
  }

  std::optional<Error> check_content(const Node& part) {
    if (!part.properties.empty()) {
      for (const auto& [name, child] : part.properties) {
        if (auto error = check_child(node(child), nullptr)) return error;
      }
    }
    if (part.key_value || !part.additional) return std::nullopt;
    return check_child(node(*part.additional), nullptr);
  }

  // Moves the part of the region before its content into the opening of `cut`,
  // with a named group for each capture of `call`.
  //
  // The group of the region's pattern is the pattern `head` followed by any
  // text, and the content is the last part of this group.  The schema searches
  // the whole group for each capture, so the template means the same only if
  // the capture matches in the head or, if there is none, before the content.
  std::optional<Error> build_open(const Node& property, std::string_view key,
                                  const Call& call, Cut& cut) {
    const std::string why =
        "the parts of the region cannot be told by an opening that names them "
        "in order.";
    const std::optional<Items> body = split(cut.body);
    if (!body || body->empty() || !takes_anything(body->back())) {
      return refuse(property, key, why);
    }
    if (auto error = check_end(property, key, cut, body->back())) return error;
    // The part of the group's pattern before its last item, which matches any
    // text.
    std::string head = join(*body, 0, body->size() - 1);
    if (call.named != nullptr) {
      return open_by_names(call, head, cut);
    }
    if (call.content->regex) {
      // "L(.*)": the content begins after the first L, so the head must end
      // with L.
      const std::optional<Cut> inner = cut_pattern(call.content->regex->source);
      const std::string& mark = inner ? inner->open : head;
      if (!inner || !inner->close.empty() || inner->body != ".*" ||
          head.size() < mark.size() ||
          head.substr(head.size() - mark.size()) != mark) {
        return refuse(*call.content, "x-regex", why);
      }
    } else if (!call.content->key_value || !head.empty()) {
      return refuse(*call.content, "", why);
    }
    if (call.captures.size() > 1) return refuse(property, key, why);
    for (const Capture& capture : call.captures) {
      if (!add_capture(capture, head)) {
        return refuse(*capture.node, "x-regex", why);
      }
    }
    cut.open += head;
    return std::nullopt;
  }

  // Puts the pattern of the capture, with its group named, into `head`.  False
  // if it does not fit there.
  static bool add_capture(const Capture& capture, std::string& head) {
    if (!capture.node->regex || capture.node->regex->fault) return false;
    const std::optional<Items> items = split(capture.node->regex->source);
    if (!items) return false;
    const bool anchored = !items->empty() && (*items)[0] == "^";
    std::string before;  // the part of the pattern before the group
    std::string named;   // the pattern
    for (std::size_t i = anchored ? 1 : 0; i < items->size(); ++i) {
      if (const auto group = inside((*items)[i], "(")) {
        named += "(?P<" + capture.name + ">" + *group + ")";
      } else {
        named += (*items)[i];
        if (named.find("(?P<") == std::string::npos) before += (*items)[i];
      }
    }
    // An anchored pattern replaces the beginning of the head.  Any other
    // pattern may skip text, which only an empty head allows.
    if (anchored && head.starts_with(before)) {
      head = named + head.substr(before.size());
      return true;
    }
    if (anchored || !head.empty()) return false;
    head = ".*?" + named;
    return true;
  }

  // As build_open(), for one pattern that names all parts, such as
  // "call:(?P<name>\w+)(?P<arguments>\{.*\})".  The last group is the content.
  std::optional<Error> open_by_names(const Call& call, const std::string& head,
                                     Cut& cut) {
    const std::string why =
        "the named groups are not the parts of the region in order.";
    const std::optional<Items> items = split(call.named->regex->source);
    if (!items || items->empty() || !head.empty() ||
        !inside(items->back(), "(?P<")) {
      return refuse(*call.named, "x-regex", why);
    }
    const std::string last = *inside(items->back(), "(?P<");
    const std::string name = last.substr(0, last.find('>'));
    const Value* index = call.named->property_index.find(name);
    if (index == nullptr ||
        &node(call.named->properties[static_cast<std::size_t>(index->as_int())]
                  .second) != call.content) {
      return refuse(*call.named, "x-regex", why);
    }
    cut.open += join(*items, 0, items->size() - 1);
    return std::nullopt;
  }

  // A property of a root without a pattern.
  struct Region {
    const Node* property;
    const char* key;
    std::string name;
    Delimiter open;
    Delimiter close;
  };

  const Description& schema_;
  std::string_view start_anchor_;
  std::vector<Region> regions_;
  Object defaults_;
  Object fields_;
};

}  // namespace

Result<json::Value> to_template(const Description& schema,
                                std::string_view start_anchor) {
  return Converter(schema, start_anchor).run();
}

}  // namespace parlance::response_schema
