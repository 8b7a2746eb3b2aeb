#include "serializers/cases.hpp"

#include "serializers/coders.hpp"

#include <troupe/serializers/array.hpp>
#include <troupe/serializers/serialize.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

namespace bench {

namespace {

using bench_clock = std::chrono::steady_clock;
using done = std::expected<void, failure>;

std::unexpected<failure> failed(std::string why) {
  return std::unexpected{failure{.reason = std::move(why)}};
}

/// The mean in nanoseconds, after a warm-up of a twentieth of the calls.
template <class Call>
std::expected<double, failure> mean_ns(std::uint64_t calls, const char* what, Call call) {
  auto begin = bench_clock::now();
  const auto unmeasured = calls / 20 + 1;
  for (std::uint64_t i = 0; i < unmeasured + calls; ++i) {
    if (i == unmeasured)
      begin = bench_clock::now();
    if (!call())
      return failed(what);
  }
  const auto seconds = std::chrono::duration<double>(bench_clock::now() - begin).count();
  return seconds / static_cast<double>(calls) * 1e9;
}

// --- The struct ------------------------------------------------------------------------------------------------------

std::expected<observations, failure> carry_struct(const serializers_options& told, const std::string& subject) {
  const auto coder = make_coder(subject);
  if (coder == nullptr)
    return std::unexpected{failure{.is_absent = true, .reason = "not built in"}};
  const auto value = a_sample();
  const auto encoding = mean_ns(told.structs, "encoding failed", [&] { return coder->encode(value); });
  if (!encoding)
    return std::unexpected{encoding.error()};
  sample read;
  const auto decoding = mean_ns(told.structs, "decoding failed", [&] { return coder->decode(read); });
  if (!decoding)
    return std::unexpected{decoding.error()};
  if (read != value)
    return failed("what came back is another value");
  return observations{{{"struct of eight fields, encode", "ns"}, *encoding},
                      {{"struct of eight fields, decode", "ns"}, *decoding},
                      {{"struct of eight fields, size", "bytes"}, static_cast<double>(coder->size_bytes())}};
}

// --- Arrays ----------------------------------------------------------------------------------------------------------

quantity array_quantity(const char* what, std::uint64_t bytes) {
  const auto size = bytes == 8'000'000    ? std::string{"8 MB"}
                    : bytes >= (1u << 20) ? fmt::format("{} MiB", bytes >> 20)
                                          : fmt::format("{} KiB", bytes >> 10);
  return {fmt::format("doubles, {} of {}", what, size), "ns"};
}

std::uint64_t repetitions(std::uint64_t bytes) {
  return std::clamp<std::uint64_t>((std::uint64_t{256} << 20) / bytes, 5, 10'000);
}

/// Encoding and viewing copy nothing. Decoding into a vector with enough capacity copies once.
class troupe_arrays {
public:
  troupe_arrays() { encoding_.on_error = troupe::on_error::raise; }

  done measure(std::uint64_t bytes, observations& seen) {
    const auto values = std::vector<double>(bytes / sizeof(double), 1.5);
    const auto array = troupe::array<double>::copy_of(values);
    troupe::payload payload;
    const auto encoding = mean_ns(2'000, "encoding failed", [&] {
      auto made = troupe::serialize(array, encoding_, types_, families_);
      if (made)
        payload = *std::move(made);
      return made.has_value();
    });
    const auto viewing = mean_ns(2'000, "decoding to a view failed", [&] {
      return troupe::deserialize<troupe::array<double>>(payload, decoding_, types_, families_).has_value();
    });
    auto of_vector = troupe::serialize(values, encoding_, types_, families_);
    if (!of_vector)
      return failed("encoding a vector: " + of_vector.error().message());
    std::vector<double> into(values.size());
    const auto* const entry = types_.find<std::vector<double>>();
    const auto copying = mean_ns(repetitions(bytes), "decoding to a vector failed", [&] {
      return troupe::deserialize_entry(*entry, &into, *of_vector, decoding_, types_, families_).has_value();
    });
    if (!encoding || !viewing || !copying || into != values)
      return failed("an array did not come back");
    seen.emplace_back(array_quantity("encode", bytes), *encoding);
    seen.emplace_back(array_quantity("decode to a view", bytes), *viewing);
    seen.emplace_back(array_quantity("decode to a vector", bytes), *copying);
    return {};
  }

private:
  troupe::type_registry types_;
  troupe::family_set families_;
  troupe::serialize_options encoding_;
  troupe::deserialize_options decoding_;
};

std::expected<observations, failure> carry_arrays(const serializers_options& told) {
  observations seen;
  troupe_arrays arrays;
  for (const auto bytes : told.array_bytes)
    if (auto measured = arrays.measure(bytes, seen); !measured)
      return std::unexpected{measured.error()};
  for (const auto* const what : {"encode", "decode to a view"}) {
    const auto value_of = [&](std::uint64_t bytes) {
      return std::ranges::find(seen, array_quantity(what, bytes), &std::pair<quantity, double>::first)->second;
    };
    const auto largest = value_of(told.array_bytes.back()) / value_of(told.array_bytes.front());
    seen.emplace_back(quantity{fmt::format("doubles, {} of the largest / of the smallest", what), "times"}, largest);
  }
  return seen;
}

std::expected<observations, failure> copy_arrays(const serializers_options& told) {
  observations seen;
  for (const auto bytes : told.array_bytes) {
    const auto from = std::vector<double>(bytes / sizeof(double), 1.5);
    std::vector<double> into(from.size());
    const auto copying = mean_ns(repetitions(bytes), "copying", [&] {
      std::memcpy(into.data(), from.data(), bytes);
      asm volatile("" : : "r"(into.data()) : "memory"); // Keeps the compiler from removing the copy.
      return true;
    });
    seen.emplace_back(array_quantity("decode to a vector", bytes), *copying);
  }
  return seen;
}

} // namespace

std::vector<std::string> serializer_subjects() {
  auto all = coder_names();
  all.emplace_back(subject_copying);
  return all;
}

std::expected<observations, failure> run_serializer_cases(const serializers_options& told, const std::string& subject) {
  if (subject == subject_copying)
    return copy_arrays(told);
  auto seen = carry_struct(told, subject);
  if (!seen || subject != "troupe-typed")
    return seen;
  const auto arrays = carry_arrays(told);
  if (!arrays)
    return arrays;
  seen->insert(seen->end(), arrays->begin(), arrays->end());
  return seen;
}

} // namespace bench
