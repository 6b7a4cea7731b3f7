// From a structural tag to a program.
//
// Every format has two fixed instructions, where it is entered and where it is
// left; who contains it says where the latter goes on.  So formats can be
// compiled one by one, in any order, and depth costs no call stack.

#include "tag_parser/program.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/access.h"
#include "grammar/embedded.h"
#include "grammar/grammar_cache.h"
#include "grammar/tag_to_rules.h"

namespace parlance::tag_parser {
namespace {

using automata::WordSymbol;
using structural_tag::kNoFormat;
using structural_tag::TagFormat;
using structural_tag::TagNode;
using structural_tag::TagNodeType;
using structural_tag::TokenRef;
using Word = std::vector<WordSymbol>;  // bytes and marks

class Compiler {
 public:
  Compiler(CompiledTagImpl& code, const CompiledTagOptions& options)
      : tag_(*code.tag),
        analysis_(tag_),
        options_(options),
        code_(code),
        enter_(tag_.formats.size()),
        leave_(tag_.formats.size()),
        impossible_(tag_.formats.size(), false),
        nullable_(tag_.formats.size(), false),
        depth_(tag_.formats.size(), 0),
        leaves_(tag_.formats.size()) {
    if (options.cache != nullptr) {
      lowering_.cache = &detail::Access::impl(*options.cache)->cache;
    }
    if (options.vocabulary != nullptr) {
      const Vocabulary& words = *options.vocabulary;
      lowering_.vocabulary_size = static_cast<std::uint32_t>(words.size());
      lowering_.find_token = [&words](std::string_view text) {
        return words.find_first(text);
      };
    }
  }

  // The program in which markers are text.
  Result<TagProgram> texts();
  // The program in which they are written with marks; without marks, none.
  // REQUIRES: texts() had no error.
  Result<std::unique_ptr<const TagProgram>> tokens();

 private:
  std::optional<Error> make_leaf(TagNodeId id);
  std::optional<Error> make_reader(TagNodeId id);
  std::optional<Error> collect_marks();
  std::optional<Error> mark_leaves();
  Result<TagProgram> emit();
  void find_joins();
  bool find_impossible(const TagNode& format) const;
  bool find_nullable(TagNodeId id) const;
  void find_depths();

  Pc add(Instruction instruction) {
    out_.code.push_back(instruction);
    return static_cast<Pc>(out_.code.size() - 1);
  }
  Pc fork(std::vector<Pc> ways) {
    out_.forks.push_back(std::move(ways));
    return add({.op = Op::kFork,
                .index = static_cast<std::uint32_t>(out_.forks.size() - 1)});
  }
  // A marker, then `next`; `next` itself if the marker is empty.
  Pc marker(std::string_view text, Pc next) { return marker(text, 0, next); }
  // The same for what is behind its first `from` bytes.
  Pc marker(std::string_view text, std::size_t from, Pc next);
  Pc symbols(std::span<const WordSymbol> word, Pc next);
  Pc literal(std::string_view text, Pc next);
  Pc mark(std::uint32_t number, Pc next);
  Pc token(const TokenRef& ref, Pc next) {
    return tokens({{token_id(ref)}}, Op::kToken, 1, next);
  }
  Pc tokens(TokenSet set, Op op, std::uint32_t max, Pc next) {
    std::sort(set.ids.begin(), set.ids.end());
    if (set.negated) out_.has_tokens = true;
    for (const TokenId id : set.ids) out_.roles.try_emplace(id, kNoMark);
    out_.token_sets.push_back(std::move(set));
    return add({.op = op,
                .next = next,
                .index = static_cast<std::uint32_t>(out_.token_sets.size() - 1),
                .max = max});
  }
  TokenId token_id(const TokenRef& ref) const {
    // All have been looked up once, by check_tokens().
    if (!ref.by_text() || options_.vocabulary == nullptr) return ref.id;
    return options_.vocabulary->find_first(ref.text).value_or(0);
  }
  std::vector<TokenId> excluded_tokens(TagNodeId id) const {
    std::vector<TokenId> out;
    for (const TokenRef& ref : analysis_.excluded_tokens(id)) {
      out.push_back(token_id(ref));
    }
    std::sort(out.begin(), out.end());
    return out;
  }
  bool is_special(TokenId id) const {
    if (options_.vocabulary == nullptr) return false;
    const TokenKind kind = options_.vocabulary->kind(id);
    return kind == TokenKind::kAdded || kind == TokenKind::kControl;
  }
  Pc enter(TagNodeId id) const { return enter_[index_of(id)]; }
  void then(TagNodeId id, Pc next) {
    out_.code[leave_[index_of(id)]].next = next;
  }
  bool possible(TagNodeId id) const { return !impossible_[index_of(id)]; }
  std::vector<TagNodeId> possible_children(const TagNode& format) const {
    std::vector<TagNodeId> out;
    for (const TagNodeId child : format.children) {
      if (possible(child)) out.push_back(child);
    }
    return out;
  }

  // What a format is between where it is entered and left.
  Pc compile_one(TagNodeId id);
  Pc compile_leaf(TagNodeId id);
  Pc compile_tag(TagNodeId id);
  Pc compile_loop(TagNodeId id, std::uint32_t min, std::uint32_t max);
  Pc compile_text(TagNodeId id);
  Pc compile_separated(TagNodeId id);
  Pc compile_triggers(TagNodeId id);
  Pc compile_tokens(TagNodeId id);
  Pc compile_token_triggers(TagNodeId id);

