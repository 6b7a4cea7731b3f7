// Properties of the nodes of a structural tag: which texts end free text, which
// nodes are unlimited, and which are nullable.  And the errors that only the
// whole tree shows.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "automata/aho_corasick.h"
#include "automata/shadowed_words.h"
#include "base/in_quotes.h"
#include "base/utf8.h"
#include "structural_tag/members.h"
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

// Whether nothing in the node itself determines where its text ends.  `known`
// has its children's.  In a sequence and in "or", a child with excludes of its
// own does not make its parent unlimited, since they say where its text ends.
bool unlimited_of(const TagTree& tag, const TagNode& node,
                  const std::vector<bool>& known) {
  if (const auto* repetition = node.part<Repetition>()) {
    return repetition->max == kUnbounded ||
           (repetition->max != 0 && known[index_of(node.children[0])]);
  }
  if (node.part<Elements>() != nullptr) {
    return std::ranges::any_of(node.children, [&](TagNodeId child) {
      return known[index_of(child)] && !has_own_excludes(tag[child]);
    });
  }
  return node.part<Counts>() != nullptr || node.part<AnyText>() != nullptr ||
         node.part<AnyTokens>() != nullptr;
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

using base::in_quotes;

std::string in_quotes(const TokenRef& token) {
  return token.by_text() ? in_quotes(token.text) : std::to_string(token.id);
}

// The visitor of visit_members() that finds the first member with a text that
// is no UTF-8: JSON can spell half of a surrogate pair.  The texts of tokens
// are looked up, and what has a language of its own is read later.
class CharacterCheck {
 public:
  explicit CharacterCheck(const TagNode& node) : node_(node) {}

  const std::optional<Error>& error() const { return error_; }

  void member(std::string_view key, const std::string& text, Form form) {
    if (form != Form::kNonEmpty) check(key, text);
  }
  void member(std::string_view key, const std::vector<std::string>& texts,
              Form /*form*/) {
    for (const std::string& text : texts) check(key, text);
  }
  void member(std::string_view key, const Marker& marker, Form form) {
    member(key, marker.texts, form);
  }
  void rules(std::string_view key, const std::vector<std::string>& triggers) {
    member(key, triggers, Form::kPlain);
  }
  // Other members have no texts to check.
  template <class Member>
  void member(std::string_view /*key*/, const Member& /*value*/, Form) {}
  void rules(std::string_view /*key*/, const std::vector<TokenRef>&) {}
  void children(std::string_view /*key*/, ChildForm /*form*/) {}
  void bounds(const Repetition& /*body*/) {}
  void json_schema(const JsonSchemaBody& /*body*/) {}

 private:
  void check(std::string_view key, const std::string& text) {
    if (error_ || base::is_utf8(text)) return;
    error_ =
        Error{ErrorCode::kInvalidUtf8,
              std::string(to_string(node_.type)) + ": '" + std::string(key) +
                  "' holds half of a surrogate pair, which is no "
                  "character.",
              node_.path + "/" + std::string(key)};
  }

  const TagNode& node_;
  std::optional<Error> error_;
};

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
  const auto& body = node.as<TextTriggers>();
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
                 trigger_path(node, i)};
  }
  return std::nullopt;
}

std::optional<Error> check_token_triggers(const TagTree& tag,
                                          const TagNode& node) {
  const auto& body = node.as<TokenTriggers>();
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
  // How often each token is a trigger, and how often it begins a tag.
  struct Uses {
    std::size_t triggers = 0;
    std::size_t tags = 0;
  };
  std::map<TokenRef, Uses> uses;
  for (const TokenRef& trigger : body.triggers) ++uses[trigger].triggers;
  for (TagNodeId child : node.children) {
    const TokenRef& begin = begin_of(child);
    Uses& of = uses[begin];
    if (of.triggers != 1) {
      return token_begin_error(tag[child], in_quotes(begin));
    }
    ++of.tags;
  }
  for (std::size_t i = 0; i < body.triggers.size(); ++i) {
    if (uses[body.triggers[i]].tags == 0) {
      return unused_token_error(node, i, in_quotes(body.triggers[i]));
    }
  }
  return std::nullopt;
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
  const std::set<TokenRef> excluded(excludes.begin(), excludes.end());
  for (std::size_t i = 0; i < triggers.size(); ++i) {
    if (excluded.contains(triggers[i])) {
      return excluded_trigger_error(node, i, in_quotes(triggers[i]));
    }
  }
  return std::nullopt;
}

}  // namespace

