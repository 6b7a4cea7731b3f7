#ifndef PARLANCE_SRC_RECOGNISER_USER_DATA_H_
#define PARLANCE_SRC_RECOGNISER_USER_DATA_H_

// Data that users of a recogniser or of a language store with it, so that both
// live equally long: the masks made for one vocabulary, for instance.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace parlance::recogniser {

class UserData {
 public:
  virtual ~UserData() = default;
  virtual std::size_t memory_bytes() const = 0;
};

// Not thread-safe.
class UserDataStore {
 public:
  // The data stored under `key`; null if there is none.
  std::shared_ptr<UserData> user_data(std::uint64_t key) const;
  // Stores data under `key`, which is of one owner: the data may read what the
  // owner has, and what it is stored with.  Data of a few keys only are stored;
  // the oldest are dropped.
  // REQUIRES: `key` is from new_user_key() and has no data here.
  void set_user_data(std::uint64_t key, std::shared_ptr<UserData> user_data);
  std::size_t user_data_bytes() const;
  // A key that no other call has returned.
  static std::uint64_t new_user_key();

 private:
  struct Entry {
    std::uint64_t key = 0;
    std::shared_ptr<UserData> what;
  };
  std::vector<Entry> user_entries_;
};

}  // namespace parlance::recogniser

#endif  // PARLANCE_SRC_RECOGNISER_USER_DATA_H_
