// Properties of the nodes of a structural tag: which texts end free text, which
// nodes are unlimited, and which are nullable.  And the errors that only the
// whole tree shows.

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "automata/aho_corasick.h"
#include "automata/shadowed_words.h"
#include "base/in_quotes.h"
#include "base/utf8.h"
#include "structural_tag/structural_tag.h"

namespace parlance::structural_tag {

using automata::AhoCorasick;
namespace {

bool has_non_empty(const std::vector<std::string>& texts) {
  return std::any_of(texts.begin(), texts.end(),
                     [](const std::string& text) { return !text.empty(); });
}

bool has_empty(const std::vector<std::string>& texts) {
  return std::any_of(texts.begin(), texts.end(),
                     [](const std::string& text) { return text.empty(); });
}

// Whether a node is unlimited whatever its children are.
bool unlimited_by_itself(const TagNode& node) {
  switch (node.type) {
    case TagNodeType::kAnyText:
    case TagNodeType::kAnyTokens:
    case TagNodeType::kTriggeredTags:
    case TagNodeType::kTokenTriggeredTags:
    case TagNodeType::kDispatch:
    case TagNodeType::kTokenDispatch:
    case TagNodeType::kTagsWithSeparator:
    case TagNodeType::kStar:
    case TagNodeType::kPlus:
      return true;
    case TagNodeType::kRepeat:
      return node.as<RepeatBody>().max == kUnbounded;
    default:
      return false;
  }
}

Nullable both(Nullable a, Nullable b) {
  if (a == Nullable::kNo || b == Nullable::kNo) return Nullable::kNo;
  return a == Nullable::kYes ? b : a;
}

Nullable either(Nullable a, Nullable b) {
  if (a == Nullable::kYes || b == Nullable::kYes) return Nullable::kYes;
  return a == Nullable::kNo ? b : a;
}

Nullable nullable_if(bool yes) { return yes ? Nullable::kYes : Nullable::kNo; }

Nullable any_child(const TagNode& node, const std::vector<Nullable>& known) {
  Nullable out = Nullable::kNo;
  for (TagNodeId child : node.children) {
    out = either(out, known[index_of(child)]);
  }
  return out;
}

using base::in_quotes;

std::string in_quotes(const TokenRef& token) {
  return token.by_text() ? in_quotes(token.text) : std::to_string(token.id);
}

// JSON can spell half of a surrogate pair, which no UTF-8 text contains.
std::optional<Error> check_characters(const TagNode& node) {
  const auto all = [&](const std::vector<std::string>& texts,
                       std::string_view key) -> std::optional<Error> {
    for (const std::string& text : texts) {
      if (base::is_utf8(text)) continue;
      return Error{ErrorCode::kInvalidUtf8,
                   std::string(to_string(node.type)) + ": '" +
                       std::string(key) +
                       "' holds half of a surrogate pair, which is no "
                       "character.",
                   node.path + "/" + std::string(key)};
    }
    return std::nullopt;
  };
  std::optional<Error> error;
  switch (node.type) {
    case TagNodeType::kConstString:
      return all({node.as<ConstString>().value}, "value");
    case TagNodeType::kAnyText:
      error = all(node.as<AnyText>().excludes, "excludes");
      break;
    case TagNodeType::kTag:
      error = all(node.as<TagBody>().begin.texts, "begin");
      return error ? error : all(node.as<TagBody>().end.texts, "end");
    case TagNodeType::kTagsWithSeparator:
      return all({node.as<TagsWithSeparator>().separator}, "separator");
    case TagNodeType::kTriggeredTags:
      error = all(node.as<TriggeredTags>().triggers, "triggers");
      if (!error) error = all(node.as<TriggeredTags>().excludes, "excludes");
      break;
    case TagNodeType::kDispatch:
      error = all(node.as<DispatchBody>().patterns, "rules");
      if (!error) error = all(node.as<DispatchBody>().excludes, "excludes");
      break;
    default:
      return std::nullopt;
  }
  return error ? error : all(exclude_patterns_of(node), "exclude_patterns");
}

// A tag with unlimited content needs a non-empty end, or excludes.  Otherwise
// each text that follows the tag could be content as well: after
// tag("<a>", any_text, "") every byte is both.
std::optional<Error> check_end(const TagTree& tag, const TagAnalysis& analysis,
                               const TagNode& node) {
  const auto& end = node.as<TagBody>().end;
  const TagNodeId content = node.children[0];
  if (end.token || has_non_empty(end.texts) || !analysis.unlimited(content) ||
      has_own_excludes(tag[content])) {
    return std::nullopt;
  }
  return Error{ErrorCode::kConflict,
               "tag: 'end' is empty, and nothing in the content (" +
                   std::string(to_string(tag[content].type)) +
                   ") determines where it ends. Give a non-empty 'end', or "
                   "'excludes' to the content.",
               node.path + "/end"};
}

// Exactly one trigger is a prefix of each tag's "begin", and each trigger is a
// prefix of some "begin".
std::optional<Error> check_triggers(const TagTree& tag, const TagNode& node) {
  const auto& body = node.as<TriggeredTags>();
  const AhoCorasick trie = automata::word_trie(body.triggers);
  std::vector<bool> used(body.triggers.size(), false);
  for (TagNodeId child : node.children) {
    const std::string& begin = tag[child].as<TagBody>().begin.texts[0];
    const std::vector<std::uint32_t> found = trie.words_that_begin(begin);
    if (found.empty()) {
      return Error{ErrorCode::kConflict,
                   "triggered_tags: the tag's 'begin' " + in_quotes(begin) +
                       " begins with none of the triggers. Exactly one must "
                       "be a prefix of it.",
                   tag[child].path + "/begin"};
    }
    if (found.size() > 1) {
      return Error{ErrorCode::kConflict,
                   "triggered_tags: the tag's 'begin' " + in_quotes(begin) +
                       " begins with two triggers, " +
                       in_quotes(body.triggers[found[0]]) + " and " +
                       in_quotes(body.triggers[found[1]]) +
                       ". Exactly one must be a prefix of it.",
                   tag[child].path + "/begin"};
    }
    used[found[0]] = true;
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i]) continue;
    return Error{ErrorCode::kConflict,
                 "triggered_tags: no tag begins with the trigger " +
                     in_quotes(body.triggers[i]) + ".",
                 node.path + "/triggers/" + std::to_string(i)};
  }
  return std::nullopt;
}

