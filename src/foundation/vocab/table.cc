#include "vocab/table.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/checksum.h"
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
  return special != nullptr && (special->flags & kStripsLeft) != 0;
}

bool Table::strips_right(Id id) const {
  const Special* special = special_of(id);
  return special != nullptr && (special->flags & kStripsRight) != 0;
}

// The chain ascends, so the first special token with the spelling is the
// lowest.
std::optional<Id> Table::special(std::string_view spelling) const {
  std::optional<Id> id = find_first(spelling);
  while (id && !is_special(kind(*id))) id = find_next(*id);
  return id;
}

std::size_t Table::bucket_of(std::uint64_t hash) const {
  return static_cast<std::size_t>(hash) & (buckets_.size() - 1);
}

std::optional<Id> Table::follow(Id id, std::string_view spelling) const {
  for (; id != kNoId; id = next_[id]) {
    if (this->spelling(id) == spelling) return id;
  }
  return std::nullopt;
}

std::optional<Id> Table::find_first(std::string_view spelling) const {
  if (buckets_.empty()) return std::nullopt;
  return follow(buckets_[bucket_of(base::hash_text(spelling))], spelling);
}

std::optional<Id> Table::find_next(Id id) const {
  return follow(next_[id], spelling(id));
}

// --- Saved tables ------------------------------------------------------------

// What a saved table begins with.
struct Table::Saved {
  std::uint64_t fingerprint = 0;
  std::uint64_t flags = 0;
  ArrayPlace blob, slots, special, buckets, next, stop_ids;
};

namespace {

// Bits of Table::Saved::flags.
constexpr std::uint64_t kHasStops = 1;
constexpr std::uint64_t kStripLeadingSpace = 2;
constexpr std::uint64_t kSpaceAfterMarks = 4;

}  // namespace

std::string Table::save(const TableProperties& properties) const {
  std::string out(sizeof(Saved), '\0');
  Saved head;
  head.fingerprint = fingerprint_;
  if (properties.stop_ids) head.flags |= kHasStops;
  if (strip_leading_space_) head.flags |= kStripLeadingSpace;
  if (properties.space_after_marks) head.flags |= kSpaceAfterMarks;
  head.blob = append_array(out, blob_);
  head.slots = append_array(out, slots_);
  head.special = append_array(out, special_);
  head.buckets = append_array(out, buckets_);
  head.next = append_array(out, next_);
  if (properties.stop_ids) {
    head.stop_ids = append_array(out, *properties.stop_ids);
  }
  std::memcpy(out.data(), &head, sizeof(head));
  return out;
}

std::optional<Table> Table::read(OwnedBytes saved) {
  Saved head;
  if (saved.bytes.size() < sizeof(head)) return std::nullopt;
  std::memcpy(&head, saved.bytes.data(), sizeof(head));
  Table out;
  std::span<const Id> stops;
  if (!read_array(saved.bytes, head.blob, out.blob_) ||
      !read_array(saved.bytes, head.slots, out.slots_) ||
      !read_array(saved.bytes, head.special, out.special_) ||
      !read_array(saved.bytes, head.buckets, out.buckets_) ||
      !read_array(saved.bytes, head.next, out.next_) ||
      !read_array(saved.bytes, head.stop_ids, stops) || !out.fits_together()) {
    return std::nullopt;
  }
  for (const Id id : stops) {
    if (out.kind(id) == Kind::kUnused) return std::nullopt;
  }
  if ((head.flags & kHasStops) != 0) {
    out.stop_ids_.emplace(stops.begin(), stops.end());
  }
  out.strip_leading_space_ = (head.flags & kStripLeadingSpace) != 0;
  out.space_after_marks_ = (head.flags & kSpaceAfterMarks) != 0;
  out.fingerprint_ = head.fingerprint;
  out.special_ids_.reserve(out.special_.size());
  for (const Special& special : out.special_) {
    out.special_ids_.push_back(special.id);
  }
  out.owner_ = std::move(saved.owner);
  return out;
}

// Checks what the functions of the table rely on:
//
// 1. The bytes and spelling of every token are in the blob, and an id without a
//    token has no bytes.
// 2. special_ ascends and has exactly the special tokens.
// 3. Every id has a link, each link leads to a higher id, so that each chain
//    ends, and a bucket for a hash exists.
bool Table::fits_together() const {
  if (size() > std::size_t{kMaxId} + 1 || next_.size() != size() ||
      buckets_.size() != (size() == 0 ? 0 : std::bit_ceil(size()))) {
    return false;
  }
  const auto in_blob = [&](std::uint64_t begin, std::uint64_t bytes) {
    return begin + bytes <= blob_.size();
  };
  // The loops over all ids have no branches, so that they cost little.
  std::size_t specials = 0;
  bool good = true;
  for (const Slot& slot : slots_) {
    const auto kind = static_cast<Kind>(slot.kind);
    good &= in_blob(slot.begin, slot.size);
    good &= kind != Kind::kUnused || slot.size == 0;
    specials += is_special(kind);
  }
  if (!good || specials != special_.size()) return false;
  for (std::size_t i = 0; i < special_.size(); ++i) {
    const Special& special = special_[i];
    if (!is_special(kind(special.id)) ||
        !in_blob(special.begin, special.size) ||
        (i > 0 && special_[i - 1].id >= special.id)) {
      return false;
    }
  }
  const auto ids = static_cast<Id>(size());
  for (const Id id : buckets_) good &= id < ids || id == kNoId;
  for (Id id = 0; id < ids; ++id) {
    good &= next_[id] > id && (next_[id] < ids || next_[id] == kNoId);
  }
  return good;
}

