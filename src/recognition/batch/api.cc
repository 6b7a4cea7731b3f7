// The public Batch.

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/threads.h"
#include "batch/workers.h"
#include "parlance/batch.h"

namespace parlance {
namespace {

// How many rows of the buffer an input fills.
std::size_t masks_of(const BatchInput& input) {
  if (input.mask_row == BatchInput::kNoMask) return 0;
  return std::max<std::size_t>(input.draft_tokens.size(), 1);
}

std::span<const Event> feed(const BatchRow& row,
                            std::span<const TokenId> tokens) {
  if (row.parser != nullptr) return row.parser->feed_tokens(tokens);
  if (row.tag_parser != nullptr) return row.tag_parser->feed_tokens(tokens);
  return {};
}

bool reads_tokens(const BatchRow& row) {
  return (row.parser == nullptr || row.parser->reads_tokens()) &&
         (row.tag_parser == nullptr || row.tag_parser->reads_tokens());
}

bool is_finalized(const BatchRow& row) {
  return (row.parser != nullptr && row.parser->finalized()) ||
         (row.tag_parser != nullptr && row.tag_parser->finalized());
}

// Writes the temperature of the next token, if temperatures are wanted.
void write_temperature(const BatchRow& row, std::span<float> temperatures) {
  if (temperatures.empty()) return;
  std::optional<double> found;
  if (row.matcher != nullptr) found = row.matcher->temperature();
  temperatures[0] = static_cast<float>(found.value_or(std::nan("")));
}

// Writes the masks that `input` asks for, and the temperatures, one for each
// mask, unless these are empty.
void fill(const BatchRow& row, const BatchInput& input,
          std::span<std::int32_t> masks, std::size_t stride,
          std::span<float> temperatures, BatchOutput& output) {
  const std::size_t nodes = input.draft_tokens.size();
  if (row.matcher == nullptr) {
    std::ranges::fill(masks, -1);
    std::ranges::fill(temperatures, std::nanf(""));
    output.filled = masks_of(input);
    return;
  }
  if (nodes == 0) {
    output.constrained =
        row.matcher->fill_bitmask(masks) == MaskFill::kConstrains;
    output.filled = 1;
    write_temperature(row, temperatures);
    return;
  }
  output.filled = row.matcher->fill_tree(input.first_child, input.next_sibling,
                                         input.draft_tokens, masks,
                                         {.time_limit = input.time_limit,
                                          .temperatures = temperatures,
                                          .stride = stride});
  output.constrained = output.filled != 0;
}

// The number of the mask that `input` asks for, if it has one.
std::int32_t number_of(const BatchRow& row, const BatchInput& input,
                       MaskTable* table) {
  if (table == nullptr || input.mask_row == BatchInput::kNoMask ||
      !input.draft_tokens.empty()) {
    return MaskTable::kNotListed;
  }
  return row.matcher == nullptr ? MaskTable::kNothingExcluded
                                : table->id_of(*row.matcher);
}

}  // namespace

struct Batch::State {
  explicit State(unsigned threads) : workers(threads) {}

  const BatchRow* find(std::uint32_t row) const {
    return row < rows.size() && rows[row] ? &*rows[row] : nullptr;
  }
  std::optional<Error> check(std::span<const BatchInput> inputs,
                             std::size_t buffer_rows, std::size_t stride);

