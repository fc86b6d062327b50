// SPDX-License-Identifier: BSD-3-Clause
#include "session.hpp"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <unordered_map>

#include <unistd.h>

#include <fmt/format.h>

#include "preflight.hpp"
#include "linger.hpp"
#include "redist/executor.hpp"
#include "redist/gemr2d.hpp"
#include "redist/plan.hpp"
#include "setup_file.hpp"
#include "stock_blacs.hpp"

extern "C" {
int Csys2blacs_handle(MPI_Comm comm);
void Cblacs_gridinit(int* context, const char* order, int nprow, int npcol);
}

namespace blacs_dyn {
namespace {

using gridmap::Error;
using gridmap::Status;

constexpr std::size_t longest_name = 63;

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

/// The running program's own arguments, without its name.
std::vector<std::string> own_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  if (!words.empty()) words.erase(words.begin());
  return words;
}

std::vector<std::string> comma_separated(std::string_view text) {
  std::vector<std::string> words;
  std::istringstream all{std::string(text)};
  for (std::string word; std::getline(all, word, ',');) words.push_back(word);
  return words;
}

int finalize_hook(MPI_Comm, int, void*, void*) {
  Session::instance().at_mpi_finalize();
  return MPI_SUCCESS;
}

redist::Layout layout_of(const Matrix& a, Shape shape, std::vector<int> ranks) {
  using gridmap::Axis;
  return {Axis::block_cyclic(a.m, a.mb, shape.nprow), Axis::block_cyclic(a.n, a.nb, shape.npcol),
          redist::Grid{shape.nprow, shape.npcol, std::move(ranks)}};
}

void check_name(const char* what, const char* name) {
  if (!name) throw Error(Status::null_pointer, fmt::format("blacs-dyn: {}: name is null", what));
  const std::size_t length = std::string_view(name).size();
  if (length < 1 || length > longest_name)
    throw Error(Status::bad_argument, fmt::format("blacs-dyn: {}: name has {} characters, wanted 1 .. {}", what, length, longest_name));
}

} // namespace

std::size_t element_bytes(char type) {
  switch (type) {
  case 's': case 'S': case 'i': case 'I': return 4;
  case 'd': case 'D': case 'c': case 'C': return 8;
  case 'z': case 'Z': return 16;
  default: return 0;
  }
}

Session& Session::instance() {
  static Session session;
  return session;
}

// ---- beginning and end ----------------------------------------------------------------------------------------------------

/// Brings MPI up if need be and finds out what this process is: started by mpirun, or spawned by an application of ours.
void Session::start(Mode mode_of_unit0) {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (finalized || is_finished_) throw Error(Status::bad_state, "blacs-dyn: dyngrid cannot be started again after it, or MPI, was finalized");
  if (!initialized) {
    // a grid that grows may soon have more processes than cores, and Open MPI decides at MPI_Init whether a waiting process gives its core away
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    check_mpi(MPI_Init(nullptr, nullptr), "MPI_Init");
    we_started_mpi_ = true;
  }
  // MPI_COMM_WORLD is the unit that this process was started in; after this line nobody uses it
  const char* newcomer = environment("DYNGRID_NEWCOMER");
  processes_.start(MPI_COMM_WORLD, newcomer != nullptr);
  processes_.set_mode(processes_.is_newcomer() ? (std::string_view(newcomer) == "classical" ? Mode::classical : Mode::managed) : mode_of_unit0);
  unsetenv("DYNGRID_NEWCOMER");
  int key = MPI_KEYVAL_INVALID;
  check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalize_hook, &key, nullptr), "MPI_Comm_create_keyval");
  check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
  MPI_Comm_free_keyval(&key);
  if (!processes_.is_newcomer()) {
    Packet packet;
    together(processes_.world(), [&] { read_environment(); });
    write_settings(packet); // rank 0's word counts, so that all decide alike
    broadcast(packet.bytes(), 0, processes_.world());
    read_settings(packet);
    find_hosts();
  } else {
    is_verbose_ = environment("DYNGRID_VERBOSE") != nullptr;
  }
}

void Session::write_settings(Packet& packet) const {
  packet.put(placement_).put(exchange_order_).put(join_limit_s_).put(points_);
  packet.put(unit_policy_.kind).put(unit_policy_.size).put(unit_policy_.slots).put(unit_policy_.started);
  packet.put(static_cast<int>(unit_policy_.hosts.size()));
  for (const std::string& host : unit_policy_.hosts) packet.put(host);
}

void Session::read_settings(Packet& packet) {
  placement_ = packet.get<gridmap::Placement>();
  exchange_order_ = packet.get<redist::Schedule>();
  join_limit_s_ = packet.get<double>();
  points_ = packet.get<std::int64_t>();
  unit_policy_.kind = packet.get<UnitPolicy::Kind>();
  unit_policy_.size = packet.get<int>();
  unit_policy_.slots = packet.get_vector<int>();
  unit_policy_.started = packet.get_vector<int>();
  unit_policy_.hosts.resize(static_cast<std::size_t>(packet.get<int>()));
  for (std::string& host : unit_policy_.hosts) host = packet.get_text();
}

