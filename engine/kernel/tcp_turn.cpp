// A turn ends by two words on the control connection: the sender's number of bytes, and the
// receiver's answer that it has them.
#include "kernel/tcp_turn.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>

#include "kernel/kernel.hpp"
#include "kernel/message_payload.hpp"

namespace venturi::kernel {
namespace {

constexpr int kTickMs = 100;
/// Calls for one stream before the others have theirs.
constexpr int kCallsInARow = 8;
constexpr std::uint64_t kCount = 1;
constexpr std::uint64_t kGotAll = 2;

bool has_to_wait(int error) { return error == EAGAIN || error == EINTR; }

}  // namespace

struct TcpTurns::Word {
  std::uint64_t kind = 0;
  std::uint64_t bytes = 0;
};

struct TcpTurns::Stream {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};

/// What is known so far of the turn that runs.
struct TcpTurns::Turn {
  const TurnPlan& plan;
  const Waiting& waiting;
  const std::string& whom;
  base::Clock& clock;
  std::vector<Stream> streams;
  Sent sent = {};
  std::uint64_t begin_ns = 0;
  /// No block begins any more, and all that began are with the system.
  bool has_sent = false;
  bool is_confirmed = false;
  std::optional<std::uint64_t> expected = std::nullopt;
  bool has_received = false;
  /// Bytes that this rank sent or received, and when it was last seen that any moved.
  std::uint64_t moved = 0;
  std::uint64_t known_moved = 0;
  std::uint64_t known_unconfirmed = 0;
  std::uint64_t looked_ns = 0;
  std::uint64_t moved_ns = 0;

  [[nodiscard]] bool may_begin() const {
    return plan.sends && base::seconds(clock.now_ns() - begin_ns) < plan.send_s;
  }
  [[nodiscard]] bool is_over() const {
    return (!plan.sends || is_confirmed) && (!plan.receives || has_received);
  }
};

TcpTurns::TcpTurns(const Connections& connections, std::uint64_t block_bytes, std::uint64_t rank,
                   std::uint64_t other)
    : connections_(connections),
      block_bytes_(block_bytes),
      rank_(rank),
      other_(other),
      out_(connections.streams.size() * block_bytes),
      in_(out_.size()) {}

std::uint64_t TcpTurns::key(std::uint64_t from, std::size_t stream) const {
  return turn_ * connections_.streams.size() + stream + 7 * from;
}

void TcpTurns::prepare(const TurnPlan& plan) {
  ++turn_;
  for (std::size_t i = 0; i < connections_.streams.size(); ++i) {
    if (plan.sends) fill_payload(out_.data() + i * block_bytes_, block_bytes_, key(rank_, i));
    if (plan.receives) std::fill_n(in_.data() + i * block_bytes_, block_bytes_, std::byte{0});
  }
}

void TcpTurns::wait(const Turn& turn) const {
  std::vector<pollfd> all{{connections_.control.get(), POLLIN, 0}};
  const bool may_begin = turn.may_begin();
  for (std::size_t i = 0; i < turn.streams.size(); ++i) {
    const bool is_within = place_in_block(turn.streams[i].sent) != 0;
    const bool sends = turn.plan.sends && !turn.has_sent && (may_begin || is_within);
    const bool receives = turn.plan.receives && !turn.has_received;
    const int events = (sends ? POLLOUT : 0) | (receives ? POLLIN : 0);
    if (events != 0) {
      all.push_back({connections_.streams[i].get(), static_cast<short>(events), 0});
    }
  }
  const double left_s = turn.plan.send_s - base::seconds(turn.clock.now_ns() - turn.begin_ns);
  int wait_ms = kTickMs;
  if (may_begin && left_s * 1e3 < kTickMs) wait_ms = static_cast<int>(left_s * 1e3) + 1;
  if (::poll(all.data(), all.size(), wait_ms) <= 0) turn.waiting.tick();
}

void TcpTurns::send_blocks(Turn& turn) {
  for (std::size_t i = 0; i < turn.streams.size(); ++i) {
    Stream& stream = turn.streams[i];
    for (int call = 0; call < kCallsInARow; ++call) {
      const std::uint64_t at = place_in_block(stream.sent);
      if (at == 0 && !turn.may_begin()) break;
      const ssize_t sent =
          ::send(connections_.streams[i].get(), out_.data() + i * block_bytes_ + at,
                 block_bytes_ - at, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent < 0 && has_to_wait(errno)) break;
      if (sent < 0) {
        throw wrong_value(
            fmt::format("tcp_pairs: sending to {}: {}", turn.whom, std::strerror(errno)));
      }
      stream.sent += static_cast<std::uint64_t>(sent);
      turn.sent.bytes += static_cast<std::uint64_t>(sent);
      turn.moved += static_cast<std::uint64_t>(sent);
    }
  }
  const bool is_whole = std::all_of(turn.streams.begin(), turn.streams.end(),
                                    [&](const Stream& s) { return place_in_block(s.sent) == 0; });
  if (is_whole && !turn.may_begin()) end_sending(turn);
}

void TcpTurns::end_sending(Turn& turn) {
  turn.has_sent = true;
  for (const base::Descriptor& stream : connections_.streams) {
    const TcpState state = tcp_state(stream.get());
    turn.sent.smoothed_s += state.smoothed_s / static_cast<double>(turn.streams.size());
    turn.sent.window_bytes += state.window_bytes;
    turn.sent.delivered_per_s += state.delivered_per_s;
  }
  const Word count{kCount, turn.sent.bytes};
  send_whole(connections_.control.get(), std::as_bytes(std::span(&count, 1)), turn.waiting,
             turn.whom);
}

void TcpTurns::receive_blocks(Turn& turn) {
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < turn.streams.size(); ++i) {
    Stream& stream = turn.streams[i];
    for (int call = 0; call < kCallsInARow; ++call) {
      const std::uint64_t at = place_in_block(stream.received);
      const ssize_t got = ::recv(connections_.streams[i].get(), in_.data() + i * block_bytes_ + at,
                                 block_bytes_ - at, MSG_DONTWAIT);
      if (got < 0 && has_to_wait(errno)) break;
      if (got <= 0) {
        throw wrong_value(fmt::format("tcp_pairs: receiving from {}: {}", turn.whom,
                                      std::strerror(got == 0 ? ECONNRESET : errno)));
      }
      stream.received += static_cast<std::uint64_t>(got);
      turn.moved += static_cast<std::uint64_t>(got);
      if (turn.plan.checks_all && place_in_block(stream.received) == 0) check(turn, i);
    }
    all += stream.received;
  }
  if (!turn.expected || all < *turn.expected) return;
  if (all > *turn.expected) {
    throw wrong_value(
        fmt::format("tcp_pairs: {} sent {} bytes, and {} came", turn.whom, *turn.expected, all));
  }
  turn.has_received = true;
  const Word answer{kGotAll, all};
  send_whole(connections_.control.get(), std::as_bytes(std::span(&answer, 1)), turn.waiting,
             turn.whom);
}

