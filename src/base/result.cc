#include "base/result.h"

#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace stoker {

bool MayRetry(Code code) { return code == Code::kUnavailable || code == Code::kTimeout; }

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kNotFound:
      return "not found";
    case Code::kInvalid:
      return "invalid";
    case Code::kUnavailable:
      return "unavailable";
    case Code::kTimeout:
      return "timeout";
    case Code::kCorrupt:
      return "corrupt";
    case Code::kDenied:
      return "denied";
    case Code::kUnsupported:
      return "unsupported";
    case Code::kInternal:
      return "internal";
  }
  return "internal";
}

std::string Error::Line() const {
  std::string line;
  if (!where.empty()) line += Printable(where) + ": ";
  line += Printable(what);
  if (!advice.empty()) line += " (" + Printable(advice) + ")";
  return line;
}

Error Error::In(std::string_view place) const {
  Error error = *this;
  error.where = where.empty() ? std::string(place) : std::string(place) + ": " + where;
  return error;
}

namespace {
Error Make(Code code, std::string what, std::string where, std::string advice) {
  return Error{code, std::move(what), std::move(where), std::move(advice)};
}
}  // namespace

Error NotFound(std::string what, std::string where, std::string advice) {
  return Make(Code::kNotFound, std::move(what), std::move(where), std::move(advice));
}
Error Invalid(std::string what, std::string where, std::string advice) {
  return Make(Code::kInvalid, std::move(what), std::move(where), std::move(advice));
}
Error Unavailable(std::string what, std::string where, std::string advice) {
  return Make(Code::kUnavailable, std::move(what), std::move(where), std::move(advice));
}
Error Timeout(std::string what, std::string where, std::string advice) {
  return Make(Code::kTimeout, std::move(what), std::move(where), std::move(advice));
}
Error Corrupt(std::string what, std::string where, std::string advice) {
  return Make(Code::kCorrupt, std::move(what), std::move(where), std::move(advice));
}
Error Denied(std::string what, std::string where, std::string advice) {
  return Make(Code::kDenied, std::move(what), std::move(where), std::move(advice));
}
Error Unsupported(std::string what, std::string where, std::string advice) {
  return Make(Code::kUnsupported, std::move(what), std::move(where), std::move(advice));
}
Error Internal(std::string what, std::string where, std::string advice) {
  return Make(Code::kInternal, std::move(what), std::move(where), std::move(advice));
}

namespace {
Code CodeOfErrno(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
    case ESRCH:
      return Code::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::kDenied;
    case EAGAIN:
    case EINTR:
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case EBUSY:
    case ETXTBSY:
    case ENOMEM:
      return Code::kUnavailable;
    case ETIMEDOUT:
      return Code::kTimeout;
    case ENAMETOOLONG:
    case EINVAL:
    case ELOOP:
    case EISDIR:
    case ENOEXEC:
      return Code::kInvalid;
    default:
      return Code::kInternal;
  }
}

std::string WordsOfErrno(int error_number) {
  switch (error_number) {
    case ENOENT:
      return "no such file or folder";
    case EACCES:
    case EPERM:
      return "permission denied";
    case ENOSPC:
      return "the disk is full";
    case EDQUOT:
      return "the disk quota is used up";
    case EROFS:
      return "the file system is read-only";
    default:
      return std::strerror(error_number);
  }
}
}  // namespace

Error FromErrno(int error_number, std::string_view action, std::string where) {
  std::string what = "cannot ";
  what.append(action).append(": ").append(WordsOfErrno(error_number));
  return Error{CodeOfErrno(error_number), std::move(what), std::move(where), {}};
}

}  // namespace stoker
