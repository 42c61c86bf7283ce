"""Applications whose proxies are compared with them: what each needs, prepares and does."""

from __future__ import annotations

from dataclasses import dataclass

PYTHON = "python"
"""Stands for the interpreter that runs the benchmark."""
MPIRUN = "mpirun --allow-run-as-root --oversubscribe -n 2"


@dataclass(frozen=True)
class Application:
    """Commands are the shell's; both run in an empty directory of their own."""

    name: str
    command: str
    prepare: str = ":"
    programs: tuple[str, ...] = ()
    """Commands on PATH without which it is left out."""
    modules: tuple[str, ...] = ()
    """Python's, likewise."""


_TREE = (
    "mkdir -p source && cd source && for i in $(seq 1 24); do mkdir d$i; "
    "for j in $(seq 1 8); do head -c $((j * 3000)) /dev/zero > d$i/file.$j; done; done"
)
_SAM = r"""python3 - <<'END'
import random
random.seed(1)
with open("in.sam", "w") as out:
    out.write("@HD\tVN:1.6\tSO:unsorted\n@SQ\tSN:chr1\tLN:200000000\n")
    bases = ["".join(random.choice("ACGT") for _ in range(100)) for _ in range(500)]
    for i in range(300000):
        place = random.randint(1, 199999000)
        out.write("r%d\t0\tchr1\t%d\t60\t100M\t*\t0\t0\t%s\t%s\n"
                  % (i, place, bases[i % 500], "I" * 100))
END
samtools view -u -b in.sam -o in.bam && rm in.sam"""
_SQL = r"""python3 - <<'END'
with open("transactions.sql", "w") as out:
    out.write("create table t (id integer primary key, name text, value real);\n")
    out.write("create index by_name on t (name);\n")
    for i in range(60):
        out.write("begin;\n")
        for j in range(50):
            out.write(f"insert into t (name, value) values ('n{(i * 50 + j) * 7919 % 3000}', \
{j});\n")
        out.write("commit;\n")
END"""
_FOAM = r"""H='FoamFile{version 2.0;format ascii;'
mkdir -p 0 constant system
echo "$H class dictionary;object controlDict;} application laplacianFoam;startFrom startTime;\
startTime 0;stopAt endTime;endTime 12;deltaT 1;writeControl timeStep;writeInterval 1;purgeWrite \
0;writeFormat binary;writePrecision 10;writeCompression off;timeFormat general;timePrecision 6;\
runTimeModifiable false;" > system/controlDict
echo "$H class dictionary;object fvSchemes;} ddtSchemes{default Euler;} gradSchemes{default \
Gauss linear;} divSchemes{default none;} laplacianSchemes{default Gauss linear corrected;} \
interpolationSchemes{default linear;} snGradSchemes{default corrected;}" > system/fvSchemes
echo "$H class dictionary;object fvSolution;} solvers{T{solver PCG;preconditioner DIC;tolerance \
1e-06;relTol 0;}} SIMPLE{nNonOrthogonalCorrectors 0;}" > system/fvSolution
echo "$H class dictionary;object decomposeParDict;} numberOfSubdomains 2;method simple;\
simpleCoeffs{n (2 1 1);delta 0.001;}" > system/decomposeParDict
echo "$H class dictionary;object blockMeshDict;} convertToMeters 1;vertices ((0 0 0)(1 0 0)(1 1 \
0)(0 1 0)(0 0 1)(1 0 1)(1 1 1)(0 1 1));blocks (hex (0 1 2 3 4 5 6 7) (40 40 40) simpleGrading (\
1 1 1));edges ();boundary (hot{type patch;faces ((0 4 7 3));}cold{type patch;faces ((2 6 5 1)(1 \
5 4 0)(3 7 6 2)(0 3 2 1)(4 5 6 7));});mergePatchPairs ();" > system/blockMeshDict
echo "$H class dictionary;object transportProperties;} DT DT [0 2 -1 0 0 0 0] 1e-5;" > \
constant/transportProperties
echo "$H class volScalarField;object T;} dimensions [0 0 0 1 0 0 0];internalField uniform 300;\
boundaryField{hot{type fixedValue;value uniform 500;}cold{type fixedValue;value uniform 273;}}" \
> 0/T
export WM_PROJECT_DIR=/usr/share/openfoam
blockMesh && decomposePar"""
_MELT = r"""cat > in.melt <<'END'
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 12 0 12 0 12
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
fix 1 all nve
dump 1 all custom 20 dump.*.txt id type x y z vx vy vz
restart 50 restart.*
run 200
END"""
_GIT = (
    f"({_TREE}) && cd source && git init -q . && git add . && "
    "git -c user.name=n -c user.email=e commit -qm one"
)
_C = r"""python3 - <<'END'
for n in range(6):
    with open(f"part{n}.c", "w") as out:
        out.write("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n")
        for i in range(300):
            out.write(f"int f{n}_{i}(int x) {{ return x * {i} + (int)strlen(\"{i}\"); }}\n")
with open("main.c", "w") as out:
    out.write("int f0_1(int);\nint main(void) { return f0_1(3); }\n")
END"""
_H5 = r"""cat > program.py <<'END'
import h5py, numpy
for dump in range(4):
    with h5py.File(f"dump_{dump}.h5", "w") as file:
        for name in ("density", "pressure", "energy"):
            data = file.create_dataset(name, (64, 64, 64), "f8", chunks=(16, 64, 64))
            for part in range(0, 64, 16):
                data[part : part + 16] = numpy.full((16, 64, 64), dump, "f8")
with h5py.File("dump_3.h5") as file:
    print(float(file["pressure"][...].sum()))
END"""
_NC = r"""cat > program.py <<'END'
import netCDF4, numpy
data = netCDF4.Dataset("out.nc", "w")
data.createDimension("time", None)
data.createDimension("y", 180)
data.createDimension("x", 360)
found = [data.createVariable(n, "f4", ("time", "y", "x")) for n in ("ta", "ua")]
for step in range(24):
    for one in found:
        one[step] = numpy.full((180, 360), step, "f4")
data.close()
with netCDF4.Dataset("out.nc") as data:
    print(float(data["ta"][:, 90, 180].sum()))
END"""
_GRID = r"""cat > program.py <<'END'
import netCDF4, numpy
d = netCDF4.Dataset("in.nc", "w", format="NETCDF3_64BIT_OFFSET")
d.createDimension("time", None); d.createDimension("lat", 91); d.createDimension("lon", 180)
t = d.createVariable("time", "f8", ("time",)); t.units = "days since 2000-01-01"
t.calendar = "standard"
la = d.createVariable("lat", "f8", ("lat",)); la[:] = numpy.linspace(-90, 90, 91)
lo = d.createVariable("lon", "f8", ("lon",)); lo[:] = numpy.arange(180) * 2
la.units = "degrees_north"; lo.units = "degrees_east"
found = [d.createVariable(n, "f4", ("time", "lat", "lon")) for n in ("ta", "ua")]
for i in range(120):
    t[i] = i
    for one in found: one[i] = numpy.full((91, 180), i, "f4")
d.close()
END
python program.py"""

