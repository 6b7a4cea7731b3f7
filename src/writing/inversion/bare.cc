// A field is written as open delimiter, body, close delimiter.
//
//   open, close   the preferred shortest spelling of the pattern, in which the
//                 named group that the transform uses as the tool's name is
//                 the name, and a class in another named group is a pattern
//   body          what the content type reads: a JSON object whose members are
//                 where the transform takes name and arguments from, or
//                 elements, spelled by the shortest match of tag_pattern

#include "inversion/bare.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/unbounded.h"
#include "base/utf8.h"
#include "format/call_parts.h"
#include "inversion/shortest.h"
#include "json/located.h"
#include "json/writer.h"
#include "regex/hir_properties.h"
#include "regex/necessary_literals.h"

namespace parlance::inversion {
namespace {

using format::ArgumentStyle;
using format::ContentKind;
using format::Delimiter;
using format::Description;
using format::Field;
using format::FieldId;
using format::Path;
using format::Transform;
using format::WriteLayout;
using format::WritePart;
using format::WriteParts;
using format::WriteStep;
using regex::Hir;
using regex::HirId;
using regex::HirKind;
using regex::HirNode;

// What a call's id may be, as the text of a JSON string with its quotes.
constexpr std::string_view kIdPattern = "\"[A-Za-z0-9_-]{1,64}\"";

WritePart text_part(std::string_view text) {
  WritePart part;
  part.text = text;
  return part;
}

void add_text(WriteParts& parts, std::string_view text) {
  if (text.empty()) return;
  if (!parts.empty() && parts.back().kind == WritePart::Kind::kText) {
    parts.back().text += text;
  } else {
    parts.push_back(text_part(text));
  }
}

void add_all(WriteParts& parts, const WriteParts& more) {
  for (const WritePart& part : more) {
    if (part.kind == WritePart::Kind::kText) {
      add_text(parts, part.text);
    } else {
      parts.push_back(part);
    }
  }
}

// ---- transform ----

// Where the transform of a field takes a call's parts from.
struct CallPaths {
  std::optional<Path> name;
  std::optional<Path> arguments;
  std::vector<Path> others;  // must be there, too
};

// The placeholders of `transform`: those that are the member "name" and
// "arguments" (or "parameters", "args") of an object, and others.  A
// placeholder that is the member "function" is an object with both.
void collect(const Transform& transform, std::string_view key, CallPaths& out,
             bool& twice) {
  switch (transform.kind) {
    case Transform::Kind::kConstant:
      break;
    case Transform::Kind::kPlaceholder: {
      if (key == "function") {
        twice = twice || out.name || out.arguments;
        out.name = out.arguments = transform.path;
        out.name->push_back("name");
        out.arguments->push_back("arguments");
        break;
      }
      const bool arguments =
          key == "arguments" || key == "parameters" || key == "args";
      std::optional<Path>* place = key == "name" ? &out.name
                                   : arguments   ? &out.arguments
                                                 : nullptr;
      if (place == nullptr) {
        out.others.push_back(transform.path);
      } else {
        twice = twice || place->has_value();
        *place = transform.path;
      }
      break;
    }
    case Transform::Kind::kList:
      for (const Transform& item : transform.items) {
        collect(item, "", out, twice);
      }
      break;
    case Transform::Kind::kObject:
      for (const auto& [name, member] : transform.members) {
        collect(member, name, out, twice);
      }
      break;
  }
}

// ---- patterns ----

// A named group that is written as a part.
struct Hole {
  std::string_view group;
  WritePart::Kind part;
};

// The parts that spell a pattern.
//
// Invariant: parts_ spells what comes before the nodes of left_ in the pattern,
// and left_ has the nodes that are still to be spelled, the next one on top.
// So children are pushed in reverse.
class Speller {
 public:
  Speller(const Hir& hir, std::span<const Hole> holes)
      : hir_(hir), has_hole_(hir.nodes.size(), false) {
    for (const regex::GroupName& name : hir.names) {
      for (const Hole& hole : holes) {
        if (name.name == hole.group) holes_.push_back({name.group, hole.part});
      }
    }
    for (HirId id = 0; id < hir.nodes.size(); ++id) {
      const HirNode& node = hir.nodes[id];
      has_hole_[id] = hole_of(node) ||
                      std::any_of(node.children.begin(), node.children.end(),
                                  [&](HirId c) { return has_hole_[c]; });
    }
  }

