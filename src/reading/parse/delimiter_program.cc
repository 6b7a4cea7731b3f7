// Compiling the delimiters of a description, see delimiter_program.h.

#include "parse/delimiter_program.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "base/python_number.h"
#include "call_stream/python_calls.h"
#include "format/interruption.h"
#include "parse/argument_values.h"
#include "parse/call_readers.h"
#include "parse/content.h"
#include "parse/listed_marks.h"
#include "parse/reading_filter.h"
#include "parse/region_values.h"
#include "vocab/marker_pieces.h"

namespace parlance::parse {
namespace {

constexpr std::size_t kCachedVocabularies = 8;

using automata::Automaton;
using format::Delimiter;
using format::Description;
using format::Field;
using regex::Hir;
using regex::HirKind;

// Sets the names and numbers of the groups of a delimiter.
void wanted_groups(const Hir& hir, Watched& watched) {
  for (const regex::GroupName& name : hir.names) {
    if (std::find(watched.groups.begin(), watched.groups.end(), name.group) !=
        watched.groups.end()) {
      continue;
    }
    watched.names.push_back(name.name);
    watched.groups.push_back(name.group);
  }
}

// States that literals need: one per byte, one per literal, two per list.
std::size_t literal_states(const Delimiter& delimiter) {
  std::size_t states = 2;
  for (const std::string& text : delimiter.literals) states += text.size() + 1;
  return states;
}

struct Wanted {
  const Delimiter* delimiter;
  const regex::Pattern* pattern;  // the delimiter's, or patched
  Watched watched;
};

// Splits the set between the two kinds of engine.  The rank is the position
// in `wanted`, across both, so a match of either kind knows which of the two
// wins.
//
// The loader has compiled each pattern by itself, within the limit of one
// (load_pattern()), so there is no error to return.
Watch compile_watch(std::vector<Wanted> wanted,
                    const std::vector<automata::Mark>& marks,
                    const Limits& limits) {
  Watch watch;
  std::vector<automata::PatternSpec> specs;
  std::size_t states = 0;
  std::uint32_t rank = 0;
  for (Wanted& w : wanted) {
    const Hir& hir = w.pattern->hir;
    wanted_groups(hir, w.watched);
    w.watched.rank = rank++;
    bool literal = w.delimiter->kind == Delimiter::Kind::kLiterals;
    if (literal || runs_on_automaton(hir, limits)) {
      // The automaton of the set may be as large as its patterns together.
      states += limits.pattern_states + literal_states(*w.delimiter);
      specs.push_back({.hir = &hir, .groups = w.watched.groups});
      watch.patterns.push_back(std::move(w.watched));
    } else if (auto code = regex::Pcre2::compile(*w.pattern, limits)) {
      watch.backtrackers.push_back({std::move(w.watched), std::move(*code)});
    }
  }
  if (!specs.empty()) {
    Limits all = limits;
    // Marks that strip white space add states for its absence.
    all.pattern_states = 2 * states;
    auto automaton = Automaton::compile(specs, marks, all);
    assert(automaton.has_value());
    if (automaton) watch.automaton = std::move(*automaton);
  }
  return watch;
}

bool overlaps_itself(std::string_view text) {
  for (std::size_t n = 1; n < text.size(); ++n) {
    if (text.substr(0, n) == text.substr(text.size() - n)) return true;
  }
  return false;
}

// The patterns of a description, with listed marks replaced by spellings.
class Patterns {
 public:
  const regex::Pattern& of(const regex::Pattern& pattern) const {
    const auto found = patched_.find(&pattern);
    return found == patched_.end() ? pattern : *found->second;
  }

  // Applies `marks` to every pattern of `description`.
  void apply(const ListedMarks& marks, const Description& description,
             DelimiterProgram& program) {
    const auto apply_to = [&](const regex::Pattern& pattern) {
      if (pattern.source.empty()) return;
      auto applied = marks.applied(pattern);
      if (!applied) return;
      program.patched.push_back(std::move(*applied));
      patched_.emplace(&pattern, &program.patched.back());
    };
    apply_to(description.markup.pattern);
    for (const Field& field : description.fields) {
      apply_to(field.open.pattern);
      apply_to(field.close.pattern);
      for (const format::Content* content = &field.content; content != nullptr;
           content = content->value_parser.get()) {
        apply_to(content->tag_pattern);
      }
    }
    apply_to(description.start_anchor.pattern);
    for (const Delimiter& markup : description.interrupting) {
      apply_to(markup.pattern);
    }
  }

