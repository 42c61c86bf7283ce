// Notes between ranks of a communicator, of which nobody knows when they come.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <list>
#include <optional>
#include <span>
#include <vector>

namespace venturi::comm {

inline bool is_done(MPI_Request& request) {
  int done = 0;
  return MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
}

/// The notes that a rank left for others and that are still on their way, and those that came.
class MpiNotes {
 public:
  /// Leaves a note; false if too many are under way.
  bool put(MPI_Comm comm, std::size_t to, std::span<const std::byte> data) {
    forget_arrived();
    if (notes_.size() >= kMost) return false;
    Note& note = notes_.emplace_back(Note{{data.begin(), data.end()}});
    MPI_Isend(note.data.data(), static_cast<int>(note.data.size()), MPI_BYTE, static_cast<int>(to),
              kTag, comm, &note.request);
    return true;
  }
  /// Takes a note that has come: from whom, or nothing.
  std::optional<std::size_t> take(MPI_Comm comm, std::vector<std::byte>& out) {
    int arrived = 0;
    int bytes = 0;
    MPI_Status status;
    forget_arrived();
    MPI_Iprobe(MPI_ANY_SOURCE, kTag, comm, &arrived, &status);
    if (arrived == 0) return std::nullopt;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    out.resize(static_cast<std::size_t>(bytes));
    MPI_Recv(out.data(), bytes, MPI_BYTE, status.MPI_SOURCE, kTag, comm, MPI_STATUS_IGNORE);
    return static_cast<std::size_t>(status.MPI_SOURCE);
  }

 private:
  /// Its memory must stay until it has left.
  struct Note {
    std::vector<std::byte> data;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  static constexpr int kTag = 6;
  static constexpr std::size_t kMost = 64;

  void forget_arrived() {
    notes_.remove_if([](Note& note) { return is_done(note.request); });
  }

  std::list<Note> notes_;
};

}  // namespace venturi::comm