  // Nothing if a part cannot be spelled.
  //
  // A walk in the order of the text, with a stack in place of recursion.
  // Invariant: parts_ spells all that comes before left_, whose top comes next.
  std::optional<WriteParts> spell() && {
    left_.push_back({static_cast<HirId>(hir_.nodes.size() - 1), false});
    while (!left_.empty()) {
      const Visit next = left_.back();
      left_.pop_back();
      if (!visit(next)) return std::nullopt;
    }
    return std::move(parts_);
  }

 private:
  static constexpr std::uint32_t kMostRepeats = 64;

  struct Visit {
    HirId id;
    bool in_group;  // where the text may vary
  };

  // False if the node cannot be spelled.
  bool visit(const Visit& at) {
    const HirNode& node = hir_.nodes[at.id];
    if (const auto kind = hole_of(node)) {
      WritePart part;
      part.kind = *kind;
      parts_.push_back(std::move(part));
      return true;
    }
    switch (node.kind) {
      case HirKind::kConcat:
        for (std::size_t i = node.children.size(); i-- > 0;) {
          left_.push_back({node.children[i], at.in_group});
        }
        return true;
      case HirKind::kConditional:
        // The group has been spelled if it matched.
        if (spelled_.contains(node.group)) {
          left_.push_back({node.children[0], at.in_group});
        } else if (node.children.size() > 1) {
          left_.push_back({node.children[1], at.in_group});
        }
        return true;
      case HirKind::kAlternation: {
        // The preferred alternative is the first, unless another one has a
        // hole: without its name a call could not be written.
        HirId choice = node.children.front();
        for (const HirId child : node.children) {
          if (has_hole_[child]) choice = child;
        }
        left_.push_back({choice, at.in_group});
        return true;
      }
      case HirKind::kCapture:
        spelled_.insert(node.group);
        left_.push_back({node.children[0], true});
        return true;
      case HirKind::kAtomic:
        left_.push_back({node.children[0], at.in_group});
        return true;
      case HirKind::kRepeat:
        return visit_repeat(at, node);
      case HirKind::kLiteral:
        add_text(parts_, node.text);
        return true;
      case HirKind::kClass:
        return visit_class(at);
      case HirKind::kNothing:
      case HirKind::kBackref:
        return false;
      case HirKind::kEmpty:
      case HirKind::kAssert:
      case HirKind::kLook:
        return true;
    }
    return false;
  }

  // Whether what is left to spell has text in any case.  If not, a lazy repeat
  // before it reads as few repetitions as it may.
  bool needs_more() const {
    Hir rest = hir_;
    HirNode root;
    root.kind = HirKind::kConcat;
    for (const Visit& visit : left_) root.children.push_back(visit.id);
    rest.nodes.push_back(std::move(root));
    return !regex::can_be_empty(rest);
  }

  // As few repetitions as the pattern allows, but one for a hole.
  bool visit_repeat(const Visit& at, const HirNode& node) {
    const HirId child = node.children[0];
    const bool has_hole = has_hole_[at.id];
    const bool varies =
        at.in_group && hir_.nodes[child].kind == HirKind::kClass;
    if (varies && !has_hole && (node.greedy || needs_more())) {
      add_pattern(at.id);
      return true;
    }
    const std::uint32_t times = has_hole ? std::max(node.min, 1U) : node.min;
    if (times > kMostRepeats) return false;
    for (std::uint32_t i = 0; i < times; ++i) {
      left_.push_back({child, at.in_group});
    }
    return true;
  }

  bool visit_class(const Visit& at) {
    if (at.in_group) {
      add_pattern(at.id);
      return true;
    }
    const auto text = shortest_match(hir_, at.id);
    if (!text) return false;
    add_text(parts_, *text);
    return true;
  }

  std::optional<WritePart::Kind> hole_of(const HirNode& node) const {
    if (node.kind != HirKind::kCapture) return std::nullopt;
    for (const auto& [group, part] : holes_) {
      if (group == node.group) return part;
    }
    return std::nullopt;
  }
  void add_pattern(HirId id) {
    WritePart part;
    part.kind = WritePart::Kind::kId;
    part.text = pattern_of(hir_, id);
    parts_.push_back(std::move(part));
  }

