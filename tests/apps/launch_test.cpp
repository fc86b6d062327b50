// SPDX-License-Identifier: BSD-3-Clause
// How `dyngrid run` builds a command line and what `dyngrid doctor` makes of versions and of the probe's lines; nothing
// is started.
#include <gtest/gtest.h>

#include <algorithm>

#include "../errors.hpp"
#include "base/command_line.hpp"
#include "base/environment.hpp"
#include "base/text.hpp"
#include "control/variables.hpp"
#include "dyngrid/command.hpp"
#include "shared/blas.hpp"
#include "shared/findings.hpp"
#include "shared/launch.hpp"
#include "shared/transport.hpp"

namespace {
using namespace command;

Site quiet_site() {
  Site site;
  site.mpirun = "/opt/bin/mpirun";
  site.shm_free_bytes = std::int64_t{1} << 40;
  site.environment = {{"OPENBLAS_NUM_THREADS", "2"}, {"OMP_NUM_THREADS", "2"}};
  return site;
}

RunRequest request(int processes) {
  RunRequest r;
  r.processes = processes;
  r.program = {"./app", "--n", "3"};
  return r;
}

std::string value_of(const Launch& launch, const std::string& name) {
  for (const Setting& s : launch.environment)
    if (s.name == name) return s.value;
  return "(not set)";
}

TEST(Launch, PlainLine) {
  RunRequest r = request(4);
  r.grid = "2x2";
  r.resize_at = "5:3x3,10:2x2";
  EXPECT_EQ(shell_line(plan_launch(r, quiet_site())),
            "OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_coll='^han,adapt,hcoll' OMPI_MCA_osc='^rdma,sm' /opt/bin/mpirun "
            "--oversubscribe --bind-to none -np 4 -x DYNGRID_GRID=2x2 -x DYNGRID_RESIZE_AT=5:3x3,10:2x2 ./app --n 3");
}

TEST(Launch, TheTransportIsTheOneThatIsNamed) {
  Site site = quiet_site();
  site.has_ucx = true;
  RunRequest r = request(2);
  r.transport = "ob1";
  EXPECT_EQ(value_of(plan_launch(r, site), "OMPI_MCA_pml"), "ob1");
  EXPECT_EQ(value_of(plan_launch(r, site), "OMPI_MCA_pml_ucx_tls"), "(not set)");
  r.transport = "ucx";
  EXPECT_EQ(value_of(plan_launch(r, site), "OMPI_MCA_pml"), "ucx");
  EXPECT_EQ(value_of(plan_launch(r, site), "OMPI_MCA_pml_ucx_tls"), "any");
  EXPECT_EQ(value_of(plan_launch(r, site), "OMPI_MCA_pml_ucx_devices"), "any");
  site.environment["OMPI_MCA_pml_ucx_tls"] = "self,tcp"; // the user's own stays
  EXPECT_EQ(value_of(plan_launch(r, site), "OMPI_MCA_pml_ucx_tls"), "(not set)");
  site.environment["OMPI_MCA_pml"] = "ob1";
  EXPECT_THROW(plan_launch(r, site), Failure) << "two that contradict each other";
  site.environment.erase("OMPI_MCA_pml");
  r.mpirun_options = {"--mca", "pml", "ob1"};
  EXPECT_THROW(plan_launch(r, site), Failure) << "two places that choose";
  r.mpirun_options.clear();
  site.has_ucx = false;
  EXPECT_THROW(plan_launch(r, site), Failure) << "no such component";
  site.has_ucx = true;
  site.mpi = Mpi::mpich;
  EXPECT_THROW(plan_launch(r, site), Failure) << "MPICH has no components";
}

TEST(Launch, AutoTakesUcxUnlessSomethingSpeaksAgainstIt) {
  Site site = quiet_site();
  const RunRequest two = request(2);
  EXPECT_EQ(value_of(plan_launch(two, site), "OMPI_MCA_pml"), "(not set)") << "UCX was not tried";
  EXPECT_TRUE(is_trial_open(two, site) && says(plan_launch(two, site).transport, "UCX was not tried here yet"));
  site.ucx_trouble = "";
  EXPECT_FALSE(is_trial_open(two, site));
  const Launch over_ucx = plan_launch(two, site);
  EXPECT_EQ(value_of(over_ucx, "OMPI_MCA_pml"), "ucx");
  EXPECT_EQ(value_of(over_ucx, "OMPI_MCA_pml_ucx_progress_iterations"), "1");
  EXPECT_TRUE(says(over_ucx.transport, "UCX"));
  const auto is_left_to_open_mpi = [](const RunRequest& r, const Site& s, const std::string& reason) {
    const Launch launch = plan_launch(r, s);
    EXPECT_EQ(value_of(launch, "OMPI_MCA_pml"), "(not set)") << reason;
    EXPECT_TRUE(says(launch.transport, reason));
  };
  for (const char* name : {"OMPI_MCA_pml", "OMPI_MCA_btl", "OMPI_MCA_mtl"}) {
    Site chosen = site;
    chosen.environment[name] = "ob1";
    is_left_to_open_mpi(two, chosen, std::string(name) + "=ob1 is set");
  }
  RunRequest r = two;
  r.resize_at = "5:30x30";
  site.shm_free_bytes = std::int64_t{1} << 30;
  is_left_to_open_mpi(r, site, "/dev/shm is too small");
  r = two;
  r.mpirun_options = {"--mca", "btl", "self,tcp"};
  is_left_to_open_mpi(r, site, "--mpirun-option btl is set");
  const auto with = [&site](const auto& change) {
    Site changed = site;
    change(changed);
    return changed;
  };
  is_left_to_open_mpi(two, with([](Site& s) { s.fast_network = "/sys/class/infiniband/mlx5_0"; }), "fast network");
  is_left_to_open_mpi(two, with([](Site& s) { s.is_open_mpi_5 = true; }), "Open MPI 5");
  is_left_to_open_mpi(two, with([](Site& s) { s.shm_free_bytes = 1 << 20; }), "/dev/shm is too small");
  is_left_to_open_mpi(two, with([](Site& s) { s.ucx_trouble = "the trial failed"; }), "the trial failed");
  r = two;
  r.hosts = "a:2,b:2";
  is_left_to_open_mpi(r, site, "several hosts");
  site.ucx_trouble.reset();
  EXPECT_FALSE(is_trial_open(r, site)) << "no trial would change that";
  site.ucx_trouble = "";
  r = two;
  r.processes_come = "join";
  is_left_to_open_mpi(r, site, "several mpiruns");
  is_left_to_open_mpi(two, with([](Site& s) { s.environment["DYNGRID_PROCESSES"] = "join"; }), "several mpiruns");
  EXPECT_EQ(plan_launch(two, with([](Site& s) { s.mpi = Mpi::mpich; })).transport, "");
}

TEST(Launch, JobsOnOneHostDoNotShareACore) {
  const auto line = [](const RunRequest& r, const Site& site) { return shell_line(plan_launch(r, site)); };
  const std::string unbound = " --bind-to none ";
  EXPECT_TRUE(says(line(request(2), quiet_site()), unbound));
  RunRequest bound = request(2); // as the user says
  bound.mpirun_options = {"--bind-to", "core"};
  EXPECT_FALSE(says(line(bound, quiet_site()), unbound));
  bound.mpirun_options = {"--report-bindings"}; // changes none
  EXPECT_TRUE(says(line(bound, quiet_site()), unbound));
  Site site = quiet_site();
  site.environment["OMPI_MCA_hwloc_base_binding_policy"] = "core";
  EXPECT_FALSE(says(line(request(2), site), unbound));
  site = quiet_site();
  site.mpi = Mpi::mpich;
  EXPECT_FALSE(says(line(request(2), site), "bind"));
}

TEST(Launch, ResizePointsWait) {
  RunRequest r = request(4);
  r.waits = true;
  EXPECT_TRUE(says(shell_line(plan_launch(r, quiet_site())), " -x DYNGRID_WAIT=on "));
}

TEST(Launch, OpenMpi5) {
  Site site = quiet_site();
  site.is_open_mpi_5 = true;
  site.can_spawn_elsewhere = false;
  site.before_mpi = {{"OMPI_MCA_reachable", "weighted", "why"}};
  site.can_read_other_processes = false;
  Launch launch = plan_launch(request(4), site);
  EXPECT_EQ(value_of(launch, "OMPI_MCA_reachable"), "weighted");
  EXPECT_EQ(value_of(launch, "OMPI_MCA_coll"), "^han,adapt,hcoll");
  EXPECT_EQ(value_of(launch, "OMPI_MCA_osc"), "(not set)") << "not seen to be needed";
  EXPECT_EQ(value_of(launch, "OMPI_MCA_smsc"), "^cma");
  EXPECT_EQ(value_of(launch, "OMPI_MCA_btl_vader_single_copy_mechanism"), "(not set)");
  RunRequest r = request(4);
  r.hosts = "a:2,b:2"; // where it does not grow
  launch = plan_launch(r, site);
  EXPECT_EQ(value_of(launch, "OMPI_MCA_reachable"), "(not set)");
  EXPECT_EQ(value_of(launch, "OMPI_MCA_coll"), "(not set)");
  r = request(4);
  r.processes_come = "join";
  EXPECT_THROW(plan_launch(r, site), Failure);
}

TEST(Launch, WhatTheUserHasSetStays) {
  Site site = quiet_site();
  site.is_root = true;
  site.environment["OMPI_MCA_coll"] = "basic,self,inter,libnbc";
  site.environment["OMPI_MCA_osc"] = "^rdma";
  site.environment["OMPI_MCA_mpi_yield_when_idle"] = "0";
  const Launch launch = plan_launch(request(1), site);
  EXPECT_EQ(value_of(launch, "OMPI_MCA_coll"), "(not set)");
  EXPECT_EQ(value_of(launch, "OMPI_MCA_osc"), "(not set)");
  EXPECT_EQ(value_of(launch, "OMPI_MCA_mpi_yield_when_idle"), "(not set)");
  EXPECT_EQ(value_of(launch, "OMP_NUM_THREADS"), "(not set)");
  EXPECT_EQ(value_of(launch, "OMPI_ALLOW_RUN_AS_ROOT"), "1");
  EXPECT_EQ(value_of(launch, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"), "1");
}

TEST(Launch, SharedMemory) {
  Site site = quiet_site();
  site.can_read_other_processes = false;
  site.shm_free_bytes = std::int64_t{64} << 20; // what a container has by default
  const Launch launch = plan_launch(request(8), site);
  EXPECT_EQ(value_of(launch, "OMPI_MCA_btl_vader_single_copy_mechanism"), "none");
  EXPECT_EQ(value_of(launch, "OMPI_MCA_btl_vader_backing_directory"), "/tmp");
  site.shm_free_bytes = -1;
  EXPECT_EQ(value_of(plan_launch(request(1), site), "OMPI_MCA_btl_vader_backing_directory"), "/tmp");
  site.shm_free_bytes = std::int64_t{8} << 30;
  EXPECT_EQ(value_of(plan_launch(request(8), site), "OMPI_MCA_btl_vader_backing_directory"), "(not set)");
}

TEST(Launch, ProcessesFromTheGrid) {
  RunRequest r = request(0);
  r.grid = "2x3";
  const auto words = plan_launch(r, quiet_site()).words;
  EXPECT_EQ(*(std::find(words.begin(), words.end(), "-np") + 1), "6");
  EXPECT_THROW(plan_launch(request(0), quiet_site()), Failure); // nobody says how many
  r.processes = 5;
  EXPECT_THROW(plan_launch(r, quiet_site()), Failure); // too few for the grid
  r.program.clear();
  EXPECT_THROW(plan_launch(r, quiet_site()), Failure);
}

TEST(Launch, NoOptionsOfMpirunInThePlaceOfTheProgram) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"-np", "100", "./app"},
                                                {"--host", "elsewhere", "./app"},
                                                {"-"},
                                                {""},
                                                {"./app", "a", ":", "./other"},
                                                {":"}}) {
    RunRequest r = request(2);
    r.program = words;
    EXPECT_THROW(plan_launch(r, quiet_site()), Failure) << words[0];
  }
  RunRequest r = request(2);
  r.program = {"./app", "-np", "100", "a:b"}; // its own arguments may be anything else
  EXPECT_TRUE(says(shell_line(plan_launch(r, quiet_site())), "-np 2 ./app -np 100 a:b"));
}

