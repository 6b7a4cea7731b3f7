#include "lines.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace parlance::cli {
namespace {

// Large enough that a lock per block is nothing, small enough that every core
// has several blocks of a file of some megabytes.
constexpr std::size_t kBlockBytes = std::size_t{1} << 19;

// The sum of the sizes, 0 if one is not a file.  Standard input may be one, but
// where in it reading begins is known only when it is open.
std::size_t size_of(const std::vector<std::string>& paths) {
  std::size_t sum = 0;
  for (const std::string& path : paths) {
    struct stat facts = {};
    const bool found = path.empty() || path == "-"
                           ? ::fstat(0, &facts) == 0
                           : ::stat(path.c_str(), &facts) == 0;
    if (!found || !S_ISREG(facts.st_mode)) return 0;
    sum += static_cast<std::size_t>(facts.st_size);
  }
  return sum;
}

}  // namespace

BlockReader::BlockReader(const std::vector<std::string>& paths,
                         InputPlace begin)
    : paths_(paths), total_bytes_(size_of(paths)), file_index_(begin.file) {
  consumed_before_ = size_of(
      {paths.begin(), paths.begin() + static_cast<std::ptrdiff_t>(begin.file)});
  if (file_index_ == paths_.size()) return;
  open();
  skip(begin.offset);
}

void BlockReader::open() {
  const std::string& path = paths_[file_index_];
  input_ = std::make_shared<InputFile>(path);
  decoder_.reset();
  raw_.clear();
  rest_.clear();
  at_ = 0;
  offset_ = 0;
  mapped_ = input_->map();
  if (mapped_.empty()) {
    // The first bytes of a pipe.  No JSON text begins as compressed ones do, so
    // a short line is answered at once.
    raw_.resize(kBlockBytes);
    std::size_t used = 0;
    while (used < kMagicBytes) {
      const std::size_t n =
          input_->read(raw_.data() + used, raw_.size() - used);
      used += n;
      if (n == 0 || (raw_[0] != '\x1f' && raw_[0] != '\x28')) {
        break;
      }
    }
    raw_.resize(used);
  }
  raw_left_ = mapped_.empty() ? std::string_view(raw_) : mapped_;
  const Compression compression = compression_of(raw_left_);
  if (compression != Compression::kNone) {
    need_compression(compression, display_name(path));
    decoder_ = std::make_unique<Decoder>(compression, display_name(path));
  }
}

void BlockReader::skip(std::size_t bytes) {
  offset_ = bytes;
  if (decoder_ == nullptr && !mapped_.empty()) {
    at_ = std::min(bytes, mapped_.size());
    return;
  }
  std::string dropped(kBlockBytes, '\0');
  while (bytes > 0) {
    const std::size_t n = read(dropped.data(), std::min(bytes, dropped.size()));
    if (n == 0) break;
    bytes -= n;
  }
}

bool BlockReader::next(Block& block) {
  while (file_index_ < paths_.size()) {
    const bool in_place = decoder_ == nullptr && !mapped_.empty();
    if (in_place ? next_mapped(block) : next_read(block)) {
      offset_ += block.text.size();
      block.index = index_++;
      block.file = file_index_;
      block.end = offset_;
      block.consumed = consumed_before_ +
                       (in_place           ? at_
                        : !mapped_.empty() ? mapped_.size() - raw_left_.size()
                                           : 0);
      return true;
    }
    consumed_before_ += mapped_.size();
    ++file_index_;
    if (file_index_ < paths_.size()) open();
  }
  return false;
}

bool BlockReader::next_mapped(Block& block) {
  if (at_ == mapped_.size()) return false;
  std::size_t end = at_ + std::min(kBlockBytes, mapped_.size() - at_);
  end = std::min(mapped_.find('\n', end - 1), mapped_.size() - 1) + 1;
  block.owned.clear();
  block.mapped = input_;
  block.text = mapped_.substr(at_, end - at_);
  at_ = end;
  return true;
}

bool BlockReader::next_read(Block& block) {
  block.mapped.reset();
  block.owned = std::exchange(rest_, {});
  for (;;) {
    std::size_t used = block.owned.size();
    block.owned.resize(used + kBlockBytes);
    std::size_t n = read(block.owned.data() + used, kBlockBytes);
    block.owned.resize(used + n);
    if (n == 0) {
      // A line that damage cut off is not one.
      if (decoder_ != nullptr) decoder_->finish();
      block.text = block.owned;
      return !block.owned.empty();
    }
    // Only the new bytes can contain the last newline.
    std::size_t newline = block.owned.rfind('\n');
    if (newline == std::string::npos || newline < used) continue;
    rest_ = block.owned.substr(newline + 1);
    block.owned.resize(newline + 1);
    block.text = block.owned;
    return true;
  }
}

std::size_t BlockReader::read(char* bytes, std::size_t capacity) {
  if (decoder_ == nullptr) {
    if (raw_left_.empty()) return input_->read(bytes, capacity);
    const std::size_t n = std::min(capacity, raw_left_.size());
    std::memcpy(bytes, raw_left_.data(), n);
    raw_left_.remove_prefix(n);
    return n;
  }
  for (;;) {
    const std::size_t n = decoder_->decode(raw_left_, bytes, capacity);
    if (n > 0 || !mapped_.empty()) return n;
    raw_.resize(kBlockBytes);
    raw_.resize(input_->read(raw_.data(), raw_.size()));
    if (raw_.empty()) return 0;
    raw_left_ = raw_;
  }
}

}  // namespace parlance::cli