  // The ways to write a trigger or an exclude.
  std::vector<Word> words(std::string_view marker) const;
  std::string spelled(std::span<const WordSymbol> word) const;

  std::vector<std::uint32_t> spelled_depths(
      const automata::AhoCorasick& automaton) const;
  Resume resume_of(TagNodeId id, const FreeText& text);
  void find_count_depths();

  std::uint32_t add_text(FreeText text);
  void exclude(FreeText& text, std::string_view word);
  void exclude_spelling(FreeText& text, std::string_view word);
  void add_targets(TagNodeId id, FreeText& text);
  Pc after_trigger(TagNodeId id, std::size_t child, const Word& trigger,
                   std::size_t back, std::size_t trigger_bytes);

  const structural_tag::TagTree& tag_;
  const structural_tag::TagAnalysis analysis_;
  const CompiledTagOptions& options_;
  grammar::LowerOptions lowering_;
  CompiledTagImpl& code_;
  std::shared_ptr<const rules::Marks> marks_;  // null: all is text
  TagProgram out_;
  std::vector<Pc> enter_;
  std::vector<Pc> leave_;
  std::vector<bool> impossible_;  // no text fits
  std::vector<bool> nullable_;    // the empty text does
  std::vector<std::uint32_t> depth_;
  std::vector<grammar::EmbeddedRecogniser> leaves_;
};

// --- Facts -------------------------------------------------------------------

std::optional<Error> Compiler::make_leaf(TagNodeId id) {
  const TagNode& format = tag_[id];
  switch (format.type) {
    case TagNodeType::kJsonSchema:
    case TagNodeType::kRegex:
    case TagNodeType::kGrammar:
      break;
    default:
      return std::nullopt;
  }
  Result<grammar::EmbeddedRecogniser> embedded =
      grammar::make_embedded(tag_, id, lowering_, options_.limits);
  if (!embedded) return std::move(embedded).error();
  if (embedded->recogniser == nullptr) {
    impossible_[index_of(id)] = true;
    return std::nullopt;
  }
  if (format.type == TagNodeType::kJsonSchema) {
    if (auto error = make_reader(id)) return error;
  }
  nullable_[index_of(id)] =
      embedded->recogniser->can_end(embedded->recogniser->start());
  leaves_[index_of(id)] = *std::move(embedded);
  return std::nullopt;
}

// What reads the value of a json_schema.
std::optional<Error> Compiler::make_reader(TagNodeId id) {
  if (code_.arguments.contains(id)) return std::nullopt;
  const TagNode& format = tag_[id];
  Result<ArgumentReader> reader =
      ArgumentReader::make(format.as<structural_tag::JsonSchemaFormat>(), {});
  if (!reader) {
    Error error = std::move(reader).error();
    error.path = format.path + "/json_schema" + error.path;
    return error;
  }
  code_.arguments.emplace(id, *std::move(reader));
  return std::nullopt;
}

// REQUIRES: known for the children.
bool Compiler::find_impossible(const TagNode& format) const {
  const std::size_t left = possible_children(format).size();
  switch (format.type) {
    case TagNodeType::kSequence:
    case TagNodeType::kTag:
    case TagNodeType::kPlus:
      return left < format.children.size();
    case TagNodeType::kOr:
      return left == 0;
    case TagNodeType::kRepeat:
      return left == 0 && format.as<structural_tag::RepeatFormat>().min > 0;
    case TagNodeType::kTriggeredTags:
      return left == 0 &&
             format.as<structural_tag::TriggeredTags>().at_least_one;
    case TagNodeType::kTokenTriggeredTags:
      return left == 0 &&
             format.as<structural_tag::TokenTriggeredTags>().at_least_one;
    case TagNodeType::kTagsWithSeparator:
      return left == 0 &&
             format.as<structural_tag::TagsWithSeparator>().at_least_one;
    default:
      return false;
  }
}

// REQUIRES: known for the children.
bool Compiler::find_nullable(TagNodeId id) const {
  const TagNode& format = tag_[id];
  const auto is = [&](TagNodeId child) {
    return possible(child) && nullable_[index_of(child)];
  };
  const auto any = [&] {
    return std::any_of(format.children.begin(), format.children.end(), is);
  };
  const auto all = [&] {
    return std::all_of(format.children.begin(), format.children.end(), is);
  };
  switch (format.type) {
    case TagNodeType::kConstString:
      return format.as<structural_tag::ConstString>().value.empty();
    case TagNodeType::kSequence:
    case TagNodeType::kPlus:
      return all();
    case TagNodeType::kOr:
      return any();
    case TagNodeType::kRepeat:
      return all() || format.as<structural_tag::RepeatFormat>().min == 0;
    case TagNodeType::kTag: {
      const auto& body = format.as<TagFormat>();
      const auto& ends = body.end.texts;
      return all() && !body.begin.token && body.begin.texts[0].empty() &&
             std::find(ends.begin(), ends.end(), "") != ends.end();
    }
    case TagNodeType::kTriggeredTags:
      return !format.as<structural_tag::TriggeredTags>().at_least_one;
    case TagNodeType::kTokenTriggeredTags:
      return !format.as<structural_tag::TokenTriggeredTags>().at_least_one;
    case TagNodeType::kTagsWithSeparator:
      return !format.as<structural_tag::TagsWithSeparator>().at_least_one ||
             any();
    case TagNodeType::kJsonSchema:
    case TagNodeType::kRegex:
    case TagNodeType::kGrammar:
      return nullable_[index_of(id)];
    case TagNodeType::kToken:
    case TagNodeType::kExcludeToken:
      return false;
    default:
      return true;
  }
}

void Compiler::find_depths() {
  for (std::size_t i = 0; i < tag_.formats.size(); ++i) {
    for (const TagNodeId child : tag_.formats[i].children) {
      depth_[index_of(child)] = depth_[i] + 1;
    }
  }
}

// --- Markers -----------------------------------------------------------------

Pc Compiler::marker(std::string_view text, std::size_t from, Pc next) {
  if (marks_ == nullptr) return literal(text.substr(from), next);
  const std::vector<rules::MarkedPiece> pieces = marks_->pieces(text, from);
  for (std::size_t i = pieces.size(); i-- > 0;) {
    const rules::MarkedPiece& piece = pieces[i];
    const Pc before =
        piece.mark ? mark(*piece.mark, next) : literal(piece.text, next);
    next = piece.optional ? fork({before, next}) : before;
  }
  return next;
}

Pc Compiler::symbols(std::span<const WordSymbol> word, Pc next) {
  while (!word.empty()) {
    if (automata::is_mark(word.back())) {
      next = mark(word.back() - automata::kFirstMarkSymbol, next);
      word = word.first(word.size() - 1);
      continue;
    }
    std::size_t begin = word.size();
    while (begin > 0 && !automata::is_mark(word[begin - 1])) --begin;
    next = literal(spelled(word.subspan(begin)), next);
    word = word.first(begin);
  }
  return next;
}

Pc Compiler::literal(std::string_view text, Pc next) {
  if (text.empty()) return next;
  out_.texts.emplace_back(text);
  return add({.op = Op::kLiteral,
              .next = next,
              .index = static_cast<std::uint32_t>(out_.texts.size() - 1)});
}

Pc Compiler::mark(std::uint32_t number, Pc next) {
  const rules::Mark& one = marks_->marks()[number];
  const Pc token = tokens({one.ids, false, one.spelling}, Op::kToken, 1, next);
  if (!marks_->either()) return token;
  return fork({token, literal(one.spelling, next)});
}

std::vector<Word> Compiler::words(std::string_view marker) const {
  if (marks_ == nullptr) return {rules::byte_symbols(marker)};
  return marks_->words(marker);
}

std::string Compiler::spelled(std::span<const WordSymbol> word) const {
  std::string out;
  for (const WordSymbol symbol : word) out += spelling(marks_.get(), symbol);
  return out;
}

// --- Formats -----------------------------------------------------------------

// A body that may be empty is not asked for: what it adds is nothing.
Pc Compiler::compile_loop(TagNodeId id, std::uint32_t min, std::uint32_t max) {
  const TagNodeId body = tag_[id].children[0];
  const Pc leave = leave_[index_of(id)];
  if (!possible(body) || max == 0) return leave;
  const std::uint32_t depth = depth_[index_of(id)];
  const bool guarded = nullable_[index_of(body)];
  if (guarded) min = 0;
  const Pc iterate =
      guarded ? add({.op = Op::kIterate, .next = enter(body), .index = depth})
              : enter(body);
  const auto close = [&](Pc next) {
    then(body, guarded
                   ? add({.op = Op::kIterateEnd, .next = next, .index = depth})
                   : next);
  };
  if (max == kUnbounded && min <= 1) {
    const Pc head = fork({iterate, leave});
    close(head);
    return min == 0 ? head : iterate;
  }
  const Pc exit = add({.op = Op::kCountEnd, .next = leave});
  const Pc test = fork({iterate, exit});
  out_.code[test].op = Op::kCountTest;
  out_.code[test].min = min;
  out_.code[test].max = max;
  close(add({.op = Op::kCountNext, .next = test, .min = min, .max = max}));
  return add({.op = Op::kCountFrom, .next = test});
}

Pc Compiler::compile_tag(TagNodeId id) {
  const TagNode& format = tag_[id];
  const auto& body = format.as<TagFormat>();
  const Pc leave = leave_[index_of(id)];
  if (body.end.token) {
    then(format.children[0], token(*body.end.token, leave));
  } else {
    std::vector<Pc> ends;
    for (const std::string& text : body.end.texts) {
      ends.push_back(marker(text, leave));
    }
    then(format.children[0], ends.size() == 1 ? ends[0] : fork(ends));
  }
  const Pc content = enter(format.children[0]);
  return body.begin.token ? token(*body.begin.token, content)
                          : marker(body.begin.texts[0], content);
}

Pc Compiler::compile_separated(TagNodeId id) {
  const TagNode& format = tag_[id];
  const auto& body = format.as<structural_tag::TagsWithSeparator>();
  const Pc leave = leave_[index_of(id)];
  const std::vector<TagNodeId> tags = possible_children(format);
  if (tags.empty()) return leave;
  std::vector<Pc> ways;
  ways.reserve(tags.size());
  for (const TagNodeId child : tags) ways.push_back(enter(child));
  const Pc first = fork(std::move(ways));
  Pc after = leave;
  if (!body.stop_after_first) {
    const bool guarded =
        body.separator.empty() &&
        std::any_of(tags.begin(), tags.end(), [&](TagNodeId child) {
          return nullable_[index_of(child)];
        });
    if (guarded) {
      // Behind an empty first tag nothing comes that could not be that tag; a
      // later one is not empty.
      const std::uint32_t depth = depth_[index_of(id)];
      const Pc more = add({.op = Op::kIterate, .next = first, .index = depth});
      after = add({.op = Op::kIterateEnd,
                   .next = fork({more, leave}),
                   .index = depth,
                   .other = leave});
    } else {
      after = fork({marker(body.separator, first), leave});
    }
  }
  for (const TagNodeId child : tags) then(child, after);
  return body.at_least_one ? first : fork({first, leave});
}

// Behind a mark a text has to go on to a trigger.  Nodes from where only
// excluded words follow lead nowhere, and are excluded too.
void exclude_dead_ends(FreeText& text) {
  auto& nodes = text.automaton.nodes;
  std::vector<bool> live(nodes.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = nodes.size(); i-- > 0;) {
      const auto& node = nodes[i];
      if (live[i] || node.excluded) continue;
      const bool suffix =
          nodes[node.fail].depth >= node.committed && live[node.fail];
      live[i] =
          node.committed == 0 || suffix ||
          std::any_of(node.calls.begin(), node.calls.end(),
                      [&](auto call) { return !text.targets[call].empty(); }) ||
          std::any_of(node.next.begin(), node.next.end(),
                      [&](const auto& way) { return live[way.second]; });
      changed = changed || live[i];
    }
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].excluded = !live[i];
  }
}

