// SPDX-License-Identifier: BSD-3-Clause
// The function of each subcommand. Each function parses its own arguments (argv[0] is the subcommand's name), may throw
// Error, and returns an exit code. cli/main.cpp has the table that names and calls them.
#pragma once

namespace ringside {

using SubcommandFunction = int(int argc, const char* const* argv);

// cli/run
SubcommandFunction run_command;
SubcommandFunction cache_command;

// cli/pool
SubcommandFunction info_command;
SubcommandFunction verify_command;
SubcommandFunction replay_command;
SubcommandFunction thaw_command;
SubcommandFunction wipe_command;
SubcommandFunction gather_command;

// cli/analyses
SubcommandFunction analyze_command;  // returns 2 if an analysis ended early

// cli/compare
SubcommandFunction compare_command;  // returns 5 for damage, or if --expect-equal is not met

// cli/export
SubcommandFunction export_command;

// cli/watch
SubcommandFunction tail_command;
SubcommandFunction stop_command;
SubcommandFunction serve_command;
SubcommandFunction report_command;
SubcommandFunction keygen_command;

// cli/node
SubcommandFunction calibrate_command;
SubcommandFunction plan_command;

// cli/experiment
SubcommandFunction experiment_command;

// cli/doctor
SubcommandFunction doctor_command;  // returns 3 if a finding would make a run fail

}  // namespace ringside