TEST(Launch, OtherHostsGetTheEnvironment) {
  Site site = quiet_site();
  site.environment["DYNGRID_START"] = "unit=1";
  site.environment["DYNGRID_NEWCOMER"] = "managed";
  RunRequest r = request(2);
  EXPECT_FALSE(says(shell_line(plan_launch(r, site)), "DYNGRID_START")); // this host's processes have it anyway
  r.hosts = "n1:4,n2:4";
  const std::string line = shell_line(plan_launch(r, site));
  EXPECT_TRUE(says(line, "-H n1:4,n2:4"));
  EXPECT_TRUE(says(line, "-x DYNGRID_START=unit=1"));
  EXPECT_FALSE(says(line, "DYNGRID_NEWCOMER"));
  r = request(2);
  r.mpirun_options = {"--hostfile", "hosts.txt"};
  EXPECT_TRUE(says(shell_line(plan_launch(r, site)), "-x DYNGRID_START=unit=1"));
}

TEST(Launch, PreloadComesAfterTheUsersAndNotIntoMpirun) {
  Site site = quiet_site();
  RunRequest r = request(2);
  r.preload = "/opt/lib/libdyngrid.so";
  Launch launch = plan_launch(r, site);
  EXPECT_EQ(value_of(launch, "LD_PRELOAD"), "(not set)");
  EXPECT_TRUE(says(shell_line(launch), "-x LD_PRELOAD=/opt/lib/libdyngrid.so ./app"));
  site.environment["LD_PRELOAD"] = "libtrace.so";
  EXPECT_TRUE(says(shell_line(plan_launch(r, site)), "LD_PRELOAD=libtrace.so:/opt/lib/libdyngrid.so"));
}

