#ifndef PARLANCE_SRC_MASK_KNOWN_REQUESTS_H_
#define PARLANCE_SRC_MASK_KNOWN_REQUESTS_H_

// The first masks of requests: a section of the file of a saved vocabulary.
//
// A request is what a constraint is compiled from, as text (grammar/source.h).
// Its first mask is that of the beginning of a response, before stop tokens are
// set.  Equal masks are stored once.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vocab/flat_arrays.h"

namespace parlance::mask {

struct KnownRequest {
  std::string text;
  std::vector<std::uint32_t> mask;
};

// The section, a multiple of 8 bytes.
// REQUIRES: all masks have equal sizes.
std::string save_requests(const std::vector<KnownRequest>& requests);

// Immutable; reads the section where it lies.  A mask reads the request, whose
// whole text is compared, and the vocabulary that the file is of.
class KnownRequests {
 public:
  KnownRequests() = default;

  // Nothing if the section is malformed, or its masks are not those of
  // vocabularies of `ids` ids.
  static std::optional<KnownRequests> read(vocab::OwnedBytes section,
                                           std::size_t ids);

  bool empty() const { return entries_.empty(); }
  // The first mask of a request; empty if the request is not known.
  std::span<const std::uint32_t> find(std::string_view text) const;

 private:
  friend std::string save_requests(const std::vector<KnownRequest>& requests);
  struct Entry {
    std::uint64_t hash = 0;  // of the text
    std::uint64_t begin = 0, size = 0;
    std::uint64_t mask = 0;  // its number
  };
  struct Head {
    vocab::ArrayPlace entries, texts, masks;
  };

  vocab::OwnedBytes section_;
  std::size_t words_ = 0;           // of a mask
  std::span<const Entry> entries_;  // by hash
  std::span<const char> texts_;
  std::span<const std::uint32_t> masks_;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_KNOWN_REQUESTS_H_