  const Hir& hir_;
  std::vector<std::pair<std::uint32_t, WritePart::Kind>> holes_;
  std::vector<bool> has_hole_;  // by node: in it or below it
  std::vector<Visit> left_ = {};
  std::set<std::uint32_t> spelled_ = {};  // groups
  WriteParts parts_ = {};
};

// ---- bodies ----

// A JSON object that is written with parts where values are to be filled in.
// Members of one object stand together.
struct Member {
  std::string key;
  std::vector<Member> members;  // if there is no part
  std::optional<WritePart> part;
};

// False if the path conflicts with one that is there.
bool insert(std::vector<Member>& members, std::span<const std::string> path,
            const WritePart& part) {
  if (path.empty()) return false;
  auto at =
      std::find_if(members.begin(), members.end(),
                   [&](const Member& member) { return member.key == path[0]; });
  if (at == members.end()) {
    members.push_back({path[0], {}, std::nullopt});
    at = members.end() - 1;
  } else if (at->part || path.size() == 1) {
    return false;
  }
  if (path.size() == 1) {
    at->part = part;
    return true;
  }
  return insert(at->members, path.subspan(1), part);
}

void write_object(WriteParts& out, const std::vector<Member>& members) {
  add_text(out, "{");
  for (std::size_t i = 0; i < members.size(); ++i) {
    std::string key = i == 0 ? "" : ", ";
    json::append_string(key, members[i].key, /*ascii=*/false);
    add_text(out, key + ": ");
    if (members[i].part) {
      out.push_back(*members[i].part);
    } else {
      write_object(out, members[i].members);
    }
  }
  add_text(out, "}");
}

WritePart arguments_part(format::ArgumentLayout layout) {
  WritePart part;
  part.kind = WritePart::Kind::kArguments;
  part.arguments = std::move(layout);
  return part;
}

class Deriver {
 public:
  explicit Deriver(const format::FormatImpl& format)
      : description_(format.description),
        pointer_(format.name.empty() ? "" : "/response_template") {}

  Result<format::Writing> derive() {
    const std::vector<Field>& fields = description_.fields;
    out_.fields.resize(fields.size());
    std::vector<WriteStep> reasoning, content, calls;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Field& field = fields[i];
      const FieldId id(i);
      if (field.values_of) continue;  // a notation that is read only
      if (field.open.kind == Delimiter::Kind::kPattern &&
          may_match_nothing(field.open.pattern.hir)) {
        return unsupported(field, "its open_pattern may match the empty text",
                           "open_pattern");
      }
      WriteStep step;
      step.field = id;
      step.optional = field.optional;
      if (field.transform) {
        WriteLayout layout;
        if (auto error = derive_calls(field, layout)) return *std::move(error);
        step.repeats = field.repeats || field.transform_each;
        out_.fields[i].push_back(std::move(layout));
        calls.push_back(step);
        continue;
      }
      // Fields that are neither text nor calls are not written.
      if (field.content.kind != ContentKind::kText) continue;
      WriteLayout layout;
      if (auto error = derive_text(field, layout)) return *std::move(error);
      out_.fields[i].push_back(std::move(layout));
      const bool is_content =
          description_.implicit == id || field.name == "content";
      (is_content ? content : reasoning).push_back(step);
    }
    if (calls.size() > 1) {
      return unsupported(fields[calls[1].field],
                         "there is a second field of calls", "transform");
    }
    for (const auto* steps : {&reasoning, &content, &calls}) {
      out_.steps.insert(out_.steps.end(), steps->begin(), steps->end());
    }
    return std::move(out_);
  }

 private:
  // What tag_pattern reads as a value, and how value_parser reads its text.
  struct ValueReading {
    bool strip = false;  // white space beside a value is not a part of it
    bool json = false;   // the text is JSON
    std::vector<std::string> ends = {};  // what a value cannot contain
    const char* fault = nullptr;
  };

  Error unsupported(const Field& field, const std::string& what,
                    std::string_view key) const {
    return Error{ErrorCode::kUnsupported,
                 "field '" + field.name + "': " + what +
                     ", so it is not known how the field is written.",
                 json::append_pointer(pointer_ + "/fields", field.name) + "/" +
                     std::string(key)};
  }

  // The preferred spelling of a delimiter.  A close delimiter that has no text
  // (a look-ahead) is left out.
  static std::optional<WriteParts> spell(const Delimiter& delimiter,
                                         std::span<const Hole> holes = {}) {
    WriteParts out;
    if (delimiter.kind == Delimiter::Kind::kLiterals) {
      add_text(out, delimiter.literals.front());
    } else if (delimiter.kind == Delimiter::Kind::kPattern) {
      return Speller(delimiter.pattern.hir, holes).spell();
    }
    return out;
  }

