// Bytes that change nothing; see readings.h.

#include <algorithm>

#include "tags/readings.h"

namespace parlance::tags {
namespace {

constexpr std::size_t kKeptSkippings = 8;

// Bytes of the character that `text` begins with; 0 if there is no whole one.
std::size_t character(std::string_view text) {
  const auto at = [&](std::size_t i) {
    return static_cast<std::uint8_t>(text[i]);
  };
  const auto tail = [&](std::size_t i) { return (at(i) & 0xC0) == 0x80; };
  const std::uint8_t lead = at(0);
  if (lead < 0xE0) return text.size() >= 2 && tail(1) ? 2 : 0;
  if (lead < 0xF0) {
    if (text.size() < 3 || !tail(1) || !tail(2)) return 0;
    if (lead == 0xE0 && at(1) < 0xA0) return 0;
    return lead == 0xED && at(1) >= 0xA0 ? 0 : 3;
  }
  if (text.size() < 4 || !tail(1) || !tail(2) || !tail(3)) return 0;
  if (lead == 0xF0 && at(1) < 0x90) return 0;
  return lead == 0xF4 && at(1) >= 0x90 ? 0 : 4;
}

}  // namespace

std::size_t Readings::skip(std::string_view bytes) {
  const Place& first = kernel_.front().place;
  if (!first.inside) return 0;
  switch (code_.code[first.pc].op) {
    case Op::kMachine:
      return kernel_.size() == 1 ? skip_machine(bytes) : 0;
    case Op::kText:
    case Op::kTextBefore:
      return first.at.lex == 0 ? skip_text(bytes) : 0;
    default:
      return 0;
  }
}

// Inside a JSON text or a pattern that cannot end here.
std::size_t Readings::skip_machine(std::string_view bytes) {
  Place& place = kernel_.front().place;
  grammar::Recogniser& reader = machine(code_.code[place.pc]);
  std::size_t read = 0;
  while (read < bytes.size() && !reader.can_end(place.at)) {
    const grammar::Config next =
        reader.step(place.at, static_cast<std::uint8_t>(bytes[read]));
    if (next.dead()) break;
    if (static_cast<std::uint8_t>(bytes[read]) >= 0xC0) {
      mark_.assign(kernel_.begin(), kernel_.end());
      mark_position_ = position_ + read;
    }
    place.at = next;
    ++read;
  }
  position_ += read;
  if (read > 0) closed_ = false;
  return read;
}

std::size_t Readings::skip_text(std::string_view bytes) {
  const Skipping* table = skipping();
  if (table == nullptr) return 0;
  std::size_t read = 0;
  while (read < bytes.size()) {
    const std::uint8_t kind =
        table->bytes[static_cast<std::uint8_t>(bytes[read])];
    if (kind == kPlain) {
      ++read;
      continue;
    }
    const std::size_t size =
        kind == kLead ? character(bytes.substr(read, 4)) : 0;
    if (size == 0) break;
    read += size;
  }
  position_ += read;
  if (read > 0) closed_ = false;
  return read;
}

// Null where a thread is not at rest.
const Readings::Skipping* Readings::skipping() {
  for (const Thread& thread : kernel_) {
    const Place& place = thread.place;
    const Op op = code_.code[place.pc].op;
    const bool text = op == Op::kText || op == Op::kTextBefore;
    const bool at_rest = place.inside && text && place.at.lex == 0 &&
                         place.at.frame == 0 && place.at.count == kMany &&
                         place.at.extra == kMany;
    if (!at_rest) return nullptr;
  }
  for (const Skipping& known : skippings_) {
    if (std::equal(known.places.begin(), known.places.end(), kernel_.begin(),
                   kernel_.end(), [](const Place& place, const Thread& thread) {
                     return place == thread.place;
                   })) {
      return &known;
    }
  }
  Skipping made;
  if (!make_skipping(made)) made.bytes.fill(kStop);
  if (skippings_.size() == kKeptSkippings) {
    skippings_.erase(skippings_.begin());
  }
  skippings_.push_back(std::move(made));
  return &skippings_.back();
}

// False if threads that are not in the kernel wait for text.
bool Readings::make_skipping(Skipping& out) {
  for (const Thread& thread : kernel_) out.places.push_back(thread.place);
  close();
  out.bytes.fill(kPlain);
  std::fill(out.bytes.begin() + 0x80, out.bytes.end(), kStop);
  std::fill(out.bytes.begin() + 0xC2, out.bytes.begin() + 0xF5, kLead);
  std::size_t at_rest = 0;
  for (const Thread& thread : waiting_) {
    const Instruction& at = code_.code[thread.place.pc];
    switch (at.op) {
      case Op::kText:
      case Op::kTextBefore: {
        if (at_rest == kernel_.size() ||
            thread.place != kernel_[at_rest].place ||
            thread.trace != kernel_[at_rest].trace) {
          return false;
        }
        ++at_rest;
        const FreeText& text = code_.frees[at.index];
        for (std::size_t byte = 0; byte < text.special.size(); ++byte) {
          if (text.special[byte]) out.bytes[byte] = kStop;
        }
        break;
      }
      case Op::kLiteral: {
        const std::string& text = code_.texts[at.index];
        out.bytes[static_cast<std::uint8_t>(text[thread.place.at.lex])] = kStop;
        break;
      }
      case Op::kMachine: {
        const auto firsts = machine(at).first_bytes(thread.place.at);
        for (std::size_t byte = 0; byte < 256; ++byte) {
          if ((firsts[byte >> 6] >> (byte & 63) & 1) != 0) {
            out.bytes[byte] = kStop;
          }
        }
        break;
      }
      default:
        break;
    }
  }
  return at_rest == kernel_.size();
}

}  // namespace parlance::tags
