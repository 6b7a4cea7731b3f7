#include "vocab/table.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

#include "base/utf8.h"
#include "base/white_space.h"

namespace parlance::vocab {

namespace {

constexpr Id kNoId = ~Id{0};

// Whether `bytes` are not empty and consist of white space only.
bool is_blank(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    // An ill-formed byte decodes to U+FFFD, which is not white space.
    if (!base::is_white_space(base::next_code_point(bytes, at))) return false;
  }
  return !bytes.empty();
}

}  // namespace

const Table::Special* Table::special_of(Id id) const {
  if (!is_special(kind(id))) return nullptr;
  return &*std::ranges::lower_bound(special_, id, {}, &Special::id);
}

std::string_view Table::spelling(Id id) const {
  const Special* special = special_of(id);
  return special != nullptr ? spelling(*special) : bytes(id);
}

bool Table::strips_left(Id id) const {
  const Special* special = special_of(id);
  return special != nullptr && special->strips_left;
}

bool Table::strips_right(Id id) const {
  const Special* special = special_of(id);
  return special != nullptr && special->strips_right;
}

std::optional<Id> Table::special(std::string_view spelling) const {
  const auto found = specials_.find(spelling);
  if (found == specials_.end()) return std::nullopt;
  return found->second;
}

std::size_t Table::bucket_of(std::string_view spelling) const {
  return std::hash<std::string_view>{}(spelling) & (buckets_.size() - 1);
}

std::optional<Id> Table::follow(Id id, std::string_view spelling) const {
  for (; id != kNoId; id = next_[id]) {
    if (this->spelling(id) == spelling) return id;
  }
  return std::nullopt;
}

std::optional<Id> Table::find_first(std::string_view spelling) const {
  if (buckets_.empty()) return std::nullopt;
  return follow(buckets_[bucket_of(spelling)], spelling);
}

std::optional<Id> Table::find_next(Id id) const {
  return follow(next_[id], spelling(id));
}

std::size_t Table::memory_bytes() const {
  // A node of the map: key, value, hash and a pointer, and a bucket for it.
  constexpr std::size_t kNodeBytes = 56;
  return blob_.capacity() + slots_.capacity() * sizeof(Slot) +
         (special_ids_.capacity() + buckets_.capacity() + next_.capacity() +
          (stop_ids_ ? stop_ids_->capacity() : 0)) *
             sizeof(Id) +
         special_.capacity() * sizeof(Special) + specials_.size() * kNodeBytes;
}

void TableBuilder::reserve(std::size_t ids, std::size_t bytes) {
  table_.slots_.reserve(std::min<std::size_t>(ids, kMaxId + 1));
  table_.blob_.reserve(bytes);
}

// Everything is checked before the slot is filled, so that after an error the
// table has at most more empty slots.  A special token also gets an entry in
// special_, whose spelling is the token's bytes or, if it differs, a second
// range of the blob.
std::optional<Error> TableBuilder::add(std::uint64_t id, std::string_view bytes,
                                       Kind kind, const SpecialToken& special) {
  if (kind == Kind::kUnused) return pad(id + 1);
  if (is_special(kind) && is_blank(bytes)) kind = Kind::kOrdinary;
  const std::string_view spelling =
      special.spelling.empty() ? bytes : special.spelling;
  // Slot::size has 30 bits, Slot::begin 32.
  constexpr std::size_t kMaxBytes = std::size_t{1} << 29;
  if (bytes.size() >= kMaxBytes || spelling.size() >= kMaxBytes ||
      table_.blob_.size() + bytes.size() + spelling.size() > UINT32_MAX) {
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
                            printable(table_.bytes(static_cast<Id>(id))) +
                            " and to " + printable(bytes) + "."};
  }
  std::vector<char>& blob = table_.blob_;
  slot.begin = static_cast<std::uint32_t>(blob.size());
  slot.size = static_cast<std::uint32_t>(bytes.size()) & ((1u << 30) - 1);
  slot.kind = static_cast<std::uint32_t>(kind) & 3u;
  blob.insert(blob.end(), bytes.begin(), bytes.end());
  if (is_special(kind)) {
    Table::Special entry{.id = static_cast<Id>(id),
                         .begin = slot.begin,
                         .size = slot.size,
                         .strips_left = special.strips_left,
                         .strips_right = special.strips_right};
    if (spelling != bytes) {
      entry.begin = static_cast<std::uint32_t>(blob.size());
      entry.size = static_cast<std::uint32_t>(spelling.size());
      blob.insert(blob.end(), spelling.begin(), spelling.end());
    }
    table_.special_.push_back(entry);
  }
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

std::optional<Error> TableBuilder::resize(std::uint64_t ids) {
  if (auto error = pad(ids)) return error;
  table_.slots_.resize(static_cast<std::size_t>(ids));
  std::erase_if(table_.special_, [ids](const Table::Special& special) {
    return special.id >= ids;
  });
  return std::nullopt;
}

std::optional<Id> TableBuilder::find(std::string_view spelling) const {
  std::optional<Id> found;
  for (const Table::Special& special : table_.special_) {
    if (table_.spelling(special) == spelling &&
        (!found || special.id < *found)) {
      found = special.id;
    }
  }
  if (found) return found;
  for (Id id = 0; id < table_.size(); ++id) {
    if (kind(id) == Kind::kOrdinary && table_.bytes(id) == spelling) return id;
  }
  return std::nullopt;
}

Error unknown_stop(std::uint64_t id, std::size_t size) {
  return Error{.code = ErrorCode::kBadVocabulary,
               .message = "Stop id " + std::to_string(id) +
                          " has no token; a stop id must be one of the "
                          "vocabulary's " +
                          std::to_string(size) + " ids."};
}

void TableBuilder::set_stops_known() {
  if (!table_.stop_ids_) table_.stop_ids_.emplace();
}

std::optional<Error> TableBuilder::add_stop(std::uint64_t id) {
  if (!has(id)) return unknown_stop(id, table_.size());
  set_stops_known();
  auto& stops = *table_.stop_ids_;
  if (std::find(stops.begin(), stops.end(), id) == stops.end()) {
    stops.push_back(static_cast<Id>(id));
  }
  return std::nullopt;
}

// Inserts the ids at the heads of their chains, from the highest id to the
// lowest, so that each chain ascends.
void TableBuilder::make_index() {
  if (table_.size() == 0) return;
  table_.buckets_.assign(std::bit_ceil(table_.size()), kNoId);
  table_.next_.assign(table_.size(), kNoId);
  for (std::size_t i = table_.size(); i-- > 0;) {
    const auto id = static_cast<Id>(i);
    if (table_.kind(id) == Kind::kUnused) continue;
    Id& head = table_.buckets_[table_.bucket_of(table_.spelling(id))];
    table_.next_[id] = std::exchange(head, id);
  }
}

Table TableBuilder::finish() {
  table_.blob_.shrink_to_fit();
  table_.slots_.shrink_to_fit();
  std::ranges::sort(table_.special_, {}, &Table::Special::id);
  for (const Table::Special& special : table_.special_) {
    table_.special_ids_.push_back(special.id);
    // emplace() keeps the first entry, so of two special tokens with the same
    // spelling the lower id is found.
    table_.specials_.emplace(table_.spelling(special), special.id);
  }
  make_index();
  return std::exchange(table_, Table());
}

std::string printable(std::string_view bytes) {
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
