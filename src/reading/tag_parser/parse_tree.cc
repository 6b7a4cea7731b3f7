// Builds the nodes of the parse tree; see parse_tree.h.
//
// An open node collects the text of its format and the objects of its finished
// children.  finish() makes a JSON object of it, in the shape that
// docs/reference/tag-reading.md gives for the type of the format.

#include "tag_parser/parse_tree.h"

#include <utility>

#include "base/utf8.h"
#include "tag_parser/event_builder.h"

namespace parlance::tag_parser {

using structural_tag::TagNode;
using structural_tag::TagNodeType;

namespace {

json::Value span_of(std::uint64_t begin, std::uint64_t end) {
  return json::Array{static_cast<std::int64_t>(begin),
                     static_cast<std::int64_t>(end)};
}

// Whether the object of the format lists its contents.
bool is_loop(const TagNode& format) {
  return format.part<structural_tag::Repetition>() != nullptr &&
         format.type != TagNodeType::kOptional;
}

}  // namespace

void ParseTree::enter(TagNodeId id, std::uint64_t position) {
  if (!open_.empty()) {
    Node& parent = open_.back();
    const TagNode& format = (*code_.tag)[parent.format];
    if (format.type == TagNodeType::kTag || parent.in_rule) {
      parent.marker = std::exchange(parent.text, {});
    } else if (has_triggers(format)) {
      end_free_text(parent, position);
    }
  }
  const TagNodeType type = (*code_.tag)[id].type;
  open_.push_back({.format = id,
                   .begin = position,
                   .text_begin = position,
                   .keeps_text = keep_ || type == TagNodeType::kJsonSchema ||
                                 type == TagNodeType::kTag});
}

void ParseTree::text(std::string_view text) {
  Node& node = open_.back();
  if (node.keeps_text) node.text.append(text);
}

void ParseTree::end_free_text(Node& node, std::uint64_t position) {
  if (position > node.text_begin && keep_) {
    node.items.emplace_back(
        json::Object{{"type", "text"},
                     {"span", span_of(node.text_begin, position)},
                     {"text", base::to_utf8(node.text)}});
  }
  node.text.clear();
  node.text_begin = position;
}

void ParseTree::rule(std::uint64_t position) {
  Node& node = open_.back();
  end_free_text(node, position);
  node.in_rule = true;
}

void ParseTree::leave(std::uint64_t position, bool complete) {
  Node node = std::move(open_.back());
  open_.pop_back();
  const TagNodeId id = node.format;
  json::Value value = finish(node, position, complete);
  if (open_.empty()) {
    root_ = std::move(value);
    return;
  }
  Node& parent = open_.back();
  add_child(parent, id, std::move(value));
  parent.text.clear();
  parent.text_begin = position;
}

// Stores the object of a finished child in the node of its parent: in the list
// of the parent's parts, or as the parent's only content.  Children of formats
// with several alternatives also get their index, and the child of a rule gets
// a "rule" object with the pattern before it.
void ParseTree::add_child(Node& parent, TagNodeId child, json::Value value) {
  parent.has_child = true;
  if (!keep_) {
    parent.in_rule = false;
    return;
  }
  const std::uint32_t index = code_.child_index[index_of(child)];
  const TagNode& format = (*code_.tag)[parent.format];
  if (has_rules(format)) {
    const std::uint64_t end =
        static_cast<std::uint64_t>(value.find("span")->items()[1].as_int());
    parent.items.emplace_back(json::Object{
        {"type", "rule"},
        {"path", format.path + "/rules/" + std::to_string(index)},
        {"span", span_of(parent.text_begin, end)},
        {"index", static_cast<std::int64_t>(index)},
        {"pattern", base::to_utf8(std::exchange(parent.marker, {}))},
        {"content", std::move(value)}});
    parent.in_rule = false;
  } else if (format.part<structural_tag::Counts>() != nullptr) {
    value.mutable_members().set("index", static_cast<std::int64_t>(index));
    parent.items.push_back(std::move(value));
  } else if (format.type == TagNodeType::kSequence || is_loop(format)) {
    parent.items.push_back(std::move(value));
  } else {
    parent.child = std::move(value);
    parent.child_index = index;
  }
}

// The object of a format that ends at `position`.
//
// Invariant: the node has been popped and all of its children are finished, so
// its text, marker, child and items are final, and are moved into the object.
json::Value ParseTree::finish(Node& node, std::uint64_t position,
                              bool complete) {
  const TagNode& format = (*code_.tag)[node.format];
  std::string text = base::is_utf8(node.text) ? std::move(node.text)
                                              : base::to_utf8(node.text);
  if (format.type == TagNodeType::kJsonSchema) {
    read_value(node.format, text, complete);
  }
  if (!keep_) return {};
  // The members that all nodes have, then those of the type.
  json::Object out = {{"type", std::string(to_string(format.type))},
                      {"path", format.path},
                      {"span", span_of(node.begin, position)}};
  if (!complete) out.set("complete", false);
  add_members(node, std::move(text), position, complete, out);
  return out;
}

// The value of a json_schema is read even if no nodes are built, because events
// report it.  If the text is incomplete and written as elements, the value has
// the complete elements.
void ParseTree::read_value(TagNodeId id, std::string_view text, bool complete) {
  const arguments::Arguments read = code_.arguments.at(id).read(text);
  last_value_ = complete || read.read > 0 ? read.value : json::Value(nullptr);
  last_value_whole_ = complete && read.complete;
}

// The members of an object that depend on the type of its format.  `text` is
// that of the node.
void ParseTree::add_members(Node& node, std::string text,
                            std::uint64_t position, bool complete,
                            json::Object& out) {
  const TagNode& format = (*code_.tag)[node.format];
  // Moves the text, which may be long, into a value.
  const auto take_text = [&] {
    const std::size_t size = text.size();
    return json::Value::adopt(std::move(text), 0, size);
  };
  const auto held_tokens = [&] {
    return tokens_.holding({static_cast<std::size_t>(node.begin),
                            static_cast<std::size_t>(position)},
                           0);
  };
  switch (format.type) {
    case TagNodeType::kConstString:
    case TagNodeType::kAnyText:
    case TagNodeType::kRegex:
    case TagNodeType::kGrammar:
      out.set("text", take_text());
      break;
    case TagNodeType::kJsonSchema:
      out.set("text", take_text());
      out.set("value", last_value_);
      break;
    case TagNodeType::kSequence:
      out.set("elements", std::move(node.items));
      break;
    case TagNodeType::kOr:
      out.set("index",
              node.has_child
                  ? json::Value(static_cast<std::int64_t>(node.child_index))
                  : json::Value());
      out.set("content", std::move(node.child));
      break;
    case TagNodeType::kOptional:
      out.set("content", std::move(node.child));
      break;
    case TagNodeType::kPlus:
    case TagNodeType::kStar:
    case TagNodeType::kRepeat:
      out.set("items", std::move(node.items));
      break;
    case TagNodeType::kTag:
      // Without a child, the text is that of the begin marker.  An end marker
      // that is cut short is reported as far as it was written.
      out.set("begin", node.has_child ? base::to_utf8(node.marker) : text);
      out.set("content", std::move(node.child));
      out.set("end", node.has_child && (complete || !text.empty())
                         ? json::Value(text)
                         : json::Value());
      break;
    case TagNodeType::kTriggeredTags:
    case TagNodeType::kTokenTriggeredTags:
    case TagNodeType::kDispatch:
    case TagNodeType::kTokenDispatch:
      // The last part is a rule whose pattern is cut short, or free text.
      if (node.in_rule) {
        node.items.emplace_back(
            json::Object{{"type", "rule"},
                         {"span", span_of(node.text_begin, position)},
                         {"complete", false},
                         {"index", nullptr},
                         {"pattern", text},
                         {"content", nullptr}});
      } else {
        node.text = std::move(text);
        end_free_text(node, position);
      }
      out.set("parts", std::move(node.items));
      break;
    case TagNodeType::kTagsWithSeparator:
      out.set("tags", std::move(node.items));
      break;
    case TagNodeType::kToken:
    case TagNodeType::kExcludeToken: {
      const Span held = held_tokens();
      out.set(
          "token",
          complete && held.begin < tokens_.size()
              ? json::Value(static_cast<std::int64_t>(tokens_.id(held.begin)))
              : json::Value());
      break;
    }
    case TagNodeType::kAnyTokens: {
      const Span held = held_tokens();
      json::Array ids;
      for (std::size_t i = held.begin; i < held.end; ++i) {
        ids.emplace_back(static_cast<std::int64_t>(tokens_.id(i)));
      }
      out.set("tokens", std::move(ids));
      out.set("text", take_text());
      break;
    }
  }
}

json::Value ParseTree::root(std::uint64_t position) && {
  while (!open_.empty()) leave(position, false);
  return std::move(root_);
}

}  // namespace parlance::tag_parser
