#ifndef PARLANCE_SRC_MASK_MASK_SOURCE_H_
#define PARLANCE_SRC_MASK_MASK_SOURCE_H_

// What a mask is made from: one recogniser, and a configuration of it with what
// is known of that place.

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/byte_set.h"
#include "base/fingerprint.h"
#include "base/work.h"
#include "mask/ablation.h"
#include "mask/partial_mask.h"
#include "mask/recogniser_masks.h"
#include "recogniser/recogniser.h"

namespace parlance::mask {

using recogniser::Between;
using recogniser::Configuration;
using recogniser::FreeString;
using recogniser::Hint;
using recogniser::LeftValue;
using recogniser::LexemeHint;
using recogniser::LexemeStates;
using recogniser::Recogniser;
using recogniser::SplitKeys;

// A recogniser as walks over tokens ask it.  Made for one mask.
// REQUIRES: the caller holds `recogniser.mutex` while this exists; `masks` are
// those of `recogniser`.
class MaskSource {
 public:
  MaskSource(Recogniser& recogniser, RecogniserMasks& masks)
      : recogniser_(recogniser),
        masks_(masks),
        own_hints_(recogniser.traits().has_hints),
        plain_parts_(recogniser.traits().has_plain_parts),
        left_lex_(own_hints_ ? LeftValue::kLex
                             : LeftValue::kLex | Configuration::kInPart) {}
  MaskSource(const MaskSource&) = delete;
  MaskSource& operator=(const MaskSource&) = delete;

  Recogniser& recogniser() const { return recogniser_; }
  RecogniserMasks& masks() const { return masks_; }

  Configuration step(Configuration config, std::uint8_t byte) const {
    return recogniser_.step(config, byte);
  }
  // Cheaper where the result is not used in the end (Recogniser).
  Configuration step_or_value(Configuration config, std::uint8_t byte) const {
    return is_off(Shortcut::kValueStates)
               ? recogniser_.step(config, byte)
               : recogniser_.step_or_value(config, byte);
  }
  // Whether the recogniser has hints there, of its own or of a part.
  bool has_hints(Configuration config) const {
    return own_hints_ || (config.in_part() &&
                          (!plain_parts_ || recogniser_.has_hints_at(config)));
  }
  // Of a dead configuration none.
  Hint hint(Configuration config) const {
    if (config.dead() || !has_hints(config)) return {};
    Hint hint = recogniser_.hint(config);
    if (is_off(Shortcut::kValueStates)) hint.value = {};
    if (is_off(Shortcut::kSharedValues)) hint.value_fingerprint = {};
    const bool split = std::holds_alternative<SplitKeys>(hint.place);
    if ((split && is_off(Shortcut::kSplitLexeme)) ||
        (is_off(Shortcut::kLexemes) &&
         (split || std::holds_alternative<LexemeHint>(hint.place)))) {
      hint.place = {};
    }
    return hint;
  }
  // How the value was left that was read from a Hint::value; null in it.
  std::optional<LeftValue> left_value(Configuration config) const {
    if (config.lex != left_lex_) return std::nullopt;
    return LeftValue{.fulfilled = config.extra, .lookahead = config.count};
  }
  // A superset of the bytes that step() accepts, never more expensive than to
  // try a few bytes.
  base::ByteSet likely_bytes(Configuration config) const {
    return has_hints(config) && !is_off(Shortcut::kLikelyBytes)
               ? recogniser_.first_bytes(config)
               : base::kAllBytes;
  }
  bool any_digits(Configuration config) const {
    return has_hints(config) && !is_off(Shortcut::kAnyDigits) &&
           recogniser_.any_digits(config);
  }
  std::optional<base::ByteSet> exception_bytes(Configuration config) const {
    if (!has_hints(config)) return std::nullopt;
    const auto bytes = recogniser_.exception_bytes(config);
    if (bytes && is_off(Shortcut::kExceptionBytes)) return base::kAllBytes;
    return bytes;
  }
  // Whether what was found so far may be kept in a cache that others use: no
  // limit has cut it short.  Besides, its fingerprint must still be the one
  // that it was made under (LexemeHint::fingerprint).
  bool sound() const { return base::work_left() && !recogniser_.overflowed(); }

 private:
  Recogniser& recogniser_;
  RecogniserMasks& masks_;
  const bool own_hints_;          // Recogniser::Traits::has_hints
  const bool plain_parts_;        // Recogniser::Traits::has_plain_parts
  const std::uint32_t left_lex_;  // the `lex` where a value was left
};

// A configuration, and what is known of it: asked once for a place.
struct Where {
  Where(const MaskSource& from, Configuration config)
      : source(from), at(config), hint(from.hint(config)) {}

  const MaskSource& source;
  Configuration at;
  Hint hint;
};

struct FoundMask {
  std::shared_ptr<const PartialMask> owner;  // null: the recogniser's masks
  const PartialMask* mask = nullptr;
  const PartialMask* operator->() const { return mask; }
};

// The partial mask of place.hint.value; what `make` returns if none is stored.
// It is stored for all recognisers if the value has a fingerprint, else for
// this one, under `key`: the value, but for members that say which of its masks
// is meant.  Valid until the next one is stored.
//
// The mask of a value reads the value and the layout, which the fingerprint
// has, and the vocabulary of the compiler.
template <class Make>
FoundMask find_or_make(SharedValueMasks& values, const Where& place,
                       Configuration key, const Make& make) {
  const base::Fingerprint& of = place.hint.value_fingerprint;
  if (!of) {
    PartialMaskCache& partial = place.source.masks().partial;
    const PartialMask* const known = partial.find(key);
    if (known != nullptr) return {nullptr, known};
    PartialMask made = make();
    return {nullptr, &partial.add(key, std::move(made))};
  }
  const base::Fingerprint shared =
      base::Fingerprinter(std::uint64_t{key.extra} << 32 | key.count)
          .add(of)
          .take();
  auto found = values.find(shared);
  if (found == nullptr) {
    auto made = std::make_shared<const PartialMask>(make());
    if (place.source.sound() &&
        place.source.hint(place.at).value_fingerprint == of) {
      values.add(shared, made);
    }
    found = std::move(made);
  }
  return {found, found.get()};
}

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_MASK_SOURCE_H_
