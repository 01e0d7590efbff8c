#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/durable_file.h"
#include "base/file.h"
#include "device/host_probe.h"

namespace stoker::device {
namespace {

class ProcfsProbeTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(dir_);
    Put("/etc/os-release", "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
    Put("/proc/sys/kernel/hostname", "box7\n");
    Put("/proc/sys/kernel/osrelease", "6.1.0-28-amd64\n");
    Put("/proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC 9355 32-Core\n");
    Put("/proc/loadavg", "51.20 40.00 30.00 4/900 1234\n");
    Put("/proc/meminfo",
        "MemTotal:       1000 kB\nMemFree: 10 kB\nMemAvailable:    250 kB\n"
        "SwapTotal:       100 kB\nSwapFree:         40 kB\n");
    Put("/sys/block/nvme0n1/device/model", "x\n");
    Put("/sys/block/loop0/size", "0\n");
    Put("/sys/block/dm-0/size", "0\n");
    Put("/sys/block/sr0/device/model", "x\n");
    Put("/sys/class/net/eth0/device/vendor", "x\n");
    Put("/sys/class/net/docker0/mtu", "1500\n");
    Counters(0);
  }

  void Put(const std::string& path, const std::string& text) {
    const std::string whole = dir_->path() + path;
    ASSERT_TRUE(MakeDirs(DirName(whole)));
    ASSERT_TRUE(WriteDurably(whole, text));
  }

