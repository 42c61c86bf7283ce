// Does each thing twice, by the C library's function and by the system call's number, in two
// folders: numbers FOLDER function|number.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

static int by_number;
static char block[4096];

#define DO(function, number) (by_number ? (long)(number) : (long)(function))
#define SURE(what) \
  if ((what) < 0) return printf("%d: %s\n", __LINE__, strerror(errno)), 9

static int data(void) {
  struct iovec part = {block, 100};
  const int fd = (int)DO(openat(AT_FDCWD, "data", O_CREAT | O_RDWR, 0600),
                         syscall(SYS_openat, AT_FDCWD, "data", O_CREAT | O_RDWR, 0600));
  SURE(fd);
  SURE(DO(write(fd, block, 1000), syscall(SYS_write, fd, block, 1000)));
  SURE(DO(pwrite(fd, block, 500, 7000), syscall(SYS_pwrite64, fd, block, 500, 7000)));
  SURE(DO(writev(fd, &part, 1), syscall(SYS_writev, fd, &part, 1)));
  SURE(DO(pwritev(fd, &part, 1, 300), syscall(SYS_pwritev, fd, &part, 1, 300, 0)));
  SURE(DO(pwritev2(fd, &part, 1, 400, 0), syscall(SYS_pwritev2, fd, &part, 1, 400, 0, 0)));
  SURE(DO(lseek(fd, 10, SEEK_SET), syscall(SYS_lseek, fd, 10, SEEK_SET)));
  SURE(DO(read(fd, block, 20), syscall(SYS_read, fd, block, 20)));
  SURE(DO(pread(fd, block, 20, 5), syscall(SYS_pread64, fd, block, 20, 5)));
  SURE(DO(readv(fd, &part, 1), syscall(SYS_readv, fd, &part, 1)));
  SURE(DO(preadv(fd, &part, 1, 3), syscall(SYS_preadv, fd, &part, 1, 3, 0)));
  SURE(DO(preadv2(fd, &part, 1, 3, 0), syscall(SYS_preadv2, fd, &part, 1, 3, 0, 0)));
  SURE(DO(fsync(fd), syscall(SYS_fsync, fd)));
  SURE(DO(fdatasync(fd), syscall(SYS_fdatasync, fd)));
  SURE(DO(sync_file_range(fd, 0, 10, 0), syscall(SYS_sync_file_range, fd, 0, 10, 0)));
  SURE(DO(ftruncate(fd, 9000), syscall(SYS_ftruncate, fd, 9000)));
  SURE(DO(truncate("data", 8000), syscall(SYS_truncate, "data", 8000)));
  SURE(DO(fallocate(fd, 0, 0, 9999), syscall(SYS_fallocate, fd, 0, 0, 9999)));
  const int other = (int)DO(dup(fd), syscall(SYS_dup, fd));
  SURE(DO(write(other, block, 11), syscall(SYS_write, other, block, 11)));
  SURE(DO(fcntl(other, F_SETFL, O_APPEND), syscall(SYS_fcntl, other, F_SETFL, O_APPEND)));
  SURE(DO(write(other, block, 12), syscall(SYS_write, other, block, 12)));
  SURE(DO(close(other), syscall(SYS_close, other)));
  SURE(DO(close(fd), syscall(SYS_close, fd)));
  return 0;
}

static int copies(void) {
  int pipes[2];
  struct iovec part = {block, 100};
  const int from = open("data", O_RDONLY), to = open("copy", O_CREAT | O_RDWR, 0600);
  off64_t at = 100, there = 50;
  SURE(pipe(pipes));
  SURE(DO(copy_file_range(from, &at, to, &there, 200, 0),
          syscall(SYS_copy_file_range, from, &at, to, &there, 200, 0)));
  SURE(DO(sendfile(to, from, &at, 300), syscall(SYS_sendfile, to, from, &at, 300)));
  SURE(DO(splice(from, &at, pipes[1], NULL, 400, 0),
          syscall(SYS_splice, from, &at, pipes[1], NULL, 400, 0)));
  SURE(DO(splice(pipes[0], NULL, to, &there, 400, 0),
          syscall(SYS_splice, pipes[0], NULL, to, &there, 400, 0)));
  SURE(DO(vmsplice(pipes[1], &part, 1, 0), syscall(SYS_vmsplice, pipes[1], &part, 1, 0)));
  close(from);
  close(to);
  return 0;
}

