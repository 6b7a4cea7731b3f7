#ifndef PARLANCE_SRC_JSON_RECOGNISER_PARTIAL_VALUES_H_
#define PARLANCE_SRC_JSON_RECOGNISER_PARTIAL_VALUES_H_

// What frames inside an item of an array with uniqueItems remember of its
// value, and the items before it.  unique_items.h says what for.

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/hashed_ids.h"
#include "json_recogniser/lexeme.h"
#include "json_recogniser/texts.h"
#include "json_recogniser/used_values.h"
#include "schema_solver/value_prints.h"

namespace parlance::json_recogniser {

// What a frame inside an item has of its value so far.
struct Partial {
  schema_solver::Fingerprint sum = {};  // of the prints of its members
  // The print of the key or index whose value is expected next.
  schema_solver::Fingerprint at = {};
  bool array = false;
  std::uint32_t size = 0;   // arrays: the items
  std::uint32_t parts = 0;  // a list of Parts: its members or items
  // 1 + the text of the key whose value is expected next, if the schema does
  // not spell it.
  std::uint32_t key = 0;
  // The keys so far that the schema does not spell, each with the print of
  // its member after a byte that no text has.
  UsedValues::Set extras = UsedValues::kNone;
  bool operator==(const Partial&) const = default;
};

// A member or item of a partial value, in a list.
struct Part {
  schema_solver::Fingerprint at;  // the print of its key or index
  std::uint32_t nested = 0;       // an array or object: a Partial
  std::uint32_t scalar = 0;       // else: its ValueText, in Texts
  std::uint32_t next = 0;
  bool operator==(const Part&) const = default;
};

// An array or object in an array with uniqueItems, in a list.
struct Item {
  std::uint32_t value = 0;  // a Partial
  std::uint32_t before = 0;
  UsedValues::Set scalars = kUnknown;  // scalars_in(), once known
};

// What stands for a scalar whose value is not known: no value has this text.
inline const schema_solver::ValueText kHole = "h";
// What strings inside of items begin with in a set of values, whatever the
// item.
inline constexpr char kNoted = 's';
// What the scalars under a print begin with in a set of values.
std::string under(const schema_solver::Fingerprint& print);

// The print of an array or object with these members.
schema_solver::Fingerprint print_of(const Partial& value,
                                    const schema_solver::Fingerprint& sum);

// Owned by a recogniser.  Ids are valid for ever; the values behind them are
// returned by value, because the tables move as they grow.  Id 0 stands for no
// value and ends all lists.
class PartialValues {
 public:
  // Both must outlive this.
  PartialValues(Texts& texts, UsedValues& values)
      : texts_(texts), values_(values) {
    partials_.emplace_back();
    parts_.emplace_back();
    items_.emplace_back();
  }

  Partial operator[](std::uint32_t id) const { return partials_[id]; }
  Part part(std::uint32_t id) const { return parts_[id]; }
  Item item(std::uint32_t id) const { return items_[id]; }

  std::uint32_t intern(const Partial& partial);
  std::uint32_t intern(const Part& part);
  // The partial value before a member with that key.  `foreign`: the schema
  // does not spell the key, so it may come again.
  std::uint32_t with_key(std::uint32_t partial, const std::string& key,
                         bool foreign);
  // The partial value before the next item.
  std::uint32_t with_index(std::uint32_t partial);
  // The partial value with the value that was expected.  Of members with equal
  // keys the last one counts, as readers of JSON have it.
  std::uint32_t with_part(std::uint32_t partial,
                          const schema_solver::ValueText& value,
                          std::uint32_t nested);

  // The list with one more array or object.
  std::uint32_t with_item(std::uint32_t items, std::uint32_t value);
  // The scalars inside of the items of a list: each under the print of its item
  // with a hole there, and the strings once more, whatever the item.
  //
  // Made when it is needed, which is when the next item gets there: a mask that
  // tries to end an item does not pay for its length.
  UsedValues::Set scalars_in(std::uint32_t items);
  // What scalars_in() of a copied list is.
  void set_scalars(std::uint32_t items, UsedValues::Set scalars) {
    items_[items].scalars = scalars;
  }

  std::size_t memory_bytes() const { return bytes_; }

 private:
  UsedValues::Set with_scalars(UsedValues::Set set, std::uint32_t value);

  Texts& texts_;
  UsedValues& values_;
  std::vector<Partial> partials_;
  base::HashedIds<std::uint32_t> partial_of_;
  std::vector<Part> parts_;
  base::HashedIds<std::uint32_t> part_of_;
  std::vector<Item> items_;
  // By the list and the value.
  std::unordered_map<std::uint64_t, std::uint32_t> item_of_;
  std::size_t bytes_ = 0;
};

}  // namespace parlance::json_recogniser

#endif  // PARLANCE_SRC_JSON_RECOGNISER_PARTIAL_VALUES_H_