/// Where mpirun started what. On several hosts every unit gets one of them, since children of one spawn must not span hosts. Collective over unit 0.
void Session::find_hosts() {
  char mine[256] = "";
  gethostname(mine, sizeof mine - 1);
  int size = 0;
  MPI_Comm_size(processes_.world(), &size);
  std::vector<char> all(sizeof mine * static_cast<std::size_t>(size));
  check_mpi(MPI_Allgather(mine, sizeof mine, MPI_CHAR, all.data(), sizeof mine, MPI_CHAR, processes_.world()), "MPI_Allgather");
  std::vector<std::string> hosts;
  std::map<std::string, int> started;
  for (int r = 0; r < size; ++r) {
    const std::string host = all.data() + sizeof mine * static_cast<std::size_t>(r);
    if (started[host]++ == 0) hosts.push_back(host);
  }
  if (unit_policy_.hosts.empty() && hosts.size() > 1) {
    unit_policy_.hosts = hosts;
    unit_policy_.slots.assign(hosts.size(), 0);
  }
  for (const std::string& host : unit_policy_.hosts) unit_policy_.started.push_back(started.count(host) ? started[host] : 0);
}

void Session::read_environment() {
  if (const char* text = environment("DYNGRID_RESIZE_AT")) schedule_ = parse_schedule(text, "DYNGRID_RESIZE_AT");
  if (const char* text = environment("DYNGRID_PLACEMENT")) placement_ = parse_placement(text, "DYNGRID_PLACEMENT");
  if (const char* text = environment("DYNGRID_SCHEDULE")) exchange_order_ = redist::schedule_from(text);
  if (const char* text = environment("DYNGRID_HOSTS"))
    for (const std::string& host : comma_separated(text)) parse_host(host, "DYNGRID_HOSTS", unit_policy_.hosts, unit_policy_.slots);
  if (const char* text = environment("DYNGRID_UNIT")) {
    using Kind = UnitPolicy::Kind;
    const std::string_view word = text;
    char* end = nullptr;
    const long size = std::strtol(text, &end, 10);
    if (word == "auto") unit_policy_.kind = Kind::automatic;
    else if (word == "all") unit_policy_.kind = Kind::whole;
    else if (*end == '\0' && size >= 1 && size <= INT_MAX) {
      unit_policy_.kind = size == 1 ? Kind::one_each : Kind::fixed;
      unit_policy_.size = static_cast<int>(size);
    } else
      throw Error(Status::bad_argument, fmt::format("blacs-dyn: DYNGRID_UNIT is \"{}\", wanted auto, all or a number of processes from 1", text));
  }
  if (const char* text = environment("DYNGRID_JOIN_TIMEOUT")) {
    char* end = nullptr;
    join_limit_s_ = std::strtod(text, &end);
    if (*end != '\0' || !(join_limit_s_ > 0))
      throw Error(Status::bad_argument, fmt::format("blacs-dyn: DYNGRID_JOIN_TIMEOUT is \"{}\", wanted seconds above 0", text));
  }
  is_verbose_ = environment("DYNGRID_VERBOSE") != nullptr;
}

void Session::init(std::optional<Shape> first_grid) {
  if (processes_.is_started()) throw Error(Status::bad_state, "blacs-dyn: dyngrid_init was called before");
  start(Mode::managed);
  if (processes_.is_newcomer()) return;
  if (processes_.mode() != Mode::managed) throw Error(Status::bad_state, "blacs-dyn: dyngrid_init in an application that grew by blacs_setup");
  Shape shape;
  together(processes_.world(), [&] {
    int nprocs = 0;
    MPI_Comm_size(processes_.world(), &nprocs);
    const char* text = environment("DYNGRID_GRID");
    shape = text ? parse_shape(text, "DYNGRID_GRID") : first_grid ? *first_grid : squarest(nprocs);
    check_shape(shape, "dyngrid_init_grid");
    if (std::int64_t{shape.nprow} * shape.npcol > nprocs)
      throw Error(Status::no_slots, fmt::format("blacs-dyn: first grid is {}, which needs {} processes, but {} were started", to_string(shape),
                                                std::int64_t{shape.nprow} * shape.npcol, nprocs));
  });
  Packet packet;
  packet.put(shape);
  broadcast(packet.bytes(), 0, processes_.world());
  shape = Packet(packet.bytes()).get<Shape>();
  if (processes_.form_first_grid(shape) == Processes::Fate::stays) open_context();
  else sleeps_at_first_point_ = true;
}

void Session::finalize() {
  if (!is_active()) throw Error(Status::bad_state, "blacs-dyn: dyngrid_finalize without dyngrid_init before it, or called twice");
  drop_everything();
  if (processes_.was_spawned()) linger_prepare();
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!we_started_mpi_ || finalized) return; // who called MPI_Init calls MPI_Finalize; linger_wait comes at exit
  MPI_Finalize();
  linger_wait();
}

/// Ends processes, contexts and communicators, so that MPI_Finalize finds nothing of ours.
void Session::drop_everything() {
  if (processes_.is_newcomer()) processes_.decline();
  else if (sleeps_at_first_point_) sleep_until_needed();
  close_contexts();
  if (processes_.is_member()) processes_.finish();
  is_finished_ = true;
  matrices_.clear();
  retired_.clear();
  shared_.clear();
  processes_.close();
}

void Session::at_mpi_finalize() {
  if (!processes_.is_started()) return;
  try {
    if (!is_finished_) drop_everything();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dyngrid: at MPI_Finalize: %s\n", error.what());
  }
  if (processes_.was_spawned()) linger_prepare();
}

// ---- contexts -------------------------------------------------------------------------------------------------------------

