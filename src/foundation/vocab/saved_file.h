#ifndef PARLANCE_SRC_VOCAB_SAVED_FILE_H_
#define PARLANCE_SRC_VOCAB_SAVED_FILE_H_

// The file of a saved vocabulary and of the tables that are made from it.
//
//   SavedHeader | section | section | ...
//
// The header has the place and the checksum of each section.  A file has the
// section of the tokens (table.h); the others may be missing.  Each section is
// read where it lies.
//
// Damage is found by the checksums: that of the tokens when a file is opened,
// those of the tables when they are read; tables can be built again.
// A forged file can have right checksums, so the reader of each section checks
// what it relies on.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "parlance/error.h"
#include "vocab/flat_arrays.h"

namespace parlance::vocab {

enum class SavedSection : std::size_t {
  kTokens,  // table.h
  // What can be made of the tokens.
  kTokenTables,    // token_tables.h
  kStringClasses,  // string_class_trie.h
  kTokenClasses,   // token_class_trie.h
};
inline constexpr std::size_t kSavedSections = 4;

// Whether bytes, or a file, begin as a saved file does.
bool is_saved(std::string_view bytes);
bool is_saved_file(const std::string& path);

// Cheap to copy; copies share the bytes.
class SavedFile {
 public:
  // Errors: kUnsupportedVersion for a file that another version of the library
  // wrote; kBadVocabulary for other bytes, and for a file whose header or
  // tokens are damaged.
  // Complexity: O(bytes of the tokens).
  static Result<SavedFile> read(OwnedBytes file);

  // Empty if the file has no such section, or if it is damaged.
  // Complexity: O(1) for the tokens, else O(bytes).
  OwnedBytes section(SavedSection section) const;
  // The same without looking for damage.
  bool has(SavedSection section) const { return !part(section).bytes.empty(); }

 private:
  struct Part {
    std::string_view bytes;
    std::uint64_t checksum = 0;

    bool intact() const;
  };
  SavedFile() = default;
  const Part& part(SavedSection section) const {
    return parts_[static_cast<std::size_t>(section)];
  }

  OwnedBytes file_;
  std::array<Part, kSavedSections> parts_;
};

// A file of these sections; an empty one is missing.
// REQUIRES: the size of each section is a multiple of 8.
std::string saved_file(
    const std::array<std::string_view, kSavedSections>& sections);

// The error that a file is damaged.
Error damaged_file();

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_SAVED_FILE_H_
