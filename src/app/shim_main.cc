// stoker-shim FOLDER: holds one job. The process that was started leaves as soon as the supervisor
// has begun (exit 0) or could not (exit 1, with one line on standard error); the supervisor itself
// is nobody's child, so that no caller has to wait for it.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "base/clock.h"
#include "base/fd.h"
#include "jobs/shim.h"

namespace {

using stoker::Fd;

int Hold(const std::string& folder, Fd report) {
  const stoker::SystemClock clock;
  const stoker::Status status = stoker::jobs::RunShim(folder, clock, [&] {
    stoker::Ignore(stoker::WriteAll(report, "1", "pipe"));
    report.Close();
  });
  if (!status) std::fprintf(stderr, "stoker-shim: %s\n", status.error().Line().c_str());
  // A command that could not start has ended; the folder says why.
  if (report.valid()) stoker::Ignore(stoker::WriteAll(report, status ? "1" : "0", "pipe"));
  return status ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || argv[1][0] != '/') {
    std::fprintf(stderr, "usage: stoker-shim FOLDER (absolute; stoker run starts it)\n");
    return 2;
  }
  // Descriptors that the caller forgot would stay open as long as the job runs.
  ::close_range(3, ~0U, 0);
  auto pipe = stoker::MakePipe();
  if (!pipe) {
    std::fprintf(stderr, "stoker-shim: %s\n", pipe.error().Line().c_str());
    return 1;
  }
  const pid_t child = ::fork();
  if (child < 0) {
    std::perror("stoker-shim: fork");
    return 1;
  }
  if (child == 0) {
    pipe->read.Close();
    return Hold(argv[1], std::move(pipe->write));
  }
  pipe->write.Close();
  char byte = 0;
  const auto got = stoker::ReadSome(pipe->read, &byte, 1, "pipe");
  return got && *got == 1 && byte == '1' ? 0 : 1;
}
