// Compiling a description's delimiters, see program.h.

#include "parse/program.h"

#include <algorithm>
#include <cassert>
#include <tuple>

namespace parlance::parse {
namespace {

constexpr std::size_t kVocabulariesKept = 8;

using automata::Automaton;
using format::Delimiter;
using format::Description;
using format::Field;
using regex::Hir;
using regex::HirKind;

// The names whose spans are wanted and the numbers of their groups.
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

// Whether our automata run this pattern.  They refuse what is not regular, and
// the few regular ones that need too many states.
bool runs_on_automaton(const Hir& hir, const Limits& limits) {
  return hir.regular() &&
         automata::compile_nfa({{.hir = &hir}}, {}, limits.pattern_states)
             .has_value();
}

struct Wanted {
  const Delimiter* delimiter;
  Watched watched;
};

Watch compile_watch(std::vector<Wanted> wanted,
                    const std::vector<automata::Mark>& marks,
                    const Limits& limits) {
  Watch watch;
  std::vector<automata::PatternSpec> specs;
  std::uint32_t rank = 0;
  for (Wanted& w : wanted) {
    const Hir& hir = w.delimiter->pattern.hir;
    wanted_groups(hir, w.watched);
    w.watched.rank = rank++;
    if (runs_on_automaton(hir, limits)) {
      specs.push_back({.hir = &hir, .groups = w.watched.groups});
      watch.patterns.push_back(std::move(w.watched));
    } else if (auto code =
                   regex::Pcre2::compile(w.delimiter->pattern, limits)) {
      watch.backtrackers.push_back({std::move(w.watched), std::move(*code)});
    }
  }
  if (!specs.empty()) {
    Limits all = limits;
    all.pattern_states = limits.pattern_states * specs.size();
    auto automaton = Automaton::compile(specs, marks, all);
    assert(automaton.has_value());
    if (automaton) watch.automaton = std::move(*automaton);
  }
  return watch;
}

Finder compile_finder(const regex::Pattern& pattern,
                      const std::vector<std::string_view>& names,
                      const Limits& limits) {
  Finder finder;
  std::vector<std::uint32_t> present;
  for (std::string_view name : names) {
    finder.groups.push_back(0);
    for (const regex::GroupName& known : pattern.hir.names) {
      if (known.name != name) continue;
      finder.groups.back() = known.group;
      present.push_back(known.group);
      break;
    }
  }
  if (runs_on_automaton(pattern.hir, limits)) {
    auto automaton = Automaton::compile(
        {{.hir = &pattern.hir, .groups = present}}, {}, limits);
    if (automaton) finder.automaton = std::move(*automaton);
  } else if (auto code = regex::Pcre2::compile(pattern, limits)) {
    finder.code = std::move(*code);
  }
  return finder;
}

bool overlaps_itself(std::string_view text) {
  for (std::size_t n = 1; n < text.size(); ++n) {
    if (text.substr(0, n) == text.substr(text.size() - n)) return true;
  }
  return false;
}

// The special tokens of `vocabulary` that some delimiter spells.
void find_marks(const Description& description, const Vocabulary& vocabulary,
                Program& program) {
  std::vector<std::string_view> literals;
  auto collect = [&](const Delimiter& delimiter) {
    for (const regex::HirNode& node : delimiter.pattern.hir.nodes) {
      if (node.kind == HirKind::kLiteral) literals.push_back(node.text);
    }
  };
  for (const Field& field : description.fields) {
    if (field.open) collect(field.open);
    if (field.close) collect(field.close);
  }
  for (TokenId id : vocabulary.special_ids()) {
    std::string_view spelling = vocabulary.bytes(id);
    if (spelling.empty() || program.marks.size() >= automata::kMaxMarks) {
      continue;
    }
    bool spelled = std::any_of(
        literals.begin(), literals.end(), [&](std::string_view literal) {
          return literal.find(spelling) != std::string_view::npos;
        });
    // Runs of spaces and newlines are tokens of some tokenizers; there is
    // nothing to forge in them, and text around a delimiter may be cut into
    // tokens in several ways.
    bool blank = spelling.find_first_not_of(" \t\r\n") == spelling.npos;
    if (!spelled || blank) continue;
    auto symbol = static_cast<automata::Symbol>(automata::kFirstMark +
                                                program.marks.size());
    program.marks.push_back({std::string(spelling)});
    program.mark_symbols.emplace(id, symbol);
  }
}

std::shared_ptr<const Program> compile_program(const format::Shared& shared,
                                               const Vocabulary* vocabulary) {
  const Description& description = shared.description;
  const Limits& limits = shared.limits;
  auto program = std::make_shared<Program>();
  if (vocabulary != nullptr) find_marks(description, *vocabulary, *program);

  std::vector<std::uint32_t> order(description.fields.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return description.fields[a].name < description.fields[b].name;
  });
  std::vector<Wanted> resting;
  for (std::uint32_t i : order) {
    if (description.fields[i].open) {
      resting.push_back({&description.fields[i].open, {.field = i}});
    }
  }
  if (description.implicit) {
    const Field& field = description.fields[*description.implicit];
    if (field.close) {
      resting.push_back(
          {&field.close,
           {.field = static_cast<std::uint32_t>(*description.implicit),
            .close = true}});
    }
  }
  program->resting = compile_watch(std::move(resting), program->marks, limits);
  for (std::uint32_t i = 0; i < description.fields.size(); ++i) {
    const Field& field = description.fields[i];
    std::vector<Wanted> wanted;
    if (field.open && field.close) {
      wanted.push_back({&field.close, {.field = i, .close = true}});
    }
    program->inside.push_back(
        compile_watch(std::move(wanted), program->marks, limits));
  }

