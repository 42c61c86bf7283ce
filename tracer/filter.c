// The rules by which paths are left out: the user's globs, the system's directories, MPI's own
// files.
#include "filter.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

Filter filter;

#define LENGTH(array) (sizeof(array) / sizeof *(array))

// System directories that hold no data of applications.
static const char* const kSystem[] = {"/proc/",  "/sys/", "/dev/",  "/usr/", "/lib/",
                                      "/lib64/", "/bin/", "/sbin/", "/etc/", "/boot/",
                                      "/run/",   "/opt/", "/var/"};
static const char* const kNotSystem[] = {"/dev/shm/", "/var/tmp/", "/run/user/"};

// Where MPIs and what they build on keep memory that the ranks of a node share.
static const char* const kSegments[] = {
    "vader_segment.", "sm_segment.",     "open_mpi.", "osc_",     "coll_sm",   "pmix_",    "mpich_",
    "Intel_MPI_",     "ib_shmem",        "cma_shmem", "ucx_shm_", "psm2_shm.", "psm_shm.", "nccl-",
    "sem.",           "cray-shared-mem-"};

// Names anywhere in a path; those of the first row end in a dot and a user's number.
static const char* const kSessions[] = {"ompi.", "prte.", "pmix."};
static const char* const kTemporary[] = {"openmpi-sessions-", "mpich_shar_tmp"};

static const char kShared[] = "/dev/shm/";

static bool begins(const char* text, const char* const* prefixes, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (strncmp(text, prefixes[i], strlen(prefixes[i])) == 0) return true;
  return false;
}

static bool is_below(const char* text, const char* const* folders, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const size_t bytes = strlen(folders[i]) - 1;
    if (strncmp(text, folders[i], bytes) == 0 && (text[bytes] == '/' || text[bytes] == 0))
      return true;
  }
  return false;
}

static bool ends_in_number(const char* text, size_t bytes) {
  size_t digits = 0;
  while (digits < bytes && text[bytes - 1 - digits] >= '0' && text[bytes - 1 - digits] <= '9')
    ++digits;
  return digits > 0 && digits < bytes && text[bytes - 1 - digits] == '.';
}

static bool is_of_mpi(const char* text) {
  const size_t shared_bytes = sizeof kShared - 1;
  if (strncmp(text, kShared, shared_bytes) == 0 &&
      begins(text + shared_bytes, kSegments, LENGTH(kSegments)))
    return true;
  while ((text = strchr(text, '/')) != NULL) {
    ++text;
    if (begins(text, kTemporary, LENGTH(kTemporary))) return true;
    if (begins(text, kSessions, LENGTH(kSessions)) && ends_in_number(text, strcspn(text, "/")))
      return true;
  }
  return false;
}

static bool matches(const char* globs, const char* text) {
  char glob[sizeof filter.only];
  for (const char* end; (end = strchr(globs, '\n')) != NULL; globs = end + 1) {
    memcpy(glob, globs, (size_t)(end - globs));
    glob[end - globs] = 0;
    if (fnmatch(glob, text, 0) == 0) return true;
  }
  return false;
}

bool leaves_out(const char* text) {
  if (matches(filter.skip, text)) return true;
  if (filter.only[0]) return !matches(filter.only, text);
  if (filter.is_all_paths) return false;
  if (text[0] != '/' || text[1] == 0) return true;  // pipes, sockets; the root itself
  if (strncmp(text, "/memfd:", 7) == 0 || is_of_mpi(text)) return true;
  return is_below(text, kSystem, LENGTH(kSystem)) &&
         !is_below(text, kNotSystem, LENGTH(kNotSystem));
}
