// SPDX-License-Identifier: Apache-2.0
#include "instruction_count.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

// Names that callgrind finds.
extern "C" {
__attribute__((noinline)) void bench_count_begin() { __asm__ volatile(""); }
__attribute__((noinline)) void bench_count_end() { __asm__ volatile(""); }
}

namespace bench {
namespace {

namespace fs = std::filesystem;

std::string joined(const char *option, const std::vector<std::string> &list) {
	std::string out;
	for (const std::string &item : list)
		out += (out.empty() ? std::string(" ") + option + " " : ",") + item;
	return out;
}

// Runs this program under callgrind; its standard output goes to folder/out.
bool run_marked(const Options &options, const fs::path &folder) {
	const std::string counts = (folder / "counts").string(), out = (folder / "out").string();
	// Without string instructions in memset() and memcpy(), each byte of which would count as an instruction.
	const std::string tunables = "GLIBC_TUNABLES=glibc.cpu.x86_rep_stosb_threshold=100000000:"
								 "glibc.cpu.x86_rep_movsb_threshold=100000000 ";
	const std::string command = tunables +
	                            "valgrind --quiet --tool=callgrind --zero-before=bench_count_begin "
	                            "--dump-before=bench_count_end --callgrind-out-file=" +
	                            counts + " " + fs::read_symlink("/proc/self/exe").string() + " trees --marks" +
	                            joined("--models", options.models) + joined("--engines", options.engines) + " >" + out +
	                            " 2>" + (folder / "errors").string();
	return std::system(command.c_str()) == 0;
}

// The number of instructions in a file of callgrind, 0 if there is none.
double total(const fs::path &path) {
	std::ifstream file(path);
	for (std::string line; std::getline(file, line);)
		if (line.rfind("totals: ", 0) == 0)
			return std::atof(line.c_str() + 8);
	return 0;
}

void add_counts(const fs::path &folder, std::vector<Row> &rows) {
	std::ifstream list(folder / "out");
	int number = 0;
	for (std::string line; std::getline(list, line);) {
		char a[64], m[64], e[64];
		if (std::sscanf(line.c_str(), "marked %63s %63s %63s", a, m, e) != 3)
			continue;
		const double count = total(folder / ("counts." + std::to_string(++number)));
		for (Row &r : rows)
			if (r.algorithm == a && r.model == m && r.engine == e)
				r.more.emplace_back("instructions_per_body", count / r.n);
	}
}

} // namespace

void mark_begin() { bench_count_begin(); }

void mark_end(const std::string &algorithm, const std::string &model, const std::string &engine) {
	bench_count_end();
	std::printf("marked %s %s %s\n", algorithm.c_str(), model.c_str(), engine.c_str());
}

bool count_instructions(const Options &options, std::vector<Row> &rows) {
	std::string pattern = (fs::temp_directory_path() / "calder-bench-XXXXXX").string();
	if (!mkdtemp(pattern.data())) {
		std::fprintf(stderr, "calder-bench: error: no temporary folder for the counts\n");
		return false;
	}
	const fs::path folder = pattern;
	const bool ran = run_marked(options, folder);
	if (ran)
		add_counts(folder, rows);
	else
		std::fprintf(stderr,
		             "calder-bench: error: instructions are not counted: valgrind failed or is not installed\n");
	std::error_code ignored;
	fs::remove_all(folder, ignored);
	for (const Row &r : rows)
		for (const auto &[name, value] : r.more)
			if (name == "instructions_per_body")
				std::printf("%-18s %-12s %-10s %12.0f instructions per body\n", r.algorithm.c_str(), r.model.c_str(),
				            r.engine.c_str(), value);
	return ran;
}

} // namespace bench