_MAKE = r"""python3 - <<'END'
names = [f"unit{n}" for n in range(12)]
with open("common.h", "w") as out:
    out.write("".join(f"int {name}(int);\n" for name in names))
for number, name in enumerate(names):
    with open(f"{name}.c", "w") as out:
        out.write('#include "common.h"\n#include <stdio.h>\n')
        for i in range(100 * (number % 4 + 1)):
            out.write(f"int {name}_{i}(int x) {{ return x * {i} + {number}; }}\n")
        out.write(f"int {name}(int x) {{ return {name}_0(x); }}\n")
with open("main.c", "w") as out:
    out.write('#include "common.h"\nint main(void) { return unit0(0); }\n')
objects = " ".join(f"{name}.o" for name in [*names, "main"])
with open("Makefile", "w") as out:
    out.write(f"app: {objects}\n\tcc -o $@ $^\n%.o: %.c common.h\n\tcc -O1 -c -o $@ $<\n")
END"""
_LOOSE = (
    "mkdir source && cd source && git init -q . && for i in $(seq 1 6); do "
    "for j in $(seq 1 8); do head -c $((j * 3000)) /dev/urandom > file.$j; done; git add . && "
    "git -c user.name=n -c user.email=e commit -qm $i; done"
)
_MEMMAP = r"""cat > program.py <<'END'
import numpy
shape = (64, 256, 256)
field = numpy.memmap("field.bin", "f4", "w+", shape=shape)
for step in range(shape[0]):
    field[step] = step
    if step % 16 == 15:
        field.flush()
del field
field = numpy.memmap("field.bin", "f4", "r", shape=shape)
numpy.save("mean.npy", field.mean(axis=(1, 2)))
numpy.save("slab.npy", field[:, 100])
END"""
_WAL = r"""cat > program.py <<'END'
import sqlite3
base = sqlite3.connect("base.db")
base.execute("pragma journal_mode=wal")
base.execute("create table t (id integer primary key, name text, value real)")
base.execute("create index by_name on t (name)")
for turn in range(60):
    with base:
        base.executemany("insert into t (name, value) values (?, ?)",
                         [(f"n{(turn * 50 + i) * 7919 % 3000}", i) for i in range(50)])
print(base.execute("select sum(value) from t where name < 'n2'").fetchone())
base.close()
END"""
_ZARR = r"""cat > program.py <<'END'
import zarr
data = zarr.open("field.zarr", mode="r")
print(sum(float(data[i : i + 16, 64:192].sum()) for i in range(0, 128, 16)))
END
cat > prepare.py <<'END'
import numpy, zarr
data = zarr.open("field.zarr", mode="w", shape=(128, 256), chunks=(16, 64), dtype="f8")
data[:] = numpy.random.default_rng(1).random((128, 256))
END
python prepare.py"""