TEST(Launch, APathWithABlankIsNotPreloaded) {
  Site site = quiet_site();
  RunRequest r = request(2);
  r.preload = "/opt/my tools/lib/libdyngrid.so";
  try {
    plan_launch(r, site);
    FAIL() << "the program would run without dyngrid";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status(), 1);
    EXPECT_TRUE(says(failure.what(), "'/opt/my tools/lib/libdyngrid.so' cannot be preloaded"));
  }
  r.preload.clear();
  site.cores = 1;
  site.yield_library = "/opt/my tools/lib/dyngrid/libdyngrid-yield.so";
  const Launch launch = plan_launch(r, site);
  EXPECT_FALSE(says(shell_line(launch), "LD_PRELOAD"));
  ASSERT_EQ(launch.notices.size(), 1u);
  EXPECT_TRUE(says(launch.notices[0], "libdyngrid-yield.so' is left out"));
}

TEST(CommandLine, WordsAfterTheMarkStayAsTheyAre) {
  using Words = std::vector<std::string>;
  const auto given = [](Words words) {
    base::CommandLine app("");
    base::CommandLine& run = app.add_command("run", "");
    Words program;
    std::string grid;
    run.add_option("--grid", grid);
    run.add_option("program", program).required();
    words.insert(words.begin(), "run");
    app.parse(words);
    return program;
  };
  const Words words{"./app", "--sizes", "[10,20]", "[]", "", "[[1,2],[3]]", "[", "\1[a]", "--grid", "--", "{}", "%%"};
  Words marked{"--grid", "2x2", "--"};
  marked.insert(marked.end(), words.begin(), words.end());
  EXPECT_EQ(given(marked), words);
  EXPECT_EQ(given({"./app", "7", "--grid", "2x2"}), (Words{"./app", "7"}));
  EXPECT_EQ(given({"--grid", "2x2", "./app"}), (Words{"./app"}));
}

