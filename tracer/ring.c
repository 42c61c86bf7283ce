// io_uring: its requests go past every function, so that they exist is all that can be said.
#define _GNU_SOURCE
#include <stddef.h>

#include "wrap.h"

struct io_uring;
struct io_uring_params;
int io_uring_queue_init(unsigned, struct io_uring*, unsigned);
int io_uring_queue_init_params(unsigned, struct io_uring*, struct io_uring_params*);

static void count_ring(int result) {
  if (result == 0) atomic_fetch_add(&header->rings, 1);
}

WRAP(int, io_uring_queue_init, (unsigned entries, struct io_uring* ring, unsigned flags),
     (entries, ring, flags), false, count_ring(result))
WRAP(int, io_uring_queue_init_params,
     (unsigned entries, struct io_uring* ring, struct io_uring_params* how), (entries, ring, how),
     false, count_ring(result))
