// Manifests survive being cut off, and nothing that became another file is removed.
#include "execute/manifest.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/error.hpp"
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
    return {.kind = kind, .identity = found, .path = relative};
  }
  /// The marker with what it says.
  Entry make_marker() {
    std::ofstream(run() + "/" + kMarkerName) << marker_text("r1");
    return entry(EntryKind::kMarker, kMarkerName);
  }
  /// The run's directory and its marker, as a run lists them first.
  void begin(Manifest& manifest) {
    manifest.add(entry(EntryKind::kRoot, "."));
    manifest.add(make_marker());
  }
  [[nodiscard]] Binding binding() const { return {.key = make_key(journal())}; }
  [[nodiscard]] std::string journal() const { return place_ + "/journal"; }
  [[nodiscard]] std::string run() const { return place_ + "/run"; }
  /// A plan that works in this directory, with a tree that has the usual names.
  [[nodiscard]] schema::Plan plan() const {
    schema::Plan made;
    made.directory = run();
    made.run = "r1";
    made.files.emplace_back().tree.emplace();
    return made;
  }
  [[nodiscard]] bool exists(const std::string& relative) const {
    return fs::exists(place_ + "/run/" + relative);
  }

  std::string place_;
};

/// An entry with a path and an identity.
Entry file_of(std::uint64_t device, std::uint64_t inode, std::uint64_t birth_ns,
              const std::string& path, EntryKind kind = EntryKind::kFile) {
  return {.kind = kind,
          .identity = {.device = device, .inode = inode, .birth_ns = birth_ns},
          .path = path};
}

TEST(ParseLines, LeavesOutWhatWasCutOff) {
  const auto entries =
      parse_lines("file 1 2 77 0 a b\nkept 3 4 0 9 c\nnonsense 1 2 0 0 d\nfile x 2 0 0 e\nfile 1");
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].path, "a b");
  EXPECT_EQ(entries[0].identity.birth_ns, 77U);
  EXPECT_EQ(entries[1].kind, EntryKind::kKept);
  EXPECT_EQ(entries[1].identity.mark, 9U);
  EXPECT_EQ(parse_lines({"file 1 2 3 4 a\n\0file 1 2 3 4 b\n", 32}).size(), 1U);
}

TEST(ParseLines, LeavesOutWhatIsNotBelowTheDirectory) {
  for (const char* path : {"/a", "..", "../a", "a/../b", "a/..", "", ".", "./a", "a//b", "a/",
                           ".venturi", ".manifest.1", ".commands.0/x"}) {
    for (const char* kind : {"file", "kept", "tree", "directory", "staged_file"}) {
      EXPECT_TRUE(parse_lines(std::string(kind) + " 1 2 3 4 " + path + "\n").empty()) << path;
    }
  }
  EXPECT_EQ(parse_lines("root 1 2 3 4 .\nmarker 1 2 3 4 .venturi\nfile 1 2 3 4 a/b\n").size(), 3U);
  EXPECT_TRUE(parse_lines("root 1 2 3 4 a\nmarker 1 2 3 4 a\n").empty());
}

