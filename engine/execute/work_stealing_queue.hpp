// Pieces of work that all ranks share: who has none left steals half of what another one has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/group.hpp"

namespace venturi::execute {

/// A bag per rank. Ranks ask each other in turn; that nobody has anything left is found by
/// Dijkstra's and Safra's token, which goes round the ring of idle ranks and adds up the pieces
/// that are on their way. The group must not be used otherwise until all ranks came to the end.
class WorkStealingQueue {
 public:
  explicit WorkStealingQueue(comm::Group& group);

  /// More work. Anybody may do it.
  void put(std::string piece) { pieces_.push_back(std::move(piece)); }
  /// The next piece; waits for one that another rank gives. Nothing when all ranks have none: each
  /// must ask until then. Collective in that sense. Throws when the run ends.
  [[nodiscard]] std::optional<std::string> take();
  /// Answers those who ask; to be called often while a piece is worked on.
  void serve();
  [[nodiscard]] std::size_t size() const noexcept { return pieces_.size(); }

 private:
  enum class Word : char { kAsk = 'a', kGive = 'g', kNone = 'n', kToken = 't', kEnd = 'e' };

  struct Token {
    std::int64_t under_way = 0;
    bool black = false;
  };
  struct Letter {
    std::size_t to;
    std::string text;
  };

  void hear(std::size_t from, std::string_view text);
  void give(std::size_t to);
  void send(std::size_t to, Word word, std::string_view rest = {});
  void flush();
  /// This rank has nothing to do: asks the next one, and hands on the token.
  void be_idle();
  void pass_token();
  /// All have come to the end: takes what is still under way.
  void close();

  comm::Group& group_;
  std::deque<std::string> pieces_;
  std::deque<Letter> letters_;
  std::vector<std::byte> note_;
  /// Letters that left for each rank, and that came.
  std::vector<std::uint64_t> sent_;
  std::uint64_t heard_ = 0;
  std::size_t victim_;
  bool asked_ = false;
  std::size_t refusals_ = 0;
  /// Pieces' letters sent without those received, and whether any came since the token was here.
  std::int64_t under_way_ = 0;
  bool black_ = false;
  std::optional<Token> token_;
  bool token_is_out_ = false;
  bool ended_ = false;
};

}  // namespace venturi::execute
