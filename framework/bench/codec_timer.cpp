#include <troupe/framework/bench/codec_timer.hpp>

#include <span>
#include <utility>

namespace troupe::bench::detail {

namespace {

using bench_clock = std::chrono::steady_clock;

/// Owns nothing: the samples outlive the measurement. With it, arrays leave without a copy, as over a link.
class samples_owner final : public frame_owner {};

} // namespace

codec_timer::codec_timer(const sample_source& samples, const type_entry& entry, const type_registry& types,
                         const family& by, compression how, const limits& bounds)
    : samples_(samples), entry_(entry), by_(&by), target_(entry.life().allocate(), entry.life().release) {
  context_.compression = how;
  context_.limits = bounds;
  context_.types = &types;
  context_.families = std::span(&by_, 1);
  context_.value_owner = std::make_shared<samples_owner>();
}

std::expected<void, serialize_error> codec_timer::encode(std::size_t number) {
  const auto by = encode_value(entry_, samples_.value(number), context_.families, context_, output_);
  return by ? std::expected<void, serialize_error>() : std::unexpected(by.error());
}

std::expected<void, serialize_error> codec_timer::decode(std::size_t number) {
  const auto& life = entry_.life();
  if (life.construct != nullptr)
    life.construct(target_.get());
  auto done = decode_value(entry_, target_.get(), *by_, headers_[number], encoded_[number].frames, context_);
  if (done || life.construct != nullptr) // Otherwise decoding has constructed nothing.
    life.destroy(target_.get());
  return done;
}

std::expected<void, std::string> codec_timer::prepare() {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    if (const auto done = encode(i); !done)
      return std::unexpected(done.error().message());
    auto& made = encoded_.emplace_back(header_of(*by_, entry_, output_), std::vector<frame>{});
    made.frames.push_back(frame::copy_of(output_.body().bytes()));
    made.frames.insert(made.frames.end(), output_.frames().begin(), output_.frames().end());
    for (const auto& each : made.frames)
      sum += each.size_bytes();
    const auto header = parse_header(made.header.bytes(), context_.limits);
    if (!header)
      return std::unexpected(header.error().message());
    headers_.push_back(*header);
    if (const auto done = decode(i); !done)
      return std::unexpected("cannot read what it has written: " + done.error().message());
  }
  bytes_ = static_cast<double>(sum) / static_cast<double>(samples_.size());
  return {};
}

template <class Step>
double codec_timer::time_of(std::chrono::nanoseconds time, std::size_t& next, const Step& step) const {
  constexpr std::chrono::microseconds worth_a_look{20}; // Reading the clock takes some 30 ns.
  auto began = bench_clock::now();
  auto now = began;
  std::size_t count = 0;
  const auto take = [&](std::size_t steps) {
    for (std::size_t i = 0; i < steps; ++i) {
      static_cast<void>(step(next));
      next = (next + 1) % samples_.size();
    }
    count += steps;
    return std::exchange(now, bench_clock::now());
  };
  const auto mean = [&] {
    return std::chrono::duration<double, std::nano>(now - began).count() / static_cast<double>(count);
  };
  // One turn through the samples. If it takes long, it is the measurement.
  while (count < samples_.size() && now - began < slice_most(time))
    take(1);
  if (now - began >= time / 2)
    return mean();
  began = now;
  count = 0;
  for (std::size_t turns = 1; now - began < time;)
    if (const auto before = take(turns * samples_.size()); now - before < worth_a_look)
      turns *= 2;
  return mean();
}

double codec_timer::encode_ns(std::chrono::nanoseconds time) {
  return time_of(time, next_encoded_, [this](std::size_t number) { return encode(number); });
}

double codec_timer::decode_ns(std::chrono::nanoseconds time) {
  return time_of(time, next_decoded_, [this](std::size_t number) { return decode(number); });
}

} // namespace troupe::bench::detail
