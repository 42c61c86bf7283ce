// Finding the next definition of a function from its caller's point of view.
#define _GNU_SOURCE
#include "library.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>

enum { kPageBytes = 4096, kFree = 0, kBeingMade, kReady };

void* function_in(void* scope, const char* name) {
  const int before = errno;
  void* found = dlsym(scope ? scope : RTLD_DEFAULT, name);
  errno = before;
  return found;
}

static Route find_route(const char* name, const void* caller) {
  const int before = errno;
  Route route = {.next = dlsym(RTLD_NEXT, name)};
  if (route.next == NULL) {
    // Loaded for the caller alone: its own dependencies have it.
    Dl_info place;
    struct link_map* object = NULL;
    if (dladdr1(caller, &place, (void**)&object, RTLD_DL_LINKMAP) && object)
      route.scope = dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD);
    if (route.scope) route.next = dlsym(route.scope, name);
  }
  errno = before;
  return route;
}

Route route_to(KnownRoute* known, const char* name, const void* caller) {
  const size_t page = (size_t)caller / kPageBytes;
  Route route = {0};
  for (int i = 0; i < kRoutes; ++i) {
    KnownRoute* one = &known[(page + (size_t)i) % kRoutes];
    int state = atomic_load_explicit(&one->state, memory_order_acquire);
    if (state == kReady && one->page == page) return one->route;
    if (state != kFree) continue;
    if (route.next == NULL) route = find_route(name, caller);
    if (route.next == NULL || !atomic_compare_exchange_strong(&one->state, &state, kBeingMade))
      continue;
    one->page = page;
    one->route = route;
    atomic_store_explicit(&one->state, kReady, memory_order_release);
    return route;
  }
  return route.next ? route : find_route(name, caller);
}
