// Any bytes: reading whole and in pieces says the same, and what was read is
// written and read again without loss.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "json/reader.h"
#include "parlance/json.h"

namespace {

using namespace parlance::json;

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  if (size == 0) return 0;
  // The first byte chooses how the rest is cut.
  const std::size_t step = data[0] % 7 + 1;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1,
                              size - 1);
  Reader whole;
  whole.feed(text);
  whole.finish();
  Reader pieces;
  for (std::size_t i = 0; i < text.size(); i += step) {
    pieces.feed(text.substr(i, step));
  }
  pieces.finish();
  require(whole.status() == pieces.status());
  require(whole.consumed() == pieces.consumed());
  require(whole.message() == pieces.message());
  require(whole.complete() == (whole.status() == Status::kOk));
  const Value value = whole.take();
  require(value == pieces.take());

  const auto parsed = parse(text);
  if (!parsed) return 0;
  require(*parsed == value);
  for (const DumpOptions& options :
       {DumpOptions{}, DumpOptions{.ascii = false, .compact = true},
        DumpOptions{.indent = 1}}) {
    const std::string written = dump(value, options);
    const auto again = parse(written);
    require(again.has_value());
    // Surrogates that stood side by side have become one character; once that
    // is done nothing changes any more.
    require(dump(*again, options) == written);
  }
  return 0;
}
