// Where a stream's next byte is in memory: it moves as the position does, unless the buffer was
// filled meanwhile.
#pragma once

#include <stdint.h>
#include <stdio.h>

static inline uintptr_t place_of(FILE* stream) { return (uintptr_t)stream->_IO_read_ptr; }