  std::optional<Error> derive_text(const Field& field, WriteLayout& layout) {
    WritePart payload;
    payload.kind = WritePart::Kind::kPayload;
    if (!field.open) {
      layout.parts.push_back(std::move(payload));
      return std::nullopt;
    }
    const std::optional<WriteParts> open = spell(field.open);
    if (!open) {
      return unsupported(field, "its open_pattern has no text", "open_pattern");
    }
    if (!field.close) return unsupported(field, "nothing closes it", "open");
    const std::optional<WriteParts> close = spell(field.close);
    if (!close) {
      return unsupported(field, "its close_pattern has no text",
                         "close_pattern");
    }
    add_all(layout.parts, *open);
    layout.parts.push_back(std::move(payload));
    add_all(layout.parts, *close);
    return std::nullopt;
  }

  // The delimiters come first, with the name in the open delimiter if a group
  // of it is the name; then what is between them; then both as the layout.
  std::optional<Error> derive_calls(const Field& field, WriteLayout& layout) {
    CallPaths paths;
    bool twice = false;
    collect(*field.transform, "", paths, twice);
    if (!paths.name || !paths.arguments || twice) {
      return unsupported(field,
                         twice ? "its transform has two members 'name' or "
                                 "'arguments'"
                               : "its transform has no placeholders 'name' and "
                                 "'arguments'",
                         "transform");
    }
    const bool by_group = is_group(field, *paths.name);
    std::vector<Hole> holes;
    if (by_group) holes.push_back({(*paths.name)[0], WritePart::Kind::kName});
    if (!field.open) return unsupported(field, "nothing opens it", "transform");
    const std::optional<WriteParts> open = spell(field.open, holes);
    if (!open) {
      return unsupported(field, "its open_pattern has no text", "open_pattern");
    }
    const std::optional<WriteParts> close = spell(field.close);
    if (!close) {
      return unsupported(field, "its close_pattern has no text",
                         "close_pattern");
    }
    WriteParts body;
    if (auto error = calls_body(field, paths, by_group, body)) return error;
    if (field.transform_each && by_group) {
      return unsupported(field, "a list of calls has one name",
                         "transform_each");
    }
    if (!field.transform_each) {
      add_all(layout.parts, *open);
      add_all(layout.parts, body);
      add_all(layout.parts, *close);
      return std::nullopt;
    }
    layout.section_begin = *open;
    add_text(layout.section_begin, "[");
    layout.parts = std::move(body);
    layout.between = {text_part(", ")};
    add_text(layout.section_end, "]");
    add_all(layout.section_end, *close);
    return std::nullopt;
  }

  std::optional<Error> calls_body(const Field& field, const CallPaths& paths,
                                  bool by_group, WriteParts& out) {
    if (field.content.kind == ContentKind::kJson) {
      return json_body(field, paths, by_group, out);
    }
    if (field.content.kind == ContentKind::kXmlInline && by_group &&
        *paths.arguments == Path{"content"}) {
      return elements_body(field, out);
    }
    if (field.content.kind == ContentKind::kPythonCallList) {
      return call_list_body(field, paths, out);
    }
    return unsupported(field,
                       "calls are written with content 'json', "
                       "'python-call-list' or, if the open_pattern has the "
                       "name, 'xml-inline'",
                       "content");
  }

  // A call of a list: NAME(ARGUMENTS).
  std::optional<Error> call_list_body(const Field& field,
                                      const CallPaths& paths, WriteParts& out) {
    const bool others = std::ranges::any_of(
        paths.others, [&](const Path& path) { return !is_group(field, path); });
    if (!field.transform_each || others || *paths.name != Path{"name"} ||
        *paths.arguments != Path{"arguments"}) {
      return unsupported(field,
                         "a call of its list has the members 'name' and "
                         "'arguments' alone, each of which its transform "
                         "takes with transform_each",
                         "transform");
    }
    WritePart name;
    name.kind = WritePart::Kind::kName;
    out.push_back(std::move(name));
    add_text(out, "(");
    out.push_back(arguments_part({.style = ArgumentStyle::kPython}));
    add_text(out, ")");
    return std::nullopt;
  }

  // Whether a group of the open pattern is what `path` leads to.
  static bool is_group(const Field& field, const Path& path) {
    return path.size() == 1 && format::has_group(field.open, path[0]);
  }

