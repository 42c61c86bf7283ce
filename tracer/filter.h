// Which paths are recorded, and which are only counted in one sum.
#pragma once

#include <stdbool.h>

typedef struct {
  bool is_all_paths;
  char only[1024];  // globs, each ended by a newline; empty: everything
  char skip[1024];
} Filter;
extern Filter filter;

// Whether the filter leaves out what has this absolute path, or is no path. The rules stand in
// src/venturi/capture/path_filter.py, too.
bool leaves_out(const char* text);