 private:
  std::unordered_map<const regex::Pattern*, const regex::Pattern*> patched_;
};

// The literals of a format: of its delimiters, and of its start anchors.
struct Literals {
  std::vector<std::string_view> delimiters;
  std::vector<std::string_view> anchors;
};

void collect(const regex::Pattern& pattern,
             std::vector<std::string_view>& literals) {
  for (const regex::HirNode& node : pattern.hir.nodes) {
    if (node.kind == HirKind::kLiteral) literals.push_back(node.text);
  }
}

Literals literals_of(const format::FormatImpl& format,
                     const Patterns& patterns) {
  const Description& description = format.description;
  Literals out;
  if (description.markup) {
    collect(patterns.of(description.markup.pattern), out.delimiters);
  }
  for (const Field& field : description.fields) {
    if (field.open) collect(patterns.of(field.open.pattern), out.delimiters);
    if (field.close) collect(patterns.of(field.close.pattern), out.delimiters);
    for (const format::Content* content = &field.content; content != nullptr;
         content = content->value_parser.get()) {
      if (content->kind == format::ContentKind::kXmlInline) {
        collect(patterns.of(content->tag_pattern), out.delimiters);
      }
      for (const auto& [open, close] : content->string_delims) {
        out.delimiters.insert(out.delimiters.end(), {open, close});
      }
    }
  }
  if (description.start_anchor) {
    collect(patterns.of(description.start_anchor.pattern), out.anchors);
  }
  const auto add = [&](const std::vector<std::string>& literals) {
    out.delimiters.insert(out.delimiters.end(), literals.begin(),
                          literals.end());
  };
  add(format.family.reading.turn_end);
  for (const format::FieldReading& reading : format.family.reading.fields) {
    add(reading.drop);
  }
  return out;
}

// Fills the parts of a program that depend on the vocabulary: marks, their
// symbols, their spellings.
class MarkFinder {
 public:
  MarkFinder(const Vocabulary& vocabulary, Markers markers,
             DelimiterProgram& program)
      : vocabulary_(vocabulary),
        splitter_(vocabulary),
        markers_(markers),
        program_(program) {}

  void find(const format::FormatImpl& format, Patterns& patterns) {
    // 1. Where a pattern contains the pattern of a listed mark, the spellings
    //    of this vocabulary take its place: only a literal can be a mark.
    //    Without marks (kText) the pattern stays.
    const ListedMarks listed(format.marks, vocabulary_, format.limits);
    if (markers_ != Markers::kText) {
      patterns.apply(listed, format.description, program_);
    }
    // 2. What delimiters spell, and what the file lists, are marks of
    //    responses.
    const Literals literals = literals_of(format, patterns);
    for (const std::string_view literal : literals.delimiters) spell(literal);
    for (const TokenId id : listed.ids()) {
      add(vocabulary_.spelling(id), {&id, 1});
    }
    // 3. What only a start anchor spells is a mark of prompts: in a response it
    //    is text.  add() adds to prompt_symbols, so the copy is made between
    //    the two.
    for (const auto& [id, symbol] : program_.prompt_symbols) {
      program_.mark_symbols.emplace(id, symbol);
      ids_.push_back(id);
    }
    for (const std::string_view literal : literals.anchors) spell(literal);
    std::ranges::sort(ids_);
    program_.spelled.emplace(vocabulary_, ids_);
    // With kEither the spelling in ordinary tokens is the mark, and with kText
    // there is none: nothing can be forged.
    program_.spoofable = markers_ == Markers::kToken && !program_.marks.empty();
  }

 private:
  void spell(std::string_view literal) {
    for (const vocab::MarkerPiece& piece : splitter_.split(literal)) {
      if (piece.is_mark()) add(piece.text, piece.ids);
    }
  }

