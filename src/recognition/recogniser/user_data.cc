// See user_data.h.

#include "recogniser/user_data.h"

#include <atomic>
#include <utility>

namespace parlance::recogniser {
namespace {

// More than one vocabulary is rare for a grammar.
constexpr std::size_t kMostOwners = 4;

}  // namespace

std::shared_ptr<UserData> UserDataStore::user_data(std::uint64_t key) const {
  for (const Entry& one : user_entries_) {
    if (one.key == key) return one.what;
  }
  return nullptr;
}

void UserDataStore::set_user_data(std::uint64_t key,
                                  std::shared_ptr<UserData> user_data) {
  if (user_entries_.size() == kMostOwners) {
    user_entries_.erase(user_entries_.begin());
  }
  user_entries_.push_back({key, std::move(user_data)});
}

std::size_t UserDataStore::user_data_bytes() const {
  std::size_t bytes = 0;
  for (const Entry& one : user_entries_) bytes += one.what->memory_bytes();
  return bytes;
}

std::uint64_t UserDataStore::new_user_key() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace parlance::recogniser