TEST(Launch, Mpich) {
  Site site = quiet_site();
  site.mpi = Mpi::mpich;
  site.is_root = true;
  site.mpirun = "/usr/bin/mpiexec.hydra";
  RunRequest r = request(2);
  r.grid = "1x2";
  EXPECT_EQ(shell_line(plan_launch(r, site)), "/usr/bin/mpiexec.hydra -n 2 -genv DYNGRID_GRID 1x2 ./app --n 3");
}

TEST(Launch, SpareProcesses) {
  Site site = quiet_site();
  site.cores = 2;
  RunRequest r = request(4);
  r.resize_at = "1:2x3,5:3x3@local2,7:1x2";
  EXPECT_FALSE(says(shell_line(plan_launch(r, site)), "SPARE")); // the others are started when they are needed
  r.spare = 2;
  EXPECT_TRUE(says(shell_line(plan_launch(r, site)),
                   "-np 6 -x DYNGRID_RESIZE_AT=1:2x3,5:3x3@local2,7:1x2 -x DYNGRID_SPARE=2 ./app"));
  r.spare = -1;
  site.environment["DYNGRID_SPARE"] = "1";
  EXPECT_TRUE(says(shell_line(plan_launch(r, site)), "-np 5 "));
  r.spare = 0; // on the command line it counts more
  EXPECT_TRUE(says(shell_line(plan_launch(r, site)), "DYNGRID_SPARE=0"));
  EXPECT_TRUE(says(shell_line(plan_launch(r, site)), "-np 4 "));
  r.spare = -1;
  site.environment["DYNGRID_SPARE"] = ""; // as if it were not set
  EXPECT_TRUE(says(shell_line(plan_launch(r, site)), "-np 4 "));
  site.environment["DYNGRID_SPARE"] = "many";
  EXPECT_THROW(plan_launch(r, site), Failure);
  site.environment.erase("DYNGRID_SPARE");

  site.mpi = Mpi::mpich;
  site.can_spawn = false;
  EXPECT_TRUE(says(shell_line(plan_launch(r, site)),
                   "-n 9 -genv DYNGRID_RESIZE_AT 1:2x3,5:3x3@local2,7:1x2 -genv DYNGRID_SPARE 5 ./app"));
  r.processes = 12; // enough
  EXPECT_FALSE(says(shell_line(plan_launch(r, site)), "SPARE"));
  r = request(1);
  site.environment["DYNGRID_RESIZE_AT"] = "3:1x2";
  EXPECT_TRUE(says(shell_line(plan_launch(r, site)), "-n 2 -genv DYNGRID_SPARE 1 ./app"));
  site.environment["DYNGRID_RESIZE_AT"] = "3:2x2,nonsense";
  site.yield_library = "/opt/lib/dyngrid/libdyngrid-yield.so"; // four processes on two cores
  r.preload = "/opt/lib/libdyngrid.so";
  EXPECT_TRUE(says(shell_line(plan_launch(r, site)),
                   "-genv LD_PRELOAD /opt/lib/libdyngrid.so:/opt/lib/dyngrid/libdyngrid-yield.so ./app"));
  EXPECT_EQ(plan_launch(r, site).remarks.size(), 2u);
  site.cores = 4;
  EXPECT_TRUE(says(shell_line(plan_launch(r, site)), "-genv LD_PRELOAD /opt/lib/libdyngrid.so ./app"));
}