int Session::system_handle() {
  if (system_handle_ < 0) {
    system_handle_ = Csys2blacs_handle(processes_.grid());
    has_contexts_ = true;
  }
  return system_handle_;
}

int Session::fortran_handle() {
  has_contexts_ = true;
  return MPI_Comm_c2f(processes_.grid());
}

void Session::rank_and_size(int* iam, int* nprocs) const {
  const MPI_Comm grid = processes_.grid();
  if (grid == MPI_COMM_NULL) {
    *iam = -1;
    *nprocs = 0;
    return;
  }
  MPI_Comm_rank(grid, iam);
  MPI_Comm_size(grid, nprocs);
}

void Session::close_contexts() {
  context_ = -1;
  system_handle_ = -1;
  for (const auto& a : matrices_) a->desc[1] = -1;
  if (!has_contexts_) return;
  has_contexts_ = false;
  redist::forget_all_contexts();
  stock::exit(1);
}

void Session::open_context() {
  const Shape shape = processes_.roster().grid.shape;
  context_ = system_handle();
  Cblacs_gridinit(&context_, "Row", shape.nprow, shape.npcol);
  for (const auto& a : matrices_) a->desc[1] = context_;
}

// ---- matrices and shared state ----------------------------------------------------------------------------------------------

void Session::require_grid(const char* what) const {
  if (!is_active() || is_classical())
    throw Error(Status::bad_state, fmt::format("blacs-dyn: {} without dyngrid_init before it, or after dyngrid_finalize", what));
  if (processes_.has_left()) throw Error(Status::bad_state, fmt::format("blacs-dyn: {} on a process that has left the application", what));
}

void Session::place_matrix(Matrix& a, const GridMap& grid, int id, redist::SharedArray local) const {
  const auto at = static_cast<int>(std::find(grid.ids.begin(), grid.ids.end(), id) - grid.ids.begin());
  a.m_loc = a.n_loc = 0;
  if (at < grid.shape.size()) {
    a.m_loc = gridmap::Axis::block_cyclic(a.m, a.mb, grid.shape.nprow).local_size(at / grid.shape.npcol);
    a.n_loc = gridmap::Axis::block_cyclic(a.n, a.nb, grid.shape.npcol).local_size(at % grid.shape.npcol);
  }
  a.lld = std::max<std::int64_t>(1, a.m_loc);
  a.local = std::move(local);
  a.desc = {1, context_, static_cast<int>(a.m), static_cast<int>(a.n), static_cast<int>(a.mb), static_cast<int>(a.nb), 0, 0,
            static_cast<int>(a.lld), 0};
  a.is_placed = true;
}

namespace {
/// Bytes of the local array of `a` at a position of a grid; one element at least, so that the pointer is never null in the grid.
std::size_t local_bytes(const Matrix& a, Shape shape, int at) {
  if (at >= shape.size()) return 0;
  const std::int64_t rows = gridmap::Axis::block_cyclic(a.m, a.mb, shape.nprow).local_size(at / shape.npcol);
  const std::int64_t cols = gridmap::Axis::block_cyclic(a.n, a.nb, shape.npcol).local_size(at % shape.npcol);
  return static_cast<std::size_t>(std::max<std::int64_t>(1, rows) * std::max<std::int64_t>(1, cols)) * element_bytes(a.type);
}
} // namespace

