// Connected components of a graph whose edges lie on all ranks: each rank joins what its own edges
// join, and then ranks pass the least vertices on until none of them is passed any further.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/random.hpp"
#include "kernel/big_data.hpp"
#include "kernel/kronecker_graph.hpp"
#include "kernel/ranks_option.hpp"
#include "kernel/table.hpp"
#include "kernel/vertex_forest.hpp"

namespace venturi::kernel {

const Description& data_components_description();
const Description& data_components_description() {
  static const Description description = big_data_description(
      "connected components of a generated graph, whose edges and vertices lie on all ranks",
      {{"scale", "integer", "16", "the graph has 2^scale vertices", "1 to 40", 1.0, 40.0},
       {"edges", "integer", "16", "so many times as many edges as vertices", "1 to 1024", 1.0,
        1024.0}});
  return description;
}

namespace {

/// Up to so many vertices and edges, one rank finds the components once more.
constexpr std::uint64_t kFewVertices = std::uint64_t{1} << 20U;
constexpr std::uint64_t kFewEdges = std::uint64_t{1} << 25U;
/// Copies of the edges while they are made, and what a vertex takes in a forest, in labels and in
/// messages.
constexpr std::uint64_t kCopies = 3;
constexpr std::uint64_t kVertexBytes = 200;

/// A vertex and the least one that it is known to be joined with.
struct Label {
  std::uint64_t vertex = 0;
  std::uint64_t least = 0;
};

void append(std::string& out, const Label& label) { out += bytes_of(std::span(&label, 1)); }

/// The vertices of all ranks: each rank knows the labels of some that follow each other.
class Owners {
 public:
  Owners(const comm::Group& group, std::uint64_t vertices)
      : ranks_(group.size()),
        of_rank_((vertices + ranks_ - 1) / ranks_),
        first_(std::min(of_rank_ * group.rank(), vertices)),
        last_(std::min(first_ + of_rank_, vertices)) {}

  [[nodiscard]] std::size_t ranks() const noexcept { return ranks_; }
  [[nodiscard]] std::uint64_t first() const noexcept { return first_; }
  [[nodiscard]] std::uint64_t last() const noexcept { return last_; }
  [[nodiscard]] std::size_t of(std::uint64_t vertex) const noexcept { return vertex / of_rank_; }

 private:
  std::size_t ranks_;
  std::uint64_t of_rank_, first_, last_;
};

/// The labels of a rank's own vertices, and which ranks have edges at them.
class Labels {
 public:
  explicit Labels(const Owners& owners)
      : first_(owners.first()),
        least_(owners.last() - owners.first()),
        fell_(least_.size()),
        users_(owners.ranks()) {
    std::iota(least_.begin(), least_.end(), first_);
  }
  [[nodiscard]] std::vector<std::uint64_t>& least() noexcept { return least_; }

  /// Takes what ranks say of vertices; the first time, that tells which vertices they have.
  void take(const std::vector<std::string>& said, bool is_first) {
    for (std::size_t rank = 0; rank < said.size(); ++rank) {
      for (const Label& label : values_of<Label>(said[rank])) {
        const std::uint64_t at = label.vertex - first_;
        if (is_first) users_[rank].push_back(at);
        if (label.least >= least_[at]) continue;
        least_[at] = label.least;
        fell_[at] = 1;
      }
    }
  }
  /// For each rank the labels that fell since, of its vertices.
  [[nodiscard]] std::vector<std::string> answers() {
    std::vector<std::string> answers(users_.size());
    for (std::size_t rank = 0; rank < users_.size(); ++rank) {
      for (const std::uint64_t at : users_[rank]) {
        if (fell_[at] != 0) append(answers[rank], {first_ + at, least_[at]});
      }
    }
    std::fill(fell_.begin(), fell_.end(), char{0});
    return answers;
  }

