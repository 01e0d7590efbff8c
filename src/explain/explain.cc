#include "explain/explain.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "explain/rules.h"
#include "runlog/judge.h"

namespace stoker::explain {
namespace {

using Rule = void (*)(const Facts&, Findings&);

// In order of interest; severity is sorted above it.
constexpr Rule kRules[] = {
    FindOutcome,
    FindDiverged,
    FindBestAndAfter,
    FindOverfit,
    FindPlateau,
    FindUnsafeCheckpoints,
    FindUse,
    FindIdleCards,
    FindStalls,
    FindCpuStarved,
    FindBusyWithoutWork,
    FindThrottle,
    FindWarmCards,
    FindPhases,
    FindSharedCards,
    FindUnread,
    FindEnergyDisagreement,
};

// A run without a kept best (an older record, a reader that keeps none) still has its curves.
void FillBest(query::JobDetail& detail) {
  ledger::Job& job = detail.view.job;
  std::vector<std::string> names;
  for (const query::MetricCurve& curve : detail.curves) names.push_back(curve.name);
  if (!job.best) {
    const auto judge = runlog::ChooseJudge("", std::nullopt, names);
    if (!judge) return;
    for (const query::MetricCurve& curve : detail.curves) {
      if (curve.name != judge->metric) continue;
      for (const ledger::MetricPoint& p : curve.points) {
        if (p.value != p.value || (job.best && !judge->Better(p.value, job.best->value))) continue;
        job.best = ledger::Best{p.name, p.value, judge->higher_is_better, p.epoch, p.at};
      }
    }
  }
  if (!job.best || job.best->at) return;
  for (const query::MetricCurve& curve : detail.curves) {
    if (curve.name != job.best->metric) continue;
    for (const ledger::MetricPoint& p : curve.points) {
      if (p.value == job.best->value && p.epoch == job.best->epoch) job.best->at = p.at;
    }
  }
}

}  // namespace

int SeverityRank(const std::string& severity) {
  if (severity == kWarning) return 0;
  return severity == kNotice ? 1 : 2;
}

Explanation Explain(query::JobDetail detail, query::JobUse use) {
  FillBest(detail);
  Explanation out;
  const Facts facts{detail, use};
  for (const Rule rule : kRules) rule(facts, out.findings);
  std::stable_sort(out.findings.begin(), out.findings.end(), [](const auto& a, const auto& b) {
    return SeverityRank(a.severity) < SeverityRank(b.severity);
  });
  out.detail = std::move(detail);
  out.use = std::move(use);
  return out;
}

}  // namespace stoker::explain