std::uint32_t Compiler::add_text(FreeText text) {
  text.automaton.link();
  exclude_dead_ends(text);
  text.pending.assign(text.automaton.nodes.size(), 0);
  for (const auto& [symbol, next] : text.automaton.nodes[0].next) {
    if (!automata::is_mark(symbol)) text.special[symbol] = true;
  }
  out_.free_texts.push_back(std::move(text));
  return static_cast<std::uint32_t>(out_.free_texts.size() - 1);
}

// Where marks are not spelled, their spelling is no text either: a reader that
// knows no tokens would take it for the marker.
void Compiler::exclude_spelling(FreeText& text, std::string_view word) {
  if (marks_ == nullptr || marks_->either()) return;
  const std::vector<Word> ways = words(word);
  if (!std::any_of(ways[0].begin(), ways[0].end(), automata::is_mark)) return;
  const std::uint32_t node = text.automaton.insert(word);
  text.automaton.nodes[node].excluded = true;
  text.spelled.emplace_back(node, word);
}

void Compiler::exclude(FreeText& text, std::string_view word) {
  exclude_spelling(text, word);
  for (const Word& one : words(word)) {
    text.automaton.nodes[text.automaton.insert(one)].excluded = true;
  }
}

Pc Compiler::compile_text(TagNodeId id) {
  const auto& body = tag_[id].as<structural_tag::AnyText>();
  const Pc leave = leave_[index_of(id)];
  if (body.max_chars == 0u || body.max_tokens == 0u) return leave;
  FreeText text;
  for (const std::string& word : analysis_.excluded_texts(id)) {
    exclude(text, word);
  }
  if (body.max_tokens) out_.has_budgets = true;
  return add({.op = Op::kText,
              .next = leave,
              .index = add_text(std::move(text)),
              .max = body.max_chars.value_or(kUnbounded),
              .max_tokens = body.max_tokens.value_or(kUnbounded)});
}

