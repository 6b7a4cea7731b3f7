#ifndef PARLANCE_BATCH_H_
#define PARLANCE_BATCH_H_

// A step of an inference server in one call.
//
//   Batch batch;
//   id = batch.add({.matcher = &matcher, .parser = &parser});  // a request
//   ...
//   inputs[i] = {.row = id, .tokens = {&sampled, 1}, .mask_row = i};
//   auto error = batch.step(inputs, masks, stride, outputs);  // every step
//   send(outputs[i].events);                       // if there is no error
//   ...
//   batch.remove(id);                                     // it is over
//   send(parser.finalize());
//
// One step accepts the tokens that the model generated for each row, feeds the
// same tokens to the row's parser, and fills the masks of the next tokens, on
// several threads.
//
// Law: the result of a step is that of calling, for each row,
// Matcher::accept_tokens(), ResponseParser::feed_tokens(), and either
// Matcher::fill_bitmask() and temperature() or Matcher::fill_tree(), whatever
// the number of threads.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "parlance/constraint.h"
#include "parlance/error.h"
#include "parlance/message.h"
#include "parlance/response_parser.h"
#include "parlance/tag_parser.h"
#include "parlance/vocabulary.h"

namespace parlance {

struct BatchOptions {
  // Threads of a step, the caller's included; 0: as many as the machine has, at
  // most 256.  The other threads are started by the first step that has work
  // for them, and wait between steps.  If the system cannot start a thread, a
  // step uses fewer.
  unsigned threads = 0;
};

// What a row consists of.  Each member may be null.  The objects belong to the
// caller.
//
// REQUIRES: they exist, and no other row has them, until the row is removed; at
// most one of the parsers is given, it was made with a vocabulary, and it is
// not finalized while the row takes part in a step.
struct BatchRow {
  Matcher* matcher = nullptr;
  ResponseParser* parser = nullptr;
  TagParser* tag_parser = nullptr;
};

// A row's part in a step.
struct BatchInput {
  static constexpr std::size_t kNoMask = SIZE_MAX;

  std::uint32_t row = 0;  // from Batch::add()

  // The tokens that were generated since the last step: one, several if draft
  // tokens were accepted, or none.
  std::span<const TokenId> tokens = {};

  // Which row of the buffer receives the mask of the next token.  Default: no
  // mask is needed.
  std::size_t mask_row = kNoMask;

  // A draft tree, as in Matcher::fill_tree(): then the masks after its nodes go
  // to the rows from mask_row on, one for each node.  Default: no tree.
  std::span<const std::int64_t> first_child = {};
  std::span<const std::int64_t> next_sibling = {};
  std::span<const std::int64_t> draft_tokens = {};
  // As TreeOptions::time_limit, for this tree.
  std::chrono::nanoseconds time_limit{0};
};

// The result of a step for one row.
struct BatchOutput {
  // How many of the tokens the matcher accepted; without a matcher, all.  The
  // parser has read these and no others.
  std::size_t accepted = 0;
  // Matcher::is_terminated(); false without a matcher.
  bool terminated = false;
  // Whether Matcher::error() is set, after the tokens and the mask.
  bool failed = false;
  // Whether masks were written that must be applied.  False if none was asked
  // for, if the row has no matcher, or if the mask excludes nothing.  Rows of
  // the buffer for a row without a matcher have every bit set.
  bool constrained = false;
  // How many masks were written or given by number; for a draft tree, how many
  // nodes were visited, as in Matcher::fill_tree().
  std::size_t filled = 0;
  // With a table of masks: the number of the mask, or kNothingExcluded, and
  // then nothing was written to the buffer.  kNotListed: the mask, if one was
  // asked for, is in the buffer.
  std::int32_t mask_id = MaskTable::kNotListed;
  // The events of the row's parser, valid until it is used again.
  std::span<const Event> events = {};
};

// Rows that are stepped together.  Movable, not copyable.  One thread at a time
// calls a batch.  After fork() the child has the rows, unless a step was being
// made, and its first step starts threads of its own.
class Batch {
 public:
  explicit Batch(const BatchOptions& options = {});
  ~Batch();
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;

  // Adds a row and returns its number, which is free again after remove().
  std::uint32_t add(const BatchRow& row);
  // Returns false if there is no such row.  Between two steps the objects of a
  // row may be used like any others.
  bool remove(std::uint32_t row);
  // How many rows there are.
  std::size_t size() const;

  // Makes one step of the rows that `inputs` lists; others stay as they are.
  // outputs[i] is for inputs[i].  Row r of `buffer` begins at word r * stride.
  //
  // REQUIRES: every row exists, is listed once, and is what BatchRow requires;
  // `outputs` has an item for each input; rows of masks are inside the buffer
  // and are not given twice; stride is at least the mask_words() of the rows'
  // matchers; check_draft_tree() finds no error in a draft tree.  Otherwise
  // nothing is done, and the call returns an error that says what is wrong with
  // which input: kFinalized for a parser that is finalized, else kUsage.
  //
  // `table`: masks that it has, or can take, are given by number and not
  // written, except those of draft trees.
  //
  // `temperatures`: temperatures[r] receives the temperature
  // (Matcher::temperature()) for the token whose mask is row r, also if that
  // mask is given by number.  NaN: there is none, the row has no matcher, or
  // the tokens of the draft are not allowed.  The numbers of other rows stay as
  // they are.  REQUIRES: it is empty, or has a number for each row of the
  // buffer.
  std::optional<Error> step(std::span<const BatchInput> inputs,
                            std::span<std::int32_t> buffer, std::size_t stride,
                            std::span<BatchOutput> outputs,
                            MaskTable* table = nullptr,
                            std::span<float> temperatures = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace parlance

#endif  // PARLANCE_BATCH_H_
