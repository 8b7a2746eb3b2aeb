// Goal: a dial starts once and is cleaned up once, on the I/O thread, whichever side ends it.
#include <asio/io_context.hpp>

#include <troupe/framework/internal/node/dials.hpp>

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

class noted_dial final : public dial {
public:
  void begin() override { said += "begin "; }
  void stop() override { said += "stop "; }
  void clean_up() override { said += "clean up "; }

  std::string said;
};

class what_dials : public testing::Test {
protected:
  asio::io_context io_;
  dials dials_{io_};
  std::shared_ptr<noted_dial> one_ = std::make_shared<noted_dial>();
};

TEST_F(what_dials, is_cleaned_up_on_the_io_thread_when_it_is_let_go) {
  ASSERT_TRUE(dials_.keep(one_));
  EXPECT_EQ(one_->said, "begin ");
  dials_.let_go(one_);
  EXPECT_EQ(one_->said, "begin ");
  io_.run();
  EXPECT_EQ(one_->said, "begin clean up ");
  EXPECT_EQ(one_.use_count(), 1);
}

TEST_F(what_dials, is_let_go_once) {
  ASSERT_TRUE(dials_.keep(one_));
  dials_.let_go(one_);
  dials_.let_go(one_);
  dials_.end();
  io_.run();
  EXPECT_EQ(one_->said, "begin clean up ");
}

TEST_F(what_dials, is_stopped_at_the_end) {
  const auto other = std::make_shared<noted_dial>();
  ASSERT_TRUE(dials_.keep(one_));
  ASSERT_TRUE(dials_.keep(other));
  dials_.end();
  io_.run();
  EXPECT_EQ(one_->said, "begin stop clean up ");
  EXPECT_EQ(other->said, "begin stop clean up ");
  dials_.let_go(one_);
  io_.restart();
  EXPECT_EQ(io_.run(), 0u);
}

TEST_F(what_dials, does_not_begin_after_the_end) {
  dials_.end();
  const auto kept = dials_.keep(one_);
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().code(), node_errc::link_down);
  EXPECT_EQ(one_->said, "");
}

TEST_F(what_dials, may_let_itself_go_while_it_is_stopped) {
  struct leaving final : dial {
    explicit leaving(dials& of) : all(of) {}
    void begin() override {}
    void stop() override { all.let_go(self.lock()); }
    void clean_up() override { ++cleaned; }
    dials& all;
    std::weak_ptr<dial> self;
    int cleaned = 0;
  };
  const auto each = std::make_shared<leaving>(dials_);
  each->self = each;
  ASSERT_TRUE(dials_.keep(each));
  dials_.end();
  io_.run();
  EXPECT_EQ(each->cleaned, 1);
}

} // namespace
} // namespace troupe::internal
