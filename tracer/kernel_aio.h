// The kernel's own asynchronous I/O (libaio): requests are noted when they are taken.
#pragma once

#include <stdbool.h>

// Hands `count` requests, pointers to `struct iocb`, to the kernel; how many it took, or -errno.
long submit_requests(unsigned long context, long count, void* requests);

// Whether the process has a context whose making was not seen, as by a system call of its own.
bool has_unseen_context(void);
// The same of rings of io_uring.
bool has_unseen_ring(void);
