// Nothing is wrong: COUNT large requests of BYTES bytes, one behind the other, into one file.
#include "decoy.h"

int main(void) {
  decoys();
  char* block = computed(BYTES);
  const int file = open("dump.dat", O_CREAT | O_TRUNC | O_WRONLY, 0644);
  must(file >= 0, "dump.dat");
  for (int i = 0; i < COUNT; ++i) must(write(file, block, BYTES) == BYTES, "dump.dat");
  must(fsync(file) == 0, "fsync");
  close(file);
  return 0;
}
