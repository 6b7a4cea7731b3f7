#ifndef PARLANCE_MASK_TABLE_H_
#define PARLANCE_MASK_TABLE_H_

// Masks by number, for engines that keep masks on their device.
//
//   MaskTable table(compiler);
//   ...
//   const std::int32_t id = table.id_of(matcher);          // every step
//   if (table.size() > sent) upload(table.rows(sent, table.size()));
//
// Thousands of requests need few distinct masks.  A mask gets a row of the
// table when it is first needed, and its number is then all that a step sends:
// 4 bytes in place of a bit for each token.
//
// Law: the row of id_of(matcher) is what matcher.fill_bitmask() writes.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "parlance/constraint.h"

namespace parlance {

// Safe to use from many threads, except clear(), which must be alone.
// Movable; a table that was moved from may only be destroyed or assigned to.
class MaskTable {
 public:
  // The mask excludes nothing (Matcher::fill_bitmask() returns false).
  static constexpr std::int32_t kNothingExcluded = -1;
  // The mask has no row: fill_bitmask() must write it.
  static constexpr std::int32_t kNotListed = -2;

  static constexpr std::size_t kDefaultRows = 1024;

  // A table for the matchers of one compiler, with at most `max_rows` rows (at
  // least 1, at most 2^20) of compiler.mask_words() words each.  The memory of
  // a row is touched when the row is written.
  explicit MaskTable(const Compiler& compiler,
                     std::size_t max_rows = kDefaultRows);
  ~MaskTable();
  MaskTable(MaskTable&&) noexcept;
  MaskTable& operator=(MaskTable&&) noexcept;

  // The row with the mask of the next token, which is added if it is new.
  // kNotListed if the table is full, if the matcher is of another compiler, or
  // if the mask is not kept (it does not fit into the compiler's caches; the
  // matcher has stop tokens of its own that differ from those of 16 others).
  //
  // Complexity: O(1) for a mask that is known, which is not copied.
  std::int32_t id_of(Matcher& matcher);

  // Rows so far.  A row never changes, until clear().
  std::size_t size() const;
  std::size_t max_rows() const;
  std::size_t mask_words() const;
  // Rows `begin` to `end` (exclusive), one after another.  Valid until the
  // table is destroyed; clear() allows the rows to be written again.
  //
  // REQUIRES: begin <= end <= size().  Otherwise the span is empty.
  std::span<const std::int32_t> rows(std::size_t begin, std::size_t end) const;

  // Starts at 0; clear() adds 1.  Numbers of another version mean nothing.
  std::uint64_t version() const;
  // Removes all rows, for example when the table is full of masks of requests
  // that are over.
  void clear();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace parlance

#endif  // PARLANCE_MASK_TABLE_H_
