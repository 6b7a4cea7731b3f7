// The loops that read sixteen bytes at a time, so that their instructions can
// be counted.  scripts/platforms --vectors compiles this with vectors and
// without, and counts what each executes.
//
//   vectors KIND BYTES   runs one loop over a text of so many bytes, and prints
//                        a number that is the same with vectors and without
//
// The text is what a model writes: lines of some sixty characters, and now and
// then a quote, a letter beyond ASCII or a bracket.  A search for two bytes is
// for texts where the first of them is frequent, such as markup.  KIND "none"
// only makes the text.

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "automata/accelerator.h"
#include "base/utf8.h"
#include "json/find_special.h"

namespace parlance {
namespace {

std::string make_text(std::size_t bytes, bool markup) {
  constexpr std::string_view kMarkup =
      "<tr><td>Bern</td><td>12</td></tr>\n<tr><td>a < b</td></tr>\n";
  constexpr std::string_view kLines =
      "The weather in Bern is sunny today, with little wind from the\n"
      "west. Tomorrow \"light rain\" is likely, from about noon onwards\n"
      "and until the evening; in Z\xC3\xBCrich it stays dry all of the day.\n"
      "If a < b, take the first; <b>else</b> the second of the values.\n";
  std::string out;
  while (out.size() < bytes) out += markup ? kMarkup : kLines;
  out.resize(bytes);
  return out;
}

// The number of stops that are found: each search begins after the last stop.
template <class Find>
std::size_t count_stops(std::string_view text, const Find& find) {
  std::size_t count = 0;
  while (!text.empty()) {
    const std::size_t at = find(text);
    if (at >= text.size()) break;
    ++count;
    text.remove_prefix(at + 1);
  }
  return count;
}

std::size_t run(std::string_view kind, std::string_view text) {
  if (kind == "none") return text.size();
  if (kind == "utf-8") return count_stops(text, base::ascii_prefix);
  if (kind == "json") {
    return count_stops(text, [](std::string_view rest) {
      const char* const begin = rest.data();
      const char* const end = begin + rest.size();
      return static_cast<std::size_t>(json::find_special(begin, end) - begin);
    });
  }
  automata::Accelerator::Bytes leaves = {};
  leaves['<'] = true;
  if (kind == "stops") leaves['{'] = leaves['['] = true;
  const automata::Accelerator accelerator(leaves, nullptr);
  const unsigned char seconds[] = {'|', 'T'};
  if (kind == "pairs") accelerator.refine(seconds);
  return count_stops(text, [&](std::string_view rest) {
    return accelerator.find(rest.data(), rest.size());
  });
}

}  // namespace
}  // namespace parlance

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string_view kind = argv[1];
  const std::string text =
      parlance::make_text(std::strtoul(argv[2], nullptr, 10), kind == "pairs");
  std::printf("%zu\n", parlance::run(kind, text));
  return 0;
}
