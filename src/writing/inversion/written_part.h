#ifndef PARLANCE_SRC_INVERSION_WRITTEN_PART_H_
#define PARLANCE_SRC_INVERSION_WRITTEN_PART_H_

// What a prompt has written of a response, as the format's parser reads it, and
// whether the request permits it.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inversion/request.h"
#include "parlance/error.h"

namespace parlance::inversion {

struct WrittenPart {
  // A call of the message, or the last one, which is not complete.
  struct Call {
    std::string name;  // "" if it is not known yet
    std::size_t begin = 0;
    std::size_t end = 0;
    bool complete = false;
  };

  std::string finished = {};  // the field of the last region that has ended
  std::size_t end = 0;        // of that region
  std::string open = {};      // the field of the region that is open
  std::size_t body = 0;       // where its text begins
  std::vector<Call> calls = {};
  std::optional<std::size_t> arguments = std::nullopt;  // of the open call
  std::string held = {};                                // at the end
  bool turn_ended = false;

  // The call that is open; null for none.
  const Call* open_call() const {
    return calls.empty() || calls.back().complete ? nullptr : &calls.back();
  }
  std::size_t complete_calls() const {
    return calls.size() - (open_call() == nullptr ? 0 : 1);
  }
};

// kConflict at "/prefix" for calls that the request does not permit, and for a
// turn that has ended without a call that it asks for.
std::optional<Error> check_permitted(const Request& request,
                                     const WrittenPart& read);

// A request that permits more than the original one, so that the text that the
// prompt has written may fit.
struct WiderRequest {
  Request request;
  std::string_view note = {};  // what it does not enforce; "" for nothing
  // It is meant for the part of the response after its calls.
  bool after_calls = false;
};

// REQUIRES: check_permitted().  `one_call`: the format cannot have several.
std::vector<WiderRequest> wider_requests(const Request& request,
                                         const WrittenPart& read,
                                         bool one_call);

}  // namespace parlance::inversion

#endif  // PARLANCE_SRC_INVERSION_WRITTEN_PART_H_
