// SPDX-License-Identifier: Apache-2.0
#include "table.h"

#include <algorithm>
#include <cstdio>

#ifdef BENCH_CALDER
#include <calder/output.h>
#endif

namespace bench {
namespace {

void add_unique(std::vector<std::string> &list, const std::string &item) {
	if (std::find(list.begin(), list.end(), item) == list.end())
		list.push_back(item);
}

const Row *find(const std::vector<Row> &rows, const std::string &algorithm, const std::string &model,
                const std::string &engine) {
	for (const Row &r : rows)
		if (r.algorithm == algorithm && r.model == model && r.engine == engine)
			return &r;
	return nullptr;
}

} // namespace

void print_ratio(const std::vector<Row> &rows, const Row &row) {
	const Row *fastest = nullptr;
	for (const Row &r : rows) {
		const bool peer = r.algorithm == row.algorithm && r.model == row.model && r.engine != row.engine;
		if (peer && (!fastest || r.ns_best < fastest->ns_best))
			fastest = &r;
	}
	if (fastest)
		std::printf("  %6.3f of %s", row.ns_best / fastest->ns_best, fastest->engine.c_str());
}

void print_table(const std::vector<Row> &rows, const std::string &algorithm) {
	std::vector<std::string> models, engines;
	for (const Row &r : rows)
		if (r.algorithm == algorithm)
			add_unique(models, r.model), add_unique(engines, r.engine);
	if (models.empty())
		return;
	std::printf("\n%s, ns per body (best of rounds)\n%-12s", algorithm.c_str(), "");
	for (const std::string &e : engines)
		std::printf(" %13s", e.c_str());
	std::printf("\n");
	for (const std::string &m : models) {
		std::printf("%-12s", m.c_str());
		for (const std::string &e : engines) {
			const Row *r = find(rows, algorithm, m, e);
			if (r)
				std::printf(" %13.1f", r->ns_best / r->n);
			else
				std::printf(" %13s", "-");
		}
		if (const Row *calder = find(rows, algorithm, m, "calder"))
			print_ratio(rows, *calder);
		std::printf("\n");
	}
}

static bool write_rows(const std::vector<Row> &rows, const char *path) {
	std::FILE *file = std::fopen(path, "w");
	if (!file)
		return false;
	std::fprintf(file, "[");
	for (const Row &r : rows) {
		std::fprintf(
			file,
			"%s\n  {\"suite\": \"%s\", \"algorithm\": \"%s\", \"model\": \"%s\", \"n\": %d, \"engine\": \"%s\", "
			"\"version\": \"%s\", \"threads\": %d, \"ns_per_call\": %.1f, \"ns_per_body\": %.2f",
			&r == rows.data() ? "" : ",", r.suite.c_str(), r.algorithm.c_str(), r.model.c_str(), r.n, r.engine.c_str(),
			r.version.c_str(), r.threads, r.ns_best, r.ns_best / r.n);
		for (const auto &[name, value] : r.more)
			std::fprintf(file, ", \"%s\": %.8g", name.c_str(), value);
		std::fprintf(file, "}");
	}
	std::fprintf(file, "\n]\n");
	const bool written = !std::ferror(file);
	return std::fclose(file) == 0 && written;
}

#ifdef BENCH_CALDER

bool write_json(const std::vector<Row> &rows, const std::string &path) {
	CalOutput *output = nullptr;
	CalError error = {};
	if (cal_output_open(path.c_str(), nullptr, &output, &error) != CAL_OK) {
		std::fprintf(stderr, "calder-bench: %s\n", error.text);
		return false;
	}
	const bool written = write_rows(rows, cal_output_part(output)) && cal_output_publish(output, &error) == CAL_OK;
	cal_output_close(output);
	return written;
}

#else // alone, without the library: in its place

bool write_json(const std::vector<Row> &rows, const std::string &path) { return write_rows(rows, path.c_str()); }

#endif

} // namespace bench
