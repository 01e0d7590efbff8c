#include "jobs/redact.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"

namespace stoker::jobs {
namespace {

constexpr std::array<std::string_view, 12> kSecretWords = {
    "token",  "secret", "password", "passwd", "passphrase", "credential",
    "apikey", "key",    "private",  "cookie", "bearer",     "authorization"};
// Names with such a word that hold no secret.
constexpr std::array<std::string_view, 11> kHarmless = {
    "tokenizer",  "keyboard",   "keymap",     "xkb",        "max_tokens", "max-tokens",
    "new_tokens", "new-tokens", "num_tokens", "num-tokens", "token_count"};
constexpr std::array<std::string_view, 16> kKeyPrefixes = {
    "sk-",  "hf_",  "ghp_", "gho_", "ghs_",  "ghu_",       "github_pat_", "glpat-",
    "AKIA", "ASIA", "xoxb", "xoxp", "ya29.", "-----BEGIN", "eyJ",         "AIza"};
constexpr size_t kLongKey = 32;
constexpr size_t kMaxValue = 64 << 10;

bool SecretName(std::string_view name) {
  const std::string lower = ToLower(name);
  for (const std::string_view word : kHarmless) {
    if (lower.find(word) != std::string::npos) return false;
  }
  return std::any_of(kSecretWords.begin(), kSecretWords.end(),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

bool IsKeyChar(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' ||
         c == '=' || c == '_';
}

// A long run of letters and digits without the slashes, dots and dashes that paths, names and UUIDs
// have.
bool LooksRandom(std::string_view value) {
  if (value.size() < kLongKey) return false;
  int letters = 0, digits = 0;
  for (const char c : value) {
    if (!IsKeyChar(c)) return false;
    digits += c >= '0' && c <= '9' ? 1 : 0;
    letters += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? 1 : 0;
  }
  return digits >= 4 && letters >= 4;
}

bool LooksLikeKey(std::string_view value) {
  for (const std::string_view prefix : kKeyPrefixes) {
    if (value.size() >= prefix.size() + 8 && value.starts_with(prefix)) return true;
  }
  return LooksRandom(value);
}

// "https://ann:pw@host/x" -> "https://[redacted]@host/x", wherever it stands in the text.
std::string WithoutPasswords(std::string_view text) {
  std::string out;
  while (true) {
    const size_t scheme = text.find("://");
    if (scheme == std::string_view::npos) return out.append(text);
    const size_t begin = scheme + 3;
    const size_t end = std::min(text.find_first_of("/?# \t\n\"'", begin), text.size());
    const std::string_view authority = text.substr(begin, end - begin);
    const size_t at = authority.rfind('@');
    out.append(text.substr(0, begin));
    if (at == std::string_view::npos) {
      out.append(authority);
    } else {
      const std::string_view user = authority.substr(0, at);
      const bool secret = user.find(':') != std::string_view::npos || LooksLikeKey(user);
      out.append(secret ? kRedacted : user).append(authority.substr(at));
    }
    text.remove_prefix(end);
  }
}

std::string RedactedValue(std::string_view value) {
  if (value.size() > kMaxValue) return "[" + FormatBytes(static_cast<double>(value.size())) + "]";
  if (LooksLikeKey(value)) return std::string(kRedacted);
  return WithoutPasswords(value);
}

bool IsOption(std::string_view argument) { return argument.size() > 1 && argument[0] == '-'; }

}  // namespace

std::string RedactedEnvironment(const std::vector<std::string>& environment) {
  Json json = Json::object();
  for (const std::string& entry : environment) {
    const size_t equals = entry.find('=');
    if (equals == 0 || equals == std::string::npos) continue;
    const std::string_view value = std::string_view(entry).substr(equals + 1);
    const std::string name = entry.substr(0, equals);
    const bool hide = SecretName(name) && !value.empty();
    json[Printable(name)] = hide ? std::string(kRedacted) : RedactedValue(value);
  }
  return DumpJson(json);
}

std::vector<std::string> RedactedCommand(const std::vector<std::string>& command) {
  std::vector<std::string> out;
  bool hide_next = false;
  for (const std::string& argument : command) {
    const size_t equals = argument.find('=');
    if (hide_next && !IsOption(argument)) {
      out.emplace_back(kRedacted);
    } else if (equals != std::string::npos && SecretName(argument.substr(0, equals))) {
      out.push_back(argument.substr(0, equals + 1) + std::string(kRedacted));
    } else if (equals != std::string::npos && LooksLikeKey(argument.substr(equals + 1))) {
      out.push_back(argument.substr(0, equals + 1) + std::string(kRedacted));
    } else {
      out.push_back(RedactedValue(argument));
    }
    hide_next = IsOption(argument) && equals == std::string::npos && SecretName(argument);
  }
  return out;
}

}  // namespace stoker::jobs
