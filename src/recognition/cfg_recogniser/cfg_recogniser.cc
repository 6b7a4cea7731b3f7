// What others see of a recogniser of a grammar: see cfg_recogniser.h.

#include "cfg_recogniser/cfg_recogniser.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>
#include <vector>

#include "automata/byte_classes.h"
#include "base/unwinding.h"
#include "base/work.h"
#include "cfg_recogniser/tables.h"

namespace parlance::cfg_recogniser {

using recogniser::Configuration;
using recogniser::Recogniser;

namespace {

std::vector<Recogniser*> pointers(const PartTables& parts) {
  std::vector<Recogniser*> out;
  out.reserve(parts.size());
  for (const auto& part : parts) out.push_back(part.get());
  return out;
}

PartTables each_once(PartTables parts) {
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  if (!parts.empty() && parts.front() == nullptr) parts.erase(parts.begin());
  return parts;
}

}  // namespace

CfgRecogniser::CfgRecogniser(const rules::Rules& rules,
                             const Languages& schemas,
                             const CfgRecogniserLimits& limits,
                             std::shared_ptr<const rules::Marks> marks) {
  const base::OnUnwinding unlock([&] { settle(/*failed=*/true); });
  PartTables part_tables = tables_of(schemas);
  auto facts = std::make_shared<const NetworkFacts>(
      rules, pointers(part_tables), limits, std::move(marks));
  begin(std::move(facts), schemas, std::move(part_tables));
}

CfgRecogniser::CfgRecogniser(const CfgRecogniser& of) {
  const base::OnUnwinding unlock([&] { settle(/*failed=*/true); });
  const Languages& languages = of.tables_->parts.languages();
  begin(of.tables_->facts, languages, tables_of(languages));
}

void CfgRecogniser::begin(std::shared_ptr<const NetworkFacts> facts,
                          const Languages& languages, PartTables part_tables) {
  parts_ = each_once(part_tables);
  traits_ = facts->traits;
  traits_.has_plain_parts = std::ranges::any_of(
      parts_, [](const auto& part) { return !part->traits().has_hints; });
  room_ = facts->limits.bytes / 2;
  const TransitionNetwork& network = facts->network;
  const bool fits = facts->bytes <= facts->limits.bytes && !network.too_large;
  tables_ = std::make_unique<Tables>(*this, room_, std::move(facts), languages,
                                     std::move(part_tables));
  if (fits) {
    start_ = tables_->configurations
                 .find_or_make({{network.start, kOutermost, 0, 0}})
                 .to;
    read_prefix();
  } else {
    tables_->memory.overflow();
  }
  release();
}

void CfgRecogniser::read_prefix() {
  const rules::Marks* const marks = tables_->facts->marks.get();
  std::string_view left = tables_->facts->prefix;
  while (!left.empty() && !start_.dead()) {
    Configuration marked;
    const rules::Mark* const mark =
        marks == nullptr ? nullptr
                         : marks->spelled_at(left, [&](const rules::Mark& one) {
                             marked = step_token(start_, {}, one.ids.front());
                             return !marked.dead();
                           });
    if (mark != nullptr) {
      start_ = marked;
      left.remove_prefix(mark->spelling.size());
    } else {
      start_ = step(start_, static_cast<std::uint8_t>(left.front()));
      left.remove_prefix(1);
    }
  }
}

CfgRecogniser::~CfgRecogniser() = default;

std::shared_ptr<Recogniser> CfgRecogniser::fresh() const {
  const base::UnlimitedWork start;
  return std::shared_ptr<CfgRecogniser>(new CfgRecogniser(*this));
}

std::size_t CfgRecogniser::own_bytes() const {
  return sizeof(CfgRecogniser) + sizeof(Tables) + tables_->memory.bytes();
}

Recogniser::Room CfgRecogniser::room() {
  if (tables_->memory.overflowed() || spoiled()) return Room::kOverflowed;
  return used_up() || part_full() ? Room::kFull : Room::kLeft;
}

bool CfgRecogniser::used_up() const { return tables_->memory.used_up(); }

bool CfgRecogniser::too_large() const { return tables_->memory.too_large(); }

const CfgRecogniserLimits& CfgRecogniser::limits() const {
  return tables_->facts->limits;
}

bool CfgRecogniser::has_prefix() const {
  return !tables_->facts->prefix.empty();
}

// --- Steps -------------------------------------------------------------------

Configuration CfgRecogniser::start() { return start_; }

Configuration CfgRecogniser::step(Configuration config, std::uint8_t byte) {
  if (config.dead()) return {};
  if (is_inside(config)) return step_inside(config, byte);
  return tables_->transitions.step(config, byte);
}

// While the text of the schema cannot end, only the schema reads.  Where it can
// end, `byte` may belong to the schema, to what follows it, or to either; in
// the last case the configuration leaves the schema and holds the items of
// both.
Configuration CfgRecogniser::step_inside(Configuration config,
                                         std::uint8_t byte) {
  Sites& sites = tables_->sites;
  Recogniser& part = sites.part_of(config);
  const Configuration inner = sites.unwrap(config);
  const Configuration next = part.step(inner, byte);
  if (!part.can_end(inner)) return sites.with_inner(config, next);
  const Configuration outside = step(exit_of(config).config, byte);
  if (outside.dead()) return sites.with_inner(config, next);
  if (next.dead()) return outside;
  Items kernel = tables_->configurations.kernel_of(outside);
  const SchemaSite& site = sites.of(config);
  kernel.push_back({site.state, site.context, tables_->parts.intern(next), 0});
  return tables_->configurations.follow(std::move(kernel));
}

// The result is stored with the read sets it depends on, which are tracked
// again at every call.
const SchemaSite::Exit& CfgRecogniser::exit_of(Configuration config) {
  read_past_part_ = true;
  ReadSets& read_sets = tables_->read_sets;
  const SchemaSite& site = tables_->sites.of(config);
  if (!site.exit) {
    const StateId after = tables_->facts->network.states[site.state].next;
    ReadSets::Tracking outer = read_sets.push();
    SchemaSite::Exit exit;
    exit.config = tables_->configurations.follow({{after, site.context, 0, 0}});
    constexpr std::string_view kOfNumbers = "0123456789.eE+-";
    exit.ends_numbers = std::ranges::all_of(kOfNumbers, [&](char c) {
      return step(exit.config, static_cast<std::uint8_t>(c)).dead();
    });
    exit.read_sets = read_sets.pop(std::move(outer));
    tables_->sites.set_exit(tables_->sites.id_of(config), std::move(exit));
  }
  for (const ReadSetId set : site.exit->read_sets) read_sets.track(set);
  return *site.exit;
}

bool CfgRecogniser::can_end(Configuration config) {
  if (config.dead()) return false;
  if (!is_inside(config)) return tables_->states[config.lex].can_end;
  Sites& sites = tables_->sites;
  return sites.part_of(config).can_end(sites.unwrap(config)) &&
         can_end(exit_of(config).config);
}

Configuration CfgRecogniser::mask_key(Configuration config,
                                      std::uint32_t longest) {
  if (config.dead()) return config;
  if (is_inside(config)) {
    Sites& sites = tables_->sites;
    return sites.with_inner(
        config, sites.part_of(config).mask_key(sites.unwrap(config), longest));
  }
  if (!traits_.has_plain_parts) return config;
  // Beside other items, what a part has counted is in its item.
  States::Contents contents;
  tables_->states.contents_of(config, contents);
  bool changed = false;
  for (Items* items : {&contents.items, &contents.kernel}) {
    for (Item& item : *items) {
      const NetworkState& state = tables_->facts->state_of(item);
      if (state.action != Action::kSchema) continue;
      Recogniser& part = tables_->parts.at(state);
      if (part.traits().has_hints) continue;
      const Configuration now = tables_->parts.config_of(item, part);
      const Configuration key = part.mask_key(now, longest);
      if (key == now) continue;
      changed = true;
      item.inner = tables_->parts.intern(key);
    }
    std::sort(items->begin(), items->end());
    items->erase(std::unique(items->begin(), items->end()), items->end());
  }
  if (!changed) return config;
  return tables_->states.intern(contents, /*pure=*/true,
                                tables_->states.frame(config.frame));
}

// --- Tokens ------------------------------------------------------------------

Configuration CfgRecogniser::step_token(Configuration from, Configuration read,
                                        std::uint32_t id) {
  return read_token(from, read, id, /*only_named=*/false);
}

Configuration CfgRecogniser::step_named(Configuration from, std::uint32_t id) {
  return read_token(from, {}, id, /*only_named=*/true);
}

// A token may be read by its id and by its bytes at once; what follows is the
// union of both.
//
// Step 1: `by_id`, what reads the token by its id.  Free text reads a mark by
// its id and not by its bytes, so where there is free text, what the bytes lead
// to is found again without it.
// Step 2: `kernel`, what the bytes lead to.  It is the kernel and not its
// closure, because the closure depends on the budgets: each activation, on
// either side, has spent one token more.
// If neither adds anything, `read` is the answer as it is.
Configuration CfgRecogniser::read_token(Configuration from, Configuration read,
                                        std::uint32_t id, bool only_named) {
  const NetworkFacts& facts = *tables_->facts;
  if (from.dead() || (!facts.has_marks && !facts.counts_tokens)) return read;
  Configurations& configurations = tables_->configurations;
  Scanner& scanner = tables_->scanner;
  Items by_id;
  if (facts.has_marks && !tables_->sites.is_only_inside(from)) {
    const Items items = configurations.items_of(from);
    by_id = scanner.scan_token(items, id, only_named);
    const rules::Marks* const marks = facts.marks.get();
    if (marks != nullptr && marks->mark_of(id) && scanner.in_free_text(items)) {
      read = marks->has_bytes(id)
                 ? read_mark_bytes(items, marks->vocabulary().bytes(id))
                 : Configuration{};
    }
  }
  if (by_id.empty() && !facts.counts_tokens) return read;
  Items kernel = configurations.kernel_of(read);
  if (facts.counts_tokens) {
    const Items before = kernel;
    scanner.spend_token(kernel);
    if (by_id.empty() && kernel == before) return read;
    scanner.spend_token(by_id);
  }
  kernel.insert(kernel.end(), by_id.begin(), by_id.end());
  return configurations.follow(std::move(kernel));
}

// The configuration after the bytes of a mark.  Free text does not read a mark
// by its bytes; all other items do.
Configuration CfgRecogniser::read_mark_bytes(const Items& items,
                                             std::string_view bytes) {
  if (bytes.empty()) return {};
  Items kernel;
  tables_->scanner.scan(
      items,
      {.byte = static_cast<std::uint8_t>(bytes.front()), .begins_mark = true},
      kernel);
  Configuration at = tables_->configurations.follow(std::move(kernel));
  for (const char byte : bytes.substr(1)) {
    at = step(at, static_cast<std::uint8_t>(byte));
  }
  return at;
}

void CfgRecogniser::token_ids(Configuration config, std::uint32_t size,
                              TokenIds& out) {
  out.clear();
  const NetworkFacts& facts = *tables_->facts;
  if (!facts.has_marks || config.dead() ||
      tables_->sites.is_only_inside(config)) {
    return;
  }
  const Items items = tables_->configurations.items_of(config);
  out.accepted = tables_->scanner.token_ids(items, size);
  if (facts.marks == nullptr || !tables_->scanner.in_free_text(items)) return;
  for (const rules::Mark& mark : facts.marks->marks()) {
    out.undecided.insert(out.undecided.end(), mark.ids.begin(), mark.ids.end());
  }
}

// --- Masks -------------------------------------------------------------------

Configuration CfgRecogniser::mask_equivalent(Configuration config) {
  if (config.dead() || is_inside(config)) return config;
  return tables_->equivalence.representative(config);
}

void CfgRecogniser::begin_tracking() {
  tables_->read_sets.push();
  read_past_part_ = false;
}

bool CfgRecogniser::end_tracking(Configuration config) {
  const std::vector<ReadSetId> sets = tables_->read_sets.pop({});
  if (!config.dead() && !is_inside(config) && tables_->memory.within_limits()) {
    tables_->equivalence.learn(config, sets);
  }
  return read_past_part_;
}

bool CfgRecogniser::track_mask_of(Configuration config) {
  return !config.dead() && !is_inside(config) &&
         tables_->equivalence.track_mask_of(config);
}

// --- Bytes -------------------------------------------------------------------

base::ByteSet CfgRecogniser::first_bytes(Configuration config) {
  if (config.dead()) return {};
  if (is_inside(config)) {
    Recogniser& part = tables_->sites.part_of(config);
    const Configuration inner = tables_->sites.unwrap(config);
    return part.can_end(inner) ? base::kAllBytes : part.first_bytes(inner);
  }
  const LexId lex{config.lex};
  if (const base::ByteSet* const known = tables_->bytes.readable(lex)) {
    return *known;
  }
  base::ByteSet set = {};
  const automata::ByteTable& same = tables_->bytes.byte_classes(lex);
  std::array<bool, 256> alive;  // by representative of a class
  for (std::size_t byte = 0; byte < 256; ++byte) {
    if (same[byte] == byte) {
      alive[byte] = !step(config, static_cast<std::uint8_t>(byte)).dead();
    }
    if (!alive[same[byte]]) continue;
    base::add_byte(set, static_cast<std::uint8_t>(byte));
  }
  return set;
}

// Where the schema's text may end, what follows it reads the byte as well.
const Recogniser::ByteClassTable* CfgRecogniser::byte_classes_at(
    Configuration config) {
  if (config.dead()) return nullptr;
  if (!is_inside(config)) {
    return &tables_->bytes.byte_classes(LexId{config.lex});
  }
  Sites& sites = tables_->sites;
  const Configuration inner = sites.unwrap(config);
  Recogniser& part = sites.part_of(config);
  const ByteClassTable* const own = part.byte_classes_at(inner);
  if (own == nullptr || !part.can_end(inner)) return own;
  // A copy, because exit_of() may lock another part.
  const automata::ByteTable kinds = *own;
  const Configuration exit = exit_of(config).config;
  if (exit.dead()) return own;
  if (const ByteClassTable* const known = sites.find_classes(config)) {
    return known;
  }
  const ByteClassTable* const after = byte_classes_at(exit);
  if (after == nullptr) return nullptr;
  automata::ByteClasses bytes;
  bytes.refine(kinds);
  bytes.refine(*after);
  return sites.set_classes(config, bytes.representative());
}

Recogniser::ByteFacts CfgRecogniser::bytes_at(Configuration config) {
  if (config.dead() || is_inside(config)) return {};
  ByteFacts facts{.readable = tables_->bytes.readable(LexId{config.lex}),
                  .base = tables_->bases.base_of(config)};
  if (!facts.base.dead()) {
    facts.others = &tables_->states[config.lex].base->others;
  }
  return facts;
}

base::ByteSet CfgRecogniser::repeatable_bytes(Configuration config) {
  if (config.dead() || is_inside(config)) return {};
  return tables_->bytes.repeatable(LexId{config.lex});
}

// --- Parts -------------------------------------------------------------------

bool CfgRecogniser::has_hints_at(Configuration config) {
  return tables_->sites.part_of(config).traits().has_hints;
}

Recogniser::PartPosition CfgRecogniser::part_at(Configuration config) {
  if (config.dead() || !is_inside(config)) return {};
  Recogniser& part = tables_->sites.part_of(config);
  const Configuration inner = tables_->sites.unwrap(config);
  if (part.broken() || part.can_end(inner)) return {};
  return {.part = &part,
          .config = inner,
          .text_after = tables_->sites.of(config).forced_text};
}

// Where the text of the part may end, what follows it may be read as well, so
// there only what is known of a lexeme holds.  What may follow a value that is
// the whole text of the part is not decided by the part: there is no
// Hint::value, and a number continues as the part says only if what follows
// cannot begin like the rest of a number.
recogniser::Hint CfgRecogniser::hint(Configuration config) {
  if (config.dead() || !is_inside(config)) return {};
  Recogniser& part = tables_->sites.part_of(config);
  const Configuration inner = tables_->sites.unwrap(config);
  const bool alone = !part.can_end(inner);
  recogniser::Hint hint = part.hint(inner);
  const bool is_whole_text = std::exchange(hint.is_whole_text, false);
  const auto translate = [&](Configuration& one) {
    one = tables_->sites.with_inner(config, one);
  };
  if (auto* const body = std::get_if<recogniser::FreeString>(&hint.place)) {
    translate(body->after);
    for (auto& range : body->accepting_ranges) translate(range.after);
  } else if (auto* const space =
                 std::get_if<recogniser::Between>(&hint.place)) {
    translate(space->without_space);
  } else if (auto* const lexeme =
                 std::get_if<recogniser::LexemeHint>(&hint.place)) {
    translate(lexeme->unbounded);
    if (is_whole_text && lexeme->end == recogniser::LexemeHint::kJsonEnd) {
      lexeme->end = recogniser::LexemeHint::kAnyEnd;
      if (!exit_of(config).ends_numbers) return {};
    }
    return hint;
  } else if (auto* const apart =
                 std::get_if<recogniser::SplitKeys>(&hint.place)) {
    translate(apart->keys);
    translate(apart->others);
  }
  if (!alone) return {};
  if (is_whole_text) {
    hint.value = {};
  } else {
    translate(hint.value);
  }
  return hint;
}

Configuration CfgRecogniser::resume(Configuration config,
                                    recogniser::LeftValue left) {
  return tables_->sites.with_inner(config,
                                   tables_->sites.part_of(config).resume(
                                       tables_->sites.unwrap(config), left));
}

Configuration CfgRecogniser::step_or_value(Configuration config,
                                           std::uint8_t byte) {
  if (config.dead() || !is_inside(config)) return step(config, byte);
  Recogniser& part = tables_->sites.part_of(config);
  const Configuration inner = tables_->sites.unwrap(config);
  return part.can_end(inner) ? step(config, byte)
                             : tables_->sites.with_inner(
                                   config, part.step_or_value(inner, byte));
}

std::optional<base::ByteSet> CfgRecogniser::exception_bytes(
    Configuration config) {
  if (config.dead() || !is_inside(config)) return std::nullopt;
  return tables_->sites.part_of(config).exception_bytes(
      tables_->sites.unwrap(config));
}

bool CfgRecogniser::any_digits(Configuration config) {
  if (config.dead() || !is_inside(config)) return false;
  Recogniser& part = tables_->sites.part_of(config);
  const Configuration inner = tables_->sites.unwrap(config);
  return part.any_digits(inner) && !part.can_end(inner);
}

std::optional<std::uint32_t> CfgRecogniser::chars_needed(Configuration from,
                                                         Configuration to) {
  if (!is_inside(from) || !is_inside(to) ||
      tables_->sites.id_of(from) != tables_->sites.id_of(to)) {
    return std::nullopt;
  }
  return tables_->sites.part_of(from).chars_needed(tables_->sites.unwrap(from),
                                                   tables_->sites.unwrap(to));
}

}  // namespace parlance::cfg_recogniser
