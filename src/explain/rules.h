// The rules behind Explain(). Each looks at one thing and appends what it finds, or nothing; none
// says more than its numbers do.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "explain/explain.h"

namespace stoker::explain {

struct Facts {
  const query::JobDetail& detail;
  const query::JobUse& use;
  const ledger::Job& job() const { return detail.view.job; }
};

using Numbers = std::vector<std::pair<std::string, double>>;
using Findings = std::vector<Finding>;

constexpr const char* kInfo = "info";
constexpr const char* kNotice = "notice";
constexpr const char* kWarning = "warning";
int SeverityRank(const std::string& severity);  // 0 is what matters most

// How the job ended and what it left: outcome.cc
void FindOutcome(const Facts& facts, Findings& out);
void FindUnsafeCheckpoints(const Facts& facts, Findings& out);
void FindPhases(const Facts& facts, Findings& out);

// What the model learned: learning.cc
void FindBestAndAfter(const Facts& facts, Findings& out);
void FindOverfit(const Facts& facts, Findings& out);
void FindPlateau(const Facts& facts, Findings& out);
void FindDiverged(const Facts& facts, Findings& out);

// What the machine did: effort.cc (was it working) and health.cc (was it held back, was it read)
void FindUse(const Facts& facts, Findings& out);
void FindIdleCards(const Facts& facts, Findings& out);
void FindCpuStarved(const Facts& facts, Findings& out);
void FindBusyWithoutWork(const Facts& facts, Findings& out);
void FindStalls(const Facts& facts, Findings& out);  // stalls.cc
void FindThrottle(const Facts& facts, Findings& out);
void FindWarmCards(const Facts& facts, Findings& out);
void FindUnread(const Facts& facts, Findings& out);
void FindEnergyDisagreement(const Facts& facts, Findings& out);
void FindSharedCards(const Facts& facts, Findings& out);

// Reads of a card below which its means say nothing.
constexpr int64_t kLeastSamples = 10;

}  // namespace stoker::explain
