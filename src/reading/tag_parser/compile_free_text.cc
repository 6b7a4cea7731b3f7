// Compiles free text, with and without triggers, and sets of tokens; see
// compiler.h.
//
// Free text reads bytes with an Aho-Corasick automaton of its triggers and
// excludes.  Free tokens are read with a table of triggers.  In both cases the
// code is
//
//   text    fork {free text up to a trigger, free text up to the end}
//
// and a trigger leads to every tag or rule that it may begin.

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "rules/excluded_words.h"
#include "tag_parser/compiler.h"

namespace parlance::tag_parser {

using automata::WordSymbol;
using structural_tag::TagBody;
using structural_tag::TagNode;
using structural_tag::TagNodeType;

namespace {

// The node of the shortest word of the trie that `word` begins with; if there
// is none, the last node on the path of `word` that the trie has.  REQUIRES:
// the automaton is not linked.
std::uint32_t node_of(const automata::AhoCorasick& automaton,
                      const Word& word) {
  std::uint32_t at = 0;
  for (const WordSymbol symbol : word) {
    const auto next = automaton.nodes[at].next.find(symbol);
    if (next == automaton.nodes[at].next.end()) break;
    at = next->second;
    if (!automaton.nodes[at].calls.empty()) break;
  }
  return at;
}

// The begin marker of a tag, "" if it is a token.
const std::string& begin_text(const structural_tag::TagTree& tag,
                              TagNodeId id) {
  static const std::string kNone;
  const auto& begin = tag[id].as<TagBody>().begin;
  return begin.token ? kNone : begin.texts[0];
}

// Inserts the words that begin with no other word, each with a target.
void insert_triggers(FreeText& text, std::vector<Word> words) {
  // In this order, a word comes after the words that it begins with.
  std::sort(words.begin(), words.end());
  automata::AhoCorasick& automaton = text.automaton;
  for (const Word& word : words) {
    if (!automaton.nodes[node_of(automaton, word)].calls.empty()) continue;
    automaton.nodes[automaton.insert(word)].calls.push_back(
        static_cast<std::uint32_t>(text.targets.size()));
    text.targets.emplace_back();
  }
}

}  // namespace

// Links the automaton of the free text of `id`, adds the automaton of the
// node's patterns, and returns the index of the text.
std::uint32_t TagCompiler::add_text(TagNodeId id, FreeText text) {
  text.automaton.link();
  // make_leaf() has made the automaton.
  text.automaton.patterns = *exclude_dfas_.of(id);
  if (text.automaton.patterns != nullptr && marks_ != nullptr) {
    text.automaton.mark_spellings = marks_->spellings();
  }
  text.automaton.find_dead_ends(
      [&](std::uint32_t call) { return !text.targets[call].empty(); });
  if (text.automaton.patterns != nullptr) {
    for (std::size_t byte = 0; byte < text.special.size(); ++byte) {
      text.special[byte] = text.automaton.patterns->step(
                               0, static_cast<std::uint8_t>(byte)) != 0;
    }
  }
  text.pending.assign(text.automaton.nodes.size(), 0);
  for (const auto& [symbol, next] : text.automaton.nodes[0].next) {
    if (!automata::is_mark(symbol)) text.special[symbol] = true;
  }
  out_.free_texts.push_back(std::move(text));
  return static_cast<std::uint32_t>(out_.free_texts.size() - 1);
}

Pc TagCompiler::compile(TagNodeId id, const structural_tag::AnyText& body) {
  const Pc leave = leave_[index_of(id)];
  if (body.max_chars == 0u || body.max_tokens == 0u) return leave;
  FreeText text;
  rules::insert_excluded(text.automaton, analysis_.excluded_texts(id), {},
                         marks_.get(), &text.spelled);
  if (body.max_tokens) out_.has_budgets = true;
  return add({.op = Op::kText,
              .next = leave,
              .index = add_text(id, std::move(text)),
              .max = body.max_chars.value_or(kUnbounded),
              .max_tokens = body.max_tokens.value_or(kUnbounded)});
}

// The instruction after the first `back` symbols of a trigger: the format, or
// the pattern of the rule, began where the trigger began, and the rest of the
// trigger follows.  Then come the rest of the begin marker of a tag, of which
// the trigger is the first `trigger_bytes` bytes, and the content.
Pc TagCompiler::after_trigger(TagNodeId id, std::size_t child,
                              const Word& trigger, std::size_t back,
                              std::size_t trigger_bytes) {
  const TagNode& format = tag_[id];
  const TagNodeId inside = format.children[child];
  const bool rule = has_rules(format);
  Pc next = rule ? enter(inside) : enter(tag_[inside].children[0]);
  if (!rule) {
    const auto& begin = tag_[inside].as<TagBody>().begin.texts[0];
    next = marker(begin, trigger_bytes, next);
  }
  // One space after a mark may belong to its token.
  if (marks_ != nullptr && marks_->vocabulary().space_after_marks() &&
      automata::is_mark(trigger.back())) {
    next = fork({literal(" ", next), next});
  }
  const std::span<const WordSymbol> word(trigger);
  return add(
      {.op = rule ? Op::kRule : Op::kEnter,
       .next = symbols(word.subspan(back), next),
       .index = static_cast<std::uint32_t>(index_of(rule ? id : inside)),
       .back = static_cast<std::uint32_t>(spelled(word.first(back)).size())});
}

// Adds the tags or rules of a format to the targets of their triggers, in
// order.  A tag of a format without triggers has its begin marker as its
// trigger.  REQUIRES: the automaton of `text` contains the triggers, and is not
// linked.
void TagCompiler::add_targets(TagNodeId id, FreeText& text) {
  const TagNode& format = tag_[id];
  const auto* body = format.part<structural_tag::TextTriggers>();
  const bool rule = has_rules(format);
  std::vector<std::uint32_t> triggers;
  if (body != nullptr && !rule) {
    triggers = structural_tag::triggers_of_tags(tag_, format);
  }
  for (std::size_t c = 0; c < format.children.size(); ++c) {
    if (!possible(format.children[c])) continue;
    const std::string& trigger = body != nullptr
                                     ? body->triggers[rule ? c : triggers[c]]
                                     : begin_text(tag_, format.children[c]);
    if (trigger.empty()) continue;
    for (const Word& word : words(trigger)) {
      const auto& node = text.automaton.nodes[node_of(text.automaton, word)];
      text.targets[node.calls.front()].push_back(
          after_trigger(id, c, word, node.depth, trigger.size()));
    }
  }
}

// The resume point of a format of tags.  The caller sets its free_text.
// REQUIRES: the automaton of `text` contains only the triggers, and is not
// linked.
ResumePoint TagCompiler::resume_point(TagNodeId id, const FreeText& text) {
  ResumePoint out;
  out.format = id;
  out.automaton = text.automaton;
  out.targets = text.targets;
  std::vector<Word> ends;
  for (const TagNodeId child : possible_children(tag_[id])) {
    if (tag_[child].type != TagNodeType::kTag) continue;
    const auto& end = tag_[child].as<TagBody>().end;
    if (end.token) {
      out.token_ends.push_back(*tokens_of(child).end);
      continue;
    }
    for (const std::string& marker : end.texts) {
      const std::string_view distinctive = distinctive_end(marker);
      if (distinctive.empty()) continue;
      for (Word& word : words(distinctive)) ends.push_back(std::move(word));
    }
  }
  finish_resume_point(out, ends, marks_.get());
  return out;
}

// The resume point of a format of tags without triggers: parsing resumes at the
// next begin marker of one of its tags, or at `after` its tags.
void TagCompiler::add_resume_point(TagNodeId id, Pc after) {
  FreeText text;
  std::vector<Word> begins;
  std::map<TokenId, std::vector<Pc>> token_targets;
  for (const TagNodeId child : possible_children(tag_[id])) {
    const auto& begin = tag_[child].as<TagBody>().begin;
    if (begin.token) {
      token_targets[*tokens_of(child).begin].push_back(
          add({.op = Op::kEnter,
               .next = enter(tag_[child].children[0]),
               .index = static_cast<std::uint32_t>(index_of(child)),
               .back = kTokenBack}));
    } else if (!begin.texts[0].empty()) {
      for (Word& word : words(begin.texts[0])) {
        begins.push_back(std::move(word));
      }
    }
  }
  insert_triggers(text, std::move(begins));
  add_targets(id, text);
  ResumePoint point = resume_point(id, text);
  point.free_text = after;
  point.token_targets = std::move(token_targets);
  out_.resume_points.push_back(std::move(point));
}

// The free text of a format with triggers, and the point at which parsing
// resumes in it.
//
// If a trigger begins with another one, the automaton contains the shorter one
// only.  After the shorter trigger, the text may continue with what the shorter
// trigger leads to, or with the rest of the longer one; both are targets of the
// shorter trigger (as in tag_to_rules.cc).
//
// Invariant: until add_text(), the automaton is a trie.  The nodes of the
// triggers come first, and then the nodes of the excludes.  The resume point
// and FreeText::pending use the nodes of the triggers only.
std::pair<std::uint32_t, ResumePoint> TagCompiler::text_with_triggers(
    TagNodeId id, const std::vector<std::string>& triggers) {
  std::vector<Word> all;
  for (const std::string& trigger : triggers) {
    for (Word& word : words(trigger)) all.push_back(std::move(word));
  }
  FreeText text;
  insert_triggers(text, std::move(all));
  add_targets(id, text);
  ResumePoint resume = resume_point(id, text);
  // By node of a trigger: the bytes of the text that lead to it.
  const std::vector<std::uint32_t> depth =
      spelled_depths(text.automaton, marks_.get());
  rules::insert_excluded(text.automaton, analysis_.excluded_texts(id), triggers,
                         marks_.get(), &text.spelled);
  const std::uint32_t index = add_text(id, std::move(text));
  // The pending bytes at a node of an exclude are those of its longest suffix
  // that is a node of a trigger.
  FreeText& made = out_.free_texts[index];
  for (std::size_t node = 1; node < made.pending.size(); ++node) {
    std::uint32_t at = static_cast<std::uint32_t>(node);
    while (at >= depth.size()) at = made.automaton.nodes[at].fail;
    made.pending[node] = depth[at];
  }
  return {index, std::move(resume)};
}

// Free text with triggers, each of which begins one of the tags.  Returns where
// the code begins.
//
//   text up to a trigger, then a tag, then text again   unless it stops there
//   text up to the end
//   a tag first                                         if at least one comes
Pc TagCompiler::compile(TagNodeId id,
                        const structural_tag::TextTriggers& body) {
  const TagNode& format = tag_[id];
  const Pc leave = leave_[index_of(id)];
  const std::vector<TagNodeId> tags = possible_children(format);
  std::vector<Pc> firsts;
  firsts.reserve(tags.size());
  for (const TagNodeId child : tags) firsts.push_back(enter(child));
  // Exactly one tag, and no free text.
  if (body.at_least_one && !body.loop) {
    for (const TagNodeId child : tags) then(child, leave);
    return fork(std::move(firsts));
  }
  auto [index, resume] = text_with_triggers(id, body.triggers);
  // The code: text up to a trigger is preferred to text up to the end.  After a
  // tag, the text continues or the format ends.
  const Pc last = add({.op = Op::kText, .next = leave, .index = index});
  Pc text_place = last;
  if (!tags.empty()) {
    const Pc before = add({.op = Op::kTextToTrigger, .index = index});
    text_place = fork({before, last});
    resume.free_text = text_place;
    if (!has_rules(format)) {
      out_.resume_points.push_back(std::move(resume));
    }
  }
  for (const TagNodeId child : tags) {
    then(child, body.loop ? text_place : leave);
  }
  return body.at_least_one ? fork(std::move(firsts)) : text_place;
}

Pc TagCompiler::compile(TagNodeId id,
                        const structural_tag::TokenBody& /*body*/) {
  return token(tokens_of(id).token, leave_[index_of(id)]);
}

Pc TagCompiler::compile(TagNodeId id,
                        const structural_tag::ExcludeToken& /*body*/) {
  return tokens({excluded_tokens(id), true}, Op::kToken, 1,
                leave_[index_of(id)]);
}

Pc TagCompiler::compile(TagNodeId id, const structural_tag::AnyTokens& body) {
  const Pc leave = leave_[index_of(id)];
  const std::uint32_t max = body.max_tokens.value_or(kUnbounded);
  if (max == 0) return leave;
  return tokens({excluded_tokens(id), true}, Op::kTokens, max, leave);
}

// What each trigger of free tokens leads to: the tags or rules that it begins,
// in order.  They began before the trigger, which has been read.
std::map<TokenId, std::vector<Pc>> TagCompiler::token_targets(TagNodeId id) {
  const TagNode& format = tag_[id];
  const bool rule = has_rules(format);
  const structural_tag::NodeTokens& known = tokens_of(id);
  std::map<TokenId, std::vector<Pc>> out;
  for (const TokenId trigger : known.triggers) out[trigger];
  for (std::size_t c = 0; c < format.children.size(); ++c) {
    const TagNodeId child = format.children[c];
    if (!possible(child)) continue;
    const Pc target =
        add({.op = rule ? Op::kRule : Op::kEnter,
             .next = rule ? enter(child) : enter(tag_[child].children[0]),
             .index = static_cast<std::uint32_t>(index_of(rule ? id : child)),
             .back = kTokenBack});
    out[known.triggers[known.trigger_of[c]]].push_back(target);
  }
  return out;
}

// As for texts: a trigger is one token, so no trigger begins with another one
// and no automaton is needed.
Pc TagCompiler::compile(TagNodeId id,
                        const structural_tag::TokenTriggers& body) {
  const TagNode& format = tag_[id];
  const Pc leave = leave_[index_of(id)];
  std::vector<Pc> firsts;
  for (const TagNodeId child : possible_children(format)) {
    firsts.push_back(enter(child));
  }
  const auto each_then = [&](Pc next) {
    for (const TagNodeId child : possible_children(format)) then(child, next);
  };
  // Exactly one tag, and no free tokens.
  if (body.at_least_one && !body.loop) {
    each_then(leave);
    return fork(std::move(firsts));
  }
  out_.has_tokens = true;
  TokenText text{token_targets(id), excluded_tokens(id)};
  for (const auto& [token, targets] : text.targets) {
    out_.roles.try_emplace(token, kNoMark);
  }
  out_.token_texts.push_back(std::move(text));
  const auto index = static_cast<std::uint32_t>(out_.token_texts.size() - 1);
  // The code is the same as for texts.
  const Pc last = add({.op = Op::kTokensLast, .next = leave, .index = index});
  Pc place = last;
  if (!firsts.empty()) {
    const Pc before = add({.op = Op::kTokensToTrigger, .index = index});
    place = fork({before, last});
    if (!has_rules(format)) {
      ResumePoint resume = resume_point(id, {});
      resume.free_text = place;
      resume.token_targets = out_.token_texts[index].targets;
      out_.resume_points.push_back(std::move(resume));
    }
  }
  each_then(body.loop ? place : leave);
  return body.at_least_one ? fork(std::move(firsts)) : place;
}

}  // namespace parlance::tag_parser