void TcpTurns::read_words(Turn& turn) {
  pollfd one{connections_.control.get(), POLLIN, 0};
  while (!turn.is_over() && ::poll(&one, 1, 0) > 0) {
    Word word;
    receive_whole(connections_.control.get(), std::as_writable_bytes(std::span(&word, 1)),
                  turn.waiting, turn.whom);
    if (word.kind == kCount) {
      turn.expected = word.bytes;
      return;
    }
    turn.sent.taken_s = base::seconds(turn.clock.now_ns() - turn.begin_ns);
    turn.is_confirmed = true;
  }
}

void TcpTurns::check(const Turn& turn, std::size_t stream) const {
  check_payload(in_.data() + stream * block_bytes_, block_bytes_, key(other_, stream),
                fmt::format("tcp_pairs: block from {}", turn.whom));
}

// What is with the system may still move while neither this rank's sends nor its receives do.
void TcpTurns::expect_progress(Turn& turn) const {
  const std::uint64_t now_ns = turn.clock.now_ns();
  if (base::seconds(now_ns - turn.looked_ns) * 1e3 < kTickMs) return;
  turn.looked_ns = now_ns;
  std::uint64_t unconfirmed = 0;
  for (const base::Descriptor& stream : connections_.streams) {
    unconfirmed += unconfirmed_bytes(stream.get());
  }
  if (turn.moved != turn.known_moved || unconfirmed != turn.known_unconfirmed) {
    turn.known_moved = turn.moved;
    turn.known_unconfirmed = unconfirmed;
    turn.moved_ns = now_ns;
  } else if (base::seconds(now_ns - turn.moved_ns) > turn.waiting.limit_s) {
    throw wrong_value(fmt::format("tcp_pairs: no byte moved from or to {} for {:.1f} s", turn.whom,
                                  turn.waiting.limit_s));
  }
}

std::uint64_t TcpTurns::retransmits() const {
  std::uint64_t sum = 0;
  for (const base::Descriptor& stream : connections_.streams) {
    sum += tcp_state(stream.get()).retransmits;
  }
  return sum;
}

Sent TcpTurns::run(const TurnPlan& plan, base::Clock& clock, const Waiting& waiting,
                   const std::string& whom) {
  prepare(plan);
  Turn turn{plan, waiting, whom, clock, std::vector<Stream>(connections_.streams.size())};
  const std::uint64_t before = retransmits();
  turn.begin_ns = turn.looked_ns = turn.moved_ns = clock.now_ns();
  while (!turn.is_over()) {
    wait(turn);
    read_words(turn);
    if (plan.sends && !turn.has_sent) send_blocks(turn);
    if (plan.receives && !turn.has_received) receive_blocks(turn);
    expect_progress(turn);
  }
  turn.sent.retransmits = retransmits() - before;
  for (std::size_t i = 0; plan.receives && i < turn.streams.size(); ++i) {
    if (turn.streams[i].received == 0) continue;
    if (plan.is_damaged) in_[i * block_bytes_ + block_bytes_ / 2] ^= std::byte{0x40};
    check(turn, i);
  }
  return turn.sent;
}

}  // namespace venturi::kernel
