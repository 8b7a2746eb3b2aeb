// Shared by the tests of spilling: a small store with a spill directory, and objects of a tenth of its capacity.
#pragma once

#include "support.hpp"

namespace troupe::store::test {

inline constexpr auto capacity = std::size_t{1} << 20;
inline constexpr auto tenth = capacity / 10 / 64 * 64;

class spilling_test : public store_test {
protected:
  spilling_test() {
    settings_.capacity_bytes = capacity;
    settings_.full_grace = 200ms;
    settings_.spill_directory = std::filesystem::temp_directory_path() / ("troupe-spilling-" + settings_.name);
  }

  ~spilling_test() override { std::filesystem::remove_all(settings_.spill_directory); }

  void TearDown() override {
    EXPECT_EQ(spill_files(), std::vector<std::string>{});
    store_test::TearDown();
  }

  [[nodiscard]] std::vector<std::string> spill_files() const {
    auto names = std::vector<std::string>{};
    auto failure = std::error_code{};
    for (const auto& entry : std::filesystem::directory_iterator(settings_.spill_directory, failure))
      names.push_back(entry.path().filename().string());
    return names;
  }

  /// The content of object number `which` at that size.
  [[nodiscard]] static std::string content(int which, std::size_t size_bytes = tenth) {
    auto text = std::string(size_bytes, '\0');
    auto value = static_cast<unsigned>(which) * 2'654'435'761u + 1;
    for (auto& letter : text) {
      value = value * 1'664'525u + 1'013'904'223u;
      letter = static_cast<char>(value >> 24);
    }
    return text;
  }

  [[nodiscard]] static std::vector<handle> put_many(object_store& store, int count, std::size_t size_bytes = tenth) {
    auto made = std::vector<handle>{};
    for (auto which = 0; which < count; ++which)
      made.push_back(put(store, content(which, size_bytes)));
    return made;
  }

  [[nodiscard]] static object_state state_of(object_store& store, const object_id& id) {
    const auto summary = store.summary();
    const auto found = std::ranges::find(summary->rows, id, &object_row::id);
    return found == summary->rows.end() ? object_state::free : found->state;
  }

  /// Waits until no object is being spilled and at most four fifths of the memory are in use.
  [[nodiscard]] static bool is_calm(object_store& store) {
    return eventually([&] {
      const auto summary = store.summary();
      return std::ranges::find(summary->rows, object_state::spilling, &object_row::state) == summary->rows.end()
             && summary->bytes_in_use <= capacity * 8 / 10;
    });
  }
};

} // namespace troupe::store::test
