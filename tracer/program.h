// Whether a program that is about to be started can load the tracer.
#pragma once

#include <stdbool.h>

// False where its loader is another C library's, which would refuse to start it with ours. `path`
// is looked for as execvp does where `is_searched`.
bool takes_tracer(const char* path, bool is_searched);