TEST(Launch, SpareProcessesOnSeveralHostsOfOpenMpi5) {
  Site site = quiet_site();
  site.is_open_mpi_5 = true;
  site.can_spawn_elsewhere = false;
  const auto starts = [&](const RunRequest& r) { // "-np N", and the number that sleeps
    const std::string line = shell_line(plan_launch(r, site));
    const std::size_t np = line.find("-np "), spare = line.find("DYNGRID_SPARE=");
    return line.substr(np, line.find(' ', np + 4) - np) + ", " +
           (spare == std::string::npos ? "0" : line.substr(spare + 14, line.find(' ', spare) - spare - 14));
  };
  RunRequest r = request(4);
  r.resize_at = "1:4x4,2:2x2";
  EXPECT_EQ(starts(r), "-np 4, 0"); // on one host the others are started when they are needed
  r.hosts = "a:8";
  EXPECT_EQ(starts(r), "-np 4, 0");
  r.hosts = "localhost:1," + base::host_name() + ":3"; // one host by two names
  EXPECT_EQ(starts(r), "-np 4, 0");
  r.hosts = "a:1,b:1";
  EXPECT_EQ(starts(r), "-np 16, 12"); // of the timetable
  EXPECT_EQ(plan_launch(r, site).notices.size(), 1u);
  r.hosts = "a:8,b:8,c,c";
  EXPECT_EQ(starts(r), "-np 18, 14"); // of the slots
  r.resize_at.clear();
  EXPECT_EQ(starts(r), "-np 18, 14");
  r.spare = 2;
  EXPECT_EQ(starts(r), "-np 6, 2");
  EXPECT_TRUE(plan_launch(r, site).notices.empty());
  r.spare = 0;
  EXPECT_EQ(starts(r), "-np 4, 0");
  r = request(4);
  r.resize_at = "1:2x3";
  r.mpirun_options = {"--hostfile", "hosts.txt"};
  EXPECT_EQ(starts(r), "-np 6, 2");
  r.mpirun_options.clear();
  site.environment["SLURM_JOB_NUM_NODES"] = "2";
  EXPECT_EQ(starts(r), "-np 6, 2");
  r.hosts = "a:1,b:1";
  site.can_spawn_elsewhere = true; // another MPI
  EXPECT_EQ(starts(r), "-np 4, 0");
}

TEST(Launch, WhoWaitsSleepsWhereProcessesOutnumberCores) {
  Site site = quiet_site();
  site.cores = 4;
  site.yield_library = "/opt/lib/dyngrid/libdyngrid-yield.so";
  const auto preloads = [&](const RunRequest& r) {
    return shell_line(plan_launch(r, site)).find("-x LD_PRELOAD=/opt/lib/dyngrid/libdyngrid-yield.so ./app") !=
           std::string::npos;
  };
  EXPECT_FALSE(preloads(request(4)));
  EXPECT_TRUE(preloads(request(5)));
  RunRequest grows = request(4);
  grows.resize_at = "1:2x2,2:3x2";
  EXPECT_TRUE(preloads(grows));
  site.environment["DYNGRID_RESIZE_AT"] = "1:3x3";
  EXPECT_TRUE(preloads(request(1)));
  site.environment["LD_PRELOAD"] = site.yield_library; // a run from within a run: once is enough
  EXPECT_FALSE(says(shell_line(plan_launch(request(9), site)), "LD_PRELOAD"));
  site.environment.erase("LD_PRELOAD");
  grows.hosts = "n1:2,n2:2"; // where nobody knows whether it is installed
  EXPECT_FALSE(preloads(grows));
  RunRequest named = request(5);
  named.mpirun_options = {"--hostfile", "hosts.txt"};
  EXPECT_FALSE(preloads(named));
  site.environment["DYNGRID_YIELD"] = "on";
  EXPECT_TRUE(preloads(request(5)));
  site.environment["DYNGRID_YIELD"] = "off";
  EXPECT_FALSE(preloads(request(5)));
  site.environment["DYNGRID_YIELD"] = "perhaps";
  EXPECT_THROW(plan_launch(request(5), site), Failure);
}

TEST(Launch, OnHostsThatAreNotKnownYet) {
  Site site = quiet_site();
  site.blas_core = "Prescott";
  site.better_core = "SkylakeX"; // its kernels end a process on an older processor
  RunRequest r = request(2);
  EXPECT_EQ(value_of(plan_launch(r, site), "OPENBLAS_CORETYPE"), "SkylakeX");
  r.gets_other_hosts = true;
  EXPECT_EQ(value_of(plan_launch(r, site), "OPENBLAS_CORETYPE"), "(not set)");
}

