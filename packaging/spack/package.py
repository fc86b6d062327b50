# SPDX-License-Identifier: BSD-3-Clause
# A Spack recipe: `scripts/package` writes a repository with it for `spack repo add`, then `spack install dyngrid`.
# Installed with Spack 0.23 on Debian's Open MPI, ScaLAPACK, LAPACK, fmt, HDF5 as externals; the import of CMakePackage
# is for Spack from 1.0 and is not tried.
from spack.package import *

try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:  # before 1.0 it is in spack.package
    pass


class Dyngrid(CMakePackage):
    """ScaLAPACK process grids that grow and shrink while the program runs, with their matrices following."""

    license("BSD-3-Clause")
    maintainers()

    # scripts/package adds the archive that it makes; for main: `spack develop -p CHECKOUT dyngrid@main`
    version("main", branch="main")

    variant("tools", default=True, description="The dyngrid command and its manual pages")
    variant("sched", default=True, when="+tools", description="The scheduler dyngrid-sched")
    variant("slurm", default=True, when="+tools", description="The Slurm agent, dyngrid slurm")
    variant("hdf5", default=True, description="Checkpoints")
    variant("tests", default=False, description="Tests, run by ctest in the build folder")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build")
    depends_on("cmake@3.24:", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("pkgconfig", type=("build", "run"))
    depends_on("openmpi@4.1")
    depends_on("netlib-scalapack@2.2: +shared")
    depends_on("netlib-lapack +lapacke")
    depends_on("fmt@8:")
    depends_on("lemon", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("hdf5@1.10: +mpi", when="+hdf5")
    depends_on("cli11", type="build", when="+tools")
    depends_on("googletest", type="build", when="+tests")

    def cmake_args(self):
        return [
            self.define("DYNGRID_BUILD_APPS", False),
            self.define_from_variant("DYNGRID_BUILD_TOOLS", "tools"),
            self.define("DYNGRID_BUILD_SCHED", self.spec.satisfies("+sched")),
            self.define("DYNGRID_BUILD_SLURM", self.spec.satisfies("+slurm")),
            self.define_from_variant("DYNGRID_BUILD_TESTS", "tests"),
            self.define_from_variant("DYNGRID_HDF5", "hdf5"),
            self.define("DYNGRID_INSTALL", True),
            # given, since its pkg-config file has another name on every system
            self.define("SCALAPACK_LIBRARIES", self.spec["scalapack"].libs.joined(";")),
        ]

    def setup_run_environment(self, env):
        env.prepend_path("LD_LIBRARY_PATH", self.prefix.lib)
