// The disk that is spilled to is broken, full or gone, and works again: nothing is lost but what lay there.
#include "spilling.hpp"

#include <fstream>

namespace troupe::store::test {

namespace {

class disk_test : public spilling_test {
protected:
  /// A store in which object 0 lies on disk, in a file that no other shares.
  void spill_one() {
    store_.emplace(open());
    first_ = put(*store_, content(0));
    others_ = put_many(*store_, 9);
    ASSERT_TRUE(eventually([&] { return state_of(*store_, first_.id()) == object_state::spilled; }));
  }

  void TearDown() override {
    first_ = {};
    others_.clear();
    store_.reset();
    spilling_test::TearDown();
  }

  [[nodiscard]] std::filesystem::path only_file() const {
    const auto names = spill_files();
    EXPECT_GE(names.size(), 1u);
    return settings_.spill_directory / *std::ranges::min_element(names);
  }

  std::optional<object_store> store_;
  handle first_;
  std::vector<handle> others_;
};

TEST_F(disk_test, a_changed_byte_is_an_error_for_that_object_alone) {
  spill_one();
  {
    auto file = std::fstream{only_file(), std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(100);
    file.put('x');
    file.seekp(101);
    file.put('y');
  }
  const auto damaged = first_.pin();
  EXPECT_EQ(code_of(damaged), store_errc::damaged);
  EXPECT_NE(message_of(damaged).find("the checksum of "), std::string::npos) << message_of(damaged);
  EXPECT_EQ(read(others_.back()), content(8));
  EXPECT_EQ(code_of(first_.pin()), store_errc::damaged);
  EXPECT_TRUE(store_->verify()) << message_of(store_->verify());
}

TEST_F(disk_test, a_file_that_is_gone_or_cut_short_is_an_error_for_its_objects_alone) {
  spill_one();
  const auto file = only_file();
  std::filesystem::resize_file(file, 10);
  EXPECT_NE(message_of(first_.pin()).find("is cut short"), std::string::npos) << message_of(first_.pin());
  std::filesystem::remove(file);
  EXPECT_NE(message_of(first_.pin()).find("is gone"), std::string::npos) << message_of(first_.pin());
  EXPECT_EQ(read(others_.back()), content(8));
  EXPECT_TRUE(store_->verify()) << message_of(store_->verify());
}

TEST_F(disk_test, a_disk_that_cannot_be_written_loses_nothing_and_is_named) {
  store_.emplace(open());
  std::filesystem::remove_all(settings_.spill_directory); // As a disk that was taken out.
  others_ = put_many(*store_, 10);
  const auto refused = store_->put(bytes_of(content(10)));
  EXPECT_EQ(code_of(refused), store_errc::full);
  EXPECT_NE(message_of(refused).find(settings_.spill_directory.string()), std::string::npos) << message_of(refused);
  for (auto which = 0; which < 10; ++which)
    EXPECT_EQ(read(others_[static_cast<std::size_t>(which)]), content(which));
  std::filesystem::create_directories(settings_.spill_directory);
  EXPECT_TRUE(eventually([&] { return store_->put(bytes_of(content(10))).has_value(); }));
}

} // namespace

} // namespace troupe::store::test
