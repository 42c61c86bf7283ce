// Finding the next definition of a function from its caller's point of view.
#define _GNU_SOURCE
#include "library.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>

void* function_in(void* scope, const char* name) {
  const int before = errno;
  void* found = dlsym(scope ? scope : RTLD_DEFAULT, name);
  errno = before;
  return found;
}

Route route_to(Route* routes, const char* name, const void* caller) {
  Route* kept = &routes[((size_t)caller >> 4) % kRoutes];
  Route route = *kept;
  if (route.caller == caller && route.next) return route;
  const int before = errno;
  route = (Route){.caller = caller, .next = dlsym(RTLD_NEXT, name)};
  if (route.next == NULL) {
    // Loaded for the caller alone: its own dependencies have it.
    Dl_info place;
    struct link_map* object = NULL;
    if (dladdr1(caller, &place, (void**)&object, RTLD_DL_LINKMAP) && object)
      route.scope = dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD);
    if (route.scope) route.next = dlsym(route.scope, name);
  }
  // Half a route is never used: `next` of another caller would be found under a wrong one.
  kept->caller = NULL;
  kept->next = route.next;
  kept->scope = route.scope;
  kept->caller = route.caller;
  errno = before;
  return route;
}
