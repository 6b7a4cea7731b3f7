// The law of the sampler, in llama.cpp's own chains and without a model: what
// it leaves is what a new matcher allows that reads the same tokens; after a
// token that does not fit, and after the end, it leaves everything.

#include "sampler.h"

#include <llama.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "parlance/parlance.h"

namespace {

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "FAILED: %s\n", what);
  std::exit(1);
}

// Candidates as samplers before this one may leave them: in any order, and not
// all.
std::vector<llama_token_data> candidates(std::size_t tokens,
                                         std::mt19937& random) {
  std::vector<llama_token_data> out;
  for (std::size_t id = 0; id < tokens; ++id) {
    if (random() % 8 == 0) continue;
    out.push_back({static_cast<llama_token>(id), 1.0F, 0.0F});
  }
  std::ranges::shuffle(out, random);
  return out;
}

void check_left(llama_sampler* sampler, const parlance::Constraint& constraint,
                const std::vector<parlance::TokenId>& read, std::size_t tokens,
                std::mt19937& random) {
  parlance::Matcher matcher = constraint.matcher();
  bool all = matcher.accept_tokens(read) < read.size();
  all = all || matcher.is_terminated();
  std::vector<std::int32_t> row(matcher.mask_words());
  if (!all) {
    all = matcher.fill_bitmask(row) == parlance::MaskFill::kExcludesNothing;
  }

  std::vector<llama_token_data> data = candidates(tokens, random);
  llama_token_data_array array = {data.data(), data.size(), -1, true};
  llama_sampler_apply(sampler, &array);
  for (std::size_t i = 0; i < array.size; ++i) {
    const auto id = static_cast<std::uint32_t>(array.data[i].id);
    const auto word =
        id / 32 < row.size() ? static_cast<std::uint32_t>(row[id / 32]) : 0;
    const bool wanted = all || (word >> (id % 32) & 1) != 0;
    check(std::isinf(array.data[i].logit) != wanted, "the mask");
  }
}

}  // namespace

int main() {
  std::vector<parlance::TokenEntry> entries;
  for (const char* bytes : {"[", "]", ",", "1", "22", "true", "]]", "<end>"}) {
    entries.push_back(
        {.id = static_cast<parlance::TokenId>(entries.size()), .bytes = bytes});
  }
  entries.back().kind = parlance::TokenKind::kControl;
  const std::vector<parlance::TokenId> stops = {entries.back().id};
  const auto vocabulary = parlance::Vocabulary::from_table(
      entries, std::span<const parlance::TokenId>(stops));
  check(vocabulary.has_value(), "the vocabulary");
  const auto compiler = parlance::Compiler::create(*vocabulary);
  check(compiler.has_value(), "the compiler");
  const auto constraint = compiler->compile_json_schema(
      R"({"type": "array", "items": {"type": ["array", "integer"]}})");
  check(constraint.has_value(), "the constraint");

  // As wide as the model's logits may be.
  const std::size_t tokens = entries.size() + 40;
  llama_sampler* chain =
      llama_sampler_chain_init(llama_sampler_chain_default_params());
  llama_sampler_chain_add(chain, init_constraint_sampler(*constraint));
  std::mt19937 random(7);
  for (int walk = 0; walk < 300; ++walk) {
    llama_sampler_reset(chain);
    llama_sampler* sampler = chain;
    std::vector<parlance::TokenId> read;
    for (int step = 0; step < 12; ++step) {
      check_left(sampler, *constraint, read, tokens, random);
      check_left(sampler, *constraint, read, tokens, random);
      if (sampler == chain && random() % 6 == 0) {
        // A beam: the copy goes on, the chain stays.
        sampler = llama_sampler_clone(chain);
        const auto other = static_cast<llama_token>(random() % entries.size());
        llama_sampler_accept(chain, other);
      }
      const auto id = static_cast<parlance::TokenId>(random() % entries.size());
      llama_sampler_accept(sampler, static_cast<llama_token>(id));
      read.push_back(id);
    }
    if (sampler != chain) llama_sampler_free(sampler);
  }

  llama_sampler_reset(chain);
  const llama_sampler* own = llama_sampler_chain_get(chain, 0);
  check(constraint_state(own) == ConstraintState::kOpen, "open");
  for (const llama_token id : {0, 1, 7}) llama_sampler_accept(chain, id);
  check(constraint_state(own) == ConstraintState::kEnded, "ended");
  llama_sampler_reset(chain);
  llama_sampler_accept(chain, 2);
  check(constraint_state(own) == ConstraintState::kBroken, "broken");
  llama_sampler_free(chain);
  std::puts("ok");
  return 0;
}