// Where a trigger leads of which `back` symbols have been read.
Pc Compiler::after_trigger(TagNodeId id, std::size_t child, const Word& trigger,
                           std::size_t back, std::size_t trigger_bytes) {
  const TagNode& format = tag_[id];
  const TagNodeId inside = format.children[child];
  const bool rule = format.type == TagNodeType::kDispatch;
  Pc next = rule ? enter(inside) : enter(tag_[inside].children[0]);
  if (!rule) {
    const auto& begin = tag_[inside].as<TagFormat>().begin.texts[0];
    next = marker(begin, trigger_bytes, next);
  }
  // One space may belong to the mark.
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

// The node of the word that `word` begins with; where there is none, of the
// beginning that it shares with words.  REQUIRES: not linked.
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

// By node of an automaton that is not linked: the bytes of the text on the way
// to it.
std::vector<std::uint32_t> Compiler::spelled_depths(
    const automata::AhoCorasick& automaton) const {
  std::vector<std::uint32_t> out(automaton.nodes.size(), 0);
  for (std::size_t node = 0; node < out.size(); ++node) {
    for (const auto& [symbol, next] : automaton.nodes[node].next) {
      out[next] = out[node] + static_cast<std::uint32_t>(
                                  spelling(marks_.get(), symbol).size());
    }
  }
  return out;
}

// What is hardly met but at the end of a tag: brackets and white space end
// values inside a call, too.  "": there is no such thing.
std::string_view distinctive_end(std::string_view marker) {
  const bool word = std::any_of(marker.begin(), marker.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0;
  });
  if (!word) return "";
  return marker.substr(marker.find_first_not_of(" \t\r\n\"')]}"));
}