  void add(std::string_view spelling, std::span<const TokenId> ids) {
    if (markers_ == Markers::kText) {
      // The id is known, so that it is read as its spelling and not reported as
      // a control token in text.
      for (const TokenId id : ids) {
        program_.prompt_symbols.emplace(id, kNoSymbol);
      }
      return;
    }
    const auto known =
        std::ranges::find(program_.marks, spelling, &automata::Mark::spelling);
    const auto index = static_cast<std::size_t>(known - program_.marks.begin());
    if (known == program_.marks.end()) {
      if (program_.marks.size() >= automata::kMaxMarks) return;
      program_.marks.push_back(
          {.spelling = std::string(spelling),
           .spelled = markers_ == Markers::kEither,
           .strips_left = vocabulary_.strips_left(ids.front()),
           .strips_right = vocabulary_.strips_right(ids.front())});
    }
    for (const TokenId id : ids) {
      program_.prompt_symbols.emplace(
          id, static_cast<automata::Symbol>(automata::kFirstMark + index));
    }
  }

  const Vocabulary& vocabulary_;
  const vocab::MarkerSplitter splitter_;
  const Markers markers_;
  DelimiterProgram& program_;
  std::vector<TokenId> ids_;  // of program_.mark_symbols
};

// The texts of the close to which an opener without text looks ahead
// ("<think>|(?=</think>)").
std::vector<std::string> looked_at(const Field& field) {
  std::vector<std::string> out;
  const Hir& open = field.open.pattern.hir;
  const std::vector<std::string> closes =
      format::markup_of(field.close.pattern.hir);
  if (open.nodes.empty() || open.root().kind != HirKind::kAlternation) {
    return out;
  }
  for (const regex::HirId way : open.root().children) {
    const regex::HirNode& look = open.nodes[way];
    if (look.kind != HirKind::kLook || look.behind || look.negative) continue;
    const std::string& text = open.nodes[look.children[0]].text;
    if (std::ranges::find(closes, text) != closes.end()) out.push_back(text);
  }
  return out;
}

// What the values of a field look like, if its regions end with them.
std::unique_ptr<const ValueLanguage> value_language(
    const Field& field, const format::FieldReading& reading,
    const DelimiterProgram& program, const Limits& limits) {
  if (reading.ends != format::RegionEnd::kValue) return nullptr;
  using format::ValueSyntax;
  const bool sequence = reading.count == format::ValueCount::kSequence;
  const std::string separator =
      sequence ? std::string(base::python_strip(reading.separator)) : "";
  using call_syntax::PythonDialect;
  const auto python = [&](PythonDialect dialect) {
    auto language = call_stream::python_language(dialect, limits);
    language.several = sequence;
    language.separator = separator;
    return std::make_unique<const ValueLanguage>(std::move(language));
  };
  if (reading.syntax == ValueSyntax::kPythonCalls) {
    return python(PythonDialect::kCalls);
  }
  if (reading.syntax == ValueSyntax::kPython && !is_lax(field.content)) {
    return python(PythonDialect::kValues);
  }
  if (reading.syntax == ValueSyntax::kTemplate &&
      field.content.kind == format::ContentKind::kPythonCallList) {
    return python(PythonDialect::kCallList);
  }
  const bool json = reading.syntax == ValueSyntax::kJson ||
                    field.content.kind == format::ContentKind::kJson;
  if (!json) return nullptr;
  const call_syntax::JsonDialect* known = program.dialect_of(field.content);
  call_syntax::JsonDialect dialect =
      known == nullptr ? call_syntax::JsonDialect() : *known;
  dialect.max_depth = limits.json_depth;
  if (sequence) {
    dialect.values = call_syntax::JsonDialect::Values::kSeveral;
    dialect.separator = separator;
  }
  return std::make_unique<const ValueLanguage>(std::move(dialect));
}

// Compiles all searches of a format:
//
//   1. the marks of the vocabulary, if there is one;
//   2. what a family file says of each field;
//   3. the set at rest, in the order of Watched (fields by name);
//   4. the set inside each field;
//   5. the context that backtrackers may read;
//   6. the searches for the start anchor, over text and over marks;
//   7. the tag patterns of xml-inline.
// The steps share tables, so their order matters: all of them read `calls` and
// `readings` of step 2; step 3 finds which openers look at their close
// (`looked_at`), and after that which closes may come late; step 5 reads the
// sets of steps 3 and 4.
class ProgramCompiler {
 public:
  explicit ProgramCompiler(const format::FormatImpl& format)
      : format_(format),
        description_(format.description),
        limits_(format.limits),
        order_(description_.fields.size()) {
    for (FieldId i; i < order_.size(); ++i) order_[i] = i;
    std::sort(order_.begin(), order_.end(), [&](FieldId a, FieldId b) {
      return description_.fields[a].template_name <
             description_.fields[b].template_name;
    });
  }