TEST(Launch, CoreOfOpenBlas) {
  Site site = quiet_site();
  site.blas_core = "Prescott";
  EXPECT_EQ(value_of(plan_launch(request(2), site), "OPENBLAS_CORETYPE"), "(not set)");
  EXPECT_TRUE(plan_launch(request(2), site).notices.empty());
  site.better_core = "SkylakeX";
  const Launch launch = plan_launch(request(2), site);
  EXPECT_EQ(value_of(launch, "OPENBLAS_CORETYPE"), "SkylakeX");
  EXPECT_EQ(value_of(launch, "DYNGRID_CORETYPE"), "SkylakeX"); // new processes on other hosts do without it
  ASSERT_EQ(launch.notices.size(), 1u);
  EXPECT_TRUE(says(launch.notices[0], "takes this processor for Prescott; OPENBLAS_CORETYPE=SkylakeX set"));
  RunRequest far = request(2);
  far.hosts = "n1:1,n2:1"; // whose processors may be others
  EXPECT_EQ(value_of(plan_launch(far, site), "OPENBLAS_CORETYPE"), "(not set)");
  site.environment["SLURM_JOB_NUM_NODES"] = "2";
  EXPECT_EQ(value_of(plan_launch(request(2), site), "OPENBLAS_CORETYPE"), "(not set)");
  site.environment["SLURM_JOB_NUM_NODES"] = "1";
  EXPECT_EQ(value_of(plan_launch(request(2), site), "OPENBLAS_CORETYPE"), "SkylakeX");
  site.environment.erase("SLURM_JOB_NUM_NODES");
  site.environment["LSB_MCPU_HOSTS"] = "n1 4 n2 4"; // another batch system
  EXPECT_EQ(value_of(plan_launch(request(2), site), "OPENBLAS_CORETYPE"), "(not set)");
  site.environment.erase("LSB_MCPU_HOSTS");
  site.environment["OPENBLAS_CORETYPE"] = "Haswell";
  EXPECT_EQ(value_of(plan_launch(request(2), site), "OPENBLAS_CORETYPE"), "(not set)");
  EXPECT_EQ(value_of(plan_launch(request(2), site), "DYNGRID_CORETYPE"), "(not set)"); // the user's goes along
}

std::string cpuinfo(const std::string& vendor, const std::string& flags) {
  return "processor\t: 0\nvendor_id\t: " + vendor + "\nmodel name\t: one avx512f of theirs\nflags\t\t: fpu sse2 " +
         flags + "\nbugs\t\t: spectre_v1\n";
}
const std::string avx512_flags = "avx fma avx2 avx512f avx512dq avx512cd avx512bw avx512vl avx512_vnni";

TEST(Blas, BetterCore) {
  const std::string config = "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH NO_AFFINITY Prescott MAX_THREADS=64";
  const auto better = [&](const std::string& info, const std::string& core) {
    return better_core(info, {config, core}).core;
  };
  EXPECT_EQ(better(cpuinfo("GenuineIntel", avx512_flags), "Prescott"), "SkylakeX");
  EXPECT_TRUE(better_core(cpuinfo("GenuineIntel", avx512_flags), {config, "Prescott"}).is_safe);
  EXPECT_EQ(better(cpuinfo("GenuineIntel", avx512_flags), "Haswell"), "SkylakeX");
  EXPECT_EQ(better(cpuinfo("GenuineIntel", avx512_flags + " avx512_bf16 amx_tile"), "Prescott"), "SkylakeX");
  EXPECT_EQ(better(cpuinfo("AuthenticAMD", avx512_flags), "Prescott"), "SkylakeX");
  EXPECT_EQ(better(cpuinfo("AuthenticAMD", avx512_flags), "Zen"), ""); // recognized
  EXPECT_EQ(better(cpuinfo("GenuineIntel", avx512_flags), "SkylakeX"), "");
  EXPECT_EQ(better(cpuinfo("GenuineIntel", avx512_flags), "SapphireRapids"), ""); // newer than the list
  EXPECT_EQ(better(cpuinfo("GenuineIntel", "avx fma avx2 avx512f avx512cd avx512er avx512pf"), "Prescott"),
            "Haswell"); // Knights Landing
  EXPECT_EQ(better(cpuinfo("GenuineIntel", "avx fma avx2"), "Nehalem"), "Haswell");
  EXPECT_EQ(better(cpuinfo("AuthenticAMD", "avx fma avx2"), "Prescott"), "Zen");
  EXPECT_EQ(better(cpuinfo("AuthenticAMD", "avx fma avx2"), "Zen"), "");
  EXPECT_EQ(better(cpuinfo("GenuineIntel", "avx avx2"), "Prescott"), "Sandybridge"); // a virtual machine that hides fma
  EXPECT_EQ(better(cpuinfo("GenuineIntel", "avx"), "Sandybridge"), "");
  EXPECT_EQ(better(cpuinfo("GenuineIntel", "ssse3"), "Prescott"), "");
  EXPECT_EQ(better("", "Prescott"), "");
  EXPECT_EQ(better_core(cpuinfo("GenuineIntel", avx512_flags), {"OpenBLAS 0.3.21 Prescott", "Prescott"}).core,
            "");                                                              // built for one core
  EXPECT_EQ(better_core(cpuinfo("GenuineIntel", avx512_flags), {}).core, ""); // another BLAS
  const CoreAdvice arm =
      better_core("processor\t: 0\nFeatures\t: fp asimd sve\nCPU part\t: 0xd40\n", {config, "ARMV8"});
  EXPECT_EQ(arm.core, "NEOVERSEN1");
  EXPECT_FALSE(arm.is_safe); // said, not set
  EXPECT_EQ(better("CPU part\t: 0xd03\n", "ARMV8"), "");
}

