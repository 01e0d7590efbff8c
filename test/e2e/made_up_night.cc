#include "made_up_night.h"

#include <cmath>
#include <string>
#include <vector>

namespace stoker::e2e {
namespace {

using ledger::Metric;
using ledger::Scope;
using ledger::Subject;
using ledger::Writer;

constexpr int kCards = 8;
constexpr int kCores = 64;
constexpr Millis kHour{3'600'000};

// A card's load: what it does, how hot, how full.
struct Load {
  double busy;
  double power_w;
  double temperature_c;
  double margin_c;
  double memory_bytes;
  int throttle_bits;
};

// Two cards of the second half are the point of the picture: GPU 2 is busy without working, GPU 6
// does not answer for its power.
constexpr Load kLoads[kCards] = {
    {0.98, 561, 71, 19, 81e9, 0}, {0.97, 572, 84, 3, 82e9, 0x40}, {0.99, 208, 52, 38, 80e9, 0},
    {0.96, 548, 70, 20, 81e9, 0}, {0.99, 597, 79, 7, 61e9, 0x4},  {0.02, 58, 38, 52, 0.4e9, 0},
    {0.00, 44, 36, 54, 0.4e9, 0}, {0.55, 231, 55, 35, 12e9, 0},
};

class Readings {
 public:
  explicit Readings(Writer& writer) : writer_(writer) {}

  Status Add(Metric metric, const Subject& subject, double value,
             Absence absence = Absence::kNone) {
    STOKER_ASSIGN(const ledger::SeriesId id, writer_.SeriesFor(metric, subject));
    values_.push_back({id, value, absence});
    return Ok();
  }
  Status Write(WallTime at) { return writer_.AddTick(at, values_); }

