// Compiles formats, except free text with its triggers and sets of tokens, and
// assembles the two programs of a tag; see compiler.h.
//
//   texts()   analyses the formats, and emits the program for texts
//   tokens()  collects the marks of all markers, repeats the part of the
//             analysis that depends on them, and emits the program for tokens

#include <algorithm>
#include <utility>

#include "tag_parser/compiler.h"

namespace parlance::tag_parser {

using automata::WordSymbol;
using structural_tag::Nullable;
using structural_tag::Repetition;
using structural_tag::TagBody;
using structural_tag::TagNode;
using structural_tag::TagNodeType;

namespace {

// A text of a format without white space at its end; an empty one as it is.
std::string_view without_space(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  return last == text.npos ? text : text.substr(0, last + 1);
}

}  // namespace

// --- Analysis ----------------------------------------------------------------

// Builds the recogniser of a leaf, and finds whether the leaf is impossible or
// nullable.
std::optional<Error> TagCompiler::make_leaf(
    TagNodeId id, const grammar::LoweredTag& lowered) {
  Result<grammar::EmbeddedLanguage> embedded = grammar::make_embedded(
      tag_, id, lowered, lowering_.cache, options_.limits);
  if (!embedded) return std::move(embedded).error();
  if (embedded->language == nullptr) {
    impossible_[index_of(id)] = true;
    return std::nullopt;
  }
  if (tag_[id].type == TagNodeType::kJsonSchema) {
    if (auto error = make_reader(id, lowered.document)) return error;
  }
  const std::shared_ptr<recogniser::Recogniser> tables =
      embedded->language->with_room();
  {
    const recogniser::Recogniser::Lock lock(*tables);
    nullable_[index_of(id)] =
        lock->can_end(lock->start()) ? Nullable::kYes : Nullable::kNo;
  }
  leaves_[index_of(id)] = *std::move(embedded);
  return std::nullopt;
}

// Calls of one tool with equal schemas share a recogniser, and so parses that
// differ in the call read its arguments as one.  Returns whether the
// json_schema has that of a node that was made before it.
bool TagCompiler::share_leaf(TagNodeId id) {
  const Regions& regions = code_.regions;
  const TagNodeId owner = regions.own(id);
  if (owner == structural_tag::kNoTagNode ||
      regions.region(owner).value != id) {
    return false;
  }
  const auto [made, is_first] =
      made_leaves_.emplace(regions.representative(owner), id);
  if (is_first) return false;
  const std::size_t i = index_of(id);
  const std::size_t from = index_of(made->second);
  shared_leaves_[i] = made->second;
  impossible_[i] = impossible_[from];
  nullable_[i] = nullable_[from];
  leaves_[i] = leaves_[from];
  const auto reader = code_.arguments.find(made->second);
  if (reader != code_.arguments.end()) {
    code_.arguments.emplace(id, reader->second);
  }
  return true;
}

// Builds what reads the value of a json_schema, whose schema may be loaded.
std::optional<Error> TagCompiler::make_reader(
    TagNodeId id, std::shared_ptr<const arguments::ArgumentDocument> document) {
  if (code_.arguments.contains(id)) return std::nullopt;
  const TagNode& format = tag_[id];
  Result<arguments::ArgumentReader> reader = arguments::ArgumentReader::make(
      format.as<structural_tag::JsonSchemaBody>(), {}, std::move(document));
  if (!reader) {
    Error error = std::move(reader).error();
    error.path = format.path + "/json_schema" + error.path;
    return error;
  }
  code_.arguments.emplace(id, *std::move(reader));
  return std::nullopt;
}

// Whether no text fits, because of the children.
// REQUIRES: impossible_ is known for the children.
bool TagCompiler::find_impossible(const TagNode& format) const {
  const std::size_t left = possible_children(format).size();
  if (const auto* counts = format.part<structural_tag::Counts>()) {
    return left == 0 && counts->at_least_one;
  }
  if (const auto* loop = format.part<Repetition>()) {
    return left == 0 && loop->min > 0;
  }
  if (format.type == TagNodeType::kOr) return left == 0;
  return left < format.children.size();
}

// Whether the empty text fits.
// REQUIRES: nullable_ is known for the children and, if the format is a leaf,
// by make_leaf(); impossible_ is known for the format.
structural_tag::Nullable TagCompiler::find_nullable(TagNodeId id) const {
  if (!possible(id)) return Nullable::kNo;
  const Nullable made = structural_tag::nullable_of(tag_[id], nullable_);
  return made == Nullable::kInside ? nullable_[index_of(id)] : made;
}

void TagCompiler::find_depths() {
  for (std::size_t i = 0; i < tag_.nodes.size(); ++i) {
    for (const TagNodeId child : tag_.nodes[i].children) {
      depth_[index_of(child)] = depth_[i] + 1;
    }
  }
}

// Free text between calls takes the white space beside them, and the tags of a
// list have the list's.
void TagCompiler::find_delimited() {
  std::vector<bool> section(tag_.nodes.size(), false);
  for (std::size_t i = 0; i < tag_.nodes.size(); ++i) {
    const TagNode& format = tag_.nodes[i];
    const auto is_section = [](const TagNode& node) {
      return node.field == "tool_calls" && !has_triggers(node);
    };
    bool begun = in_section_[i];
    for (const TagNodeId child : format.children) {
      const bool delimited =
          !tag_[child].tool.empty() ||
          (tag_[child].type == TagNodeType::kTag && !tag_[child].field.empty());
      is_region_[index_of(child)] =
          is_section(tag_[child]) ||
          (delimited && !has_triggers(format) &&
           format.type != TagNodeType::kTagsWithSeparator);
      // Before the first text of a section stands what precedes the section.
      section[index_of(child)] = section[i] || is_section(format);
      in_section_[index_of(child)] = begun;
      begun = begun || (section[index_of(child)] &&
                        format.type == TagNodeType::kSequence &&
                        nullable_[index_of(child)] == Nullable::kNo);
    }
  }
}

// Finds the formats without triggers after whose tags parsing resumes:
//
//   * tags_with_separator;
//   * `or` of tags only, in a repetition: the messages of a response.  Outside
//     of a repetition nothing can follow the tag that did not fit.
//
// The outermost such format is meant, as what encloses a call knows best where
// the next one begins.  If triggered tags enclose it, parsing resumes there.
void TagCompiler::find_resumable() {
  enum Place : std::uint8_t { kOutside, kRepeated, kInTag, kCovered };
  std::vector<Place> places(tag_.nodes.size(), kOutside);
  for (std::size_t i = 0; i < tag_.nodes.size(); ++i) {
    const TagNode& format = tag_.nodes[i];
    Place inside = places[i];
    switch (format.type) {
      case TagNodeType::kTriggeredTags:
      case TagNodeType::kTokenTriggeredTags:
        inside = kCovered;
        break;
      case TagNodeType::kTagsWithSeparator:
        resumes_[i] = inside != kCovered;
        inside = kCovered;
        break;
      case TagNodeType::kOr:
        resumes_[i] =
            inside == kRepeated &&
            std::ranges::all_of(format.children, [&](TagNodeId child) {
              return tag_[child].type == TagNodeType::kTag;
            });
        if (resumes_[i]) inside = kCovered;
        break;
      case TagNodeType::kPlus:
      case TagNodeType::kStar:
      case TagNodeType::kRepeat:
        if (inside == kOutside) inside = kRepeated;
        break;
      case TagNodeType::kTag:
        if (inside != kCovered) inside = kInTag;
        break;
      default:
        break;
    }
    for (const TagNodeId child : format.children) {
      places[index_of(child)] = inside;
    }
  }
}

// --- Markers -----------------------------------------------------------------

// With marks, a marker is a sequence of literals and marks.
Pc TagCompiler::marker(std::string_view text, std::size_t from, Pc next) {
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

Pc TagCompiler::symbols(std::span<const WordSymbol> word, Pc next) {
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

Pc TagCompiler::literal(std::string_view text, Pc next) {
  if (text.empty()) return next;
  out_.texts.emplace_back(text);
  return add({.op = Op::kLiteral,
              .next = next,
              .index = static_cast<std::uint32_t>(out_.texts.size() - 1)});
}

// A mark is read as its token, or, if the options allow either, as its
// spelling.
Pc TagCompiler::mark(std::uint32_t number, Pc next) {
  const rules::Mark& one = marks_->marks()[number];
  const Pc token = tokens({one.ids, false, one.spelling}, Op::kToken, 1, next);
  if (!marks_->either()) return token;
  return fork({token, literal(one.spelling, next)});
}

//   head    white space, then fork {next, texts that continue at head}
Pc TagCompiler::layout(Pc next, std::span<const std::string> texts) {
  const Pc head = add({.op = Op::kSpaces, .layout = true, .next = next});
  if (texts.empty()) return head;
  std::vector<Pc> ways = {next};
  for (const std::string& text : texts) ways.push_back(marker(text, head));
  for (Pc pc = head; pc < out_.code.size(); ++pc) out_.code[pc].layout = true;
  out_.code[head].next = fork(std::move(ways));
  return head;
}

// The fork of layout() that the white space leads to.
Pc TagCompiler::ends_of_turn(Pc next) {
  return out_.code[layout(next, *tag_.turn_end)].next;
}

std::vector<Word> TagCompiler::words(std::string_view marker) const {
  if (marks_ == nullptr) return {rules::byte_symbols(marker)};
  return marks_->spellings(marker);
}

std::string TagCompiler::spelled(std::span<const WordSymbol> word) const {
  std::string out;
  for (const WordSymbol symbol : word) out += spelling(marks_.get(), symbol);
  return out;
}

// --- Formats -----------------------------------------------------------------

// If `max` is unbounded and `min` is 0, the loop is a fork; if `min` is 1, it
// is entered at the body:
//
//   head    fork {body, leave}
//   body    ..., continue at head
//
// Any other loop counts its iterations:
//
//           kCountFrom
//   test    kCountTest {body, exit}
//   body    ..., kCountNext, continue at test
//   exit    kCountEnd, leave
//
// If the body may be empty, an iteration is enclosed by kIterate and
// kIterateEnd, which drop it if it reads nothing.  Then `min` need not be
// counted, because empty iterations could make up for those that are missing.
Pc TagCompiler::compile_loop(TagNodeId id, std::uint32_t min,
                             std::uint32_t max) {
  const TagNodeId body = tag_[id].children[0];
  const Pc leave = leave_[index_of(id)];
  if (!possible(body) || max == 0) return leave;
  const std::uint32_t depth = depth_[index_of(id)];
  const bool guarded = nullable_[index_of(body)] == Nullable::kYes;
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
  return add({.op = Op::kCountFrom, .next = test, .min = min});
}

// In a section of calls other white space may stand for the white space with
// which a text ends.
Pc TagCompiler::compile(TagNodeId id, const structural_tag::ConstString& body) {
  const Pc leave = leave_[index_of(id)];
  const std::string& text = body.value;
  const Pc whole = marker(text, leave);
  const std::string_view end = without_space(text);
  if (!has_layout() || !in_section_[index_of(id)] || end == text) return whole;
  return fork({whole, marker(end, layout(leave))});
}

// The begin marker, the content, and a fork of the end markers.  Other white
// space may stand for the white space with which a call ends.
Pc TagCompiler::compile(TagNodeId id, const TagBody& body) {
  const TagNode& format = tag_[id];
  const Pc leave = leave_[index_of(id)];
  if (body.end.token) {
    then(format.children[0], token(*tokens_of(id).end, leave));
  } else {
    std::vector<Pc> ends;
    for (const std::string& text : body.end.texts) {
      ends.push_back(marker(text, leave));
    }
    if (has_layout() && !format.tool.empty()) {
      for (const std::string& text : body.end.texts) {
        const std::string_view end = without_space(text);
        if (end != text) ends.push_back(marker(end, leave));
      }
    }
    then(format.children[0], ends.size() == 1 ? ends[0] : fork(ends));
  }
  const Pc content = enter(format.children[0]);
  return body.begin.token ? token(*tokens_of(id).begin, content)
                          : marker(body.begin.texts[0], content);
}

// The code, without the kIterate that nullable tags need:
//
//   first   fork {tag 1, tag 2, ...}
//   tag i   ..., fork {separator and continue at first, leave}
Pc TagCompiler::compile(TagNodeId id,
                        const structural_tag::TagsWithSeparator& body) {
  const TagNode& format = tag_[id];
  const Pc leave = leave_[index_of(id)];
  const std::vector<TagNodeId> tags = possible_children(format);
  if (tags.empty()) return leave;
  std::vector<Pc> ways;
  ways.reserve(tags.size());
  for (const TagNodeId child : tags) ways.push_back(enter(child));
  const Pc first = fork(std::move(ways));
  const bool calls =
      has_layout() && std::ranges::all_of(tags, [&](TagNodeId child) {
        return !tag_[child].tool.empty();
      });
  Pc after = calls ? layout(leave) : leave;
  Pc resumed = after;
  if (body.loop) {
    const bool guarded =
        body.separator.empty() &&
        std::any_of(tags.begin(), tags.end(), [&](TagNodeId child) {
          return nullable_[index_of(child)] == Nullable::kYes;
        });
    if (guarded) {
      // Without a separator, empty tags could follow each other without end, so
      // kIterateEnd drops a tag that is empty and not the first.  Inside an
      // empty iteration of an enclosing loop it cannot distinguish the first
      // tag from later ones; there an empty tag ends the list (`other`), and no
      // text is lost: a tag that could follow could as well be the first.
      const std::uint32_t depth = depth_[index_of(id)];
      const Pc more = add({.op = Op::kIterate, .next = first, .index = depth});
      resumed = fork({more, leave});
      after = add({.op = Op::kIterateEnd,
                   .next = resumed,
                   .index = depth,
                   .other = leave});
    } else {
      const Pc next = calls ? layout(first) : first;
      after = fork({marker(body.separator, next), leave});
      if (calls) after = layout(after);
      resumed = after;
    }
  }
  if (resumes_[index_of(id)]) add_resume_point(id, resumed);
  for (const TagNodeId child : tags) then(child, after);
  const Pc begin = calls && in_section_[index_of(id)] ? layout(first) : first;
  return body.at_least_one ? begin : fork({begin, leave});
}

Pc TagCompiler::compile_leaf(TagNodeId id) {
  const grammar::EmbeddedLanguage& embedded = leaves_[index_of(id)];
  const bool marked = marks_ != nullptr && embedded.rules != nullptr;
  out_.has_tokens = out_.has_tokens || embedded.reads_tokens;
  out_.languages.push_back({embedded.language, embedded.reads_tokens, marked});
  return add({.op = Op::kRecogniser,
              .next = leave_[index_of(id)],
              .index = static_cast<std::uint32_t>(out_.languages.size() - 1)});
}

Pc TagCompiler::compile(TagNodeId id,
                        const structural_tag::Elements& /*body*/) {
  const TagNode& format = tag_[id];
  const std::vector<TagNodeId>& children = format.children;
  const Pc leave = leave_[index_of(id)];
  if (format.type == TagNodeType::kSequence) {
    for (std::size_t i = 0; i < children.size(); ++i) {
      then(children[i],
           i + 1 == children.size() ? leave : enter(children[i + 1]));
    }
    return enter(children[0]);
  }
  std::vector<Pc> ways;
  for (const TagNodeId child : possible_children(format)) {
    ways.push_back(enter(child));
    then(child, leave);
  }
  if (resumes_[index_of(id)]) add_resume_point(id, leave);
  return fork(std::move(ways));
}

Pc TagCompiler::compile(TagNodeId id, const Repetition& body) {
  const TagNode& format = tag_[id];
  if (format.type != TagNodeType::kOptional) {
    return compile_loop(id, body.min, body.max);
  }
  const TagNodeId content = format.children[0];
  const Pc leave = leave_[index_of(id)];
  if (!possible(content)) return leave;
  then(content, leave);
  return fork({enter(content), leave});
}

// Marks the instructions at which two threads may meet (Instruction::joins).
// `ways` counts how many threads can arrive, and 2 stands for several.  Threads
// meet
//
// - where two instructions lead,
// - after an instruction that threads leave from different states, such as free
//   text, tokens, or a recogniser, and at the targets of triggers,
// - after an instruction that can make different threads equal: one that
//   increments or pops a count, or begins or ends an iteration.
//
// Where a thread only waits, it does not matter: equal threads that wait are
// one.
void TagCompiler::find_joins() {
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
    code[pc].joins = ways[pc] > 1 && !only_waits(code[pc].op);
  }
}

Result<TagProgram> TagCompiler::emit() {
  out_ = {};
  out_.marks = marks_;
  find_delimited();
  // The fixed instructions of all formats come first, so that formats can refer
  // to each other.
  for (std::size_t i = 0; i < tag_.nodes.size(); ++i) {
    const auto index = static_cast<std::uint32_t>(i);
    enter_[i] = add({.op = Op::kEnter, .index = index});
    leave_[i] = add({.op = Op::kLeave, .index = index});
  }
  const Pc end = leave_[0];
  if (has_layout()) leave_[0] = ends_of_turn(end);
  for (std::size_t i = 0; i < tag_.nodes.size(); ++i) {
    if (impossible_[i]) continue;
    const Pc first = compile_one(TagNodeId{static_cast<std::uint32_t>(i)});
    out_.code[enter_[i]].next = first;
  }
  // A region that the prompt has opened is open before any text.
  const bool opened = std::ranges::any_of(tag_.nodes, [](const TagNode& node) {
    if (node.type != TagNodeType::kTag) return false;
    const auto& begin = node.as<TagBody>().begin;
    return !begin.token && begin.texts[0].empty();
  });
  if (has_layout() && !opened) {
    const Pc first = layout(out_.code[enter_[0]].next);
    out_.code[enter_[0]].next = first;
  }
  out_.code[end].next = add({.op = Op::kAccept});
  out_.start = enter_[0];
  // The code is complete.  What follows is derived from it.
  find_joins();
  find_count_depths(out_);
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

// Resolves the tokens, builds the automata of patterns and the recognisers of
// leaves, and finds what is impossible and what is nullable.
//
// A tag with several errors has the same first error here as in its grammar,
// which lowers all nodes before it builds a recogniser.  So after an error of a
// recogniser, the nodes that are left are lowered all the same.
//
// Invariant: a node comes after its parent, so in reverse order the children
// are known before their format.
std::optional<Error> TagCompiler::analyse() {
  std::optional<Error> unbuilt;
  for (std::size_t i = tag_.nodes.size(); i-- > 0;) {
    const auto id = TagNodeId{static_cast<std::uint32_t>(i)};
    auto tokens =
        structural_tag::resolve_tokens(tag_, analysis_, id, lowering_.tokens);
    if (!tokens) return std::move(tokens).error();
    tokens_[i] = *std::move(tokens);
    if (auto dfa = exclude_dfas_.of(id); !dfa) return std::move(dfa).error();
    if (has_language(tag_.nodes[i]) && !share_leaf(id)) {
      auto lowered = grammar::lower_node(tag_, analysis_, id, lowering_);
      if (!lowered) return std::move(lowered).error();
      if (!unbuilt) unbuilt = make_leaf(id, *lowered);
    }
    impossible_[i] = impossible_[i] || find_impossible(tag_.nodes[i]);
    nullable_[i] = find_nullable(id);
  }
  return unbuilt;
}

Result<TagProgram> TagCompiler::texts() {
  find_depths();
  find_resumable();
  if (auto error = analyse()) return *std::move(error);
  if (impossible_[0]) {
    return Error{ErrorCode::kUnsatisfiable, "No text fits the grammar."};
  }
  return emit();
}

// Collects the marks of all markers of the tag, including the markers of
// argument styles.  marks_ stays null if there are none.
std::optional<Error> TagCompiler::collect_marks() {
  if (options_.vocabulary == nullptr || options_.markers == Markers::kText ||
      options_.vocabulary->special_ids().empty()) {
    return std::nullopt;
  }
  Result<grammar::LoweredTag> outline =
      grammar::lower_outline(tag_, analysis_, lowering_);
  if (!outline) return std::move(outline).error();
  auto marks =
      std::make_shared<rules::Marks>(*options_.vocabulary, options_.markers);
  marks->add(outline->rules);
  for (const grammar::EmbeddedLanguage& embedded : leaves_) {
    if (embedded.rules != nullptr) marks->add(*embedded.rules);
  }
  if (auto error = marks->check_names(outline->rules)) return error;
  for (const grammar::EmbeddedLanguage& embedded : leaves_) {
    if (embedded.rules == nullptr) continue;
    if (auto error = marks->check_names(*embedded.rules)) return error;
  }
  if (has_layout()) {
    for (const std::string& text : *tag_.turn_end) marks->add(text);
    for (const TagNode& node : tag_.nodes) {
      if (node.type == TagNodeType::kConstString) {
        marks->add(without_space(node.as<structural_tag::ConstString>().value));
      } else if (!node.tool.empty()) {
        for (const std::string& text : node.as<TagBody>().end.texts) {
          marks->add(without_space(text));
        }
      }
    }
  }
  if (!marks->empty()) marks_ = std::move(marks);
  return std::nullopt;
}

// Replaces the recognisers that were built from rules by recognisers of the
// same rules with marks, and finds again which formats are impossible.
std::optional<Error> TagCompiler::mark_leaves() {
  for (std::size_t i = tag_.nodes.size(); i-- > 0;) {
    grammar::EmbeddedLanguage& embedded = leaves_[i];
    if (embedded.rules == nullptr) continue;
    // The node that it is shared with has a larger number.
    if (const TagNodeId from = shared_leaves_[i];
        from != structural_tag::kNoTagNode) {
      embedded = leaves_[index_of(from)];
      impossible_[i] = impossible_[index_of(from)];
      continue;
    }
    Result<grammar::EmbeddedLanguage> made =
        grammar::embedded_with_marks(embedded, marks_, options_.limits);
    if (!made) {
      Error error = std::move(made).error();
      error.path = tag_.nodes[i].path;
      return error;
    }
    embedded = *std::move(made);
    impossible_[i] = embedded.language == nullptr;
  }
  // A format whose marks cannot be read makes enclosing formats impossible.
  for (std::size_t i = tag_.nodes.size(); i-- > 0;) {
    impossible_[i] = impossible_[i] || find_impossible(tag_.nodes[i]);
  }
  if (!impossible_[0]) return std::nullopt;
  return Error{ErrorCode::kUnsatisfiable,
               "No text fits the grammar when its markers are tokens of the "
               "vocabulary."};
}

Result<std::unique_ptr<const TagProgram>> TagCompiler::tokens() {
  if (auto error = collect_marks()) return *std::move(error);
  if (marks_ == nullptr) return std::unique_ptr<const TagProgram>();
  if (auto error = mark_leaves()) return *std::move(error);
  Result<TagProgram> program = emit();
  if (!program) return std::move(program).error();
  return std::make_unique<const TagProgram>(*std::move(program));
}

// --- The program -------------------------------------------------------------

namespace {

void find_child_indexes(CompiledTagImpl& code) {
  const std::vector<TagNode>& formats = code.tag->nodes;
  code.child_index.assign(formats.size(), 0);
  for (std::size_t i = 0; i < formats.size(); ++i) {
    for (std::size_t c = 0; c < formats[i].children.size(); ++c) {
      const std::size_t child = index_of(formats[i].children[c]);
      code.child_index[child] = static_cast<std::uint32_t>(c);
    }
  }
}

}  // namespace

Result<std::shared_ptr<const CompiledTagImpl>> compile(
    std::shared_ptr<const structural_tag::TagTree> tag,
    const CompiledTagOptions& options) {
  auto code = std::make_shared<CompiledTagImpl>();
  code->tag = std::move(tag);
  code->markers = options.markers;
  code->for_vocabulary = options.vocabulary != nullptr;
  code->max_parses = options.max_parses;
  code->parse_bytes = options.parse_bytes;
  code->diagnostics = options.diagnostics;
  code->regions = Regions(*code->tag);
  TagCompiler compiler(*code, options);
  Result<TagProgram> spelled = compiler.texts();
  if (!spelled) return std::move(spelled).error();
  code->spelled = *std::move(spelled);
  Result<std::unique_ptr<const TagProgram>> tokens = compiler.tokens();
  if (!tokens) return std::move(tokens).error();
  code->tokens = *std::move(tokens);
  find_child_indexes(*code);
  return std::shared_ptr<const CompiledTagImpl>(std::move(code));
}

}  // namespace parlance::tag_parser