void Compiler::add_targets(TagNodeId id, FreeText& text) {
  const TagNode& format = tag_[id];
  const bool rule = format.type == TagNodeType::kDispatch;
  std::vector<std::uint32_t> triggers;
  if (!rule) triggers = structural_tag::triggers_of_tags(tag_, format);
  for (std::size_t c = 0; c < format.children.size(); ++c) {
    if (!possible(format.children[c])) continue;
    const std::string& trigger =
        rule ? format.as<structural_tag::DispatchFormat>().patterns[c]
             : format.as<structural_tag::TriggeredTags>().triggers[triggers[c]];
    for (const Word& word : words(trigger)) {
      const auto& node = text.automaton.nodes[node_of(text.automaton, word)];
      text.targets[node.calls.front()].push_back(
          after_trigger(id, c, word, node.depth, trigger.size()));
    }
  }
}

// REQUIRES: the automaton of `text` holds the triggers alone, not linked.
Resume Compiler::resume_of(TagNodeId id, const FreeText& text) {
  Resume out;
  out.format = id;
  out.automaton = text.automaton;
  out.targets = text.targets;
  out.ends = static_cast<std::uint32_t>(out.targets.size());
  for (const TagNodeId child : possible_children(tag_[id])) {
    if (tag_[child].type != TagNodeType::kTag) continue;
    const auto& end = tag_[child].as<TagFormat>().end;
    if (end.token) {
      out.token_ends.push_back(token_id(*end.token));
      continue;
    }
    for (const std::string& marker : end.texts) {
      const std::string_view distinctive = distinctive_end(marker);
      if (distinctive.empty()) continue;
      for (const Word& word : words(distinctive)) {
        auto& calls = out.automaton.nodes[out.automaton.insert(word)].calls;
        if (calls.empty()) calls.push_back(out.ends);
      }
    }
  }
  std::sort(out.token_ends.begin(), out.token_ends.end());
  out.bytes = spelled_depths(out.automaton);
  out.trigger_bytes.resize(out.ends);
  for (std::size_t node = 0; node < out.bytes.size(); ++node) {
    for (const std::uint32_t call : out.automaton.nodes[node].calls) {
      if (call < out.ends) out.trigger_bytes[call] = out.bytes[node];
    }
  }
  out.automaton.link();
  return out;
}

// How many counts there are at the places where reading may go on.
void Compiler::find_count_depths() {
  constexpr std::uint32_t kUnknown = kUnbounded;
  std::vector<std::uint32_t> depth(out_.code.size(), kUnknown);
  std::vector<Pc> left = {out_.start};
  depth[out_.start] = 0;
  const auto lead = [&](Pc to, std::uint32_t there) {
    if (to == kNoPc || depth[to] != kUnknown) return;
    depth[to] = there;
    left.push_back(to);
  };
  while (!left.empty()) {
    const Pc pc = left.back();
    left.pop_back();
    const Instruction& at = out_.code[pc];
    std::uint32_t there = depth[pc];
    switch (at.op) {
      case Op::kFork:
      case Op::kCountTest:
        for (const Pc way : out_.forks[at.index]) lead(way, there);
        continue;
      case Op::kTextToTrigger:
        for (const auto& targets : out_.free_texts[at.index].targets) {
          for (const Pc target : targets) lead(target, there);
        }
        continue;
      case Op::kTokensToTrigger:
        for (const auto& [id, targets] : out_.token_texts[at.index].targets) {
          for (const Pc target : targets) lead(target, there);
        }
        continue;
      case Op::kAccept:
        continue;
      case Op::kCountFrom:
        ++there;
        break;
      case Op::kCountEnd:
        --there;
        break;
      default:
        break;
    }
    lead(at.next, there);
    lead(at.other, there);
  }
  std::erase_if(out_.resumes, [&](const Resume& resume) {
    return depth[resume.place] == kUnknown;
  });
  for (Resume& resume : out_.resumes) {
    resume.count_depth = depth[resume.place];
  }
}

