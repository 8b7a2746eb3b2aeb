// A reference that is saved outside of a message: refused by default, allowed by a guard, visible in the memory
// summary, read back, and invalid once the node has ended. README.md shows the output.
#include <filesystem>
#include <iostream>
#include <numeric>
#include <optional>
#include <stdexcept>

#include <unistd.h>

#include <troupe/serializers/serialize.hpp>
#include <troupe/store/object_store.hpp>
#include <troupe/troupe.hpp>

using doubles = troupe::array<double>;
using doubles_ref = troupe::object_ref<doubles>;

void show_memory(const troupe::node& node) {
  const auto summary = troupe::value_or_throw(node.memory_summary());
  for (const auto& object : summary.objects)
    for (const auto& holder : object.holders)
      std::cout << "  " << object.size_bytes << " bytes, kept by: " << holder.count << ' '
                << troupe::to_string(holder.reason) << ' ' << std::filesystem::path(holder.where).filename().string()
                << '\n';
  for (const auto& hint : troupe::leak_hints(summary))
    std::cout << "  hint: " << hint.text << '\n';
}

int main() try {
  troupe::type_registry types;
  types.add<doubles_ref>("out_of_band.doubles");
  troupe::family_set families;
  troupe::system_config config;
  caf::actor_system system{config};
  const troupe::store::options shared{.name = "out_of_band-" + std::to_string(getpid())};
  // Stands for another process on the host, which keeps the store open when the node ends.
  auto other = troupe::value_or_throw(troupe::store::object_store::open(shared));
  std::optional<troupe::node> node =
      troupe::value_or_throw(troupe::node::open(system, types, families, {.store = shared}));

  auto ref = troupe::value_or_throw(node->put(doubles(std::vector<double>(100'000, 0.5))));
  const troupe::serialize_options raising{.on_error = troupe::on_error::raise};
  const auto refused = troupe::serialize(ref, raising, types, families);
  std::cout << "outside of a message: " << (refused ? "allowed" : refused.error().message()) << '\n';

  troupe::payload saved; // Could be written to a file, for example.
  {
    troupe::allow_out_of_band_handles guard{*node};
    saved = troupe::value_or_throw(troupe::serialize(ref, raising, types, families));
  }
  std::cout << "with a guard: " << saved.frames.size() << " frames; with the last reference gone:\n";
  ref = {};
  show_memory(*node);

  const auto read = [&] {
    return troupe::value_or_throw(troupe::deserialize<doubles_ref>(saved, {}, types, families));
  };
  {
    const auto values = troupe::value_or_throw(read().get());
    std::cout << "read back, the sum is " << std::accumulate(values.begin(), values.end(), 0.0) << '\n';
  }
  node.reset();
  std::cout << "after the node's end: " << troupe::value_or_throw(other.summary()).objects << " objects\n";
  node = troupe::value_or_throw(troupe::node::open(system, types, families, {.store = shared}));
  if (const auto gone = read().get(); !gone)
    std::cout << troupe::to_string(gone.error().code()) << ": " << gone.error().message() << '\n';
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