TEST(Blas, WhatTheDoctorSays) {
  const Blas blas{"OpenBLAS 0.3.21 DYNAMIC_ARCH Prescott", "Prescott"};
  const CoreAdvice advice{"SkylakeX", true};
  Finding f = judge_blas(blas, advice, {"Prescott", 16.04}, {"SkylakeX", 78});
  EXPECT_EQ(f.verdict, Verdict::note);
  EXPECT_EQ(f.text, "OpenBLAS 0.3.21 takes this processor for Prescott, 16.0 GFLOP/s a core; 78.0 as SkylakeX");
  EXPECT_EQ(f.cure, "export OPENBLAS_CORETYPE=SkylakeX; dyngrid run sets it where it is not set");
  EXPECT_EQ(judge_blas(blas, {"NEOVERSEN1", false}, {"Prescott", 16}, {"NEOVERSEN1", 20}).cure,
            "export OPENBLAS_CORETYPE=NEOVERSEN1, if your results stay right");
  EXPECT_EQ(judge_blas(blas, advice, {"Prescott", 16}, {"SkylakeX", 16}).verdict, Verdict::ok); // no quicker
  EXPECT_EQ(judge_blas(blas, advice, {"Prescott", 16}, {}).verdict, Verdict::ok); // this OpenBLAS has no such kernels
  EXPECT_EQ(judge_blas(blas, {}, {"Prescott", 16}, {}).text,
            "OpenBLAS 0.3.21 with the kernels of Prescott, 16.0 GFLOP/s a core");
  EXPECT_EQ(judge_blas({}, {}, {}, {}).verdict, Verdict::ok);
}

TEST(Findings, KernelLog) {
  EXPECT_EQ(judge_kernel_log("").verdict, Verdict::ok);
  EXPECT_EQ(judge_kernel_log("<6>[    0.1] NMI watchdog: enabled\n<6>[    1.3] EXT4-fs (vda): mounted\n").verdict,
            Verdict::ok);
  const Finding f = judge_kernel_log(
      "<3>[  812.1] BUG: workqueue lockup - pool cpus=1 node=0 flags=0x0 nice=0 stuck for 129s!\n<6>[  812.2] Showing "
      "busy workqueues and worker pools:\n"
      "<6>[  812.3]     pending: 3*flush_to_ldisc\n<3>[  912.1] BUG: workqueue lockup - pool cpus=0 stuck for 31s!\n");
  EXPECT_EQ(f.verdict, Verdict::warning);
  EXPECT_TRUE(says(f.text, "2 times; the last: [  912.1] BUG: workqueue lockup - pool cpus=0 stuck for 31s!"));
  EXPECT_EQ(judge_kernel_log("<0>[9.0] watchdog: BUG: soft lockup - CPU#1 stuck for 23s! [pdgemm:77]\n").verdict,
            Verdict::warning);
  EXPECT_EQ(judge_kernel_log("<3>[9.0] rcu: INFO: rcu_sched detected stalls on CPUs/tasks:\n").verdict,
            Verdict::warning);
  EXPECT_EQ(judge_kernel_log("<3>[9.0] rcu: INFO: rcu_preempt self-detected stall on CPU\n").verdict, Verdict::warning);
}

