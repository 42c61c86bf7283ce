// Makes each kind of call on files in the working directory, in every spelling that glibc has.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

static char data[8192];
static struct iovec parts[2] = {{data, 100}, {data + 100, 200}};

static void expect(long result) {
  if (result < 0) {
    perror("calls");
    exit(1);
  }
}

static void move_data(int fd) {
  expect(write(fd, data, 1000));
  expect(pwrite(fd, data, 500, 4096));
  expect(pwrite64(fd, data, 500, 5000));
  expect(writev(fd, parts, 2));
  expect(pwritev(fd, parts, 2, 100));
  expect(pwritev2(fd, parts, 2, 200, 0));
  expect(pwritev2(fd, parts, 1, -1, 0));
  expect(lseek(fd, 10, SEEK_SET));
  expect(lseek64(fd, 10, SEEK_CUR));
  expect(read(fd, data, 64));
  expect(pread(fd, data, 64, 7));
  expect(pread64(fd, data, 64, 8));
  expect(readv(fd, parts, 2));
  expect(preadv(fd, parts, 2, 9));
  expect(preadv2(fd, parts, 2, 11, 0));
  expect(lseek(fd, 0, SEEK_END));
  expect(read(fd, data, 64));
  expect(fsync(fd));
  expect(fdatasync(fd));
  expect(ftruncate(fd, 9000));
  expect(fallocate(fd, 0, 9000, 1000));
  expect(posix_fallocate(fd, 10000, 100));
}

static void copy(int from) {
  const int to = openat(AT_FDCWD, "copy", O_RDWR | O_CREAT, 0600);
  expect(to);
  off64_t at = 16;
  expect(copy_file_range(from, &at, to, NULL, 256, 0));
  expect(lseek(from, 0, SEEK_SET));
  expect(sendfile(to, from, NULL, 128));
  ioctl(to, FICLONE, to);  // shares nothing anywhere: the two must be different files
  void* mapped = mmap(NULL, 384, PROT_READ, MAP_SHARED, to, 0);
  expect(mapped == MAP_FAILED ? -1 : 0);
  munmap(mapped, 384);
  mapped = mmap(NULL, 384, PROT_READ | PROT_WRITE, MAP_SHARED, to, 0);
  expect(mapped == MAP_FAILED ? -1 : 0);
  expect(msync(mapped, 384, MS_ASYNC));
  expect(msync(mapped, 384, MS_SYNC));
  munmap(mapped, 384);
  const int again = dup(to);
  expect(write(again, data, 10));
  expect(dup2(again, 77));
  expect(write(77, data, 20));
  const int high = fcntl(77, F_DUPFD_CLOEXEC, 100);
  expect(write(high, data, 30));
  expect(close(again));
  expect(close(77));
  expect(close(high));
  expect(close(to));
  const int append = open("copy", O_WRONLY | O_APPEND);
  expect(write(append, data, 40));
  expect(lseek(append, 0, SEEK_SET));
  expect(write(append, data, 50));
  expect(close(append));
}

static void look(void) {
  struct stat status;
  struct statx extended;
  expect(stat("copy", &status));
  expect(lstat("copy", &status));
  expect(fstatat(AT_FDCWD, "copy", &status, 0));
  expect(statx(AT_FDCWD, "copy", 0, STATX_SIZE, &extended));
  expect(access("copy", R_OK));
  expect(stat("missing", &status) == -1 ? 0 : -1);
  expect(chmod("copy", 0640));
  expect(utimes("copy", NULL));
  setxattr("copy", "user.key", "value", 5, 0);
}

static void manage(void) {
  expect(mkdir("folder", 0700));
  const int folder = open("folder", O_RDONLY | O_DIRECTORY);
  expect(folder);
  const int inside = openat(folder, "./inside", O_WRONLY | O_CREAT, 0600);
  expect(write(inside, data, 5));
  expect(close(inside));
  expect(renameat(folder, "inside", AT_FDCWD, "outside"));
  expect(link("outside", "folder/linked"));
  expect(symlink("outside", "symbolic"));
  expect(readlink("symbolic", data, sizeof data));
  expect(truncate("outside", 3));
  DIR* listed = opendir("folder");
  while (readdir(listed)) continue;
  closedir(listed);
  expect(unlinkat(folder, "linked", 0));
  expect(close(folder));
  expect(rmdir("folder"));
  expect(unlink("symbolic"));
  expect(rename("outside", "renamed"));
  expect(chdir(".."));
  expect(unlink("here/renamed"));
  expect(chdir("here"));
}

static void stream(void) {
  FILE* file = fopen("stream", "w+");
  fwrite(data, 10, 30, file);
  fprintf(file, "%d\n", 12345);
  fputs("text\n", file);
  fputc('x', file);
  fflush(file);
  rewind(file);
  char line[400];
  if (fread(line, 1, 300, file) != 300 || fgets(line, sizeof line, file) == NULL) exit(1);
  fclose(file);
}

int main(void) {
  const int fd = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600);
  expect(fd);
  move_data(fd);
  copy(fd);
  expect(close(fd));
  look();
  manage();
  stream();
  return 0;
}
