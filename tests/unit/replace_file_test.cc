// Files that are replaced while others read and write them.

#include "base/replace_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace parlance::base::replace_file_test {
namespace {

namespace fs = std::filesystem;

class ReplaceFileInFolder : public ::testing::Test {
 protected:
  ReplaceFileInFolder() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~ReplaceFileInFolder() override { fs::remove_all(folder_); }

  std::string path(const char* name) const { return (folder_ / name).string(); }
  std::string read(const char* name) const {
    std::ifstream file(path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& at, std::string_view bytes) const {
    std::ofstream(at) << bytes;
  }
  std::size_t entries() const {
    std::size_t out = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_)) {
      ++out;
    }
    return out;
  }

  const fs::path folder_ = fs::path(::testing::TempDir()) /
                           ("parlance_replace_" + std::to_string(::getpid()));
};

unsigned mode_of(const std::string& path) {
  struct stat facts = {};
  EXPECT_EQ(::stat(path.c_str(), &facts), 0) << path;
  return facts.st_mode & 07777;
}

TEST_F(ReplaceFileInFolder, KeepsTheMode) {
  write(path("file"), "old");
  for (const unsigned mode : {0600u, 0640u, 0444u, 0777u}) {
    ASSERT_EQ(::chmod(path("file").c_str(), mode), 0);
    ASSERT_FALSE(replace_file(path("file"), "new"));
    EXPECT_EQ(mode_of(path("file")), mode);
  }
  const mode_t old = ::umask(027);
  ASSERT_FALSE(replace_file(path("fresh"), "new"));
  ::umask(old);
  EXPECT_EQ(mode_of(path("fresh")), 0640u);
}

// The names of temporary files are known: files, folders and links that have
// them are somebody else's.
TEST_F(ReplaceFileInFolder, LeavesWhatIsBesideItAlone) {
  write(path("precious"), "precious");
  write(path("file.new"), "precious");
  const std::string begin = path("file") + ".new-" + std::to_string(::getpid());
  for (int i = 0; i < 100; ++i) {
    const std::string name = begin + "-" + std::to_string(i);
    if (i % 3 == 0) write(name, "precious");
    if (i % 3 == 1) fs::create_symlink("precious", name);
    if (i % 3 == 2) fs::create_symlink("nowhere", name);
  }
  const std::size_t before = entries();
  ASSERT_FALSE(replace_file(path("file"), "new"));
  EXPECT_EQ(read("file"), "new");
  EXPECT_EQ(entries(), before + 1);
  EXPECT_EQ(read("precious"), "precious");
  EXPECT_EQ(read("file.new"), "precious");
  EXPECT_FALSE(fs::exists(path("nowhere")));
}

TEST_F(ReplaceFileInFolder, AFailureLeavesNothingBehind) {
  const std::string longest(250, 'x');  // the name beside it is too long
  EXPECT_TRUE(replace_file(path(longest.c_str()), "new"));
  EXPECT_TRUE(replace_file(path("no such folder/file"), "new"));
  EXPECT_EQ(entries(), 0u);
}

// Writers of one name at the same time, in threads and in processes: a reader
// always finds one of the texts, whole.
TEST_F(ReplaceFileInFolder, ManyWritersAndReaders) {
  const std::string file = path("file");
  const std::vector<std::string> texts = {std::string(200'000, 'a'),
                                          std::string(100'000, 'b'),
                                          std::string(10, 'c')};
  ASSERT_FALSE(replace_file(file, texts[0]));
  const auto save = [&](std::size_t first) {
    bool good = true;
    for (std::size_t i = 0; i < 30; ++i) {
      good = !replace_file(file, texts[(first + i) % texts.size()]) && good;
    }
    return good;
  };
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(save(0) ? 0 : 1);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] { EXPECT_TRUE(save(i)); });
  }
  for (int i = 0; i < 200; ++i) {
    const std::string found = read("file");
    ASSERT_FALSE(found.empty());
    EXPECT_NE(std::find(texts.begin(), texts.end(), found), texts.end())
        << found.size() << ' ' << found[0];
  }
  for (std::thread& thread : threads) thread.join();
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(entries(), 1u);
}

}  // namespace
}  // namespace parlance::base::replace_file_test