TEST(Launch, WordsOfAShell) {
  EXPECT_EQ(base::shell_quoted("plain-word=1,2"), "plain-word=1,2");
  EXPECT_EQ(base::shell_quoted("two words"), "'two words'");
  EXPECT_EQ(base::shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(base::shell_quoted(""), "''");
  EXPECT_EQ(base::shell_quoted("$HOME"), "'$HOME'");
}

TEST(Launch, WhatCannotSpawn) {
  EXPECT_EQ(cannot_spawn("MPICH", {4, 0, 2}).check, "MPICH 4.0.2");
}

TEST(Findings, KnownTroubles) {
  EXPECT_TRUE(known_troubles("Open MPI", {0, 0, 0}).empty());
  for (const Finding& f : known_troubles("Open MPI", {4, 1, 4})) EXPECT_EQ(f.verdict, Verdict::note) << f.text;
  ASSERT_EQ(known_troubles("Open MPI", {5, 0, 5}).size(), 2u);
  EXPECT_EQ(known_troubles("Open MPI", {5, 0, 5})[0].verdict, Verdict::warning);
  EXPECT_EQ(known_troubles("PMIx", {4, 2, 2}).size(), 1u);
  EXPECT_TRUE(known_troubles("PMIx", {4, 2, 3}).empty());
  for (const char* software : {"Open MPI", "PMIx", "MPICH"})
    for (int major = 1; major < 6; ++major)
      for (const Finding& f : known_troubles(software, {major, 0, 0})) EXPECT_FALSE(f.text.empty() || f.cure.empty());
}

TEST(Findings, Program) {
  const auto order = [](const ProgramFiles& found) { return judge_program(found).at(1); };
  const std::string ours = "/lib/libdyngrid.so.0", theirs = "/lib/libscalapack-openmpi.so.2.2";
  EXPECT_EQ(order({"./app", true, false, {"./app", ours, theirs}, ours}).verdict, Verdict::ok);
  const Finding wrong = order({"./app", true, false, {"./app", theirs, ours}, theirs});
  EXPECT_EQ(wrong.verdict, Verdict::error);
  EXPECT_EQ(wrong.text,
            "libdyngrid.so is number 2 of its libraries, ScaLAPACK number 1; p?gemr2d is that of " + theirs);
  EXPECT_EQ(order({"./app", true, false, {"./app", theirs}, theirs}).verdict, Verdict::note) << "not linked with it";
  const ProgramFiles own{"./app", true, false, {"./app", ours, theirs}, "./app", true};
  EXPECT_EQ(order(own).verdict, Verdict::warning);
  EXPECT_EQ(judge_program(own).size(), 3u) << "its BLACS, too";
  EXPECT_NE(idle_preload(own), "");
  EXPECT_EQ(idle_preload({"./app", true, false, {"./app", theirs}, theirs}), "");
  const Finding wide = judge_program({"./app", true, false, {"./app", ours, "/lib/libmkl_intel_ilp64.so"}, ours}).at(2);
  EXPECT_EQ(wide.verdict, Verdict::error);
  const ProgramFiles whole{"./app", true, true, {"./app"}, "./app"};
  EXPECT_EQ(judge_program(whole).at(0).verdict, Verdict::error);
  EXPECT_NE(idle_preload(whole), "");
  ProgramFiles script;
  script.program = "./script";
  EXPECT_EQ(judge_program(script).at(0).verdict, Verdict::note);
}

Finding judged(const std::string& output, int status = 0, bool timed_out = false, double seconds = 1) {
  const auto findings = judge_probe({output, status, timed_out, seconds, 30});
  EXPECT_EQ(findings.size(), 1u);
  return findings.at(0);
}

TEST(Findings, Probe) {
  const std::string good = "mpi Open MPI v4.1.4\nuniverse 2\ngrown 0.31 right\nshrunk 0.02 right\n";
  EXPECT_EQ(judged(good).verdict, Verdict::ok);
  EXPECT_EQ(judged(good, 0, false, 7).verdict, Verdict::warning); // longer than it should
  EXPECT_EQ(judged(good, 1).verdict, Verdict::error);             // right, but it ended badly
  EXPECT_EQ(judged("grown 0.31 wrong\nshrunk 0.02 right\n").verdict, Verdict::error);
  EXPECT_EQ(judged("grown 0.31 right\n").verdict, Verdict::error);
  const Finding late = judged("universe 2\n", 143, true, 30);
  EXPECT_EQ(late.verdict, Verdict::error);
  EXPECT_TRUE(says(late.text, "not done after 30 s (it had not grown)"));
  EXPECT_EQ(judged("refused -12 blacs-dyn: no slots\n", 1).text, "blacs-dyn: no slots");
  EXPECT_TRUE(says(judged("bash: probe: not found\n", 127).text, "status 127: bash: probe: not found"));
}

TEST(Variables, Unknown) {
  const auto unknown =
      control::unknown_variables({"PATH=/bin", "DYNGRID_GRID=2x2", "DYNGRID_RESIZEAT=1:2x2", "DYNGRID_COLOUR=red"});
  ASSERT_EQ(unknown.size(), 2u);
  EXPECT_EQ(unknown[0].name, "DYNGRID_RESIZEAT");
  EXPECT_EQ(unknown[0].closest, "DYNGRID_RESIZE_AT");
  EXPECT_EQ(unknown[1].closest, "");
}

TEST(Variables, OfAStartCommandAreKnown) {
  EXPECT_TRUE(control::unknown_variables({"DYNGRID_UNIT_COMMAND=app", "DYNGRID_UNIT_HOST=n1", "DYNGRID_UNIT_NUMBER=1",
                                          "DYNGRID_UNIT_PROCESSES=2", "DYNGRID_JOIN=PLACE|1"})
                  .empty());
}

TEST(Variables, UnknownEntries) {
  const auto trouble = control::trouble_with({"PATH=/bin", "DYNGRID_DECIDE=", "DYNGRID_EXCHANGE=schedule=async",
                                              "DYNGRID_DECIDE=steps=3,stps=4", "DYNGRID_EXCHANGE=async"});
  ASSERT_EQ(trouble.size(), 2u);
  EXPECT_EQ(trouble[0].rfind("DYNGRID_DECIDE has \"stps=4\", expected steps=N, cores=N,", 0), 0u) << trouble[0];
  EXPECT_EQ(trouble[1].rfind("DYNGRID_EXCHANGE has \"async\", expected schedule=", 0), 0u) << trouble[1];
}

} // namespace