Matrix* Session::create_matrix(const char* name, char type, std::int64_t m, std::int64_t n, std::int64_t mb, std::int64_t nb, bool has_handle) {
  require_grid("dyngrid_matrix_create");
  auto a = std::make_unique<Matrix>();
  const auto check = [&] {
    check_name("dyngrid_matrix_create", name);
    if (!has_handle) throw Error(Status::null_pointer, "blacs-dyn: dyngrid_matrix_create: matrix is null, wanted where to put the handle");
    if (element_bytes(type) == 0)
      throw Error(Status::bad_type, fmt::format("blacs-dyn: dyngrid_matrix_create: type is '{}', wanted s, d, c, z or i", type));
    const auto in_range = [&](const char* what, std::int64_t value, std::int64_t least) {
      if (value < least || value > INT_MAX)
        throw Error(Status::bad_argument, fmt::format("blacs-dyn: dyngrid_matrix_create: {} is {}, wanted {} .. {}", what, value, least, INT_MAX));
    };
    in_range("m", m, 0);
    in_range("n", n, 0);
    in_range("mb", mb, 1);
    in_range("nb", nb, 1);
    const Matrix* before = find_matrix(name);
    if (before && before->is_placed && !processes_.is_newcomer())
      throw Error(Status::bad_argument, fmt::format("blacs-dyn: dyngrid_matrix_create: there is a matrix \"{}\" already", name));
    a->name = name;
    a->type = static_cast<char>(type >= 'A' && type <= 'Z' ? type - 'A' + 'a' : type);
    a->m = m;
    a->n = n;
    a->mb = mb;
    a->nb = nb;
  };
  const bool is_in_grid = processes_.grid() != MPI_COMM_NULL;
  if (!is_in_grid) { // a newcomer, or outside the first grid: declared now, placed when this process joins
    check();
    if (find_matrix(name)) throw Error(Status::bad_argument, fmt::format("blacs-dyn: dyngrid_matrix_create: there is a matrix \"{}\" already", name));
    a->desc = {1, -1, static_cast<int>(m), static_cast<int>(n), static_cast<int>(mb), static_cast<int>(nb), 0, 0, 1, 0};
    matrices_.push_back(std::move(a));
    return matrices_.back().get();
  }
  together(processes_.grid(), check);

  // the same on all processes?
  std::uint64_t hash = 1469598103934665603u;
  for (const char c : a->name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  const std::array<std::int64_t, 6> mine{static_cast<std::int64_t>(hash >> 1), a->type, m, n, mb, nb};
  std::array<std::int64_t, 12> range{}, extremes{};
  for (std::size_t i = 0; i < mine.size(); ++i) {
    range[2 * i] = mine[i];
    range[2 * i + 1] = -mine[i];
  }
  check_mpi(MPI_Allreduce(range.data(), extremes.data(), static_cast<int>(range.size()), MPI_INT64_T, MPI_MAX, processes_.grid()), "MPI_Allreduce");
  static const char* const names[] = {"name", "type", "m", "n", "mb", "nb"};
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const std::int64_t most = extremes[2 * i], least = -extremes[2 * i + 1];
    if (most == least) continue;
    const std::string values = i == 0 ? fmt::format("\"{}\" here", a->name)
                               : i == 1 ? fmt::format("{} .. {}", static_cast<char>(least), static_cast<char>(most))
                                        : fmt::format("{} .. {}", least, most);
    throw Error(Status::rank_mismatch, fmt::format("blacs-dyn: dyngrid_matrix_create: {} differs between the processes of the grid ({})", names[i], values));
  }

  const GridMap& grid = processes_.roster().grid;
  redist::SharedArray local;
  together(processes_.grid(), [&] {
    int at = 0;
    MPI_Comm_rank(processes_.grid(), &at);
    local = redist::SharedArray(local_bytes(*a, grid.shape, at));
    if (std::max<std::int64_t>(1, gridmap::Axis::block_cyclic(m, mb, grid.shape.nprow).local_size(at / grid.shape.npcol)) > INT_MAX)
      throw Error(Status::shape_mismatch, "blacs-dyn: dyngrid_matrix_create: more local rows than LLD_ can hold");
  });
  place_matrix(*a, grid, processes_.id(), std::move(local));
  matrices_.push_back(std::move(a));
  return matrices_.back().get();
}

void Session::free_matrix(Matrix* matrix) {
  require_grid("dyngrid_matrix_free");
  const auto is_it = [&](const std::unique_ptr<Matrix>& a) { return a.get() == matrix; };
  for (auto* list : {&matrices_, &retired_}) {
    const auto at = std::find_if(list->begin(), list->end(), is_it);
    if (at == list->end()) continue;
    list->erase(at);
    return;
  }
  throw Error(Status::not_found, "blacs-dyn: dyngrid_matrix_free: the handle is of no living matrix");
}

Matrix* Session::find_matrix(const std::string& name) {
  for (const auto& a : matrices_)
    if (a->name == name) return a.get();
  return nullptr;
}

const Matrix* Session::largest_matrix() const {
  const Matrix* largest = nullptr;
  const auto bytes = [](const Matrix& a) { return static_cast<double>(a.m) * static_cast<double>(a.n) * static_cast<double>(element_bytes(a.type)); };
  for (const auto& a : matrices_)
    if (!largest || bytes(*a) > bytes(*largest)) largest = a.get();
  return largest;
}

void Session::share(const char* name, void* data, std::size_t bytes) {
  require_grid("dyngrid_share");
  const auto check = [&] {
    check_name("dyngrid_share", name);
    if (!data && bytes > 0) throw Error(Status::null_pointer, fmt::format("blacs-dyn: dyngrid_share: data of \"{}\" is null", name));
    for (const Shared& s : shared_) {
      if (s.name != name) continue;
      if (s.data) throw Error(Status::bad_argument, fmt::format("blacs-dyn: dyngrid_share: \"{}\" is shared already", name));
      if (s.bytes != bytes)
        throw Error(Status::rank_mismatch, fmt::format("blacs-dyn: dyngrid_share: \"{}\" has {} bytes here and {} on the others", name, bytes, s.bytes));
    }
  };
  // what came with the join before its name was known here: no collective, the others have long done theirs
  for (Shared& s : shared_) {
    if (!name || s.name != name || s.data || s.early.empty()) continue;
    check();
    std::copy(s.early.begin(), s.early.end(), static_cast<char*>(data));
    s.data = data;
    s.early.clear();
    return;
  }
  if (processes_.grid() == MPI_COMM_NULL) check();
  else together(processes_.grid(), check);
  shared_.push_back({name, data, {}, bytes});
}

void Session::unshare(const char* name) {
  require_grid("dyngrid_unshare");
  check_name("dyngrid_unshare", name);
  const auto at = std::find_if(shared_.begin(), shared_.end(), [&](const Shared& s) { return s.name == name; });
  if (at == shared_.end()) throw Error(Status::not_found, fmt::format("blacs-dyn: dyngrid_unshare: nothing is shared as \"{}\"", name));
  shared_.erase(at);
}

// ---- changing the grid --------------------------------------------------------------------------------------------------------

