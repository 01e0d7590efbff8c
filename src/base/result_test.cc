#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

namespace stoker {
namespace {

TEST(ErrorTest, IsOneLineWithWhatWhereAndAdvice) {
  const Error error = NotFound("no such job", "17", "stoker jobs lists them");
  EXPECT_EQ(error.Line(), "17: no such job (stoker jobs lists them)");
  EXPECT_EQ(Invalid("bad\nname", "a\x1b[31m").Line(), "a\\x1b[31m: bad\\nname");
  EXPECT_EQ(Internal("broken").Line(), "broken");
}

TEST(ErrorTest, ContextIsPutInFront) {
  const Error error = Unavailable("connection reset", "put").In("best.pt").In("shipping");
  EXPECT_EQ(error.Line(), "shipping: best.pt: put: connection reset");
  EXPECT_EQ(error.code, Code::kUnavailable);
}

TEST(ErrorTest, OnlyUnavailableAndTimeoutMayBeRetried) {
  for (const Code code : {Code::kNotFound, Code::kInvalid, Code::kCorrupt, Code::kDenied,
                          Code::kUnsupported, Code::kInternal}) {
    EXPECT_FALSE(MayRetry(code)) << CodeName(code);
  }
  EXPECT_TRUE(MayRetry(Code::kUnavailable));
  EXPECT_TRUE(MayRetry(Code::kTimeout));
}

TEST(ErrorTest, ErrnoBecomesAWordAPersonKnows) {
  EXPECT_EQ(FromErrno(ENOSPC, "write", "/a").Line(), "/a: cannot write: the disk is full");
  EXPECT_EQ(FromErrno(ENOSPC, "write", "/a").code, Code::kUnavailable);
  EXPECT_EQ(FromErrno(ENOENT, "open", "/a").code, Code::kNotFound);
  EXPECT_EQ(FromErrno(EROFS, "open", "/a").code, Code::kDenied);
}

Result<std::unique_ptr<int>> Half(int n) {
  if (n % 2 != 0) return Invalid("odd", std::to_string(n));
  return std::make_unique<int>(n / 2);
}

Result<int> Quarter(int n) {
  STOKER_ASSIGN(const auto half, Half(n));
  STOKER_ASSIGN(const auto quarter, Half(*half));
  return *quarter;
}

Status Check(int n) {
  STOKER_TRY(Quarter(n));
  return Ok();
}

TEST(ResultTest, MacrosPassValuesOnAndReturnErrors) {
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_EQ(Quarter(6).error().where, "3");
  EXPECT_TRUE(Check(4));
  EXPECT_EQ(Check(5).error().code, Code::kInvalid);
}

}  // namespace
}  // namespace stoker