  // All counters after `s` seconds of a steady life: core 0 is half busy, core 1 idle.
  void Counters(int64_t s) {
    Put("/proc/stat",
        fmt::format("cpu  {} 0 0 {} 0 0 0 0\ncpu0 {} 0 0 {} 0 0 0 0\ncpu1 0 0 0 {} 0 0 0 0\n",
                    1000 + 50 * s, 1000 + 150 * s, 1000 + 50 * s, 1000 + 50 * s, 1000 + 100 * s));
    for (const char* what : {"cpu", "io", "memory"}) {
      Put(std::string("/proc/pressure/") + what,
          fmt::format("some avg10=0.00 avg60=0.00 avg300=0.00 total={}\n", 500 + 250'000 * s));
    }
    const std::string counts = fmt::format("1 0 {} 0 1 0 {} 0 0 {} 0", 2000 * s, 4000 * s, 300 * s);
    std::string disks;
    for (const char* name : {"nvme0n1", "nvme0n1p1", "loop0", "dm-0", "sr0"}) {
      disks += fmt::format(" 259 0 {} {}\n", name, counts);
    }
    Put("/proc/diskstats", disks);
    std::string nets = "Inter-| Receive\n face |bytes\n";
    for (const char* name : {"lo", "eth0", "docker0"}) {
      nets += fmt::format("{}: {} 0 0 0 0 0 0 0 {} 0 0 0 0 0 0 0\n", name, 1000 * s, 3000 * s);
    }
    Put("/proc/net/dev", nets);
  }

  std::unique_ptr<HostProbe> Probe() { return MakeProcfsProbe(dir_->path(), clock_); }

  Result<TempDir> dir_ = TempDir::Make("procfs");
  FakeClock clock_;
};

TEST_F(ProcfsProbeTest, SaysWhatTheHostIs) {
  const HostFacts facts = Probe()->Facts();
  EXPECT_EQ(facts.hostname, "box7");
  EXPECT_EQ(facts.kernel, "6.1.0-28-amd64");
  EXPECT_EQ(facts.os, "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(facts.cpu_model, "AMD EPYC 9355 32-Core");
  EXPECT_EQ(facts.cores, 2);
  EXPECT_EQ(facts.memory_total->value, 1024000);
}

TEST_F(ProcfsProbeTest, TheFirstReadHasLevelsButNoRates) {
  const HostReading r = Probe()->Read();
  EXPECT_EQ(r.at, clock_.Now());
  EXPECT_EQ(r.load_1m.has_value(), true);
  EXPECT_DOUBLE_EQ(*r.load_1m, 51.2);
  EXPECT_EQ(r.memory_used->value, 750 * 1024);
  EXPECT_EQ(r.swap_used->value, 60 * 1024);
  EXPECT_EQ(r.cpu_busy.absence(), Absence::kNotYet);
  ASSERT_EQ(r.core_busy.size(), 2u);
  EXPECT_EQ(r.core_busy[0].absence(), Absence::kNotYet);
  EXPECT_EQ(r.pressure_cpu.absence(), Absence::kNotYet);
  ASSERT_EQ(r.disks.size(), 1u);
  EXPECT_EQ(r.disks[0].busy.absence(), Absence::kNotYet);
}

TEST_F(ProcfsProbeTest, TheSecondReadHasRates) {
  auto probe = Probe();
  probe->Read();
  clock_.Tick(Millis(2000));
  Counters(2);
  const HostReading r = probe->Read();
  EXPECT_DOUBLE_EQ(r.cpu_busy->value, 0.25);
  EXPECT_DOUBLE_EQ(r.core_busy[0]->value, 0.5);
  EXPECT_DOUBLE_EQ(r.core_busy[1]->value, 0);
  EXPECT_DOUBLE_EQ(r.pressure_io->value, 0.25);
  ASSERT_EQ(r.disks.size(), 1u);  // no partition, loop, map or optical drive
  EXPECT_EQ(r.disks[0].name, "nvme0n1");
  EXPECT_DOUBLE_EQ(*r.disks[0].read_bytes_per_s, 2000 * 512);
  EXPECT_DOUBLE_EQ(*r.disks[0].written_bytes_per_s, 4000 * 512);
  EXPECT_DOUBLE_EQ(r.disks[0].busy->value, 0.3);
  ASSERT_EQ(r.nets.size(), 1u);  // no loopback, no bridge
  EXPECT_EQ(r.nets[0].name, "eth0");
  EXPECT_DOUBLE_EQ(*r.nets[0].received_bytes_per_s, 1000);
  EXPECT_DOUBLE_EQ(*r.nets[0].sent_bytes_per_s, 3000);
}

TEST_F(ProcfsProbeTest, CountersThatGoBackCostOneInterval) {
  Counters(10);
  auto probe = Probe();
  probe->Read();
  clock_.Tick(Millis(1000));
  Counters(1);
  const HostReading back = probe->Read();
  EXPECT_EQ(back.cpu_busy.absence(), Absence::kNotYet);
  EXPECT_EQ(back.core_busy[0].absence(), Absence::kNotYet);
  EXPECT_EQ(back.pressure_memory.absence(), Absence::kNotYet);
  EXPECT_EQ(back.disks[0].busy.absence(), Absence::kNotYet);
  EXPECT_EQ(back.nets[0].sent_bytes_per_s.absence(), Absence::kNotYet);
  clock_.Tick(Millis(1000));
  Counters(2);
  const HostReading next = probe->Read();
  EXPECT_DOUBLE_EQ(next.cpu_busy->value, 0.25);
  EXPECT_DOUBLE_EQ(next.pressure_memory->value, 0.25);
}

TEST_F(ProcfsProbeTest, AStepOfTheWallClockChangesNoRate) {
  auto probe = Probe();
  probe->Read();
  clock_.Tick(Millis(1000));
  clock_.StepWall(Millis(-3'600'000));
  Counters(1);
  EXPECT_DOUBLE_EQ(probe->Read().pressure_cpu->value, 0.25);
}

TEST_F(ProcfsProbeTest, MissingFilesAreUnsupported) {
  const auto empty = TempDir::Make("procfs");
  auto probe = MakeProcfsProbe(empty->path(), clock_);
  probe->Read();
  clock_.Tick(Millis(1000));
  const HostReading r = probe->Read();
  EXPECT_EQ(r.cpu_busy.absence(), Absence::kUnsupported);
  EXPECT_EQ(r.load_1m.absence(), Absence::kUnsupported);
  EXPECT_EQ(r.memory_used.absence(), Absence::kUnsupported);
  EXPECT_EQ(r.swap_used.absence(), Absence::kUnsupported);
  EXPECT_EQ(r.pressure_cpu.absence(), Absence::kUnsupported);
  EXPECT_TRUE(r.disks.empty());
  EXPECT_TRUE(r.nets.empty());
  EXPECT_EQ(probe->Facts().cores, 0);
}

TEST_F(ProcfsProbeTest, ACoreThatIsOffLeavesAHole) {
  Put("/proc/stat", "cpu  10 0 0 10 0 0 0 0\ncpu0 5 0 0 5 0 0 0 0\ncpu2 5 0 0 5 0 0 0 0\n");
  const HostReading r = Probe()->Read();
  ASSERT_EQ(r.core_busy.size(), 3u);
  EXPECT_EQ(r.core_busy[1].absence(), Absence::kUnsupported);
}

TEST_F(ProcfsProbeTest, InAContainerEveryInterfaceCounts) {
  ASSERT_TRUE(RemoveTree(dir_->path() + "/sys"));
  const HostReading r = Probe()->Read();
  ASSERT_EQ(r.nets.size(), 2u);
  EXPECT_EQ(r.nets[0].name, "docker0");
}

TEST_F(ProcfsProbeTest, ThisMachineAnswers) {
  SystemClock clock;
  auto probe = MakeProcfsProbe("", clock);
  probe->Read();
  const HostReading r = probe->Read();
  EXPECT_TRUE(r.memory_used);
  EXPECT_TRUE(r.load_1m);
  EXPECT_GE(r.core_busy.size(), 1u);
}

}  // namespace
}  // namespace stoker::device