  // The JSON of one call: its arguments, or an object that has them, the name
  // and the other placeholders where the transform takes them from.
  std::optional<Error> json_body(const Field& field, const CallPaths& paths,
                                 bool by_group, WriteParts& out) {
    const format::Content& content = field.content;
    if (!content.string_delims.empty() && !content.unquoted_keys) {
      return unsupported(field,
                         "with string delimiters, keys are written without "
                         "quotes, and it reads none",
                         "content_args");
    }
    const WritePart arguments = arguments_part(json_layout(content));
    if (by_group && *paths.arguments == Path{"content"}) {
      out.push_back(arguments);
      return std::nullopt;
    }
    if (!content.string_delims.empty()) {
      return unsupported(field,
                         "only arguments can have string delimiters, and the "
                         "content has more",
                         "content_args");
    }
    std::vector<Member> members;
    if (!insert_all(field, paths, by_group, arguments, members)) {
      return unsupported(field,
                         "its transform takes name and arguments from places "
                         "that one JSON object does not have",
                         "transform");
    }
    write_object(out, members);
    return std::nullopt;
  }

  static format::ArgumentLayout json_layout(const format::Content& content) {
    if (content.string_delims.empty()) return {};
    const auto& [begin, end] = content.string_delims.front();
    return {.style = ArgumentStyle::kDelimited,
            .delimited_layout = {begin, end}};
  }

  // The name, the arguments and the other placeholders, without those that are
  // groups of the open pattern.  False if the paths conflict.
  static bool insert_all(const Field& field, const CallPaths& paths,
                         bool by_group, const WritePart& arguments,
                         std::vector<Member>& out) {
    // With transform_each a path begins in the item of the list, else in
    // "content".
    const auto insert_at = [&](const Path& path, const WritePart& part) {
      std::span<const std::string> inside(path);
      if (!field.transform_each) {
        if (path.front() != "content") return false;
        inside = inside.subspan(1);
      }
      return insert(out, inside, part);
    };
    if (!by_group) {
      WritePart name;
      name.kind = WritePart::Kind::kName;
      name.json = true;
      if (!insert_at(*paths.name, name)) return false;
    }
    if (!insert_at(*paths.arguments, arguments)) return false;
    WritePart id;
    id.kind = WritePart::Kind::kId;
    id.text = kIdPattern;
    return std::all_of(paths.others.begin(), paths.others.end(),
                       [&](const Path& other) {
                         return is_group(field, other) || insert_at(other, id);
                       });
  }

  // Elements, with the texts that tag_pattern has around key and value.
  std::optional<Error> elements_body(const Field& field, WriteParts& out) {
    const auto texts = element_texts(field.content.tag_pattern.hir);
    if (!texts) {
      return unsupported(field,
                         "its tag_pattern is not a text, the key, a text, the "
                         "value and a text",
                         "content_args/tag_pattern");
    }
    ValueReading read = value_reading(field.content.tag_pattern.hir);
    if (read.fault != nullptr) {
      return unsupported(field, read.fault, "content_args/tag_pattern");
    }
    if (auto error = add_value_parser(field, read)) return error;
    if (field.content.merge_duplicates) {
      return unsupported(field, "it merges arguments of one name",
                         "content_args/merge_duplicates");
    }
    const bool typed =
        field.transform->kind == Transform::Kind::kObject &&
        std::any_of(
            field.transform->members.begin(), field.transform->members.end(),
            [](const auto& member) { return member.first == "function"; });
    if (!typed && !read.json) {
      return unsupported(field,
                         "only arguments of a 'function' are typed by the "
                         "schema of the tool",
                         "transform");
    }
    using Strings = format::ElementLayout::Strings;
    out.push_back(arguments_part(
        {.style = ArgumentStyle::kElements,
         .element_layout = {
             .open = (*texts)[0],
             .middle = (*texts)[1],
             .close = (*texts)[2],
             .strings = read.json ? Strings::kJson : Strings::kRaw,
             .ends = std::move(read.ends),
             .strip = read.strip && !read.json}}));
    return std::nullopt;
  }