TEST_F(ManifestTest, GrowsRewindsAndIsReadByOthers) {
  const Binding bound = binding();
  Manifest manifest(journal(), run(), 3, bound);
  for (std::uint64_t i = 0; i < 50'000; ++i) {
    manifest.add(file_of(1, i, 5, "a/rather/long/name." + std::to_string(i)));
  }
  const auto entries = read_manifests(journal(), run(), bound.key);
  ASSERT_EQ(entries.size(), 50'000U);
  EXPECT_EQ(entries[49'999].identity.inode, 49'999U);
  EXPECT_TRUE(read_manifests(journal(), run(), {.high = 1, .low = 2}).empty());
  EXPECT_TRUE(manifest.owns({.device = 1, .inode = 49'999}));
  EXPECT_FALSE(manifest.owns({.device = 2, .inode = 49'999}));
  EXPECT_TRUE(manifests_in_use(journal(), run(), bound.key));
  manifest.rewind(Manifest::kFirstPosition, {file_of(7, 8, 5, "kept", EntryKind::kKept)});
  EXPECT_EQ(manifest.since(Manifest::kFirstPosition).size(), 1U);
  EXPECT_FALSE(manifest.owns({.device = 1, .inode = 49'999}));
}

TEST_F(ManifestTest, AnInodeThatIsUsedAgainIsAnotherFile) {
  Manifest manifest(journal(), run(), 0, binding());
  manifest.add(file_of(1, 2, 100, "a"));
  EXPECT_TRUE(manifest.owns({.device = 1, .inode = 2, .birth_ns = 100}));
  EXPECT_FALSE(manifest.owns({.device = 1, .inode = 2, .birth_ns = 101}));
  EXPECT_TRUE(manifest.denies("a", {.device = 1, .inode = 2, .birth_ns = 101}));
  EXPECT_FALSE(manifest.denies("a", {.device = 1, .inode = 2, .birth_ns = 100}));
  EXPECT_FALSE(manifest.denies("b", {.device = 1, .inode = 2, .birth_ns = 101}));
  // Made again under the same name: the last listing counts.
  manifest.add(file_of(1, 2, 102, "a"));
  EXPECT_FALSE(manifest.denies("a", {.device = 1, .inode = 2, .birth_ns = 102}));
}

TEST(Identity, IsSureOnlyByBirthOrMark) {
  const base::Identity bare{.device = 1, .inode = 2};
  const base::Identity born{.device = 1, .inode = 2, .birth_ns = 3};
  const base::Identity marked{.device = 1, .inode = 2, .mark = 4};
  EXPECT_TRUE(bare.is_same(born));
  for (const base::Identity& one : {bare, born, marked}) {
    for (const base::Identity& two : {bare, born, marked}) {
      const bool alike = one.birth_ns == two.birth_ns && one.mark == two.mark;
      EXPECT_EQ(one.is_surely_same(two), alike && (one.birth_ns != 0 || one.mark != 0));
    }
  }
}

TEST_F(ManifestTest, ItemsAreCountedAndSummedOverRanks) {
  const Binding bound = binding();
  const auto make = [] {
    return Entry{.kind = EntryKind::kItems,
                 .path = "t",
                 .block = {.names = "f %% x%n3;", .node = 7, .per_node = 300, .first = 256}};
  };
  Manifest one(journal(), run(), 0, bound);
  Manifest two(journal(), run(), 1, bound);
  const std::size_t at_one = one.place_of_items(1, make);
  const std::size_t at_two = two.place_of_items(1, make);
  EXPECT_EQ(one.place_of_items(1, make), at_one);
  one.count(at_one + 3) = kSettled + 1;
  one.count(at_one + 4) = kSettled + 1;
  one.count(at_one + 5) = kPending;
  two.count(at_two + 4) = kSettled + 63;
  EXPECT_TRUE(two.any_made(make(), 3));
  EXPECT_FALSE(two.any_made(make(), 4));
  const auto sums = sum_items(read_manifests(journal(), run(), bound.key));
  ASSERT_EQ(sums.size(), 1U);
  EXPECT_EQ(sums[0].block.names, "f %% x%n3;");
  EXPECT_EQ(sums[0].path, "t");
  EXPECT_EQ(sums[0].block.first, 256U);
  EXPECT_TRUE(is_made(static_cast<unsigned char>(sums[0].counts[3])));
  EXPECT_FALSE(is_made(static_cast<unsigned char>(sums[0].counts[4])));
  EXPECT_EQ(static_cast<unsigned char>(sums[0].counts[5]), kPending);
}

TEST_F(ManifestTest, ARankThatIsAboutToMakeAnItemIsWaitedFor) {
  const Binding bound = binding();
  const auto make = [] {
    return Entry{.kind = EntryKind::kItems, .path = "t", .block = {.names = "f", .per_node = 9}};
  };
  for (const bool made : {true, false}) {
    Manifest one(journal(), run(), 0, bound);
    Manifest two(journal(), run(), 1, bound);
    const std::size_t at = one.place_of_items(1, make) + 5;
    one.count(at) = kPending;
    std::thread maker([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      one.count(at) = kSettled | (made ? 1 : 0);
    });
    EXPECT_EQ(two.any_made(make(), 5), made);
    maker.join();
  }
}

TEST_F(ManifestTest, AnIntentWithoutAnEntryRemovesOnlyWhatWasBornThen) {
  {
    Manifest manifest(journal(), run(), 0, binding());
    begin(manifest);
    make_file(EntryKind::kFile, "older");
    ::usleep(100'000);
    manifest.intend("older");
    manifest.intend("made");
    make_file(EntryKind::kFile, "made");
    manifest.intend("retracted");
    manifest.retract("retracted");
    make_file(EntryKind::kFile, "retracted");
    manifest.intend("listed");
    manifest.add(make_file(EntryKind::kFile, "listed"));
  }
  clean(journal(), plan(), Kept::kStay);
  EXPECT_TRUE(exists("older"));
  EXPECT_TRUE(exists("retracted"));
  EXPECT_FALSE(exists("made"));
  EXPECT_FALSE(exists("listed"));
}

TEST_F(ManifestTest, CleanLeavesAFileThatWasBornLater) {
  {
    Manifest manifest(journal(), run(), 0, binding());
    begin(manifest);
    Entry ours = make_file(EntryKind::kFile, "reused");
    if (ours.identity.birth_ns == 0) {
      ++ours.identity.mark;
    } else {
      --ours.identity.birth_ns;
    }
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
    Manifest manifest(journal(), run(), 0, binding());
    begin(manifest);
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
    Manifest manifest(journal(), run(), 0, binding());
    begin(manifest);
    manifest.add(make_file(EntryKind::kFile, "ours"));
    manifest.add(make_file(EntryKind::kFile, "replaced"));
    manifest.add(make_file(EntryKind::kKept, "kept"));
    fs::create_directory(run() + "/tree");
    manifest.add(entry(EntryKind::kTree, "tree"));
    const std::size_t items = manifest.place_of_items(1, [&] {
      Entry block = entry(EntryKind::kItems, "tree");
      block.block = {.names = "f.0.%x0;", .per_node = 3};
      return block;
    });
    manifest.count(items + 1) = kSettled + 1;
    make_file(EntryKind::kFile, "tree/f.0.1");
    make_file(EntryKind::kFile, "tree/f.0.2");
    make_file(EntryKind::kFile, "tree/theirs");
    make_file(EntryKind::kFile, "strange");
    make_file(EntryKind::kFile, "other");
    fs::rename(run() + "/other", run() + "/replaced");
  }
  const Leftover left = clean(journal(), plan(), Kept::kStay);
  EXPECT_EQ(left.count, 5U);
  for (const char* name :
       {"replaced", "kept", "tree/theirs", "tree/f.0.2", "strange", kMarkerName}) {
    EXPECT_TRUE(exists(name)) << name;
  }
  for (const char* name : {"ours", "tree/f.0.1"}) EXPECT_FALSE(exists(name)) << name;
  EXPECT_EQ(clean(journal(), plan(), Kept::kGo).count, 4U);
  EXPECT_FALSE(exists("kept"));
}

TEST_F(ManifestTest, CleanTakesTheDirectoryWhenNothingElseIsInIt) {
  {
    Manifest manifest(journal(), run(), 0, binding());
    begin(manifest);
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
    Manifest manifest(journal(), run(), 0, binding());
    manifest.add({.kind = EntryKind::kRoot, .identity = {.device = 1, .inode = 1}, .path = "."});
    manifest.add(make_marker());
    manifest.add(make_file(EntryKind::kFile, "ours"));
  }
  EXPECT_EQ(clean(journal(), plan(), Kept::kStay).removed, 0U);
  EXPECT_TRUE(exists("ours"));
}

TEST_F(ManifestTest, ARankThatCannotReachTheJournalWritesIntoTheDirectory) {
  const Binding bound = binding();
  const std::string nowhere = place_ + "/nowhere";
  {
    Manifest first(journal(), run(), 0, bound);
    begin(first);
    EXPECT_THROW(Manifest(nowhere, run(), 0, bound), base::Error);
    Manifest manifest(nowhere, run(), 5, bound);
    manifest.add(make_file(EntryKind::kFile, "ours"));
  }
  EXPECT_TRUE(exists(".manifest.5"));
  EXPECT_EQ(clean(journal(), plan(), Kept::kStay).count, 0U);
  EXPECT_FALSE(fs::exists(run()));
}

TEST_F(ManifestTest, AManifestWithAnotherKeyIsNobodysAndStays) {
  {
    Manifest first(journal(), run(), 0, binding());
    begin(first);
    Manifest planted(place_ + "/nowhere", run(), 5, {.key = {.high = 1, .low = 2}});
    planted.add(make_file(EntryKind::kFile, "theirs"));
  }
  EXPECT_EQ(clean(journal(), plan(), Kept::kStay).count, 2U);
  EXPECT_TRUE(exists(".manifest.5"));
  EXPECT_TRUE(exists("theirs"));
}

}  // namespace
}  // namespace venturi::execute
