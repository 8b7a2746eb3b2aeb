// Goal: each of the `limits` stops every family. The error names the limit and, if there is one, the field.
#include "every_family.hpp"

namespace {

using namespace conformance;

/// Takes much more memory than bytes, even with absent parts.
struct roomy {
  std::vector<std::optional<std::array<std::int64_t, 64>>> parts;
};
TROUPE_DESCRIBE(roomy, parts)

/// Takes memory as soon as it is constructed.
struct filled {
  std::string text = std::string(100'000, 'x');
  int kept = 0;
};
TROUPE_DESCRIBE(filled, text, kept)

struct many_filled {
  std::vector<filled> parts;
  std::map<int, filled> by_number;
  std::shared_ptr<filled> shared;
};
TROUPE_DESCRIBE(many_filled, parts, by_number, shared)

struct pictures {
  int kept = 0;
  array<double> grid;
};
TROUPE_DESCRIBE(pictures, kept, grid)

struct link_of_chain {
  int value = 0;
  std::shared_ptr<link_of_chain> next;
};
TROUPE_DESCRIBE(link_of_chain, value, next)

struct chain_in_list {
  std::vector<std::shared_ptr<link_of_chain>> all;
};
TROUPE_DESCRIBE(chain_in_list, all)

class limits_of : public every_family {
protected:
  limits_of() {
    rich::add_to(types);
    add_cereal<wanted>(types, "wanted");
    add_cereal<roomy>(types, "roomy");
    add_cereal<pictures>(types, "pictures");
    add_cereal<many_filled>(types, "many_filled");
  }

  // Returns the place that an error in the n-th element of wanted::names has.
  static std::string name_at(std::size_t index) {
    return "wanted.names" + (GetParam().names_elements ? "[" + std::to_string(index) + "]" : "");
  }

