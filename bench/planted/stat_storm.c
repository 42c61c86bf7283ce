// A name is looked at COUNT times; mended: once.
#include "decoy.h"

int main(void) {
  struct stat found;
  decoys();
  make_file("mesh.in", BYTES);
  for (int i = 0; i < (MENDED ? 1 : COUNT); ++i) must(stat("mesh.in", &found) == 0, "mesh.in");
  make_file("result.out", BYTES);
  return 0;
}