std::optional<Error> check_token_triggers(const TagTree& tag,
                                          const TagNode& node) {
  const auto& body = node.as<TokenTriggeredTags>();
  // Only a vocabulary decides whether an id and a text are the same token.  So
  // if both occur, nothing is reported here, and resolve_tokens() checks the
  // same with the ids.
  const auto begin_of = [&](TagNodeId child) -> const TokenRef& {
    return *tag[child].as<TagBody>().begin.token;
  };
  std::size_t texts = 0;
  for (const TokenRef& trigger : body.triggers) texts += trigger.by_text();
  for (TagNodeId child : node.children) texts += begin_of(child).by_text();
  if (texts != 0 && texts != body.triggers.size() + node.children.size()) {
    return std::nullopt;
  }
  std::vector<bool> used(body.triggers.size(), false);
  for (TagNodeId child : node.children) {
    const TokenRef& begin = begin_of(child);
    const auto found =
        std::find(body.triggers.begin(), body.triggers.end(), begin);
    if (found == body.triggers.end() ||
        std::find(found + 1, body.triggers.end(), begin) !=
            body.triggers.end()) {
      return token_begin_error(tag[child], in_quotes(begin));
    }
    used[static_cast<std::size_t>(found - body.triggers.begin())] = true;
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) {
      return unused_token_error(node, i, in_quotes(body.triggers[i]));
    }
  }
  return std::nullopt;
}

// The pointer of a trigger.
std::string trigger_path(const TagNode& node, std::size_t trigger) {
  const std::string index = std::to_string(trigger);
  return node.path + (node.type == TagNodeType::kDispatch
                          ? "/rules/" + index + "/0"
                          : "/triggers/" + index);
}

// A trigger that contains an excluded text can never be completed.  Its bytes
// are free text until the last one is read, since the text may go on in another
// way until then; so with the exclude "</t>" the trigger "x</t>y" is stopped at
// its '>'.  The same holds for the rest of a trigger after a shorter one that
// begins it.
std::optional<Error> check_reachable(const std::vector<std::string>& triggers,
                                     const std::vector<std::string>& excludes,
                                     const TagNode& node) {
  if (excludes.empty()) return std::nullopt;
  const AhoCorasick excluded = automata::word_automaton(excludes);
  for (std::size_t i = 0; i < triggers.size(); ++i) {
    const std::optional<std::uint32_t> found = excluded.first_in(triggers[i]);
    if (!found) continue;
    return Error{
        ErrorCode::kConflict,
        std::string(to_string(node.type)) + ": the trigger " +
            in_quotes(triggers[i]) + " contains " +
            in_quotes(excludes[*found]) +
            ", which the free text must not contain (by 'excludes' or as "
            "the end of the enclosing tag), so it can never be read.",
        trigger_path(node, i)};
  }
  return std::nullopt;
}