SpawnOptions Session::spawn_options() const {
  // through env(1), since Open MPI hands a spawned process the environment of mpirun and not that of its parent
  SpawnOptions options;
  options.program = find_program("env");
  options.join_limit_s = join_limit_s_;
  options.arguments.push_back(fmt::format("DYNGRID_NEWCOMER={}", is_classical() ? "classical" : "managed"));
  for (char** variable = environ; variable && *variable; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('='));
    const bool ours = name.substr(0, 8) == "DYNGRID_" && name != "DYNGRID_NEWCOMER";
    if (ours || name == "LD_PRELOAD" || name == "LD_LIBRARY_PATH" || name == "OPENBLAS_NUM_THREADS" || name == "OMP_NUM_THREADS" ||
        name == "OMPI_MCA_mpi_yield_when_idle")
      options.arguments.emplace_back(text);
  }
  const char* program = environment("DYNGRID_SPAWN_PROGRAM");
  options.shown = !setup_program_.empty() ? setup_program_ : program ? program : own_program();
  options.arguments.push_back(options.shown);
  for (const std::string& word : setup_arguments_ ? *setup_arguments_ : own_arguments()) options.arguments.push_back(word);
  return options;
}

void Session::request(Shape to) {
  require_grid("dyngrid_request");
  check_shape(to, "dyngrid_request");
  requested_ = to;
}

void Session::set_placement(gridmap::Placement placement) {
  require_grid("dyngrid_set_placement");
  const auto check = [&] {
    const auto number = static_cast<int>(placement);
    if (number < DYNGRID_OPTIMAL || number > DYNGRID_LOCAL2)
      throw Error(Status::bad_argument, fmt::format("blacs-dyn: dyngrid_set_placement: placement is {}, wanted {} .. {}", number, DYNGRID_OPTIMAL, DYNGRID_LOCAL2));
  };
  if (processes_.grid() == MPI_COMM_NULL) check();
  else together(processes_.grid(), check);
  placement_ = placement;
}

void Session::set_schedule(int schedule) {
  require_grid("dyngrid_set_schedule");
  const auto check = [&] {
    if (schedule < static_cast<int>(redist::Schedule::automatic) || schedule > static_cast<int>(redist::Schedule::async))
      throw Error(Status::bad_argument, fmt::format("blacs-dyn: dyngrid_set_schedule: schedule is {}, wanted {} .. {}", schedule,
                                                    static_cast<int>(redist::Schedule::automatic), static_cast<int>(redist::Schedule::async)));
  };
  if (processes_.grid() == MPI_COMM_NULL) check();
  else together(processes_.grid(), check);
  exchange_order_ = static_cast<redist::Schedule>(schedule);
}

int Session::resize_point() {
  if (is_active() && !is_classical() && processes_.has_left()) return DYNGRID_LEAVE;
  require_grid("dyngrid_resize_point");
  if (processes_.is_newcomer()) {
    const double started = MPI_Wtime();
    auto gathered = processes_.join();
    if (!gathered) return leave();
    return carry_through(std::move(*gathered), started);
  }
  if (sleeps_at_first_point_) return sleep_until_needed();

  const std::int64_t point = points_++;
  Shape wanted = requested_;
  gridmap::Placement placement = placement_;
  requested_ = {};
  if (processes_.id() == 0 && wanted.size() == 0)
    for (const TimedRequest& entry : schedule_)
      if (entry.step == point) {
        wanted = entry.to;
        placement = entry.placement.value_or(placement_);
      }
  int rank = 0, size = 0;
  const MPI_Comm grid = processes_.grid();
  MPI_Comm_rank(grid, &rank);
  MPI_Comm_size(grid, &size);
  std::int64_t mine = wanted.size() > 0 ? size - rank : 0, first = 0; // of several, the lowest rank's counts
  check_mpi(MPI_Allreduce(&mine, &first, 1, MPI_INT64_T, MPI_MAX, grid), "MPI_Allreduce");
  if (first == 0) return DYNGRID_SAME;

  std::array<int, 3> told{wanted.nprow, wanted.npcol, static_cast<int>(placement)};
  check_mpi(MPI_Bcast(told.data(), 3, MPI_INT, size - static_cast<int>(first), grid), "MPI_Bcast");
  try {
    return change_to({told[0], told[1]}, static_cast<gridmap::Placement>(told[2]), nullptr);
  } catch (const Error& error) {
    if (processes_.id() == 0)
      std::fprintf(stderr, "dyngrid: no change to %dx%d: %s; going on with %s\n", told[0], told[1], error.what(),
                   to_string(processes_.roster().grid.shape).c_str());
    throw;
  }
}

int Session::resize(Shape to, gridmap::Placement placement) {
  if (is_active() && !is_classical() && processes_.is_newcomer()) return resize_point();
  require_grid("dyngrid_resize");
  if (sleeps_at_first_point_) return sleep_until_needed();
  together(processes_.grid(), [&] {
    const auto number = static_cast<int>(placement);
    check_shape(to, "dyngrid_resize");
    if (number < DYNGRID_OPTIMAL || number > DYNGRID_LOCAL2)
      throw Error(Status::bad_argument, fmt::format("blacs-dyn: dyngrid_resize: placement is {}, wanted {} .. {}", number, DYNGRID_OPTIMAL, DYNGRID_LOCAL2));
  });
  const std::array<std::int64_t, 3> mine{to.nprow, to.npcol, static_cast<int>(placement)};
  std::array<std::int64_t, 6> range{mine[0], -mine[0], mine[1], -mine[1], mine[2], -mine[2]}, most{};
  check_mpi(MPI_Allreduce(range.data(), most.data(), 6, MPI_INT64_T, MPI_MAX, processes_.grid()), "MPI_Allreduce");
  if (most[0] != -most[1] || most[2] != -most[3] || most[4] != -most[5])
    throw Error(Status::rank_mismatch, fmt::format("blacs-dyn: dyngrid_resize: arguments differ between the processes: rows {} .. {}, columns {} .. {}, placement {} .. {}",
                                                   -most[1], most[0], -most[3], most[2], -most[5], most[4]));
  return change_to(to, placement, nullptr);
}