static int names(void) {
  struct stat status;
  struct statx extended;
  char text[100];
  struct open_how how = {.flags = O_RDONLY};
  const struct timespec times[2] = {{1, 0}, {2, 0}};
  SURE(DO(statx(AT_FDCWD, "data", 0, STATX_SIZE, &extended),
          syscall(SYS_statx, AT_FDCWD, "data", 0, STATX_SIZE, &extended)));
  SURE(DO(fstatat(AT_FDCWD, "data", &status, 0),
          syscall(SYS_newfstatat, AT_FDCWD, "data", &status, 0)));
  SURE(DO(faccessat(AT_FDCWD, "data", R_OK, 0), syscall(SYS_faccessat, AT_FDCWD, "data", R_OK)));
  if (DO(faccessat(AT_FDCWD, "none", R_OK, 0), syscall(SYS_faccessat, AT_FDCWD, "none", R_OK)) == 0)
    return 8;
  const int fd =
      (int)DO(open("data", O_RDONLY), syscall(SYS_openat2, AT_FDCWD, "data", &how, sizeof how));
  SURE(fd);
  SURE(DO(fstat(fd, &status), syscall(SYS_fstat, fd, &status)));
  SURE(DO(fchmod(fd, 0644), syscall(SYS_fchmod, fd, 0644)));
  SURE(DO(fchown(fd, -1, -1), syscall(SYS_fchown, fd, -1, -1)));
  SURE(DO(close(fd), syscall(SYS_close, fd)));
  SURE(DO(mkdirat(AT_FDCWD, "folder", 0700), syscall(SYS_mkdirat, AT_FDCWD, "folder", 0700)));
  SURE(DO(linkat(AT_FDCWD, "data", AT_FDCWD, "linked", 0),
          syscall(SYS_linkat, AT_FDCWD, "data", AT_FDCWD, "linked", 0)));
  SURE(DO(symlinkat("data", AT_FDCWD, "soft"), syscall(SYS_symlinkat, "data", AT_FDCWD, "soft")));
  SURE(DO(readlinkat(AT_FDCWD, "soft", text, 100),
          syscall(SYS_readlinkat, AT_FDCWD, "soft", text, 100)));
  SURE(DO(renameat2(AT_FDCWD, "linked", AT_FDCWD, "moved", 0),
          syscall(SYS_renameat2, AT_FDCWD, "linked", AT_FDCWD, "moved", 0)));
  SURE(DO(fchmodat(AT_FDCWD, "moved", 0600, 0), syscall(SYS_fchmodat, AT_FDCWD, "moved", 0600)));
  SURE(DO(fchownat(AT_FDCWD, "moved", -1, -1, 0),
          syscall(SYS_fchownat, AT_FDCWD, "moved", -1, -1, 0)));
  SURE(DO(utimensat(AT_FDCWD, "moved", times, 0),
          syscall(SYS_utimensat, AT_FDCWD, "moved", times, 0)));
  DO(setxattr("moved", "user.a", "1", 1, 0), syscall(SYS_setxattr, "moved", "user.a", "1", 1, 0));
  DO(getxattr("moved", "user.a", text, 9), syscall(SYS_getxattr, "moved", "user.a", text, 9));
  SURE(DO(unlinkat(AT_FDCWD, "soft", 0), syscall(SYS_unlinkat, AT_FDCWD, "soft", 0)));
  SURE(DO(unlinkat(AT_FDCWD, "folder", AT_REMOVEDIR),
          syscall(SYS_unlinkat, AT_FDCWD, "folder", AT_REMOVEDIR)));
  const int folder = open(".", O_RDONLY | O_DIRECTORY);
  while (DO(getdents64(folder, block, sizeof block),
            syscall(SYS_getdents64, folder, block, sizeof block)) > 0) {
  }
  close(folder);
  return 0;
}

int main(int count, char** words) {
  if (count < 3 || mkdir(words[1], 0700) != 0 || chdir(words[1]) != 0) return 7;
  by_number = strcmp(words[2], "number") == 0;
  const int failed = data() + copies() + names();
  if (by_number) syscall(SYS_exit_group, failed);
  return failed;
}
