// The tracer in the programs that this one starts.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Whether an environment makes a program load the tracer.
bool has_tracer(char* const* environment);

// How many bytes `with_tracer` needs for an environment.
size_t tracer_room(char* const* environment);

// The environment with the tracer in it, built in `room`.
char** with_tracer(char* const* environment, void* room);

// The same without it, for programs that would not start with it.
char** without_tracer(char* const* environment, void* room);

// Puts the tracer into this process's own environment, for calls that take no other.
void keep_tracer(void);
