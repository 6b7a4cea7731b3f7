// Implements parlance/grammar.h: a CaptureReader reads the whole text.

#include <memory>
#include <optional>
#include <utility>

#include "base/access.h"
#include "grammar/capture_reader.h"
#include "grammar/grammar_impl.h"
#include "parlance/grammar.h"

namespace parlance {
namespace {

// Null: the grammar has no rules.
Result<std::unique_ptr<grammar::CaptureReader>> make_reader(
    const Grammar& grammar, std::size_t max_items) {
  const grammar::GrammarImpl& impl = *detail::Access::impl(grammar);
  if (impl.rules == nullptr) return std::unique_ptr<grammar::CaptureReader>();
  return grammar::CaptureReader::make({impl.rules, impl.schemas}, max_items);
}

}  // namespace

Result<std::vector<RuleCapture>> captures(const Grammar& grammar,
                                          std::string_view text,
                                          std::size_t max_items,
                                          const Interrupt& interrupt) {
  const auto reader = make_reader(grammar, max_items);
  if (!reader) return reader.error();
  if (*reader == nullptr) return std::vector<RuleCapture>();
  if (auto error = (*reader)->feed(text, interrupt)) return *std::move(error);
  return (*reader)->captures();
}

Result<std::vector<RuleCapture>> captures(const Grammar& grammar,
                                          std::span<const CapturedToken> tokens,
                                          std::size_t max_items,
                                          const Interrupt& interrupt) {
  const auto reader = make_reader(grammar, max_items);
  if (!reader) return reader.error();
  if (*reader == nullptr) return std::vector<RuleCapture>();
  for (const CapturedToken& token : tokens) {
    const std::string_view read =
        token.special ? std::string_view() : token.bytes;
    if (auto error = (*reader)->feed(token.id, read, token.bytes, interrupt)) {
      return *std::move(error);
    }
  }
  return (*reader)->captures();
}

}  // namespace parlance
