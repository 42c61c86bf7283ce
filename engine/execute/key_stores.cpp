// Keys are removed by name, and only where the object bears the run's random key.
#include "execute/key_stores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <string_view>

#include "backend/table.hpp"
#include "base/error.hpp"
#include "execute/manifest_words.hpp"

namespace venturi::execute {
namespace {

bool is_kept(EntryKind kind) noexcept {
  return kind == EntryKind::kKept || kind == EntryKind::kKeptTree || kind == EntryKind::kKeptItems;
}

std::string reason(const backend::KeySpace& space, int error) {
  const std::string said = space.complaint();
  return said.empty() ? std::strerror(error) : said;
}

}  // namespace

void KeyStores::add(backend::Backend& storage) {
  backend::KeySpace* space = storage.key_space();
  if (space != nullptr && find(space->place()) == nullptr) spaces_.push_back(space);
}

void KeyStores::make(const schema::Plan& plan, const RunKey& key) {
  for (const schema::File& file : plan.files) {
    const std::string_view ownership = backend::description_of(file.interface).ownership;
    if (ownership != backend::kMarkerKey || file.foreign) continue;
    const backend::Row& row = backend::row_of(file.interface);
    if (row.entry == nullptr) {
      refuse(fmt::format("{} is not in this engine: {}", row.name, row.reason));
      continue;
    }
    backend::Environment environment;
    environment.root = plan.directory;
    environment.file = &file;
    environment.owner_key = key.text();
    try {
      made_.push_back(row.entry->make(environment, file.options));
      add(*made_.back());
    } catch (const base::Error& error) {
      refuse(fmt::format("{}: {}", error.problem().message, error.problem().hint));
    }
  }
}

void KeyStores::claim(Manifest& manifest, const std::string& run) {
  for (backend::KeySpace* space : spaces_) {
    Entry entry{.kind = EntryKind::kMarker, .path = kMarkerName};
    manifest.intend(kMarkerName);
    const int error = space->claim(kMarkerName, marker_text(run), entry.identity);
    if (error == 0) {
      manifest.add(entry);
      continue;
    }
    const std::string why = reason(*space, error);
    space->remove(kMarkerName);  // the server may have made it and lost its answer
    manifest.retract(kMarkerName);
    throw base::target_error(space->location(""),
                             fmt::format("cannot make {}: {}", space->location(kMarkerName), why));
  }
}

backend::KeySpace* KeyStores::find(std::uint64_t place) const noexcept {
  const auto found =
      std::ranges::find_if(spaces_, [&](const auto* each) { return each->place() == place; });
  return found == spaces_.end() ? nullptr : *found;
}

void KeyStores::refuse(const std::string& why) {
  if (refused_++ == 0) why_ = why;
}

bool KeyStores::settle(int error, const backend::KeySpace& space) {
  if (error == 0) ++removed_;
  if (error == 0 || error == ENOENT) return true;
  refuse(reason(space, error));
  return false;
}

bool KeyStores::remove(const Entry& entry) {
  backend::KeySpace* space = find(entry.identity.device);
  if (space != nullptr) return settle(space->remove(entry.path), *space);
  refuse(
      "the server is not that of the run: set its variables in the environment as they were then");
  return false;
}

void KeyStores::remove_all(const std::vector<Entry>& entries, bool with_kept) {
  std::set<std::string_view> intended;
  for (const Entry& entry : entries) {
    const bool is_marker = entry.path == kMarkerName;
    if (is_items(entry.kind)) continue;
    intended.erase(entry.path);
    if (entry.kind == EntryKind::kIntent && !is_marker) intended.insert(entry.path);
    if (!entry.identity.is_key()) continue;
    const bool is_gone_later = is_marker && find(entry.identity.device) != nullptr;
    if (is_gone_later || (is_kept(entry.kind) && !with_kept)) continue;
    remove(entry);
  }
  for (const std::string_view path : intended) {
    if (path == ".") continue;
    for (backend::KeySpace* space : spaces_) settle(space->remove(std::string(path)), *space);
  }
}

std::vector<KeyStores::Remaining> KeyStores::list() {
  std::vector<Remaining> left;
  empty_.clear();
  for (backend::KeySpace* space : spaces_) {
    std::vector<std::string> names;
    if (const int error = space->list(names)) {
      refuse(reason(*space, error));
      continue;
    }
    std::erase(names, kMarkerName);
    if (names.empty()) empty_.push_back(space);
    for (const std::string& name : names) left.push_back({name, space->location(name)});
  }
  return left;
}

KeyStores::End KeyStores::finish(const std::vector<Entry>& entries) {
  std::set<std::string_view> ours;
  for (const Entry& entry : entries) {
    if (entry.identity.is_key()) ours.insert(entry.path);
  }
  End end;
  for (const Remaining& each : list()) {
    if (ours.contains(each.name)) {
      end.kept.push_back(each.location);
    } else {
      end.warnings.push_back(
          fmt::format("{} is not of this run; it was left alone", each.location));
    }
  }
  release();
  if (refused_ > 0) end.warnings.push_back("objects could not be removed: " + why_);
  return end;
}

void KeyStores::release() {
  for (backend::KeySpace* space : empty_) settle(space->remove(kMarkerName), *space);
}

}  // namespace venturi::execute