  auto look = [&](const Watch& watch) {
    for (const Backtracker& b : watch.backtrackers) {
      program->any_backtrackers = true;
      program->context_bytes =
          std::max(program->context_bytes, b.code.lookbehind_bytes() + 4);
    }
  };
  look(program->resting);
  for (const Watch& watch : program->inside) look(watch);

  const Delimiter& anchor = description.start_anchor;
  if (anchor.literals.size() == 1 && !overlaps_itself(anchor.literals[0])) {
    program->anchor_literal = anchor.literals[0];
  } else if (anchor) {
    program->anchor = compile_finder(anchor.pattern, {}, limits);
  }
  for (const Field& field : description.fields) {
    for (const format::Content* content = &field.content; content != nullptr;
         content = content->value_parser.get()) {
      if (content->kind != format::ContentKind::kXmlInline || content->fault) {
        continue;
      }
      program->tags.emplace(content, compile_finder(content->tag_pattern,
                                                    {"key", "value"}, limits));
    }
  }
  return program;
}

}  // namespace

bool FindAll::next(Found& out) {
  if (gave_up_ || at_ > text_.size()) return false;
  bool not_empty = last_empty_;
  if (finder_.automaton != nullptr) {
    automata::Context context;
    context.text_start = at_ == 0;
    context.line_start = at_ == 0 || text_[at_ - 1] == '\n';
    if (not_empty) context.not_empty.push_back(0);
    search_.start(finder_.automaton.get(), at_, context);
    search_.run(text_.substr(at_));
    search_.finish();
    if (!search_.decided()) {
      at_ = text_.size() + 1;
      return false;
    }
    search_.match(match_);
    out.begin = match_.begin;
    out.end = match_.end;
    out.groups.clear();
    std::size_t wanted = 0;
    for (std::uint32_t group : finder_.groups) {
      std::uint64_t begin = automata::kNoPosition;
      std::uint64_t end = automata::kNoPosition;
      if (group != 0) std::tie(begin, end) = match_.groups[wanted++];
      bool set = begin != automata::kNoPosition;
      out.groups.emplace_back(set ? begin : std::string_view::npos,
                              set ? end : std::string_view::npos);
    }
  } else if (finder_.code) {
    if (!scratch_) scratch_.emplace(*finder_.code);
    std::vector<std::pair<std::size_t, std::size_t>> groups;
    auto found = finder_.code->search(
        text_, at_, {.not_empty_at_start = not_empty}, *scratch_, &groups);
    if (found.status == regex::Pcre2::Status::kLimit) gave_up_ = true;
    if (found.status != regex::Pcre2::Status::kMatch) {
      at_ = text_.size() + 1;
      return false;
    }
    out.begin = found.begin;
    out.end = found.end;
    out.groups.clear();
    for (std::uint32_t group : finder_.groups) {
      bool set = group != 0 && group < groups.size();
      out.groups.push_back(
          set ? groups[group]
              : std::pair(regex::Pcre2::kUnset, regex::Pcre2::kUnset));
    }
  } else {
    return false;
  }
  at_ = out.end;
  last_empty_ = out.begin == out.end;
  return true;
}

Programs::Programs(const format::Shared& shared)
    : shared_(shared), plain_(compile_program(shared, nullptr)) {}

std::shared_ptr<const Program> Programs::with(
    const Vocabulary& vocabulary) const {
  std::lock_guard lock(mutex_);
  for (const auto& [known, program] : by_vocabulary_) {
    if (known.identity() == vocabulary.identity()) return program;
  }
  auto program = compile_program(shared_, &vocabulary);
  if (by_vocabulary_.size() >= kVocabulariesKept) {
    by_vocabulary_.erase(by_vocabulary_.begin());
  }
  by_vocabulary_.emplace_back(vocabulary, program);
  return program;
}

const Programs& Programs::of(const format::Shared& shared) {
  std::call_once(shared.program_once, [&] {
    shared.parse_program = std::make_shared<Programs>(shared);
  });
  return *static_cast<const Programs*>(shared.parse_program.get());
}

}  // namespace parlance::parse
