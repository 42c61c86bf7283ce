// Interfaces whose library is loaded when a plan uses them: files beside the engine.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "backend/table.hpp"

namespace venturi::backend {
namespace {

/// What the last call of the loader failed with.
std::string loader_problem() {
  const char* text = ::dlerror();
  return text == nullptr ? "the loader does not say why" : text;
}

/// Loads a row's module, or notes why that cannot be.
void load(Row& row) {
  std::error_code failed;
  const std::filesystem::path engine = std::filesystem::read_symlink("/proc/self/exe", failed);
  const std::string path = (engine.parent_path() / row.module).string();
  // Its library is for it alone: those of two interfaces may have functions of the same name.
  // It stays loaded for ever, and what it lacks shows at once.
  void* module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void* made = module == nullptr ? nullptr : ::dlsym(module, "venturi_entry");
  if (made == nullptr) {
    row.reason = fmt::format("its module cannot be loaded: {}", loader_problem());
  } else {
    row.entry = reinterpret_cast<const Entry* (*)()>(made)();
  }
  row.module = "";
}

/// The row of each interface in the table, by its number.
std::vector<Row*> rows_by_number() {
  static Row unknown{"", nullptr, nullptr, "", "this engine does not know it"};
  std::vector<Row*> found;
  const auto rows = table();
  for (const std::string_view word : schema::words_of(schema::Interface{})) {
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const Row& each) { return each.name == word; });
    found.push_back(row == rows.end() ? &unknown : &*row);
  }
  return found;
}

Row& listed(schema::Interface interface) {
  static const std::vector<Row*> rows = rows_by_number();
  return *rows[static_cast<std::size_t>(interface)];
}

}  // namespace

const Row& loaded(Row& row) {
  if (*row.module != '\0') load(row);
  return row;
}

const Row& row_of(schema::Interface interface) { return loaded(listed(interface)); }

const Description& description_of(schema::Interface interface) {
  static const Description none{};
  const Description* found = listed(interface).description;
  return found == nullptr ? none : *found;
}

}  // namespace venturi::backend
