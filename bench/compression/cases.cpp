#include "compression/cases.hpp"

#include "compression/data.hpp"

#include <troupe/serializers/serialize.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>

namespace bench {

namespace {

using bench_clock = std::chrono::steady_clock;

/// The mean time of a call in microseconds.
template <class Call>
double mean_us(int calls, Call call) {
  const auto begin = bench_clock::now();
  for (int i = 0; i < calls; ++i)
    call();
  return std::chrono::duration<double, std::micro>(bench_clock::now() - begin).count() / calls;
}

double megabytes(std::size_t bytes) {
  return static_cast<double>(bytes) / 1e6;
}

class carrier {
public:
  explicit carrier(troupe::compression how) {
    encoding_.on_error = troupe::on_error::raise;
    encoding_.context.compression = how;
  }

  std::expected<void, failure> carry(const std::string& kind, const compression_options& told, observations& seen) {
    const auto value = troupe::frame::adopt(data_of(kind, told.frame_bytes));
    const auto size = value.size_bytes();
    std::expected<troupe::payload, troupe::serialize_error> sent;
    const auto encoding =
        mean_us(told.repetitions, [&] { sent = troupe::serialize(value, encoding_, types_, families_); });
    if (!sent)
      return std::unexpected{failure{.reason = kind + ": " + sent.error().message()}};
    std::expected<troupe::frame, troupe::serialize_error> back;
    const auto decoding =
        mean_us(told.repetitions, [&] { back = troupe::deserialize<troupe::frame>(*sent, {}, types_, families_); });
    if (!back || !std::ranges::equal(back->bytes(), value.bytes()))
      return std::unexpected{failure{.reason = kind + " did not come back"}};
    const auto sent_bytes = sent->size_bytes();
    seen.push_back({{kind + ", encode", "us/MB"}, encoding / megabytes(size)});
    seen.push_back({{kind + ", decode", "us/MB"}, decoding / megabytes(size)});
    seen.push_back({{kind + ", left", "of 1"}, static_cast<double>(sent_bytes) / static_cast<double>(size)});
    // On a slower network, sending the saved bytes takes longer than the two ends take for compression.
    if (sent_bytes < size)
      seen.push_back({{kind + ", pays below", "MB/s"}, megabytes(size - sent_bytes) / (encoding + decoding) * 1e6});
    return {};
  }

private:
  troupe::type_registry types_;
  troupe::family_set families_;
  troupe::serialize_options encoding_;
};

observations copy(const compression_options& told) {
  observations seen;
  for (const auto& kind : told.kinds) {
    const auto from = data_of(kind, told.frame_bytes);
    std::vector<std::byte> into(from.size());
    const auto copying = mean_us(told.repetitions, [&] {
      std::memcpy(into.data(), from.data(), from.size());
      asm volatile("" : : "r"(into.data()) : "memory"); // Keeps the compiler from removing the copy.
    });
    for (const auto* const what : {", encode", ", decode"})
      seen.push_back({{kind + what, "us/MB"}, copying / megabytes(from.size())});
  }
  return seen;
}

constexpr troupe::compression modes[] = {troupe::compression::none, troupe::compression::lz4, troupe::compression::zstd,
                                         troupe::compression::automatic};

} // namespace

std::vector<std::string> compression_subjects() {
  std::vector<std::string> all;
  for (const auto each : modes)
    all.emplace_back(to_string(each));
  all.emplace_back(subject_copying);
  return all;
}

std::expected<observations, failure> run_compression_cases(const compression_options& told,
                                                           const std::string& subject) {
  if (subject == subject_copying)
    return copy(told);
  carrier through(*troupe::compression_named(subject));
  observations seen;
  for (const auto& kind : told.kinds)
    if (auto carried = through.carry(kind, told, seen); !carried)
      return std::unexpected{carried.error()};
  return seen;
}

} // namespace bench