  std::vector<std::optional<BatchRow>> rows;  // by number
  std::vector<std::uint32_t> free;
  std::vector<std::uint64_t> last_step;  // by row, for check()
  std::vector<std::pair<std::size_t, std::size_t>> taken;  // rows of the buffer
  std::uint64_t steps = 0;
  batch::Workers workers;
};

// Why a step may not be made: everything that REQUIRES says, before anything is
// changed.  O(inputs), and O(n log n) where rows of masks are not in order.
std::optional<Error> Batch::State::check(std::span<const BatchInput> inputs,
                                         std::size_t buffer_rows,
                                         std::size_t stride) {
  ++steps;
  taken.clear();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const BatchInput& input = inputs[i];
    const auto wrong = [&](std::string what,
                           ErrorCode code = ErrorCode::kUsage) {
      return Error{.code = code,
                   .message = "Input " + std::to_string(i) + " (row " +
                              std::to_string(input.row) + "): " + what};
    };
    const BatchRow* row = find(input.row);
    if (row == nullptr) return wrong("the batch has no such row.");
    if (last_step[input.row] == steps) return wrong("the row is listed twice.");
    last_step[input.row] = steps;
    if (row->parser != nullptr && row->tag_parser != nullptr) {
      return wrong("the row has two parsers.");
    }
    if (!reads_tokens(*row)) {
      return wrong(
          "its parser was made without a vocabulary, so it reads text.");
    }
    if (is_finalized(*row)) {
      return wrong("its parser is finalized.", ErrorCode::kFinalized);
    }
    if (!input.draft_tokens.empty() || !input.first_child.empty() ||
        !input.next_sibling.empty()) {
      const auto error = check_draft_tree(input.first_child, input.next_sibling,
                                          input.draft_tokens);
      if (error) return wrong(error->message);
    }
    const std::size_t masks = masks_of(input);
    if (masks == 0) continue;
    if (input.mask_row >= buffer_rows || masks > buffer_rows - input.mask_row) {
      return wrong("it needs " + std::to_string(masks) +
                   " rows of the buffer from row " +
                   std::to_string(input.mask_row) + " on, and there are " +
                   std::to_string(buffer_rows) + ".");
    }
    if (row->matcher != nullptr && row->matcher->mask_words() > stride) {
      return wrong("a mask has " + std::to_string(row->matcher->mask_words()) +
                   " words, and the stride is " + std::to_string(stride) + ".");
    }
    taken.emplace_back(input.mask_row, input.mask_row + masks);
  }
  if (!std::ranges::is_sorted(taken)) std::ranges::sort(taken);
  for (std::size_t i = 1; i < taken.size(); ++i) {
    if (taken[i].first < taken[i - 1].second) {
      return Error{.code = ErrorCode::kUsage,
                   .message = "Row " + std::to_string(taken[i].first) +
                              " of the buffer receives two masks; a draft tree "
                              "takes as many rows as it has nodes."};
    }
  }
  return std::nullopt;
}

Batch::Batch(const BatchOptions& options)
    : state_(std::make_unique<State>(base::thread_count(options.threads))) {}
Batch::~Batch() = default;
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;

std::uint32_t Batch::add(const BatchRow& row) {
  State& state = *state_;
  if (state.free.empty()) {
    const std::size_t number = state.rows.size();
    state.last_step.resize(number + 1, 0);
    state.rows.emplace_back(row);
    return static_cast<std::uint32_t>(number);
  }
  const std::uint32_t number = state.free.back();
  state.free.pop_back();
  state.rows[number] = row;
  return number;
}

bool Batch::remove(std::uint32_t row) {
  if (state_->find(row) == nullptr) return false;
  state_->free.push_back(row);
  state_->rows[row].reset();
  return true;
}

std::size_t Batch::size() const {
  return state_->rows.size() - state_->free.size();
}

std::optional<Error> Batch::step(std::span<const BatchInput> inputs,
                                 std::span<std::int32_t> buffer,
                                 std::size_t stride,
                                 std::span<BatchOutput> outputs,
                                 MaskTable* table,
                                 std::span<float> temperatures) {
  State& state = *state_;
  const std::size_t buffer_rows = stride == 0 ? 0 : buffer.size() / stride;
  if (outputs.size() < inputs.size()) {
    return Error{.code = ErrorCode::kUsage,
                 .message = "There are " + std::to_string(inputs.size()) +
                            " inputs and " + std::to_string(outputs.size()) +
                            " outputs; each input has one."};
  }
  if (!temperatures.empty() && temperatures.size() < buffer_rows) {
    return Error{.code = ErrorCode::kUsage,
                 .message = "There are " + std::to_string(temperatures.size()) +
                            " temperatures, and the buffer has " +
                            std::to_string(buffer_rows) + " rows."};
  }
  if (auto error = state.check(inputs, buffer_rows, stride)) return error;
  // Rows and rows of the buffer are disjoint, so the items share nothing that
  // is written.
  state.workers.run(inputs.size(), [&](std::size_t i) {
    const BatchInput& input = inputs[i];
    const BatchRow& row = *state.find(input.row);
    BatchOutput& output = outputs[i];
    output.accepted = row.matcher != nullptr
                          ? row.matcher->accept_tokens(input.tokens)
                          : input.tokens.size();
    output.terminated = row.matcher != nullptr && row.matcher->is_terminated();
    output.events = feed(row, input.tokens.first(output.accepted));
    const std::size_t masks = masks_of(input);
    output.mask_id = number_of(row, input, table);
    output.constrained = false;
    output.filled = 0;
    const auto end = [&] {
      output.failed = row.matcher != nullptr && row.matcher->error();
    };
    if (masks == 0) return end();
    const std::span<float> heat =
        temperatures.empty() ? temperatures
                             : temperatures.subspan(input.mask_row, masks);
    if (output.mask_id != MaskTable::kNotListed) {
      output.constrained = output.mask_id != MaskTable::kNothingExcluded;
      output.filled = 1;
      write_temperature(row, heat);
      return end();
    }
    fill(row, input, buffer.subspan(input.mask_row * stride, masks * stride),
         stride, heat, output);
    end();
  });
  return std::nullopt;
}

}  // namespace parlance
