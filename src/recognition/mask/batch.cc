// Masks of many matchers at once.
//
// Most masks are cached, and copying one takes less time than waking a thread,
// so the calling thread writes the cached masks itself.  The other masks are
// distributed among threads row by row, because the times to build two masks
// can differ by a factor of a thousand.

#include "mask/batch.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/threads.h"

namespace parlance::mask {

void fill_batch(std::span<MatcherImpl* const> matchers,
                std::span<const std::size_t> rows,
                std::span<std::int32_t> buffer, std::size_t stride,
                unsigned threads) {
  // The row of matcher i.  It is empty or too short if the buffer ends before
  // the row does; a matcher leaves such a row as it is.
  const auto row = [&](std::size_t i) {
    const std::size_t begin =
        rows[i] < buffer.size() / std::max<std::size_t>(stride, 1)
            ? rows[i] * stride
            : buffer.size();
    return buffer.subspan(begin, std::min(stride, buffer.size() - begin));
  };
  // The cached masks.  Afterwards `unknown` lists the matchers without one.
  std::vector<std::size_t> unknown;
  for (std::size_t i = 0; i < matchers.size(); ++i) {
    if (!matchers[i]->fill_if_known(row(i))) unknown.push_back(i);
  }

  // The other masks.  Each index is taken by exactly one thread, and rows are
  // disjoint, so the only shared state is `next`.
  std::atomic<std::size_t> next{0};
  base::run_on_threads(
      std::min<std::size_t>(base::thread_count(threads), unknown.size()),
      [&](std::size_t) {
        for (;;) {
          const std::size_t at = next.fetch_add(1, std::memory_order_relaxed);
          if (at >= unknown.size()) return;
          matchers[unknown[at]]->fill_bitmask(row(unknown[at]));
        }
      });
}

}  // namespace parlance::mask
