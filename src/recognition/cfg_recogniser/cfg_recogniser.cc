// Configurations of any grammar: see cfg_recogniser.h.

#include "cfg_recogniser/cfg_recogniser.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "base/append_bytes.h"
#include "base/unwinding.h"
#include "base/work.h"
#include "cfg_recogniser/closure.h"
#include "cfg_recogniser/simplify_network.h"
#include "rules/temperatures.h"

namespace parlance::cfg_recogniser {

using recogniser::Configuration;
using recogniser::Language;
using recogniser::Recogniser;

namespace {

using base::append_bytes;

// Tables with room; for equal languages the same.
std::vector<std::shared_ptr<Recogniser>> tables_of(
    const std::vector<std::shared_ptr<Language>>& languages) {
  std::map<Language*, std::shared_ptr<Recogniser>> known = {{nullptr, nullptr}};
  std::vector<std::shared_ptr<Recogniser>> out;
  out.reserve(languages.size());
  for (const std::shared_ptr<Language>& one : languages) {
    const auto [at, added] = known.try_emplace(one.get());
    if (added) at->second = one->with_room();
    out.push_back(at->second);
  }
  return out;
}

std::vector<Recogniser*> pointers(
    const std::vector<std::shared_ptr<Recogniser>>& schemas) {
  std::vector<Recogniser*> out;
  out.reserve(schemas.size());
  for (const auto& schema : schemas) out.push_back(schema.get());
  return out;
}

std::vector<std::shared_ptr<Recogniser>> each_once(
    std::vector<std::shared_ptr<Recogniser>> schemas) {
  std::sort(schemas.begin(), schemas.end());
  schemas.erase(std::unique(schemas.begin(), schemas.end()), schemas.end());
  if (!schemas.empty() && schemas.front() == nullptr) {
    schemas.erase(schemas.begin());
  }
  return schemas;
}

std::shared_ptr<const TransitionNetwork> network_of(
    const rules::Rules& rules,
    const std::vector<std::shared_ptr<Recogniser>>& schemas,
    const rules::Marks* marks) {
  std::optional<rules::Rules> copies;
  const bool copied = rules::has_temperatures(rules);
  if (copied) copies = rules::inherit_temperatures(rules);
  auto network = std::make_shared<TransitionNetwork>(copies ? *copies : rules,
                                                     pointers(schemas), marks);
  network->too_large = copied && !copies;
  simplify(*network);
  share_prefixes(*network);
  network->schemas.clear();  // each recogniser has its own
  return network;
}

std::size_t bytes_of(const TransitionNetwork& network) {
  std::size_t bytes = network.states.size() * (sizeof(NetworkState) + 32) +
                      network.rules.size() * sizeof(NetworkRule);
  for (const std::string& text : network.texts) {
    bytes += sizeof(std::string) + text.capacity();
  }
  for (const automata::AhoCorasick& text : network.free_texts) {
    bytes += text.nodes.size() * (sizeof(automata::AhoCorasick::Node) + 64);
  }
  for (const regex::CharClass& set : network.classes) {
    bytes += sizeof(set) + set.ranges().size() * sizeof(set.ranges()[0]);
  }
  return bytes;
}

}  // namespace

CfgRecogniser::CfgRecogniser(const rules::Rules& rules,
                             std::vector<std::shared_ptr<Language>> schemas,
                             const CfgRecogniserLimits& limits,
                             std::shared_ptr<const rules::Marks> marks)
    : languages_(std::move(schemas)),
      schemas_(tables_of(languages_)),
      network_of_all_(network_of(rules, schemas_, marks.get())),
      network_(*network_of_all_),
      limits_(limits),
      marks_(std::move(marks)),
      prefix_(rules.prefix) {
  const base::OnUnwinding unlock([&] { settle(/*failed=*/true); });
  parts_ = each_once(schemas_);
  for (const NetworkRule& rule : network_.rules) {
    counts_tokens_ = counts_tokens_ || rule.options.max_tokens.has_value();
  }
  for (const NetworkState& state : network_.states) {
    has_marks_ = has_marks_ || state.action == Action::kTokens ||
                 state.action == Action::kTokenText;
  }
  has_marks_ = has_marks_ || marks_ != nullptr;
  // "Any token but these" names none: no stop token is meant.
  traits_.names_tokens =
      !rules.token_texts.empty() ||
      std::ranges::any_of(rules.token_sets, [](const rules::TokenSetExpr& set) {
        return !set.negated;
      });
  traits_.has_temperatures = !network_.temperatures.empty();
  traits_.has_plain_parts = std::ranges::any_of(
      parts_, [](const auto& part) { return !part->traits().has_hints; });
  find_tails();
  find_bytes();
  base_bytes_ = bytes_of(network_);
  begin();
}

CfgRecogniser::CfgRecogniser(const CfgRecogniser& of)
    : languages_(of.languages_),
      schemas_(tables_of(languages_)),
      network_of_all_(of.network_of_all_),
      network_(*network_of_all_),
      limits_(of.limits_),
      marks_(of.marks_),
      prefix_(of.prefix_),
      counts_tokens_(of.counts_tokens_),
      has_marks_(of.has_marks_),
      tail_(of.tail_),
      embedding_(of.embedding_),
      base_bytes_(of.base_bytes_) {
  const base::OnUnwinding unlock([&] { settle(/*failed=*/true); });
  parts_ = each_once(schemas_);
  traits_ = of.traits_;
  begin();
}

void CfgRecogniser::begin() {
  bytes_ = base_bytes_;
  room_ = limits_.bytes / 2;
  // Id 0 is the dead state, the outermost context, the frame without slots, the
  // start of a schema, and the absence of an activation.
  contexts_.add({});
  activations_.emplace_back();
  states_.emplace_back();
  configs_.emplace_back();
  read_sets_.add({});
  intern_frame({});
  overflowed_ = base_bytes_ > limits_.bytes || network_.too_large;
  if (!overflowed_) {
    start_ = configuration({{network_.start, kOutermost, 0, 0}});
    read_prefix();
  }
  release();
}

void CfgRecogniser::read_prefix() {
  std::string_view left = prefix_;
  while (!left.empty() && !start_.dead()) {
    Configuration marked;
    const rules::Mark* const mark =
        marks_ == nullptr
            ? nullptr
            : marks_->spelled_at(left, [&](const rules::Mark& one) {
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

// --- Interning ---------------------------------------------------------------

std::uint32_t CfgRecogniser::intern_frame(std::span<const ContextId> contexts) {
  const auto [id, added] = frames_.intern(contexts);
  if (added) bytes_ += frames_.bytes_of(contexts.size());
  return id;
}

std::uint32_t CfgRecogniser::intern_state(const Items& items,
                                          const Items& kernel) {
  std::uint64_t hash = ItemHash()(std::span(items));
  base::mix(hash, ItemHash()(std::span(kernel)));
  const auto known = state_of_.find(hash, [&](std::uint32_t id) {
    return states_[id].items == items && states_[id].kernel == kernel;
  });
  if (known) return *known;
  const auto id = static_cast<std::uint32_t>(states_.size());
  State& state = states_.emplace_back();
  state.items = items;
  state.kernel = kernel;
  state.can_end = std::ranges::any_of(
      items, [&](const Item& item) { return item.state == network_.accept; });
  state_of_.add(hash, id);
  bytes_ += (items.size() + kernel.size()) * sizeof(Item) + sizeof(State) + 32;
  return id;
}

std::uint32_t CfgRecogniser::intern_config(Configuration config) {
  std::string key;
  append_bytes(key, config);
  const auto known = config_of_.find(key);
  if (known != config_of_.end()) return known->second;
  const auto id = static_cast<std::uint32_t>(configs_.size());
  configs_.push_back(config);
  config_of_.emplace(std::move(key), id);
  bytes_ += 96;
  return id;
}

// Closes a kernel and interns the result.  `slots` is the frame of the
// configuration that this one follows, if any.  If only a schema's text can
// continue, the configuration is that of the schema.
Configuration CfgRecogniser::make_configuration(
    std::span<const Item> kernel, std::span<const ContextId> slots) {
  pure_ = true;
  const auto is_site = [&](std::span<const Item> items) {
    return items.size() == 1 &&
           network_.states[items[0].state].action == Action::kSchema;
  };
  if (is_site(kernel)) return enter_site(kernel[0]);
  made_.items.assign(kernel.begin(), kernel.end());
  made_.kernel.clear();
  if (counts_tokens_) made_.kernel = made_.items;
  pure_ = close(made_.items).pure;
  if (made_.items.empty()) return {};
  if (is_site(made_.items)) return enter_site(made_.items[0]);
  return intern_configuration(slots);
}

// Replaces the contexts of made_ by slots.  A pure closure keeps the order
// of the preceding frame, `slots`, so that the same state results in all
// frames, which is what makes rows valid for all of them.
Configuration CfgRecogniser::intern_configuration(
    std::span<const ContextId> slots) {
  // First the slots of the preceding frame that are still used, in their order;
  // then the others in the order of the items.
  std::vector<ContextId>& contexts = slots_made_;
  contexts.clear();
  if (pure_) {
    const std::uint32_t used = ++slot_round_;
    for (const Items* items : {&made_.items, &made_.kernel}) {
      for (const Item& item : *items) notes(item.context).slot_round = used;
    }
    for (const ContextId slot : slots) {
      if (notes(slot).slot_round == used) contexts.push_back(slot);
    }
  }
  ++slot_round_;
  for (std::uint32_t slot = 0; slot < contexts.size(); ++slot) {
    notes(contexts[slot]).slot_round = slot_round_;
    notes(contexts[slot]).slot = slot;
  }
  for (Items* items : {&made_.items, &made_.kernel}) {
    for (Item& item : *items) {
      ContextNotes& of = notes(item.context);
      if (of.slot_round != slot_round_) {
        of.slot_round = slot_round_;
        of.slot = static_cast<std::uint32_t>(contexts.size());
        contexts.push_back(item.context);
      }
      item.context = of.slot;
    }
    if (!std::ranges::is_sorted(*items)) std::ranges::sort(*items);
  }
  const std::uint32_t frame = intern_frame(contexts);
  return {intern_state(made_.items, made_.kernel), frame, 0, 0};
}

// The same configuration, with the slots in the order of those before.
// REQUIRES: it is alive, and not inside the text of a schema.
Configuration CfgRecogniser::reorder(Configuration config,
                                     std::span<const ContextId> slots) {
  const State& state = states_[config.lex];
  put_in_frame(state.items, config.frame, made_.items);
  put_in_frame(state.kernel, config.frame, made_.kernel);
  return intern_configuration(slots);
}

// The configuration of a kernel.  If its closure is not pure, the result
// depends on the kernel alone, and is stored with its read set; otherwise it
// depends on `slots` as well.
Configuration CfgRecogniser::configuration(Items kernel,
                                           std::span<const ContextId> slots) {
  made_read_set_ = 0;
  if (kernel.empty() || !within_limits() || !base::spend_work()) return {};
  std::sort(kernel.begin(), kernel.end());
  kernel.erase(std::unique(kernel.begin(), kernel.end()), kernel.end());
  const std::uint32_t known = kernels_.find(kernel);
  if (known != kernels_.kNone) {
    pure_ = false;
    made_read_set_ = made_of_kernel_[known].read_set;
    return made_of_kernel_[known].to;
  }
  begin_read_set();
  const Configuration made = make_configuration(kernel, slots);
  made_read_set_ = intern_read_set();
  if (!pure_ && !overflowed_) {
    made_of_kernel_.push_back({.to = made, .read_set = made_read_set_});
    kernels_.intern(kernel);
    bytes_ += kernels_.bytes_of(kernel.size()) + sizeof(MadeOfKernel);
  }
  return made;
}

CfgRecogniser::Items CfgRecogniser::items_of(Configuration config) {
  if (config.dead()) return {};
  Items items;
  if (inside(config)) {
    items = kernel_of(config);
    begin_read_set();
    close(items);
    track(intern_read_set());
    return items;
  }
  put_in_frame(states_[config.lex].items, config.frame, items);
  return items;
}

CfgRecogniser::Items CfgRecogniser::kernel_of(Configuration config) {
  if (config.dead()) return {};
  if (inside(config)) {
    const SchemaSite& site = site_of(config);
    return {{site.state, site.context, intern_config(unwrap(config)), 0}};
  }
  if (!counts_tokens_) return items_of(config);
  Items items;
  put_in_frame(states_[config.lex].kernel, config.frame, items);
  return items;
}

// --- Steps -------------------------------------------------------------------

Configuration CfgRecogniser::start() { return start_; }

Configuration CfgRecogniser::step(Configuration config, std::uint8_t byte) {
  if (config.dead()) return {};
  if (inside(config)) return site_step(config, byte);
  const State& state = states_[config.lex];
  const std::uint32_t known = state.row[byte];
  if (known == 0) return {};
  if (known < kByFrame) return {known, config.frame, 0, 0};
  if (known == kUnknown) return learn_step(config, byte);
  return step_in_frame(config.frame, known & ~kByFrame);
}

// In a state of literals each byte is a class of its own, and all others are
// dead.
void CfgRecogniser::begin_row(State& state) {
  state.row_begun = true;
  state.only_literals = std::ranges::all_of(state.items, [&](const Item& item) {
    return network_.states[item.state].action == Action::kBytes;
  });
  if (!state.only_literals) return;
  state.row.set_rest(0);
  for (const Item& item : state.items) {
    const std::string& text = network_.texts[network_.states[item.state].index];
    bytes_ +=
        state.row.set(static_cast<std::uint8_t>(text[item.inner]), kUnknown);
  }
}

// Computes the transition for the class of `byte`, that is for the least byte
// of it; the entry of another byte is a copy.
Configuration CfgRecogniser::learn_step(Configuration config,
                                        std::uint8_t byte) {
  if (!within_limits()) return {};
  State& state = states_[config.lex];
  if (!state.row_begun) begin_row(state);
  if (state.row[byte] == 0) return {};
  // The literals beside a base have classes of their own, too.
  const bool alone =
      state.only_literals ||
      (state.base != nullptr && base::has_byte(state.base->others, byte));
  const std::uint8_t least = alone ? byte : byte_classes(config.lex)[byte];
  if (least != byte) {
    const Configuration next = step(config, least);
    bytes_ += state.row.set(byte, state.row[least]);
    return next;
  }
  scan(state.items, byte, scanned_);
  if (scanned_.empty()) {
    bytes_ += state.row.set(byte, 0);
    return {};
  }
  return learn_kernel(config, byte, scanned_);
}

// `kernel`: what `byte` leads to, with slots of the state.  If the closure is
// pure and stays in the frame, the row entry is a state and holds in every
// frame; else the entry says that the frame decides, and what the kernel makes
// in a frame is found by its contexts.
Configuration CfgRecogniser::learn_kernel(Configuration config,
                                          std::uint8_t byte, Items& kernel) {
  number_kernel(kernel, kernel_by_slots_);
  set_kernel(kernel_by_slots_, config.frame);
  const Configuration next = make_numbered(slots_of(config));
  StateRow& row = states_[config.lex].row;
  if (pure_ && !next.dead() && !inside(next)) {
    const Configuration ordered =
        next.frame == config.frame ? next : reorder(next, slots_of(config));
    if (ordered.frame == config.frame) {
      bytes_ += row.set(byte, ordered.lex);
      return ordered;
    }
  }
  if (overflowed_) return {};
  const auto [after, is_new] = kernels_after_.intern(kernel_by_slots_);
  if (is_new) bytes_ += kernels_after_.bytes_of(kernel_by_slots_.size());
  bytes_ += row.set(byte, kByFrame | after);
  track(made_read_set_);
  return next;
}

Configuration CfgRecogniser::step_in_frame(std::uint32_t frame,
                                           std::uint32_t kernel) {
  set_kernel(kernels_after_[kernel], frame);
  const Configuration to = make_numbered(contexts_of_kernel());
  track(made_read_set_);
  return to;
}

bool CfgRecogniser::can_end(Configuration config) {
  if (config.dead()) return false;
  if (!inside(config)) return states_[config.lex].can_end;
  return schema_of(site_of(config)).can_end(unwrap(config)) &&
         can_end(exit_of(site_frames_[config.frame].site));
}

Configuration CfgRecogniser::mask_key(Configuration config,
                                      std::uint32_t longest) {
  if (config.dead()) return config;
  if (inside(config)) {
    return with_inner(
        config, schema_of(site_of(config)).mask_key(unwrap(config), longest));
  }
  if (!traits_.has_plain_parts) return config;
  // Beside other items, what a part has counted is in its item.
  put_in_frame(states_[config.lex].items, config.frame, made_.items);
  put_in_frame(states_[config.lex].kernel, config.frame, made_.kernel);
  bool changed = false;
  for (Items* items : {&made_.items, &made_.kernel}) {
    for (Item& item : *items) {
      const NetworkState& state = network_.states[item.state];
      if (state.action != Action::kSchema) continue;
      Recogniser& part = schema(state.index);
      if (part.traits().has_hints) continue;
      const Configuration now =
          item.inner == 0 ? part.start() : configs_[item.inner];
      const Configuration key = part.mask_key(now, longest);
      if (key == now) continue;
      changed = true;
      item.inner = intern_config(key);
    }
    std::sort(items->begin(), items->end());
    items->erase(std::unique(items->begin(), items->end()), items->end());
  }
  if (!changed) return config;
  pure_ = true;
  return intern_configuration(slots_of(config));
}

// --- Tokens ------------------------------------------------------------------

Configuration CfgRecogniser::step_token(Configuration from, Configuration read,
                                        std::uint32_t id) {
  if (from.dead() || (!has_marks_ && !counts_tokens_)) return read;
  Items by_id;
  if (has_marks_ && !only_inside(from)) {
    const Items items = items_of(from);
    by_id = scan_token(items, id);
    if (marks_ != nullptr && marks_->mark_of(id) && in_free_text(items)) {
      read = marks_->has_bytes(id)
                 ? read_mark_bytes(items, marks_->vocabulary().bytes(id))
                 : Configuration{};
    }
  }
  if (by_id.empty() && !counts_tokens_) return read;
  Items kernel = kernel_of(read);
  if (counts_tokens_) {
    const Items before = kernel;
    spend_token(kernel);
    if (by_id.empty() && kernel == before) return read;
    spend_token(by_id);
  }
  kernel.insert(kernel.end(), by_id.begin(), by_id.end());
  const Configuration to = configuration(std::move(kernel));
  track(made_read_set_);
  return to;
}

Configuration CfgRecogniser::step_named(Configuration from, std::uint32_t id) {
  reads_named_ = true;
  const Configuration to = step_token(from, {}, id);
  reads_named_ = false;
  return to;
}

// Whether only the text of a schema can continue, and cannot end here.
bool CfgRecogniser::only_inside(Configuration config) {
  return inside(config) && !schema_of(site_of(config)).can_end(unwrap(config));
}

void CfgRecogniser::token_ids(Configuration config, std::uint32_t size,
                              TokenIds& out) {
  out.clear();
  if (!has_marks_ || config.dead() || only_inside(config)) return;
  const Items items = items_of(config);
  mark_tokens(items, size, out.accepted);
  std::vector<std::uint32_t>& ids = out.accepted;
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  if (marks_ == nullptr || !in_free_text(items)) return;
  for (const rules::Mark& mark : marks_->marks()) {
    out.undecided.insert(out.undecided.end(), mark.ids.begin(), mark.ids.end());
  }
}

// --- Texts of schemas --------------------------------------------------------

Configuration CfgRecogniser::unwrap(Configuration config) const {
  config.lex &= ~kInside;
  config.frame = site_frames_[config.frame].frame;
  return config;
}

Configuration CfgRecogniser::wrap(std::uint32_t site, Configuration inner) {
  if (inner.dead()) return {};
  const std::uint64_t key = pair_key(site, inner.frame);
  auto known = site_frame_of_.find(key);
  if (known == site_frame_of_.end()) {
    const auto id = static_cast<std::uint32_t>(site_frames_.size());
    site_frames_.push_back({site, inner.frame});
    known = site_frame_of_.emplace(key, id).first;
    bytes_ += 64;
  }
  return {inner.lex | kInside, known->second, inner.count, inner.extra};
}

Configuration CfgRecogniser::with_inner(Configuration like,
                                        Configuration inner) {
  const SiteFrame in = site_frames_[like.frame];
  if (inner.frame != in.frame || inner.dead()) return wrap(in.site, inner);
  return {inner.lex | kInside, like.frame, inner.count, inner.extra};
}

std::uint32_t CfgRecogniser::intern_site(StateId state, ContextId context) {
  const std::uint64_t key = pair_key(state, context);
  const auto known = site_of_item_.find(key);
  if (known != site_of_item_.end()) return known->second;
  const auto id = static_cast<std::uint32_t>(sites_.size());
  sites_.push_back({.state = state,
                    .context = context,
                    .forced_text = forced_from(network_.states[state].next)});
  site_of_item_.emplace(key, id);
  bytes_ += 64 + sizeof(SchemaSite) + sites_.back().forced_text.capacity();
  return id;
}

Configuration CfgRecogniser::enter_site(const Item& item) {
  const std::uint32_t site = intern_site(item.state, item.context);
  return wrap(site, item.inner == 0 ? schema_of(sites_[site]).start()
                                    : configs_[item.inner]);
}

// The literal text that follows state `id` inside its own rule, cut off at the
// length of the longest token.
std::string CfgRecogniser::forced_from(StateId id) const {
  constexpr std::size_t kLong = 256;
  std::string text;
  for (;;) {
    const NetworkState& state = network_.states[id];
    if (text.size() >= kLong) return text;
    if (state.action == Action::kBytes) {
      text += network_.texts[state.index];
      text.resize(std::min(text.size(), kLong));
      id = state.next;
    } else if (state.action == Action::kPass && state.epsilon.size() == 1) {
      id = state.epsilon[0];
    } else {
      return text;
    }
  }
}

// The configuration after the text of the schema.  The result is stored with
// the read sets it depends on, which are tracked again at every call.
Configuration CfgRecogniser::exit_of(std::uint32_t id) {
  read_past_part_ = true;
  if (sites_[id].exit_known) {
    for (const std::uint32_t read_set : sites_[id].read_sets) track(read_set);
    return sites_[id].exit;
  }
  const SchemaSite site = sites_[id];
  const Tracking outer = push_tracking();
  const Configuration exit =
      configuration({{network_.states[site.state].next, site.context, 0, 0}});
  track(made_read_set_);
  constexpr std::string_view kOfNumbers = "0123456789.eE+-";
  const bool ends_numbers = std::all_of(
      kOfNumbers.begin(), kOfNumbers.end(),
      [&](char c) { return step(exit, static_cast<std::uint8_t>(c)).dead(); });
  sites_[id].exit = exit;
  sites_[id].ends_numbers = ends_numbers;
  sites_[id].read_sets = pop_tracking(outer);
  sites_[id].exit_known = true;
  return exit_of(id);
}

// While the text of the schema cannot end, only the schema reads.  Where it can
// end, `byte` may belong to the schema, to what follows it, or to either; in
// the last case the configuration leaves the schema and holds the items of
// both.
Configuration CfgRecogniser::site_step(Configuration config,
                                       std::uint8_t byte) {
  const std::uint32_t id = site_frames_[config.frame].site;
  Recogniser& schema = schema_of(sites_[id]);
  const Configuration inner = unwrap(config);
  const Configuration next = schema.step(inner, byte);
  if (!schema.can_end(inner)) return with_inner(config, next);
  const Configuration outside = step(exit_of(id), byte);
  if (outside.dead()) return with_inner(config, next);
  if (next.dead()) return outside;
  Items kernel = kernel_of(outside);
  kernel.push_back(
      {sites_[id].state, sites_[id].context, intern_config(next), 0});
  const Configuration both = configuration(std::move(kernel));
  track(made_read_set_);
  return both;
}

base::ByteSet CfgRecogniser::first_bytes(Configuration config) {
  if (config.dead()) return {};
  if (inside(config)) {
    Recogniser& schema = schema_of(site_of(config));
    const Configuration inner = unwrap(config);
    return schema.can_end(inner) ? base::kAllBytes : schema.first_bytes(inner);
  }
  if (const base::ByteSet* const known = readable_bytes(config.lex)) {
    return *known;
  }
  base::ByteSet set = {};
  const automata::ByteTable& same = byte_classes(config.lex);
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

// --- Parts -------------------------------------------------------------------

Recogniser::PartPosition CfgRecogniser::part_at(Configuration config) {
  if (config.dead() || !inside(config)) return {};
  const SchemaSite& site = site_of(config);
  Recogniser& part = schema_of(site);
  const Configuration inner = unwrap(config);
  if (part.broken() || part.can_end(inner)) return {};
  return {.part = &part, .config = inner, .text_after = site.forced_text};
}

// Where the text of the part may end, what follows it may be read as well, so
// there only what is known of a lexeme holds.  What may follow a value that is
// the whole text of the part is not decided by the part: there is no
// Hint::value, and a number goes on as the part says only if what follows
// cannot begin like the rest of a number.
recogniser::Hint CfgRecogniser::hint(Configuration config) {
  if (config.dead() || !inside(config)) return {};
  Recogniser& part = schema_of(site_of(config));
  const Configuration inner = unwrap(config);
  const bool alone = !part.can_end(inner);
  recogniser::Hint hint = part.hint(inner);
  const bool is_whole_text = std::exchange(hint.is_whole_text, false);
  const auto translate = [&](Configuration& one) {
    one = with_inner(config, one);
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
      const std::uint32_t site = site_frames_[config.frame].site;
      exit_of(site);
      if (!sites_[site].ends_numbers) return {};
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
  return with_inner(config,
                    schema_of(site_of(config)).resume(unwrap(config), left));
}

Configuration CfgRecogniser::step_or_value(Configuration config,
                                           std::uint8_t byte) {
  if (config.dead() || !inside(config)) return step(config, byte);
  Recogniser& part = schema_of(site_of(config));
  const Configuration inner = unwrap(config);
  return part.can_end(inner)
             ? step(config, byte)
             : with_inner(config, part.step_or_value(inner, byte));
}

std::optional<base::ByteSet> CfgRecogniser::exception_bytes(
    Configuration config) {
  if (config.dead() || !inside(config)) return std::nullopt;
  return schema_of(site_of(config)).exception_bytes(unwrap(config));
}

bool CfgRecogniser::any_digits(Configuration config) {
  if (config.dead() || !inside(config)) return false;
  Recogniser& part = schema_of(site_of(config));
  const Configuration inner = unwrap(config);
  return part.any_digits(inner) && !part.can_end(inner);
}

std::optional<std::uint32_t> CfgRecogniser::chars_needed(Configuration from,
                                                         Configuration to) {
  if (!inside(from) || !inside(to) ||
      site_frames_[from.frame].site != site_frames_[to.frame].site) {
    return std::nullopt;
  }
  return schema_of(site_of(from)).chars_needed(unwrap(from), unwrap(to));
}

}  // namespace parlance::cfg_recogniser
