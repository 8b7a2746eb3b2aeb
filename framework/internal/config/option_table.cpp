#include <troupe/framework/internal/config/option_table.hpp>

#include <array>
#include <type_traits>
#include <utility>

#include <troupe/serializers/describe.hpp>

namespace troupe::internal {

namespace {

/// An option that the program has set keeps its value.
template <class T>
void give(setting<T>& to, T value) {
  to.set_default(std::move(value));
}
template <class T>
void give(T& to, T value) {
  to = std::move(value);
}

template <class T>
const T& value_in(const setting<T>& from) {
  return *from;
}
template <class T>
const T& value_in(const T& from) {
  return from;
}

template <class T>
T unwrapped(T value) {
  return value;
}
std::size_t unwrapped(byte_count value) {
  return value.count;
}

/// Returns the member at the end of a path of member pointers.
template <auto First, auto... Rest>
constexpr auto& follow(auto& from) {
  if constexpr (sizeof...(Rest) == 0)
    return from.*First;
  else
    return follow<Rest...>(from.*First);
}

/// `As` is the type by which the option is read and shown; its own type or byte_count.
template <class Entry, class As, auto... Members>
constexpr option_row<Entry> row_as(std::string_view key, std::string_view meaning, option_range range) {
  return {
      .key = key,
      .meaning = meaning,
      .range = range,
      .assign =
          [](const config_value& from, const option_range& within, Entry& to) {
            option_value value{As{}};
            auto fits = assign(from, within, value);
            if (!fits)
              return fits;
            auto& member = follow<Members...>(to);
            if constexpr (std::is_same_v<Entry, peer_role>) // Roles are set as a whole; unset rights are the link's.
              member = unwrapped(std::get<As>(std::move(value)));
            else
              give(member, unwrapped(std::get<As>(std::move(value))));
            return fits;
          },
      .show = [](const Entry& from) { return shown(As{value_in(follow<Members...>(from))}); }};
}

template <class Entry, auto... Members>
constexpr auto row(std::string_view key, std::string_view meaning, option_range range = {}) {
  using type = std::remove_cvref_t<decltype(value_in(follow<Members...>(std::declval<Entry&>())))>;
  return row_as<Entry, type, Members...>(key, meaning, range);
}

template <class Entry, auto... Members>
constexpr auto row_of_bytes(std::string_view key, std::string_view meaning, option_range range = {}) {
  return row_as<Entry, byte_count, Members...>(key, meaning, range);
}

template <auto... Members>
constexpr auto link_row(std::string_view key, std::string_view meaning, option_range range = {}) {
  return row<link_entry, &link_entry::options, Members...>(key, meaning, range);
}
template <auto... Members>
constexpr auto link_bytes(std::string_view key, std::string_view meaning, option_range range = {}) {
  return row_of_bytes<link_entry, &link_entry::options, Members...>(key, meaning, range);
}
template <auto Member>
constexpr auto tls_row(std::string_view key, std::string_view meaning) {
  return link_row<&link_options::credentials, &credentials::tls, Member>(key, meaning);
}
template <auto Member>
constexpr auto limit_row(std::string_view key, std::string_view meaning) {
  return link_row<&link_options::receive_limits, Member>(key, meaning);
}
template <auto Member>
constexpr auto limit_bytes(std::string_view key, std::string_view meaning) {
  return link_bytes<&link_options::receive_limits, Member>(key, meaning);
}
template <auto Member>
constexpr auto policy_row(std::string_view key, std::string_view meaning, option_range range = {}) {
  return row<link_entry, &link_entry::policy, Member>(key, meaning, range);
}
template <auto Member>
constexpr auto node_row(std::string_view key, std::string_view meaning, option_range range = {}) {
  return row<node_entry, &node_entry::options, Member>(key, meaning, range);
}
template <auto Member>
constexpr auto role_row(std::string_view key, std::string_view meaning) {
  return row<peer_role, Member>(key, meaning);
}
template <auto Member>
constexpr auto store_row(std::string_view key, std::string_view meaning, option_range range = {}) {
  return row<node_entry, &node_entry::store, Member>(key, meaning, range);
}
template <auto Member>
constexpr auto store_bytes(std::string_view key, std::string_view meaning) {
  return row_of_bytes<node_entry, &node_entry::store, Member>(key, meaning);
}

constexpr option_range positive{.least = 1};

constexpr std::array all_link_rows{
    link_row<&link_options::serializers>("serializers", "families that encode, in order of preference"),
    link_row<&link_options::deserializers>("deserializers", "families accepted; empty: as serializers"),
    link_bytes<&link_options::spill_bytes>("spill-bytes", "frames of so much go into the shared store"),
    link_bytes<&link_options::offload_bytes>("offload-bytes", "messages of so much are encoded on another thread"),
    link_row<&link_options::compression>("compression", "of what this end sends"),
    link_row<&link_options::trusted_families>("trusted-families",
                                              "whether families that trust their input may be listed"),
    link_row<&link_options::allow_cycles>("allow-cycles", "whether values may hold circles of shared pointers"),
    link_bytes<&link_options::cycle_bytes>("cycle-bytes", "what such values may keep here, for the link"),
    link_row<&link_options::share_store>("share-store", "whether the peer may map the store"),
    link_row<&link_options::use_rings>("use-rings", "whether bytes go through shared memory, over unix sockets"),
    link_bytes<&link_options::ring_bytes>("ring-bytes", "the ring of either direction, a power of two", positive),
    link_row<&link_options::send_baggage>("send-baggage", "whether the baggage of traces goes to the peer"),
    link_row<&link_options::wait>("wait", "how the thread that reads waits for the peer"),
    link_row<&link_options::allow_spawn>("allow-spawn", "whether the peer may spawn actors here"),
    link_row<&link_options::allow_tasks>("allow-tasks", "whether the peer may run registered functions here"),
    link_row<&link_options::allow_exit>("allow-exit", "whether the peer may end actors here"),
    link_row<&link_options::allow_memory_summary>("allow-memory-summary", "whether the peer may ask what is kept here"),
    link_row<&link_options::allow_report>("allow-report", "whether it may ask for links, figures and types"),
    link_row<&link_options::allow_recording>("allow-recording", "whether it may record the links of this node"),
    link_row<&link_options::allow_orders>("allow-orders", "whether it may close and reconfigure links of this node"),
    link_row<&link_options::allow_find>("allow-find", "published names that the peer may find"),
    link_row<&link_options::dial_introduced>("dial-introduced", "whether nodes that the peer names may be dialed"),
    link_row<&link_options::peer_identity>("peer-identity", "what the peer's node must prove to be"),
    link_row<&link_options::verify_serialization>("verify-serialization", "within a process: encode nevertheless"),
    link_row<&link_options::credentials, &credentials::secret>("credentials.secret", "what both ends know"),
    link_row<&link_options::credentials, &credentials::secret_file>("credentials.secret-file",
                                                                    "the same, read from a file"),
    link_row<&link_options::credentials, &credentials::cookie_file>("credentials.cookie-file",
                                                                    "the secret of one host's processes"),
    tls_row<&tls_options::certificate_file>("credentials.tls.certificate-file", "this end's certificate, PEM"),
    tls_row<&tls_options::key_file>("credentials.tls.key-file", "its key, PEM"),
    tls_row<&tls_options::authority_file>("credentials.tls.authority-file", "whose certificates are accepted, PEM"),
    tls_row<&tls_options::require_client_certificate>("credentials.tls.require-client-certificate",
                                                      "whether peers that dial need one"),
    tls_row<&tls_options::server_name>("credentials.tls.server-name", "the name that the peer's certificate holds"),
    link_row<&link_options::connect_timeout>("connect-timeout", "from dialing to the end of the handshake", positive),
    link_bytes<&link_options::message_bytes>("message-bytes", "the largest message taken through the socket"),
    link_bytes<&link_options::window_bytes>("window-bytes", "sent and not consumed, for the link", positive),
    link_bytes<&link_options::actor_window_bytes>("actor-window-bytes", "the same for one receiving actor", positive),
    link_bytes<&link_options::handle_window_bytes>("handle-window-bytes", "behind handles, not consumed", positive),
    link_bytes<&link_options::actor_handle_window_bytes>("actor-handle-window-bytes",
                                                         "the same for one receiving actor", positive),
    link_bytes<&link_options::queue_bytes>("queue-bytes", "waiting on this end, for the link", positive),
    link_bytes<&link_options::actor_queue_bytes>("actor-queue-bytes", "the same for one receiving actor", positive),
    link_row<&link_options::when_full>("when-full", "what becomes of a message without room"),
    link_bytes<&link_options::unread_answer_bytes>("unread-answer-bytes", "answers written and not read by the peer"),
    link_row<&link_options::block_timeout>("block-timeout", "how long threads without actors wait for room"),
    link_row<&link_options::heartbeat_interval>("heartbeat-interval", "silence before the peer is asked", positive),
    link_row<&link_options::heartbeat_timeout>("heartbeat-timeout", "silence before the peer is given up", positive),
    link_row<&link_options::recording, &recording_options::file>("recording.file", "a new file for messages"),
    link_row<&link_options::recording, &recording_options::directory>("recording.directory",
                                                                      "the same, for files that follow each other"),
    link_bytes<&link_options::recording, &recording_options::file_bytes>("recording.file-bytes", "of one such file",
                                                                         positive),
    link_row<&link_options::recording, &recording_options::files_most>("recording.files-most", "kept in the directory",
                                                                       positive),
    link_bytes<&link_options::recording, &recording_options::queue_bytes>("recording.queue-bytes",
                                                                          "waiting to be written", positive),
    link_bytes<&link_options::recording, &recording_options::object_bytes_max>("recording.object-bytes-max",
                                                                               "an object recorded with its bytes"),
    link_row<&link_options::recording, &recording_options::compression>("recording.compression", "of these files"),
    limit_bytes<&limits::header_bytes>("receive-limits.header-bytes", "one payload's header"),
    limit_row<&limits::frames>("receive-limits.frames", "frames of one payload"),
    limit_bytes<&limits::body_bytes>("receive-limits.body-bytes", "frame 0 of one payload"),
    limit_bytes<&limits::frame_bytes>("receive-limits.frame-bytes", "one other frame"),
    limit_bytes<&limits::text_bytes>("receive-limits.text-bytes", "one string, path or name"),
    limit_row<&limits::elements>("receive-limits.elements", "elements of all containers of a payload"),
    limit_row<&limits::depth>("receive-limits.depth", "containers and pointers within each other"),
    limit_row<&limits::height>("receive-limits.height", "the same along pointers to shared objects"),
    limit_row<&limits::hash_probes>("receive-limits.hash-probes", "comparisons of keys within buckets"),
    limit_bytes<&limits::memory_bytes>("receive-limits.memory-bytes", "what decoding one payload allocates"),
    limit_row<&limits::memory_ratio>("receive-limits.memory-ratio", "allocated bytes per received byte"),
    limit_bytes<&limits::memory_free_bytes>("receive-limits.memory-free-bytes", "allocated whatever the ratio"),
    limit_bytes<&limits::decompressed_bytes>("receive-limits.decompressed-bytes", "what compressed frames become"),
    limit_row<&limits::decompression_ratio>("receive-limits.decompression-ratio", "the same per compressed byte"),
    limit_bytes<&limits::object_bytes>("receive-limits.object-bytes",
                                       "one object that is brought here from another host"),
    policy_row<&reconnect_policy::kind>("reconnect.kind", "whether a lost link is dialed again"),
    policy_row<&reconnect_policy::first_pause>("reconnect.first-pause", "before the first dial that follows", positive),
    policy_row<&reconnect_policy::longest_pause>("reconnect.longest-pause", "no pause is longer", positive),
    policy_row<&reconnect_policy::growth>("reconnect.growth", "each pause to the one before",
                                          {.least = 1, .most = 100}),
    policy_row<&reconnect_policy::jitter>("reconnect.jitter", "the part of a pause left to chance",
                                          {.least = 0, .most = 1}),
    policy_row<&reconnect_policy::attempts_max>("reconnect.attempts-max", "dials in a row that fail before the end",
                                                positive),
};

constexpr std::array all_role_rows{
    role_row<&peer_role::secret_file>("secret-file", "the secret that such a peer proves"),
    role_row<&peer_role::certificate_names>("certificate-names", "of which its certificate has one"),
    role_row<&peer_role::same_user>("same-user", "whether it belongs to this user, on this host"),
    role_row<&peer_role::allow_spawn>("allow-spawn", "whether it may spawn actors here"),
    role_row<&peer_role::allow_tasks>("allow-tasks", "whether it may run registered functions here"),
    role_row<&peer_role::allow_exit>("allow-exit", "whether it may end actors here"),
    role_row<&peer_role::allow_memory_summary>("allow-memory-summary", "whether it may ask what is kept here"),
    role_row<&peer_role::allow_report>("allow-report", "whether it may ask for links, figures and types"),
    role_row<&peer_role::allow_recording>("allow-recording", "whether it may record the links of this node"),
    role_row<&peer_role::allow_orders>("allow-orders", "whether it may close and reconfigure links of this node"),
    role_row<&peer_role::allow_find>("allow-find", "published names that it may find"),
};

constexpr std::array all_node_rows{
    node_row<&node_options::name>("name", "what peers and logs call this node"),
    node_row<&node_options::listen>("listen", "addresses to listen at"),
    node_row<&node_options::unproven_peers_max>("unproven-peers-max", "peers that have not proven who they are",
                                                positive),
    row<node_entry, &node_entry::has_store>("store.enabled", "whether this node attaches to a store"),
    store_row<&store::options::name>("store.name", "processes that give the same share one store"),
    store_bytes<&store::options::capacity_bytes>("store.capacity-bytes", "room for objects; 0: as it is, or computed"),
    store_row<&store::options::objects_max>("store.objects-max", "rows of the object table; 0: as it is, or 1,048,576",
                                            {.least = 0, .most = 2'097'152}),
    store_row<&store::options::lock_timeout>("store.lock-timeout", "how long a call waits for the table"),
    store_row<&store::options::directory>("store.directory", "where the shared files lie"),
    store_row<&store::options::spill_directory>("store.spill-directory", "where objects go that nobody reads"),
    store_bytes<&store::options::pretouch_bytes>("store.pretouch-bytes", "memory made ready ahead of need"),
    store_row<&store::options::huge_pages>("store.huge-pages", "whether to ask for huge pages"),
    store_row<&store::options::must_exist>("store.must-exist", "whether to fail instead of making a store"),
    store_row<&store::options::require_layout>("store.require-layout",
                                               "whether to fail while another layout of the store is in use"),
    store_row<&store::options::reap_interval>("store.reap-interval", "how often killed processes are looked for"),
    store_row<&store::options::full_grace>("store.full-grace", "how long a full store lets creators wait"),
    node_row<&node_options::store_required>("store-required", "whether the node opens only with its store"),
    node_row<&node_options::store_families>("store-families", "families that encode what is put into the store"),
    node_row<&node_options::allow_out_of_band_handles>("allow-out-of-band-handles",
                                                       "whether references may leave outside of messages"),
    node_row<&node_options::local_queries>("local-queries",
                                           "whether this user's processes here may ask what the node keeps"),
    node_row<&node_options::local_orders>("local-orders", "whether they may close and reconfigure its links"),
    node_row<&node_options::io_threads>("io-threads", "threads that read and write links; 0: as many as cores",
                                        {.least = 0, .most = 256}),
    node_row<&node_options::dispatch>("dispatch", "whether I/O threads run actors"),
    row_of_bytes<node_entry, &node_entry::options, &node_options::ring_memory_bytes>("ring-memory-bytes",
                                                                                     "the rings of all links"),
    node_row<&node_options::detailed_stats>("detailed-stats",
                                            "whether links count by family and type, and measure latencies"),
    node_row<&node_options::handle_grace>("handle-grace", "how long objects are kept for peers whose link was lost"),
    node_row<&node_options::answer_memory_bytes>("answer-memory-bytes", "answers kept for requests that are repeated"),
    node_row<&node_options::answer_memory_time>("answer-memory-time", "how long these answers are kept"),
    node_row<&node_options::drain_timeout>("drain-timeout", "how long the node's end waits for what was sent"),
};

/// The number of fields of an aggregate.
template <class T, std::size_t Count = 0>
constexpr std::size_t count_fields() {
  if constexpr (detail::takes_fields<T>(std::make_index_sequence<Count + 1>{}))
    return count_fields<T, Count + 1>();
  else
    return Count;
}

// An option without a row does not compile. A group counts as one field of its parent; the store's `enabled` stands for
// the presence of the store. `publish` has no row because a file cannot name actors. `roles` has groups with names of
// the user's, so its rows are a table of their own; the name of a role is that of its group.
static_assert(all_link_rows.size()
                  == count_fields<link_options>() - 4 + count_fields<credentials>() - 1 + count_fields<tls_options>()
                         + count_fields<recording_options>() + count_fields<limits>()
                         + count_fields<reconnect_policy>(),
              "each option of a link has a row above, and one in framework/options.md");
static_assert(all_role_rows.size() == count_fields<peer_role>() - 1,
              "each option of a role has a row above, and one in framework/options.md");
static_assert(all_node_rows.size() == count_fields<node_options>() - 3 + 1 + count_fields<store::options>(),
              "each option of a node has a row above, and one in framework/options.md");

} // namespace

std::span<const option_row<link_entry>> link_rows() {
  return all_link_rows;
}

std::span<const option_row<peer_role>> role_rows() {
  return all_role_rows;
}

std::span<const option_row<node_entry>> node_rows() {
  return all_node_rows;
}

} // namespace troupe::internal