 private:
  std::uint64_t first_;
  std::vector<std::uint64_t> least_;
  std::vector<char> fell_;
  std::vector<std::vector<std::uint64_t>> users_;
};

/// What a rank knows of the trees that its edges make.
class Trees {
 public:
  explicit Trees(std::string_view edges, std::uint64_t vertices)
      : forest_(std::min(2 * (edges.size() / sizeof(Edge)), vertices)) {
    for (std::size_t at = 0; at < edges.size(); at += sizeof(Edge)) {
      Edge edge;
      std::memcpy(&edge, edges.data() + at, sizeof edge);
      if (std::max(edge.one, edge.other) >= vertices) {
        throw wrong_value(
            fmt::format("data_components: edge {} of a rank was read as {} to {}, of "
                        "{} vertices",
                        at / sizeof edge, edge.one, edge.other, vertices));
      }
      forest_.join(edge.one, edge.other);
    }
    least_.resize(forest_.size());
    fell_.assign(forest_.size(), 1);
    for (std::size_t at = 0; at < least_.size(); ++at) least_[at] = forest_.vertex(at);
  }
  /// For each owner the labels of its vertices whose tree's label fell since.
  [[nodiscard]] std::vector<std::string> said(const Owners& owners) {
    std::vector<std::string> said(owners.ranks());
    for (std::size_t at = 0; at < forest_.size(); ++at) {
      const std::size_t top = forest_.top(at);
      if (fell_[top] == 0) continue;
      append(said[owners.of(forest_.vertex(at))], {forest_.vertex(at), least_[top]});
    }
    std::fill(fell_.begin(), fell_.end(), char{0});
    return said;
  }
  /// Takes the labels that owners answer; returns how many of the trees' fell by it.
  std::uint64_t take(const std::vector<std::string>& answers) {
    std::uint64_t fallen = 0;
    for (const std::string& answer : answers) {
      for (const Label& label : values_of<Label>(answer)) {
        const std::size_t top = forest_.top(forest_.place(label.vertex));
        if (label.least >= least_[top]) continue;
        least_[top] = label.least;
        fell_[top] = 1;
        ++fallen;
      }
    }
    return fallen;
  }