 private:
  Writer& writer_;
  std::vector<ledger::TickValue> values_;
};

Status AddCard(Readings& out, int gpu, double t) {
  const Subject card{Scope::kCard, gpu + 1, ""};
  const Load& load = kLoads[gpu];
  const double wave = std::sin(t / 7 + gpu);
  const double swing = gpu == 7 ? 0.8 * wave : 0.015 * wave;
  const bool mute = gpu == 6;
  STOKER_TRY(out.Add(Metric::kBusyRatio, card, std::min(1.0, load.busy * (1 + swing))));
  STOKER_TRY(out.Add(Metric::kPowerW, card, load.power_w * (1 + swing),
                     mute ? Absence::kTimeout : Absence::kNone));
  STOKER_TRY(out.Add(Metric::kLimitW, card, 600));
  STOKER_TRY(out.Add(Metric::kTemperatureC, card, load.temperature_c + wave));
  STOKER_TRY(out.Add(Metric::kMarginC, card, load.margin_c - wave));
  STOKER_TRY(out.Add(Metric::kMemoryUsedBytes, card, load.memory_bytes));
  STOKER_TRY(out.Add(Metric::kThrottleBits, card, load.throttle_bits));
  STOKER_TRY(out.Add(Metric::kPcieGeneration, card, 5));
  STOKER_TRY(out.Add(Metric::kPcieWidth, card, 16));
  return out.Add(Metric::kEnergyJ, card, 1e6 + load.power_w * t);
}

Status AddHost(Readings& out, double t) {
  const Subject host{};
  STOKER_TRY(out.Add(Metric::kCpuBusyRatio, host, 0.37 + 0.05 * std::sin(t / 11)));
  STOKER_TRY(out.Add(Metric::kLoad1m, host, 23.4));
  STOKER_TRY(out.Add(Metric::kHostMemoryUsedBytes, host, 212e9));
  STOKER_TRY(out.Add(Metric::kPressureCpuRatio, host, 0.04));
  STOKER_TRY(out.Add(Metric::kPressureIoRatio, host, 0.21));
  STOKER_TRY(out.Add(Metric::kPressureMemoryRatio, host, 0, Absence::kDenied));
  STOKER_TRY(out.Add(Metric::kServeCpuRatio, host, 0.006));
  for (int core = 0; core < kCores; ++core) {
    STOKER_TRY(out.Add(Metric::kCoreBusyRatio, {Scope::kCore, core, ""},
                       0.9 * std::abs(std::sin(core * core + t / 30))));
  }
  STOKER_TRY(out.Add(Metric::kDiskReadBytesPerS, {Scope::kDisk, 0, "nvme0n1"}, 1.13e9));
  STOKER_TRY(out.Add(Metric::kDiskWrittenBytesPerS, {Scope::kDisk, 0, "nvme0n1"}, 72e6));
  STOKER_TRY(out.Add(Metric::kNetReceivedBytesPerS, {Scope::kNet, 0, "eth0"}, 3.1e6));
  return out.Add(Metric::kNetSentBytesPerS, {Scope::kNet, 0, "eth0"}, 118e6);
}

Status AddReadings(Writer& writer, WallTime at) {
  Readings out(writer);
  const double t = static_cast<double>(at.ms % 10'000'000) / 1000;
  for (int gpu = 0; gpu < kCards; ++gpu) STOKER_TRY(AddCard(out, gpu, t));
  STOKER_TRY(AddHost(out, t));
  return out.Write(at);
}

Status AddBox(Writer& writer, WallTime now) {
  ledger::Box box;
  box.hostname = "stokehold-01";
  box.boot_id = "made-up";
  box.facts_json = R"({"cores":64,"memory_bytes":768000000000})";
  box.seen_at = now;
  STOKER_ASSIGN(const int64_t id, writer.PutBox(box));
  for (int gpu = 0; gpu < kCards; ++gpu) {
    ledger::Card card;
    card.box = id;
    card.gpu = gpu;
    card.uuid = "GPU-5170000" + std::to_string(gpu);
    card.name = "Simulated Blackwell 600 W";
    card.memory_bytes = 96e9;
    card.simulated = true;
    card.seen_at = now;
    STOKER_TRY(writer.PutCard(card));
  }
  return Ok();
}

ledger::Job MakeJob(int64_t id, const std::string& name, ledger::JobState state,
                    const std::vector<int>& gpus, WallTime started) {
  ledger::Job job;
  job.id = id;
  job.name = name;
  job.state = state;
  job.command = {"python", "train.py", "--data", "/data/dishes", "--epochs", "300"};
  job.cwd = "/home/anna/" + name;
  job.user = "anna";
  job.gpus = gpus;
  for (const int gpu : gpus) job.cards.push_back(gpu + 1);
  job.created_at = started;
  if (state != ledger::JobState::kQueued) job.started_at = started;
  job.git_json = R"({"commit":"7d1f0c2a9be4","branch":"main","dirty":true})";
  return job;
}

void End(ledger::Job& job, WallTime at, int exit_code) {
  job.ended_at = at;
  job.exit_code = exit_code;
}

Status AddCurves(Writer& writer, const ledger::Job& job, int epochs, int peak) {
  std::vector<ledger::MetricPoint> points;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    const WallTime at = *job.started_at + Millis(100'000 * epoch);
    const double fit = 1 - std::exp(-epoch / 35.0);
    const double over = epoch > peak ? (epoch - peak) * 0.0006 : 0;
    const double noise = 0.006 * std::sin(epoch * 1.7);
    points.push_back({"val/accuracy", 0.87 * fit - over + noise, double(epoch), {}, at});
    points.push_back({"train/loss", 2.4 * (1 - fit) + 0.05, double(epoch), {}, at});
    points.push_back({"val/loss", 2.4 * (1 - fit) + 0.4 + over * 8, double(epoch), {}, at});
  }
  return writer.AddMetrics(job.id, points);
}

Status AddCheckpoint(Writer& writer, int64_t job, const std::string& name,
                     ledger::CheckpointRole role, double epoch, bool safe, WallTime at) {
  ledger::Checkpoint c;
  c.job = job;
  c.path = "/home/anna/run/weights/" + name;
  c.role = role;
  c.epoch = epoch;
  c.bytes = 6'214'000'000;
  c.state = safe ? ledger::CheckpointState::kSafe : ledger::CheckpointState::kShipping;
  c.seen_at = at;
  STOKER_ASSIGN(const int64_t id, writer.PutCheckpoint(c));
  if (!safe) return Ok();
  return writer.PutCopy({id, "vault", "jobs/4/" + name, at + Millis(9000)});
}

Status AddRunning(Writer& writer, WallTime now) {
  using ledger::CheckpointRole;
  ledger::Job job = MakeJob(4, "target-1b-dishes-with-a-long-name", ledger::JobState::kRunning,
                            {0, 1, 2, 3}, now - 4 * kHour);
  job.last_epoch = 123;
  job.epochs_planned = 300;
  job.best = ledger::Best{"val/accuracy", 0.8371, true, 112.0, now - kHour};
  job.checkpoints_seen = 4;
  job.checkpoints_safe = 3;
  STOKER_TRY(writer.PutJob(job));
  STOKER_TRY(AddCurves(writer, job, 123, 112));
  STOKER_TRY(AddCheckpoint(writer, 4, "epoch50.safetensors", CheckpointRole::kPeriodic, 50, true,
                           now - 3 * kHour));
  STOKER_TRY(AddCheckpoint(writer, 4, "epoch100.safetensors", CheckpointRole::kPeriodic, 100, true,
                           now - 2 * kHour));
  STOKER_TRY(
      AddCheckpoint(writer, 4, "best.safetensors", CheckpointRole::kBest, 112, true, now - kHour));
  STOKER_TRY(AddCheckpoint(writer, 4, "last.safetensors", CheckpointRole::kLast, 123, false, now));
  ledger::Job drafter = MakeJob(5, "drafter", ledger::JobState::kRunning, {4}, now - 2 * kHour);
  STOKER_TRY(writer.PutJob(drafter));
  return writer.PutJob(MakeJob(6, "next-in-line", ledger::JobState::kQueued, {0, 1}, now));
}

Status AddEnded(Writer& writer, WallTime now) {
  using ledger::JobState;
  ledger::Job done = MakeJob(1, "store-12-dishes", JobState::kSucceeded, {0, 1}, now - 30 * kHour);
  End(done, now - 26 * kHour, 0);
  done.last_epoch = done.epochs_planned = 300;
  done.best = ledger::Best{"val/accuracy", 0.8442, true, 118.0, now - 28 * kHour};
  done.gpu_energy_j = 9.3e6;
  done.checkpoints_seen = done.checkpoints_safe = 2;
  STOKER_TRY(writer.PutJob(done));
  STOKER_TRY(AddCurves(writer, done, 300, 118));
  ledger::Job failed = MakeJob(2, "bigger-batch", JobState::kFailed, {2}, now - 20 * kHour);
  End(failed, now - 19 * kHour, 137);
  failed.reason = "out of memory";
  STOKER_TRY(writer.PutJob(failed));
  ledger::Job stopped = MakeJob(3, "probe-lr", JobState::kStopped, {7}, now - 18 * kHour);
  End(stopped, now - 17 * kHour, 143);
  stopped.last_epoch = 60;
  stopped.epochs_planned = 100;
  return writer.PutJob(stopped);
}

Status AddEvents(Writer& writer, WallTime now) {
  struct Line {
    const char* kind;
    ledger::Severity severity;
    std::optional<int64_t> job;
    const char* text;
  };
  const Line lines[] = {
      {"stoker.started", ledger::Severity::kInfo, {}, "Stoker started"},
      {"job.failed", ledger::Severity::kWarning, 2, "bigger-batch ended with exit code 137"},
      {"job.started", ledger::Severity::kInfo, 4, "target-1b started on GPU 0, 1, 2 and 3"},
      {"gpu.throttle", ledger::Severity::kWarning, {}, "GPU 1 slowed itself for heat for 38 s"},
      {"checkpoint.safe", ledger::Severity::kNotice, 4, "best.safetensors of epoch 112 is safe"},
      {"gpu.lost", ledger::Severity::kFault, {}, "GPU 6 does not answer for its power"},
  };
  int64_t minutes = 90;
  for (const Line& line : lines) {
    ledger::Event event;
    event.at = now - Millis(60'000 * minutes);
    event.kind = line.kind;
    event.severity = line.severity;
    event.job = line.job;
    event.text = line.text;
    STOKER_TRY(writer.AddEvent(event));
    minutes -= 14;
  }
  return Ok();
}

}  // namespace

Status WriteNight(ledger::Ledger& ledger, WallTime now) {
  STOKER_TRY(ledger.Write([&](Writer& writer) -> Status {
    STOKER_TRY(AddBox(writer, now));
    STOKER_TRY(AddRunning(writer, now));
    STOKER_TRY(AddEnded(writer, now));
    return AddEvents(writer, now);
  }));
  return ledger.Write([&](Writer& writer) -> Status {
    for (int second = 300; second >= 0; --second) {
      STOKER_TRY(AddReadings(writer, now - Millis(1000 * second)));
    }
    return Ok();
  });
}

Status WriteReadings(ledger::Ledger& ledger, WallTime at) {
  return ledger.Write([&](Writer& writer) { return AddReadings(writer, at); });
}

}  // namespace stoker::e2e
