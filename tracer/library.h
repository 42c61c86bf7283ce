// Functions of libraries that we know by name only: MPI and HDF5, whichever a caller uses.
//
// A library may be loaded for one Python module alone, and there may be two of a kind, so the
// next definition is looked for in the scope of whoever calls.
#pragma once

#include <stdatomic.h>
#include <stddef.h>

typedef struct {
  void* next;
  void* scope;  // where the caller's other functions are found
} Route;

// A route that was found, for all callers in one page; once made it never changes.
typedef struct {
  _Atomic int state;
  size_t page;
  Route route;
} KnownRoute;

enum { kRoutes = 16 };

// The function `name` as `caller` would have found it without us. `known` is the memory of one
// wrapper, of kRoutes. NULL only where nobody defines it.
Route route_to(KnownRoute* known, const char* name, const void* caller);

// Another function of the same library; NULL where it has none of that name.
void* function_in(void* scope, const char* name);

#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))
