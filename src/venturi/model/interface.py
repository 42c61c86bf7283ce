"""Storage interfaces and their entries: generated from `venturi-engine describe` by `make gen`.

Do not edit: each entry is written in C++, beside its backend in engine/backend.
"""

from __future__ import annotations

from enum import StrEnum

from venturi.model.interface_entry import (
    Addressing,
    CallNames,
    DataPath,
    FormatLimits,
    InterfaceEntry,
    InterfaceOption,
    Namespace,
    OptionWord,
    OtherNames,
    Ownership,
    Split,
    StackLevel,
)


class Interface(StrEnum):
    """How storage is reached. What is built is said by `engine describe`."""

    POSIX = "posix"
    URING = "uring"
    MMAP = "mmap"
    STDIO = "stdio"
    MPIIO = "mpiio"
    HDF5 = "hdf5"
    PNETCDF = "pnetcdf"
    NETCDF = "netcdf"
    FIELDSTORE = "fieldstore"
    LIME = "lime"
    BUNDLE = "bundle"
    S3 = "s3"
    RADOS = "rados"
    NULL = "null"
    SIMULATED = "simulated"

    @property
    def entry(self) -> InterfaceEntry:
        """What it is, needs and can do."""
        return ENTRIES[self]

    @property
    def below(self) -> Interface:
        """The interface by which ranks reach a file that they share; itself where none is below."""
        return Interface(self.entry.shared_through or self.value)


DEFAULT_INTERFACE = Interface.POSIX
"""How files are reached unless a workload says otherwise, and what others are compared with."""