 private:
  VertexForest forest_;
  std::vector<std::uint64_t> least_;
  std::vector<char> fell_;
};

/// Reads the edges, finds the components and writes the labels of this rank's vertices; returns
/// how often the ranks exchanged labels.
std::uint64_t find_components(BigData& data, const Owners& owners, std::uint64_t vertices,
                              std::vector<std::uint64_t>& found) {
  std::optional<Trees> trees;
  std::optional<Labels> labels;
  data.read();
  data.timed(Part::kCompute, [&] {
    trees.emplace(data.input(), vertices);
    labels.emplace(owners);
  });
  std::uint64_t rounds = 0;
  for (std::uint64_t fallen = 1; fallen > 0; ++rounds) {
    std::vector<std::string> messages;
    data.timed(Part::kCompute, [&] { messages = trees->said(owners); });
    messages = data.exchanged(std::move(messages));
    data.timed(Part::kCompute, [&] {
      labels->take(messages, rounds == 0);
      messages = labels->answers();
    });
    messages = data.exchanged(std::move(messages));
    data.timed(Part::kCompute, [&] { fallen = trees->take(messages); });
    fallen = data.summed(fallen);
  }
  data.write(bytes_of(std::span<const std::uint64_t>(labels->least())));
  found = std::move(labels->least());
  return rounds;
}

/// The labels of any vertices, from their owners. Collective.
std::vector<std::uint64_t> labels_of(BigData& data, const Owners& owners,
                                     const std::vector<std::uint64_t>& own,
                                     const std::vector<std::uint64_t>& vertices) {
  std::vector<std::string> parts(owners.ranks());
  data.check([&] {
    for (const std::uint64_t& vertex : vertices) {
      parts[owners.of(vertex)] += bytes_of(std::span(&vertex, 1));
    }
  });
  parts = data.handed(std::move(parts));
  data.check([&] {
    for (std::string& part : parts) {
      std::vector<std::uint64_t> values = values_of<std::uint64_t>(part);
      for (std::uint64_t& value : values) value = own[value - owners.first()];
      part = bytes_of(std::span<const std::uint64_t>(values));
    }
  });
  parts = data.handed(std::move(parts));
  std::vector<std::uint64_t> labels(vertices.size());
  data.check([&] {
    std::vector<std::size_t> read(parts.size());
    for (std::size_t at = 0; at < labels.size(); ++at) {
      const std::size_t owner = owners.of(vertices[at]);
      std::memcpy(&labels[at], parts[owner].data() + read[owner], sizeof labels[at]);
      read[owner] += sizeof labels[at];
    }
  });
  return labels;
}

/// Both ends of each edge, which is generated anew, have one label. Collective.
void check_edges(BigData& data, const Owners& owners, const KroneckerGraph& graph,
                 const std::vector<std::uint64_t>& own) {
  constexpr std::uint64_t kAtOnce = std::uint64_t{1} << 16U;
  const std::uint64_t rounds =
      data.environment().group.maximum((data.last() - data.first() + kAtOnce - 1) / kAtOnce);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::uint64_t begin = std::min(data.first() + round * kAtOnce, data.last());
    const std::uint64_t end = std::min(begin + kAtOnce, data.last());
    std::vector<std::uint64_t> ends;
    data.check([&] {
      for (std::uint64_t number = begin; number < end; ++number) {
        const Edge edge = graph.edge(number);
        ends.insert(ends.end(), {edge.one, edge.other});
      }
    });
    const std::vector<std::uint64_t> labels = labels_of(data, owners, own, ends);
    data.check([&] {
      for (std::size_t at = 0; at < ends.size(); at += 2) {
        if (labels[at] == labels[at + 1]) continue;
        throw wrong_value(fmt::format(
            "data_components: {} and {} are joined by edge {}, but have labels {} and {}", ends[at],
            ends[at + 1], begin + at / 2, labels[at], labels[at + 1]));
      }
    });
    data.environment().tick();
  }
}

/// A label is no larger than its vertex, and is its own label. Collective.
void check_least(BigData& data, const Owners& owners, const std::vector<std::uint64_t>& own) {
  data.check([&] {
    for (std::size_t at = 0; at < own.size(); ++at) {
      if (own[at] <= owners.first() + at) continue;
      throw wrong_value(fmt::format("data_components: vertex {} has label {}, which is larger",
                                    owners.first() + at, own[at]));
    }
  });
  const std::vector<std::uint64_t> again = labels_of(data, owners, own, own);
  data.check([&] {
    for (std::size_t at = 0; at < own.size(); ++at) {
      if (again[at] == own[at]) continue;
      throw wrong_value(fmt::format("data_components: vertex {} has label {}, whose own is {}",
                                    owners.first() + at, own[at], again[at]));
    }
  });
}

/// Against the labels that the first rank found alone, where there are any. Collective.
void check_alone(BigData& data, const Owners& owners, const std::vector<std::uint64_t>& wanted,
                 const std::vector<std::uint64_t>& own) {
  std::vector<std::string> parts(owners.ranks());
  parts[0] = bytes_of(std::span(own));
  parts = data.handed(std::move(parts));
  data.check([&] {
    std::size_t vertex = 0;
    for (const std::string& part : parts) {
      for (const std::uint64_t label : values_of<std::uint64_t>(part)) {
        if (label != wanted[vertex]) {
          throw wrong_value(fmt::format("data_components: vertex {} has label {}, alone {}", vertex,
                                        label, wanted[vertex]));
        }
        ++vertex;
      }
    }
  });
}

void measure(const Environment& environment, schema::KernelResult& out) {
  comm::Group& group = environment.group;
  const auto scale = static_cast<unsigned>(environment.settings.integer("scale"));
  const KroneckerGraph graph(environment.seed, scale);
  const std::uint64_t edges = environment.settings.integer("edges") * graph.vertices();
  const auto generate = [&](std::uint64_t number, std::string& text) {
    const Edge edge = graph.edge(number);
    text += bytes_of(std::span(&edge, 1));
  };
  const std::uint64_t most = std::min(2 * (edges / group.size() + 1), graph.vertices());
  BigData data(environment, "data_components", {edges, generate, kCopies, most * kVertexBytes});
  const Owners owners(group, graph.vertices());
  const bool is_small = graph.vertices() <= kFewVertices && edges <= kFewEdges;
  std::vector<std::uint64_t> wanted;
  environment.together([&] {
    if (is_small && group.rank() == 0) wanted = components_of(graph, edges);
  });
  std::uint64_t rounds = 0;
  std::vector<std::uint64_t> found;
  data.sample(
      [&] {
        rounds = find_components(data, owners, graph.vertices(), found);
        if (data.damages() && !found.empty()) ++found[found.size() / 2];
        check_least(data, owners, found);
        check_edges(data, owners, graph, found);
        if (is_small) check_alone(data, owners, wanted, found);
      },
      out);
  std::uint64_t components = 0;
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < found.size(); ++at) {
    if (found[at] == owners.first() + at) ++components;
    sum += base::combine(owners.first() + at, found[at]);
  }
  out.facts.push_back({"vertices", std::to_string(graph.vertices())});
  out.facts.push_back({"components", std::to_string(group.sum(components))});
  out.facts.push_back({"sum of the labels", fmt::format("{:016x}", group.sum(sum))});
  out.facts.push_back({"compared with components found by one rank", is_small ? "yes" : "no"});
  out.facts.push_back({"exchanges of labels", std::to_string(rounds)});
}

}  // namespace

const Entry& data_components_entry();
const Entry& data_components_entry() {
  static const Entry entry{[](const Environment& environment, schema::KernelResult& out) {
    measure_on(environment, out, [&](const Environment& ranks) { measure(ranks, out); });
  }};
  return entry;
}

}  // namespace venturi::kernel
