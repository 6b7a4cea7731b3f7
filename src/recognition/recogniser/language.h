#ifndef PARLANCE_SRC_RECOGNISER_LANGUAGE_H_
#define PARLANCE_SRC_RECOGNISER_LANGUAGE_H_

// A language, and the newest of its tables: what a grammar and all constraints
// on it hold, and what a schema is to the rules around it.
//
// A recogniser is one set of tables.  When they are full, whoever comes next
// makes empty ones, and all who come later get these.  Older tables live for as
// long as someone has configurations in them.

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "base/mutex.h"
#include "recogniser/recogniser.h"
#include "recogniser/user_data.h"

namespace parlance::recogniser {

// Safe to use from many threads, but for the user data: these are guarded by
// the mutex.
class Language : public UserDataStore {
 public:
  explicit Language(std::shared_ptr<Recogniser> first)
      : newest_(std::move(first)) {}

  // The newest tables if they have room, else empty ones, which are the newest
  // from then on.  Tables that are never full stay.
  // REQUIRES: the caller has locked no tables, and not the mutex.
  std::shared_ptr<Recogniser> with_room() {
    const std::lock_guard lock(mutex);
    if (newest_->last_room() != Recogniser::Room::kLeft) {
      if (auto empty = newest_->fresh()) newest_ = std::move(empty);
    }
    return newest_;
  }

  // Bytes of the newest tables, without parts, and of all user data.  Nothing
  // if the language or the tables are in use.
  std::optional<std::size_t> try_memory_bytes() {
    const std::unique_lock lock(mutex, std::try_to_lock);
    if (!lock) return std::nullopt;
    const std::unique_lock tables(newest_->mutex, std::try_to_lock);
    if (!tables) return std::nullopt;
    return newest_->own_bytes() + newest_->user_data_bytes() +
           user_data_bytes();
  }

  base::Mutex mutex;

 private:
  std::shared_ptr<Recogniser> newest_;
};

}  // namespace parlance::recogniser

#endif  // PARLANCE_SRC_RECOGNISER_LANGUAGE_H_
