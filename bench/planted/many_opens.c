// A table is opened and closed around each of COUNT reads of BYTES bytes; mended: once.
#include "decoy.h"

int main(void) {
  static char entry[BYTES];
  decoys();
  make_file("table.bin", (size_t)BYTES * COUNT);
  int file = -1;
  for (int i = 0; i < COUNT; ++i) {
    if (file < 0) file = open("table.bin", O_RDONLY);
    must(file >= 0, "table.bin");
    must(pread(file, entry, BYTES, (off_t)BYTES * i) == BYTES, "table.bin");
    if (!MENDED) {
      close(file);
      file = -1;
    }
  }
  if (MENDED) close(file);
  return 0;
}
