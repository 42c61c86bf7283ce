// Manifests survive being cut off, and nothing that became another file is removed.
#include "execute/manifest.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "execute/removal.hpp"

namespace venturi::execute {
namespace {

namespace fs = std::filesystem;

/// A directory of its own for each test.
class ManifestTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "venturi-manifest-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    place_ = name;
    fs::create_directory(place_ + "/journal");
    fs::create_directory(place_ + "/run");
  }
  void TearDown() override { fs::remove_all(place_); }

  Entry make_file(EntryKind kind, const std::string& relative) {
    const std::string full = place_ + "/run/" + relative;
    std::ofstream(full) << "x";
    return entry(kind, relative);
  }
  Entry entry(EntryKind kind, const std::string& relative) {
    struct stat status{};
    EXPECT_EQ(::stat((place_ + "/run/" + relative).c_str(), &status), 0);
    return {kind, status.st_dev, status.st_ino, relative};
  }
  [[nodiscard]] std::string journal() const { return place_ + "/journal"; }
  [[nodiscard]] std::string run() const { return place_ + "/run"; }
  [[nodiscard]] bool exists(const std::string& relative) const {
    return fs::exists(place_ + "/run/" + relative);
  }

  std::string place_;
};

TEST(ParseManifest, LeavesOutWhatWasCutOff) {
  const auto entries =
      parse_manifest("file 1 2 a b\nkept 3 4 c\nnonsense 1 2 d\nfile x 2 e\nfile 1");
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].path, "a b");
  EXPECT_EQ(entries[1].kind, EntryKind::kKept);
  EXPECT_EQ(parse_manifest({"file 1 2 a\n\0file 1 2 b\n", 22}).size(), 1U);
}

TEST_F(ManifestTest, GrowsRewindsAndIsReadByOthers) {
  Manifest manifest(journal(), run(), 3);
  for (std::uint64_t i = 0; i < 50'000; ++i) {
    manifest.add({EntryKind::kFile, 1, i, "a/rather/long/name." + std::to_string(i)});
  }
  const auto entries = read_manifests(journal(), run());
  ASSERT_EQ(entries.size(), 50'000U);
  EXPECT_EQ(entries[49'999].inode, 49'999U);
  EXPECT_TRUE(manifest.owns(1, 49'999));
  EXPECT_FALSE(manifest.owns(2, 49'999));
  EXPECT_TRUE(manifests_in_use(journal(), run()));
  manifest.rewind(0, {{EntryKind::kKept, 7, 8, "kept"}});
  EXPECT_EQ(manifest.since(0).size(), 1U);
  EXPECT_FALSE(manifest.owns(1, 49'999));
}

TEST_F(ManifestTest, CleanTakesOnlyWhatIsListedAndStillTheSame) {
  {
    Manifest manifest(journal(), run(), 0);
    manifest.add(entry(EntryKind::kRoot, "."));
    manifest.add(make_file(EntryKind::kMarker, kMarkerName));
    manifest.add(make_file(EntryKind::kFile, "ours"));
    manifest.add(make_file(EntryKind::kFile, "replaced"));
    manifest.add(make_file(EntryKind::kKept, "kept"));
    fs::create_directory(run() + "/tree");
    manifest.add(entry(EntryKind::kTree, "tree"));
    make_file(EntryKind::kFile, "tree/f.0.1");
    make_file(EntryKind::kFile, "tree/theirs");
    make_file(EntryKind::kFile, "strange");
    make_file(EntryKind::kFile, "other");
    fs::rename(run() + "/other", run() + "/replaced");
  }
  const Leftover left = clean(journal(), run(), Kept::kStay);
  EXPECT_EQ(left.count, 4U);
  for (const char* name : {"replaced", "kept", "tree/theirs", "strange", kMarkerName}) {
    EXPECT_TRUE(exists(name)) << name;
  }
  for (const char* name : {"ours", "tree/f.0.1"}) EXPECT_FALSE(exists(name)) << name;
  EXPECT_EQ(clean(journal(), run(), Kept::kGo).count, 3U);
  EXPECT_FALSE(exists("kept"));
}

TEST_F(ManifestTest, CleanTakesTheDirectoryWhenNothingElseIsInIt) {
  {
    Manifest manifest(journal(), run(), 0);
    manifest.add(entry(EntryKind::kRoot, "."));
    manifest.add(make_file(EntryKind::kMarker, kMarkerName));
    fs::create_directories(run() + "/a/b");
    manifest.add(entry(EntryKind::kDirectory, "a"));
    manifest.add(entry(EntryKind::kDirectory, "a/b"));
    manifest.add(make_file(EntryKind::kStagedFile, "a/b/c"));
  }
  EXPECT_EQ(clean(journal(), run(), Kept::kStay).count, 0U);
  EXPECT_FALSE(fs::exists(run()));
}

TEST_F(ManifestTest, CleanLeavesADirectoryThatIsNotTheRuns) {
  {
    Manifest manifest(journal(), run(), 0);
    manifest.add({EntryKind::kRoot, 1, 1, "."});
    manifest.add(make_file(EntryKind::kFile, "ours"));
  }
  EXPECT_EQ(clean(journal(), run(), Kept::kStay).removed, 0U);
  EXPECT_TRUE(exists("ours"));
}

TEST_F(ManifestTest, WithoutAJournalTheDirectoryHasTheManifest) {
  const std::string nowhere = place_ + "/nowhere";
  {
    Manifest manifest(nowhere, run(), 5);
    manifest.add(entry(EntryKind::kRoot, "."));
    manifest.add(make_file(EntryKind::kFile, "ours"));
  }
  EXPECT_TRUE(exists(".manifest.5"));
  EXPECT_EQ(clean(nowhere, run(), Kept::kStay).count, 0U);
  EXPECT_FALSE(fs::exists(run()));
}

}  // namespace
}  // namespace venturi::execute
