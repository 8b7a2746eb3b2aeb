#include <troupe/framework/bench/compare.hpp>

#include <troupe/framework/bench/codec_timer.hpp>
#include <troupe/framework/bench/link_pair.hpp>
#include <troupe/framework/caf_family/caf_family.hpp>
#include <troupe/store/object_store.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <optional>
#include <random>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

namespace troupe::bench::detail {

namespace {

using bench_clock = std::chrono::steady_clock;

constexpr std::array<std::string_view, 4> ways{"inproc", "unix", "tcp", "store"};

template <class T>
[[nodiscard]] std::vector<T> each_once(const std::vector<T>& values) {
  std::vector<T> made;
  for (const auto& each : values)
    if (std::ranges::find(made, each) == made.end())
      made.push_back(each);
  return made;
}

/// Empty if the options can be used.
[[nodiscard]] std::string wrong_with(const compare_options& options, const sample_source& samples,
                                     const type_entry* entry, const family_set& families) {
  if (samples.size() == 0)
    return "there are no samples to compare";
  if (entry == nullptr)
    return "the registry of compare_options::types lacks the type of the samples; add it there with "
           "types.add<T>(\"name\")";
  for (const auto& [is_empty, what] : {std::pair{options.families.empty(), "families"},
                                       {options.compressions.empty(), "compressions"},
                                       {options.over.empty(), "over"}})
    if (is_empty)
      return fmt::format("compare_options::{} is empty", what);
  for (const auto& each : options.over)
    if (std::ranges::find(ways, each) == ways.end())
      return fmt::format("no kind of links '{}'; known are [{}]", each, fmt::join(ways, ", "));
  for (const auto& each : options.families)
    if (families.find(each) == nullptr)
      return fmt::format("no family '{}'; known are [{}]: add it to a family_set, and give that as "
                         "compare_options::known_families",
                         each, fmt::join(families.names(), ", "));
  if (options.rounds == 0 || options.time.count() <= 0)
    return "compare_options::rounds and compare_options::time must be above 0";
  return {};
}

[[nodiscard]] std::string unique_names() {
  static std::atomic<int> number{0};
  return fmt::format("troupe-compare-{}-{}", ::getpid(), number++);
}

[[nodiscard]] std::string random_secret() {
  std::random_device source;
  std::string made;
  for (int i = 0; i < 8; ++i)
    made += fmt::format("{:08x}", source());
  return made;
}

/// A family with a compression, and the node that answers with them.
struct codec_subject {
  std::string family;
  troupe::compression how;
  std::string failure = {};
  std::optional<codec_timer> timer = {};
  std::unique_ptr<side> far = {};
  std::vector<double> encode_ns = {};
  std::vector<double> decode_ns = {};
};

/// A row of the result while it is measured. The members are destroyed in reverse order: the links end first.
struct link_subject {
  codec_subject* codec;
  std::string over;
  std::string failure = {};
  std::unique_ptr<measured_link> by = {};
  std::vector<double> one_way_ns = {};
  std::vector<double> round_trip_ns = {};
  streamed last = {};

  [[nodiscard]] bool is_running() const { return failure.empty(); }
};

class measurement {
public:
  measurement(const sample_source& samples, const type_entry& entry, type_registry& types, const family_set& families,
              const compare_options& options)
      : samples_(samples), entry_(entry), options_(options), in_{types,        families,        options.links,
                                                                 std::nullopt, random_secret(), unique_names()} {}