  std::shared_ptr<const DelimiterProgram> compile(const Vocabulary* vocabulary,
                                                  Markers markers) {
    if (vocabulary != nullptr) {
      MarkFinder(*vocabulary, markers, *program_).find(format_, patterns_);
    }
    add_readings();
    add_defaults();
    add_resting();
    add_ended();
    for (FieldId i; i < description_.fields.size(); ++i) add_inside(i);
    add_context(program_->resting);
    add_context(program_->resting_text);
    for (const Watch& watch : program_->inside) add_context(watch);
    for (const Watch& watch : program_->uninterrupted) add_context(watch);
    add_anchor();
    for (FieldId i; i < description_.fields.size(); ++i) add_tags(i);
    return program_;
  }

 private:
  Wanted wanted(const Delimiter& delimiter, Watched watched) const {
    return {&delimiter, &patterns_.of(delimiter.pattern), std::move(watched)};
  }

  Watch watch(std::vector<Wanted> all) const {
    return compile_watch(std::move(all), program_->marks, limits_);
  }

  const Delimiter* literals(const std::vector<std::string>& texts) {
    Delimiter& out = program_->extra.emplace_back();
    out.kind = Delimiter::Kind::kLiterals;
    out.literals = texts;
    out.pattern.hir = regex::literal_set(texts);
    return &out;
  }

  void add_defaults() {
    for (const format::Field& field : description_.fields) {
      program_->defaults.push_back(description_.defaults.find(field.name));
    }
    for (const auto& [key, value] : description_.defaults.members()) {
      std::optional<FieldId>& of = program_->default_fields.emplace_back();
      for (FieldId i; i < description_.fields.size(); ++i) {
        if (description_.fields[i].name == key) of = i;
      }
    }
  }

  void add_readings() {
    const format::Reading& reading = format_.family.reading;
    program_->filtered = ReadingFilter::needed(format_);
    program_->reading = &reading;
    program_->rests_in_text =
        format_.recovers && description_.implicit.has_value();
    for (FieldId i; i < description_.fields.size(); ++i) {
      const bool known = i < reading.fields.size();
      program_->calls.push_back(has_calls(description_.fields[i]));
      program_->readings.push_back(known ? &reading.fields[i] : nullptr);
      const bool values =
          known && reads_values(description_.fields[i], reading.fields[i]);
      program_->call_parts.push_back(
          values || program_->calls[i]
              ? format::call_parts(description_.fields[i],
                                   values ? &reading.fields[i] : nullptr)
              : format::CallParts());
      if (format_.recovers) add_dialects(i);
      program_->values.push_back(known ? value_language(description_.fields[i],
                                                        reading.fields[i],
                                                        *program_, limits_)
                                       : nullptr);
    }
    program_->regions.resize(description_.fields.size());
    if (reading.turn_end.empty()) return;
    turn_end_ = literals(reading.turn_end);
    // Without an implicit field the next message may follow: there an end of
    // turn separates messages, as markup does.
    program_->turn_end_is_last = description_.implicit.has_value();
  }

