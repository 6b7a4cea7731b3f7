// Implements parlance/captures.h: an Earley recogniser reads the text again and
// records where rules begin and end.  A CfgRecogniser records no parses.

#include "parlance/captures.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/access.h"
#include "cfg_recogniser/earley.h"
#include "grammar/grammar_impl.h"

namespace parlance {
namespace {

using cfg_recogniser::EarleyRecogniser;

class CaptureReader {
 public:
  static Result<CaptureReader> make(const Grammar& grammar,
                                    std::size_t max_items,
                                    const Interrupt& interrupt) {
    CaptureReader out;
    out.interrupt_ = interrupt;
    // Build new recognisers for the schemas, because the recognisers of the
    // grammar may be in use by another thread.
    for (const grammar::GrammarImpl::EmbeddedSchema& embedded :
         detail::Access::impl(grammar)->schemas) {
      JsonSchemaOptions options = embedded.options;
      options.limits.cancelled = nullptr;
      Result<Grammar> made =
          Grammar::from_json_schema(*embedded.schema, options);
      if (!made && made.error().code != ErrorCode::kUnsatisfiable) {
        return std::move(made).error();
      }
      out.readers_.push_back(
          made ? detail::Access::impl(*made)->recogniser.get() : nullptr);
      if (made) out.schemas_.push_back(std::move(*made));
    }
    out.recogniser_ = std::make_unique<EarleyRecogniser>(
        *detail::Access::impl(grammar)->rules, out.readers_, max_items);
    out.recogniser_->record();
    out.place_ = out.recogniser_->start();
    return out;
  }

  // Reads `bytes`.  Returns an error if they do not fit the grammar, if there
  // are more items than max_items, or if the caller cancels.
  std::optional<Error> feed(std::string_view bytes) {
    for (const char c : bytes) {
      if (cancelled()) return cancelled_error();
      recogniser_->feed(place_, static_cast<std::uint8_t>(c));
      if (!recogniser_->alive(place_)) return failure();
      add(std::string_view(&c, 1));
    }
    return std::nullopt;
  }

  std::optional<Error> feed(const CapturedToken& token) {
    if (cancelled()) return cancelled_error();
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
    for (const EarleyRecogniser::Captured& one :
         recogniser_->captures(place_)) {
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
  // Calls the callback only every 64 bytes, because it may cost more than
  // reading a byte.
  bool cancelled() {
    constexpr std::size_t kEvery = 64;
    if (interrupt_.cancelled == nullptr || ++steps_ % kEvery != 0) return false;
    return interrupt_.cancelled(interrupt_.argument);
  }

  static Error cancelled_error() {
    return {ErrorCode::kTooLarge, "The reading was cancelled."};
  }

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

  Interrupt interrupt_;
  std::size_t steps_ = 0;
  std::vector<Grammar> schemas_;
  std::vector<recogniser::Recogniser*> readers_;
  std::unique_ptr<EarleyRecogniser> recogniser_;
  EarleyRecogniser::Place place_;
  std::string text_;
  // offsets_[i]: the size of text_ after i calls of add().
  std::vector<std::size_t> offsets_ = {0};
};

template <class Pieces>
Result<std::vector<RuleCapture>> read(const Grammar& grammar,
                                      const Pieces& pieces,
                                      std::size_t max_items,
                                      const Interrupt& interrupt) {
  if (detail::Access::impl(grammar)->rules == nullptr) {
    return std::vector<RuleCapture>();
  }
  Result<CaptureReader> reader =
      CaptureReader::make(grammar, max_items, interrupt);
  if (!reader) return std::move(reader).error();
  for (const auto& piece : pieces) {
    if (std::optional<Error> error = reader->feed(piece)) return *error;
  }
  return reader->captures();
}

}  // namespace

Result<std::vector<RuleCapture>> captures(const Grammar& grammar,
                                          std::string_view text,
                                          std::size_t max_items,
                                          const Interrupt& interrupt) {
  return read(grammar, std::span(&text, 1), max_items, interrupt);
}

Result<std::vector<RuleCapture>> captures(const Grammar& grammar,
                                          std::span<const CapturedToken> tokens,
                                          std::size_t max_items,
                                          const Interrupt& interrupt) {
  return read(grammar, tokens, max_items, interrupt);
}

}  // namespace parlance