  [[nodiscard]] std::expected<comparison, node_error> make() {
    list_subjects();
    prepare_codecs();
    open_store();
    auto near = side::open(in_, "near", terms_of(options_.families, compression::none));
    if (!near)
      return std::unexpected(std::move(near).error());
    near_ = *std::move(near);
    for (auto& each : links_)
      open(each);
    measure();
    return result();
  }

private:
  void list_subjects() {
    const auto over = each_once(options_.over);
    const auto asked = each_once(options_.compressions);
    auto all = asked;
    // Nothing is compressed between ends that share a store, and nothing is encoded within a process.
    const auto has_plain_rows = [](std::string_view way) { return way == "store" || way == "inproc"; };
    if (std::ranges::any_of(over, has_plain_rows) && std::ranges::find(all, compression::none) == all.end())
      all.insert(all.begin(), compression::none);
    for (const auto& family : each_once(options_.families))
      for (const auto how : all)
        codecs_.push_back(std::make_unique<codec_subject>(family, how));
    for (const auto& codec : codecs_)
      for (const auto& way : over) {
        const auto is_asked =
            has_plain_rows(way) ? codec->how == compression::none : std::ranges::find(asked, codec->how) != asked.end();
        const auto is_repeated = way == "inproc" && entry_.is_self_contained() && has_inproc_;
        if (!is_asked || is_repeated)
          continue;
        has_inproc_ = has_inproc_ || way == "inproc";
        links_.push_back({codec.get(), way});
      }
  }

  void prepare_codecs() {
    for (const auto& each : codecs_) {
      each->timer.emplace(samples_, entry_, in_.types, *in_.families.find(each->family), each->how,
                          options_.links.receive_limits);
      if (auto prepared = each->timer->prepare(); !prepared)
        each->failure = std::move(prepared).error();
    }
  }

  void open_store() {
    if (std::ranges::find(options_.over, "store") == options_.over.end())
      return;
    const store::options asked{.name = in_.names};
    auto opened = store::object_store::open(asked);
    if (!opened) {
      no_store_ = "no store can be opened: " + opened.error().message();
      return;
    }
    store_.emplace(*std::move(opened));
    in_.store = asked;
  }

  [[nodiscard]] link_options terms_of(const std::vector<std::string>& families, troupe::compression how) const {
    auto made = in_.links;
    made.serializers = families;
    made.deserializers = std::vector<std::string>{};
    made.trusted_families =
        std::ranges::any_of(families, [&](const auto& each) { return in_.families.find(each)->needs_trust(); });
    made.compression = how;
    made.credentials = {};
    made.credentials.secret = in_.secret;
    made.roles = {};
    return made;
  }

  void open(link_subject& subject) {
    auto& codec = *subject.codec;
    const auto is_encoded = subject.over != "inproc" || !entry_.is_self_contained();
    if (is_encoded)
      subject.failure = codec.failure;
    if (subject.over == "store" && !no_store_.empty())
      subject.failure = no_store_;
    if (!subject.is_running())
      return;
    const auto terms = terms_of({codec.family}, codec.how);
    if (!codec.far) {
      auto far = side::open(in_, "far", terms);
      if (!far) {
        subject.failure = far.error().message();
        return;
      }
      codec.far = *std::move(far);
    }
    auto made = measured_link::open(in_, samples_, *near_, *codec.far, subject.over, terms);
    if (!made)
      subject.failure = std::move(made).error();
    else if (auto prepared = (*made)->prepare(); !prepared)
      subject.failure = std::move(prepared).error();
    else
      subject.by = *std::move(made);
  }

  /// How many messages may be on their way. Enough that the ends never wait, and few enough that a slice ends in time.
  [[nodiscard]] std::uint64_t window_of(const link_subject& subject) const {
    constexpr double window_bytes = 4 << 20;
    constexpr double messages_most = 10'000;
    const auto bytes = subject.codec->failure.empty() ? subject.codec->timer->bytes() : 1024.0;
    return static_cast<std::uint64_t>(std::clamp(window_bytes / std::max(bytes, 1.0), 4.0, messages_most));
  }

  void measure() {
    const auto began = bench_clock::now();
    const auto end = began + options_.time;
    constexpr double warm_up_part = 0.25;
    const auto slices = 2 * (codecs_.size() + links_.size());
    const auto slice = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(options_.time)
        / ((static_cast<double>(options_.rounds) + warm_up_part) * static_cast<double>(slices)));
    make_round(std::chrono::duration_cast<std::chrono::nanoseconds>(slice * warm_up_part), false);
    const auto counted = bench_clock::now();
    for (std::size_t round = 1; round <= options_.rounds; ++round) {
      const auto now = bench_clock::now();
      if (round > 1 && now + (now - counted) / (round - 1) > end + slice)
        break;
      make_round(slice, true);
      rounds_ = round;
    }
  }

