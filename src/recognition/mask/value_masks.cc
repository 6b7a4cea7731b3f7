// Masks between two lexemes of JSON: see value_masks.h.

#include "mask/value_masks.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/byte_set.h"

namespace parlance::mask {

using json::BodyState;
using vocab::BodyTable;

namespace {

// The bytes that JSON allows between lexemes or at the start of one, without
// white space; and all bytes that are neither these nor white space.
constexpr std::string_view kJsonBytes = "\"{}[],:-0123456789tfn";
constexpr std::size_t kOtherCount =
    256 - kJsonBytes.size() - base::kJsonWhitespace.size();
constexpr std::array<char, kOtherCount> kOtherBytes = [] {
  std::array<char, kOtherCount> bytes{};
  std::size_t count = 0;
  for (int i = 0; i < 256; ++i) {
    const char c = static_cast<char>(i);
    if (kJsonBytes.find(c) != std::string_view::npos) continue;
    if (base::kJsonWhitespace.find(c) != std::string_view::npos) continue;
    bytes[count++] = c;
  }
  return bytes;
}();

}  // namespace

// Before a value, its partial mask decides the tokens that end within the
// value.  For each exit point, the subtree is read from where the real value
// ends.
void ValueMasks::make(const Where& place, const Between& view,
                      MaskBuilder& mask) {
  ToMask out{mask};
  const Configuration value = place.hint.value;
  if (value.dead()) {
    between(place, view, out);
    return;
  }
  const FoundMask found = find_or_make(resources_.values, place, value, [&] {
    return make_partial(Where(place.source, value), mask);
  });
  mask.start(found->base, found->set, found->cleared);
  walk_.past_value(place.source, found->exit_points, place.at, out);
}

// The partial mask of a value.  It is built in `mask`.
PartialMask ValueMasks::make_partial(const Where& value, MaskBuilder& mask) {
  PartialMask made;
  ToPartial out{mask, made.exit_points};
  const auto* const space = std::get_if<Between>(&value.hint.place);
  between(value, space != nullptr ? *space : Between{}, out);
  const std::array bases = {Base{}};
  if (mask.dense()) mask.compact(bases);
  mask.keep(made, resources_.bytes);
  return made;
}

// Between lexemes every token is white space only, white space and more, or no
// white space.
//
//   1. Begin with the stored mask of the first kind, and of the tokens that
//      open an unconstrained string and stay inside, if such a string can
//      begin here.
//   2. Walk the trie of all tokens below each other byte that can begin a
//      lexeme, and the tokens that leave the string (StringMasks::leave).
//   3. Walk the remainders after the white space.
//
// The table of white space only has the remainders that JSON allows.  Where
// other bytes are possible, white space is walked as any other byte.
template <class Out>
void ValueMasks::between(const Where& place, const Between& view, Out& out) {
  const MaskSource& source = place.source;
  const Where quoted(source, source.step(view.without_space, '"'));
  const auto* string = std::get_if<FreeString>(&quoted.hint.place);
  if (string != nullptr && string->state != BodyState::kText) string = nullptr;
  const bool only_json =
      view.json || std::ranges::all_of(kOtherBytes, [&](char c) {
        return source.step(view.without_space, static_cast<std::uint8_t>(c))
            .dead();
      });
  const std::uint32_t max_bytes = only_json ? view.max_bytes : 0;
  start(max_bytes, string, out.mask);

  const auto first = [&](char c, Configuration from) {
    walk_.first(source, from, static_cast<std::uint8_t>(c), out);
  };
  for (const char c : kJsonBytes) {
    if (c != '"' || string == nullptr) first(c, view.without_space);
  }
  const std::uint32_t quote = resources_.tables.trie().root_child('"');
  if (quote != 0 && string != nullptr) {
    strings_.leave(quoted, *string, quote, out);
  }
  if (only_json) {
    walk_.remainders(source,
                     {.exits = &resources_.tables.white_space().exits(),
                      .min_count = 0,
                      .max_count = max_bytes},
                     view.without_space, out);
  } else {
    for (const char c : kOtherBytes) first(c, view.without_space);
    for (const char c : base::kJsonWhitespace) first(c, place.at);
  }
}

// Begins with the tokens of at most `max_bytes` of white space and, unless
// `string` is null, with those that open `string` and stay inside.
void ValueMasks::start(std::uint32_t max_bytes, const FreeString* string,
                       MaskBuilder& mask) {
  const BodyTable& table = resources_.tables.string_start();
  const std::uint32_t max_chars =
      string == nullptr ? WhitespaceBases::kNoString
                        : std::min(string->max_chars, table.max_chars());
  const Base base = resources_.whitespace_bases.find(max_bytes, max_chars);
  if (base.words != nullptr) {
    mask.start(base);
    return;
  }
  if (string == nullptr) {
    mask.start({});
  } else {
    StringMasks::start(table, max_chars, mask);
  }
  for (const auto& token : resources_.tables.white_space().tokens()) {
    if (token.bytes > max_bytes) break;
    mask.set(token.id);
  }
}

}  // namespace parlance::mask
