"""Kernels that measure the machine: generated from `venturi-engine describe` by `make gen`.

Do not edit: each entry is written in C++, beside its kernel in engine/kernel.
"""

from __future__ import annotations

from venturi.model.interface_entry import InterfaceOption
from venturi.model.kernel_entry import KernelEntry, KernelFigure

KERNELS: dict[str, KernelEntry] = {
    "memory_sweep": KernelEntry(
        about="memory bandwidth over sizes of arrays: FILL, COPY, DAXPY and SUM",
        likeness="STREAM 2 class",
        figures=(
            KernelFigure(
                name="fill",
                unit="B/s",
                about="storing to the largest arrays",
            ),
            KernelFigure(
                name="copy",
                unit="B/s",
                about="copying between the largest arrays",
            ),
            KernelFigure(
                name="daxpy",
                unit="B/s",
                about="b += q a on the largest arrays",
            ),
            KernelFigure(
                name="sum",
                unit="B/s",
                about="adding up the largest arrays",
            ),
        ),
        options=(
            InterfaceOption(
                name="least",
                type="bytes",
                default="4 KiB",
                about="the smallest array",
                range="512 B or more",
            ),
            InterfaceOption(
                name="most",
                type="bytes",
                default="0",
                about=(
                    "the largest array of a rank; 0: all ranks of a node together have 4 times its "
                    "last-level caches"
                ),
                range="0 or more bytes",
            ),
            InterfaceOption(
                name="sizes",
                type="integer",
                default="16",
                about="so many sizes, in equal steps of their logarithm",
                range="1 to 256",
            ),
            InterfaceOption(
                name="samples",
                type="integer",
                default="10",
                about="so many samples of each size and loop",
                range="1 to 10000",
            ),
            InterfaceOption(
                name="sample_s",
                type="real",
                default="0.002",
                about="a sample takes at least so long, in seconds",
                range="0.0001 to 60",
            ),
            InterfaceOption(
                name="ranks",
                type="word",
                default="all",
                about="which ranks measure: all at the same moment, or the first one alone",
                range="all|one",
            ),
            InterfaceOption(
                name="damage",
                type="boolean",
                default="false",
                about="spoils a value before the check, which then must fail the run: for tests",
                range="true or false",
            ),
        ),
    ),
    "memory_triad": KernelEntry(
        about="memory bandwidth of long arrays: copy, scale, add and triad",
        likeness="STREAM class",
        figures=(
            KernelFigure(
                name="copy",
                unit="B/s",
                about="c = a",
            ),
            KernelFigure(
                name="scale",
                unit="B/s",
                about="b = q c",
            ),
            KernelFigure(
                name="add",
                unit="B/s",
                about="c = a + b",
            ),
            KernelFigure(
                name="triad",
                unit="B/s",
                about="a = b + q c",
            ),
        ),
        options=(
            InterfaceOption(
                name="array",
                type="bytes",
                default="0",
                about=(
                    "one array of a rank; 0: those of a node together have 4 times its last-level "
                    "caches, the least that STREAM's rules allow"
                ),
                range="0, or 512 B or more",
            ),
            InterfaceOption(
                name="samples",
                type="integer",
                default="10",
                about="so many samples that count, after one that does not",
                range="9 to 250",
            ),
            InterfaceOption(
                name="ranks",
                type="word",
                default="all",
                about="which ranks measure: all at the same moment, or the first one alone",
                range="all|one",
            ),
            InterfaceOption(
                name="damage",
                type="boolean",
                default="false",
                about="spoils a value before the check, which then must fail the run: for tests",
                range="true or false",
            ),
        ),
    ),
    "memory_chase": KernelEntry(
        about="memory latency over sizes of arrays: loads that depend on each other",
        likeness="pointer chase",
        figures=(
            KernelFigure(
                name="load",
                unit="s",
                about="one load from the largest array",
            ),
        ),
        options=(
            InterfaceOption(
                name="least",
                type="bytes",
                default="4 KiB",
                about="the smallest array",
                range="128 B or more",
            ),
            InterfaceOption(
                name="most",
                type="bytes",
                default="0",
                about="the largest array of a rank; 0: 4 times the last-level caches of the node",
                range="0 to 128 GiB",
            ),
            InterfaceOption(
                name="sizes",
                type="integer",
                default="12",
                about="so many sizes, in equal steps of their logarithm",
                range="1 to 256",
            ),
            InterfaceOption(
                name="samples",
                type="integer",
                default="10",
                about="so many samples of each size",
                range="1 to 10000",
            ),
            InterfaceOption(
                name="loads",
                type="integer",
                default="50000",
                about="so many loads in a sample",
                range="100 to 1000000000",
            ),
            InterfaceOption(
                name="ranks",
                type="word",
                default="one",
                about="which ranks measure: all at the same moment, or the first one alone",
                range="all|one",
            ),
            InterfaceOption(
                name="damage",
                type="boolean",
                default="false",
                about="spoils a value before the check, which then must fail the run: for tests",
                range="true or false",
            ),
        ),
    ),
    "compute_fma": KernelEntry(
        about="the peak of arithmetic on doubles: multiply and add in registers",
        likeness="peak of arithmetic",
        figures=(
            KernelFigure(
                name="multiply-add",
                unit="flop/s",
                about="of all ranks that measure together",
            ),
        ),
        options=(
            InterfaceOption(
                name="samples",
                type="integer",
                default="10",
                about="so many samples",
                range="1 to 10000",
            ),
            InterfaceOption(
                name="sample_s",
                type="real",
                default="0.02",
                about="a sample takes at least so long, in seconds",
                range="0.0001 to 60",
            ),
            InterfaceOption(
                name="ranks",
                type="word",
                default="all",
                about="which ranks measure: all at the same moment, or the first one alone",
                range="all|one",
            ),
            InterfaceOption(
                name="damage",
                type="boolean",
                default="false",
                about="spoils a value before the check, which then must fail the run: for tests",
                range="true or false",
            ),
        ),
    ),
    "compute_dgemm": KernelEntry(
        about="multiplication of matrices of doubles, one product on each rank",
        likeness="DGEMM class",
        figures=(
            KernelFigure(
                name="multiply",
                unit="flop/s",
                about="of all ranks that measure together",
            ),
        ),
        options=(
            InterfaceOption(
                name="n",
                type="integer",
                default="1024",
                about="rows and columns of each matrix",
                range="1 to 32768",
            ),
            InterfaceOption(
                name="samples",
                type="integer",
                default="5",
                about="so many samples, after one that does not count",
                range="1 to 1000",
            ),
            InterfaceOption(
                name="ranks",
                type="word",
                default="all",
                about="which ranks measure: all at the same moment, or the first one alone",
                range="all|one",
            ),
            InterfaceOption(
                name="damage",
                type="boolean",
                default="false",
                about="spoils a value before the check, which then must fail the run: for tests",
                range="true or false",
            ),
        ),
    ),
    "compute_lu": KernelEntry(
        about="a dense system of equations, solved by LU with pivots on all ranks together",
        likeness="HPL class",
        figures=(
            KernelFigure(
                name="solve",
                unit="flop/s",
                about="one system on all ranks that measure",
            ),
        ),
        options=(
            InterfaceOption(
                name="n",
                type="integer",
                default="2000",
                about="equations",
                range="1 to 1000000",
            ),
            InterfaceOption(
                name="block",
                type="integer",
                default="64",
                about="columns of a block",
                range="1 to 4096",
            ),
            InterfaceOption(
                name="samples",
                type="integer",
                default="3",
                about="so many times",
                range="1 to 1000",
            ),
            InterfaceOption(
                name="ranks",
                type="word",
                default="all",
                about="which ranks measure: all at the same moment, or the first one alone",
                range="all|one",
            ),
            InterfaceOption(
                name="damage",
                type="boolean",
                default="false",
                about="spoils a value before the check, which then must fail the run: for tests",
                range="true or false",
            ),
        ),
    ),
    "compute_cg": KernelEntry(
        about="conjugate gradients with a multigrid preconditioner on sparse rows",
        likeness="HPCG class",
        figures=(
            KernelFigure(
                name="iterate",
                unit="flop/s",
                about="one system on all ranks that measure",
            ),
            KernelFigure(
                name="sum",
                unit="s",
                about="one sum over all ranks, as each dot product needs it",
            ),
        ),
        options=(
            InterfaceOption(
                name="nx",
                type="word",
                default="32",
                about="points of a rank along x",
                range="16|24|32|40|48|56|64|80|96|104|128|160|192|256|512",
            ),
            InterfaceOption(
                name="ny",
                type="word",
                default="32",
                about="points of a rank along y",
                range="16|24|32|40|48|56|64|80|96|104|128|160|192|256|512",
            ),
            InterfaceOption(
                name="nz",
                type="word",
                default="32",
                about="points of a rank along z",
                range="16|24|32|40|48|56|64|80|96|104|128|160|192|256|512",
            ),
            InterfaceOption(
                name="least_s",
                type="real",
                default="0",
                about="sets of 50 iterations go on for so long, in seconds; at least one",
                range="0 to 7200",
            ),
            InterfaceOption(
                name="ranks",
                type="word",
                default="all",
                about="which ranks measure: all at the same moment, or the first one alone",
                range="all|one",
            ),
            InterfaceOption(
                name="damage",
                type="boolean",
                default="false",
                about="spoils a value before the check, which then must fail the run: for tests",
                range="true or false",
            ),
        ),
    ),
    "data_sort": KernelEntry(
        about="sorting generated records of 100 bytes by keys of 8 bytes, on all ranks together",
        likeness="BigDataBench class",
        figures=(
            KernelFigure(
                name="process",
                unit="B/s",
                about="bytes of the input in the time of all parts",
            ),
            KernelFigure(
                name="read",
                unit="s",
                about="the input from its file, on the slowest rank",
            ),
            KernelFigure(
                name="compute",
                unit="s",
                about="work on a rank's own data, on the slowest rank",
            ),
            KernelFigure(
                name="exchange",
                unit="s",
                about="what ranks hand to each other, on the slowest rank",
            ),
            KernelFigure(
                name="write",
                unit="s",
                about="the result to storage, with fdatasync, on the slowest rank",
            ),
        ),
        options=(
            InterfaceOption(
                name="records",
                type="integer",
                default="500000",
                about="so many records of all ranks together",
                range="1 to 1000000000000",
            ),
            InterfaceOption(
                name="samples",
                type="integer",
                default="3",
                about="so many times",
                range="1 to 1000",
            ),
            InterfaceOption(
                name="ranks",
                type="word",
                default="all",
                about="which ranks measure: all at the same moment, or the first one alone",
                range="all|one",
            ),
            InterfaceOption(
                name="damage",
                type="boolean",
                default="false",
                about="spoils a value before the check, which then must fail the run: for tests",
                range="true or false",
            ),
        ),
    ),
    "data_words": KernelEntry(
        about="counting the words of generated lines, each kind of them on one rank",
        likeness="BigDataBench class",
        figures=(
            KernelFigure(
                name="process",
                unit="B/s",
                about="bytes of the input in the time of all parts",
            ),
            KernelFigure(
                name="read",
                unit="s",
                about="the input from its file, on the slowest rank",
            ),
            KernelFigure(
                name="compute",
                unit="s",
                about="work on a rank's own data, on the slowest rank",
            ),
            KernelFigure(
                name="exchange",
                unit="s",
                about="what ranks hand to each other, on the slowest rank",
            ),
            KernelFigure(
                name="write",
                unit="s",
                about="the result to storage, with fdatasync, on the slowest rank",
            ),
        ),
        options=(
            InterfaceOption(
                name="records",
                type="integer",
                default="1000000",
                about="so many records of all ranks together",
                range="1 to 1000000000000",
            ),
            InterfaceOption(
                name="samples",
                type="integer",
                default="3",
                about="so many times",
                range="1 to 1000",
            ),
            InterfaceOption(
                name="ranks",
                type="word",
                default="all",
                about="which ranks measure: all at the same moment, or the first one alone",
                range="all|one",
            ),
            InterfaceOption(
                name="damage",
                type="boolean",
                default="false",
                about="spoils a value before the check, which then must fail the run: for tests",
                range="true or false",
            ),
        ),
    ),
    "data_grep": KernelEntry(
        about="finding the lines that have a text in them",
        likeness="BigDataBench class",
        figures=(
            KernelFigure(
                name="process",
                unit="B/s",
                about="bytes of the input in the time of all parts",
            ),
            KernelFigure(
                name="read",
                unit="s",
                about="the input from its file, on the slowest rank",
            ),
            KernelFigure(
                name="compute",
                unit="s",
                about="work on a rank's own data, on the slowest rank",
            ),
            KernelFigure(
                name="exchange",
                unit="s",
                about="what ranks hand to each other, on the slowest rank",
            ),
            KernelFigure(
                name="write",
                unit="s",
                about="the result to storage, with fdatasync, on the slowest rank",
            ),
        ),
        options=(
            InterfaceOption(
                name="records",
                type="integer",
                default="1000000",
                about="so many records of all ranks together",
                range="1 to 1000000000000",
            ),
            InterfaceOption(
                name="samples",
                type="integer",
                default="3",
                about="so many times",
                range="1 to 1000",
            ),
            InterfaceOption(
                name="ranks",
                type="word",
                default="all",
                about="which ranks measure: all at the same moment, or the first one alone",
                range="all|one",
            ),
            InterfaceOption(
                name="damage",
                type="boolean",
                default="false",
                about="spoils a value before the check, which then must fail the run: for tests",
                range="true or false",
            ),
            InterfaceOption(
                name="text",
                type="text",
                default="zuz",
                about="what is looked for, as it stands",
                range="at least 1 byte",
            ),
        ),
    ),
    "data_digest": KernelEntry(
        about="the MD5 digest of each of some generated lines",
        likeness="BigDataBench class",
        figures=(
            KernelFigure(
                name="process",
                unit="B/s",
                about="bytes of the input in the time of all parts",
            ),
            KernelFigure(
                name="read",
                unit="s",
                about="the input from its file, on the slowest rank",
            ),
            KernelFigure(
                name="compute",
                unit="s",
                about="work on a rank's own data, on the slowest rank",
            ),
            KernelFigure(
                name="exchange",
                unit="s",
                about="what ranks hand to each other, on the slowest rank",
            ),
            KernelFigure(
                name="write",
                unit="s",
                about="the result to storage, with fdatasync, on the slowest rank",
            ),
        ),
        options=(
            InterfaceOption(
                name="records",
                type="integer",
                default="1000000",
                about="so many records of all ranks together",
                range="1 to 1000000000000",
            ),
            InterfaceOption(
                name="samples",
                type="integer",
                default="3",
                about="so many times",
                range="1 to 1000",
            ),
            InterfaceOption(
                name="ranks",
                type="word",
                default="all",
                about="which ranks measure: all at the same moment, or the first one alone",
                range="all|one",
            ),
            InterfaceOption(
                name="damage",
                type="boolean",
                default="false",
                about="spoils a value before the check, which then must fail the run: for tests",
                range="true or false",
            ),
        ),
    ),
    "data_sample": KernelEntry(
        about="a random sample of generated lines",
        likeness="BigDataBench class",
        figures=(
            KernelFigure(
                name="process",
                unit="B/s",
                about="bytes of the input in the time of all parts",
            ),
            KernelFigure(
                name="read",
                unit="s",
                about="the input from its file, on the slowest rank",
            ),
            KernelFigure(
                name="compute",
                unit="s",
                about="work on a rank's own data, on the slowest rank",
            ),
            KernelFigure(
                name="exchange",
                unit="s",
                about="what ranks hand to each other, on the slowest rank",
            ),
            KernelFigure(
                name="write",
                unit="s",
                about="the result to storage, with fdatasync, on the slowest rank",
            ),
        ),
        options=(
            InterfaceOption(
                name="records",
                type="integer",
                default="1000000",
                about="so many records of all ranks together",
                range="1 to 1000000000000",
            ),
            InterfaceOption(
                name="samples",
                type="integer",
                default="3",
                about="so many times",
                range="1 to 1000",
            ),
            InterfaceOption(
                name="ranks",
                type="word",
                default="all",
                about="which ranks measure: all at the same moment, or the first one alone",
                range="all|one",
            ),
            InterfaceOption(
                name="damage",
                type="boolean",
                default="false",
                about="spoils a value before the check, which then must fail the run: for tests",
                range="true or false",
            ),
            InterfaceOption(
                name="share",
                type="real",
                default="0.1",
                about="the chance of each line to be taken",
                range="0 to 1",
            ),
        ),
    ),
    "data_components": KernelEntry(
        about=(
            "connected components of a generated graph, whose edges and vertices lie on all ranks"
        ),
        likeness="BigDataBench class",
        figures=(
            KernelFigure(
                name="process",
                unit="B/s",
                about="bytes of the input in the time of all parts",
            ),
            KernelFigure(
                name="read",
                unit="s",
                about="the input from its file, on the slowest rank",
            ),
            KernelFigure(
                name="compute",
                unit="s",
                about="work on a rank's own data, on the slowest rank",
            ),
            KernelFigure(
                name="exchange",
                unit="s",
                about="what ranks hand to each other, on the slowest rank",
            ),
            KernelFigure(
                name="write",
                unit="s",
                about="the result to storage, with fdatasync, on the slowest rank",
            ),
        ),
        options=(
            InterfaceOption(
                name="scale",
                type="integer",
                default="16",
                about="the graph has 2^scale vertices",
                range="1 to 40",
            ),
            InterfaceOption(
                name="edges",
                type="integer",
                default="16",
                about="so many times as many edges as vertices",
                range="1 to 1024",
            ),
            InterfaceOption(
                name="samples",
                type="integer",
                default="3",
                about="so many times",
                range="1 to 1000",
            ),
            InterfaceOption(
                name="ranks",
                type="word",
                default="all",
                about="which ranks measure: all at the same moment, or the first one alone",
                range="all|one",
            ),
            InterfaceOption(
                name="damage",
                type="boolean",
                default="false",
                about="spoils a value before the check, which then must fail the run: for tests",
                range="true or false",
            ),
        ),
    ),
    "data_fft": KernelEntry(
        about=(
            "the Fourier transform of a square of generated complex numbers, on all ranks together"
        ),
        likeness="BigDataBench class",
        figures=(
            KernelFigure(
                name="process",
                unit="B/s",
                about="bytes of the input in the time of all parts",
            ),
            KernelFigure(
                name="read",
                unit="s",
                about="the input from its file, on the slowest rank",
            ),
            KernelFigure(
                name="compute",
                unit="s",
                about="work on a rank's own data, on the slowest rank",
            ),
            KernelFigure(
                name="exchange",
                unit="s",
                about="what ranks hand to each other, on the slowest rank",
            ),
            KernelFigure(
                name="write",
                unit="s",
                about="the result to storage, with fdatasync, on the slowest rank",
            ),
            KernelFigure(
                name="transform",
                unit="flop/s",
                about="5 N log2 N of N numbers in the time of compute and exchange",
            ),
        ),
        options=(
            InterfaceOption(
                name="n",
                type="word",
                default="1024",
                about="rows and columns of the square",
                range="2|4|8|16|32|64|128|256|512|1024|2048|4096|8192|16384|32768|65536|131072",
            ),
            InterfaceOption(
                name="samples",
                type="integer",
                default="3",
                about="so many times",
                range="1 to 1000",
            ),
            InterfaceOption(
                name="ranks",
                type="word",
                default="all",
                about="which ranks measure: all at the same moment, or the first one alone",
                range="all|one",
            ),
            InterfaceOption(
                name="damage",
                type="boolean",
                default="false",
                about="spoils a value before the check, which then must fail the run: for tests",
                range="true or false",
            ),
        ),
    ),
    "data_matrix": KernelEntry(
        about="the product of two generated matrices of doubles, on all ranks together",
        likeness="BigDataBench class",
        figures=(
            KernelFigure(
                name="process",
                unit="B/s",
                about="bytes of the input in the time of all parts",
            ),
            KernelFigure(
                name="read",
                unit="s",
                about="the input from its file, on the slowest rank",
            ),
            KernelFigure(
                name="compute",
                unit="s",
                about="work on a rank's own data, on the slowest rank",
            ),
            KernelFigure(
                name="exchange",
                unit="s",
                about="what ranks hand to each other, on the slowest rank",
            ),
            KernelFigure(
                name="write",
                unit="s",
                about="the result to storage, with fdatasync, on the slowest rank",
            ),
            KernelFigure(
                name="multiply",
                unit="flop/s",
                about="2 n^3 in the time of compute and exchange",
            ),
        ),
        options=(
            InterfaceOption(
                name="n",
                type="integer",
                default="1024",
                about="rows and columns of each matrix",
                range="1 to 262144",
            ),
            InterfaceOption(
                name="samples",
                type="integer",
                default="3",
                about="so many times",
                range="1 to 1000",
            ),
            InterfaceOption(
                name="ranks",
                type="word",
                default="all",
                about="which ranks measure: all at the same moment, or the first one alone",
                range="all|one",
            ),
            InterfaceOption(
                name="damage",
                type="boolean",
                default="false",
                about="spoils a value before the check, which then must fail the run: for tests",
                range="true or false",
            ),
        ),
    ),
    "tcp_pairs": KernelEntry(
        about=(
            "TCP between pairs of ranks on different nodes: round trips and streams; between ranks "
            "of one machine it is called loopback"
        ),
        likeness="iperf class",
        least_ranks=2,
        figures=(
            KernelFigure(
                name="network bandwidth",
                unit="B/s",
                about="the median over pairs of a pair's median",
            ),
            KernelFigure(
                name="network slowest pair",
                unit="B/s",
                about="the least of the pairs' medians; of those measured again, alone, that one",
            ),
            KernelFigure(
                name="network total",
                unit="B/s",
                about="all pairs that are at work at once, their sum",
            ),
            KernelFigure(
                name="network round trip",
                unit="s",
                about="a small message and its answer, median over pairs",
            ),
            KernelFigure(
                name="loopback bandwidth",
                unit="B/s",
                about="the median over pairs of one machine, no network",
            ),
            KernelFigure(
                name="loopback slowest pair",
                unit="B/s",
                about="the same between ranks of one machine",
            ),
            KernelFigure(
                name="loopback total",
                unit="B/s",
                about="all pairs on one machine at once, their sum",
            ),
            KernelFigure(
                name="loopback round trip",
                unit="s",
                about="a small message and its answer on one machine",
            ),
        ),
        options=(
            InterfaceOption(
                name="ranks",
                type="word",
                default="nodes",
                about="one rank of each node, or two where there is one node; or all ranks",
                range="nodes|all",
            ),
            InterfaceOption(
                name="steps",
                type="integer",
                default="4",
                about="at most so many steps of pairs; in n - 1 steps each two ranks meet",
                range="1 to 2047",
            ),
            InterfaceOption(
                name="slowest",
                type="integer",
                default="2",
                about=(
                    "so many pairs are measured again, one at a time, where there are several pairs"
                ),
                range="0 to 1000",
            ),
            InterfaceOption(
                name="way",
                type="word",
                default="turns",
                about="streams go one way and then the other, both ways at once, or one way",
                range="turns|both|one",
            ),
            InterfaceOption(
                name="streams",
                type="integer",
                default="1",
                about="connections of a pair",
                range="1 to 64",
            ),
            InterfaceOption(
                name="block",
                type="bytes",
                default="128 KiB",
                about="one send",
                range="1 B to 16 MiB",
            ),
            InterfaceOption(
                name="samples",
                type="integer",
                default="5",
                about="so many samples of each pair and way",
                range="1 to 100000",
            ),
            InterfaceOption(
                name="sample_s",
                type="real",
                default="1",
                about="a sample sends for so long, in seconds",
                range="0.001 to 3600",
            ),
            InterfaceOption(
                name="message",
                type="bytes",
                default="1",
                about="a message of a round trip",
                range="1 B to 64 KiB",
            ),
            InterfaceOption(
                name="messages",
                type="integer",
                default="100",
                about="round trips of each pair",
                range="1 to 100000",
            ),
            InterfaceOption(
                name="address",
                type="text",
                default="",
                about=(
                    "where ranks listen and connect from: an interface, an address or a network "
                    "such as 10.1.0.0/16; empty: by any address that answers"
                ),
                range="an interface, an address or a network",
            ),
            InterfaceOption(
                name="limit_s",
                type="real",
                default="5",
                about="how long a rank waits for another one, in seconds",
                range="0.1 to 600",
            ),
            InterfaceOption(
                name="damage",
                type="boolean",
                default="false",
                about="spoils a value before the check, which then must fail the run: for tests",
                range="true or false",
            ),
        ),
    ),
    "message_pairs": KernelEntry(
        about=(
            "messages between pairs of ranks over sizes: latency, bandwidth in one and in both "
            "directions, of one pair and of all pairs at once"
        ),
        likeness="OSU point-to-point class",
        least_ranks=2,
        needs_mpi=True,
        figures=(
            KernelFigure(
                name="latency",
                unit="s",
                about="half a round trip of an empty message, one pair",
            ),
            KernelFigure(
                name="bandwidth",
                unit="B/s",
                about="the largest messages in a window, one pair",
            ),
            KernelFigure(
                name="bidirectional",
                unit="B/s",
                about="the same in both directions at once, their sum",
            ),
            KernelFigure(
                name="latency of all",
                unit="s",
                about="half a round trip of an empty message, all pairs at once",
            ),
            KernelFigure(
                name="bandwidth of all",
                unit="B/s",
                about="the largest messages, all pairs at once, their sum",
            ),
            KernelFigure(
                name="message rate",
                unit="msg/s",
                about="messages of 1 byte, all pairs at once, their sum",
            ),
            KernelFigure(
                name="alpha",
                unit="s",
                about="time of a message without bytes, by t = alpha + m / B",
            ),
            KernelFigure(
                name="rate",
                unit="B/s",
                about="B of that fit",
            ),
            KernelFigure(
                name="half size",
                unit="B",
                about="alpha B: the message that reaches half of B",
            ),
        ),
        options=(
            InterfaceOption(
                name="most",
                type="bytes",
                default="4 MiB",
                about="the largest message; sizes double from 1 byte on, after 0",
                range="1 B to 1 GiB",
            ),
            InterfaceOption(
                name="window",
                type="integer",
                default="64",
                about="messages in flight where bandwidth is measured",
                range="1 to 4096",
            ),
            InterfaceOption(
                name="size_s",
                type="real",
                default="0.05",
                about="how long each size is measured, in seconds",
                range="0.001 to 60",
            ),
            InterfaceOption(
                name="damage",
                type="boolean",
                default="false",
                about="spoils a value before the check, which then must fail the run: for tests",
                range="true or false",
            ),
        ),
    ),
    "message_collectives": KernelEntry(
        about=(
            "collective operations of all ranks over sizes: barrier, bcast, reduce, allreduce, "
            "gather, gatherv, allgather, alltoall and alltoallv"
        ),
        likeness="OSU collective class",
        least_ranks=2,
        needs_mpi=True,
        figures=(
            KernelFigure(
                name="barrier",
                unit="s",
                about="a barrier",
            ),
            KernelFigure(
                name="allreduce",
                unit="s",
                about="an allreduce of 8 bytes",
            ),
            KernelFigure(
                name="alltoallv",
                unit="s",
                about="an alltoallv of the largest size",
            ),
        ),
        options=(
            InterfaceOption(
                name="most",
                type="bytes",
                default="256 KiB",
                about="the largest part of a rank; sizes grow by 4 from 8 bytes on",
                range="8 B to 64 MiB",
            ),
            InterfaceOption(
                name="size_s",
                type="real",
                default="0.05",
                about="how long each size is measured, in seconds",
                range="0.001 to 60",
            ),
            InterfaceOption(
                name="memory",
                type="bytes",
                default="256 MiB",
                about="sizes for which a rank's buffers would take more are left out",
                range="1 MiB or more bytes",
            ),
            InterfaceOption(
                name="damage",
                type="boolean",
                default="false",
                about="spoils a value before the check, which then must fail the run: for tests",
                range="true or false",
            ),
        ),
    ),
    "links": KernelEntry(
        about="messages between each two ranks, so that a slow rank is told from a slow link",
        likeness="LinkTest class",
        least_ranks=2,
        needs_mpi=True,
        figures=(
            KernelFigure(
                name="median",
                unit="s",
                about="the median over all pairs of a pair's median",
            ),
            KernelFigure(
                name="slowest",
                unit="s",
                about="the slowest pair; of those measured again, alone, that time",
            ),
        ),
        options=(
            InterfaceOption(
                name="size",
                type="bytes",
                default="128 KiB",
                about="one message",
                range="1 B to 1 GiB",
            ),
            InterfaceOption(
                name="messages",
                type="integer",
                default="10",
                about="messages of each pair that count",
                range="1 to 100000",
            ),
            InterfaceOption(
                name="warmup",
                type="integer",
                default="3",
                about="messages of each pair before",
                range="0 to 100000",
            ),
            InterfaceOption(
                name="mode",
                type="word",
                default="parallel",
                about="whether as many pairs as possible are at work at once, or one at a time",
                range="parallel|serial",
            ),
            InterfaceOption(
                name="way",
                type="word",
                default="semi",
                about="messages go back and forth in turn, both ways at once, or one way",
                range="semi|both|one",
            ),
            InterfaceOption(
                name="order",
                type="word",
                default="random",
                about="the order of the steps",
                range="random|fixed",
            ),
            InterfaceOption(
                name="slowest",
                type="integer",
                default="10",
                about="so many pairs are measured again, one at a time",
                range="0 to 1000",
            ),
            InterfaceOption(
                name="retests",
                type="integer",
                default="3",
                about="how often each of them",
                range="3 to 1000",
            ),
            InterfaceOption(
                name="slow_from",
                type="integer",
                default="0",
                about="a fault for tests: this rank waits before each message to slow_to",
                range="0 or more",
            ),
            InterfaceOption(
                name="slow_to",
                type="integer",
                default="0",
                about="see slow_from",
                range="0 or more",
            ),
            InterfaceOption(
                name="slow_s",
                type="real",
                default="0",
                about="how long it waits, in seconds; 0: not at all",
                range="0 to 10",
            ),
            InterfaceOption(
                name="damage",
                type="boolean",
                default="false",
                about="spoils a value before the check, which then must fail the run: for tests",
                range="true or false",
            ),
        ),
    ),
}
