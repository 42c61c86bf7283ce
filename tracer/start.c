// The beginning and the end of tracing in a process, and how it comes into the next one.
#define _GNU_SOURCE
#include "start.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "descriptor.h"
#include "filter.h"
#include "spool.h"
#include "ticks.h"
#include "wrap.h"

enum { kOurVariables = 3, kConfigurationBytes = 8192 };

// "NAME=value" of what the tracer needs in an environment; empty: not needed.
static char preload[PATH_MAX + 16];
static char folder[sizeof spool.folder + 32];
static char rank[64];
static const char* const kNames_[kOurVariables] = {
    "LD_PRELOAD=", "VENTURI_TRACE_DIR=", "VENTURI_TRACE_RANK="};
static char* const kOurs[kOurVariables] = {preload, folder, rank};

static long missing(void) {
  errno = ENOSYS;
  return -1;
}

Function next_function(const char* name) {
  const int before = errno;
  Function found;
  *(void**)&found = dlsym(RTLD_NEXT, name);
  errno = before;
  return found ? found : (Function)missing;
}

static const char* value_of(char* const* environment, const char* name) {
  const size_t bytes = strlen(name);
  for (; environment && *environment; ++environment)
    if (strncmp(*environment, name, bytes) == 0) return *environment + bytes;
  return NULL;
}

// One that cannot be read goes to the kernel as it is, which refuses it.
static bool is_sound(char* const* environment) {
  if (environment == NULL) return true;
  for (;; ++environment) {
    if (!is_readable(environment, sizeof *environment)) return false;
    if (*environment == NULL) return true;
    if (!is_readable_text(*environment)) return false;
  }
}

bool has_tracer(char* const* environment) {
  if (!is_sound(environment)) return true;
  const char* loaded = value_of(environment, kNames_[0]);
  return folder[0] == 0 || (loaded && strstr(loaded, preload + strlen(kNames_[0])) &&
                            value_of(environment, kNames_[1]));
}

size_t tracer_room(char* const* environment) {
  size_t count = 0;
  while (environment && environment[count]) ++count;
  const char* loaded = value_of(environment, kNames_[0]);
  return (count + kOurVariables + 1) * sizeof(char*) + sizeof preload +
         (loaded ? strlen(loaded) : 0) + 2;
}

char** with_tracer(char* const* environment, void* room) {
  char** made = (char**)room;
  size_t count = 0;
  for (char* const* one = environment; one && *one; ++one) {
    bool is_ours = false;
    for (int i = 0; i < 2; ++i) is_ours |= strncmp(*one, kNames_[i], strlen(kNames_[i])) == 0;
    if (!is_ours) made[count++] = *one;
  }
  made[count++] = folder;
  if (rank[0] && value_of(environment, kNames_[2]) == NULL) made[count++] = rank;
  char* text = (char*)(made + count + 2);
  made[count++] = text;
  made[count] = NULL;
  text = stpcpy(text, preload);
  const char* loaded = value_of(environment, kNames_[0]);
  if (loaded && *loaded && strstr(loaded, preload + strlen(kNames_[0])) == NULL)
    stpcpy(stpcpy(text, ":"), loaded);
  return made;
}

char** without_tracer(char* const* environment, void* room) {
  char** made = (char**)room;
  const size_t name_bytes = strlen(kNames_[0]);
  const char* ours = preload + name_bytes;
  const size_t bytes = strlen(ours);
  size_t count = 0;
  for (char* const* one = environment; one && *one; ++one) {
    const char* at = strncmp(*one, kNames_[0], name_bytes) == 0 ? strstr(*one, ours) : NULL;
    if (at == NULL) {
      made[count++] = *one;
      continue;
    }
    // The others that it names stay.
    char* text = (char*)room + tracer_room(environment) - strlen(*one) - 1;
    const char* rest = at + bytes + (at[bytes] == ':');
    memcpy(text, *one, (size_t)(at - *one));
    strcpy(text + (at - *one), rest);
    if (text[name_bytes] != 0) made[count++] = text;
  }
  made[count] = NULL;
  return made;
}

void keep_tracer(void) {
  if (has_tracer(environ)) return;
  for (int i = 0; i < kOurVariables; ++i)
    if (kOurs[i][0]) putenv(kOurs[i]);
}