  // The dialects of the contents of a field.
  void add_dialects(FieldId i) {
    const format::FieldReading* reading = program_->readings[i];
    bool python =
        reading != nullptr && reading->syntax == format::ValueSyntax::kPython;
    for (const format::Content* content = &description_.fields[i].content;
         content != nullptr; content = content->value_parser.get()) {
      if (!is_lax(*content)) continue;
      call_syntax::JsonDialect dialect = json_dialect(*content, *program_);
      if (content->unquoted_keys) {
        dialect.keys = call_syntax::JsonDialect::Keys::kText;
      }
      dialect.python_words = dialect.single_quotes = python;
      dialect.max_depth = limits_.json_depth;
      program_->dialects.emplace(content, std::move(dialect));
      // The value parsers inside are those of the template, without a syntax.
      python = false;
    }
  }

  // The texts of a family file.  They come last: a delimiter with the same
  // match wins.
  void add_texts(std::optional<FieldId> field, std::vector<Wanted>& all) {
    if (turn_end_ != nullptr) {
      all.push_back({turn_end_, &turn_end_->pattern, {.field = kTurnEnd}});
    }
    if (!field || program_->readings[*field] == nullptr) return;
    std::vector<std::string> drop = program_->readings[*field]->drop;
    if (drop.empty()) return;
    // Those that close some field are reported as closers that close nothing.
    const std::vector<std::string> known = closers(/*calls=*/false);
    const auto strays =
        std::stable_partition(drop.begin(), drop.end(), [&](const auto& text) {
          return std::ranges::find(known, text) == known.end();
        });
    add_literals({drop.begin(), strays}, {.field = kDropped}, all);
    add_literals({strays, drop.end()}, {.field = kDropped, .close = true}, all);
  }

  // The pattern without those of its ways that are left out, or null.
  template <class LeaveOut>
  const regex::Pattern* without(const regex::Pattern& pattern,
                                const LeaveOut& leave_out) {
    regex::Pattern& own = program_->patched.emplace_back(pattern);
    regex::HirNode& root = own.hir.nodes.back();
    // The pattern is one way, and the caller has found in it what is left out.
    if (root.kind != HirKind::kAlternation) return nullptr;
    std::erase_if(root.children, [&](regex::HirId id) {
      return leave_out(own.hir.nodes[id]);
    });
    return root.children.empty() ? nullptr : &own;
  }

  // What closes the fields of text, and the texts with which calls close; but
  // for ends of turn, which end it late as well, and what an opener looks at.
  void add_late_closes(std::vector<Wanted>& all) {
    std::vector<std::string> closes;  // of the implicit field
    if (const Delimiter& close =
            description_.fields[*description_.implicit].close) {
      closes = format::markup_of(patterns_.of(close.pattern).hir);
    }
    const auto ends_response = [&](const std::string& text) {
      return program_->ends_turn(text) ||
             std::ranges::find(closes, text) != closes.end();
    };
    const auto leave_out = [&](const regex::HirNode& node) {
      return node.kind == HirKind::kLook ||
             (node.kind == HirKind::kLiteral && ends_response(node.text));
    };
    for (const FieldId i : order_) {
      const Field& field = description_.fields[i];
      if (!field.open || !field.close || field.transform ||
          field.content.kind != format::ContentKind::kText ||
          program_->calls[i] ||
          program_->readings[i]->syntax != format::ValueSyntax::kTemplate ||
          program_->looked_at[i]) {
        continue;
      }
      const regex::Pattern* pattern = &patterns_.of(field.close.pattern);
      if (std::ranges::any_of(pattern->hir.nodes, leave_out)) {
        // A close of text is often `</think>|(?=<tool_call>)|<\|im_end\|>`:
        // only the first way is a text that can come late.
        // Without the ways to close that look at an opener or end the turn.
        pattern = without(*pattern, leave_out);
      }
      if (pattern != nullptr && pattern->hir.regular()) {
        all.push_back({&field.close, pattern, {.field = kLateClose}});
      }
    }
    std::vector<std::string> of_calls = closers(/*calls=*/true);
    std::erase_if(of_calls, ends_response);
    add_literals(of_calls, {.field = kLateClose, .close = true}, all);
  }

  void add_literals(const std::vector<std::string>& texts, Watched what,
                    std::vector<Wanted>& all) {
    if (texts.empty()) return;
    const Delimiter* delimiter = literals(texts);
    all.push_back({delimiter, &delimiter->pattern, std::move(what)});
  }

