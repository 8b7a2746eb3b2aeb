// Values in pieces: the text form of each piece, the answer to malformed text, and skipping values.
#include <cmath>

#include <gmock/gmock.h>

#include <troupe/serializers/extend/value_pieces.hpp>
#include <troupe/serializers/internal/visit/visit_read.hpp>
#include <troupe/serializers/internal/visit/visit_write.hpp>

namespace {

using namespace troupe;
using testing::HasSubstr;

/// Writes each piece as its kind and its content, such as "3:roof;".
class plain_writer final : public piece_writer {
public:
  using piece_writer::piece_writer;

private:
  bool put(const value_piece& next) override {
    return append(std::to_string(static_cast<int>(next.kind)) + ':' + next.content() + ';');
  }
};

class plain_reader final : public piece_reader {
public:
  using piece_reader::piece_reader;

private:
  std::optional<value_piece> take() override {
    const auto kind = number::parse_as<std::uint8_t>(take_until(':').value_or(""));
    const auto content = take_until(';');
    return kind && content ? value_piece::of(piece_kind{*kind}, *content) : std::nullopt;
  }
};

std::string written(const auto& value) {
  const context ctx;
  encode_output output;
  plain_writer writer(ctx, output);
  EXPECT_TRUE(detail::visit_write(writer, value)) << writer.reason();
  const auto bytes = output.body().bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class reading_pieces : public testing::Test {
protected:
  plain_reader& from(std::string text) {
    text_ = std::move(text);
    reader_.emplace(ctx_, std::as_bytes(std::span(text_)), text_.size());
    return *reader_;
  }
  std::string failure() { return reader_->reason(); }

  context ctx_;

private:
  std::string text_;
  std::optional<plain_reader> reader_;
};

struct item {
  std::string name;
  std::optional<double> weight;
  std::vector<bool> marks;
};
TROUPE_DESCRIBE(item, name, weight, marks)

struct name_only {
  std::string name;
};
TROUPE_DESCRIBE(name_only, name)

TEST(value_pieces, are_as_many_as_a_value_has_parts) {
  EXPECT_EQ(written(item{"cup", 0.25, {true, false}}), "6:3;3:name;3:cup;3:weight;2:0.25;3:marks;5:2;1:1;1:0;7:;7:;");
  EXPECT_EQ(written(std::optional<std::optional<int>>(std::optional<int>())), "8:;0:;");
  const auto twice = std::make_shared<int>(5);
  EXPECT_EQ(written(std::vector{twice, twice}), "5:2;9:0;2:5;10:0;7:;");
}

TEST(value_pieces, come_back_from_their_content) {
  for (const auto value : {0.0, -0.0, 21.5, 1e300, 5e-324, -1.0, HUGE_VAL, std::ldexp(1.0, 70)}) {
    const auto back = number::parse_as<double>(number::of(value).text());
    ASSERT_TRUE(back.has_value()) << value;
    EXPECT_EQ(*back, value);
    EXPECT_EQ(std::signbit(*back), std::signbit(value));
  }
  EXPECT_TRUE(std::isnan(*number::parse_as<double>(number::of(std::nan("")).text())));
  EXPECT_EQ(number::parse_as<std::int64_t>("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(number::parse_as<std::uint64_t>("18446744073709551615"), UINT64_MAX);
}

TEST(value_pieces, are_not_made_of_nonsense) {
  using enum piece_kind;
  for (const auto* text : {"", " 1", "1 ", "+1", "0x1", "one", "1,5", "--1"})
    EXPECT_FALSE(value_piece::of(number, text).has_value()) << text;
  EXPECT_FALSE(value_piece::of(boolean, "true").has_value());
  EXPECT_FALSE(value_piece::of(list, "-1").has_value());
  EXPECT_FALSE(value_piece::of(null, "0").has_value());
  EXPECT_FALSE(value_piece::of(end, "0").has_value());
  EXPECT_FALSE(value_piece::of(piece_kind{11}, "").has_value());
  EXPECT_FALSE(value_piece::of(piece_kind{255}, "").has_value());
}

TEST_F(reading_pieces, says_where_nonsense_stands) {
  item read;
  EXPECT_FALSE(detail::visit_read(from("6:3;3:name;3:cup;nonsense"), read));
  EXPECT_EQ(failure(), "no piece stands at byte 17");
}

TEST_F(reading_pieces, says_that_the_input_ends_too_early) {
  item read;
  EXPECT_FALSE(detail::visit_read(from("6:3;3:name;3:cup;"), read));
  EXPECT_EQ(failure(), "the input ends too early");
}

TEST_F(reading_pieces, says_what_stands_there_instead) {
  item read;
  EXPECT_FALSE(detail::visit_read(from("6:1;3:name;2:5;7:;"), read));
  EXPECT_EQ(failure(), "expected a text, found a number");
}

TEST_F(reading_pieces, refuses_what_is_left_over) {
  for (const auto* behind : {"0:;", "7:;", "x"}) {
    std::string read;
    EXPECT_TRUE(detail::visit_read(from(std::string("3:cup;") + behind), read));
    EXPECT_FALSE(from(std::string("3:cup;") + behind).finish());
  }
}

TEST_F(reading_pieces, passes_over_values_of_every_kind) {
  const std::vector<std::string> values{"0:;",
                                        "1:1;",
                                        "2:-5;",
                                        "3:cup;",
                                        "4:cup;",
                                        "5:2;5:0;7:;2:1;7:;",
                                        "6:1;2:1;0:;7:;",
                                        "8:;0:;",
                                        "9:0;2:5;",
                                        "6:1;5:0;7:;6:0;7:;7:;"};
  for (const auto& each : values) {
    name_only read;
    EXPECT_TRUE(detail::visit_read(from("6:2;3:other;" + each + "3:name;3:cup;7:;"), read))
        << each << ": " << failure();
    EXPECT_EQ(read.name, "cup") << each;
  }
}

TEST_F(reading_pieces, passes_over_a_value_without_its_end_no_further_than_the_input) {
  for (const auto* value : {"5:1;2:1;", "6:1;2:1;", "8:;", "9:0;", "6:1;2:1;7:;7:;"}) {
    name_only read;
    EXPECT_FALSE(detail::visit_read(from(std::string("6:2;3:other;") + value), read)) << value;
  }
}

TEST_F(reading_pieces, passes_over_nothing_deeper_than_its_limit) {
  std::string deep;
  for (int i = 0; i < 1'000'000; ++i)
    deep += "5:1;";
  name_only read;
  EXPECT_FALSE(detail::visit_read(from("6:2;3:other;" + deep), read));
  EXPECT_THAT(failure(), HasSubstr("(limits::depth)"));
}

TEST_F(reading_pieces, believes_no_count_beyond_what_is_left) {
  std::vector<int> read;
  EXPECT_TRUE(detail::visit_read(from("5:1000000000000;2:1;7:;"), read)) << failure();
  EXPECT_EQ(read, std::vector{1});
}

} // namespace
