// Reads the head of a program: an ELF file names its loader, a script its interpreter.
#define _GNU_SOURCE
#include "program.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system.h"

enum { kHeadBytes = 4096, kMostInterpreters = 4 };

static long read_at(const char* path, void* head, size_t bytes, int64_t offset) {
  const long fd = raw(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
  if (fd < 0) return fd;
  const long got = raw(SYS_pread64, fd, (long)head, (long)bytes, offset, 0, 0);
  raw(SYS_close, fd, 0, 0, 0, 0, 0);
  return got;
}

// The loader that an ELF file of 64 bits asks for; empty without one.
static void loader_of(const char* path, const char* head, long bytes, char* loader, size_t room) {
  Elf64_Ehdr file;
  loader[0] = 0;
  memcpy(&file, head, sizeof file);
  if (file.e_ident[EI_CLASS] != ELFCLASS64 || file.e_phentsize != sizeof(Elf64_Phdr)) return;
  for (unsigned i = 0; i < file.e_phnum; ++i) {
    Elf64_Phdr part;
    const uint64_t at = file.e_phoff + i * sizeof part;
    if (at + sizeof part > (uint64_t)bytes) return;
    memcpy(&part, head + at, sizeof part);
    if (part.p_type != PT_INTERP || part.p_filesz >= room) continue;
    const long got = read_at(path, loader, part.p_filesz, (int64_t)part.p_offset);
    loader[got > 0 ? got : 0] = 0;
    return;
  }
}

// Puts the interpreter of the script in `head` into `path`; false where it is none.
static bool to_interpreter(char* head, char* path) {
  if (head[0] != '#' || head[1] != '!') return false;
  char* name = head + 2 + strspn(head + 2, " \t");
  name[strcspn(name, " \t\n")] = 0;
  if (*name == 0) return false;
  strncpy(path, name, kPathBytes - 1);
  return true;
}

static bool file_takes_tracer(char* path) {
  for (int i = 0; i < kMostInterpreters; ++i) {
    char head[kHeadBytes];
    const long bytes = read_at(path, head, sizeof head - 1, 0);
    if (bytes < (long)sizeof(Elf64_Ehdr) && bytes < 3) return true;
    head[bytes] = 0;
    if (memcmp(head, ELFMAG, SELFMAG) == 0) {
      char loader[256];
      if (bytes < (long)sizeof(Elf64_Ehdr)) return true;
      loader_of(path, head, bytes, loader, sizeof loader);
      return strstr(loader, "/ld-musl-") == NULL;
    }
    if (!to_interpreter(head, path)) return true;
  }
  return true;
}

bool takes_tracer(const char* path, bool is_searched) {
  char found[kPathBytes];
  if (path == NULL || !is_readable_text(path) || strlen(path) >= sizeof found) return true;
  found[sizeof found - 1] = 0;
  const char* folders = is_searched && strchr(path, '/') == NULL ? getenv("PATH") : NULL;
  if (folders == NULL) return file_takes_tracer(strcpy(found, path));
  while (*folders) {
    const size_t bytes = strcspn(folders, ":");
    if (bytes + strlen(path) + 2 < sizeof found) {
      memcpy(found, folders, bytes);
      found[bytes] = '/';
      strcpy(found + bytes + 1, path);
      if (raw(SYS_faccessat, AT_FDCWD, (long)found, X_OK, 0, 0, 0) == 0)
        return file_takes_tracer(found);
    }
    folders += bytes + (folders[bytes] == ':');
  }
  return true;
}