int Session::pop() {
  if (!is_active()) throw Error(Status::bad_state, "blacs-dyn: dyngrid_pop before any growth");
  if (!is_classical()) require_grid("dyngrid_pop");
  const Roster& roster = processes_.roster();
  if (processes_.grid() == MPI_COMM_NULL || roster.levels.size() < 2)
    throw Error(Status::bad_state, "blacs-dyn: dyngrid_pop: this is the first grid, there is none below it");
  const GridMap level = roster.levels[roster.levels.size() - 2];
  const auto is_here = [&](int id) { return std::find(roster.grid.ids.begin(), roster.grid.ids.end(), id) != roster.grid.ids.end(); };
  const bool all_here = std::all_of(level.ids.begin(), level.ids.end(), is_here);
  return change_to(level.shape, placement_, all_here ? &level : nullptr);
}

/// Slots and hosts, as far as they can be known before a spawn. After a spawn that fails for want of them the application goes on, but Open MPI's mpirun
/// never ends by itself.
void Session::check_room(const Change& change) const {
  std::set<std::string> hosts;
  for (const NewUnit& unit : change.new_units)
    if (!unit.host.empty()) hosts.insert(unit.host);
  for (std::size_t h = 0; h < unit_policy_.started.size(); ++h)
    if (unit_policy_.started[h] > 0) hosts.erase(unit_policy_.hosts[h]); // mpirun has it, seen
  for (const std::string& host : hosts) check_host(host);

  const char* oversubscribe = environment("OMPI_MCA_rmaps_base_oversubscribe");
  const char* mapping = environment("OMPI_MCA_rmaps_base_mapping_policy");
  if ((oversubscribe && *oversubscribe != '0') || (mapping && std::string_view(mapping).find("OVERSUBSCRIBE") != std::string_view::npos &&
                                                   std::string_view(mapping).find("NOOVERSUBSCRIBE") == std::string_view::npos))
    return;
  int* universe = nullptr;
  int is_known = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &is_known);
  if (!is_known || !universe || *universe <= 0) return;
  std::size_t living = 0;
  for (const Unit& unit : processes_.roster().units) living += unit.members.size();
  const std::size_t wanted = change.new_ids().size();
  if (living + wanted > static_cast<std::size_t>(*universe))
    throw Error(Status::no_slots, fmt::format("blacs-dyn: {} new processes wanted, but {} of mpirun's {} slots are taken; start with mpirun --oversubscribe or "
                                              "with more slots (-H, hostfile)", wanted, living, *universe));
}

int Session::change_to(Shape to, gridmap::Placement placement, const GridMap* exact) {
  const double started = MPI_Wtime();
  const Roster& roster = processes_.roster();
  if (to == roster.grid.shape && !exact) return DYNGRID_SAME;
  Change change;
  together(processes_.grid(), [&] {
    const Matrix* a = largest_matrix();
    const std::int64_t any = std::int64_t{64} * roster.grid.shape.nprow * roster.grid.shape.npcol;
    change = decide_change(roster, to, placement, unit_policy_, a ? a->m : any, a ? a->n : any, a ? a->mb : 1, a ? a->nb : 1, exact);
    if (change.new_units.empty() || processes_.id() != 0) return;
    const char* program = environment("DYNGRID_SPAWN_PROGRAM");
    check_program(program ? find_program(program) : own_program());
    check_room(change);
  });
  return carry_through(processes_.gather(change, spawn_options()), started);
}

