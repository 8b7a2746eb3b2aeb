#include <troupe/store/internal/files/store_files.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/store/internal/files/capacity.hpp>
#include <troupe/store/internal/files/page_care.hpp>
#include <troupe/store/internal/host/crash_point.hpp>
#include <troupe/store/internal/host/system_error.hpp>
#include <troupe/store/internal/table/extents.hpp>
#include <troupe/store/internal/table/recovery.hpp>
#include <troupe/store/internal/table/table_lock.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cstring>
#include <fstream>
#include <new>
#include <utility>

namespace troupe::store::internal {

namespace {

namespace ipc = boost::interprocess;

// If memory has less room than this, a store with a spill directory is placed on disk.
constexpr auto small_store_bytes = std::uint64_t{128} << 20;

/// Adapts a descriptor for Boost's mapped_region.
struct mappable {
  ipc::mapping_handle_t handle;
  [[nodiscard]] ipc::mapping_handle_t get_mapping_handle() const { return handle; }
};

[[nodiscard]] bool is_legal(const std::string& name) {
  constexpr auto letters = std::string_view{"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"};
  return !name.empty() && name.size() <= 64 && name.find_first_not_of(letters) == name.npos;
}

[[nodiscard]] std::uint64_t pid_namespace() {
  struct stat status {};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

/// The offsets of the parts of the control file. Each part begins on a page of its own, so that each can be committed
/// separately.
struct control_plan {
  std::uint64_t spill_directory, hints, buckets, objects, nodes, edges, flights, waiters, spill_files, call_sites,
      origins, end;
};

[[nodiscard]] control_plan plan_control(std::uint32_t objects_max) {
  auto plan = control_plan{};
  plan.spill_directory = round_up(sizeof(control_header), page_bytes);
  plan.hints = plan.spill_directory + page_bytes;
  plan.buckets = round_up(plan.hints + sizeof(hint_words), page_bytes);
  plan.objects = round_up(plan.buckets + origin_buckets * sizeof(std::uint32_t), page_bytes);
  plan.nodes = round_up(plan.objects + std::uint64_t{objects_max} * sizeof(object_row_entry), page_bytes);
  plan.edges = round_up(plan.nodes + std::uint64_t{objects_max} * sizeof(extent_node), page_bytes);
  plan.flights = round_up(plan.edges + std::uint64_t{edges_max} * sizeof(capture_edge), page_bytes);
  plan.waiters = round_up(plan.flights + std::uint64_t{flights_max} * sizeof(flight_entry), page_bytes);
  plan.spill_files = round_up(plan.waiters + std::uint64_t{waiters_max} * sizeof(waiter_entry), page_bytes);
  plan.call_sites = round_up(plan.spill_files + std::uint64_t{spill_files_max} * sizeof(spill_file_entry), page_bytes);
  plan.origins = round_up(plan.call_sites + std::uint64_t{call_sites_max} * sizeof(call_site_entry), page_bytes);
  plan.end = round_up(plan.origins + std::uint64_t{origins_max} * sizeof(origin_entry), page_bytes);
  return plan;
}

void init_table(growing_table& table, std::uint64_t offset, std::size_t row_bytes, std::uint32_t rows_max,
                std::uint32_t step) {
  table.file_offset = offset;
  table.row_bytes = static_cast<std::uint32_t>(row_bytes);
  table.rows_max = rows_max;
  table.step = step;
  table.committed.store(0);
  table.used = 0;
  table.first_free = no_row;
  table.free_rows = 0;
}

/// Fills the header of a control file that no other process sees yet.
void init_header(void* base, const control_plan& plan, std::uint64_t capacity, std::uint32_t objects_max,
                 const std::filesystem::path& spill_directory) {
  auto& header = *new (base) control_header{};
  const auto view = control_view{base};
  header.magic = layout_magic;
  header.version = layout_version;
  header.header_bytes = sizeof(control_header);
  header.page_size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  header.pid_namespace = pid_namespace();
  header.store_number = random_number();
  header.capacity_bytes = capacity;
  header.control_bytes = plan.end;
  header.hints_offset = plan.hints;
  header.nodes_offset = plan.nodes;
  header.origin_buckets_offset = plan.buckets;
  header.origin_factor = random_number() | 1;
  for (auto& part : header.secret)
    part = random_number();
  header.spill_directory_offset = plan.spill_directory;
  spill_directory.native().copy(static_cast<char*>(base) + plan.spill_directory, page_bytes - 1);
  init_table(header.objects, plan.objects, sizeof(object_row_entry), objects_max, 1024);
  init_table(header.edges, plan.edges, sizeof(capture_edge), edges_max, 4096);
  init_table(header.flights, plan.flights, sizeof(flight_entry), flights_max, 1024);
  header.lru_first = header.lru_last = no_row;
  init_table(header.waiters, plan.waiters, sizeof(waiter_entry), waiters_max, 128);
  init_table(header.spill_files, plan.spill_files, sizeof(spill_file_entry), spill_files_max, 1024);
  init_table(header.call_sites, plan.call_sites, sizeof(call_site_entry), call_sites_max, 256);
  init_table(header.origins, plan.origins, sizeof(origin_entry), origins_max, 1024);
  for (auto bucket = std::uint32_t{0}; bucket < origin_buckets; ++bucket)
    view.origin_bucket(bucket) = no_row;
  extent_map(table_held::vouched_for(view)).clear();
  init_table_lock(view);
}

/// The error for a spill directory that this user cannot write. Names the directory, or the one in which it would be
/// made.
[[nodiscard]] store_error unusable_spill_directory(const std::filesystem::path& path, int reason) {
  const auto is_denied = reason == EACCES || reason == EPERM;
  auto text = "spill_directory " + quoted(path) + " cannot be used: ";
  struct stat status {};
  auto there = path;
  while (::stat(there.c_str(), &status) != 0 && there.has_relative_path())
    there = there.parent_path();
  const auto user = std::to_string(::geteuid());
  if (!is_denied)
    text += std::strerror(reason);
  else if (!S_ISDIR(status.st_mode))
    text += there.string() + " is not a directory";
  else if (status.st_uid != ::geteuid())
    text += there.string() + " belongs to user " + std::to_string(status.st_uid) + "; make one that user " + user
            + " may write, or give it to user " + user;
  else
    text += there.string() + " is not writable; run: chmod u+rwx " + there.string();
  return {is_denied ? store_errc::denied : store_errc::system_failure, text};
}

[[nodiscard]] std::expected<void, store_error> make_spill_directory(const std::filesystem::path& path) {
  if (path.empty())
    return {};
  const auto full = absolute_path(path);
  if (full.native().size() >= page_bytes)
    return std::unexpected(store_error{store_errc::invalid_argument, "spill_directory has "
                                                                         + grouped(full.native().size())
                                                                         + " bytes, limit " + grouped(page_bytes - 1)});
  auto failure = std::error_code{};
  std::filesystem::create_directories(full, failure);
  if (failure || ::access(full.c_str(), W_OK | X_OK) != 0)
    return std::unexpected(unusable_spill_directory(full, failure ? failure.value() : errno));
  return {};
}

/// Makes a temporary file of that size, private to this user. Replaces an older file of that name, which a dead process
/// has left.
[[nodiscard]] std::expected<owned_file, store_error> make_file(const std::filesystem::path& path, std::uint64_t size) {
  ::unlink(path.c_str());
  auto file = owned_file{::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
  if (file.descriptor() < 0)
    return std::unexpected(system_failure("open", path));
  if (auto may = check_file_limit(size, path); !may) {
    ::unlink(path.c_str());
    return std::unexpected(may.error());
  }
  if (::ftruncate(file.descriptor(), static_cast<off_t>(size)) != 0)
    return std::unexpected(system_failure("ftruncate", path));
  return file;
}

[[nodiscard]] std::expected<void, store_error> give_name(const std::filesystem::path& temporary,
                                                         const std::filesystem::path& path) {
  if (::link(temporary.c_str(), path.c_str()) != 0)
    return std::unexpected(system_failure("link", path));
  ::unlink(temporary.c_str());
  return {};
}

[[nodiscard]] std::expected<ipc::mapped_region, store_error> map(const owned_file& file, ipc::mode_t mode,
                                                                 std::uint64_t bytes, const char* what) {
  try {
    return ipc::mapped_region{mappable{{file.descriptor(), false}}, mode, 0, bytes};
  } catch (const ipc::interprocess_exception& failure) {
    return std::unexpected(
        store_error{store_errc::system_failure,
                    std::string("mapping ") + what + " of " + grouped(bytes) + " bytes failed: " + failure.what()});
  }
}

[[nodiscard]] std::expected<owned_file, store_error> open_existing(const std::filesystem::path& path) {
  auto file = owned_file{::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)};
  if (file.descriptor() >= 0)
    return file;
  if (errno == ENOENT)
    return std::unexpected(store_error{store_errc::corrupt, path.string() + " was removed while the store is in use"});
  return std::unexpected(system_failure("open", path));
}

[[nodiscard]] store_error mismatch(const store_paths& paths, const char* what, std::uint64_t theirs,
                                   std::uint64_t ours) {
  return {store_errc::layout_mismatch, "store " + paths.control.string() + " has " + what + " " + std::to_string(theirs)
                                           + ", this program has " + std::to_string(ours)};
}

/// Requires: the file has at least as many bytes as a header.
[[nodiscard]] std::expected<void, store_error> check_header(const control_header& header, const store_paths& paths,
                                                            std::uint64_t file_bytes) {
  if (header.magic != layout_magic)
    return std::unexpected(store_error{store_errc::layout_mismatch, paths.control.string() + " is not a store"});
  if (header.version != layout_version)
    return std::unexpected(mismatch(paths, "layout version", header.version, layout_version));
  if (header.header_bytes != sizeof(control_header))
    return std::unexpected(mismatch(paths, "a header size of", header.header_bytes, sizeof(control_header)));
  const auto page_size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  if (header.page_size != page_size)
    return std::unexpected(mismatch(paths, "page size", header.page_size, page_size));
  if (header.pid_namespace != pid_namespace())
    return std::unexpected(
        store_error{store_errc::namespace_mismatch, "store " + paths.control.string() + " lives in pid namespace "
                                                        + std::to_string(header.pid_namespace) + ", this process in "
                                                        + std::to_string(pid_namespace())});
  if (header.control_bytes != file_bytes)
    return std::unexpected(mismatch(paths, "a control file size of", header.control_bytes, file_bytes));
  return {};
}

[[nodiscard]] std::expected<void, store_error> check_options(const control_view& view, const options& options) {
  const auto& header = view.header();
  auto differ = [&](const char* what, std::uint64_t is, std::uint64_t asked) {
    return std::unexpected(store_error{store_errc::options_differ, "store \"" + options.name + "\" has " + what + " "
                                                                       + grouped(is) + ", the options ask for "
                                                                       + grouped(asked)});
  };
  if (options.capacity_bytes != 0 && round_up(options.capacity_bytes, page_bytes) != header.capacity_bytes)
    return differ("capacity_bytes", header.capacity_bytes, round_up(options.capacity_bytes, page_bytes));
  if (!options.spill_directory.empty() && absolute_path(options.spill_directory) != view.spill_directory())
    return std::unexpected(
        store_error{store_errc::options_differ, "store \"" + options.name + "\" has spill_directory "
                                                    + quoted(view.spill_directory()) + ", the options ask for "
                                                    + quoted(absolute_path(options.spill_directory))});
  if (options.huge_pages && header.huge_pages == 0)
    return std::unexpected(store_error{store_errc::options_differ,
                                       "store \"" + options.name + "\" has no huge_pages, the options ask for them"});
  if (options.objects_max != 0 && options.objects_max != header.objects.rows_max)
    return differ("objects_max", header.objects.rows_max, options.objects_max);
  return {};
}

} // namespace

namespace {

/// Distinguishes directories, even those of two containers with the same path.
[[nodiscard]] std::string identity_of(const std::filesystem::path& directory) {
  struct stat status {};
  if (::stat(directory.c_str(), &status) != 0)
    return "none"; // Opening a file there fails soon.
  auto text = std::array<char, 40>{};
  const auto [dev_end, dev_error] = std::to_chars(text.data(), text.data() + text.size(), status.st_dev, 16);
  *dev_end = '-';
  const auto [end, error] = std::to_chars(dev_end + 1, text.data() + text.size(), status.st_ino, 16);
  return {text.data(), end};
}

} // namespace

std::filesystem::path temporary_of(std::filesystem::path path) {
  return path += ".new";
}

std::expected<store_paths, store_error> paths_of(const options& options, const std::filesystem::path& directory) {
  if (!is_legal(options.name))
    return std::unexpected(
        store_error{store_errc::invalid_argument,
                    "\"" + options.name + "\" is not a valid store name: use 1 to 64 characters of [A-Za-z0-9_-]"});
  if (options.objects_max > objects_limit)
    return std::unexpected(store_error{store_errc::invalid_argument, "objects_max is " + grouped(options.objects_max)
                                                                         + ", limit " + grouped(objects_limit)});
  if (options.capacity_bytes > std::uint64_t{1} << 46)
    return std::unexpected(store_error{store_errc::invalid_argument,
                                       "capacity_bytes is " + grouped(options.capacity_bytes) + ", limit 64 TiB"});
  if (options.spill_directory.is_relative() && !options.spill_directory.empty())
    return std::unexpected(store_error{store_errc::invalid_argument,
                                       "spill_directory " + quoted(options.spill_directory)
                                           + " is relative, and each process may be in another folder: give an "
                                             "absolute path"});
  for (const auto& [what, value] :
       {std::pair{"lock_timeout", options.lock_timeout}, //
        std::pair{"reap_interval", options.reap_interval}, std::pair{"full_grace", options.full_grace}})
    if (value.count() < 0)
      return std::unexpected(
          store_error{store_errc::invalid_argument,
                      std::string(what) + " is " + std::to_string(value.count()) + " ms; the minimum is 0"});
  auto boot = std::string{};
  std::ifstream{"/proc/sys/kernel/random/boot_id"} >> boot;
  std::erase(boot, '-');
  if (boot.empty())
    return std::unexpected(store_error{store_errc::system_failure, "/proc/sys/kernel/random/boot_id cannot be read"});
  auto paths = store_paths{};
  paths.name = options.name;
  paths.directory = directory;
  paths.is_in_own_folder = directory != options.directory && directory.parent_path() == options.directory;
  paths.every_boot = "troupe." + std::to_string(::geteuid()) + "." + options.name + ".";
  paths.this_boot = paths.every_boot + boot + ".";
  paths.this_layout = paths.this_boot + "v" + std::to_string(layout_version) + ".";
  paths.on_disk = paths.this_layout + identity_of(directory) + ".";
  paths.lock = directory / (paths.this_layout + "lock");
  paths.control = directory / (paths.this_layout + "control");
  paths.data = directory / (paths.this_layout + "data");
  return paths;
}

owned_file::owned_file(owned_file&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), identity_(other.identity_) {}

owned_file& owned_file::operator=(owned_file&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(identity_, other.identity_);
  return *this;
}

owned_file::~owned_file() {
  if (descriptor_ >= 0 && is_intact())
    ::close(descriptor_);
}

namespace {

/// The spill directory of a store whose processes are all dead. The control file may be anything, even a FIFO.
[[nodiscard]] std::filesystem::path left_spill_directory(const std::filesystem::path& control) {
  const auto file = owned_file{::open(control.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
  alignas(control_header) auto bytes = std::array<std::byte, sizeof(control_header)>{};
  if (file.descriptor() < 0
      || ::pread(file.descriptor(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return {};
  const auto& header = *reinterpret_cast<const control_header*>(bytes.data());
  if (header.magic != layout_magic || header.version != layout_version || header.header_bytes != sizeof(header))
    return {};
  auto path = std::array<char, page_bytes>{};
  if (::pread(file.descriptor(), path.data(), path.size() - 1, static_cast<off_t>(header.spill_directory_offset)) <= 0)
    return {};
  return path.data();
}

/// Removes this store's files, and those of other boots, from a spill directory. Files of this boot's stores in other
/// directories may be in use.
void sweep_spill_directory(const std::filesystem::path& directory, const store_paths& paths, bool in_use) {
  auto failure = std::error_code{};
  for (const auto& entry : std::filesystem::directory_iterator(directory, failure)) {
    const auto name = entry.path().filename().string();
    const auto is_own = name.starts_with(paths.on_disk) && (!in_use || name.ends_with(".new"));
    const auto is_old = name.starts_with(paths.every_boot) && !name.starts_with(paths.this_boot);
    if ((!is_own && !is_old) || is_of_another_user(entry.path()))
      continue;
    const auto version = name.substr(0, name.find('.', name.find('.', paths.every_boot.size()) + 1));
    // No process survives a boot, but a container may have its own boot id.
    if (is_own || !any_lock_on(paths.directory / (version + ".lock")))
      ::unlink(entry.path().c_str());
  }
}

/// Removes a file of a store that no process has open. Fails if the next store needs the name and the file stays.
[[nodiscard]] std::expected<void, store_error> remove_left(const std::filesystem::path& file,
                                                           const store_paths& paths) {
  if (::unlink(file.c_str()) == 0 || errno == ENOENT)
    return {};
  const auto failure = system_failure("unlink", file);
  const auto names = {paths.control, paths.data, temporary_of(paths.control), temporary_of(paths.data)};
  if (std::ranges::count(names, file) == 0)
    return {};
  return std::unexpected(failure);
}

[[nodiscard]] std::expected<std::string, store_error> sweep_directory(const std::filesystem::path& directory,
                                                                      const store_paths& paths, bool in_use) {
  auto beside = std::string{};
  auto failure = std::error_code{};
  for (const auto& entry : std::filesystem::directory_iterator(directory, failure)) {
    const auto& file = entry.path();
    const auto name = file.filename().string();
    if (!name.starts_with(paths.every_boot) || name == paths.lock.filename() || is_of_another_user(file))
      continue;
    if (name.starts_with(paths.this_layout)) {
      if (!in_use) {
        if (auto removed = remove_left(file, paths); !removed)
          return std::unexpected(removed.error());
      } else if (name.ends_with(".new")) {
        ::unlink(file.c_str());
      }
      continue;
    }
    const auto boot_end = name.find('.', paths.every_boot.size());
    const auto version = name.substr(0, boot_end == name.npos ? name.npos : name.find('.', boot_end + 1));
    if (const auto owner = any_lock_on(paths.directory / (version + ".lock"))) {
      if (!name.starts_with(paths.this_boot))
        continue; // No process survives a boot, but a container may have its own boot id.
      beside = "store " + version + " of another layout version is in use by "
               + (*owner == 0 ? "a process" : "process " + std::to_string(*owner))
               + "; this program has layout version " + std::to_string(layout_version);
      continue;
    }
    ::unlink(file.c_str());
  }
  return beside;
}

} // namespace

std::expected<std::string, store_error> sweep(const store_paths& paths, const options& options, bool in_use) {
  const auto left = in_use ? std::filesystem::path{} : left_spill_directory(paths.control);
  auto beside = sweep_directory(paths.directory, paths, in_use);
  if (!beside)
    return beside;
  if (options.require_layout && !beside->empty())
    return std::unexpected(store_error{store_errc::layout_mismatch, *std::move(beside)});
  for (const auto& directory : {left, absolute_path(options.spill_directory)})
    if (!directory.empty())
      sweep_spill_directory(directory, paths, in_use);
  return beside;
}

std::filesystem::path absolute_path(const std::filesystem::path& path) {
  if (path.empty())
    return path;
  auto failure = std::error_code{};
  auto found = std::filesystem::weakly_canonical(path, failure);
  return failure ? path.lexically_normal() : found; // This user may lack the right to read a folder of the path.
}

std::string quoted(const std::filesystem::path& path) {
  return path.empty() ? "none" : '"' + path.string() + '"';
}

std::filesystem::path data_path_of(const control_view& view, const store_paths& paths) {
  return view.header().data_on_disk == 0 ? paths.data
                                         : view.spill_directory() / std::filesystem::path{paths.on_disk + "data"};
}

namespace {

struct data_place {
  std::uint64_t capacity_bytes = 0;
  bool on_disk = false;
};

/// Places the data file in memory if there is room, else on disk if there is a spill directory.
[[nodiscard]] data_place place_data(const options& options) {
  const auto facts = memory_facts_of(options.directory);
  auto place = data_place{};
  place.capacity_bytes =
      options.capacity_bytes == 0 ? default_capacity(facts) : round_up(options.capacity_bytes, page_bytes);
  if (options.spill_directory.empty() || facts.free_in_directory == no_limit)
    return place;
  if (options.capacity_bytes == 0) {
    auto roomy = facts;
    roomy.free_in_directory = no_limit;
    place.on_disk = place.capacity_bytes < small_store_bytes && place.capacity_bytes < default_capacity(roomy);
    if (place.on_disk)
      place.capacity_bytes = default_capacity(roomy);
  } else {
    place.on_disk = place.capacity_bytes > facts.free_in_directory;
  }
  return place;
}

} // namespace

std::expected<void, store_error> make_files(const store_paths& paths, const options& options) {
  if (auto made = make_spill_directory(options.spill_directory); !made)
    return made;
  const auto plan_data = place_data(options);
  const auto capacity = plan_data.capacity_bytes;
  const auto objects_max = options.objects_max == 0 ? objects_default : options.objects_max;
  const auto data_path =
      plan_data.on_disk ? absolute_path(options.spill_directory) / (paths.on_disk + "data") : paths.data;
  auto data = make_file(temporary_of(data_path), capacity);
  if (!data)
    return std::unexpected(data.error());
  if (auto named = give_name(temporary_of(data_path), data_path); !named)
    return named;
  reach(crash_point::open_data_linked);
  const auto plan = plan_control(objects_max);
  auto control = make_file(temporary_of(paths.control), plan.end);
  if (!control)
    return std::unexpected(control.error());
  if (auto committed = commit_pages(*control, 0, plan.objects); !committed)
    return committed;
  auto region = map(*control, ipc::read_write, plan.objects, "the control file");
  if (!region)
    return std::unexpected(region.error());
  init_header(region->get_address(), plan, capacity, objects_max, absolute_path(options.spill_directory));
  auto& header = control_view{region->get_address()}.header();
  header.data_on_disk = plan_data.on_disk ? 1 : 0;
  header.huge_pages = options.huge_pages ? 1 : 0;
  if (auto named = give_name(temporary_of(paths.control), paths.control); !named)
    return named;
  reach(crash_point::open_control_linked);
  return {};
}

std::expected<mapped_store, store_error> map_files(const store_paths& paths, const options& options) {
  auto control_file = open_existing(paths.control);
  if (!control_file)
    return std::unexpected(control_file.error());
  struct stat status {};
  if (::fstat(control_file->descriptor(), &status) != 0)
    return std::unexpected(system_failure("fstat", paths.control));
  const auto control_bytes = static_cast<std::uint64_t>(status.st_size);
  if (control_bytes < sizeof(control_header))
    return std::unexpected(store_error{store_errc::layout_mismatch, paths.control.string() + " is not a store"});
  auto control = map(*control_file, ipc::read_write, control_bytes, "the control file");
  if (!control)
    return std::unexpected(control.error());
  const auto view = control_view{control->get_address()};
  if (auto checked = check_header(view.header(), paths, control_bytes); !checked)
    return std::unexpected(checked.error());
  if (auto checked = check_options(view, options); !checked)
    return std::unexpected(checked.error());
  const auto capacity = view.header().capacity_bytes;
  auto data_file = open_existing(data_path_of(view, paths));
  if (!data_file)
    return std::unexpected(data_file.error());
  if (::fstat(data_file->descriptor(), &status) != 0 || static_cast<std::uint64_t>(status.st_size) != capacity)
    return std::unexpected(
        mismatch(paths, "a data file size of", static_cast<std::uint64_t>(status.st_size), capacity));
  auto readable = map(*data_file, ipc::read_only, capacity, "the data file");
  if (!readable)
    return std::unexpected(readable.error());
  auto writable = map(*data_file, ipc::read_write, capacity, "the data file for writing");
  if (!writable)
    return std::unexpected(writable.error());
  if (view.header().huge_pages != 0) {
    ask_for_huge_pages({static_cast<const std::byte*>(readable->get_address()), capacity});
    ask_for_huge_pages({static_cast<const std::byte*>(writable->get_address()), capacity});
  }
  // A forked child must not write, because its copy of a builder's bytes would be the parent's object.
  (void)::madvise(writable->get_address(), capacity, MADV_DONTFORK);
  return mapped_store{std::move(*control_file), std::move(*data_file), std::move(*control),
                      std::move(*readable),     std::move(*writable),  view};
}

std::expected<void, store_error> remove_files(const store_paths& paths) {
  auto result = std::expected<void, store_error>{};
  const auto remove = [&](const std::filesystem::path& path) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT && result)
      result = std::unexpected(system_failure("unlink", path));
  };
  if (!paths.spill_directory.empty())
    sweep_spill_directory(paths.spill_directory, paths, false);
  remove(temporary_of(paths.control));
  remove(temporary_of(paths.data));
  remove(paths.control);
  reach(crash_point::close_control_removed);
  remove(paths.data);
  reach(crash_point::close_data_removed);
  remove(paths.lock);
  reach(crash_point::close_lock_removed);
  if (paths.is_in_own_folder)
    (void)::rmdir(paths.directory.c_str()); // Fails if another store is there.
  return result;
}

std::expected<void, store_error> commit_pages(const owned_file& file, std::uint64_t from, std::uint64_t to) {
  if (from >= to)
    return {};
  assert(to - from <= commit_piece_bytes);
  if (!file.is_intact())
    return std::unexpected(store_error{store_errc::detached, "this process has closed a file of the store"});
  auto status = 0;
  do // Not posix_fallocate: its emulation in the C library overwrites bytes of other processes with zeros.
    status = ::fallocate(file.descriptor(), 0, static_cast<off_t>(from), static_cast<off_t>(to - from));
  while (status != 0 && errno == EINTR);
  if (status == 0)
    return {};
  if (errno == ENOSPC || errno == ENOMEM || errno == EDQUOT)
    return std::unexpected(store_error{store_errc::full, "the file system of the store has no " + grouped(to - from)
                                                             + " bytes left: " + std::strerror(errno)});
  return std::unexpected(store_error{
      store_errc::system_failure, "the file system of the store cannot set aside " + grouped(to - from)
                                      + " bytes (it must be a tmpfs or able to fallocate): " + std::strerror(errno)});
}

std::uint64_t bytes_taken(const owned_file& file) {
  constexpr auto block_bytes = std::uint64_t{512}; // Independent of the file system's block size.
  struct stat status {};
  if (!file.is_intact() || ::fstat(file.descriptor(), &status) != 0)
    return 0;
  return static_cast<std::uint64_t>(status.st_blocks) * block_bytes;
}

std::uint64_t least_bytes_without_pages(const owned_file& file, std::uint64_t from, std::uint64_t to) {
  if (!file.is_intact())
    return 0;
  const auto taken = bytes_taken(file);
  auto written = std::uint64_t{0};
  auto written_there = std::uint64_t{0};
  for (auto end = off_t{0};;) {
    const auto data = ::lseek(file.descriptor(), end, SEEK_DATA);
    if (data < 0 && errno == ENXIO) // No data follows.
      break;
    end = data < 0 ? data : ::lseek(file.descriptor(), data, SEEK_HOLE);
    if (end < 0)
      return 0;
    const auto begin = static_cast<std::uint64_t>(data);
    const auto until = static_cast<std::uint64_t>(end);
    written += until - begin;
    written_there += std::max(std::min(until, to), from) - std::min(std::max(begin, from), to);
  }
  const auto unwritten = taken - std::min(written, taken);
  const auto missing = to - from - std::min(written_there, to - from);
  return missing - std::min(unwritten, missing);
}

std::optional<std::uint64_t> bytes_free(const owned_file& file) {
  struct statvfs status {};
  if (!file.is_intact() || ::fstatvfs(file.descriptor(), &status) != 0)
    return std::nullopt;
  return bytes_free(status);
}

std::uint64_t random_number() {
  auto number = std::uint64_t{0};
  while (number == 0)
    if (::getrandom(&number, sizeof(number), 0) != sizeof(number))
      number = 0;
  return number;
}

} // namespace troupe::store::internal