std::optional<Error> check_reachable_tokens(
    const std::vector<TokenRef>& triggers,
    const std::vector<TokenRef>& excludes, const TagNode& node) {
  for (std::size_t i = 0; i < triggers.size(); ++i) {
    if (std::find(excludes.begin(), excludes.end(), triggers[i]) !=
        excludes.end()) {
      return excluded_trigger_error(node, i, in_quotes(triggers[i]));
    }
  }
  return std::nullopt;
}

}  // namespace

const std::vector<std::string>& triggers_of(const TagNode& node) {
  static const std::vector<std::string> none;
  switch (node.type) {
    case TagNodeType::kTriggeredTags:
      return node.as<TriggeredTags>().triggers;
    case TagNodeType::kDispatch:
      return node.as<DispatchBody>().patterns;
    default:
      return none;
  }
}

Error unreadable_trigger_error(const TagNode& node, std::size_t trigger,
                               std::string_view pattern) {
  return Error{ErrorCode::kConflict,
               std::string(to_string(node.type)) + ": the trigger " +
                   in_quotes(triggers_of(node)[trigger]) +
                   " contains a match of the pattern " + in_quotes(pattern) +
                   " of 'exclude_patterns', which the free text must not "
                   "complete, so it can never be read. Give a trigger that "
                   "ends before the match does, or a pattern that requires "
                   "more.",
               trigger_path(node, trigger)};
}

Error token_begin_error(const TagNode& child, const std::string& token) {
  return Error{ErrorCode::kConflict,
               "token_triggered_tags: the tag's 'begin' " + token +
                   " must be exactly one of the 'trigger_tokens'.",
               child.path + "/begin"};
}

Error unused_token_error(const TagNode& node, std::size_t trigger,
                         const std::string& token) {
  return Error{
      ErrorCode::kConflict,
      "token_triggered_tags: no tag begins with the token " + token + ".",
      node.path + "/trigger_tokens/" + std::to_string(trigger)};
}

Error excluded_trigger_error(const TagNode& node, std::size_t trigger,
                             const std::string& token) {
  const std::string index = std::to_string(trigger);
  return Error{ErrorCode::kConflict,
               std::string(to_string(node.type)) + ": the token " + token +
                   " is both a trigger and excluded (by 'exclude_tokens' or "
                   "as the end of the enclosing tag).",
               node.path + (node.type == TagNodeType::kTokenDispatch
                                ? "/rules/" + index + "/0"
                                : "/trigger_tokens/" + index)};
}

const std::vector<std::string>& exclude_patterns_of(const TagNode& node) {
  static const std::vector<std::string> none;
  switch (node.type) {
    case TagNodeType::kAnyText:
      return node.as<AnyText>().exclude_patterns;
    case TagNodeType::kTriggeredTags:
      return node.as<TriggeredTags>().exclude_patterns;
    case TagNodeType::kDispatch:
      return node.as<DispatchBody>().exclude_patterns;
    default:
      return none;
  }
}

bool has_own_excludes(const TagNode& node) {
  if (!exclude_patterns_of(node).empty()) return true;
  switch (node.type) {
    case TagNodeType::kAnyText:
      return !node.as<AnyText>().excludes.empty();
    case TagNodeType::kTriggeredTags:
      return !node.as<TriggeredTags>().excludes.empty();
    case TagNodeType::kDispatch:
      return !node.as<DispatchBody>().excludes.empty();
    case TagNodeType::kExcludeToken:
      return !node.as<ExcludeToken>().excludes.empty();
    case TagNodeType::kAnyTokens:
      return !node.as<AnyTokens>().excludes.empty();
    case TagNodeType::kTokenTriggeredTags:
      return !node.as<TokenTriggeredTags>().excludes.empty();
    case TagNodeType::kTokenDispatch:
      return !node.as<TokenDispatch>().excludes.empty();
    default:
      return false;
  }
}

