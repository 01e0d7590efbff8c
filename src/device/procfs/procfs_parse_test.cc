#include "device/procfs/procfs_parse.h"

#include <gtest/gtest.h>

namespace stoker::device::procfs {
namespace {

TEST(ParseStat, AddsUpBusyAndIdle) {
  const CpuStat stat = ParseStat(
      "cpu  100 10 50 1000 40 5 5 30 99 9\n"
      "cpu0 60 5 30 500 20 3 3 10 0 0\n"
      "cpu3 40 5 20 500 20 2 2 20\n"
      "intr 1 2 3\ncpu9 1 1 1 1\n");
  ASSERT_TRUE(stat.all);
  EXPECT_EQ(stat.all->busy, 200u);
  EXPECT_EQ(stat.all->idle, 1040u);
  ASSERT_EQ(stat.cores.size(), 2u);  // what follows the processors is not read
  EXPECT_EQ(stat.cores.at(3).busy, 89u);
}

TEST(ParseStat, LeavesDamageOut) {
  EXPECT_FALSE(ParseStat("").all);
  EXPECT_FALSE(ParseStat("cpu  1 2\n").all);
  EXPECT_FALSE(ParseStat("cpu  a b c d\n").all);
  EXPECT_TRUE(ParseStat("cpu99999 1 2 3 4\n").cores.empty());
  EXPECT_FALSE(ParseStat("cpu 99999999999999999999999 2 3 4\n").all);
}

TEST(ParseMeminfo, ReadsKibibytes) {
  const MemoryInfo info =
      ParseMeminfo("MemTotal:  1000 kB\nMemFree: 1 kB\nMemAvailable: 400 kB\nSwapTotal: 0 kB\n");
  EXPECT_EQ(info.total, 1024000u);
  EXPECT_EQ(info.available, 409600u);
  EXPECT_EQ(info.swap_total, 0u);
  EXPECT_FALSE(info.swap_free);
}

TEST(ParseLoadavg, IsTheFirstNumber) {
  EXPECT_DOUBLE_EQ(*ParseLoadavg("0.53 0.40 0.30 1/234 5678\n"), 0.53);
  EXPECT_FALSE(ParseLoadavg("nan 1 1"));
  EXPECT_FALSE(ParseLoadavg("-1 1 1"));
  EXPECT_FALSE(ParseLoadavg(""));
}

TEST(ParsePressure, IsTheTotalOfSome) {
  EXPECT_EQ(*ParsePressure("some avg10=0.00 avg60=0.00 avg300=0.00 total=123456\n"
                           "full avg10=0.00 avg60=0.00 avg300=0.00 total=9\n"),
            123456u);
  EXPECT_FALSE(ParsePressure("full avg10=0.00 total=9\n"));
  EXPECT_FALSE(ParsePressure("some total=x\n"));
}

TEST(ParseDiskstats, CountsBytesAndBusyTime) {
  const auto disks = ParseDiskstats(
      " 259       0 nvme0n1 10 0 200 5 20 0 400 7 0 33 44 1 2 3 4 5 6\n"
      " 259       1 nvme0n1p1 1 2 3\n");
  ASSERT_EQ(disks.size(), 1u);
  EXPECT_EQ(disks.at("nvme0n1").read_bytes, 200u * 512);
  EXPECT_EQ(disks.at("nvme0n1").written_bytes, 400u * 512);
  EXPECT_EQ(disks.at("nvme0n1").busy_ms, 33u);
}

TEST(ParseNetDev, TakesNamesWithoutSpaceBeforeTheNumbers) {
  const auto nets = ParseNetDev(
      "Inter-|   Receive  |  Transmit\n face |bytes packets|bytes\n"
      "    lo: 5 1 0 0 0 0 0 0 5 1 0 0 0 0 0 0\n"
      "eth0:1000 9 0 0 0 0 0 0 2000 9 0 0 0 0 0 0\n"
      "eth0:1: 7 9 0 0 0 0 0 0 8 9 0 0 0 0 0 0\n");
  ASSERT_EQ(nets.size(), 3u);
  EXPECT_EQ(nets.at("eth0").received_bytes, 1000u);
  EXPECT_EQ(nets.at("eth0").sent_bytes, 2000u);
  EXPECT_EQ(nets.at("eth0:1").sent_bytes, 8u);
}

TEST(ValueOf, FindsKeysAndTakesQuotesOff) {
  EXPECT_EQ(ValueOf("NAME=x\nPRETTY_NAME=\"Debian 12\"\n", "PRETTY_NAME", '='), "Debian 12");
  EXPECT_EQ(ValueOf("model name\t: EPYC 9355\n", "model name", ':'), "EPYC 9355");
  EXPECT_EQ(ValueOf("a=b\n", "c", '='), "");
}

}  // namespace
}  // namespace stoker::device::procfs
