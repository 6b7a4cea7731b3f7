#include "lines.h"

#include <algorithm>
#include <utility>

namespace parlance::cli {
namespace {

// Large enough that a lock per block is nothing, small enough that every core
// has several blocks of a file of some megabytes.
constexpr std::size_t kBlockBytes = std::size_t{1} << 19;

}  // namespace

BlockReader::BlockReader(const std::string& path)
    : file_(path), mapped_(file_.map()) {}

bool BlockReader::next(Block& block) {
  bool found = mapped_.empty() ? next_read(block) : next_mapped(block);
  if (found) block.index = index_++;
  return found;
}

bool BlockReader::next_mapped(Block& block) {
  if (at_ == mapped_.size()) return false;
  std::size_t end = at_ + std::min(kBlockBytes, mapped_.size() - at_);
  end = std::min(mapped_.find('\n', end - 1), mapped_.size() - 1) + 1;
  block.owned.clear();
  block.text = mapped_.substr(at_, end - at_);
  at_ = end;
  return true;
}

bool BlockReader::next_read(Block& block) {
  block.owned = std::exchange(rest_, {});
  for (;;) {
    std::size_t used = block.owned.size();
    block.owned.resize(used + kBlockBytes);
    std::size_t n = file_.read(block.owned.data() + used, kBlockBytes);
    block.owned.resize(used + n);
    if (n == 0) {
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

}  // namespace parlance::cli