// The empty text fits, does not, or only what is inside a leaf decides
// (kInside), which is not compiled here.  both() and either() are conjunction
// and disjunction over these three values, with kInside as the unknown one.
Nullable nullable_of(const TagNode& node, const std::vector<Nullable>& known) {
  switch (node.type) {
    case TagNodeType::kConstString:
      return nullable_if(node.as<ConstString>().value.empty());
    case TagNodeType::kJsonSchema:
      // No JSON value is the empty text; a list of parameters can be.
      return node.as<JsonSchemaBody>().style == ArgumentStyle::kJson
                 ? Nullable::kNo
                 : Nullable::kInside;
    case TagNodeType::kRegex:
    case TagNodeType::kGrammar:
      return Nullable::kInside;
    case TagNodeType::kSequence: {
      Nullable out = Nullable::kYes;
      for (TagNodeId child : node.children) {
        out = both(out, known[index_of(child)]);
      }
      return out;
    }
    case TagNodeType::kOr:
    case TagNodeType::kPlus:
      return any_child(node, known);
    case TagNodeType::kAnyText:
    case TagNodeType::kAnyTokens:
    case TagNodeType::kOptional:
    case TagNodeType::kStar:
    case TagNodeType::kDispatch:
    case TagNodeType::kTokenDispatch:
      return Nullable::kYes;
    case TagNodeType::kRepeat:
      return node.as<RepeatBody>().min == 0 ? Nullable::kYes
                                            : any_child(node, known);
    case TagNodeType::kTag: {
      const auto& body = node.as<TagBody>();
      return both(
          nullable_if(has_empty(body.begin.texts) && has_empty(body.end.texts)),
          any_child(node, known));
    }
    case TagNodeType::kTriggeredTags:
      return node.as<TriggeredTags>().at_least_one ? any_child(node, known)
                                                   : Nullable::kYes;
    case TagNodeType::kTokenTriggeredTags:
      return nullable_if(!node.as<TokenTriggeredTags>().at_least_one);
    case TagNodeType::kTagsWithSeparator:
      return node.as<TagsWithSeparator>().at_least_one ? any_child(node, known)
                                                       : Nullable::kYes;
    case TagNodeType::kToken:
    case TagNodeType::kExcludeToken:
      return Nullable::kNo;
  }
  return Nullable::kNo;
}

TagAnalysis::TagAnalysis(const TagTree& tag)
    : tag_(&tag),
      parents_(tag.nodes.size(), kNoTagNode),
      enclosing_(tag.nodes.size(), kNoTagNode),
      unlimited_(tag.nodes.size(), false),
      nullable_(tag.nodes.size(), Nullable::kNo) {
  // Down: parents come before their children, so `enclosing_[i]` is final.
  for (std::size_t i = 0; i < tag.nodes.size(); ++i) {
    const TagNode& node = tag.nodes[i];
    const TagNodeId self{static_cast<std::uint32_t>(i)};
    const TagNodeId enclosing =
        node.type == TagNodeType::kTag ? self : enclosing_[i];
    for (TagNodeId child : node.children) {
      parents_[index_of(child)] = self;
      enclosing_[index_of(child)] = enclosing;
    }
  }
  // Up: both properties of all children are final.  In a sequence and in "or",
  // a child with excludes of its own does not make its parent unlimited, since
  // they say where its text ends.
  for (std::size_t i = tag.nodes.size(); i-- > 0;) {
    const TagNode& node = tag.nodes[i];
    nullable_[i] = nullable_of(node, nullable_);
    unlimited_[i] = unlimited_by_itself(node);
    switch (node.type) {
      case TagNodeType::kOptional:
        unlimited_[i] = unlimited_[index_of(node.children[0])];
        break;
      case TagNodeType::kRepeat:
        if (node.as<RepeatBody>().max != 0 &&
            unlimited_[index_of(node.children[0])]) {
          unlimited_[i] = true;
        }
        break;
      case TagNodeType::kSequence:
      case TagNodeType::kOr:
        for (TagNodeId child : node.children) {
          if (unlimited_[index_of(child)] && !has_own_excludes(tag[child])) {
            unlimited_[i] = true;
          }
        }
        break;
      default:
        break;
    }
  }
}

