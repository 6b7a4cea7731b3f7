#ifndef PARLANCE_SRC_MASK_PROGRAM_H_
#define PARLANCE_SRC_MASK_PROGRAM_H_

// A recogniser made for a vocabulary: what all texts of one constraint share.
//
// Everything here takes the recogniser's lock, once per call, for as long as
// the recogniser is asked.  Masks are copied outside of it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/marks.h"
#include "grammar/recogniser.h"
#include "mask/machine_masks.h"
#include "mask/shared.h"
#include "mask/stop_set.h"

namespace parlance::mask {

// Safe to use from many threads.
class Program {
 public:
  // `marks`: those that the recogniser reads; null for none.
  Program(std::shared_ptr<Shared> shared,
          std::shared_ptr<grammar::Recogniser> recogniser,
          std::shared_ptr<const grammar::Marks> marks = nullptr);

  Shared& shared() const { return *shared_; }
  Config start() const { return start_; }

  // Writes the mask of `config`, with the tokens of `stops` set where they end
  // a text.
  // REQUIRES: `row` has shared().mask_words() words.
  void fill(Config config, const StopSet& stops, std::span<std::uint32_t> row);
  // The same if the mask is known; else false and nothing is written.
  bool fill_if_known(Config config, const StopSet& stops,
                     std::span<std::uint32_t> row);

  // The configuration after `bytes`, in which the spelling of a mark that may
  // come is that mark; dead if they do not fit.
  Config read(Config config, std::string_view bytes);
  // The same after a token, whether by its bytes or by its id.
  Config read_token(Config config, Id id);
  bool can_end(Config config);
  // Whether a stop token fits: the text may end before it, or with it as a
  // mark.
  bool can_stop(Config config, Id id);
  // Whether nothing may follow.
  bool nothing_follows(Config config);

  // What must come next, in order: marks, and bytes between them.
  struct Forced {
    std::string text;             // of a mark: its spelling
    std::optional<Id> mark = {};  // its lowest token
  };
  // See Matcher::forced_bytes().  `*end` is where they lead.
  std::vector<Forced> forced(Config config, std::size_t limit, Config* end);
  // Whether some token goes on with bytes below the node `root` of the trie,
  // where `config` stands.
  bool any_below(std::uint32_t root, Config config);

  // Of the recogniser and what is known of its masks.
  std::size_t memory_bytes();

 private:
  using Next = MachineMasks::Next;

  // Take the recogniser's mutex where they need it.
  void set_stops(Config config, bool can_end, const StopSet& stops,
                 std::span<std::uint32_t> row);
  bool ends_with(Config config, Id id);

  // REQUIRES: the caller holds the recogniser's mutex.
  Config key_of(Config config);
  Config read_locked(Config config, std::string_view bytes);
  Config read_mark(Config config, std::string_view* bytes);
  const Next& next_forced(Config config);
  Next find_next(Config config);
  Next next_with_marks(Config config, std::vector<std::uint32_t> ids,
                       Next next);
  MaskHandle known_to_part(Config config);
  void tell_part(Config config, MaskHandle handle);

  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<grammar::Recogniser> recogniser_;
  const std::shared_ptr<const grammar::Marks> marks_;
  Config start_;
  // Of the recogniser, under its lock.
  std::shared_ptr<MachineMasks> masks_;
};

}  // namespace parlance::mask

#endif  // PARLANCE_SRC_MASK_PROGRAM_H_
