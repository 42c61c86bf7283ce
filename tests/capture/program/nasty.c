// One way, named by the first word, in which programs upset whoever watches them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;
static int out;

static void put(int times) {
  for (int i = 0; i < times; ++i)
    if (write(out, "0123456789", 10) != 10) exit(9);
}

// From places that follow no rule, so that no two calls are alike.
static void put_apart(int times) {
  static char data[1 << 16];
  memset(data, 'x', sizeof data);
  for (unsigned i = 1; i <= (unsigned)times; ++i)
    if (write(out, data + i * 2654435761U % 65000, 10) != 10) exit(9);
}

static void on_signal(int number) {
  (void)number;
  const int fd = open("signalled", O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (fd < 0 || write(fd, "s", 1) != 1 || close(fd) != 0) _exit(9);
}

static void wait_for_all(void) {
  while (wait(NULL) > 0) continue;
}

static void in_shell(char** environment) {
  char* words[] = {"/bin/sh", "-c", "echo hello > child", NULL};
  execve(words[0], words, environment);
  _exit(9);
}

// No file may be opened from here on: who tries is killed.
static void lock_in(void) {
  struct sock_filter lines[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog rules = {.len = sizeof lines / sizeof *lines, .filter = lines};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &rules) != 0) exit(9);
}

// As an instruction of the program's own would be: past whoever stands before the C library.
typedef long (*SystemCall)(long, ...);
static SystemCall unseen(void) {
  return (SystemCall)dlsym(dlopen("libc.so.6", RTLD_NOW), "syscall");
}

static bool write_by_number(void) {
  static char block[1 << 20];
  const SystemCall call = unseen();
  for (int i = 0; i < 8; ++i)
    if (call(SYS_write, out, block, sizeof block) != sizeof block) return false;
  return true;
}

// Sets up, by a call that nobody sees, what moves data without calls.
static bool set_up(bool is_ring) {
  struct io_uring_params how = {0};
  static aio_context_t context;
  if (!is_ring) return unseen()(SYS_io_setup, 8, &context) == 0;
  const int fd = (int)unseen()(SYS_io_uring_setup, 8, &how);
  return fd >= 0 && unseen()(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != -1;
}

// The same, but it fails.
static bool fail_to_set_up(void) {
  struct io_uring_params how = {.flags = ~0U};
  unsigned long context = 1;  // not 0, as it must be
  return unseen()(SYS_io_uring_setup, 8, &how) < 0 && unseen()(SYS_io_setup, 8, &context) < 0;
}

// Rules that the system refuses: they are empty.
static bool fail_to_lock_in(void) {
  struct sock_filter line = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog rules = {.len = 0, .filter = &line};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &rules) != 0 &&
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &rules) != 0 &&
         prctl(PR_SET_TSC, 77, 0, 0, 0) != 0;
}

// Ways that have to do with system calls and users; false: it went wrong.
static bool behave(const char* way) {
  if (strcmp(way, "asks whether it could") == 0) {
    // How programs find out what the system can do.
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) == 0) return false;
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) == 0) return false;
    put(5000);
  } else if (strcmp(way, "own rules") == 0) {
    lock_in();
    put(5000);
  } else if (strcmp(way, "rules that fail") == 0) {
    if (!fail_to_lock_in()) return false;
    put(5000);
  } else if (strcmp(way, "own ring") == 0 || strcmp(way, "own context") == 0) {
    return set_up(strcmp(way, "own ring") == 0);
  } else if (strcmp(way, "no ring") == 0) {
    return fail_to_set_up();
  } else if (strcmp(way, "own calls") == 0) {
    return write_by_number();
  } else if (strcmp(way, "own end") == 0) {
    if (write_by_number()) unseen()(SYS_exit_group, 0);
    return false;
  } else if (strcmp(way, "child without a file") == 0) {
    if (fork() == 0) {
      if (setgid(65534) != 0 || setuid(65534) != 0) _exit(9);
      put(10);
      _exit(0);
    }
    wait_for_all();
  }
  return true;
}

int main(int count, char** words) {
  const char* way = count > 1 ? words[1] : "";
  char* nothing[] = {NULL};
  out = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  put(10);
  if (strcmp(way, "kill") == 0) {
    put_apart(990);
    kill(getpid(), SIGKILL);
  } else if (strcmp(way, "close") == 0) {
    for (int fd = 0; fd < 65536; ++fd) close(fd);
    out = open("again", O_WRONLY | O_CREAT, 0600);
    put(5000);
    close_range(0, ~0U, 0);
    out = open("last", O_WRONLY | O_CREAT, 0600);
    put(5000);
  } else if (strcmp(way, "environment") == 0) {
    if (fork() == 0) in_shell(nothing);
    wait_for_all();
    clearenv();
    if (system("echo more >> child") != 0) return 9;
  } else if (strcmp(way, "vfork") == 0) {
    const pid_t child = vfork();
    if (child == 0) {
      dup2(out, 1);
      close(out);
      in_shell(environ);
    }
    wait_for_all();
    put(10);
  } else if (strcmp(way, "spawn") == 0) {
    pid_t child;
    char* command[] = {"sh", "-c", "echo hello > child", NULL};
    if (posix_spawnp(&child, "sh", NULL, NULL, command, nothing) != 0) return 9;
    wait_for_all();
  } else if (strcmp(way, "signals") == 0) {
    signal(SIGALRM, on_signal);
    struct sigevent how = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    timer_t timer;
    timer_create(CLOCK_MONOTONIC, &how, &timer);
    const struct itimerspec often = {{0, 50000}, {0, 50000}};
    timer_settime(timer, 0, &often, NULL);
    for (int i = 0; i < 50; ++i) {
      char name[32];
      snprintf(name, sizeof name, "part.%d", i);
      const int fd = open(name, O_WRONLY | O_CREAT, 0600);
      put(200);
      close(fd);
    }
    signal(SIGALRM, SIG_IGN);
  } else if (strcmp(way, "raw fork") == 0) {
    if (syscall(SYS_fork) == 0) {
      put(20);
      _exit(0);
    }
    wait_for_all();
  } else if (strcmp(way, "small stack") == 0) {
    const stack_t stack = {.ss_sp = malloc(8192), .ss_size = 8192};
    const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    if (sigaltstack(&stack, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0) return 9;
    for (int i = 0; i < 10; ++i) raise(SIGUSR1);
  } else if (strcmp(way, "locked in") == 0) {
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) return 9;
    put(5);
    syscall(SYS_exit, 0);
  } else if (strcmp(way, "limit") == 0) {
    put_apart(100000);
  }
  return behave(way) ? (put(1), 0) : 9;
}