/// Tells those that join what the others know: settings, matrices, shared state. Collective over the union. @throws agreed Error.
void Session::exchange_state(Processes::Union& gathered, bool is_joining) {
  if (!gathered.change.is_growth()) return;
  const MPI_Comm comm = gathered.comm.get();
  Packet packet;
  if (!is_joining) {
    write_settings(packet);
    packet.put(static_cast<int>(matrices_.size()));
    for (const auto& a : matrices_) packet.put(a->name).put(a->type).put(a->m).put(a->n).put(a->mb).put(a->nb);
    packet.put(static_cast<int>(shared_.size()));
    for (const Shared& s : shared_) {
      const auto* first = static_cast<const char*>(s.data);
      packet.put(s.name).put(s.data ? std::vector<char>(first, first + s.bytes) : s.early);
    }
  }
  broadcast(packet.bytes(), 0, comm);
  together(comm, [&] {
    if (!is_joining) return;
    Packet state(packet.bytes());
    const bool is_new = processes_.is_newcomer() || sleeps_at_first_point_;
    read_settings(state);
    std::vector<std::unique_ptr<Matrix>> known = std::move(matrices_);
    matrices_.clear();
    for (int count = state.get<int>(); count > 0; --count) {
      auto a = std::make_unique<Matrix>();
      a->name = state.get_text();
      a->type = state.get<char>();
      a->m = state.get<std::int64_t>();
      a->n = state.get<std::int64_t>();
      a->mb = state.get<std::int64_t>();
      a->nb = state.get<std::int64_t>();
      const auto at = std::find_if(known.begin(), known.end(), [&](const auto& k) { return k && k->name == a->name; });
      if (at != known.end()) {
        const Matrix& k = **at;
        if (k.type != a->type || k.m != a->m || k.n != a->n || k.mb != a->mb || k.nb != a->nb)
          throw Error(Status::rank_mismatch, fmt::format("blacs-dyn: matrix \"{}\" is '{}' {} x {} in {} x {} blocks on a new process and '{}' {} x {} in {} x {} on the others",
                                                         a->name, k.type, k.m, k.n, k.mb, k.nb, a->type, a->m, a->n, a->mb, a->nb));
        a = std::move(*at);
      }
      matrices_.push_back(std::move(a));
    }
    for (auto& k : known) {
      if (!k) continue;
      if (is_new) throw Error(Status::rank_mismatch, fmt::format("blacs-dyn: a new process made matrix \"{}\", which the others do not have", k->name));
      retired_.push_back(std::move(k)); // freed by the others while this process slept
    }
    for (int count = state.get<int>(); count > 0; --count) {
      const std::string name = state.get_text();
      std::vector<char> content = state.get_vector<char>();
      const auto at = std::find_if(shared_.begin(), shared_.end(), [&](const Shared& s) { return s.name == name; });
      if (at == shared_.end()) {
        const std::size_t bytes = content.size();
        shared_.push_back({name, nullptr, std::move(content), bytes});
      } else if (at->bytes != content.size()) {
        throw Error(Status::rank_mismatch, fmt::format("blacs-dyn: shared \"{}\" has {} bytes on a new process and {} on the others", name, at->bytes, content.size()));
      } else if (at->data) {
        std::copy(content.begin(), content.end(), static_cast<char*>(at->data));
      }
    }
  });
}

int Session::carry_through(Processes::Union gathered, double started) {
  const Change change = gathered.change;
  const GridMap from = gathered.before.grid;
  const int me = processes_.id();
  const bool is_joining = std::find(from.ids.begin(), from.ids.end(), me) == from.ids.end();
  double plan_s = 0, exchange_s = 0;
  std::int64_t moved = 0, kept = 0;
  std::vector<redist::SharedArray> arrays;
  std::optional<redist::Executor> executor;
  try {
    exchange_state(gathered, is_joining);
    const MPI_Comm comm = gathered.comm.get();
    const std::vector<int> order = union_order(gathered.before, change);
    std::unordered_map<int, int> rank_of;
    for (std::size_t i = 0; i < order.size(); ++i) rank_of[order[i]] = static_cast<int>(i);
    const auto position = static_cast<int>(std::find(change.to.ids.begin(), change.to.ids.end(), me) - change.to.ids.begin());
    std::vector<int> from_ranks, to_ranks;
    for (const int id : from.ids) from_ranks.push_back(rank_of.at(id));
    for (const int id : change.to.ids) to_ranks.push_back(rank_of.at(id));

    const double set_up = MPI_Wtime();
    executor.emplace(comm);
    // on one host nothing is gained by steps; between hosts the plan chooses by predicted cost
    const bool on_one_host = executor->range(executor->ranks_on_host()).first == static_cast<std::int64_t>(order.size());
    exchange_s = MPI_Wtime() - set_up;
    const bool is_free = exchange_order_ == redist::Schedule::automatic;
    std::vector<redist::RankPlan> plans;
    together(comm, [&] {
      for (const auto& a : matrices_) arrays.emplace_back(local_bytes(*a, change.to.shape, position));
      const double t0 = MPI_Wtime();
      for (const auto& a : matrices_) {
        redist::PlanOptions options;
        options.schedule = is_free && on_one_host ? redist::Schedule::async : exchange_order_;
        options.element_bytes = static_cast<int>(element_bytes(a->type));
        const redist::Plan plan(layout_of(*a, from.shape, from_ranks), layout_of(*a, change.to.shape, to_ranks), options);
        const redist::PlanTotals totals = plan.totals();
        moved += totals.moved_elements * static_cast<std::int64_t>(element_bytes(a->type));
        kept += totals.kept_elements * static_cast<std::int64_t>(element_bytes(a->type));
        plans.push_back(plan.for_rank(rank_of.at(me)));
      }
      plan_s = MPI_Wtime() - t0;
    });
    if (!matrices_.empty()) {
      const double t0 = MPI_Wtime();
      std::vector<redist::Transfer> transfers;
      for (std::size_t i = 0; i < matrices_.size(); ++i) {
        const Matrix& a = *matrices_[i];
        transfers.push_back({&plans[i], is_joining ? nullptr : a.local.data(), a.lld, arrays[i].data(),
                             std::max<std::int64_t>(1, plans[i].m_loc_to), a.type});
      }
      executor->execute(transfers);
      exchange_s += MPI_Wtime() - t0;
    }
    executor->close();
  } catch (const Error& error) {
    // agreed errors only: after a failure of MPI nothing collective is left to do
    if (executor && error.status() != Status::mpi_failure) executor->close();
    switch (processes_.dismiss(gathered)) {
    case Processes::Fate::stays: throw;
    case Processes::Fate::sleeps: return sleep_until_needed();
    case Processes::Fate::leaves: return leave();
    }
  }

  // from here on the new grid is the grid
  const double t0 = MPI_Wtime();
  close_contexts();
  sleeps_at_first_point_ = false;
  for (std::size_t i = 0; i < arrays.size(); ++i) place_matrix(*matrices_[i], change.to, me, std::move(arrays[i]));
  const double spawn_s = gathered.spawn_s, merge_s = gathered.merge_s;
  const Processes::Fate fate = processes_.commit(gathered);
  if (fate == Processes::Fate::leaves) return leave();
  if (fate == Processes::Fate::sleeps) return sleep_until_needed();
  if (!is_classical()) open_context();

  std::array<double, 5> mine{spawn_s, merge_s + (MPI_Wtime() - t0), plan_s, exchange_s, is_joining ? 0 : MPI_Wtime() - started}, most{};
  check_mpi(MPI_Allreduce(mine.data(), most.data(), 5, MPI_DOUBLE, MPI_MAX, processes_.grid()), "MPI_Allreduce");
  report_ = {};
  report_.from_nprow = from.shape.nprow;
  report_.from_npcol = from.shape.npcol;
  report_.to_nprow = change.to.shape.nprow;
  report_.to_npcol = change.to.shape.npcol;
  report_.spawned = static_cast<int>(change.new_ids().size());
  report_.woken = static_cast<int>(change.wake.size());
  report_.parked = static_cast<int>(change.park.size());
  report_.released = from.shape.size() + report_.spawned + report_.woken - change.to.shape.size() - report_.parked;
  report_.spawn_s = most[0];
  report_.merge_s = most[1];
  report_.plan_s = most[2];
  report_.exchange_s = most[3];
  report_.total_s = most[4];
  report_.moved_bytes = moved;
  report_.kept_bytes = kept;
  if (is_verbose_ && me == 0)
    std::fprintf(stderr,
                 "dyngrid: %s -> %s: %d spawned, %d woken, %d released, %d parked; spawn %.3f s, merge %.3f s, plan %.4f s, exchange %.3f s, all %.3f s; "
                 "%lld bytes moved, %lld kept\n",
                 to_string(from.shape).c_str(), to_string(change.to.shape).c_str(), report_.spawned, report_.woken, report_.released, report_.parked,
                 report_.spawn_s, report_.merge_s, report_.plan_s, report_.exchange_s, report_.total_s, static_cast<long long>(moved), static_cast<long long>(kept));
  return DYNGRID_RESIZED;
}

