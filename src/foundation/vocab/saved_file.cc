#include "vocab/saved_file.h"

#include <cstdio>
#include <cstring>
#include <span>
#include <utility>

#include "base/checksum.h"
#include "base/system.h"
#include "parlance/version.h"

namespace parlance::vocab {
namespace {

// The first byte is no text, and a copy in text mode changes the last one.
constexpr std::string_view kMagic =
    "\x89"
    "parlnc\n";
constexpr std::uint32_t kVersion = 3;

struct Place {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
};

struct SavedHeader {
  char magic[8] = {};
  std::uint32_t byte_order = 0x01020304;
  std::uint32_t version = kVersion;
  char library[16] = {};       // the version of the library, filled with zeros
  std::uint64_t bytes = 0;     // of the whole file
  std::uint64_t checksum = 0;  // of the places
  Place places[kSavedSections] = {};
};
static_assert(sizeof(SavedHeader) == 48 + kSavedSections * sizeof(Place));
static_assert(sizeof(PARLANCE_VERSION_STRING) <= sizeof(SavedHeader::library));

SavedHeader own_header() {
  SavedHeader header;
  std::memcpy(header.magic, kMagic.data(), kMagic.size());
  std::memcpy(header.library, PARLANCE_VERSION_STRING,
              sizeof(PARLANCE_VERSION_STRING));
  return header;
}

std::uint64_t checksum_of_places(const SavedHeader& header) {
  return base::checksum(
      {reinterpret_cast<const char*>(header.places), sizeof(header.places)});
}

Error refuse(std::string message, ErrorCode code = ErrorCode::kBadVocabulary) {
  return Error{.code = code, .message = std::move(message)};
}

}  // namespace

Error damaged_file() {
  return refuse("The saved vocabulary is damaged; save it again.");
}

bool is_saved(std::string_view bytes) { return bytes.starts_with(kMagic); }

// Only of a file can the beginning be read twice.
bool is_saved_file(const std::string& path) {
  if (base::file_kind(path) != base::FileKind::kFile) return false;
  std::FILE* const file = base::open_file(path);
  if (file == nullptr) return false;
  char begin[kMagic.size()];
  const std::size_t read = std::fread(begin, 1, sizeof(begin), file);
  (void)std::fclose(file);
  return is_saved({begin, read});
}

std::string saved_file(
    const std::array<std::string_view, kSavedSections>& sections) {
  SavedHeader header = own_header();
  header.bytes = sizeof(header);
  for (std::size_t i = 0; i < kSavedSections; ++i) {
    header.places[i] = {.offset = header.bytes,
                        .bytes = sections[i].size(),
                        .checksum = base::checksum(sections[i])};
    header.bytes += sections[i].size();
  }
  header.checksum = checksum_of_places(header);
  std::string out;
  out.reserve(header.bytes);
  out.append(reinterpret_cast<const char*>(&header), sizeof(header));
  for (const std::string_view section : sections) out += section;
  return out;
}

bool SavedFile::Part::intact() const {
  return base::checksum(bytes) == checksum;
}

OwnedBytes SavedFile::section(SavedSection section) const {
  const Part& found = part(section);
  if (section != SavedSection::kTokens && !found.intact()) return {};
  return {file_.owner, found.bytes};
}

// The order of the checks gives the most specific message.
Result<SavedFile> SavedFile::read(OwnedBytes file) {
  SavedHeader header;
  const std::string_view bytes = file.bytes;
  if (!is_saved(bytes)) {
    return refuse(
        "This is not a saved vocabulary; from_file() reads other "
        "files.");
  }
  if (bytes.size() < sizeof(header)) return damaged_file();
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.byte_order != own_header().byte_order) {
    return refuse(
        "The vocabulary was saved on a machine with another byte "
        "order, or is damaged; save it again.");
  }
  const SavedHeader own = own_header();
  if (header.version != own.version ||
      std::memcmp(header.library, own.library, sizeof(own.library)) != 0) {
    return refuse(
        "The vocabulary was saved by another version of Parlance "
        "than this one, " PARLANCE_VERSION_STRING "; save it again.",
        ErrorCode::kUnsupportedVersion);
  }
  if (header.bytes != bytes.size() ||
      header.checksum != checksum_of_places(header)) {
    return damaged_file();
  }
  SavedFile out;
  for (std::size_t i = 0; i < kSavedSections; ++i) {
    const Place& place = header.places[i];
    std::span<const std::uint64_t> words;
    if (place.bytes % 8 != 0 ||
        !read_array(bytes, {place.offset, place.bytes / 8}, words)) {
      return damaged_file();
    }
    out.parts_[i] = {bytes.substr(place.offset, place.bytes), place.checksum};
  }
  if (!out.part(SavedSection::kTokens).intact()) return damaged_file();
  out.file_ = std::move(file);
  return out;
}

}  // namespace parlance::vocab