bool has_language(const TagNode& node) {
  return node.part<JsonSchemaBody>() != nullptr ||
         node.part<RegexBody>() != nullptr ||
         node.part<GrammarBody>() != nullptr;
}

bool has_triggers(const TagNode& node) {
  return std::holds_alternative<TextTriggers>(node.body) ||
         std::holds_alternative<TokenTriggers>(node.body);
}

bool has_rules(const TagNode& node) {
  return node.type == TagNodeType::kDispatch ||
         node.type == TagNodeType::kTokenDispatch;
}

std::string trigger_path(const TagNode& node, std::size_t trigger) {
  const std::string index = std::to_string(trigger);
  if (has_rules(node)) return node.path + "/rules/" + index + "/0";
  return node.path +
         (node.part<TextTriggers>() != nullptr ? "/triggers/"
                                               : "/trigger_tokens/") +
         index;
}

const std::vector<std::string>& triggers_of(const TagNode& node) {
  static const std::vector<std::string> none;
  const auto* body = node.part<TextTriggers>();
  return body == nullptr ? none : body->triggers;
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
      trigger_path(node, trigger)};
}

Error excluded_trigger_error(const TagNode& node, std::size_t trigger,
                             const std::string& token) {
  return Error{ErrorCode::kConflict,
               std::string(to_string(node.type)) + ": the token " + token +
                   " is both a trigger and excluded (by 'exclude_tokens' or "
                   "as the end of the enclosing tag).",
               trigger_path(node, trigger)};
}

const std::vector<std::string>& exclude_patterns_of(const TagNode& node) {
  static const std::vector<std::string> none;
  const auto* body = node.part<TextExcludes>();
  return body == nullptr ? none : body->exclude_patterns;
}

bool has_own_excludes(const TagNode& node) {
  if (const auto* texts = node.part<TextExcludes>()) {
    return !texts->excludes.empty() || !texts->exclude_patterns.empty();
  }
  const auto* tokens = node.part<TokenExcludes>();
  return tokens != nullptr && !tokens->excludes.empty();
}

namespace {

// The empty text fits, does not, or only what is inside a leaf decides
// (kInside), which is not compiled here.  both() and either() are conjunction
// and disjunction over these three values, with kInside as the unknown one.
struct NullableOf {
  const TagNode& node;
  const std::vector<Nullable>& known;

  Nullable any_child() const {
    Nullable out = Nullable::kNo;
    for (TagNodeId child : node.children) {
      out = either(out, known[index_of(child)]);
    }
    return out;
  }
  Nullable all_children() const {
    Nullable out = Nullable::kYes;
    for (TagNodeId child : node.children) {
      out = both(out, known[index_of(child)]);
    }
    return out;
  }

