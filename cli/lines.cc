#include "lines.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "system.h"

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
    const auto facts =
        path.empty() || path == "-" ? facts_of(0) : facts_of(path);
    if (!facts || facts->kind != FileKind::kFile) return 0;
    sum += static_cast<std::size_t>(facts->bytes);
  }
  return sum;
}

std::size_t lines_in(std::string_view text) {
  const bool ended = text.ends_with('\n');
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) +
         (ended ? 0 : 1);
}

}  // namespace

BlockReader::BlockReader(const std::vector<std::string>& paths,
                         InputPlace begin)
    : paths_(paths), total_bytes_(size_of(paths)), file_index_(begin.file) {
  consumed_ = size_of(
      {paths.begin(), paths.begin() + static_cast<std::ptrdiff_t>(begin.file)});
  if (file_index_ == paths_.size()) return;
  open();
  skip(begin.offset);
  lines_ = begin.line;
}

void BlockReader::open() {
  const std::string& path = paths_[file_index_];
  input_.emplace(path);
  decoder_.reset();
  rest_.clear();
  offset_ = 0;
  lines_ = 0;
  // The first bytes.  No JSON text begins as compressed ones do, so a short
  // line of a pipe is answered at once.
  raw_.resize(kBlockBytes);
  std::size_t used = 0;
  while (used < kMagicBytes) {
    const std::size_t n = read_stored(raw_.data() + used, raw_.size() - used);
    used += n;
    if (n == 0 || (raw_[0] != '\x1f' && raw_[0] != '\x28')) break;
  }
  raw_left_ = std::string_view(raw_).substr(0, used);
  const Compression compression = compression_of(raw_left_);
  if (compression != Compression::kNone) {
    need_compression(compression, display_name(path));
    decoder_ = std::make_unique<Decoder>(compression);
  }
}

void BlockReader::skip(std::size_t bytes) {
  offset_ = bytes;
  std::string dropped(kBlockBytes, '\0');
  while (bytes > 0) {
    const std::size_t n = read(dropped.data(), std::min(bytes, dropped.size()));
    if (n == 0) {
      throw Failure(display_name(paths_[file_index_]) +
                    " ends before the place that the journal names");
    }
    bytes -= n;
  }
}

void BlockReader::fail(const std::string& fault) const {
  throw Failure(display_name(paths_[file_index_]) + ": " + fault +
                "; what follows line " + std::to_string(lines_) +
                " is missing");
}

bool BlockReader::next(Block& block) {
  while (file_index_ < paths_.size()) {
    if (next_of_file(block)) {
      offset_ += block.text.size();
      lines_ += lines_in(block.text);
      block.index = index_++;
      block.file = file_index_;
      block.end = offset_;
      block.consumed =
          consumed_ - (input_->is_regular() ? raw_left_.size() : 0);
      return true;
    }
    ++file_index_;
    if (file_index_ < paths_.size()) open();
  }
  return false;
}

// Reads until there is the end of a line.  No byte is searched twice: only new
// bytes can contain the last newline.
bool BlockReader::next_of_file(Block& block) {
  std::string& text = block.text;
  text = std::exchange(rest_, {});
  std::size_t used = text.size();
  for (;;) {
    // The room doubles with a long line, and a pipe fills it in small reads.
    if (text.size() - used < kBlockBytes / 2) {
      text.resize(used + std::max(used, kBlockBytes));
    }
    const std::size_t n =
        read(text.data() + used,
             std::min(text.size() - used, std::max(used, kBlockBytes)));
    if (n == 0) {
      text.resize(used);
      const std::string fault =
          decoder_ == nullptr ? "" : decoder_->fault(/*ended=*/true);
      if (fault.empty()) return !text.empty();
      // A line that damage cut off is not one.
      if (text.empty() || decoder_->inside()) fail(fault);
      return true;
    }
    const std::size_t newline =
        std::string_view(text).substr(used, n).rfind('\n');
    if (newline == std::string_view::npos) {
      used += n;
      continue;
    }
    rest_ = text.substr(used + newline + 1, n - newline - 1);
    text.resize(used + newline + 1);
    return true;
  }
}

std::size_t BlockReader::read_stored(char* bytes, std::size_t capacity) {
  const std::size_t n = input_->read(bytes, capacity, stopped_);
  if (input_->is_regular()) consumed_ += n;
  return n;
}

std::size_t BlockReader::read(char* bytes, std::size_t capacity) {
  if (decoder_ == nullptr) {
    if (raw_left_.empty()) return read_stored(bytes, capacity);
    const std::size_t n = std::min(capacity, raw_left_.size());
    std::memcpy(bytes, raw_left_.data(), n);
    raw_left_.remove_prefix(n);
    return n;
  }
  for (;;) {
    const std::size_t n = decoder_->decode(raw_left_, bytes, capacity);
    if (n > 0 || !decoder_->fault(/*ended=*/false).empty()) return n;
    const std::size_t stored = read_stored(raw_.data(), raw_.size());
    raw_left_ = std::string_view(raw_).substr(0, stored);
    if (stored == 0) return 0;
  }
}

}  // namespace parlance::cli
