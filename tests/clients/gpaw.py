# SPDX-License-Identifier: BSD-3-Clause
from ase.build import molecule
from gpaw import GPAW
from gpaw.mpi import world

atoms = molecule("CH3CH2OH", vacuum=3.0)
atoms.calc = GPAW(mode="lcao", basis="dzp", h=0.25, parallel={"sl_default": (2, 2, 8)}, txt="-")
energy = atoms.get_potential_energy()
if world.rank == 0:
    print(f"energy of ethanol: {energy:.10f}")