  Nullable operator()(const ConstString& body) const {
    return nullable_if(body.value.empty());
  }
  // No JSON value is the empty text; a list of parameters can be.
  Nullable operator()(const JsonSchemaBody& body) const {
    return body.style == ArgumentStyle::kJson ? Nullable::kNo
                                              : Nullable::kInside;
  }
  Nullable operator()(const RegexBody&) const { return Nullable::kInside; }
  Nullable operator()(const GrammarBody&) const { return Nullable::kInside; }
  Nullable operator()(const AnyText&) const { return Nullable::kYes; }
  Nullable operator()(const AnyTokens&) const { return Nullable::kYes; }
  Nullable operator()(const TokenBody&) const { return Nullable::kNo; }
  Nullable operator()(const ExcludeToken&) const { return Nullable::kNo; }
  Nullable operator()(const Elements&) const {
    return node.type == TagNodeType::kOr ? any_child() : all_children();
  }
  Nullable operator()(const Repetition& body) const {
    return body.min == 0 ? Nullable::kYes : any_child();
  }
  Nullable operator()(const TagBody& body) const {
    return both(
        nullable_if(has_empty(body.begin.texts) && has_empty(body.end.texts)),
        any_child());
  }
  Nullable operator()(const Counts& body) const {
    return body.at_least_one ? any_child() : Nullable::kYes;
  }
};

}  // namespace

Nullable nullable_of(const TagNode& node, const std::vector<Nullable>& known) {
  return std::visit(NullableOf{node, known}, node.body);
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
  // Up: both properties of all children are final.
  for (std::size_t i = tag.nodes.size(); i-- > 0;) {
    const TagNode& node = tag.nodes[i];
    nullable_[i] = nullable_of(node, nullable_);
    unlimited_[i] = unlimited_of(tag, node, unlimited_);
  }
}

std::vector<std::string> TagAnalysis::excluded_texts(TagNodeId id) const {
  const TagNode& node = (*tag_)[id];
  const auto* own = node.part<TextExcludes>();
  if (own == nullptr) return {};
  std::vector<std::string> out = own->excludes;
  const TagNodeId enclosing = enclosing_tag(id);
  // The end of the enclosing tag does not end the text of rules.
  if (has_rules(node) || enclosing == kNoTagNode) return out;
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
  const auto* own = node.part<TokenExcludes>();
  if (own == nullptr) return {};
  std::vector<TokenRef> out = own->excludes;
  const TagNodeId enclosing = enclosing_tag(id);
  if (has_rules(node) || enclosing == kNoTagNode) return out;
  const auto& end = (*tag_)[enclosing].as<TagBody>().end;
  if (end.token && std::find(out.begin(), out.end(), *end.token) == out.end()) {
    out.push_back(*end.token);
  }
  return out;
}

std::optional<Error> check_structural_tag(const TagTree& tag) {
  // The first error in the order of the nodes; then those of calls.
  const TagAnalysis analysis(tag);
  for (std::size_t i = 0; i < tag.nodes.size(); ++i) {
    const TagNode& node = tag.nodes[i];
    const TagNodeId self{static_cast<std::uint32_t>(i)};
    CharacterCheck characters(node);
    visit_members(node, characters);
    std::optional<Error> error = characters.error();
    if (error) return error;
    if (node.type == TagNodeType::kTag) {
      error = check_end(tag, analysis, node);
    } else if (const auto* texts = node.part<TextTriggers>()) {
      if (!has_rules(node)) error = check_triggers(tag, node);
      if (!error) {
        error = check_reachable(texts->triggers, analysis.excluded_texts(self),
                                node);
      }
    } else if (const auto* tokens = node.part<TokenTriggers>()) {
      if (!has_rules(node)) error = check_token_triggers(tag, node);
      if (!error) {
        error = check_reachable_tokens(tokens->triggers,
                                       analysis.excluded_tokens(self), node);
      }
    }
    if (error) return error;
  }
  return check_calls(tag);
}

std::vector<std::uint32_t> triggers_of_tags(const TagTree& tag,
                                            const TagNode& node) {
  const AhoCorasick trie = automata::word_trie(triggers_of(node));
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
    const std::vector<std::string>& triggers = triggers_of(node);
    if (triggers.empty()) continue;
    for (const automata::ShadowedWord& hidden :
         automata::shadowed_words(triggers)) {
      out.push_back({has_rules(node) ? "rules" : "triggers",
                     trigger_path(node, hidden.word),
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