std::vector<std::string> TagAnalysis::excluded_texts(TagNodeId id) const {
  const TagNode& node = (*tag_)[id];
  std::vector<std::string> out;
  bool detects = true;  // whether the end of the enclosing tag is excluded too
  if (node.type == TagNodeType::kAnyText) {
    out = node.as<AnyText>().excludes;
  } else if (node.type == TagNodeType::kTriggeredTags) {
    out = node.as<TriggeredTags>().excludes;
  } else if (node.type == TagNodeType::kDispatch) {
    out = node.as<DispatchBody>().excludes;
    detects = false;
  } else {
    return out;
  }
  const TagNodeId enclosing = enclosing_tag(id);
  if (!detects || enclosing == kNoTagNode) return out;
  const auto& ends = (*tag_)[enclosing].as<TagBody>().end.texts;
  std::set<std::string_view> known(out.begin(), out.end());
  std::vector<std::string> more;
  for (const std::string& text : ends) {
    if (!text.empty() && known.insert(text).second) more.push_back(text);
  }
  // `known` refers to the strings of `out`, so `out` grows only now.
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

std::vector<TokenRef> TagAnalysis::excluded_tokens(TagNodeId id) const {
  const TagNode& node = (*tag_)[id];
  std::vector<TokenRef> out;
  bool detects = true;  // as in excluded_texts()
  if (node.type == TagNodeType::kAnyTokens) {
    out = node.as<AnyTokens>().excludes;
  } else if (node.type == TagNodeType::kExcludeToken) {
    out = node.as<ExcludeToken>().excludes;
  } else if (node.type == TagNodeType::kTokenTriggeredTags) {
    out = node.as<TokenTriggeredTags>().excludes;
  } else if (node.type == TagNodeType::kTokenDispatch) {
    out = node.as<TokenDispatch>().excludes;
    detects = false;
  } else {
    return out;
  }
  const TagNodeId enclosing = enclosing_tag(id);
  if (!detects || enclosing == kNoTagNode) return out;
  const auto& end = (*tag_)[enclosing].as<TagBody>().end;
  if (end.token && std::find(out.begin(), out.end(), *end.token) == out.end()) {
    out.push_back(*end.token);
  }
  return out;
}

std::optional<Error> check_structural_tag(const TagTree& tag) {
  const TagAnalysis analysis(tag);
  for (std::size_t i = 0; i < tag.nodes.size(); ++i) {
    const TagNode& node = tag.nodes[i];
    const TagNodeId self{static_cast<std::uint32_t>(i)};
    std::optional<Error> error = check_characters(node);
    if (error) return error;
    switch (node.type) {
      case TagNodeType::kTag:
        error = check_end(tag, analysis, node);
        break;
      case TagNodeType::kTriggeredTags:
        error = check_triggers(tag, node);
        if (!error) {
          error = check_reachable(node.as<TriggeredTags>().triggers,
                                  analysis.excluded_texts(self), node);
        }
        break;
      case TagNodeType::kDispatch:
        error = check_reachable(node.as<DispatchBody>().patterns,
                                analysis.excluded_texts(self), node);
        break;
      case TagNodeType::kTokenTriggeredTags:
        error = check_token_triggers(tag, node);
        if (!error) {
          error = check_reachable_tokens(node.as<TokenTriggeredTags>().triggers,
                                         analysis.excluded_tokens(self), node);
        }
        break;
      case TagNodeType::kTokenDispatch:
        error = check_reachable_tokens(node.as<TokenDispatch>().patterns,
                                       analysis.excluded_tokens(self), node);
        break;
      default:
        break;
    }
    if (error) return error;
  }
  return check_calls(tag);
}

std::vector<std::uint32_t> triggers_of_tags(const TagTree& tag,
                                            const TagNode& node) {
  const AhoCorasick trie =
      automata::word_trie(node.as<TriggeredTags>().triggers);
  std::vector<std::uint32_t> out;
  out.reserve(node.children.size());
  for (TagNodeId child : node.children) {
    const std::string& begin = tag[child].as<TagBody>().begin.texts[0];
    // check_triggers() has made sure that there is exactly one.
    out.push_back(trie.words_that_begin(begin).front());
  }
  return out;
}

std::vector<ShadowedTrigger> shadowed_triggers(const TagTree& tag) {
  std::vector<ShadowedTrigger> out;
  for (const TagNode& node : tag.nodes) {
    const bool tags = node.type == TagNodeType::kTriggeredTags;
    if (!tags && node.type != TagNodeType::kDispatch) continue;
    const std::vector<std::string>& triggers =
        tags ? node.as<TriggeredTags>().triggers
             : node.as<DispatchBody>().patterns;
    for (const automata::ShadowedWord& hidden :
         automata::shadowed_words(triggers)) {
      const std::string index = std::to_string(hidden.word);
      out.push_back(
          {tags ? "triggers" : "rules",
           node.path + (tags ? "/triggers/" + index : "/rules/" + index + "/0"),
           automata::shadowed_message(triggers[hidden.word],
                                      triggers[hidden.inside])});
    }
  }
  return out;
}

std::vector<GrammarNote> notes_of(const TagTree& tag) {
  std::vector<GrammarNote> out = tag.notes;
  out.reserve(out.size() + tag.unknown_keys.size());
  for (const UnknownKey& unknown : tag.unknown_keys) {
    out.push_back({GrammarNote::Kind::kIgnored, unknown.key, unknown.path,
                   unknown.message});
  }
  for (ShadowedTrigger& hidden : shadowed_triggers(tag)) {
    out.push_back({GrammarNote::Kind::kNarrowed, std::string(hidden.keyword),
                   std::move(hidden.path), std::move(hidden.message)});
  }
  return out;
}

}  // namespace parlance::structural_tag