// A batch script has Slurm's number, too, but only what srun starts has a step.
static int launcher_rank(void) {
  static const struct {
    const char *rank, *needs;
  } kVariables[] = {{"OMPI_COMM_WORLD_RANK", NULL},
                    {"PMIX_RANK", NULL},
                    {"PMI_RANK", NULL},
                    {"SLURM_PROCID", "SLURM_STEP_ID"},
                    {"VENTURI_TRACE_RANK", NULL}};
  for (size_t i = 0; i < sizeof kVariables / sizeof *kVariables; ++i) {
    const char* text = getenv(kVariables[i].rank);
    const bool is_meant = kVariables[i].needs == NULL || getenv(kVariables[i].needs) != NULL;
    if (is_meant && text && *text >= '0' && *text <= '9') return (int)strtol(text, NULL, 10);
  }
  return -1;
}

// One setting per line, "name value".
static void configure(char* text) {
  char* only = filter.only;
  char* skip = filter.skip;
  for (char* line = text; line && *line;) {
    char* next = strchr(line, '\n');
    if (next) *next++ = 0;
    char* value = strchr(line, ' ');
    if (value == NULL) break;
    *value++ = 0;
    const size_t bytes = strlen(value);
    if (strcmp(line, "limit") == 0) spool.limit = strtoll(value, NULL, 10);
    if (strcmp(line, "counters_only") == 0) spool.is_counters_only = *value == '1';
    if (strcmp(line, "runs") == 0) spool.is_without_runs = *value == '0';
    if (strcmp(line, "all_paths") == 0) filter.is_all_paths = *value == '1';
    if (strcmp(line, "only") == 0 && only + bytes + 2 < filter.only + sizeof filter.only)
      only = stpcpy(stpcpy(only, value), "\n");
    if (strcmp(line, "skip") == 0 && skip + bytes + 2 < filter.skip + sizeof filter.skip)
      skip = stpcpy(stpcpy(skip, value), "\n");
    line = next;
  }
}

static bool kernel_keeps_time_by_ticks(void) {
  char text[16];
  return kHasCpuTicks &&
         read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", text,
                   sizeof text) > 0 &&
         strncmp(text, "tsc", 3) == 0;
}

// What this program was given: descriptors that are open already.
static void adopt_descriptors(void) {
  DIR* listed = opendir("/proc/self/fd");
  if (listed == NULL) return;
  for (const struct dirent* entry; (entry = readdir(listed)) != NULL;) {
    const int fd = (int)strtol(entry->d_name, NULL, 10);
    if (entry->d_name[0] != '.' && fd != dirfd(listed)) descriptor_find(fd);
  }
  closedir(listed);
}

// Before, because the child may move positions at once; after, for what other threads opened
// meanwhile.
static void share_descriptors(void) {
  if (atomic_load(&live->on)) descriptors_are_shared(true);
}

static void after_fork_in_child(void) {
  spool_forked();
  descriptors_are_inherited();
}

__attribute__((constructor)) static void start(void) {
  const int before = errno;
  const char* where = getenv("VENTURI_TRACE_DIR");
  Dl_info us;
  if (where == NULL || strlen(where) >= sizeof spool.folder || !dladdr((void*)start, &us) ||
      strlen(us.dli_fname) >= PATH_MAX)
    return;
  static char text[kConfigurationBytes];
  char path[sizeof spool.folder + 32];
  stpcpy(stpcpy(path, where), "/configuration");
  if (read_file(path, text, sizeof text) < 0) return;
  configure(text);
  stpcpy(spool.folder, where);
  spool.rank = launcher_rank();
  spool.is_filtered = raw(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0) != 0;
  spool.is_ns = !kernel_keeps_time_by_ticks();
  stpcpy(stpcpy(preload, kNames_[0]), us.dli_fname);
  stpcpy(stpcpy(folder, kNames_[1]), where);
  if (spool.rank >= 0) decimal((uint64_t)spool.rank, stpcpy(rank, kNames_[2]));
  pthread_atfork(share_descriptors, share_descriptors, after_fork_in_child);
  adopt_descriptors();
  if (spool_start()) thread_number();
  errno = before;
}

__attribute__((destructor)) static void end(void) {
  if (!is_in_vfork_child()) spool_end();
}
