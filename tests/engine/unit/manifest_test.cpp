// Manifests survive being cut off, and nothing that became another file is removed.
#include "execute/manifest.hpp"

#include <gtest/gtest.h>

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
    base::Identity found;
    EXPECT_EQ(base::identify(AT_FDCWD, (place_ + "/run/" + relative).c_str(), found), 0);
    return {kind, found.device, found.inode, found.birth_ns, relative};
  }
  [[nodiscard]] std::string journal() const { return place_ + "/journal"; }
  [[nodiscard]] std::string run() const { return place_ + "/run"; }
  /// A plan that works in this directory, with a tree that has the usual names.
  [[nodiscard]] schema::Plan plan() const {
    schema::Plan made;
    made.directory = run();
    made.files.emplace_back().tree.emplace();
    return made;
  }
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
  const auto born = parse_manifest("file 1 2 77 a b\n");
  ASSERT_EQ(born.size(), 1U);
  EXPECT_EQ(born[0].birth_ns, 77U);
  EXPECT_EQ(born[0].path, "a b");
  EXPECT_EQ(parse_manifest({"file 1 2 a\n\0file 1 2 b\n", 22}).size(), 1U);
}

TEST_F(ManifestTest, GrowsRewindsAndIsReadByOthers) {
  Manifest manifest(journal(), run(), 3);
  for (std::uint64_t i = 0; i < 50'000; ++i) {
    manifest.add({EntryKind::kFile, 1, i, 0, "a/rather/long/name." + std::to_string(i)});
  }
  const auto entries = read_manifests(journal(), run());
  ASSERT_EQ(entries.size(), 50'000U);
  EXPECT_EQ(entries[49'999].inode, 49'999U);
  EXPECT_TRUE(manifest.owns({.device = 1, .inode = 49'999}));
  EXPECT_FALSE(manifest.owns({.device = 2, .inode = 49'999}));
  EXPECT_TRUE(manifests_in_use(journal(), run()));
  manifest.rewind(0, {{EntryKind::kKept, 7, 8, 0, "kept"}});
  EXPECT_EQ(manifest.since(0).size(), 1U);
  EXPECT_FALSE(manifest.owns({.device = 1, .inode = 49'999}));
}

TEST_F(ManifestTest, AnInodeThatIsUsedAgainIsAnotherFile) {
  Manifest manifest(journal(), run(), 0);
  manifest.add({EntryKind::kFile, 1, 2, 100, "a"});
  EXPECT_TRUE(manifest.owns({.device = 1, .inode = 2, .birth_ns = 100}));
  EXPECT_FALSE(manifest.owns({.device = 1, .inode = 2, .birth_ns = 101}));
  EXPECT_TRUE(manifest.denies("a", {.device = 1, .inode = 2, .birth_ns = 101}));
  EXPECT_FALSE(manifest.denies("a", {.device = 1, .inode = 2, .birth_ns = 100}));
  EXPECT_FALSE(manifest.denies("b", {.device = 1, .inode = 2, .birth_ns = 101}));
  // Made again under the same name: the last listing counts.
  manifest.add({EntryKind::kFile, 1, 2, 102, "a"});
  EXPECT_FALSE(manifest.denies("a", {.device = 1, .inode = 2, .birth_ns = 102}));
}

TEST_F(ManifestTest, CleanLeavesAFileThatWasBornLater) {
  {
    Manifest manifest(journal(), run(), 0);
    manifest.add(entry(EntryKind::kRoot, "."));
    Entry ours = make_file(EntryKind::kFile, "reused");
    if (ours.birth_ns == 0) GTEST_SKIP() << "the file system knows no times of birth";
    --ours.birth_ns;
    manifest.add(ours);
  }
  EXPECT_EQ(clean(journal(), plan(), Kept::kStay).removed, 0U);
  EXPECT_TRUE(exists("reused"));
}

TEST_F(ManifestTest, BothWaysOfOpeningFollowNoLink) {
  fs::create_directories(run() + "/a/b");
  make_file(EntryKind::kFile, "a/b/c");
  fs::create_directory_symlink(run() + "/a", run() + "/link");
  fs::create_symlink(run() + "/a/b/c", run() + "/a/last");
  const base::Descriptor root(::open(run().c_str(), O_RDONLY | O_DIRECTORY));
  for (const auto& opens : {base::open_beneath, base::walk_beneath}) {
    EXPECT_TRUE(base::Descriptor(opens(root.get(), "a/b/c", O_RDWR, 0)));
    EXPECT_TRUE(base::Descriptor(opens(root.get(), "a/b/new", O_RDWR | O_CREAT, 0644)));
    for (const char* name : {"link/b/c", "a/last", "link", "a/b/none", "a/b/c/d"}) {
      EXPECT_FALSE(base::Descriptor(opens(root.get(), name, O_RDWR, 0))) << name;
    }
  }
}

TEST_F(ManifestTest, CleanFollowsNoLink) {
  {
    Manifest manifest(journal(), run(), 0);
    manifest.add(entry(EntryKind::kRoot, "."));
    fs::create_directory(run() + "/d");
    manifest.add(make_file(EntryKind::kFile, "d/f"));
    fs::rename(run() + "/d", place_ + "/moved");
    fs::create_symlink(place_ + "/moved", run() + "/d");
  }
  EXPECT_EQ(clean(journal(), plan(), Kept::kStay).removed, 0U);
  EXPECT_TRUE(fs::exists(place_ + "/moved/f"));
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
  const Leftover left = clean(journal(), plan(), Kept::kStay);
  EXPECT_EQ(left.count, 4U);
  for (const char* name : {"replaced", "kept", "tree/theirs", "strange", kMarkerName}) {
    EXPECT_TRUE(exists(name)) << name;
  }
  for (const char* name : {"ours", "tree/f.0.1"}) EXPECT_FALSE(exists(name)) << name;
  EXPECT_EQ(clean(journal(), plan(), Kept::kGo).count, 3U);
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
  EXPECT_EQ(clean(journal(), plan(), Kept::kStay).count, 0U);
  EXPECT_FALSE(fs::exists(run()));
}

TEST_F(ManifestTest, CleanLeavesADirectoryThatIsNotTheRuns) {
  {
    Manifest manifest(journal(), run(), 0);
    manifest.add({EntryKind::kRoot, 1, 1, 0, "."});
    manifest.add(make_file(EntryKind::kFile, "ours"));
  }
  EXPECT_EQ(clean(journal(), plan(), Kept::kStay).removed, 0U);
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
  EXPECT_EQ(clean(nowhere, plan(), Kept::kStay).count, 0U);
  EXPECT_FALSE(fs::exists(run()));
}

}  // namespace
}  // namespace venturi::execute
