// COUNT records of BYTES bytes, each made persistent on its own; mended: one sync at the end.
#include "decoy.h"

int main(void) {
  decoys();
  char* record = computed(BYTES);
  const int file = open("records.dat", O_CREAT | O_TRUNC | O_WRONLY, 0644);
  must(file >= 0, "records.dat");
  for (int i = 0; i < COUNT; ++i) {
    must(write(file, record, BYTES) == BYTES, "records.dat");
    if (!MENDED) must(fsync(file) == 0, "fsync");
  }
  if (MENDED) must(fsync(file) == 0, "fsync");
  close(file);
  return 0;
}
