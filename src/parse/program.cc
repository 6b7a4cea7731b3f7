// Compiling a description's delimiters, see program.h.

#include "parse/program.h"

#include <algorithm>
#include <cassert>

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

// Literals need a state per byte, and one per word and list.
std::size_t literal_states(const Delimiter& delimiter) {
  std::size_t states = 2;
  for (const std::string& text : delimiter.literals) states += text.size() + 1;
  return states;
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
  std::size_t states = 0;
  std::uint32_t rank = 0;
  for (Wanted& w : wanted) {
    const Hir& hir = w.delimiter->pattern.hir;
    wanted_groups(hir, w.watched);
    w.watched.rank = rank++;
    bool literal = w.delimiter->kind == Delimiter::Kind::kLiterals;
    if (literal || runs_on_automaton(hir, limits)) {
      states += limits.pattern_states + literal_states(*w.delimiter);
      specs.push_back({.hir = &hir, .groups = w.watched.groups});
      watch.patterns.push_back(std::move(w.watched));
    } else if (auto code =
                   regex::Pcre2::compile(w.delimiter->pattern, limits)) {
      watch.backtrackers.push_back({std::move(w.watched), std::move(*code)});
    }
  }
  if (!specs.empty()) {
    Limits all = limits;
    all.pattern_states = states;
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
  std::vector<TokenId> ids;
  for (TokenId id : vocabulary.special_ids()) {
    std::string_view spelling = vocabulary.spelling(id);
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
    ids.push_back(id);
  }
  program.spelled.emplace(vocabulary, ids);
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
    Limits enough = limits;
    enough.pattern_states += literal_states(anchor);
    program->anchor = compile_finder(anchor.pattern, {}, enough);
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