int Session::sleep_until_needed() {
  const double started = MPI_Wtime();
  auto gathered = processes_.sleep(spawn_options());
  if (!gathered) return leave();
  return carry_through(std::move(*gathered), started);
}

int Session::leave() {
  sleeps_at_first_point_ = false;
  context_ = -1;
  for (const auto& a : matrices_) {
    a->local.clear();
    a->m_loc = a->n_loc = 0;
    a->desc[1] = -1;
  }
  return DYNGRID_LEAVE;
}

// ---- the classical way ----------------------------------------------------------------------------------------------------------

void Session::classical_setup(int* iam, int* nprocs) {
  if (!processes_.is_started()) {
    start(Mode::classical);
    int size = 0;
    MPI_Comm_size(processes_.world(), &size);
    processes_.form_first_grid({1, size});
  }
  const MPI_Comm grid = processes_.grid();
  try {
    SetupFile setup;
    together(grid, [&] {
      const char* given = environment("DYNGRID_SETUP_FILE");
      const std::string name = given ? given : "blacs_setup.dat";
      std::ifstream file(name);
      if (!file) throw Error(Status::not_found, fmt::format("blacs-dyn: blacs_setup: cannot read {}", name));
      std::ostringstream text;
      text << file.rdbuf();
      setup = parse_setup_file(text.str(), name);
      if (setup.executable == "self") setup.executable = own_program();
      if (processes_.id() == 0) check_program(find_program(setup.executable));
    });
    setup_program_ = setup.executable;
    setup_arguments_ = setup.has_arguments ? std::optional(setup.arguments) : std::nullopt;
    UnitPolicy policy = unit_policy_;
    if (!setup.hosts.empty()) {
      policy.hosts = setup.hosts;
      policy.slots = setup.slots;
      policy.started.clear();
    }
    Change change;
    together(grid, [&] {
      const Roster& roster = processes_.roster();
      change.new_units = group_into_units(roster, setup.processes, policy);
      change.to.ids = roster.grid.ids;
      for (const int id : change.new_ids()) change.to.ids.push_back(id);
      change.to.shape = {1, static_cast<int>(change.to.ids.size())};
      if (processes_.id() == 0) check_room(change);
    });
    close_contexts();
    carry_through(processes_.gather(change, spawn_options()), MPI_Wtime());
  } catch (const Error& error) {
    int rank = 0;
    MPI_Comm_rank(grid, &rank);
    gridmap::detail::set_last_message(error.what());
    if (rank == 0) std::fprintf(stderr, "dyngrid: blacs_setup starts nothing: %s; going on with the processes there are\n", error.what());
  }
  rank_and_size(iam, nprocs);
}

void Session::classical_join() {
  if (!processes_.is_started()) start(Mode::classical);
  if (!processes_.is_newcomer() || !is_classical()) return;
  auto gathered = processes_.join();
  if (gathered && carry_through(std::move(*gathered), MPI_Wtime()) == DYNGRID_RESIZED) return;
  finalize(); // the growth was given up: there is no application for this process to run
  if (!we_started_mpi_) MPI_Finalize();
  linger_wait();
  std::exit(0);
}

} // namespace blacs_dyn
