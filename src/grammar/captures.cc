// The door parlance/captures.h.

#include "parlance/captures.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "grammar/machine.h"
#include "grammar/slow_recogniser.h"

namespace parlance {
namespace {

using grammar::SlowRecogniser;

class CaptureReader {
 public:
  static Result<CaptureReader> make(const Grammar& grammar,
                                    std::size_t max_items) {
    CaptureReader out;
    // Schemas are read by recognisers of their own: those of the grammar may be
    // in use.
    for (const Grammar::Machine::Leaf& leaf : grammar.machine()->leaves) {
      JsonSchemaOptions options = leaf.options;
      options.limits.cancelled = nullptr;
      Result<Grammar> made = Grammar::from_json_schema(*leaf.schema, options);
      if (!made && made.error().code != ErrorCode::kUnsatisfiable) {
        return std::move(made).error();
      }
      out.readers_.push_back(made ? made->machine()->recogniser.get()
                                  : nullptr);
      if (made) out.schemas_.push_back(std::move(*made));
    }
    out.recogniser_ = std::make_unique<SlowRecogniser>(
        *grammar.machine()->rules, out.readers_, max_items);
    out.recogniser_->record();
    out.place_ = out.recogniser_->start();
    return out;
  }

  // Nothing, or why not.
  std::optional<Error> feed(std::string_view bytes) {
    for (const char c : bytes) {
      recogniser_->feed(place_, static_cast<std::uint8_t>(c));
      if (!recogniser_->alive(place_)) return failure();
      add(std::string_view(&c, 1));
    }
    return std::nullopt;
  }

  std::optional<Error> feed(const CapturedToken& token) {
    const std::string_view read =
        token.special ? std::string_view() : token.bytes;
    recogniser_->feed_token(place_, token.id, read);
    if (!recogniser_->alive(place_)) return failure();
    if (read.empty()) {
      add(token.bytes);
    } else {
      for (const char& c : read) add(std::string_view(&c, 1));
    }
    return std::nullopt;
  }

  std::vector<RuleCapture> captures() const {
    std::vector<RuleCapture> out;
    for (const SlowRecogniser::Captured& one : recogniser_->captures(place_)) {
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

 private:
  void add(std::string_view bytes) {
    text_ += bytes;
    offsets_.push_back(text_.size());
  }

  Error failure() const {
    if (recogniser_->overflowed()) {
      return {ErrorCode::kTooLarge,
              "The text has more ways to be read than max_items allows."};
    }
    return {ErrorCode::kInvalidContent,
            "The text does not fit the grammar from here on.",
            {},
            Span{text_.size(), text_.size() + 1}};
  }

  std::vector<Grammar> schemas_;
  std::vector<grammar::Recogniser*> readers_;
  std::unique_ptr<SlowRecogniser> recogniser_;
  SlowRecogniser::Place place_;
  std::string text_;
  std::vector<std::size_t> offsets_ = {0};  // by place, in bytes
};

template <class Pieces>
Result<std::vector<RuleCapture>> read(const Grammar& grammar,
                                      const Pieces& pieces,
                                      std::size_t max_items) {
  if (grammar.machine()->rules == nullptr) return std::vector<RuleCapture>();
  Result<CaptureReader> reader = CaptureReader::make(grammar, max_items);
  if (!reader) return std::move(reader).error();
  for (const auto& piece : pieces) {
    if (std::optional<Error> error = reader->feed(piece)) return *error;
  }
  return reader->captures();
}

}  // namespace

Result<std::vector<RuleCapture>> captures(const Grammar& grammar,
                                          std::string_view text,
                                          std::size_t max_items) {
  return read(grammar, std::span(&text, 1), max_items);
}

Result<std::vector<RuleCapture>> captures(const Grammar& grammar,
                                          std::span<const CapturedToken> tokens,
                                          std::size_t max_items) {
  return read(grammar, tokens, max_items);
}

}  // namespace parlance
