#include "base/reading.h"

namespace stoker {

std::string_view AbsenceName(Absence absence) {
  switch (absence) {
    case Absence::kNone:
      return "none";
    case Absence::kUnsupported:
      return "unsupported";
    case Absence::kDenied:
      return "denied";
    case Absence::kTimeout:
      return "timeout";
    case Absence::kLost:
      return "lost";
    case Absence::kError:
      return "error";
    case Absence::kNotYet:
      return "not yet";
  }
  return "error";
}

}  // namespace stoker