ENTRIES: dict[Interface, InterfaceEntry] = {
    Interface.POSIX: InterfaceEntry(
        level=StackLevel.FILE_CALLS,
        data_path=DataPath.CALL,
        name_space=Namespace.DIRECTORY_TREE,
        ownership=Ownership.INODE_AND_BIRTH,
        addressing=Addressing.OFFSETS,
        capabilities=(
            "shared files",
            "random access",
            "names",
            "stripes",
            "sync",
            "bytes",
            "append",
            "truncate",
            "copy",
            "seeks and empty reads",
        ),
        options=(
            InterfaceOption(
                name="direct",
                type="boolean",
                default="false",
                about="open with O_DIRECT, past the page cache",
                range="true or false",
            ),
            InterfaceOption(
                name="open_sync",
                type="word",
                default="none",
                about="open with O_SYNC or O_DSYNC: a write returns when it is persistent",
                range="none|sync|dsync",
            ),
            InterfaceOption(
                name="preallocate",
                type="bytes",
                default="0",
                about="allocated with fallocate when a file is made, which then has that size",
                range="0 (nothing) or more bytes",
            ),
            InterfaceOption(
                name="advice",
                type="word",
                default="normal",
                about="told with posix_fadvise when a file is opened",
                range="normal|sequential|random|willneed|noreuse",
            ),
        ),
        splits=Split.NONE,
        calls=CallNames(
            write="write()",
            read="read()",
            both="pwrite() and pread()",
        ),
        elsewhere=OtherNames(
            ior="POSIX",
            mdtest="POSIX",
            trace_layers=("posix",),
        ),
    ),
    Interface.URING: InterfaceEntry(
        level=StackLevel.FILE_CALLS,
        data_path=DataPath.RING,
        name_space=Namespace.DIRECTORY_TREE,
        ownership=Ownership.INODE_AND_BIRTH,
        addressing=Addressing.OFFSETS,
        capabilities=(
            "shared files",
            "random access",
            "names",
            "stripes",
            "sync",
            "bytes",
            "append",
            "requests in flight",
            "truncate",
            "seeks and empty reads",
        ),
        options=(
            InterfaceOption(
                name="direct",
                type="boolean",
                default="false",
                about="open with O_DIRECT, past the page cache",
                range="true or false",
            ),
            InterfaceOption(
                name="open_sync",
                type="word",
                default="none",
                about="open with O_SYNC or O_DSYNC: a write returns when it is persistent",
                range="none|sync|dsync",
            ),
            InterfaceOption(
                name="preallocate",
                type="bytes",
                default="0",
                about="allocated with fallocate when a file is made, which then has that size",
                range="0 (nothing) or more bytes",
            ),
            InterfaceOption(
                name="advice",
                type="word",
                default="normal",
                about="told with posix_fadvise when a file is opened",
                range="normal|sequential|random|willneed|noreuse",
            ),
            InterfaceOption(
                name="registered_buffers",
                type="boolean",
                default="false",
                about="memory of requests is registered once a step, not mapped for each request",
                range="true or false",
            ),
            InterfaceOption(
                name="registered_files",
                type="boolean",
                default="false",
                about="open files are registered, so that a request need not look them up",
                range="true or false",
            ),
            InterfaceOption(
                name="poll",
                type="boolean",
                default="false",
                about=(
                    "completions are polled for at the device (IORING_SETUP_IOPOLL); needs "
                    "direct=true and a device with polled queues"
                ),
                range="true or false",
            ),
        ),
        splits=Split.NONE,
        calls=CallNames(
            write="io_uring_prep_write()",
            read="io_uring_prep_read()",
            both="io_uring (io_uring_prep_write(), io_uring_submit())",
        ),
        elsewhere=OtherNames(
            ior="AIO",
        ),
    ),
    Interface.MMAP: InterfaceEntry(
        level=StackLevel.FILE_CALLS,
        data_path=DataPath.MAPPING,
        name_space=Namespace.DIRECTORY_TREE,
        ownership=Ownership.INODE_AND_BIRTH,
        addressing=Addressing.OFFSETS,
        capabilities=(
            "shared files",
            "random access",
            "names",
            "stripes",
            "sync",
            "bytes",
        ),
        options=(
            InterfaceOption(
                name="advice",
                type="word",
                default="normal",
                about=(
                    "told with madvise when the file is mapped; `dontneed`: after each request, "
                    "its pages leave the mapping"
                ),
                range="normal|sequential|random|willneed|dontneed",
            ),
            InterfaceOption(
                name="size",
                type="bytes",
                default="0",
                about=(
                    "how long a file is made when it is created; shorter, it grows as it is written"
                ),
                range="0 or more bytes",
            ),
        ),
        splits=Split.NONE,
        calls=CallNames(
            write="memcpy() into the mapping",
            read="memcpy() from the mapping",
            both="mmap() and stores into memory",
            sync="msync()",
        ),
        elsewhere=OtherNames(
            ior="MMAP",
        ),
    ),
    Interface.STDIO: InterfaceEntry(
        level=StackLevel.FILE_CALLS,
        data_path=DataPath.CALL,
        name_space=Namespace.DIRECTORY_TREE,
        ownership=Ownership.INODE_AND_BIRTH,
        addressing=Addressing.OFFSETS,
        capabilities=(
            "shared files",
            "random access",
            "names",
            "stripes",
            "sync",
            "bytes",
            "append",
            "truncate",
            "seeks and empty reads",
        ),
        options=(
            InterfaceOption(
                name="buffer_bytes",
                type="bytes",
                default="0",
                about="size of a stream's buffer, given with setvbuf",
                range="0 (what the C library chooses) to 1 GiB",
                most=1073741824.0,
            ),
            InterfaceOption(
                name="records",
                type="word",
                default="none",
                about="fortran: each request is the next record of a sequential unformatted file",
                range="none|fortran",
            ),
        ),
        buffers=True,
        splits=Split.NONE,
        calls=CallNames(
            write="fwrite()",
            read="fread()",
            both="fwrite() and fread()",
            sync="fflush() and {sync}()",
            flush="fflush() (std::endl in C++, FLUSH in Fortran, flush() in Python)",
        ),
        elsewhere=OtherNames(
            trace_layers=("stdio",),
        ),
    ),
    Interface.MPIIO: InterfaceEntry(
        level=StackLevel.LIBRARY,
        data_path=DataPath.CALL,
        name_space=Namespace.DIRECTORY_TREE,
        ownership=Ownership.INODE_AND_BIRTH,
        addressing=Addressing.OFFSETS,
        capabilities=(
            "shared files",
            "random access",
            "names",
            "stripes",
            "sync",
            "bytes",
            "requests in flight",
            "collective calls",
            "hints",
        ),
        options=(
            InterfaceOption(
                name="preallocate",
                type="bytes",
                default="0",
                about="reserve so many bytes in each new file",
                range="bytes, 0 for none",
            ),
            InterfaceOption(
                name="view",
                type="word",
                default="none",
                about=(
                    "`strided`: before each step all sharers set file views that show each its own "
                    "places, and offsets count the bytes of these. `dataset`: the same, and a "
                    "rank's part of a dataset is one request, through a derived type"
                ),
                range="none|strided|dataset",
            ),
        ),
        needs_mpi=True,
        splits=Split.NONE,
        calls=CallNames(
            write="MPI_File_write_at()",
            read="MPI_File_read_at()",
            both="MPI-IO (MPI_File_write_at() and MPI_File_read_at())",
            sync="MPI_File_sync()",
            collective="MPI_File_write_at_all() and MPI_File_read_at_all()",
            independent="MPI_File_write_at() and MPI_File_read_at()",
        ),
        elsewhere=OtherNames(
            ior="MPIIO",
            trace_layers=("mpiio",),
        ),
    ),
    Interface.HDF5: InterfaceEntry(
        level=StackLevel.LIBRARY,
        data_path=DataPath.CALL,
        name_space=Namespace.DIRECTORY_TREE,
        ownership=Ownership.INODE_AND_BIRTH,
        addressing=Addressing.OF_FORMAT,
        capabilities=(
            "shared files",
            "random access",
            "names",
            "stripes",
            "sync",
            "datasets",
            "collective calls",
        ),
        mpi_capabilities=("hints",),
        options=(
            InterfaceOption(
                name="alignment",
                type="bytes",
                default="1",
                about="objects begin at multiples of this (H5Pset_alignment)",
                range="1 or more bytes",
                least=1.0,
            ),
            InterfaceOption(
                name="threshold",
                type="bytes",
                default="0",
                about="smaller objects are not aligned",
                range="0 or more bytes",
            ),
            InterfaceOption(
                name="sieve_bytes",
                type="bytes",
                default="0",
                about="buffer for small pieces of contiguous datasets",
                range="0 (what HDF5 chooses) or more bytes",
            ),
            InterfaceOption(
                name="chunk_cache",
                type="bytes",
                default="0",
                about="keeps chunks of each open dataset (H5Pset_cache)",
                range=(
                    "0 (no chunk is kept) or more bytes; absent: HDF5's own, 1 MiB, since 2.0 8 MiB"
                ),
            ),
            InterfaceOption(
                name="libver",
                type="word",
                default="earliest",
                about="formats of the file: those that old readers know, or new",
                range="earliest|latest",
            ),
            InterfaceOption(
                name="no_fill",
                type="boolean",
                default="false",
                about="space of a new dataset is not filled with zeros first",
                range="true or false",
            ),
            InterfaceOption(
                name="gather",
                type="boolean",
                default="false",
                about="one of the sharers writes and reads for all",
                range="true or false",
            ),
        ),
        mpi_options=(
            InterfaceOption(
                name="collective_metadata",
                type="boolean",
                default="false",
                about="metadata is read and written by calls of all sharers",
                range="true or false",
            ),
        ),
        shared_through="mpiio",
        splits=Split.ALL,
        format=FormatLimits(
            read_while_open=False,
        ),
        calls=CallNames(
            write="H5Dwrite()",
            read="H5Dread()",
            both="HDF5 (H5Dwrite() and H5Dread())",
            sync="H5Fflush() (h5py: flush())",
            collective="H5Pset_dxpl_mpio(plist, H5FD_MPIO_COLLECTIVE)",
            independent="H5Pset_dxpl_mpio(plist, H5FD_MPIO_INDEPENDENT)",
            larger="in Python: larger slices",
        ),
        elsewhere=OtherNames(
            ior="HDF5",
            trace_layers=(
                "hdf5_file",
                "hdf5_dataset",
            ),
        ),
    ),
    Interface.PNETCDF: InterfaceEntry(
        level=StackLevel.LIBRARY,
        data_path=DataPath.CALL,
        name_space=Namespace.DIRECTORY_TREE,
        ownership=Ownership.INODE_AND_BIRTH,
        addressing=Addressing.OF_FORMAT,
        capabilities=(
            "shared files",
            "random access",
            "names",
            "stripes",
            "sync",
            "datasets",
            "requests in flight",
            "collective calls",
            "hints",
        ),
        options=(
            InterfaceOption(
                name="fill",
                type="boolean",
                default="false",
                about="space of a new variable is filled first",
                range="true or false",
            ),
        ),
        needs_mpi=True,
        shared_through="mpiio",
        splits=Split.WRITES,
        format=FormatLimits(
            chunks=False,
            read_while_open=False,
        ),
        calls=CallNames(
            write="ncmpi_put_vara()",
            read="ncmpi_get_vara()",
            both="PnetCDF (ncmpi_put_vara() and ncmpi_get_vara())",
            sync="ncmpi_sync()",
            collective="ncmpi_put_vara_all() and ncmpi_get_vara_all()",
            independent="ncmpi_begin_indep_data() and ncmpi_put_vara()",
        ),
        elsewhere=OtherNames(
            ior="NCMPI",
            trace_layers=(
                "pnetcdf_file",
                "pnetcdf_variable",
            ),
        ),
    ),
    Interface.NETCDF: InterfaceEntry(
        level=StackLevel.LIBRARY,
        data_path=DataPath.CALL,
        name_space=Namespace.DIRECTORY_TREE,
        ownership=Ownership.INODE_AND_BIRTH,
        addressing=Addressing.OF_FORMAT,
        capabilities=(
            "shared files",
            "random access",
            "names",
            "stripes",
            "sync",
            "datasets",
            "collective calls",
        ),
        options=(
            InterfaceOption(
                name="format",
                type="word",
                default="cdf5",
                about=(
                    "kind of file: classic with 64-bit sizes or offsets, or HDF5 below (chunks and "
                    "filters need that)"
                ),
                range="cdf5|cdf2|netcdf4",
            ),
            InterfaceOption(
                name="no_fill",
                type="boolean",
                default="false",
                about="space of a new variable is not filled first",
                range="true or false",
            ),
        ),
        gathers=True,
        splits=Split.NONE,
        format=FormatLimits(
            chunks=False,
            chunks_with=OptionWord("format", "netcdf4"),
            narrow_with=OptionWord("format", "cdf2"),
            wide_with=OptionWord("format", "cdf5"),
            read_while_open=False,
        ),
        calls=CallNames(
            write="nc_put_vara()",
            read="nc_get_vara()",
            both="netCDF (nc_put_vara() and nc_get_vara())",
            sync="nc_sync() (netCDF4: sync())",
            collective="nc_var_par_access(NC_COLLECTIVE)",
            independent="nc_var_par_access(NC_INDEPENDENT)",
            larger="in Python: larger slices",
        ),
    ),
    Interface.FIELDSTORE: InterfaceEntry(
        level=StackLevel.LIBRARY,
        data_path=DataPath.CALL,
        name_space=Namespace.DIRECTORY_TREE,
        ownership=Ownership.INODE_AND_BIRTH,
        addressing=Addressing.KEYS,
        capabilities=(
            "shared files",
            "random access",
            "names",
            "sync",
            "bytes",
        ),
        options=(
            InterfaceOption(
                name="buffer_bytes",
                type="bytes",
                default="1 GiB",
                about=(
                    "fields that a writer keeps in memory until a sync; more leave with a write of "
                    "their own"
                ),
                range="1 B to 1 TiB",
                least=1.0,
                most=1099511627776.0,
            ),
            InterfaceOption(
                name="payload",
                type="word",
                default="any",
                about=(
                    "what fields are: any bytes, or GRIB messages of their size, whose level is "
                    "their number"
                ),
                range="any|grib",
            ),
        ),
        buffers=True,
        splits=Split.NONE,
        files_per_writer=2,
        container="a field store",
        pieces="fields",
        format=FormatLimits(
            read_after_sync=True,
        ),
    ),
    Interface.LIME: InterfaceEntry(
        level=StackLevel.LIBRARY,
        data_path=DataPath.CALL,
        name_space=Namespace.DIRECTORY_TREE,
        ownership=Ownership.INODE_AND_BIRTH,
        addressing=Addressing.OF_FORMAT,
        capabilities=(
            "shared files",
            "random access",
            "names",
            "stripes",
            "sync",
            "datasets",
            "collective calls",
            "bytes",
        ),
        options=(
            InterfaceOption(
                name="record",
                type="word",
                default="scidac-binary-data",
                about=(
                    "type of the record that holds the lattice: a field of SciDAC, or a gauge "
                    "field of ILDG"
                ),
                range="scidac-binary-data|ildg-binary-data",
            ),
            InterfaceOption(
                name="lattice",
                type="text",
                default="",
                about=(
                    "sites along x, y, z and t; the file then names them and has the checksums of "
                    "its sites"
                ),
                range="four numbers: 8 8 8 16",
            ),
        ),
        gathers=True,
        splits=Split.NONE,
        format=FormatLimits(
            shapes=False,
            chunks=False,
        ),
    ),
    Interface.BUNDLE: InterfaceEntry(
        level=StackLevel.LIBRARY,
        data_path=DataPath.CALL,
        name_space=Namespace.DIRECTORY_TREE,
        ownership=Ownership.INODE_AND_BIRTH,
        addressing=Addressing.KEYS,
        capabilities=(
            "shared files",
            "random access",
            "names",
            "stripes",
            "sync",
            "collective calls",
            "bytes",
        ),
        options=(
            InterfaceOption(
                name="zlib",
                type="integer",
                default="0",
                about="level with which each rank compresses its pieces",
                range="0 (not at all) to 9",
                most=9.0,
            ),
        ),
        gathers=True,
        splits=Split.NONE,
        container="a bundle",
        pieces="pieces",
        format=FormatLimits(
            read_while_open=False,
        ),
    ),
    Interface.S3: InterfaceEntry(
        level=StackLevel.LIBRARY,
        data_path=DataPath.CALL,
        name_space=Namespace.FLAT_KEYS,
        ownership=Ownership.MARKER_KEY,
        addressing=Addressing.OFFSETS,
        capabilities=(
            "sync",
            "bytes",
        ),
        options=(
            InterfaceOption(
                name="bucket",
                type="text",
                default="",
                about="the bucket, which must exist",
                range="the name of a bucket",
            ),
            InterfaceOption(
                name="endpoint",
                type="text",
                default="",
                about="the server; without it AWS_ENDPOINT_URL, or else Amazon's of the region",
                range="http://HOST:PORT or https://HOST",
            ),
            InterfaceOption(
                name="region",
                type="text",
                default="",
                about=(
                    "the region that requests are signed for; without it AWS_REGION, or us-east-1"
                ),
                range="the name of a region",
            ),
            InterfaceOption(
                name="prefix",
                type="text",
                default="venturi",
                about="keys begin with it, and then with the name of the run",
                range="letters, digits, - _ . and /",
            ),
            InterfaceOption(
                name="part_bytes",
                type="bytes",
                default="8 MiB",
                about="a larger object is uploaded in parts of this size, each when it is full",
                range="5 MiB to 5 GiB",
                least=5242880.0,
                most=5368709120.0,
            ),
            InterfaceOption(
                name="sign_bodies",
                type="boolean",
                default="false",
                about="sign what is written, too, at the price of its SHA-256",
                range="true or false",
            ),
        ),
        buffers=True,
        splits=Split.NONE,
        container="an object store",
        format=FormatLimits(
            read_while_open=False,
            read_after_sync=True,
        ),
        calls=CallNames(
            write="PutObject",
            read="GetObject",
        ),
    ),
    Interface.RADOS: InterfaceEntry(
        level=StackLevel.LIBRARY,
        data_path=DataPath.CALL,
        name_space=Namespace.FLAT_KEYS,
        ownership=Ownership.MARKER_KEY,
        addressing=Addressing.OFFSETS,
        capabilities=(
            "shared files",
            "random access",
            "sync",
            "bytes",
        ),
        options=(
            InterfaceOption(
                name="pool",
                type="text",
                default="",
                about="the pool, which must exist",
                range="the name of a pool",
            ),
            InterfaceOption(
                name="user",
                type="text",
                default="client.admin",
                about="whose key is used",
                range="client.NAME",
            ),
            InterfaceOption(
                name="conf",
                type="text",
                default="",
                about="the cluster's configuration; without it CEPH_CONF, or Ceph's usual places",
                range="a path",
            ),
            InterfaceOption(
                name="prefix",
                type="text",
                default="venturi",
                about="the namespace of the run begins with it, and then with the name of the run",
                range="letters, digits, - _ . and /",
            ),
            InterfaceOption(
                name="timeout_s",
                type="integer",
                default="60",
                about="seconds after which a server that does not answer is an error",
                range="1 to 3600",
                least=1.0,
                most=3600.0,
            ),
        ),
        splits=Split.NONE,
        container="an object store",
        calls=CallNames(
            write="rados_write",
            read="rados_read",
        ),
        elsewhere=OtherNames(
            ior="RADOS",
        ),
    ),
    Interface.NULL: InterfaceEntry(
        level=StackLevel.NO_STORAGE,
        data_path=DataPath.CALL,
        name_space=Namespace.DIRECTORY_TREE,
        ownership=Ownership.INODE_AND_BIRTH,
        addressing=Addressing.OFFSETS,
        capabilities=(
            "shared files",
            "random access",
            "names",
            "sync",
            "append",
            "bytes",
            "requests in flight",
            "truncate",
            "copy",
            "seeks and empty reads",
        ),
        splits=Split.NONE,
        label="null interface",
        elsewhere=OtherNames(
            ior="DUMMY",
            mdtest="DUMMY",
        ),
    ),
    Interface.SIMULATED: InterfaceEntry(
        level=StackLevel.NO_STORAGE,
        data_path=DataPath.CALL,
        name_space=Namespace.DIRECTORY_TREE,
        ownership=Ownership.INODE_AND_BIRTH,
        addressing=Addressing.OFFSETS,
        capabilities=(
            "shared files",
            "random access",
            "names",
            "sync",
            "bytes",
            "requests in flight",
            "truncate",
            "copy",
            "seeks and empty reads",
            "simulated clock",
        ),
        options=(
            InterfaceOption(
                name="latency_s",
                type="real",
                default="0.0001",
                about="seconds that every operation of a rank takes",
                range="a number of at least 0",
            ),
            InterfaceOption(
                name="bandwidth_bytes_per_s",
                type="real",
                default="1e9",
                about="bytes that a rank moves in a second",
                range="a number greater than 0",
            ),
        ),
        splits=Split.NONE,
        label="simulated",
    ),
}
