// The product of two matrices of which each rank has some columns: ranks meet in pairs, hand over
// their columns of the left matrix, and add what these make of their own.
#include <fmt/format.h>

#include "base/random.hpp"
#include "kernel/big_data.hpp"
#include "kernel/matrix_product.hpp"
#include "kernel/memory_loops.hpp"
#include "kernel/pairing.hpp"
#include "kernel/ranks_option.hpp"
#include "kernel/table.hpp"
#include "kernel/whole_entry.hpp"

namespace venturi::kernel {

const Description& data_matrix_description();
const Description& data_matrix_description() {
  static const Description description = [] {
    Description made = big_data_description(
        "the product of two generated matrices of doubles, on all ranks together",
        {{"n", "integer", "1024", "rows and columns of each matrix", "1 to 262144", 1.0,
          262144.0}});
    made.figures.push_back({"multiply", "flop/s", "2 n^3 in the time of compute and exchange"});
    return made;
  }();
  return description;
}

namespace {

/// The entries of both matrices; those of column j follow from the seed and j.
struct Columns {
  std::size_t n;
  std::uint64_t left_key, right_key;

  Columns(std::size_t size, std::uint64_t seed)
      : n(size),
        left_key(base::combine(seed, base::key_of("left matrix"))),
        right_key(base::combine(seed, base::key_of("right matrix"))) {}
  [[nodiscard]] std::vector<double> column(std::uint64_t key, std::uint64_t number) const {
    std::vector<double> entries(n);
    for (std::size_t row = 0; row < n; ++row) entries[row] = whole_entry(key, number * n + row);
    return entries;
  }
  /// A record of the input: column j of the left matrix, then that of the right one.
  void append(std::uint64_t number, std::string& out) const {
    for (const std::uint64_t key : {left_key, right_key}) {
      const std::vector<double> entries = column(key, number);
      out += bytes_of(std::span(entries));
    }
  }
};

/// A product with one vector, which all ranks have; of each column what it adds is summed.
class VectorProduct {
 public:
  explicit VectorProduct(std::size_t n) : sums_(n) {}
  void add(std::span<const double> column, double factor) {
    for (std::size_t row = 0; row < sums_.size(); ++row) sums_[row] += factor * column[row];
  }
  /// Over all ranks. Collective.
  std::vector<double> summed(comm::Group& group) {
    group.reduce(std::span(sums_), comm::Reduction::kSum);
    return std::move(sums_);
  }

 private:
  std::vector<double> sums_;
};

/// Entries of the vector of the check: none is 0, so that no wrong entry is left out.
double check_entry(std::size_t at) {
  constexpr std::uint64_t kMost = 1024;
  return static_cast<double>(1 + base::combine(base::key_of("data_matrix"), at) % kMost);
}

/// What the product times the vector of the check must be: the left matrix times the product of
/// the right one with it (Freivalds, 1977), of entries that are generated anew. Collective.
std::vector<double> wanted_of(const BigData& data, const Columns& columns) {
  comm::Group& group = data.environment().group;
  VectorProduct right(columns.n);
  for (std::uint64_t j = data.first(); j < data.last(); ++j) {
    right.add(columns.column(columns.right_key, j), check_entry(j));
  }
  const std::vector<double> once = right.summed(group);
  VectorProduct left(columns.n);
  for (std::uint64_t j = data.first(); j < data.last(); ++j) {
    left.add(columns.column(columns.left_key, j), once[j]);
  }
  return left.summed(group);
}

/// The columns of one rank, and the left matrix's of the rank that it meets.
struct Share {
  std::size_t n, first, wide;
  std::vector<double> left, met, product;
  MatrixProduct multiply;