  // The texts with which the closes of explicit fields begin; of `calls`, all
  // texts of closes.
  std::vector<std::string> closers(bool calls) {
    std::vector<std::string> out;
    for (const FieldId i : order_) {
      const Field& field = description_.fields[i];
      if (!field.open || !field.close || (calls && !program_->calls[i])) {
        continue;
      }
      const Hir& hir = patterns_.of(field.close.pattern).hir;
      for (std::string& text :
           calls ? format::markup_of(hir) : format::begins_of_opener(hir)) {
        if (std::ranges::find(out, text) == out.end()) {
          out.push_back(std::move(text));
        }
      }
    }
    return out;
  }

  // The markup with which openers of calls begin.  Where such an opener
  // matches, it is longer, or comes first.
  void add_near_misses(std::vector<Wanted>& all) {
    std::vector<std::string> texts;
    const auto& drop = program_->readings[*description_.implicit]->drop;
    for (const FieldId i : order_) {
      const Delimiter& open = description_.fields[i].open;
      if (!open || !program_->calls[i]) continue;
      program_->first_calls = i;
      for (const std::string& text :
           format::begins_of_opener(patterns_.of(open.pattern).hir)) {
        if (std::ranges::find(texts, text) == texts.end() &&
            std::ranges::find(drop, text) == drop.end()) {
          texts.push_back(text);
        }
      }
    }
    add_literals(texts, {.field = kNearMiss}, all);
  }

  void add_resting() {
    // `all` is in the order of ranks, and of two equal matches the lower rank
    // wins:
    //   1. openers, by the names of their fields;
    //   2. closes that openers look at, and closes that come late;
    //   3. what an opener of calls begins with: the whole opener is longer, or
    //      in 1;
    //   4. the close of the implicit field;
    //   5. markup, start anchors, and the texts of the family file.
    std::vector<Wanted> all;
    std::vector<std::pair<FieldId, std::vector<std::string>>> looking;
    program_->looked_at.resize(description_.fields.size());
    for (const FieldId i : order_) {
      const Delimiter& open = description_.fields[i].open;
      if (!open) continue;
      const regex::Pattern* pattern = &patterns_.of(open.pattern);
      std::vector<std::string> closes;
      // `<think>|(?=</think>)` opens an empty region before a stray close.  In
      // a format file the close itself is watched instead: had the field a
      // region already, it is left out (Segmenter::commit()).
      if (program_->rests_in_text) closes = looked_at(description_.fields[i]);
      if (!closes.empty()) {
        pattern = without(*pattern, [](const regex::HirNode& node) {
          return node.kind == HirKind::kLook;
        });
        program_->looked_at[i] = true;
        looking.emplace_back(i, std::move(closes));
      }
      if (pattern != nullptr) all.push_back({&open, pattern, {.field = i}});
    }
    for (const auto& [i, closes] : looking) {
      add_literals(closes, {.field = i, .close = true}, all);
    }
    if (program_->rests_in_text) {
      add_late_closes(all);
      add_near_misses(all);
    }
    const auto openers = static_cast<std::ptrdiff_t>(all.size());
    if (description_.implicit) {
      const FieldId i = *description_.implicit;
      const Delimiter& close = description_.fields[i].close;
      if (close) all.push_back(wanted(close, {.field = i, .close = true}));
    }
    if (description_.reports_unclaimed) {
      // After the openers: an opener with the same match wins.
      for (const Delimiter* markup :
           {&description_.markup, &description_.start_anchor}) {
        if (*markup) all.push_back(wanted(*markup, {.field = kMarkup}));
      }
    }
    add_texts(description_.implicit, all);
    // For the bytes of an opener that is judged to be text: in them no other
    // opener is looked for, but the text may end (Segmenter::skip_opener()).
    if (program_->rests_in_text) {
      program_->resting_text = watch({all.begin() + openers, all.end()});
    }
    program_->resting = watch(std::move(all));
  }

  void add_ended() {
    if (!program_->turn_end_is_last) return;
    program_->ended =
        watch({{turn_end_, &turn_end_->pattern, {.field = kDropped}}});
  }

