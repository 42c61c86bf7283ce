// One turn of a pair's TCP streams: blocks go one way, or both ways at once, for a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "kernel/tcp_connection.hpp"

namespace venturi::kernel {

/// What a rank does in a turn.
struct TurnPlan {
  bool sends = false;
  bool receives = false;
  /// New blocks are begun for so long.
  double send_s = 0.0;
  /// Every block is compared, not just the last one of each stream.
  bool checks_all = false;
  /// A fault for tests: a received block is spoilt before it is compared.
  bool is_damaged = false;
};

/// What a rank that sent found out.
struct Sent {
  std::uint64_t bytes = 0;
  /// From the first byte until the other end said that it has all.
  double taken_s = 0.0;
  /// Of all streams during the turn.
  std::uint64_t retransmits = 0;
  /// The mean over the streams; the others are sums. All while the last blocks were on their way.
  double smoothed_s = 0.0;
  double window_bytes = 0.0;
  double delivered_per_s = 0.0;
};

/// The streams of a pair of ranks as one of the two sees them.
class TcpTurns {
 public:
  /// Reserves two blocks for each stream. Throws std::bad_alloc.
  TcpTurns(const Connections& connections, std::uint64_t block_bytes, std::uint64_t rank,
           std::uint64_t other);

  /// Both ranks of the pair make the same turns. Throws base::Error when the other one is gone, no
  /// byte moves for the limit of `waiting`, or a block is not the one that was sent.
  Sent run(const TurnPlan& plan, base::Clock& clock, const Waiting& waiting,
           const std::string& whom);

 private:
  struct Stream;
  struct Word;
  struct Turn;

  void prepare(const TurnPlan& plan);
  void wait(const Turn& turn) const;
  void send_blocks(Turn& turn);
  void receive_blocks(Turn& turn);
  void end_sending(Turn& turn);
  void read_words(Turn& turn);
  void expect_progress(Turn& turn) const;
  [[nodiscard]] std::uint64_t retransmits() const;
  void check(const Turn& turn, std::size_t stream) const;
  [[nodiscard]] std::uint64_t key(std::uint64_t from, std::size_t stream) const;

  [[nodiscard]] std::uint64_t place_in_block(std::uint64_t moved) const {
    return block_bytes_ == 0 ? 0 : moved % block_bytes_;
  }

  const Connections& connections_;
  std::uint64_t block_bytes_;
  std::uint64_t rank_;
  std::uint64_t other_;
  std::uint64_t turn_ = 0;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
};

}  // namespace venturi::kernel