// Where a trigger begins another, both ways are open behind the shorter one
// (as in tag_to_rules.cc): to what it leads to, and to the rest of the longer
// one.
Pc Compiler::compile_triggers(TagNodeId id) {
  const TagNode& format = tag_[id];
  const Pc leave = leave_[index_of(id)];
  bool at_least_one = false;
  bool loop = true;
  std::vector<std::string> triggers;
  if (format.type == TagNodeType::kDispatch) {
    loop = format.as<structural_tag::DispatchFormat>().loop;
    triggers = format.as<structural_tag::DispatchFormat>().patterns;
  } else {
    const auto& body = format.as<structural_tag::TriggeredTags>();
    at_least_one = body.at_least_one;
    loop = !body.stop_after_first;
    triggers = body.triggers;
  }
  const std::vector<TagNodeId> tags = possible_children(format);
  std::vector<Pc> firsts;
  firsts.reserve(tags.size());
  for (const TagNodeId child : tags) firsts.push_back(enter(child));
  if (at_least_one && !loop) {
    for (const TagNodeId child : tags) then(child, leave);
    return fork(std::move(firsts));
  }
  std::vector<Word> all;
  for (const std::string& trigger : triggers) {
    for (Word& word : words(trigger)) all.push_back(std::move(word));
  }
  std::sort(all.begin(), all.end());
  FreeText text;
  automata::AhoCorasick& automaton = text.automaton;
  // Those that no other begins.
  for (const Word& word : all) {
    if (!automaton.nodes[node_of(automaton, word)].calls.empty()) continue;
    automaton.nodes[automaton.insert(word)].calls.push_back(
        static_cast<std::uint32_t>(text.targets.size()));
    text.targets.emplace_back();
  }
  add_targets(id, text);
  Resume resume = resume_of(id, text);
  // Nodes so far are on the way to a trigger: the bytes of their text.
  const std::vector<std::uint32_t> depth = spelled_depths(automaton);
  for (const std::string& word : analysis_.excluded_texts(id)) {
    exclude(text, word);
  }
  for (const std::string& trigger : triggers) exclude_spelling(text, trigger);
  const std::uint32_t index = add_text(std::move(text));
  FreeText& made = out_.free_texts[index];
  for (std::size_t node = 1; node < made.pending.size(); ++node) {
    std::uint32_t at = static_cast<std::uint32_t>(node);
    while (at >= depth.size()) at = made.automaton.nodes[at].fail;
    made.pending[node] = depth[at];
  }
  const Pc last = add({.op = Op::kText, .next = leave, .index = index});
  Pc text_place = last;
  if (!tags.empty()) {
    const Pc before = add({.op = Op::kTextToTrigger, .index = index});
    text_place = fork({before, last});
    resume.place = text_place;
    if (format.type == TagNodeType::kTriggeredTags) {
      out_.resumes.push_back(std::move(resume));
    }
  }
  for (const TagNodeId child : tags) then(child, loop ? text_place : leave);
  return at_least_one ? fork(std::move(firsts)) : text_place;
}

Pc Compiler::compile_tokens(TagNodeId id) {
  const TagNode& format = tag_[id];
  const Pc leave = leave_[index_of(id)];
  if (format.type == TagNodeType::kToken) {
    return token(format.as<structural_tag::TokenFormat>().token, leave);
  }
  TokenSet set{excluded_tokens(id), true};
  if (format.type == TagNodeType::kExcludeToken) {
    return tokens(std::move(set), Op::kToken, 1, leave);
  }
  const std::uint32_t max =
      format.as<structural_tag::AnyTokens>().max_tokens.value_or(kUnbounded);
  return max == 0 ? leave : tokens(std::move(set), Op::kTokens, max, leave);
}

Pc Compiler::compile_token_triggers(TagNodeId id) {
  const TagNode& format = tag_[id];
  const Pc leave = leave_[index_of(id)];
  const bool rule = format.type == TagNodeType::kTokenDispatch;
  bool at_least_one = false;
  bool loop = true;
  TokenText text;
  text.excludes = excluded_tokens(id);
  std::vector<Pc> firsts;
  if (rule) {
    loop = format.as<structural_tag::TokenDispatch>().loop;
    for (const TokenRef& ref :
         format.as<structural_tag::TokenDispatch>().patterns) {
      text.targets[token_id(ref)];
    }
  } else {
    const auto& body = format.as<structural_tag::TokenTriggeredTags>();
    at_least_one = body.at_least_one;
    loop = !body.stop_after_first;
    for (const TokenRef& ref : body.triggers) text.targets[token_id(ref)];
  }
  for (std::size_t c = 0; c < format.children.size(); ++c) {
    const TagNodeId child = format.children[c];
    if (!possible(child)) continue;
    firsts.push_back(enter(child));
    const TokenRef& ref =
        rule ? format.as<structural_tag::TokenDispatch>().patterns[c]
             : *tag_[child].as<TagFormat>().begin.token;
    const Pc target =
        add({.op = rule ? Op::kRule : Op::kEnter,
             .next = rule ? enter(child) : enter(tag_[child].children[0]),
             .index = static_cast<std::uint32_t>(index_of(rule ? id : child)),
             .back = kTokenBack});
    text.targets[token_id(ref)].push_back(target);
  }
  const auto each_then = [&](Pc next) {
    for (const TagNodeId child : possible_children(format)) then(child, next);
  };
  if (at_least_one && !loop) {
    each_then(leave);
    return fork(std::move(firsts));
  }
  out_.has_tokens = true;
  for (const auto& [token, targets] : text.targets) {
    out_.roles.try_emplace(token, kNoMark);
  }
  out_.token_texts.push_back(std::move(text));
  const auto index = static_cast<std::uint32_t>(out_.token_texts.size() - 1);
  const Pc last = add({.op = Op::kTokensLast, .next = leave, .index = index});
  Pc place = last;
  if (!firsts.empty()) {
    const Pc before = add({.op = Op::kTokensToTrigger, .index = index});
    place = fork({before, last});
    if (!rule) {
      Resume resume = resume_of(id, {});
      resume.place = place;
      resume.token_targets = out_.token_texts[index].targets;
      out_.resumes.push_back(std::move(resume));
    }
  }
  each_then(loop ? place : leave);
  return at_least_one ? fork(std::move(firsts)) : place;
}

