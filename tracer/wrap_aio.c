// POSIX asynchronous I/O: requests are noted when they are made, with what was asked for.
#define _GNU_SOURCE
#include <aio.h>

#include "wrap.h"

static void requested(const Call* call, Kind kind, int fd, int64_t at, size_t bytes) {
  note_descriptor(call, fd, (What){kPosix, kind, at, (int64_t)bytes, kNonBlocking});
}

#define WRAP_REQUEST(name, kind, type)                     \
  WRAP(int, name, (struct type * block), (block), MINUS_1, \
       requested(&call, kind, block->aio_fildes, block->aio_offset, block->aio_nbytes))
WRAP_REQUEST(aio_read, kRead, aiocb)
WRAP_REQUEST(aio_read64, kRead, aiocb64)
WRAP_REQUEST(aio_write, kWrite, aiocb)
WRAP_REQUEST(aio_write64, kWrite, aiocb64)

#define WRAP_LIST(name, type)                                                                 \
  WRAP(int, name, (int mode, struct type* const blocks[], int count, struct sigevent* event), \
       (mode, blocks, count, event), MINUS_1,                                                 \
       for (int i = 0; i < count; ++i) if (blocks[i] && blocks[i]->aio_lio_opcode != LIO_NOP) \
           requested(&call, blocks[i]->aio_lio_opcode == LIO_WRITE ? kWrite : kRead,          \
                     blocks[i]->aio_fildes, blocks[i]->aio_offset, blocks[i]->aio_nbytes))
WRAP_LIST(lio_listio, aiocb)
WRAP_LIST(lio_listio64, aiocb64)

#define WRAP_SYNC(name, type)                                           \
  WRAP(int, name, (int how, struct type* block), (how, block), MINUS_1, \
       note_descriptor(&call, block->aio_fildes,                        \
                       (What){kPosix, kSync, UNKNOWN_OFFSET, 0, kNonBlocking}))
WRAP_SYNC(aio_fsync, aiocb)
WRAP_SYNC(aio_fsync64, aiocb64)
