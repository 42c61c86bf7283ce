// The kernel's own asynchronous I/O: libaio's calls, and what is left of contexts and rings that
// were made without a call that is seen.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "kernel_aio.h"
#include "wrap.h"

static int64_t bytes_in(const struct iocb* request) {
  if (request->aio_lio_opcode != IOCB_CMD_PREADV && request->aio_lio_opcode != IOCB_CMD_PWRITEV)
    return (int64_t)request->aio_nbytes;
  const struct iovec* parts = (const struct iovec*)(uintptr_t)request->aio_buf;
  int64_t bytes = 0;
  for (uint64_t i = 0; i < request->aio_nbytes; ++i) bytes += (int64_t)parts[i].iov_len;
  return bytes;
}

static void requested(const Call* call, const struct iocb* request) {
  const int fd = (int)request->aio_fildes;
  What what = {kPosix, kRead, request->aio_offset, 0, kNonBlocking};
  switch (request->aio_lio_opcode) {
    case IOCB_CMD_PREAD:
    case IOCB_CMD_PREADV:
      what.bytes = bytes_in(request);
      break;
    case IOCB_CMD_PWRITE:
    case IOCB_CMD_PWRITEV:
      what.kind = kWrite;
      what.bytes = bytes_in(request);
      break;
    case IOCB_CMD_FSYNC:
    case IOCB_CMD_FDSYNC:
      what.kind = request->aio_lio_opcode == IOCB_CMD_FSYNC ? kSync : kDataSync;
      what.offset = UNKNOWN_OFFSET;
      break;
    default:
      return;
  }
  note_descriptor(call, fd, what);
}

long submit_requests(unsigned long context, long count, void* requests) {
  Call call = {.start = begin()};
  const int before = errno;
  const long taken = raw(SYS_io_submit, (long)context, count, (long)requests, 0, 0, 0);
  if (call.start == 0) return taken;
  call_ended(&call, false);
  struct iocb* const* each = requests;
  for (long i = 0; i < taken; ++i) requested(&call, each[i]);
  errno = before;
  return taken;
}

// libaio's function returns the error, and leaves errno alone.
EXPORT int io_submit(unsigned long context, long count, struct iocb** requests) {
  return (int)submit_requests(context, count, requests);
}

static bool is_mapped(const char* what) {
  enum { kRoom = 1 << 18 };
  char* text = memory(kRoom);
  if (text == NULL) return false;
  const long bytes = read_file("/proc/self/maps", text, kRoom);
  const bool found = bytes > 0 && strstr(text, what) != NULL;
  raw(SYS_munmap, (long)text, kRoom, 0, 0, 0, 0);
  return found;
}

EXPORT int io_setup(int requests, unsigned long* context) {
  const long got = raw(SYS_io_setup, requests, (long)context, 0, 0, 0, 0);
  if (got == 0 && begin() != 0) atomic_fetch_add(&header->contexts, 1);
  return (int)got;
}

EXPORT int io_queue_init(int requests, unsigned long* context) {
  if (requests <= 0) return -EINVAL;
  *context = 0;
  return io_setup(requests, context);
}

bool has_unseen_context(void) { return atomic_load(&header->contexts) == 0 && is_mapped("/[aio]"); }

bool has_unseen_ring(void) {
  return atomic_load(&header->rings) == 0 && is_mapped("anon_inode:[io_uring]");
}
