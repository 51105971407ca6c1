// Runs once on each built page that has views, as soon as the page has been read.

import { showViews } from "./views.js";

showViews(document).catch(reportError);