Pc Compiler::compile_leaf(TagNodeId id) {
  const grammar::EmbeddedRecogniser& leaf = leaves_[index_of(id)];
  const bool marked = marks_ != nullptr && leaf.rules != nullptr;
  out_.has_tokens = out_.has_tokens || leaf.reads_tokens;
  out_.recognisers.push_back({leaf.recogniser, leaf.reads_tokens, marked});
  return add(
      {.op = Op::kRecogniser,
       .next = leave_[index_of(id)],
       .index = static_cast<std::uint32_t>(out_.recognisers.size() - 1)});
}

Pc Compiler::compile_one(TagNodeId id) {
  const TagNode& format = tag_[id];
  const Pc leave = leave_[index_of(id)];
  const std::vector<TagNodeId>& children = format.children;
  switch (format.type) {
    case TagNodeType::kConstString:
      return marker(format.as<structural_tag::ConstString>().value, leave);
    case TagNodeType::kJsonSchema:
    case TagNodeType::kRegex:
    case TagNodeType::kGrammar:
      return compile_leaf(id);
    case TagNodeType::kAnyText:
      return compile_text(id);
    case TagNodeType::kSequence:
      for (std::size_t i = 0; i < children.size(); ++i) {
        then(children[i],
             i + 1 == children.size() ? leave : enter(children[i + 1]));
      }
      return enter(children[0]);
    case TagNodeType::kOr: {
      std::vector<Pc> ways;
      for (const TagNodeId child : possible_children(format)) {
        ways.push_back(enter(child));
        then(child, leave);
      }
      return fork(std::move(ways));
    }
    case TagNodeType::kOptional:
      if (!possible(children[0])) return leave;
      then(children[0], leave);
      return fork({enter(children[0]), leave});
    case TagNodeType::kPlus:
      return compile_loop(id, 1, kUnbounded);
    case TagNodeType::kStar:
      return compile_loop(id, 0, kUnbounded);
    case TagNodeType::kRepeat: {
      const auto& body = format.as<structural_tag::RepeatFormat>();
      return compile_loop(id, body.min, body.max);
    }
    case TagNodeType::kTag:
      return compile_tag(id);
    case TagNodeType::kTagsWithSeparator:
      return compile_separated(id);
    case TagNodeType::kTriggeredTags:
    case TagNodeType::kDispatch:
      return compile_triggers(id);
    case TagNodeType::kTokenTriggeredTags:
    case TagNodeType::kTokenDispatch:
      return compile_token_triggers(id);
    case TagNodeType::kToken:
    case TagNodeType::kExcludeToken:
    case TagNodeType::kAnyTokens:
      return compile_tokens(id);
  }
  return leave;
}

// Threads that have come different ways meet where two ways lead, behind what
// threads may leave from different places, and where what told them apart is
// forgotten.
void Compiler::find_joins() {
  std::vector<Instruction>& code = out_.code;
  std::vector<std::uint32_t> ways(code.size(), 0);
  const auto lead = [&](Pc to, std::uint32_t weight) { ways[to] += weight; };
  for (const Instruction& at : code) {
    switch (at.op) {
      case Op::kFork:
      case Op::kCountTest:
        for (const Pc way : out_.forks[at.index]) lead(way, 1);
        break;
      case Op::kEnter:
      case Op::kLeave:
      case Op::kRule:
      case Op::kCountFrom:
      case Op::kLiteral:
      case Op::kToken:
        lead(at.next, 1);
        break;
      case Op::kTextToTrigger:
      case Op::kTokensToTrigger:
      case Op::kAccept:
        break;
      default:
        lead(at.next, 2);
        if (at.other != kNoPc) lead(at.other, 2);
        break;
    }
  }
  for (const FreeText& text : out_.free_texts) {
    for (const auto& targets : text.targets) {
      for (const Pc target : targets) lead(target, 2);
    }
  }
  for (std::size_t pc = 0; pc < code.size(); ++pc) {
    code[pc].joins = ways[pc] > 1 || reads(code[pc].op);
  }
}

Result<TagProgram> Compiler::emit() {
  out_ = {};
  out_.marks = marks_;
  for (std::size_t i = 0; i < tag_.formats.size(); ++i) {
    const auto index = static_cast<std::uint32_t>(i);
    enter_[i] = add({.op = Op::kEnter, .index = index});
    leave_[i] = add({.op = Op::kLeave, .index = index});
  }
  for (std::size_t i = 0; i < tag_.formats.size(); ++i) {
    if (impossible_[i]) continue;
    const Pc first = compile_one(TagNodeId{static_cast<std::uint32_t>(i)});
    out_.code[enter_[i]].next = first;
  }
  out_.code[leave_[0]].next = add({.op = Op::kAccept});
  out_.start = enter_[0];
  find_joins();
  find_count_depths();
  out_.names_ordinary =
      std::any_of(out_.roles.begin(), out_.roles.end(),
                  [&](const auto& role) { return !is_special(role.first); });
  if (marks_ != nullptr) {
    const std::vector<rules::Mark>& marks = marks_->marks();
    for (std::size_t i = 0; i < marks.size(); ++i) {
      for (const TokenId id : marks[i].ids) {
        out_.roles[id] = static_cast<std::uint32_t>(i);
      }
    }
  }
  return std::move(out_);
}

