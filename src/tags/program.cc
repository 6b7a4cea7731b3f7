// From a structural tag to a program.
//
// Every format has two fixed instructions, where it is entered and where it is
// left; who contains it says where the latter goes on.  So formats can be
// compiled one by one, in any order, and depth costs no call stack.

#include "tags/program.h"

#include <algorithm>
#include <utility>

#include "grammar/grammar_cache.h"
#include "grammar/lower_tag.h"
#include "grammar/tag_leaf.h"

namespace parlance::tags {
namespace {

using grammar::Format;
using grammar::FormatType;
using grammar::kNoFormat;
using grammar::TagFormat;
using grammar::TokenRef;

class Compiler {
 public:
  Compiler(std::shared_ptr<const grammar::StructuralTag> tag,
           const TagProgramOptions& options)
      : tag_(*tag),
        facts_(tag_),
        options_(options),
        out_(std::make_shared<TagProgram::Code>()),
        enter_(tag_.formats.size()),
        leave_(tag_.formats.size()),
        impossible_(tag_.formats.size(), false),
        nullable_(tag_.formats.size(), false),
        depth_(tag_.formats.size(), 0),
        machine_(tag_.formats.size(), 0) {
    out_->tag = std::move(tag);
    if (options.cache != nullptr) {
      lowering_.store = &options.cache->state().store;
    }
    if (options.vocabulary != nullptr) {
      const Vocabulary& words = *options.vocabulary;
      lowering_.vocabulary_size = static_cast<std::uint32_t>(words.size());
      lowering_.find_token = [&words](std::string_view text) {
        return words.find_first(text);
      };
    }
  }

  Result<std::shared_ptr<const TagProgram::Code>> run();

 private:
  std::optional<Error> make_leaf(FormatId id);
  void find_joins();
  bool find_impossible(const Format& format) const;
  bool find_nullable(FormatId id) const;
  void find_places();

  Pc add(Instruction instruction) {
    out_->code.push_back(instruction);
    return static_cast<Pc>(out_->code.size() - 1);
  }
  Pc fork(std::vector<Pc> ways) {
    out_->forks.push_back(std::move(ways));
    return add({.op = Op::kFork,
                .index = static_cast<std::uint32_t>(out_->forks.size() - 1)});
  }
  // The rest of `text`, then `next`; `next` itself if there is none.
  Pc literal(std::string_view text, std::size_t offset, Pc next) {
    if (offset == text.size()) return next;
    out_->texts.emplace_back(text);
    return add({.op = Op::kLiteral,
                .next = next,
                .index = static_cast<std::uint32_t>(out_->texts.size() - 1),
                .offset = static_cast<std::uint32_t>(offset)});
  }
  Pc token(const TokenRef& ref, Pc next) {
    return tokens({{token_id(ref)}, false}, Op::kToken, 1, next);
  }
  Pc tokens(TokenSet set, Op op, std::uint32_t max, Pc next) {
    std::sort(set.ids.begin(), set.ids.end());
    out_->token_sets.push_back(std::move(set));
    out_->has_tokens = true;
    return add(
        {.op = op,
         .next = next,
         .index = static_cast<std::uint32_t>(out_->token_sets.size() - 1),
         .max = max});
  }
  TokenId token_id(const TokenRef& ref) const {
    // All have been looked up once, by check_tokens().
    if (!ref.by_text() || options_.vocabulary == nullptr) return ref.id;
    return options_.vocabulary->find_first(ref.text).value_or(0);
  }
  std::vector<TokenId> excluded_tokens(FormatId id) const {
    std::vector<TokenId> out;
    for (const TokenRef& ref : facts_.excluded_tokens(id)) {
      out.push_back(token_id(ref));
    }
    std::sort(out.begin(), out.end());
    return out;
  }
  Pc enter(FormatId id) const { return enter_[index_of(id)]; }
  void then(FormatId id, Pc next) {
    out_->code[leave_[index_of(id)]].next = next;
  }
  bool possible(FormatId id) const { return !impossible_[index_of(id)]; }
  std::vector<FormatId> possible_children(const Format& format) const {
    std::vector<FormatId> out;
    for (const FormatId child : format.children) {
      if (possible(child)) out.push_back(child);
    }
    return out;
  }

