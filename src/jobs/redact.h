// Secrets out of what goes on record: values of variables and options whose names speak of secrets,
// values that look like keys, and passwords in addresses. Errs on the side of hiding.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stoker::jobs {

inline constexpr std::string_view kRedacted = "[redacted]";

// {"HOME":"/home/ann","HF_TOKEN":"[redacted]"} from "K=V" entries.
std::string RedactedEnvironment(const std::vector<std::string>& environment);

// "--token abc", "--api-key=abc", "TOKEN=abc" and addresses with passwords lose the secret.
std::vector<std::string> RedactedCommand(const std::vector<std::string>& command);

}  // namespace stoker::jobs
