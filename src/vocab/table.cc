#include "vocab/table.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace parlance::vocab {

std::optional<Id> Table::special(std::string_view spelling) const {
  const auto found = specials_.find(spelling);
  if (found == specials_.end()) return std::nullopt;
  return found->second;
}

std::optional<Id> Table::find(std::string_view bytes, Id from) const {
  for (Id id = from; id < size(); ++id) {
    if (kind(id) != Kind::kUnused && this->bytes(id) == bytes) return id;
  }
  return std::nullopt;
}

std::size_t Table::memory_bytes() const {
  // A node of the map: key, value, hash and a pointer, and a bucket for it.
  constexpr std::size_t kNodeBytes = 56;
  return blob_.capacity() + slots_.capacity() * sizeof(Slot) +
         (special_ids_.capacity() + stop_ids_.capacity()) * sizeof(Id) +
         specials_.size() * kNodeBytes;
}

void TableBuilder::reserve(std::size_t ids, std::size_t bytes) {
  table_.slots_.reserve(std::min<std::size_t>(ids, kMaxId + 1));
  table_.blob_.reserve(bytes);
}

std::optional<Error> TableBuilder::add(std::uint64_t id, std::string_view bytes,
                                       Kind kind, bool hidden) {
  if (kind == Kind::kUnused) return pad(id + 1);
  // Slot::size has 29 bits, Slot::begin 32.
  if (bytes.size() >= (std::size_t{1} << 29) ||
      table_.blob_.size() + bytes.size() > UINT32_MAX) {
    return Error{.code = ErrorCode::kTooLarge,
                 .message =
                     "The tokens have more bytes than a table can hold; "
                     "the limit is 4294967295 in all and 536870911 in "
                     "one."};
  }
  if (auto error = pad(id + 1)) return error;
  Table::Slot& slot = table_.slots_[id];
  if (slot.kind != static_cast<std::uint32_t>(Kind::kUnused)) {
    return Error{.code = ErrorCode::kBadVocabulary,
                 .message = "Token id " + std::to_string(id) +
                            " is given twice, to " +
                            quoted(table_.bytes(static_cast<Id>(id))) +
                            " and to " + quoted(bytes) + "."};
  }
  slot.begin = static_cast<std::uint32_t>(table_.blob_.size());
  slot.size = static_cast<std::uint32_t>(bytes.size()) & ((1u << 29) - 1);
  slot.kind = static_cast<std::uint32_t>(kind) & 3u;
  slot.hidden = kind == Kind::kSpecial && hidden ? 1 : 0;
  table_.blob_.insert(table_.blob_.end(), bytes.begin(), bytes.end());
  return std::nullopt;
}

std::optional<Error> TableBuilder::pad(std::uint64_t ids) {
  if (ids > std::uint64_t{kMaxId} + 1) {
    return Error{.code = ErrorCode::kTooLarge,
                 .message = "Token id " + std::to_string(ids - 1) +
                            " is beyond the largest that is supported, " +
                            std::to_string(kMaxId) + "."};
  }
  if (ids > table_.slots_.size()) table_.slots_.resize(ids);
  return std::nullopt;
}

std::optional<Error> TableBuilder::add_stop(std::uint64_t id) {
  if (id > kMaxId || kind(static_cast<Id>(id)) == Kind::kUnused) {
    return Error{.code = ErrorCode::kBadVocabulary,
                 .message = "Stop id " + std::to_string(id) +
                            " has no token; a stop id must be one of the "
                            "vocabulary's " +
                            std::to_string(table_.size()) + " ids."};
  }
  auto& stops = table_.stop_ids_;
  if (std::find(stops.begin(), stops.end(), id) == stops.end()) {
    stops.push_back(static_cast<Id>(id));
  }
  return std::nullopt;
}

Table TableBuilder::finish() {
  table_.blob_.shrink_to_fit();
  table_.slots_.shrink_to_fit();
  for (Id id = 0; id < table_.size(); ++id) {
    if (table_.kind(id) != Kind::kSpecial) continue;
    table_.special_ids_.push_back(id);
    // Of two special tokens with one spelling the lower id is found.
    table_.specials_.emplace(table_.bytes(id), id);
  }
  return std::exchange(table_, Table());
}

std::string quoted(std::string_view bytes) {
  constexpr std::size_t kShown = 40;
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  std::string_view rest = bytes.substr(0, kShown);
  while (!rest.empty()) {
    const base::Utf8Step step = base::next_utf8(rest);
    for (const char c : rest.substr(0, step.size)) {
      const auto byte = static_cast<unsigned char>(c);
      if (step.kind != base::Utf8Step::Kind::kValid || byte < 0x20 ||
          byte == 0x7F) {
        out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
      } else {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
      }
    }
    rest.remove_prefix(step.size);
  }
  out += bytes.size() > kShown ? "\"..." : "\"";
  return out;
}

}  // namespace parlance::vocab