  // The texts before the key, between key and value, and after the value.  Only
  // the first may be empty.
  static std::optional<std::array<std::string, 3>> element_texts(
      const Hir& tag_pattern) {
    constexpr Hole kHoles[] = {{"key", WritePart::Kind::kName},
                               {"value", WritePart::Kind::kPayload}};
    const std::optional<WriteParts> parts =
        Speller(tag_pattern, kHoles).spell();
    if (!parts) return std::nullopt;
    std::array<std::string, 3> out;
    std::size_t holes = 0;  // passed
    for (const WritePart& part : *parts) {
      if (part.kind == WritePart::Kind::kText) {
        out[holes] = part.text;
        continue;
      }
      if (holes == 2 || part.kind != kHoles[holes].part) return std::nullopt;
      ++holes;
    }
    if (holes != 2 || out[1].empty() || out[2].empty()) return std::nullopt;
    return out;
  }

  // How the text of a value is read.
  std::optional<Error> add_value_parser(const Field& field,
                                        ValueReading& read) const {
    const auto& parser = field.content.value_parser;
    if (!parser) return std::nullopt;
    if (parser->kind != ContentKind::kJson &&
        parser->kind != ContentKind::kText) {
      return unsupported(
          field,
          "its values are read as " + std::string(to_string(parser->kind)),
          "content_args/value_parser");
    }
    if (parser->fault || !parser->string_delims.empty()) {
      return unsupported(field, "its values are not read as JSON",
                         "content_args/value_parser");
    }
    read.json = parser->kind == ContentKind::kJson;
    read.strip = read.strip || parser->strip;
    return std::nullopt;
  }

  // Looks at the group "value", which must repeat a class, and at the parts
  // beside it, which may read a beginning or an end of the value.
  static ValueReading value_reading(const Hir& hir) {
    ValueReading out;
    std::uint32_t group = 0;
    for (const regex::GroupName& name : hir.names) {
      if (name.name == "value") group = name.group;
    }
    for (HirId id = 0; id < hir.nodes.size(); ++id) {
      const HirNode& node = hir.nodes[id];
      if (node.kind == HirKind::kCapture && node.group == group) {
        read_class(hir, node.children[0], out);
      }
      if (node.kind != HirKind::kConcat) continue;
      for (std::size_t i = 0; i < node.children.size(); ++i) {
        const HirNode& child = hir.nodes[node.children[i]];
        if (child.kind != HirKind::kCapture || child.group != group) continue;
        if (i > 0) read_beside(hir, node.children[i - 1], out);
        if (i + 1 < node.children.size()) {
          read_beside(hir, node.children[i + 1], out);
        }
      }
    }
    return out;
  }

  static void read_class(const Hir& hir, HirId id, ValueReading& out) {
    const HirNode& node = hir.nodes[id];
    const bool repeated = node.kind == HirKind::kRepeat && node.min == 0 &&
                          node.max == base::kUnbounded &&
                          hir.nodes[node.children[0]].kind == HirKind::kClass;
    if (!repeated) {
      out.fault = "a value is not any text";
      return;
    }
    constexpr std::size_t kMostCharacters = 8;
    const regex::CharClass others =
        hir.nodes[node.children[0]].char_class.negated();
    for (const regex::CharRange& range : others.ranges()) {
      for (char32_t c = range.first; c <= range.last; ++c) {
        if (out.ends.size() == kMostCharacters) {
          out.fault = "a value is not any text";
          return;
        }
        std::string text;
        base::append_utf8(text, c);
        out.ends.push_back(std::move(text));
      }
    }
  }

  // A part that may be missing: what it reads is not read as the value's.
  static void read_beside(const Hir& hir, HirId id, ValueReading& out) {
    const HirNode& node = hir.nodes[id];
    if (node.kind != HirKind::kRepeat) return;
    const HirNode& part = hir.nodes[node.children[0]];
    const bool is_space =
        part.kind == HirKind::kClass
            ? part.char_class.contains(' ') || part.char_class.contains('\n')
            : part.kind == HirKind::kLiteral &&
                  part.text.find_first_not_of(" \t\r\n") == std::string::npos;
    if (is_space) {
      out.strip = true;
      return;
    }
    const auto found =
        regex::necessary_literals(hir, std::span<const HirId>(node.children));
    if (!found) {
      out.fault = "a part beside the value may be missing";
      return;
    }
    out.ends.insert(out.ends.end(), found->texts.begin(), found->texts.end());
  }

  const Description& description_;
  const std::string pointer_;  // of the template in its file
  format::Writing out_;
};

}  // namespace

Result<format::Writing> derive_writing(const format::FormatImpl& format) {
  return Deriver(format).derive();
}

}  // namespace parlance::inversion
