// Families from shared libraries: libraries that load, and each reason for a failure. The conformance tests check that
// a loaded family carries values like a compiled-in one: their row "lines" is a loaded family.
#include <filesystem>

#include <gmock/gmock.h>

#include <troupe/base/version.hpp>
#include <troupe/serializers/serialize.hpp>

namespace {

using namespace troupe;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class loading : public testing::Test {
protected:
  static std::filesystem::path library(const std::string& name) {
    return std::filesystem::path(TROUPE_LIBRARY_FOLDER) / (name + ".so");
  }

  /// Expects loading to fail and the set to stay unchanged. Returns the error.
  serialize_error refused(const std::filesystem::path& file) {
    const auto before = families.names();
    const auto done = families.load(file);
    EXPECT_FALSE(done.has_value());
    EXPECT_EQ(families.names(), before);
    return done ? serialize_error(serialize_errc::none, "") : done.error();
  }

  std::expected<payload, serialize_error> encoded(const std::string& family) {
    return serialize(std::string("roof"), {.serializers = {family}, .on_error = on_error::raise}, types, families);
  }

  type_registry types;
  family_set families;
};

TEST_F(loading, adds_all_of_a_library) {
  ASSERT_TRUE(families.load(library("keeping")).has_value());
  EXPECT_THAT(families.names(), ElementsAre("typed", "msgpack", "json", "keeping", "refusing"));
}

TEST_F(loading, frames_of_a_loaded_family_outlive_the_set) {
  ASSERT_TRUE(families.load(library("keeping")).has_value());
  auto made = encoded("keeping");
  ASSERT_TRUE(made.has_value()) << made.error().message();
  families = family_set();
  ASSERT_EQ(made->frames.size(), 2U);
  const auto bytes = made->frames[1].bytes();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), "made by the library");
  made->frames.clear(); // The destructor of the owner is in the library.
}

TEST_F(loading, what_a_loaded_family_throws_is_an_error) {
  ASSERT_TRUE(families.load(library("keeping")).has_value());
  const auto made = encoded("refusing");
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code(), serialize_errc::codec_failed);
  EXPECT_THAT(made.error().message(), HasSubstr("not today"));
}

TEST_F(loading, several_sets_may_load_one_library) {
  family_set other;
  EXPECT_TRUE(families.load(library("keeping")).has_value());
  EXPECT_TRUE(other.load(library("keeping")).has_value());
}

TEST_F(loading, the_same_twice_is_a_clash) {
  ASSERT_TRUE(families.load(library("keeping")).has_value());
  const auto error = refused(library("keeping"));
  EXPECT_EQ(error.code(), serialize_errc::clash);
  EXPECT_THAT(error.message(), HasSubstr("two families are named 'keeping'; load or add each once"));
}

TEST_F(loading, a_library_of_which_one_name_is_taken_adds_none) {
  const auto error = refused(library("clashing"));
  EXPECT_EQ(error.code(), serialize_errc::clash);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("clashing.so"), HasSubstr("two families are named 'json'")));
}

TEST_F(loading, a_library_that_throws_adds_none) {
  const auto error = refused(library("throwing"));
  EXPECT_EQ(error.code(), serialize_errc::codec_failed);
  EXPECT_THAT(error.message(), HasSubstr("its function threw: out of order"));
}

TEST_F(loading, a_library_that_adds_nothing_is_refused) {
  const auto error = refused(library("idle"));
  EXPECT_EQ(error.code(), serialize_errc::not_loaded);
  EXPECT_THAT(error.message(), HasSubstr("its function adds no family"));
}

TEST_F(loading, a_library_of_another_version_is_refused_before_it_runs) {
  const auto error = refused(library("foreign"));
  EXPECT_EQ(error.code(), serialize_errc::not_loaded);
  EXPECT_THAT(error.message(),
              AllOf(HasSubstr("it was built against Troupe 9.8.7 (layout 6-5), and this program against "
                              "Troupe " TROUPE_VERSION " (layout "),
                    HasSubstr("rebuild it against this program's")));
}

TEST_F(loading, a_library_with_a_symbol_that_nobody_has_is_refused_by_that_name) {
  const auto error = refused(library("unresolved"));
  EXPECT_EQ(error.code(), serialize_errc::not_loaded);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("name_that_nobody_knows"), HasSubstr("link the library with all that")));
}

TEST_F(loading, a_library_that_is_none_of_families_is_refused) {
  const auto error = refused(library("silent"));
  EXPECT_EQ(error.code(), serialize_errc::not_loaded);
  EXPECT_THAT(error.message(), HasSubstr("put TROUPE_FAMILIES(function) into one of its sources"));
}

TEST_F(loading, a_file_that_is_no_library_is_refused) {
  const auto error = refused(__FILE__);
  EXPECT_EQ(error.code(), serialize_errc::not_loaded);
  EXPECT_THAT(error.message(), HasSubstr("family_library.test.cpp: "));
}

TEST_F(loading, a_file_that_is_not_there_is_refused) {
  const auto error = refused("no/such/library.so");
  EXPECT_EQ(error.code(), serialize_errc::not_loaded);
  EXPECT_THAT(error.message(), HasSubstr("/no/such/library.so: there is no such file"));
}

} // namespace
