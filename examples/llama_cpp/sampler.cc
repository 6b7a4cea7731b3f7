#include "sampler.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

struct State {
  explicit State(parlance::Matcher read)
      : matcher(std::move(read)), row(matcher.mask_words()) {}

  parlance::Matcher matcher;
  // The mask after the accepted tokens, where `is_filled`.
  std::vector<std::int32_t> row;
  bool is_filled = false;
  bool is_free = false;  // every token is allowed
  bool is_broken = false;
};

State& state_of(const llama_sampler* sampler) {
  return *static_cast<State*>(sampler->ctx);
}

const char* name(const llama_sampler*) { return "parlance"; }

void accept(llama_sampler* sampler, llama_token token) {
  State& state = state_of(sampler);
  state.is_filled = false;
  // Hosts may go on after the end, for other samplers of the chain.
  if (state.is_broken || state.matcher.is_terminated()) return;
  state.is_broken =
      !state.matcher.accept_token(static_cast<parlance::TokenId>(token));
}

void apply(llama_sampler* sampler, llama_token_data_array* candidates) {
  State& state = state_of(sampler);
  if (state.is_broken || state.matcher.is_terminated()) return;
  // A chain may be applied twice to one step.
  if (!state.is_filled) {
    state.is_free = state.matcher.fill_bitmask(state.row) ==
                    parlance::MaskFill::kExcludesNothing;
    state.is_filled = true;
  }
  if (state.is_free) return;
  // The candidates may be sorted, and some may have been left out.
  const std::size_t size = 32 * state.row.size();
  for (std::size_t i = 0; i < candidates->size; ++i) {
    llama_token_data& candidate = candidates->data[i];
    const auto id = static_cast<std::size_t>(candidate.id);
    const bool allowed =
        id < size &&
        (static_cast<std::uint32_t>(state.row[id / 32]) >> (id % 32) & 1) != 0;
    if (!allowed) candidate.logit = -INFINITY;
  }
  // Their order is not that of the logits any more.
  candidates->sorted = false;
}

void reset(llama_sampler* sampler) {
  State& state = state_of(sampler);
  state.matcher.reset();
  state.is_filled = false;
  state.is_broken = false;
}

llama_sampler* clone(const llama_sampler* sampler);

void free_state(llama_sampler* sampler) { delete &state_of(sampler); }

// Members that newer headers add stay null: sampling on the device is not
// supported.
llama_sampler_i& interface() {
  static llama_sampler_i made = [] {
    llama_sampler_i out = {};
    out.name = name;
    out.accept = accept;
    out.apply = apply;
    out.reset = reset;
    out.clone = clone;
    out.free = free_state;
    return out;
  }();
  return made;
}

llama_sampler* clone(const llama_sampler* sampler) {
  const State& from = state_of(sampler);
  auto* state = new State(from.matcher.copy());
  state->is_broken = from.is_broken;
  return llama_sampler_init(&interface(), state);
}

}  // namespace

llama_sampler* init_constraint_sampler(const parlance::Constraint& constraint) {
  return llama_sampler_init(&interface(), new State(constraint.matcher()));
}

ConstraintState constraint_state(const llama_sampler* sampler) {
  const State& state = state_of(sampler);
  // After an error of the matcher only an end is allowed, wherever it is.
  if (state.is_broken || state.matcher.error()) return ConstraintState::kBroken;
  return state.matcher.is_terminated() ? ConstraintState::kEnded
                                       : ConstraintState::kOpen;
}