  explicit Share(const BigData& data)
      : n(data.records()),
        first(data.first()),
        wide(data.last() - data.first()),
        left(n * wide),
        product(n * wide) {}
  /// Takes the left matrix's columns out of the input.
  void take(std::string_view input) {
    for (std::size_t j = 0; j < wide; ++j) {
      std::memcpy(&left[j * n], input.data() + 2 * j * n * sizeof(double), n * sizeof(double));
    }
    std::fill(product.begin(), product.end(), 0.0);
  }
  /// Adds what columns of the left matrix make of the rows of the right one that go with them.
  void add(const std::vector<double>& columns, std::size_t row, std::string_view input) {
    const auto* pairs = reinterpret_cast<const double*>(input.data());
    if (wide == 0 || columns.empty()) return;
    multiply.add({product.data(), n}, 1.0, {columns.data(), n}, {pairs + n + row, 2 * n}, n, wide,
                 columns.size() / n);
  }
};

/// Compares the product with what it must be; returns a sum over its columns. Collective.
std::uint64_t check_product(BigData& data, const Share& share, const std::vector<double>& wanted) {
  comm::Group& group = data.environment().group;
  VectorProduct whole(share.n);
  std::uint64_t sum = 0;
  for (std::size_t j = 0; j < share.wide; ++j) {
    const std::span column = std::span(share.product).subspan(j * share.n, share.n);
    whole.add(column, check_entry(share.first + j));
    sum += base::combine(base::key_of(bytes_of(column)), share.first + j);
  }
  const std::vector<double> found = whole.summed(group);
  data.check([&] {
    for (std::size_t row = 0; row < found.size(); ++row) {
      if (found[row] == wanted[row]) continue;
      throw wrong_value(
          fmt::format("data_matrix: row {} of the product times a vector is {:.17g}, not {:.17g}",
                      row, found[row], wanted[row]));
    }
  });
  return group.sum(sum);
}

void measure(const Environment& environment, schema::KernelResult& out) {
  comm::Group& group = environment.group;
  const std::size_t n = environment.settings.integer("n");
  const Columns columns(n, environment.seed);
  const auto generate = [&](std::uint64_t j, std::string& text) { columns.append(j, text); };
  BigData data(environment, "data_matrix", {n, generate});
  std::optional<Share> share;
  environment.together([&] { share.emplace(data); });
  const std::vector<double> wanted = wanted_of(data, columns);
  const double side = static_cast<double>(n);
  std::uint64_t sum = 0;
  data.sample(
      [&] {
        data.read();
        data.timed(Part::kCompute, [&] {
          share->take(data.input());
          share->add(share->left, data.first(), data.input());
        });
        for (std::uint64_t step = 0; step < pairing_steps(group.size()); ++step) {
          const auto partner = partner_in(step, group.rank(), group.size());
          const std::uint64_t begin = partner ? data.first_of(*partner) : 0;
          const std::uint64_t end = partner ? data.first_of(*partner + 1) : 0;
          environment.together([&] { share->met.resize((end - begin) * n); });
          data.swapped(
              partner, bytes_of(std::span<const double>(share->left)),
              {reinterpret_cast<char*>(share->met.data()), (end - begin) * n * sizeof(double)});
          data.timed(Part::kCompute, [&] { share->add(share->met, begin, data.input()); });
        }
        data.write(bytes_of(std::span<const double>(share->product)));
        if (data.damages() && share->wide > 0) share->product[share->product.size() / 2] += 1.0;
        sum = check_product(data, *share, wanted);
      },
      out, CountedWork{"multiply", "flop/s", 2.0 * side * side * side});
  out.facts.push_back({"instructions", memory_loops().level});
  out.facts.push_back({"multiplication", "Venturi's own, of blocks; no BLAS library"});
  out.facts.push_back({"sum of the product's columns", fmt::format("{:016x}", sum)});
}

}  // namespace

const Entry& data_matrix_entry();
const Entry& data_matrix_entry() {
  static const Entry entry{[](const Environment& environment, schema::KernelResult& out) {
    measure_on(environment, out, [&](const Environment& ranks) { measure(ranks, out); });
  }};
  return entry;
}

}  // namespace venturi::kernel
