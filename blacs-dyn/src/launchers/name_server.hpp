// SPDX-License-Identifier: BSD-3-Clause
// The ompi-server over which mpiruns find each other, and what Open MPI 4.1 keeps there. docs/decisions/0013.
#pragma once
#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace blacs_dyn {

/// Where an ompi-server is, from "2005663744.0;tcp://10.0.0.1:4711,10.0.1.1:4711;tcp6://[..]:4712".
struct NameServer {
  std::string jobid; ///< "2005663744"
  std::vector<std::string> hosts;
  int port = 0;
  /// @throws Error{bad_argument}
  static NameServer parse(const std::string& uri);
};

/// What --ompi-server said, read anew each time: the file's content, or the text itself. @throws Error{not_found}
std::string server_uri(const std::string& setting);
/// Somebody listens there. At most 2 s for each address.
bool answers(const NameServer& server);

/// The PMIx client that is inside Open MPI, for what MPI has no call for. Every call but is_there() asks mpirun, and so
/// the ompi-server, and waits; any thread may make them.
namespace pmix {
bool is_there();
/// The name under which mpirun publishes what other mpiruns must know of this one.
std::string own_namespace();
/// What is published under that key in reach of the ompi-server. False: nothing.
bool lookup(const std::string& key, std::string* bytes);
enum class Kind { bytes, text };
bool publish(const std::string& key, const std::string& value, Kind kind, bool once);
/// What this process's transports tell others of themselves (addresses): words KEY=HEX, separated by blanks.
std::string own_card();
/// Keeps the card of another process, so that MPI finds it here and need not ask that process's mpirun, which may have
/// ended and never answer.
void keep_card(const std::string& name, int rank, const std::string& card);
} // namespace pmix

/// An ompi-server of our own in the place of one that has ended: mpiruns cannot be told another address, but they talk
/// to whoever has the old name and port. It ends with this process.
class Successor {
public:
  Successor() = default;
  ~Successor() { end(); }
  Successor(const Successor&) = delete;
  Successor& operator=(const Successor&) = delete;
  /// @throws Error{spawn_failure}: not on the server's host, no such program, or its port is not free
  void start(const NameServer& old);
  void end();
  pid_t pid() const { return pid_; }

private:
  pid_t pid_ = 0;
};

/// What ends an MPI_Comm_accept over MPI_COMM_SELF whose partner has died, whatever it waits for: each thing that the
/// partner would still have published, in its place. From another thread than that of the accept.
void publish_for_the_dead(const std::string& port);

} // namespace blacs_dyn
