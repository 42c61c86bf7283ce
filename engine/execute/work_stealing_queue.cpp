// Asking, giving, and finding out together that nothing is left.
#include "execute/work_stealing_queue.hpp"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <span>

namespace venturi::execute {
namespace {

constexpr std::size_t kLengthBytes = sizeof(std::uint32_t);
constexpr long kFirstPauseNs = 20'000;
constexpr long kLongestPauseNs = 1'000'000;

}  // namespace

WorkStealingQueue::WorkStealingQueue(comm::Group& group)
    : group_(group), sent_(group.size(), 0), victim_((group.rank() + 1) % group.size()) {}

std::optional<std::string> WorkStealingQueue::take() {
  long pause_ns = kFirstPauseNs;
  serve();
  while (pieces_.empty()) {
    if (group_.size() == 1) return std::nullopt;
    if (ended_) {
      close();
      return std::nullopt;
    }
    const std::uint64_t before = heard_;
    be_idle();
    serve();
    group_.poll();
    if (heard_ != before && refusals_ < group_.size()) {
      pause_ns = kFirstPauseNs;
      continue;
    }
    const timespec pause{.tv_sec = 0, .tv_nsec = pause_ns};
    nanosleep(&pause, nullptr);
    pause_ns = std::min(2 * pause_ns, kLongestPauseNs);
  }
  refusals_ = 0;
  std::string piece = std::move(pieces_.back());
  pieces_.pop_back();
  return piece;
}

void WorkStealingQueue::serve() {
  if (group_.size() == 1) return;
  while (const auto from = group_.take_note(note_)) {
    ++heard_;
    hear(*from, {reinterpret_cast<const char*>(note_.data()), note_.size()});
  }
  flush();
}

void WorkStealingQueue::hear(std::size_t from, std::string_view text) {
  const auto word = static_cast<Word>(text.front());
  text.remove_prefix(1);
  switch (word) {
    case Word::kAsk:
      if (!ended_) give(from);
      return;
    case Word::kNone:
      asked_ = false;
      ++refusals_;
      return;
    case Word::kGive:
      asked_ = false;
      --under_way_;
      black_ = true;
      while (!text.empty()) {
        std::uint32_t length = 0;
        std::memcpy(&length, text.data(), kLengthBytes);
        pieces_.emplace_back(text.substr(kLengthBytes, length));
        text.remove_prefix(kLengthBytes + length);
      }
      return;
    case Word::kToken:
      token_.emplace();
      std::memcpy(&token_->under_way, text.data(), sizeof token_->under_way);
      token_->black = text.back() == 'b';
      return;
    case Word::kEnd:
      ended_ = true;
  }
}

/// Half of what there is, the oldest first: those are the directories nearest to the top.
void WorkStealingQueue::give(std::size_t to) {
  std::string rest;
  for (std::size_t wanted = (pieces_.size() + 1) / 2; wanted > 0; --wanted) {
    const std::string& piece = pieces_.front();
    if (1 + rest.size() + kLengthBytes + piece.size() > comm::kMostNoteBytes) break;
    const auto length = static_cast<std::uint32_t>(piece.size());
    rest.append(reinterpret_cast<const char*>(&length), kLengthBytes);
    rest += piece;
    pieces_.pop_front();
  }
  if (rest.empty()) return send(to, Word::kNone);
  ++under_way_;
  send(to, Word::kGive, rest);
}

void WorkStealingQueue::send(std::size_t to, Word word, std::string_view rest) {
  letters_.push_back({to, std::string(1, static_cast<char>(word)).append(rest)});
}

void WorkStealingQueue::flush() {
  while (!letters_.empty()) {
    const Letter& letter = letters_.front();
    if (!group_.put_note(letter.to, std::as_bytes(std::span(letter.text)))) return;
    ++sent_[letter.to];
    letters_.pop_front();
  }
}

void WorkStealingQueue::be_idle() {
  if (!asked_) {
    asked_ = true;
    send(victim_, Word::kAsk);
    victim_ = (victim_ + 1) % group_.size();
    if (victim_ == group_.rank()) victim_ = (victim_ + 1) % group_.size();
  }
  pass_token();
}

void WorkStealingQueue::pass_token() {
  const std::size_t rank = group_.rank();
  if (rank == 0) {
    if (token_is_out_ && !token_) return;
    if (token_ && !token_->black && !black_ && token_->under_way + under_way_ == 0) {
      for (std::size_t other = 1; other < group_.size(); ++other) send(other, Word::kEnd);
      ended_ = true;
      return;
    }
    token_.emplace();
    token_is_out_ = true;
  } else {
    if (!token_) return;
    token_->under_way += under_way_;
    token_->black |= black_;
  }
  black_ = false;
  std::string text(reinterpret_cast<const char*>(&token_->under_way), sizeof token_->under_way);
  text += token_->black ? 'b' : 'w';
  token_.reset();
  send((rank + 1) % group_.size(), Word::kToken, text);
}

// Nobody asks or answers any more, but what has left must arrive, or the next bag would find it.
void WorkStealingQueue::close() {
  std::erase_if(letters_, [](const Letter& letter) {
    return static_cast<Word>(letter.text.front()) != Word::kEnd;
  });
  while (!letters_.empty()) {
    serve();
    group_.poll();
  }
  group_.reduce(std::span(sent_), comm::Reduction::kSum);
  while (heard_ < sent_[group_.rank()]) {
    serve();
    group_.poll();
  }
}

}  // namespace venturi::execute
