// Errors as values. A function that can fail returns Result<T> (or Status where there is nothing to
// return); the caller adds context on the way up with Error::In() or the macros below. Exceptions
// of other libraries are turned into Errors at the edge of the module that meets the library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace stoker {

// Each code answers one question for the caller: may it try again?
enum class Code : uint8_t {
  kNotFound,     // no: it is not there
  kInvalid,      // no: the input is wrong
  kUnavailable,  // yes: gone for now
  kTimeout,      // yes: took too long
  kCorrupt,      // no: the bytes are damaged
  kDenied,       // no: not allowed
  kUnsupported,  // no: this machine or version cannot
  kInternal,     // no: our bug or an unexpected failure of the system
};

bool MayRetry(Code code);
std::string_view CodeName(Code code);  // "not found", "invalid", ...

struct Error {
  Code code = Code::kInternal;
  std::string what;    // one sentence without a final dot: "the disk is full"
  std::string where;   // file, key or place: "/data/run/best.pt"
  std::string advice;  // what to do; may be empty

  // "where: what (advice)", control characters escaped: always one line.
  std::string Line() const;
  // The same error with `place` put before `where` ("shipping best.pt: put: ...").
  Error In(std::string_view place) const;
};

Error NotFound(std::string what, std::string where = {}, std::string advice = {});
Error Invalid(std::string what, std::string where = {}, std::string advice = {});
Error Unavailable(std::string what, std::string where = {}, std::string advice = {});
Error Timeout(std::string what, std::string where = {}, std::string advice = {});
Error Corrupt(std::string what, std::string where = {}, std::string advice = {});
Error Denied(std::string what, std::string where = {}, std::string advice = {});
Error Unsupported(std::string what, std::string where = {}, std::string advice = {});
Error Internal(std::string what, std::string where = {}, std::string advice = {});

// An Error from errno: ENOENT is kNotFound, EACCES/EPERM/EROFS kDenied, EAGAIN/EINTR/ENOSPC/EDQUOT
// kUnavailable ("the disk is full"), ENAMETOOLONG and the like kInvalid, else kInternal.
Error FromErrno(int error_number, std::string_view action, std::string where);

template <typename T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
  Result(Error error) : tl::expected<T, Error>(tl::unexpect, std::move(error)) {}
};

template <>
class [[nodiscard]] Result<void> : public tl::expected<void, Error> {
 public:
  using tl::expected<void, Error>::expected;
  Result(Error error) : tl::expected<void, Error>(tl::unexpect, std::move(error)) {}
};

using Status = Result<void>;
inline Status Ok() { return Status(); }

// For a failure that changes nothing for the caller, said aloud in the code.
template <typename T>
void Ignore(const Result<T>&) {}

}  // namespace stoker

#define STOKER_CONCAT_INNER(a, b) a##b
#define STOKER_CONCAT(a, b) STOKER_CONCAT_INNER(a, b)
// STOKER_TRY(status_expression): returns its error from the enclosing function.
#define STOKER_TRY(expression)                               \
  do {                                                       \
    if (auto stoker_status = (expression); !stoker_status) { \
      return std::move(stoker_status).error();               \
    }                                                        \
  } while (false)
// STOKER_ASSIGN(auto x, result_expression): x is the value, or the error is returned.
#define STOKER_ASSIGN(target, expression) \
  STOKER_ASSIGN_INNER(STOKER_CONCAT(stoker_result_, __LINE__), target, expression)
#define STOKER_ASSIGN_INNER(result, target, expression) \
  auto result = (expression);                           \
  if (!result) return std::move(result).error();        \
  target = std::move(*result)
