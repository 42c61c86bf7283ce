"""Words in names that say nothing of whose they are, and what kind of file it is."""

from __future__ import annotations

_FOLDERS = """
    etc dev usr bin boot lib libexec opt sbin sys proc var run root home tmp mnt media srv net
    self fd task shm user users local share include src
    scratch work data project projects input inputs output outputs cache log logs
"""
"""Of systems and of sites."""

_CODE = """
    python pypy site dist packages pyenv venv pycache pyvenv cfg egg link info pth pybuilddir
    sitecustomize usercustomize setup py pyc pyo zip jar so ld locale conf
"""
"""Where interpreters and loaders look, as derive knows them."""

_RUNTIMES = """
    stdin stdout stderr left out pipe socket anon inode deleted memfd
    vader segment sm open mpi openmpi osc coll pmix mpich intel ib shmem cma ucx psm nccl sem cray
    shared mem ompi prte prterun orted mpiexec mpirun srun hsperfdata clr debug dotnet diagnostic
    shfp locktest lock meta metadata cid
"""
"""What launchers, MPI libraries and runtimes call their own."""

_FORMATS = """
    h5 he hdf nc cdf netcdf pnetcdf grib grb fits fit tif tiff png jpg jpeg gif bmp svg pdf dcm nii
    vtk vtu vti pvtu xdmf xmf silo bp adios exo cgns gmsh msh stl ply obj
    npy npz pt pth ckpt safetensors onnx tfrecord parquet arrow feather orc avro zarr zarray zattrs
    zgroup zmetadata csv tsv txt json jsonl xml yaml yml toml ini md rst html tex bib
    dat bin raw img iso db sqlite wal journal mdb sst ldb rdb aof frm ibd idx index toc
    bam sam bai cram fasta fastq fa fq fai vcf bcf bed gtf gff pdb xtc trr gro tpr
    gz bz xz zst lz tar tgz rar rpm deb whl
    c cc cpp cxx h hpp f r pl sh go rs java js ts cu o a mod d
    tmp temp bak old new orig swp part pid restart checkpoint dump
"""
"""Formats, by the ends of names."""

_PROGRAMS = "python perl bash sh dash env java"

PUBLIC_WORDS = frozenset(
    word
    for text in (_FOLDERS, _CODE, _RUNTIMES, _FORMATS, _PROGRAMS)
    for word in text.split()
    if word.isalpha()
)
"""In small letters."""