  void make_round(std::chrono::nanoseconds slice, bool counts) {
    for (const auto& each : codecs_) {
      if (!each->failure.empty())
        continue;
      const auto encode = each->timer->encode_ns(slice);
      const auto decode = each->timer->decode_ns(slice);
      if (counts) {
        each->encode_ns.push_back(encode);
        each->decode_ns.push_back(decode);
      }
    }
    for (auto& each : links_)
      if (each.is_running())
        take_slice(each, slice, counts);
  }

  void take_slice(link_subject& of, std::chrono::nanoseconds slice, bool counts) {
    const auto streamed = of.by->stream(slice, window_of(of));
    if (!streamed) {
      of.failure = streamed.error();
      return;
    }
    const auto trip = of.by->round_trip_ns(slice);
    if (!trip) {
      of.failure = trip.error();
      return;
    }
    if (!counts)
      return;
    of.last = *streamed;
    of.one_way_ns.push_back(streamed->ns_per_message);
    of.round_trip_ns.push_back(*trip);
  }

  [[nodiscard]] comparison result() const {
    comparison made{.type = options_.name, .samples = samples_.size(), .rounds = rounds_, .is_optimized = optimized};
    for (const auto& each : links_) {
      const auto& codec = *each.codec;
      comparison_row row{.family = codec.family, .compression = codec.how, .over = each.over, .failure = each.failure};
      if (each.over == "inproc" && entry_.is_self_contained())
        row.family = "none";
      else
        row.needs_trust = in_.families.find(codec.family)->needs_trust();
      if (row.is_measured())
        fill(row, each);
      made.rows.push_back(std::move(row));
    }
    return made;
  }

  void fill(comparison_row& row, const link_subject& from) const {
    const auto& codec = *from.codec;
    if (const auto by = from.by->family_of(entry_.alias()); by != row.family) {
      row.failure = fmt::format("the messages were carried by {}", by);
      return;
    }
    if (row.is_encoded()) {
      row.encode_ns = figure::of(codec.encode_ns);
      row.decode_ns = figure::of(codec.decode_ns);
      row.bytes = codec.timer->bytes();
    }
    row.socket_bytes = from.last.socket_bytes;
    row.handle_bytes = from.last.handle_bytes;
    row.one_way_ns = figure::of(from.one_way_ns);
    row.round_trip_ns = figure::of(from.round_trip_ns);
    std::vector<double> rates;
    for (const auto ns : from.one_way_ns)
      rates.push_back(1e9 / ns);
    row.messages_per_second = figure::of(rates);
  }

  const sample_source& samples_;
  const type_entry& entry_;
  const compare_options& options_;
  surroundings in_;
  std::string no_store_; // Why there is none, although it was asked for.
  std::optional<store::object_store> store_;
  std::unique_ptr<side> near_;
  std::vector<std::unique_ptr<codec_subject>> codecs_;
  std::vector<link_subject> links_;
  std::size_t rounds_ = 0;
  bool has_inproc_ = false;
};

} // namespace

std::expected<comparison, node_error> measure(const sample_source& samples, std::type_index type, type_registry& types,
                                              const compare_options& options) {
  family_set own;
  if (options.known_families == nullptr)
    own.add(std::make_unique<caf_family>());
  const auto& families = options.known_families != nullptr ? *options.known_families : own;
  const auto* entry = types.find(type);
  if (auto wrong = wrong_with(options, samples, entry, families); !wrong.empty())
    return std::unexpected(node_error(node_errc::bad_option, std::move(wrong)));
  return measurement{samples, *entry, types, families, options}.make();
}

} // namespace troupe::bench::detail
