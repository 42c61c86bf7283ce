"""Prints reads at random places of a chromosome, in SAM."""

import random

READS, LENGTH, PLACES = 100_000, 100, 199_999_000

source = random.Random(1)
texts = ["".join(source.choices("ACGT", k=LENGTH)) for _ in range(2000)]
print("@HD\tVN:1.6\tSO:unsorted\n@SQ\tSN:chr1\tLN:200000000")
for number in range(READS):
    place = source.randint(1, PLACES)
    text = texts[number % len(texts)]
    print(f"r{number}\t0\tchr1\t{place}\t60\t{LENGTH}M\t*\t0\t0\t{text}\t{'I' * LENGTH}")
