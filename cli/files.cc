#include "files.h"

#include <algorithm>
#include <cstring>

#include "io.h"

namespace parlance::cli {
namespace {

std::optional<FileId> id_of(const FileFacts& facts) {
  if (facts.shared) return std::nullopt;
  return FileId{facts.device, facts.inode, ""};
}

std::uint64_t step(std::uint64_t sum, std::uint64_t value) {
  sum = (sum ^ value) * 0x9FB21C651E98DF25;
  return sum ^ sum >> 29;
}

}  // namespace

std::optional<FileId> file_id(const std::string& path) {
  if (const auto facts = facts_of(path)) return id_of(*facts);
  // A link that leads nowhere is the name that it leads to.
  constexpr int kMostLinks = 40;  // the limit of Linux
  std::string place = path;
  for (int i = 0; i < kMostLinks; ++i) {
    const std::optional<std::string> next = link_target(place);
    if (!next) break;
    place =
        next->starts_with('/') ? *next : std::string(folder_of(place)) + *next;
  }
  const std::string folder(folder_of(place));
  const auto facts = facts_of(folder.empty() ? "." : folder);
  if (!facts) return {};
  return FileId{facts->device, facts->inode, place.substr(folder.size())};
}

std::optional<FileId> file_id(int descriptor) {
  const auto facts = facts_of(descriptor);
  return facts ? id_of(*facts) : std::nullopt;
}

void refuse_overlaps(std::span<const NamedFile> files) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const NamedFile& a = files[files[i].written ? i : j];
      const NamedFile& b = files[files[i].written ? j : i];
      if (!a.written || !a.id || a.id != b.id) continue;
      throw Failure(display_name(a.path) + " (" + a.role +
                    ") is the same file as " + display_name(b.path) + " (" +
                    b.role + "); name another file");
    }
  }
}

// Four sums side by side, since each step waits for the one before.
void Digest::add_block(const char* block) {
  for (std::size_t i = 0; i < 4; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, block + 8 * i, 8);
    sums_[i] = step(sums_[i], word);
  }
}

void Digest::add(std::string_view bytes) {
  const std::size_t used = bytes_ % kBlock;
  bytes_ += bytes.size();
  if (used > 0) {
    const std::size_t n = std::min(kBlock - used, bytes.size());
    std::memcpy(rest_ + used, bytes.data(), n);
    bytes.remove_prefix(n);
    if (used + n < kBlock) return;
    add_block(rest_);
  }
  for (; bytes.size() >= kBlock; bytes.remove_prefix(kBlock)) {
    add_block(bytes.data());
  }
  if (!bytes.empty()) std::memcpy(rest_, bytes.data(), bytes.size());
}

std::string Digest::finish() {
  std::memset(rest_ + bytes_ % kBlock, 0, kBlock - bytes_ % kBlock);
  add_block(rest_);
  const std::uint64_t halves[] = {
      step(step(step(step(bytes_, sums_[0]), sums_[1]), sums_[2]), sums_[3]),
      step(step(step(step(~bytes_, sums_[3]), sums_[1]), sums_[0]), sums_[2])};
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const std::uint64_t half : halves) {
    for (int shift = 60; shift >= 0; shift -= 4) {
      out += kDigits[half >> shift & 15];
    }
  }
  return out;
}

std::string digest_of(std::string_view text) {
  Digest digest;
  digest.add(text);
  return digest.finish();
}

std::string digest_of_file(const std::string& path) {
  InputFile file(path);
  Digest digest;
  std::string buffer(std::size_t{1} << 20, '\0');
  while (const std::size_t n = file.read(buffer.data(), buffer.size())) {
    digest.add(std::string_view(buffer).substr(0, n));
  }
  return digest.finish();
}

}  // namespace parlance::cli
