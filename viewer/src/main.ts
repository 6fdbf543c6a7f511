// SPDX-License-Identifier: Apache-2.0
/*
 * main.ts — the viewer: opens the page with what there is to show.
 */
import { begin, openPage } from "./page.js";

openPage({ begin });
