#ifndef PARLANCE_SRC_STRUCTURAL_TAG_MEMBERS_H_
#define PARLANCE_SRC_STRUCTURAL_TAG_MEMBERS_H_

// The one description of the members of nodes.  For each member of a node
// except "type", in the order in which docs/reference/structural-tags.md lists
// them, visit_members() calls one of these functions of a visitor:
//
//   member(key, value, form)    a text, token, list of them, flag, count or
//                               marker, by the type of `value` and its form
//   children(key, form)         the members that are nodes
//   rules(key, triggers)        pairs of a trigger and the child after it
//   bounds(repetition)          "min" and "max"
//   json_schema(body)           all members of json_schema
//
// Loading, writing and the check of characters are such visitors.  The members
// "field", "join", "tool" and "call_id", which every node may have, come after
// these.

#include <type_traits>

#include "structural_tag/structural_tag.h"

namespace parlance::structural_tag {

enum class Form : std::uint8_t {
  // A text, token, marker or count.  A list of texts that are not empty, or of
  // tokens.  A flag, whose default is that of the body.
  kPlain,
  kNonEmpty,  // a list of at least one; a text in a language of its own
  kSparse,    // a list that is written only if it is not empty
  kNegated,   // a flag, and the body has its negation
  kBegin,     // a marker that has no choice of texts
};

enum class ChildForm : std::uint8_t {
  kOne,
  kList,
  kTags,
  kTextTags,   // tags that begin with a text
  kTokenTags,  // tags that begin with a token
};

// The body of a node.  A node that is not const gets a new one of this type.
template <class Body, class Node>
auto& body_of(Node& node) {
  if constexpr (std::is_const_v<Node>) {
    return node.template as<Body>();
  } else {
    return node.body.template emplace<Body>();
  }
}

template <class Excludes, class Visitor>
void visit_excludes(Excludes& body, Visitor& on) {
  on.member("excludes", body.excludes, Form::kPlain);
  // Other engines do not know this member.
  on.member("exclude_patterns", body.exclude_patterns, Form::kSparse);
}

template <class Excludes, class Visitor>
void visit_excluded_tokens(Excludes& body, Visitor& on) {
  on.member("exclude_tokens", body.excludes, Form::kPlain);
}

template <class Body, class Visitor>
void visit_counts(Body& body, Visitor& on) {
  on.member("at_least_one", body.at_least_one, Form::kPlain);
  on.member("stop_after_first", body.loop, Form::kNegated);
}

// REQUIRES: the node has its type.  A node that is not const gets its body,
// which the visitor fills.
template <class Node, class Visitor>
void visit_members(Node& node, Visitor& on) {
  switch (node.type) {
    case TagNodeType::kConstString:
      return on.member("value", body_of<ConstString>(node).value, Form::kPlain);
    case TagNodeType::kJsonSchema:
      return on.json_schema(body_of<JsonSchemaBody>(node));
    case TagNodeType::kRegex:
      return on.member("pattern", body_of<RegexBody>(node).pattern,
                       Form::kNonEmpty);
    case TagNodeType::kGrammar:
      return on.member("grammar", body_of<GrammarBody>(node).source,
                       Form::kNonEmpty);
    case TagNodeType::kAnyText: {
      auto& body = body_of<AnyText>(node);
      visit_excludes(body, on);
      on.member("max_tokens", body.max_tokens, Form::kPlain);
      return on.member("max_chars", body.max_chars, Form::kPlain);
    }
    case TagNodeType::kSequence:
    case TagNodeType::kOr:
      body_of<Elements>(node);
      return on.children("elements", ChildForm::kList);
    case TagNodeType::kOptional:
    case TagNodeType::kPlus:
    case TagNodeType::kStar:
    case TagNodeType::kRepeat: {
      auto& body = body_of<Repetition>(node);
      if (node.type == TagNodeType::kRepeat) {
        on.bounds(body);
      } else if constexpr (!std::is_const_v<Node>) {
        body.min = node.type == TagNodeType::kPlus ? 1 : 0;
        body.max = node.type == TagNodeType::kOptional ? 1 : kUnbounded;
      }
      return on.children("content", ChildForm::kOne);
    }
    case TagNodeType::kTag: {
      auto& body = body_of<TagBody>(node);
      on.member("begin", body.begin, Form::kBegin);
      on.children("content", ChildForm::kOne);
      return on.member("end", body.end, Form::kPlain);
    }
    case TagNodeType::kTriggeredTags: {
      auto& body = body_of<TextTriggers>(node);
      on.member("triggers", body.triggers, Form::kNonEmpty);
      on.children("tags", ChildForm::kTextTags);
      visit_counts(body, on);
      return visit_excludes(body, on);
    }
    case TagNodeType::kTagsWithSeparator: {
      auto& body = body_of<TagsWithSeparator>(node);
      on.children("tags", ChildForm::kTags);
      on.member("separator", body.separator, Form::kPlain);
      return visit_counts(body, on);
    }
    case TagNodeType::kDispatch: {
      auto& body = body_of<TextTriggers>(node);
      on.rules("rules", body.triggers);
      on.member("loop", body.loop, Form::kPlain);
      return visit_excludes(body, on);
    }
    case TagNodeType::kToken:
      return on.member("token", body_of<TokenBody>(node).token, Form::kPlain);
    case TagNodeType::kExcludeToken:
      return visit_excluded_tokens(body_of<ExcludeToken>(node), on);
    case TagNodeType::kAnyTokens: {
      auto& body = body_of<AnyTokens>(node);
      visit_excluded_tokens(body, on);
      return on.member("max_tokens", body.max_tokens, Form::kPlain);
    }
    case TagNodeType::kTokenTriggeredTags: {
      auto& body = body_of<TokenTriggers>(node);
      on.member("trigger_tokens", body.triggers, Form::kNonEmpty);
      on.children("tags", ChildForm::kTokenTags);
      visit_excluded_tokens(body, on);
      return visit_counts(body, on);
    }
    case TagNodeType::kTokenDispatch: {
      auto& body = body_of<TokenTriggers>(node);
      on.rules("rules", body.triggers);
      on.member("loop", body.loop, Form::kPlain);
      return visit_excluded_tokens(body, on);
    }
  }
}

}  // namespace parlance::structural_tag

#endif  // PARLANCE_SRC_STRUCTURAL_TAG_MEMBERS_H_