APPLICATIONS = [
    Application("dd", "dd if=/dev/zero of=out bs=1M count=64 conv=fsync", programs=("dd",)),
    Application("cp -r", "cp -r source copy", _TREE, ("cp",)),
    Application("tar", "tar cf all.tar source", _TREE, ("tar",)),
    Application("tar, gzip", "tar cf - source | gzip -1 > all.tar.gz", _TREE, ("tar", "gzip")),
    Application("python -m zipfile -c", f"{PYTHON} -m zipfile -c all.zip source", _TREE),
    Application(
        "python -m zipfile -e",
        f"{PYTHON} -m zipfile -e all.zip copy",
        f"({_TREE}) && python3 -m zipfile -c all.zip source",
    ),
    Application(
        "xargs -P",
        "find source -type f | sort | xargs -P 3 -n 4 gzip -1",
        _TREE,
        ("find", "xargs", "gzip"),
    ),
    Application("make -j2", "make -s -j2", _MAKE, ("make", "cc")),
    Application("git gc", "git -C source gc -q", _LOOSE, ("git",)),
    Application("sqlite3, journal_mode=wal", f"{PYTHON} program.py", _WAL),
    Application("numpy.memmap", f"{PYTHON} program.py", _MEMMAP, modules=("numpy",)),
    Application("zarr", f"{PYTHON} program.py", _ZARR, modules=("zarr",)),
    Application(
        "ffmpeg",
        "ffmpeg -v error -y -i in.mkv -c:v mpeg4 -c:a aac -f segment -segment_time 2 out%03d.mp4",
        "ffmpeg -v error -f lavfi -i testsrc=size=640x360:rate=25 -f lavfi -i sine -t 12 "
        "-c:v ffv1 -c:a flac in.mkv",
        ("ffmpeg",),
    ),
    Application("zip", "zip -qr all.zip source", _TREE, ("zip",)),
    Application("rsync", "rsync -a source/ copy", _TREE, ("rsync",)),
    Application("git clone", "git clone -q --no-local source copy", _GIT, ("git",)),
    Application(
        "git add, commit",
        "git init -q . && git add source && git -c user.name=n -c user.email=e commit -qm one",
        _TREE,
        ("git",),
    ),
    Application(
        "gcc",
        "for n in 0 1 2 3 4 5; do gcc -O1 -c part$n.c; done; gcc -o main *.o \
main.c",
        _C,
        ("gcc",),
    ),
    Application("sqlite3", "sqlite3 base.db < transactions.sql", _SQL, ("sqlite3",)),
    Application(
        "sqlite3, journal_mode=truncate",
        "(echo 'pragma journal_mode=truncate;'; cat transactions.sql) | sqlite3 base.db",
        _SQL,
        ("sqlite3",),
    ),
    Application(
        "samtools sort", "samtools sort -l 0 -m 16M -T part -o out.bam in.bam", _SAM, ("samtools",)
    ),
    Application(
        "samtools index",
        "samtools index out.bam",
        f"{_SAM}\nsamtools sort -o out.bam in.bam && rm in.bam",
        ("samtools",),
    ),
    Application(
        "gdal_translate",
        "gdal_translate -q -co TILED=YES -co BLOCKXSIZE=256 -co BLOCKYSIZE=256 "
        "--config GDAL_CACHEMAX 16 in.tif out.tif",
        "gdal_create -of GTiff -outsize 4000 4000 -bands 3 -ot Byte -burn 10 -burn 20 "
        "-burn 30 in.tif -co INTERLEAVE=BAND",
        ("gdal_translate", "gdal_create"),
    ),
    Application("cdo splitmon", "cdo -s splitmon in.nc out_", _GRID, ("cdo",), ("netCDF4",)),
    Application("h5py", f"{PYTHON} program.py", _H5, modules=("h5py",)),
    Application("netCDF4", f"{PYTHON} program.py", _NC, modules=("netCDF4",)),
    Application("LAMMPS, 2 ranks", f"{MPIRUN} lmp -in in.melt -log none", _MELT, ("lmp", "mpirun")),
    Application(
        "OpenFOAM, 2 ranks",
        f"WM_PROJECT_DIR=/usr/share/openfoam {MPIRUN} laplacianFoam -parallel",
        _FOAM,
        ("laplacianFoam", "blockMesh", "mpirun"),
    ),
]
