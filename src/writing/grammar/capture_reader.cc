// Reads texts for captures: see capture_reader.h.

#include "grammar/capture_reader.h"

#include <algorithm>
#include <utility>

#include "base/access.h"
#include "parlance/grammar.h"

namespace parlance::grammar {

using cfg_recogniser::EarleyRecogniser;

bool has_captures(const rules::Rules& rules) {
  return std::ranges::any_of(rules.rules,
                             [](const rules::Rule& rule) {
                               return !rule.options.capture.empty() ||
                                      !rule.options.marker_capture.empty();
                             }) ||
         std::ranges::any_of(rules.free_texts,
                             [](const rules::FreeTextExpr& text) {
                               return std::ranges::any_of(
                                   text.triggers, [](const auto& trigger) {
                                     return !trigger.capture.empty();
                                   });
                             });
}

// --- CaptureReader -----------------------------------------------------------

Result<std::unique_ptr<CaptureReader>> CaptureReader::make(
    const CaptureSource& source, std::size_t max_items) {
  std::unique_ptr<CaptureReader> out(new CaptureReader);
  out->source_ = source;
  std::vector<recogniser::Recogniser*> readers;
  for (const GrammarImpl::EmbeddedSchema& embedded : source.schemas) {
    JsonSchemaOptions options = embedded.options;
    options.limits.cancelled = nullptr;
    Result<Grammar> made = Grammar::from_json_schema(*embedded.schema, options);
    if (!made && made.error().code != ErrorCode::kUnsatisfiable) {
      return std::move(made).error();
    }
    out->schemas_.push_back(
        made ? detail::Access::impl(*made)->language->with_room() : nullptr);
    readers.push_back(out->schemas_.back().get());
  }
  out->recogniser_ = std::make_unique<EarleyRecogniser>(
      *source.rules, readers, max_items, source.marks.get());
  out->recogniser_->record();
  out->start();
  return out;
}

std::optional<Error> CaptureReader::feed(std::string_view bytes,
                                         const Interrupt& interrupt) {
  while (!bytes.empty()) {
    if (auto error = cancelled(interrupt)) return error;
    if (read_mark(&bytes)) continue;
    recogniser_->feed(place_, static_cast<std::uint8_t>(bytes.front()));
    if (!recogniser_->alive(place_)) return failed();
    add(bytes.substr(0, 1));
    bytes.remove_prefix(1);
  }
  return end_step();
}

// Asks only every 64 symbols, because the callback may cost more than reading a
// symbol.
std::optional<Error> CaptureReader::cancelled(const Interrupt& interrupt) {
  constexpr std::size_t kEvery = 64;
  if (interrupt.cancelled == nullptr || ++asked_ % kEvery != 0 ||
      !interrupt.cancelled(interrupt.argument)) {
    return std::nullopt;
  }
  undo_step();
  return Error{ErrorCode::kTooLarge, "The reading was cancelled."};
}

bool CaptureReader::read_mark(std::string_view* bytes) {
  if (source_.marks == nullptr) return false;
  const rules::Mark* const mark =
      source_.marks->spelled_at(*bytes, [&](const rules::Mark& one) {
        recogniser_->feed_token(place_, one.ids.front(), {});
        if (recogniser_->alive(place_)) return true;
        recogniser_->truncate(place_, offsets_.size() - 1);
        return false;
      });
  if (mark == nullptr) return false;
  add(mark->spelling);
  bytes->remove_prefix(mark->spelling.size());
  return true;
}

std::optional<Error> CaptureReader::feed(rules::Token id,
                                         std::string_view bytes,
                                         std::string_view shown,
                                         const Interrupt& interrupt) {
  if (auto error = cancelled(interrupt)) return error;
  recogniser_->feed_token(place_, id, bytes);
  if (!recogniser_->alive(place_)) return failed();
  if (bytes.empty()) {
    add(shown);
  } else {
    for (const char& byte : bytes) add(std::string_view(&byte, 1));
  }
  return end_step();
}

std::optional<Error> CaptureReader::end_step() {
  // Some ways to read the text may be missing.
  if (schemas_overflowed()) return failed();
  step_ends_.push_back(offsets_.size() - 1);
  return std::nullopt;
}

void CaptureReader::add(std::string_view bytes) {
  text_ += bytes;
  offsets_.push_back(text_.size());
}

void CaptureReader::truncate(std::size_t steps) {
  if (steps >= this->steps()) return;
  step_ends_.resize(steps + 1);
  undo_step();
}

// Returns to the end of the last whole step.
void CaptureReader::undo_step() {
  const std::size_t at = step_ends_.back();
  undone_ += offsets_.size() - 1 - at;
  recogniser_->truncate(place_, at);
  offsets_.resize(at + 1);
  text_.resize(offsets_.back());
}

std::optional<Error> CaptureReader::failed() {
  const std::size_t at = text_.size();
  const bool many_items = recogniser_->overflowed(place_);
  undo_step();
  if (many_items) {
    return Error{ErrorCode::kTooLarge,
                 "The text has more ways to be read than max_items allows."};
  }
  if (schemas_overflowed()) {
    return Error{ErrorCode::kTooLarge,
                 "A schema of the grammar needs more memory than its limits "
                 "allow."};
  }
  return Error{ErrorCode::kInvalidContent,
               "The text does not fit the grammar from here on.",
               {},
               Span{at, at + 1}};
}

bool CaptureReader::schemas_full() const {
  return std::ranges::any_of(schemas_, [](const auto& schema) {
    return schema != nullptr && schema->full();
  });
}

bool CaptureReader::worn() const {
  constexpr std::size_t kMuch = 100'000;
  return undone_ > offsets_.size() &&
         (schemas_full() || recogniser_->interned() > kMuch);
}

bool CaptureReader::schemas_overflowed() const {
  return std::ranges::any_of(schemas_, [](const auto& schema) {
    return schema != nullptr && schema->overflowed();
  });
}

void CaptureReader::clear() {
  undone_ = 0;
  text_.clear();
  offsets_.assign(1, 0);
  step_ends_.assign(1, 0);
  place_ = {};
  recogniser_->forget();
}

// The prefix is no step, so that it is never undone.
void CaptureReader::start() {
  place_ = recogniser_->start();
  if (source_.rules->prefix.empty()) return;
  feed(source_.rules->prefix);
  step_ends_.assign(1, offsets_.size() - 1);
}

std::vector<RuleCapture> CaptureReader::captures() const {
  std::vector<RuleCapture> out;
  for (const EarleyRecogniser::Captured& one : recogniser_->captures(place_)) {
    RuleCapture made{one.name, {offsets_[one.begin], offsets_[one.end]}, {}};
    std::size_t at = made.bytes.begin;
    for (const auto& [begin, end] : one.hidden) {
      if (offsets_[begin] > at) {
        made.text.append(text_, at, offsets_[begin] - at);
      }
      at = std::max(at, offsets_[end]);
    }
    made.text.append(text_, at, made.bytes.end - at);
    out.push_back(std::move(made));
  }
  return out;
}

// --- CaptureReaders ----------------------------------------------------------

Result<std::unique_ptr<CaptureReader>> CaptureReaders::acquire() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<CaptureReader> reader = std::move(idle_.back());
      idle_.pop_back();
      reader->start();
      return reader;
    }
  }
  return make();
}

void CaptureReaders::release(std::unique_ptr<CaptureReader> reader) {
  reader->clear();
  if (reader->schemas_full()) return;
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMostIdle) idle_.push_back(std::move(reader));
}

std::shared_ptr<CaptureReaders> capture_readers_of(GrammarImpl& grammar) {
  if (grammar.rules == nullptr || !has_captures(*grammar.rules)) return nullptr;
  grammar.captures_made.call([&] {
    grammar.captures = std::make_shared<CaptureReaders>(
        CaptureSource{grammar.rules, grammar.schemas, grammar.marks});
  });
  return grammar.captures;
}

}  // namespace parlance::grammar
