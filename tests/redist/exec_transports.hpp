// SPDX-License-Identifier: BSD-3-Clause
// All ways in which an executor moves data, for tests that go through each of them.
#pragma once
#include <cstddef>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "redist/executor.hpp"
#include "world.hpp"

/// Which sources lie in library-made arrays.
enum class Home { ordinary, shared, mixed };

struct TransportCase {
  redist::Transport transport;
  std::size_t extra_bytes;
  const char* name;
  const char* hosts = "a"; ///< pretended ones, dealt out to the ranks in turn
  Home home = Home::ordinary;
  redist::PanelWrites panel_writes = redist::PanelWrites::automatic;
  int host_of(int rank) const { return hosts[static_cast<std::size_t>(rank) % std::strlen(hosts)]; }
};

class OnTransport : public ::testing::TestWithParam<TransportCase> {
protected:
  redist::ExecuteOptions options() const {
    redist::ExecuteOptions o;
    o.transport = GetParam().transport;
    o.extra_bytes = GetParam().extra_bytes;
    o.host_key = GetParam().host_of(world_rank());
    o.panel_writes = GetParam().panel_writes;
    return o;
  }
};

inline auto transports() {
  using redist::PanelWrites;
  using redist::Transport;
  constexpr std::size_t ample = std::size_t{64} << 20;
  return ::testing::Values(
      TransportCase{Transport::mpi, ample, "mpi"}, TransportCase{Transport::mpi, 16384, "mpi_small_buffers"},
      TransportCase{Transport::shared, ample, "shared"},
      TransportCase{Transport::shared, 65536, "shared_small_buffers"},
      TransportCase{Transport::shared, ample, "non_temporal", "a", Home::ordinary, PanelWrites::non_temporal},
      TransportCase{Transport::shared, 65536, "non_temporal_small_buffers", "a", Home::ordinary,
                    PanelWrites::non_temporal},
      TransportCase{Transport::automatic, ample, "both_on_two_hosts", "ab"},
      TransportCase{Transport::automatic, ample, "in_place_reads", "a", Home::shared},
      TransportCase{Transport::automatic, ample, "some_in_place_reads", "a", Home::mixed},
      TransportCase{Transport::automatic, ample, "shared_arrays_on_two_hosts", "ab", Home::shared});
}

inline std::string name_of_transport(const ::testing::TestParamInfo<TransportCase>& tested) {
  return tested.param.name;
}