  // By rank: the close, the texts of the family file, the opener of the field
  // itself, the openers that interrupt it, markup.  The first two, `own`
  // entries, are watched alone in the bytes of an opener that is judged to be
  // text.
  void add_inside(FieldId i) {
    const Field& field = description_.fields[i];
    program_->interrupted.push_back(false);
    program_->ends_with_turn.push_back(ends_with_turn(i));
    std::vector<Wanted> all;
    if (field.open && field.close) {
      all.push_back(wanted(field.close, {.field = i, .close = true}));
    }
    if (field.open) add_texts(i, all);
    Watch uninterrupted;
    if (program_->readings[i] != nullptr && field.open) {
      const auto own = static_cast<std::ptrdiff_t>(all.size());
      std::vector<bool> by(description_.fields.size());
      for (const FieldId other : program_->readings[i]->interrupted_by) {
        by[other] = true;
      }
      // A model that was given `<think>` by its prompt may write it again.
      if (format_.recovers && field.close && !program_->calls[i] &&
          field.open.kind == Delimiter::Kind::kLiterals && !by[i]) {
        all.push_back(wanted(field.open, {.field = kRepeated}));
      }
      for (const FieldId other : order_) {
        if (!by[other]) continue;
        all.push_back({&description_.fields[other].open,
                       opener_inside(other),
                       {.field = other}});
      }
      if (field.close) add_interrupting(i, all);
      program_->interrupted[i] = std::ssize(all) > own;
      if (program_->interrupted[i]) {
        uninterrupted = watch({all.begin(), all.begin() + own});
      }
    }
    program_->uninterrupted.push_back(std::move(uninterrupted));
    program_->inside.push_back(watch(std::move(all)));
  }

  // The pattern of the opener of a field inside the regions of others.
  const regex::Pattern* opener_inside(FieldId i) {
    openers_inside_.resize(description_.fields.size());
    if (openers_inside_[i] != nullptr) return openers_inside_[i];
    const regex::Pattern* pattern =
        &patterns_.of(description_.fields[i].open.pattern);
    if (auto inside = format::opener_inside(pattern->hir)) {
      regex::Pattern& changed = program_->patched.emplace_back(*pattern);
      changed.hir = *std::move(inside);
      pattern = &changed;
    }
    return openers_inside_[i] = pattern;
  }

  // Whether each way to close the field is a look at what comes next or an end
  // of turn.
  bool ends_with_turn(FieldId i) const {
    const Field& field = description_.fields[i];
    if (!format_.recovers || program_->calls[i] || !field.open ||
        !field.close || field.close.pattern.hir.nodes.empty()) {
      return false;
    }
    const Hir& hir = field.close.pattern.hir;
    const auto fits = [&](regex::HirId id) {
      const regex::HirNode& node = hir.nodes[id];
      return node.kind == HirKind::kLook ||
             (node.kind == HirKind::kLiteral &&
              std::ranges::find(program_->reading->turn_end, node.text) !=
                  program_->reading->turn_end.end());
    };
    const regex::HirNode& root = hir.root();
    return root.kind == HirKind::kAlternation
               ? std::ranges::all_of(root.children, fits)
               : fits(static_cast<regex::HirId>(hir.nodes.size() - 1));
  }

  void add_interrupting(FieldId i, std::vector<Wanted>& all) {
    for (const Delimiter& markup : description_.interrupting) {
      // A region that ends with its value is read without backtracking.
      if (program_->values[i] == nullptr ||
          patterns_.of(markup.pattern).hir.regular()) {
        all.push_back(wanted(markup, {.field = kMarkup}));
      }
    }
  }

  void add_context(const Watch& watch) {
    for (const Backtracker& b : watch.backtrackers) {
      program_->any_backtrackers = true;
      program_->context_bytes =
          std::max(program_->context_bytes, b.code.lookbehind_bytes() + 4);
    }
  }

