// Filters a picture with several processes, which read it in place from shared memory. README.md says what to type.
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <optional>
#include <stdexcept>

#include <troupe/troupe.hpp>

#include "coordinator.hpp"
#include "png_file.hpp"
#include "worker.hpp"

namespace {

using namespace images;

constexpr std::size_t workers_max = 64;

std::optional<std::size_t> workers_of(const std::string& text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto is_good = error == std::errc{} && end == text.data() + text.size() && number >= 1 && number <= workers_max;
  return is_good ? std::optional{number} : std::nullopt;
}

/// Rings on a gradient of colors.
void write_test_picture(const std::string& file) {
  constexpr image_size size{.height = 800, .width = 1200};
  std::vector<std::uint8_t> values;
  for (std::size_t row = 0; row < size.height; ++row)
    for (std::size_t column = 0; column < size.width; ++column) {
      const auto distance = std::hypot(static_cast<double>(row) - 400, static_cast<double>(column) - 500);
      values.push_back(static_cast<std::uint8_t>(128 + 100 * std::sin(distance / 20)));
      values.push_back(static_cast<std::uint8_t>(row * 255 / size.height));
      values.push_back(static_cast<std::uint8_t>(column * 255 / size.width));
    }
  write_png(file, size, 3, values);
}

/// Three bars for each value, one per channel. The most frequent value's bar is 100 pixels high.
void write_histogram(const std::string& file, std::span<const std::uint64_t> counts) {
  constexpr std::size_t height = 100, width = 256;
  const auto most = std::ranges::max(counts);
  std::vector<std::uint8_t> values(height * width * 3);
  for (std::size_t channel = 0; channel < 3; ++channel)
    for (std::size_t value = 0; value < width; ++value)
      for (std::size_t row = 0; row < counts[channel * width + value] * height / most; ++row)
        values[((height - 1 - row) * width + value) * 3 + channel] = 255;
  write_png(file, {.height = height, .width = width}, 3, values);
}

/// Decodes the picture from the file directly into the store.
pixels_ref load(troupe::node& node, const std::string& file) {
  std::optional<troupe::array_builder<std::uint8_t>> room;
  read_png(file, [&](image_size size) {
    room.emplace(troupe::value_or_throw(node.make_array<std::uint8_t>({size.height, size.width, 3})));
    return room->values();
  });
  return troupe::value_or_throw(std::move(*room).seal());
}

void report_failed_start(const troupe::worker_event& event) {
  if (event.what == troupe::worker_event::kind::start_failed)
    std::cerr << event.reason.message() + '\n';
}

void coordinate(const std::filesystem::path& folder, std::string file, std::size_t workers) {
  std::filesystem::create_directories(folder);
  if (file.empty()) {
    file = folder / "picture.png";
    write_test_picture(file);
  }
  troupe::type_registry types;
  add_message_types(types);
  troupe::family_set families;
  troupe::system_config config;
  caf::actor_system system{config};
  auto node = troupe::value_or_throw(troupe::node::open(system, types, families, {.name = "coordinator"}));
  const auto picture = load(node, file);
  const auto view = troupe::value_or_throw(picture.get());

  const auto begin = std::chrono::steady_clock::now();
  results found;
  const auto coordinating = system.spawn<coordinator>(picture, view, found);
  troupe::value_or_throw(node.publish("coordinator", coordinating));
  std::vector<troupe::worker_process> processes; // They begin together, because launch() does not wait.
  for (std::size_t i = 1; i <= workers; ++i)
    processes.push_back(troupe::value_or_throw(
        troupe::worker_process::launch(node, {.name = "worker " + std::to_string(i)}, report_failed_start)));
  caf::scoped_actor self{system};
  self->wait_for(coordinating);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  if (!found.failure.empty())
    throw std::runtime_error(found.failure);

  const image_size size{.height = view.shape()[0], .width = view.shape()[1]};
  write_png(folder / "blurred.png", size, 3, found.blurred);
  write_png(folder / "edges.png", size, 1, found.edges);
  write_histogram(folder / "histogram.png", found.histogram);
  const auto links = node.stats().links;
  std::cout << "picture: " << size.width << " x " << size.height << ", " << view.size() << " bytes, " << found.tiles
            << " tiles, " << found.tiles_repeated << " of them given to another worker again\n"
            << "read in place: " << found.bytes_read << " bytes; written in place: " << found.bytes_written
            << " bytes\n"
            << "through sockets: " << links.socket_bytes_sent << " bytes to workers, " << links.socket_bytes_received
            << " from them\n"
            << "time: " << time.count() << " s\n";
}

} // namespace

int main(int argument_count, char** arguments) try {
  if (troupe::is_worker())
    return troupe::worker_main(argument_count, arguments, set_up_worker);
  const std::vector<std::string> words(arguments + 1, arguments + argument_count);
  if (words.empty() || words.size() > 3) {
    std::cerr << "images FOLDER [WORKERS [PICTURE.png]]\n";
    return 2;
  }
  const auto workers = words.size() > 1 ? workers_of(words[1]) : std::optional<std::size_t>{2};
  if (!workers) {
    std::cerr << "images: WORKERS is a number from 1 to " << workers_max << ", not \"" << words[1] << "\"\n";
    return 2;
  }
  coordinate(words[0], words.size() > 2 ? words[2] : "", *workers);
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
