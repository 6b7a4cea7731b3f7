// A step of a server.

#include "parlance/batch.h"

#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "calls.h"

namespace parlance::c {

namespace {

// The steps of a caller, which may have longer structs.
class Steps {
 public:
  Steps(parlance_step* steps, std::size_t count, std::size_t step_size)
      : at_(reinterpret_cast<unsigned char*>(steps)),
        count_(count),
        step_size_(step_size) {
    if (count > 0) need(steps, "steps");
    check_stride(step_size, sizeof(parlance_step), "step_size");
  }
  std::size_t size() const { return count_; }
  parlance_step& operator[](std::size_t i) {
    return *reinterpret_cast<parlance_step*>(at_ + i * step_size_);
  }

 private:
  unsigned char* at_;
  std::size_t count_;
  std::size_t step_size_;
};

BatchInput input_of(const parlance_step& step) {
  BatchInput in{.row = step.row};
  in.tokens = list_of(step.tokens, step.token_count, "tokens of a step");
  if (step.mask_row < -1) {
    misuse(PARLANCE_BAD_ARGUMENT, "mask_row of a step", "is less than -1");
  }
  if (step.mask_row >= 0) {
    in.mask_row = static_cast<std::size_t>(step.mask_row);
  }
  in.first_child =
      list_of(step.first_child, step.nodes, "first_child of a step");
  in.next_sibling =
      list_of(step.next_sibling, step.nodes, "next_sibling of a step");
  in.draft_tokens =
      list_of(step.draft_tokens, step.nodes, "draft_tokens of a step");
  in.time_limit = std::chrono::nanoseconds(step.nanoseconds);
  return in;
}

void forget(parlance_step& step) {
  step.accepted = 0;
  step.filled = 0;
  step.events = nullptr;
  step.event_count = 0;
  step.mask_id = PARLANCE_MASK_NOT_LISTED;
  step.flags = 0;
}

void write(const BatchOutput& made, parlance_step& step) {
  step.accepted = made.accepted;
  step.filled = made.filled;
  step.mask_id = made.mask_id;
  if (made.terminated) step.flags |= PARLANCE_STEP_TERMINATED;
  if (made.failed) step.flags |= PARLANCE_STEP_FAILED;
  if (made.constrained) step.flags |= PARLANCE_STEP_CONSTRAINED;
}

}  // namespace

PARLANCE_C_FUNCTIONS_BEGIN

parlance_status parlance_batch_new(uint32_t threads, parlance_batch** out,
                                   parlance_error** error) {
  return call(error, [&] {
    Out made(out, "out");
    made.set(threads);
  });
}

void parlance_batch_free(parlance_batch* batch) { drop_reference(batch); }

parlance_status parlance_batch_add(parlance_batch* batch,
                                   parlance_matcher* matcher,
                                   parlance_parser* parser, uint32_t* row,
                                   parlance_error** error) {
  return call(error, [&] {
    Out number(row, "row");
    const Use used(batch, "batch");
    const auto masks = Use<parlance_matcher>::maybe(matcher, "matcher");
    const auto reads = Use<parlance_parser>::maybe(parser, "parser");
    if ((matcher != nullptr && matcher->in_batch) ||
        (parser != nullptr && parser->in_batch)) {
      fail({.code = ErrorCode::kUsage,
            .message = "the matcher or the parser has a row already"});
    }
    BatchRow added;
    if (matcher != nullptr) added.matcher = &matcher->value;
    if (parser != nullptr) {
      if (!parser->value->reads_tokens()) {
        fail({.code = ErrorCode::kUsage,
              .message = "the parser of a row reads token ids, so it needs "
                         "a vocabulary"});
      }
      added.parser = parser->by_format;
      added.tag_parser = parser->by_tag;
    }
    // A number that is new is at most the number of rows.
    used->rows.reserve(used->rows.size() + 1);
    const std::uint32_t made = used->value.add(added);
    if (made >= used->rows.size()) used->rows.resize(made + 1);
    parlance_batch::Row& kept = used->rows[made];
    kept.matcher = Kept(matcher);
    kept.parser = Kept(parser);
    kept.used = true;
    if (matcher != nullptr) matcher->in_batch = true;
    if (parser != nullptr) parser->in_batch = true;
    number.set(made);
  });
}

parlance_status parlance_batch_remove(parlance_batch* batch, uint32_t row) {
  return call(nullptr, [&] {
    const Use used(batch, "batch");
    if (row >= used->rows.size() || !used->rows[row].used ||
        !used->value.remove(row)) {
      misuse(PARLANCE_BAD_ARGUMENT, "row", "is none of the batch");
    }
    parlance_batch::leave(used->rows[row]);
    used->rows[row] = {};
  });
}

parlance_status parlance_batch_step(parlance_batch* batch, parlance_step* steps,
                                    size_t count, size_t step_size,
                                    int32_t* masks, size_t words, size_t stride,
                                    parlance_table* table, float* temperatures,
                                    size_t temperature_count, size_t event_size,
                                    parlance_error** error) {
  return call(error, [&] {
    Steps all(steps, count, step_size);
    for (std::size_t i = 0; i < all.size(); ++i) forget(all[i]);
    check_stride(event_size, sizeof(parlance_event), "event_size");
    const auto buffer = list_of(masks, words, "masks");
    const auto warm = list_of(temperatures, temperature_count, "temperatures");
    const Use used(batch, "batch");
    MaskTable* const numbers = value_or_null(table, "table");

    // Every matcher and parser of the step, for this call alone.
    std::vector<Use<parlance_matcher>> matchers;
    std::vector<Use<parlance_parser>> parsers;
    std::vector<parlance_parser*> parser_of(count, nullptr);
    std::vector<bool> seen(used->rows.size(), false);
    std::vector<BatchInput> inputs;
    std::vector<BatchOutput> outputs(count);
    matchers.reserve(count);
    parsers.reserve(count);
    inputs.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      inputs.push_back(input_of(all[i]));
      const std::uint32_t number = all[i].row;
      // Batch::step() says what is wrong with such a row.
      if (number >= seen.size() || seen[number]) continue;
      seen[number] = true;
      const parlance_batch::Row& row = used->rows[number];
      if (row.matcher) matchers.emplace_back(row.matcher.get(), "a matcher");
      if (row.parser) {
        parsers.emplace_back(row.parser.get(), "a parser");
        parser_of[i] = row.parser.get();
        if (parser_of[i]->lost) {
          fail({.code = ErrorCode::kFinalized,
                .message = "a parser has ended: there was no memory"});
        }
      }
    }
    // If there is no memory, the events of parsers are lost, so they end.
    const auto set_lost = [&](bool lost) {
      for (const auto& parser : parsers) {
        parser->lost = lost;
        parser->events = {};
      }
    };
    set_lost(true);
    if (const auto fault =
            used->value.step(inputs, buffer, stride, outputs, numbers, warm)) {
      set_lost(false);
      fail(*fault);
    }
    for (std::size_t i = 0; i < count; ++i) write(outputs[i], all[i]);
    for (std::size_t i = 0; i < count; ++i) {
      parlance_parser* const parser = parser_of[i];
      if (parser == nullptr) continue;
      parser->lost = false;
      all[i].events = flatten(*parser, outputs[i].events, event_size);
      all[i].event_count = outputs[i].events.size();
    }
  });
}

PARLANCE_C_FUNCTIONS_END

}  // namespace parlance::c
