// SPDX-License-Identifier: BSD-3-Clause
#include "launchers/launcher.hpp"

#include <unistd.h>

#include <fmt/format.h>

namespace blacs_dyn {
namespace {

using base::Error;
using base::Status;

class SpawnLauncher final : public Launcher {
public:
  void send_for(const Change&, const SpawnOptions&) override {}
  Progress progress(const Change&) override { return {true, {}}; }
  void call_off(const Change&) override {}

  void bring(const Change& change, int me, const SpawnOptions& options, std::vector<Newcomers>& newcomers) override {
    std::vector<std::string> words = options.arguments;
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    char folder[4096];
    const bool has_folder = getcwd(folder, sizeof folder) != nullptr;
    for (const NewUnit& unit : change.new_units) {
      if (unit.owner != me) continue;
      const auto count = static_cast<int>(unit.members.size());
      MPI_Info info = MPI_INFO_NULL;
      check_mpi(MPI_Info_create(&info), "MPI_Info_create");
      if (has_folder) MPI_Info_set(info, "wdir", folder);
      if (!unit.host.empty()) MPI_Info_set(info, "host", fmt::format("{}:{}", unit.host, count).c_str());
      MPI_Errhandler before = MPI_ERRHANDLER_NULL;
      MPI_Comm_get_errhandler(MPI_COMM_SELF, &before);
      MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
      MPI_Comm bridge = MPI_COMM_NULL;
      std::vector<int> codes(unit.members.size(), MPI_SUCCESS);
      const int code = MPI_Comm_spawn(options.program.c_str(), arguments.data(), count, info, 0, MPI_COMM_SELF, &bridge,
                                      codes.data());
      MPI_Comm_set_errhandler(MPI_COMM_SELF, before);
      MPI_Errhandler_free(&before);
      MPI_Info_free(&info);
      if (code != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING] = "";
        int length = 0;
        MPI_Error_string(code, text, &length);
        throw Error(
            Status::spawn_failure,
            fmt::format("blacs-dyn: MPI_Comm_spawn of {} process(es) of {}{} failed: {}; {}", count, options.shown,
                        unit.host.empty() ? "" : " on " + unit.host, text,
                        unit.host.empty()
                            ? "are there slots enough? mpirun --oversubscribe, or a larger -H or hostfile, makes room"
                            : "is that host in mpirun's allocation (-H, hostfile), with slots enough?"));
      }
      newcomers.push_back({unit, Comm::adopt(bridge)});
    }
  }

  // one mpirun knows all its processes
  void introduce(const Change&, MPI_Comm, int, int) override {}
  void let_go(int) override {}
  void watch(MPI_Comm, int) override {} // mpirun ends us all

  std::optional<Comm> reach(MPI_Comm) override {
    MPI_Comm parent = MPI_COMM_NULL;
    check_mpi(MPI_Comm_get_parent(&parent), "MPI_Comm_get_parent");
    return Comm::adopt(parent);
  }
  void decline(MPI_Comm) override {}
  void close() override {}
};

} // namespace

const char* to_string(Way way) {
  return way == Way::join ? "join" : "spawn";
}

std::unique_ptr<Launcher> make_spawn_launcher() {
  return std::make_unique<SpawnLauncher>();
}

} // namespace blacs_dyn
