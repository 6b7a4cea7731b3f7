#ifndef PARLANCE_SRC_VOCAB_SAVED_FILE_H_
#define PARLANCE_SRC_VOCAB_SAVED_FILE_H_

// The file of a saved vocabulary, and of what is made from the vocabulary.
//
//   SavedHeader | section | section | ...
//
// The header has the place and the checksum of each section.  A file has the
// section of the tokens (table.h); the others may be missing.  Each section is
// read where it lies.
//
// Damage is found by the checksums when a file is opened.  A forged file can
// have right checksums, so the reader of each section checks what it relies on.

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
  kTokens,       // table.h
  kTokenTables,  // token_tables.h
};
inline constexpr std::size_t kSavedSections = 2;

// Whether bytes, or a file, begin as a saved file does.
bool is_saved(std::string_view bytes);
bool is_saved_file(const std::string& path);

// Cheap to copy; copies share the bytes.
class SavedFile {
 public:
  // Errors: kUnsupportedVersion for a file that another version of the library
  // wrote; kBadVocabulary for other bytes, and for a damaged file.
  // Complexity: O(bytes).
  static Result<SavedFile> read(OwnedBytes file);

  // Empty if the file has no such section.
  OwnedBytes section(SavedSection section) const {
    return {file_.owner, sections_[static_cast<std::size_t>(section)]};
  }

 private:
  SavedFile() = default;
  OwnedBytes file_;
  std::array<std::string_view, kSavedSections> sections_;
};

// A file of these sections; an empty one is missing.
// REQUIRES: the size of each section is a multiple of 8.
std::string saved_file(
    const std::array<std::string_view, kSavedSections>& sections);

// The error that a file is damaged.
Error damaged_file();

}  // namespace parlance::vocab

#endif  // PARLANCE_SRC_VOCAB_SAVED_FILE_H_
