#include "common/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "common/error.hpp"

namespace ringside {

void start_log(const std::string& program, const std::string& level) {
  const spdlog::level::level_enum wanted = spdlog::level::from_str(level);
  if (wanted == spdlog::level::off && level != "off") {
    throw usage_error("--log-level: found '{}', expected trace, debug, info, warning, error or off", level);
  }
  auto logger = spdlog::stderr_logger_mt(program);
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %n level=%l %v");
  logger->set_level(wanted);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace ringside
