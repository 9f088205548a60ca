// A file of settings with every key, its meaning and its default, from the declarations that --help comes from.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace ringside {

/// TOML for --config. A key that was given (by a flag, or a file read by --config) stands with its value, any other
/// as a comment with its default.
std::string config_template(const CLI::App& app);

}  // namespace ringside