  // What a format is between where it is entered and left.
  Pc compile_one(FormatId id);
  Pc compile_tag(FormatId id);
  Pc compile_loop(FormatId id, std::uint32_t min, std::uint32_t max);
  Pc compile_text(FormatId id);
  Pc compile_separated(FormatId id);
  Pc compile_triggers(FormatId id);
  Pc compile_tokens(FormatId id);
  Pc compile_token_triggers(FormatId id);

  std::uint32_t add_text(FreeText text);
  std::vector<std::string> begins(const Format& format) const;
  Pc behind_trigger(FormatId id, std::size_t child, std::size_t back);

  const grammar::StructuralTag& tag_;
  const grammar::TagFacts facts_;
  const TagProgramOptions& options_;
  grammar::LowerOptions lowering_;
  std::shared_ptr<TagProgram::Code> out_;
  std::vector<Pc> enter_;
  std::vector<Pc> leave_;
  std::vector<bool> impossible_;  // no text fits
  std::vector<bool> nullable_;    // the empty text does
  std::vector<std::uint32_t> depth_;
  std::vector<std::uint32_t> machine_;
};

// --- Facts -------------------------------------------------------------------

std::optional<Error> Compiler::make_leaf(FormatId id) {
  const Format& format = tag_[id];
  switch (format.type) {
    case FormatType::kJsonSchema:
    case FormatType::kRegex:
    case FormatType::kGrammar:
      break;
    default:
      return std::nullopt;
  }
  Result<grammar::TagLeaf> leaf =
      grammar::make_tag_leaf(tag_, id, lowering_, options_.limits);
  if (!leaf) return std::move(leaf).error();
  if (leaf->recogniser == nullptr) {
    impossible_[index_of(id)] = true;
    return std::nullopt;
  }
  if (format.type == FormatType::kJsonSchema) {
    Result<ArgumentReader> reader =
        ArgumentReader::make(format.as<grammar::JsonSchemaFormat>(), {});
    if (!reader) {
      Error error = std::move(reader).error();
      error.path = format.path + "/json_schema" + error.path;
      return error;
    }
    out_->arguments.emplace(id, std::move(*reader));
  }
  nullable_[index_of(id)] =
      leaf->recogniser->can_end(leaf->recogniser->start());
  machine_[index_of(id)] = static_cast<std::uint32_t>(out_->machines.size());
  out_->has_tokens = out_->has_tokens || leaf->reads_tokens;
  out_->machines.push_back(
      {std::move(leaf->recogniser), leaf->reads_tokens, options_.limits.bytes});
  return std::nullopt;
}

// REQUIRES: known for the children.
bool Compiler::find_impossible(const Format& format) const {
  const std::size_t left = possible_children(format).size();
  switch (format.type) {
    case FormatType::kSequence:
    case FormatType::kTag:
    case FormatType::kPlus:
      return left < format.children.size();
    case FormatType::kOr:
      return left == 0;
    case FormatType::kRepeat:
      return left == 0 && format.as<grammar::RepeatFormat>().min > 0;
    case FormatType::kTriggeredTags:
      return left == 0 && format.as<grammar::TriggeredTags>().at_least_one;
    case FormatType::kTokenTriggeredTags:
      return left == 0 && format.as<grammar::TokenTriggeredTags>().at_least_one;
    case FormatType::kTagsWithSeparator:
      return left == 0 && format.as<grammar::TagsWithSeparator>().at_least_one;
    default:
      return false;
  }
}

// REQUIRES: known for the children.
bool Compiler::find_nullable(FormatId id) const {
  const Format& format = tag_[id];
  const auto is = [&](FormatId child) {
    return possible(child) && nullable_[index_of(child)];
  };
  const auto any = [&] {
    return std::any_of(format.children.begin(), format.children.end(), is);
  };
  const auto all = [&] {
    return std::all_of(format.children.begin(), format.children.end(), is);
  };
  switch (format.type) {
    case FormatType::kConstString:
      return format.as<grammar::ConstString>().value.empty();
    case FormatType::kSequence:
    case FormatType::kPlus:
      return all();
    case FormatType::kOr:
      return any();
    case FormatType::kRepeat:
      return all() || format.as<grammar::RepeatFormat>().min == 0;
    case FormatType::kTag: {
      const auto& body = format.as<TagFormat>();
      const auto& ends = body.end.texts;
      return all() && !body.begin.token && body.begin.texts[0].empty() &&
             std::find(ends.begin(), ends.end(), "") != ends.end();
    }
    case FormatType::kTriggeredTags:
      return !format.as<grammar::TriggeredTags>().at_least_one;
    case FormatType::kTokenTriggeredTags:
      return !format.as<grammar::TokenTriggeredTags>().at_least_one;
    case FormatType::kTagsWithSeparator:
      return !format.as<grammar::TagsWithSeparator>().at_least_one || any();
    case FormatType::kJsonSchema:
    case FormatType::kRegex:
    case FormatType::kGrammar:
      return nullable_[index_of(id)];
    case FormatType::kToken:
    case FormatType::kExcludeToken:
      return false;
    default:
      return true;
  }
}

void Compiler::find_places() {
  out_->parents.assign(tag_.formats.size(), kNoFormat);
  out_->child_index.assign(tag_.formats.size(), 0);
  for (std::size_t i = 0; i < tag_.formats.size(); ++i) {
    const auto id = FormatId{static_cast<std::uint32_t>(i)};
    const Format& format = tag_.formats[i];
    for (std::size_t c = 0; c < format.children.size(); ++c) {
      const std::size_t child = index_of(format.children[c]);
      out_->parents[child] = id;
      out_->child_index[child] = static_cast<std::uint32_t>(c);
      depth_[child] = depth_[i] + 1;
    }
  }
}

// --- Formats -----------------------------------------------------------------

// A body that may be empty is not asked for: what it adds is nothing.
Pc Compiler::compile_loop(FormatId id, std::uint32_t min, std::uint32_t max) {
  const FormatId body = tag_[id].children[0];
  const Pc leave = leave_[index_of(id)];
  if (!possible(body) || max == 0) return leave;
  const std::uint32_t depth = depth_[index_of(id)];
  const bool guarded = nullable_[index_of(body)];
  if (guarded) min = 0;
  const Pc iterate =
      guarded ? add({.op = Op::kIterate, .next = enter(body), .index = depth})
              : enter(body);
  const auto close = [&](Pc next) {
    then(body, guarded ? add({.op = Op::kAgain, .next = next, .index = depth})
                       : next);
  };
  if (max == kMany && min <= 1) {
    const Pc head = fork({iterate, leave});
    close(head);
    return min == 0 ? head : iterate;
  }
  const Pc exit = add({.op = Op::kCountEnd, .next = leave});
  const Pc test = fork({iterate, exit});
  out_->code[test].op = Op::kCountTest;
  out_->code[test].min = min;
  out_->code[test].max = max;
  close(add({.op = Op::kCountNext, .next = test, .min = min, .max = max}));
  return add({.op = Op::kCountFrom, .next = test});
}

Pc Compiler::compile_tag(FormatId id) {
  const Format& format = tag_[id];
  const auto& body = format.as<TagFormat>();
  const Pc leave = leave_[index_of(id)];
  if (body.end.token) {
    then(format.children[0], token(*body.end.token, leave));
  } else {
    std::vector<Pc> ends;
    for (const std::string& text : body.end.texts) {
      ends.push_back(literal(text, 0, leave));
    }
    then(format.children[0], ends.size() == 1 ? ends[0] : fork(ends));
  }
  const Pc content = enter(format.children[0]);
  return body.begin.token ? token(*body.begin.token, content)
                          : literal(body.begin.texts[0], 0, content);
}

Pc Compiler::compile_separated(FormatId id) {
  const Format& format = tag_[id];
  const auto& body = format.as<grammar::TagsWithSeparator>();
  const Pc leave = leave_[index_of(id)];
  const std::vector<FormatId> tags = possible_children(format);
  if (tags.empty()) return leave;
  std::vector<Pc> ways;
  ways.reserve(tags.size());
  for (const FormatId child : tags) ways.push_back(enter(child));
  const Pc first = fork(std::move(ways));
  Pc behind = leave;
  if (!body.stop_after_first) {
    const bool guarded =
        body.separator.empty() &&
        std::any_of(tags.begin(), tags.end(),
                    [&](FormatId child) { return nullable_[index_of(child)]; });
    if (guarded) {
      // Behind an empty first tag nothing comes that could not be that tag; a
      // later one is not empty.
      const std::uint32_t depth = depth_[index_of(id)];
      const Pc more = add({.op = Op::kIterate, .next = first, .index = depth});
      behind = add({.op = Op::kAgain,
                    .next = fork({more, leave}),
                    .index = depth,
                    .other = leave});
    } else {
      behind = fork({literal(body.separator, 0, first), leave});
    }
  }
  for (const FormatId child : tags) then(child, behind);
  return body.at_least_one ? first : fork({first, leave});
}

std::uint32_t Compiler::add_text(FreeText text) {
  text.automaton.link();
  text.pending.assign(text.automaton.nodes.size(), 0);
  for (const auto& [symbol, next] : text.automaton.nodes[0].next) {
    if (!grammar::is_mark(symbol)) text.special[symbol] = true;
  }
  out_->frees.push_back(std::move(text));
  return static_cast<std::uint32_t>(out_->frees.size() - 1);
}

Pc Compiler::compile_text(FormatId id) {
  const auto& body = tag_[id].as<grammar::AnyText>();
  const Pc leave = leave_[index_of(id)];
  if (body.max_chars == 0u || body.max_tokens == 0u) return leave;
  FreeText text;
  for (const std::string& word : facts_.excluded_texts(id)) {
    text.automaton.nodes[text.automaton.insert(word)].excluded = true;
  }
  if (body.max_tokens) out_->has_budgets = true;
  return add({.op = Op::kText,
              .next = leave,
              .index = add_text(std::move(text)),
              .max = body.max_chars.value_or(kMany),
              .max_tokens = body.max_tokens.value_or(kMany)});
}

std::vector<std::string> Compiler::begins(const Format& format) const {
  if (format.type == FormatType::kDispatch) {
    return format.as<grammar::DispatchFormat>().patterns;
  }
  std::vector<std::string> out;
  for (const FormatId child : format.children) {
    out.push_back(tag_[child].as<TagFormat>().begin.texts[0]);
  }
  return out;
}

// Where a trigger leads whose last byte was read `back` bytes behind the first
// byte of what it begins.
Pc Compiler::behind_trigger(FormatId id, std::size_t child, std::size_t back) {
  const Format& format = tag_[id];
  const FormatId inside = format.children[child];
  const bool rule = format.type == FormatType::kDispatch;
  const std::string begin =
      rule ? format.as<grammar::DispatchFormat>().patterns[child]
           : tag_[inside].as<TagFormat>().begin.texts[0];
  const Pc content = rule ? enter(inside) : enter(tag_[inside].children[0]);
  return add({.op = rule ? Op::kRule : Op::kEnter,
              .next = literal(begin, back, content),
              .index = static_cast<std::uint32_t>(index_of(rule ? id : inside)),
              .back = static_cast<std::uint32_t>(back)});
}

// Where a trigger begins another, both ways are open behind the shorter one
// (as in lower_tag.cc): to what it leads to, and to the rest of the longer one.
Pc Compiler::compile_triggers(FormatId id) {
  const Format& format = tag_[id];
  const Pc leave = leave_[index_of(id)];
  bool at_least_one = false;
  bool loop = true;
  std::vector<std::string> triggers;
  if (format.type == FormatType::kDispatch) {
    loop = format.as<grammar::DispatchFormat>().loop;
    triggers = format.as<grammar::DispatchFormat>().patterns;
  } else {
    const auto& body = format.as<grammar::TriggeredTags>();
    at_least_one = body.at_least_one;
    loop = !body.stop_after_first;
    triggers = body.triggers;
  }
  const std::vector<FormatId> tags = possible_children(format);
  std::vector<Pc> firsts;
  firsts.reserve(tags.size());
  for (const FormatId child : tags) firsts.push_back(enter(child));
  if (at_least_one && !loop) {
    for (const FormatId child : tags) then(child, leave);
    return fork(std::move(firsts));
  }
  std::sort(triggers.begin(), triggers.end());
  FreeText text;
  grammar::TriggerAutomaton& automaton = text.automaton;
  // Those that no other begins.
  std::vector<std::string> shortest;
  for (const std::string& trigger : triggers) {
    if (shortest.empty() || !trigger.starts_with(shortest.back())) {
      shortest.push_back(trigger);
    }
  }
  automaton = grammar::word_trie(shortest);
  text.targets.resize(shortest.size());
  const std::vector<std::string> all = begins(format);
  for (std::size_t c = 0; c < all.size(); ++c) {
    if (!possible(format.children[c])) continue;
    for (const std::uint32_t first : automaton.words_that_begin(all[c])) {
      text.targets[first].push_back(
          behind_trigger(id, c, shortest[first].size()));
    }
  }
  // Nodes so far are on the way to a trigger, at the depth of their text.
  std::vector<std::uint32_t> depth(automaton.nodes.size(), 0);
  for (std::size_t node = 0; node < depth.size(); ++node) {
    for (const auto& [byte, next] : automaton.nodes[node].next) {
      depth[next] = depth[node] + 1;
    }
  }
  for (const std::string& word : facts_.excluded_texts(id)) {
    automaton.nodes[automaton.insert(word)].excluded = true;
  }
  const std::uint32_t index = add_text(std::move(text));
  FreeText& made = out_->frees[index];
  for (std::size_t node = 1; node < made.pending.size(); ++node) {
    std::uint32_t at = static_cast<std::uint32_t>(node);
    while (at >= depth.size()) at = made.automaton.nodes[at].fail;
    made.pending[node] = depth[at];
  }
  const Pc last = add({.op = Op::kText, .next = leave, .index = index});
  Pc text_place = last;
  if (!tags.empty()) {
    const Pc before = add({.op = Op::kTextBefore, .index = index});
    text_place = fork({before, last});
  }
  for (const FormatId child : tags) then(child, loop ? text_place : leave);
  return at_least_one ? fork(std::move(firsts)) : text_place;
}

Pc Compiler::compile_tokens(FormatId id) {
  const Format& format = tag_[id];
  const Pc leave = leave_[index_of(id)];
  if (format.type == FormatType::kToken) {
    return token(format.as<grammar::TokenFormat>().token, leave);
  }
  TokenSet set{excluded_tokens(id), true};
  if (format.type == FormatType::kExcludeToken) {
    return tokens(std::move(set), Op::kToken, 1, leave);
  }
  const std::uint32_t max =
      format.as<grammar::AnyTokens>().max_tokens.value_or(kMany);
  return max == 0 ? leave : tokens(std::move(set), Op::kTokens, max, leave);
}

Pc Compiler::compile_token_triggers(FormatId id) {
  const Format& format = tag_[id];
  const Pc leave = leave_[index_of(id)];
  const bool rule = format.type == FormatType::kTokenDispatch;
  bool at_least_one = false;
  bool loop = true;
  TokenText text;
  text.excludes = excluded_tokens(id);
  std::vector<Pc> firsts;
  if (rule) {
    loop = format.as<grammar::TokenDispatch>().loop;
    for (const TokenRef& ref : format.as<grammar::TokenDispatch>().patterns) {
      text.targets[token_id(ref)];
    }
  } else {
    const auto& body = format.as<grammar::TokenTriggeredTags>();
    at_least_one = body.at_least_one;
    loop = !body.stop_after_first;
    for (const TokenRef& ref : body.triggers) text.targets[token_id(ref)];
  }
  for (std::size_t c = 0; c < format.children.size(); ++c) {
    const FormatId child = format.children[c];
    if (!possible(child)) continue;
    firsts.push_back(enter(child));
    const TokenRef& ref = rule ? format.as<grammar::TokenDispatch>().patterns[c]
                               : *tag_[child].as<TagFormat>().begin.token;
    const Pc target =
        add({.op = rule ? Op::kRule : Op::kEnter,
             .next = rule ? enter(child) : enter(tag_[child].children[0]),
             .index = static_cast<std::uint32_t>(index_of(rule ? id : child)),
             .back = kTokenBack});
    text.targets[token_id(ref)].push_back(target);
  }
  const auto each_then = [&](Pc next) {
    for (const FormatId child : possible_children(format)) then(child, next);
  };
  if (at_least_one && !loop) {
    each_then(leave);
    return fork(std::move(firsts));
  }
  out_->has_tokens = true;
  out_->token_texts.push_back(std::move(text));
  const auto index = static_cast<std::uint32_t>(out_->token_texts.size() - 1);
  const Pc last = add({.op = Op::kTokensLast, .next = leave, .index = index});
  Pc place = last;
  if (!firsts.empty()) {
    const Pc before = add({.op = Op::kTokensBefore, .index = index});
    place = fork({before, last});
  }
  each_then(loop ? place : leave);
  return at_least_one ? fork(std::move(firsts)) : place;
}

Pc Compiler::compile_one(FormatId id) {
  const Format& format = tag_[id];
  const Pc leave = leave_[index_of(id)];
  const std::vector<FormatId>& children = format.children;
  switch (format.type) {
    case FormatType::kConstString:
      return literal(format.as<grammar::ConstString>().value, 0, leave);
    case FormatType::kJsonSchema:
    case FormatType::kRegex:
    case FormatType::kGrammar:
      return add(
          {.op = Op::kMachine, .next = leave, .index = machine_[index_of(id)]});
    case FormatType::kAnyText:
      return compile_text(id);
    case FormatType::kSequence:
      for (std::size_t i = 0; i < children.size(); ++i) {
        then(children[i],
             i + 1 == children.size() ? leave : enter(children[i + 1]));
      }
      return enter(children[0]);
    case FormatType::kOr: {
      std::vector<Pc> ways;
      for (const FormatId child : possible_children(format)) {
        ways.push_back(enter(child));
        then(child, leave);
      }
      return fork(std::move(ways));
    }
    case FormatType::kOptional:
      if (!possible(children[0])) return leave;
      then(children[0], leave);
      return fork({enter(children[0]), leave});
    case FormatType::kPlus:
      return compile_loop(id, 1, kMany);
    case FormatType::kStar:
      return compile_loop(id, 0, kMany);
    case FormatType::kRepeat: {
      const auto& body = format.as<grammar::RepeatFormat>();
      return compile_loop(id, body.min, body.max);
    }
    case FormatType::kTag:
      return compile_tag(id);
    case FormatType::kTagsWithSeparator:
      return compile_separated(id);
    case FormatType::kTriggeredTags:
    case FormatType::kDispatch:
      return compile_triggers(id);
    case FormatType::kTokenTriggeredTags:
    case FormatType::kTokenDispatch:
      return compile_token_triggers(id);
    case FormatType::kToken:
    case FormatType::kExcludeToken:
    case FormatType::kAnyTokens:
      return compile_tokens(id);
  }
  return leave;
}

// Threads that have come different ways meet where two ways lead, behind what
// threads may leave from different places, and where what told them apart is
// forgotten.
void Compiler::find_joins() {
  std::vector<Instruction>& code = out_->code;
  std::vector<std::uint32_t> ways(code.size(), 0);
  const auto lead = [&](Pc to, std::uint32_t weight) { ways[to] += weight; };
  for (const Instruction& at : code) {
    switch (at.op) {
      case Op::kFork:
      case Op::kCountTest:
        for (const Pc way : out_->forks[at.index]) lead(way, 1);
        break;
      case Op::kEnter:
      case Op::kLeave:
      case Op::kRule:
      case Op::kCountFrom:
      case Op::kLiteral:
      case Op::kToken:
        lead(at.next, 1);
        break;
      case Op::kTextBefore:
      case Op::kTokensBefore:
      case Op::kAccept:
        break;
      default:
        lead(at.next, 2);
        if (at.other != kNowhere) lead(at.other, 2);
        break;
    }
  }
  for (const FreeText& text : out_->frees) {
    for (const auto& targets : text.targets) {
      for (const Pc target : targets) lead(target, 2);
    }
  }
  for (std::size_t pc = 0; pc < code.size(); ++pc) {
    code[pc].joins = ways[pc] > 1 || reads(code[pc].op);
  }
}

Result<std::shared_ptr<const TagProgram::Code>> Compiler::run() {
  std::optional<Error> error = grammar::check_tokens(tag_, lowering_);
  find_places();
  for (std::size_t i = tag_.formats.size(); i-- > 0 && !error;) {
    const auto id = FormatId{static_cast<std::uint32_t>(i)};
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
  for (std::size_t i = 0; i < tag_.formats.size(); ++i) {
    const auto index = static_cast<std::uint32_t>(i);
    enter_[i] = add({.op = Op::kEnter, .index = index});
    leave_[i] = add({.op = Op::kLeave, .index = index});
  }
  for (std::size_t i = 0; i < tag_.formats.size(); ++i) {
    if (impossible_[i]) continue;
    const Pc first = compile_one(FormatId{static_cast<std::uint32_t>(i)});
    out_->code[enter_[i]].next = first;
  }
  out_->code[leave_[0]].next = add({.op = Op::kAccept});
  out_->start = enter_[0];
  find_joins();
  out_->regions = Regions(tag_);
  return std::shared_ptr<const TagProgram::Code>(std::move(out_));
}

}  // namespace

bool TokenSet::contains(TokenId id) const {
  return std::binary_search(ids.begin(), ids.end(), id) != negated;
}

Result<std::shared_ptr<const TagProgram::Code>> compile(
    std::shared_ptr<const grammar::StructuralTag> tag,
    const TagProgramOptions& options) {
  return Compiler(std::move(tag), options).run();
}

}  // namespace parlance::tags