  template <class T>
  void expect_exceeded(const payload& from, const std::string& place, const std::string& limit) {
    auto back = decoded<T>(from);
    ASSERT_FALSE(back.has_value());
    EXPECT_EQ(back.error().code(), serialize_errc::limit_exceeded);
    EXPECT_TRUE(back.error().message().starts_with(place)) << back.error().message();
    EXPECT_NE(back.error().message().find(limit), std::string::npos) << back.error().message();
  }
};

INSTANTIATE_TEST_SUITE_P(, limits_of, testing::ValuesIn(all_families), name_of_row);

TEST_P(limits_of, header_bytes) {
  const auto sent = encoded(wanted{});
  ctx.limits.header_bytes = sent.header.size_bytes();
  EXPECT_EQ(code_of<wanted>(sent), serialize_errc::none);
  --ctx.limits.header_bytes;
  expect_exceeded<wanted>(sent, "payload header of ", "(limits::header_bytes)");
}

TEST_P(limits_of, frames) {
  const auto sent = encoded(pictures{.grid = array<double>(std::vector<double>(1000))});
  ctx.limits.frames = sent.frames.size();
  EXPECT_EQ(code_of<pictures>(sent), serialize_errc::none);
  --ctx.limits.frames;
  expect_exceeded<pictures>(sent, "payload of ", "(limits::frames)");
}

TEST_P(limits_of, body_bytes) {
  const auto sent = encoded(wanted{1, {"a", "b"}});
  ctx.limits.body_bytes = sent.frames[0].size_bytes();
  EXPECT_EQ(code_of<wanted>(sent), serialize_errc::none);
  --ctx.limits.body_bytes;
  expect_exceeded<wanted>(sent, "frame 0 of ", "(limits::body_bytes)");
}

TEST_P(limits_of, frame_bytes) {
  const auto sent = encoded(pictures{.grid = array<double>(std::vector<double>(1000))});
  ctx.limits.frame_bytes = 8000;
  EXPECT_EQ(code_of<pictures>(sent), serialize_errc::none);
  ctx.limits.frame_bytes = 7999;
  if (sent.frames.size() == 1) // The bytes lie in the body, or are sent as numbers.
    EXPECT_EQ(code_of<pictures>(sent), serialize_errc::none);
  else
    expect_exceeded<pictures>(sent, "frame 1 of 8,000 bytes", "(limits::frame_bytes)");
}

TEST_P(limits_of, text_bytes) {
  for (const std::size_t size : {20, 100, 5000}) {
    const auto sent = encoded(wanted{1, {"", std::string(size, 'x')}});
    ctx.limits.text_bytes = size;
    EXPECT_EQ(code_of<wanted>(sent), serialize_errc::none);
    ctx.limits.text_bytes = size - 1;
    expect_exceeded<wanted>(sent, said(name_at(1) + ": "), "(limits::text_bytes)");
  }
}

TEST_P(limits_of, text_bytes_of_what_leads_to_a_path_or_a_key) {
  rich::everything value;
  value.where = std::string(100, 'p');
  ctx.limits.text_bytes = 99;
  expect_exceeded<rich::everything>(encoded(value), said("everything.where: "), "(limits::text_bytes)");
  value.where = "";
  value.prices[std::string(100, 'k')] = 1;
  expect_exceeded<rich::everything>(encoded(value), said("everything.prices"), "(limits::text_bytes)");
}

TEST_P(limits_of, elements) {
  const auto sent = encoded(wanted{1, {"a", "b", "c"}});
  ctx.limits.elements = 2;
  EXPECT_EQ(failure_of<wanted>(sent),
            said(GetParam().counts_ahead ? "wanted.names: 3 elements, limit 2, 2 left (limits::elements)"
                                         : "wanted.names[1]: 1 elements, limit 2, 0 left (limits::elements)"));
}

TEST_P(limits_of, depth_in_both_directions) {
  rich::tree root;
  auto* last = &root;
  for (int depth = 0; depth < 400; ++depth) {
    last->next = std::make_unique<rich::tree>();
    last = last->next.get();
  }
  auto refused = made_of(root, {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), serialize_errc::limit_exceeded);
  EXPECT_NE(refused.error().message().find("tree.next.next.next"), std::string::npos);
  EXPECT_NE(refused.error().message().find("nested deeper than 256 (limits::depth)"), std::string::npos);
  ctx.limits.depth = 1000;
  const auto sent = encoded(root);
  EXPECT_EQ(code_of<rich::tree>(sent), serialize_errc::none);
  ctx.limits.depth = 100;
  expect_exceeded<rich::tree>(sent, said("tree.next.next.next"), "nested deeper than 100 (limits::depth)");
}

TEST_P(limits_of, depth_counts_the_same_in_every_family) {
  add_cereal<link_of_chain>(types, "link");
  link_of_chain root;
  auto* last = &root;
  for (int depth = 0; depth < 256; ++depth) {
    last->next = std::make_shared<link_of_chain>();
    last = last->next.get();
  }
  const auto sent = encoded(root);
  EXPECT_EQ(failure_of<link_of_chain>(sent), "");
  last->next = std::make_shared<link_of_chain>();
  EXPECT_FALSE(made_of(root, ctx).has_value());
  ctx.limits.depth = 255;
  expect_exceeded<link_of_chain>(sent, said("link.next.next.next"), "nested deeper than 255 (limits::depth)");
}

TEST_P(limits_of, height_counts_the_same_in_every_family) {
  add_cereal<chain_in_list>(types, "list");
  const auto list_of = [](std::size_t count) {
    chain_in_list made;
    for (std::size_t i = 0; i < count; ++i) {
      made.all.push_back(std::make_shared<link_of_chain>());
      if (i > 0)
        made.all.back()->next = made.all[i - 1];
    }
    return made;
  };
  EXPECT_EQ(failure_of<chain_in_list>(encoded(list_of(2047))), "");
  EXPECT_FALSE(made_of(list_of(2048), ctx).has_value());
}

TEST_P(limits_of, memory_bytes) {
  const auto sent = encoded(wanted{1, {"a", std::string(3000, 'x')}});
  ctx.limits.memory_bytes = 16'384;
  EXPECT_EQ(code_of<wanted>(sent), serialize_errc::none);
  ctx.limits.memory_bytes = 2048;
  expect_exceeded<wanted>(sent, said(name_at(1) + ": "), "(limits::memory_bytes)");
}

TEST_P(limits_of, memory_ratio) {
  const auto sent = encoded(roomy{decltype(roomy::parts)(10'000)});
  expect_exceeded<roomy>(sent, said("roomy.parts"), "(limits::memory_ratio, limits::memory_free_bytes)");
  ctx.limits.memory_ratio = 10'000;
  EXPECT_EQ(code_of<roomy>(sent), serialize_errc::none);
}

TEST_P(limits_of, memory_free_bytes) {
  const auto sent = encoded(roomy{decltype(roomy::parts)(20)});
  EXPECT_EQ(code_of<roomy>(sent), serialize_errc::none);
  ctx.limits.memory_free_bytes = 0;
  expect_exceeded<roomy>(sent, said("roomy.parts"), "(limits::memory_ratio, limits::memory_free_bytes)");
}

// Goal: memory that constructors take is charged before it is taken.
TEST_P(limits_of, memory_of_values_that_begin_filled) {
  many_filled sent{.parts = std::vector<filled>(100), .by_number = {}, .shared = nullptr};
  for (auto& part : sent.parts)
    part.text.clear();
  const auto in_a_list = encoded(sent);
  EXPECT_EQ(code_of<many_filled>(in_a_list), serialize_errc::limit_exceeded);
  sent.parts.clear();
  for (int i = 0; i < 100; ++i)
    sent.by_number[i].text.clear();
  const auto in_a_map = encoded(sent);
  EXPECT_EQ(code_of<many_filled>(in_a_map), serialize_errc::limit_exceeded);
  sent.by_number.clear();
  sent.shared = std::make_shared<filled>("", 1);
  const auto in_one = encoded(sent);
  EXPECT_EQ(code_of<many_filled>(in_one), serialize_errc::none);
  ctx.limits.memory_bytes = 50'000;
  EXPECT_EQ(code_of<many_filled>(in_one), serialize_errc::limit_exceeded);
  ctx.limits = {};
  ctx.limits.memory_free_bytes = 16_MiB;
  EXPECT_EQ(code_of<many_filled>(in_a_list), serialize_errc::none);
  EXPECT_EQ(code_of<many_filled>(in_a_map), serialize_errc::none);
}

} // namespace