  void add_anchor() {
    const Delimiter& anchor = description_.start_anchor;
    if (!anchor) return;
    Limits enough = limits_;
    enough.pattern_states += literal_states(anchor);
    // The last anchor of a prompt counts, and matches do not overlap: upstream
    // takes the last of finditer().  For such a literal that is its last
    // occurrence, which a search from the end finds.
    if (anchor.literals.size() == 1 && !overlaps_itself(anchor.literals[0])) {
      program_->anchor_literal = anchor.literals[0];
    } else {
      program_->anchor = compile_finder(anchor.pattern, {}, enough);
    }
    if (program_->marks.empty()) return;
    program_->marked_anchor = compile_finder(patterns_.of(anchor.pattern), {},
                                             enough, program_->marks);
  }

  void add_tags(FieldId i) {
    const Field& field = description_.fields[i];
    const format::FieldReading* read = program_->readings[i];
    const ElementContext context = {&patterns_.of(field.close.pattern).hir,
                                    format_.family.reading.turn_end};
    if (read != nullptr && field.close) {
      if (const auto style = nested_style(read->syntax)) {
        ElementFinder& finder = program_->nested.emplace_back(
            compile_nested_finder(*style, context, limits_, program_->marks));
        if (finder) program_->regions[i] = &finder;
      }
    }
    for (const format::Content* content = &field.content; content != nullptr;
         content = content->value_parser.get()) {
      if (content->kind != format::ContentKind::kXmlInline || content->fault) {
        continue;
      }
      // ORDER: Elements::add() takes the groups by position (content.cc).
      std::vector<std::string_view> groups = {"key", "value"};
      std::string_view type;
      if (read != nullptr && content == &field.content &&
          changes_arguments(*read)) {
        program_->arguments.emplace(content, &read->arguments);
        type = read->arguments.type_capture;
        if (!type.empty()) groups.push_back(type);
      }
      const regex::Pattern& pattern = patterns_.of(content->tag_pattern);
      program_->tags.emplace(
          content, compile_finder(pattern, groups, limits_, program_->marks));
      const bool calls =
          format_.recovers && program_->calls[i] && content == &field.content;
      ElementFinder& finder =
          program_->elements
              .emplace(content, compile_element_finder(
                                    pattern.hir, type,
                                    calls && field.close ? &context : nullptr,
                                    limits_, program_->marks))
              .first->second;
      // Only in a format file's calls (strict) are the elements what a region
      // consists of, so that a close in a value is text.
      if (!finder.strict || !finder) continue;
      for (const auto& [text, kind] : read->arguments.types) {
        if (kind == "json") finder.json_types.push_back(text);
      }
      program_->regions[i] = &finder;
    }
  }

  const format::FormatImpl& format_;
  const Description& description_;
  const Limits& limits_;
  std::vector<FieldId> order_;  // by name
  std::shared_ptr<DelimiterProgram> program_ =
      std::make_shared<DelimiterProgram>();
  Patterns patterns_;
  const Delimiter* turn_end_ = nullptr;
  std::vector<const regex::Pattern*> openers_inside_;  // by field
};

}  // namespace

DelimiterPrograms::DelimiterPrograms(const format::FormatImpl& format)
    : format_(format),
      plain_(ProgramCompiler(format).compile(nullptr, Markers::kToken)) {}

std::shared_ptr<const DelimiterProgram> DelimiterPrograms::with(
    const Vocabulary& vocabulary, Markers markers) const {
  // Compiled under the lock: of parsers that come at once with a new
  // vocabulary, one compiles and the others wait.
  std::lock_guard lock(mutex_);
  for (const Kept& kept : kept_) {
    if (kept.vocabulary.identity() == vocabulary.identity() &&
        kept.markers == markers) {
      return kept.program;
    }
  }
  auto program = ProgramCompiler(format_).compile(&vocabulary, markers);
  // The one that was compiled first.  Its parsers share it still.
  if (kept_.size() >= kCachedVocabularies) kept_.erase(kept_.begin());
  kept_.push_back({vocabulary, markers, program});
  return program;
}

const DelimiterPrograms& DelimiterPrograms::of(
    const format::FormatImpl& format) {
  format.program_once.call([&] {
    format.parse_program = std::make_shared<DelimiterPrograms>(format);
  });
  return *static_cast<const DelimiterPrograms*>(format.parse_program.get());
}

}  // namespace parlance::parse
