#ifndef PARLANCE_EXAMPLES_LLAMA_CPP_SAMPLER_H_
#define PARLANCE_EXAMPLES_LLAMA_CPP_SAMPLER_H_

// A constraint of Parlance as a sampler of llama.cpp.
//
//   llama_sampler* chain =
//       llama_sampler_chain_init(llama_sampler_chain_default_params());
//   llama_sampler_chain_add(chain, init_constraint_sampler(constraint));
//   llama_sampler_chain_add(chain, llama_sampler_init_dist(seed));
//   llama_token token = llama_sampler_sample(chain, context, -1);
//
// It stands before the samplers that leave tokens out or choose one: what is
// left must be among what is allowed.  The vocabulary of the constraint is that
// of the model's file (parlance::Vocabulary::from_file()).

#include <llama.h>

#include "parlance/constraint.h"

// A sampler that sets the logits of tokens that the constraint refuses to minus
// infinity.  The chain that it is added to owns it; llama_sampler_free() frees
// it otherwise.  llama_sampler_clone() copies the state; llama_sampler_reset()
// begins a new response.
llama_sampler* init_constraint_sampler(const parlance::Constraint& constraint);

// What a sampler that init_constraint_sampler() made has accepted.
enum class ConstraintState {
  kOpen,   // the text may go on
  kEnded,  // a stop token has come, and nothing may follow
  kBroken  // a token came that does not fit, and nothing is constrained since;
           // or the matcher has an error, and only an end is allowed
};
ConstraintState constraint_state(const llama_sampler* sampler);

#endif  // PARLANCE_EXAMPLES_LLAMA_CPP_SAMPLER_H_
