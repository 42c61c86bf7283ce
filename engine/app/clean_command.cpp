// `venturi-engine clean`: takes away what a dead run left.
#include <fmt/format.h>

#include "app/command.hpp"
#include "app/event_output.hpp"
#include "app/json_text.hpp"
#include "execute/removal.hpp"
#include "schema/plan.hpp"

namespace venturi::app {

int clean_command(const std::string& journal, bool with_kept) {
  const schema::Plan plan = schema::decode_plan(read_text(journal + "/plan.json"));
  const execute::Leftover left =
      execute::clean(journal, plan, with_kept ? execute::Kept::kGo : execute::Kept::kStay);
  std::string paths;
  for (const std::string& path : left.paths) {
    paths += fmt::format("{}{}", paths.empty() ? "" : ", ", quote(path));
  }
  std::string refusal;
  if (left.refused > 0) {
    refusal = fmt::format(", \"refused\": {}, \"why\": {}", left.refused, quote(left.why));
  }
  if (!left.doubt.empty()) refusal += fmt::format(", \"doubt\": {}", quote(left.doubt));
  write_text(fmt::format("{{\"removed\": {}, \"left\": [{}], \"left_count\": {}{}}}\n",
                         left.removed, paths, left.count, refusal));
  return 0;
}

}  // namespace venturi::app