Result<TagProgram> Compiler::texts() {
  std::optional<Error> error = grammar::check_tokens(tag_, lowering_);
  find_depths();
  for (std::size_t i = tag_.formats.size(); i-- > 0 && !error;) {
    const auto id = TagNodeId{static_cast<std::uint32_t>(i)};
    error = make_leaf(id);
    impossible_[i] = impossible_[i] || find_impossible(tag_.formats[i]);
    nullable_[i] = find_nullable(id);
  }
  if (error) {
    // Of several mistakes the one that the grammar of the tag has first.
    auto lowered = grammar::lower_tag(tag_, lowering_);
    return lowered ? *std::move(error) : std::move(lowered).error();
  }
  if (impossible_[0]) {
    return Error{ErrorCode::kUnsatisfiable, "No text fits the grammar."};
  }
  return emit();
}

// The marks of all markers of the tag, those of argument styles included.
std::optional<Error> Compiler::collect_marks() {
  if (options_.vocabulary == nullptr || options_.markers == Markers::kText ||
      options_.vocabulary->special_ids().empty()) {
    return std::nullopt;
  }
  Result<grammar::LoweredTag> outline = grammar::lower_outline(tag_, lowering_);
  if (!outline) return std::move(outline).error();
  auto marks =
      std::make_shared<rules::Marks>(*options_.vocabulary, options_.markers);
  marks->add(outline->rules);
  for (const grammar::EmbeddedRecogniser& embedded : leaves_) {
    if (embedded.rules != nullptr) marks->add(*embedded.rules);
  }
  if (auto error = marks->check_names(outline->rules)) return error;
  for (const grammar::EmbeddedRecogniser& embedded : leaves_) {
    if (embedded.rules == nullptr) continue;
    if (auto error = marks->check_names(*embedded.rules)) return error;
  }
  if (!marks->empty()) marks_ = std::move(marks);
  return std::nullopt;
}

std::optional<Error> Compiler::mark_leaves() {
  for (std::size_t i = tag_.formats.size(); i-- > 0;) {
    grammar::EmbeddedRecogniser& embedded = leaves_[i];
    if (embedded.rules == nullptr) continue;
    Result<grammar::EmbeddedRecogniser> made =
        grammar::embedded_with_marks(embedded, marks_, options_.limits);
    if (!made) {
      Error error = std::move(made).error();
      error.path = tag_.formats[i].path;
      return error;
    }
    embedded = *std::move(made);
    impossible_[i] = embedded.recogniser == nullptr;
  }
  for (std::size_t i = tag_.formats.size(); i-- > 0;) {
    impossible_[i] = impossible_[i] || find_impossible(tag_.formats[i]);
  }
  if (!impossible_[0]) return std::nullopt;
  return Error{ErrorCode::kUnsatisfiable,
               "No text fits the grammar when its markers are tokens of the "
               "vocabulary."};
}

Result<std::unique_ptr<const TagProgram>> Compiler::tokens() {
  if (auto error = collect_marks()) return *std::move(error);
  if (marks_ == nullptr) return std::unique_ptr<const TagProgram>();
  if (auto error = mark_leaves()) return *std::move(error);
  Result<TagProgram> program = emit();
  if (!program) return std::move(program).error();
  return std::make_unique<const TagProgram>(*std::move(program));
}

// --- The program -------------------------------------------------------------

void find_places(CompiledTagImpl& code) {
  const std::vector<TagNode>& formats = code.tag->formats;
  code.parents.assign(formats.size(), kNoFormat);
  code.child_index.assign(formats.size(), 0);
  for (std::size_t i = 0; i < formats.size(); ++i) {
    for (std::size_t c = 0; c < formats[i].children.size(); ++c) {
      const std::size_t child = index_of(formats[i].children[c]);
      code.parents[child] = TagNodeId{static_cast<std::uint32_t>(i)};
      code.child_index[child] = static_cast<std::uint32_t>(c);
    }
  }
}

}  // namespace

const Resume* TagProgram::resume_of(TagNodeId format) const {
  const auto found = std::ranges::find(resumes, format, &Resume::format);
  return found == resumes.end() ? nullptr : &*found;
}

std::string spelling(const rules::Marks* marks, automata::WordSymbol symbol) {
  if (!automata::is_mark(symbol)) {
    return std::string(1, static_cast<char>(symbol));
  }
  return marks->marks()[symbol - automata::kFirstMarkSymbol].spelling;
}

bool TokenSet::contains(TokenId id) const {
  return std::binary_search(ids.begin(), ids.end(), id) != negated;
}

Result<std::shared_ptr<const CompiledTagImpl>> compile(
    std::shared_ptr<const structural_tag::TagTree> tag,
    const CompiledTagOptions& options) {
  auto code = std::make_shared<CompiledTagImpl>();
  code->tag = std::move(tag);
  code->markers = options.markers;
  code->for_vocabulary = options.vocabulary != nullptr;
  Compiler compiler(*code, options);
  Result<TagProgram> spelled = compiler.texts();
  if (!spelled) return std::move(spelled).error();
  code->spelled = *std::move(spelled);
  Result<std::unique_ptr<const TagProgram>> tokens = compiler.tokens();
  if (!tokens) return std::move(tokens).error();
  code->tokens = *std::move(tokens);
  find_places(*code);
  code->regions = Regions(*code->tag);
  return std::shared_ptr<const CompiledTagImpl>(std::move(code));
}

}  // namespace parlance::tag_parser