// --- TableBuilder ------------------------------------------------------------

void TableBuilder::reserve(std::size_t ids, std::size_t bytes) {
  arrays_.slots.reserve(std::min<std::size_t>(ids, kMaxId + 1));
  arrays_.blob.reserve(bytes);
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
      arrays_.blob.size() + bytes.size() + spelling.size() > UINT32_MAX) {
    return Error{.code = ErrorCode::kTooLarge,
                 .message =
                     "The tokens have more bytes than a table can hold; "
                     "the limit is 4294967295 in all and 536870911 in "
                     "one."};
  }
  if (auto error = pad(id + 1)) return error;
  Table::Slot& slot = arrays_.slots[id];
  if (slot.kind != static_cast<std::uint32_t>(Kind::kUnused)) {
    return Error{.code = ErrorCode::kBadVocabulary,
                 .message = "Token id " + std::to_string(id) +
                            " is given twice, to " +
                            printable(bytes_of(static_cast<Id>(id))) +
                            " and to " + printable(bytes) + "."};
  }
  std::vector<char>& blob = arrays_.blob;
  slot.begin = static_cast<std::uint32_t>(blob.size());
  slot.size = static_cast<std::uint32_t>(bytes.size()) & ((1u << 30) - 1);
  slot.kind = static_cast<std::uint32_t>(kind) & 3u;
  blob.insert(blob.end(), bytes.begin(), bytes.end());
  if (is_special(kind)) {
    Table::Special entry{
        .id = static_cast<Id>(id),
        .begin = slot.begin,
        .size = slot.size,
        .flags = (special.strips_left ? Table::kStripsLeft : 0) |
                 (special.strips_right ? Table::kStripsRight : 0)};
    if (spelling != bytes) {
      entry.begin = static_cast<std::uint32_t>(blob.size());
      entry.size = static_cast<std::uint32_t>(spelling.size());
      blob.insert(blob.end(), spelling.begin(), spelling.end());
    }
    arrays_.special.push_back(entry);
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
  if (ids > arrays_.slots.size()) arrays_.slots.resize(ids);
  return std::nullopt;
}

std::optional<Error> TableBuilder::resize(std::uint64_t ids) {
  if (auto error = pad(ids)) return error;
  arrays_.slots.resize(static_cast<std::size_t>(ids));
  std::erase_if(arrays_.special, [ids](const Table::Special& special) {
    return special.id >= ids;
  });
  return std::nullopt;
}

std::optional<Id> TableBuilder::find(std::string_view spelling) const {
  std::optional<Id> found;
  for (const Table::Special& special : arrays_.special) {
    if (text(special.begin, special.size) == spelling &&
        (!found || special.id < *found)) {
      found = special.id;
    }
  }
  if (found) return found;
  for (Id id = 0; id < arrays_.slots.size(); ++id) {
    if (kind(id) == Kind::kOrdinary && bytes_of(id) == spelling) return id;
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
  if (!stop_ids_) stop_ids_.emplace();
}

std::optional<Error> TableBuilder::add_stop(std::uint64_t id) {
  if (!has(id)) return unknown_stop(id, arrays_.slots.size());
  set_stops_known();
  auto& stops = *stop_ids_;
  if (std::find(stops.begin(), stops.end(), id) == stops.end()) {
    stops.push_back(static_cast<Id>(id));
  }
  return std::nullopt;
}

Table::Table(std::shared_ptr<const Arrays> arrays)
    : blob_(arrays->blob),
      slots_(arrays->slots),
      special_(arrays->special),
      buckets_(arrays->buckets),
      next_(arrays->next) {
  special_ids_.reserve(special_.size());
  for (const Special& special : special_) special_ids_.push_back(special.id);
  owner_ = std::move(arrays);
}

// The table is made before its index, which it is asked for the hashes of.  The
// ids are inserted at the heads of their chains, from the highest id to the
// lowest, so that each chain ascends.
Table TableBuilder::finish() {
  const auto arrays =
      std::make_shared<Table::Arrays>(std::exchange(arrays_, {}));
  arrays->blob.shrink_to_fit();
  arrays->slots.shrink_to_fit();
  std::ranges::sort(arrays->special, {}, &Table::Special::id);
  const std::size_t ids = arrays->slots.size();
  arrays->buckets.assign(ids == 0 ? 0 : std::bit_ceil(ids), kNoId);
  arrays->next.assign(ids, kNoId);
  Table table(arrays);
  std::uint64_t sum = ids;
  for (std::size_t i = ids; i-- > 0;) {
    const auto id = static_cast<Id>(i);
    const Kind kind = table.kind(id);
    if (kind == Kind::kUnused) continue;
    const std::uint64_t hash = base::hash_text(table.spelling(id));
    Id& head = arrays->buckets[table.bucket_of(hash)];
    arrays->next[id] = std::exchange(head, id);
    sum = base::hash_step(sum, id);
    sum = base::hash_step(sum, hash ^ static_cast<std::uint64_t>(kind));
    if (is_special(kind)) {
      sum = base::hash_step(sum, base::hash_text(table.bytes(id)));
    }
  }
  table.fingerprint_ = sum;
  table.stop_ids_ = std::exchange(stop_ids_, std::nullopt);
  table.strip_leading_space_ = strip_leading_space_;
  table.space_after_marks_ = space_after_marks_;
  return table;
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
