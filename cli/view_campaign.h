// SPDX-License-Identifier: Apache-2.0
/*
 * view_campaign.h — the folder of a campaign as a page of the viewer (docs/replay.md, "Campaigns").
 */
#ifndef CALDER_CLI_VIEW_CAMPAIGN_H
#define CALDER_CLI_VIEW_CAMPAIGN_H

#include "cli.h"

enum { CAMPAIGN_REPLAYS = 16 }; // at most

typedef struct CampaignView {
	const char *folder;
	int64_t cases[CAMPAIGN_REPLAYS]; // that can be replayed
	int case_count;                  // 0: those with the least and the greatest value of each output, at most 8
	const CalReplayOptions *replay;  // of each
} CampaignView;

/** Is it the folder of a campaign? */
bool campaign_is_folder(const char *path);
/** Writes the document, in the page if the options have one; runs the cases that can be replayed. Returns an exit code. */
int campaign_view_write(const CampaignView *view, FILE *out);

#endif
