#include "compression/data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <utility>

namespace bench {

namespace {

using source = std::mt19937_64;

/// As many texts from `next` as fit, the last one cut.
std::vector<std::byte> filled(std::size_t size_bytes, const std::function<std::string()>& next) {
  std::vector<std::byte> made;
  made.reserve(size_bytes + 1024);
  while (made.size() < size_bytes) {
    const auto text = next();
    const auto bytes = std::as_bytes(std::span{text});
    made.insert(made.end(), bytes.begin(), bytes.end());
  }
  made.resize(size_bytes);
  return made;
}

std::vector<std::byte> of_doubles(std::size_t size_bytes, const std::function<double(std::size_t)>& value_at) {
  std::vector<std::byte> made(size_bytes);
  for (std::size_t i = 0; (i + 1) * sizeof(double) <= size_bytes; ++i) {
    const auto value = value_at(i);
    std::memcpy(made.data() + i * sizeof(double), &value, sizeof(double));
  }
  return made;
}

/// Words of a language of 2,000 words, in which the first ones are the most frequent.
class language {
public:
  explicit language(source& random) : random_(random) {
    for (int i = 0; i < 2'000; ++i) {
      std::string word(std::uniform_int_distribution<std::size_t>{2, 10}(random), ' ');
      std::ranges::generate(word, [&] { return static_cast<char>('a' + random() % 26); });
      words_.push_back(std::move(word));
    }
  }
  const std::string& word() {
    const auto rank = std::pow(2'000.0, std::uniform_real_distribution<>{0, 1}(random_)) - 1;
    return words_[static_cast<std::size_t>(rank)];
  }

private:
  source& random_;
  std::vector<std::string> words_;
};

std::vector<std::byte> text(std::size_t size_bytes, source random) {
  language spoken(random);
  return filled(size_bytes, [&] { return spoken.word() + (random() % 12 == 0 ? ".\n" : " "); });
}

std::vector<std::byte> json(std::size_t size_bytes, source random) {
  language spoken(random);
  return filled(size_bytes, [&, id = 0]() mutable {
    return fmt::format(R"({{"id": {}, "sensor": "{}", "celsius": {:.2f}, "ok": {}}})"
                       ",\n",
                       ++id, spoken.word(), std::uniform_real_distribution<>{-20, 40}(random),
                       random() % 20 == 0 ? "false" : "true");
  });
}

std::vector<std::byte> noise(std::size_t size_bytes, source random) {
  return of_doubles(size_bytes, [&](std::size_t) { return std::bit_cast<double>(random()); });
}

std::vector<std::byte> random_doubles(std::size_t size_bytes, source random) {
  return of_doubles(size_bytes, [&](std::size_t) { return std::uniform_real_distribution<>{0, 1}(random); });
}

std::vector<std::byte> smooth_doubles(std::size_t size_bytes, source) {
  return of_doubles(size_bytes, [](std::size_t i) { return std::sin(static_cast<double>(i) / 1'000); });
}

/// As an instrument reports them, in hundredths.
std::vector<std::byte> measured_doubles(std::size_t size_bytes, source random) {
  return of_doubles(size_bytes, [&, celsius = 2'000L](std::size_t) mutable {
    celsius += static_cast<long>(random() % 5) - 2;
    return static_cast<double>(celsius) / 100;
  });
}

std::vector<std::byte> small_integers(std::size_t size_bytes, source random) {
  std::vector<std::byte> made(size_bytes);
  for (std::size_t i = 0; i < size_bytes; i += sizeof(std::int32_t))
    made[i] = static_cast<std::byte>(random() % 100);
  return made;
}

std::vector<std::byte> zeros(std::size_t size_bytes, source) {
  return std::vector<std::byte>(size_bytes);
}

using maker = std::vector<std::byte> (*)(std::size_t, source);

const std::vector<std::pair<std::string, maker>> all_kinds{
    {"zeros", zeros},
    {"json", json},
    {"text", text},
    {"small-integers", small_integers},
    {"measured-doubles", measured_doubles},
    {"smooth-doubles", smooth_doubles},
    {"random-doubles", random_doubles},
    {"noise", noise},
};

} // namespace

const std::vector<std::string>& data_kinds() {
  static const auto names = [] {
    std::vector<std::string> all;
    for (const auto& [name, make] : all_kinds)
      all.push_back(name);
    return all;
  }();
  return names;
}

std::vector<std::byte> data_of(const std::string& kind, std::size_t size_bytes) {
  constexpr std::uint64_t seed = 42;
  const auto found = std::ranges::find(all_kinds, kind, &std::pair<std::string, maker>::first);
  return found->second(size_bytes, source{seed});
}

} // namespace bench
