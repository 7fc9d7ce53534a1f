import { log } from '#server/platform/log.ts';
import { startWorkflows } from './worker.ts';

// A worker whose output is read: it says that it logs, and runs until it is ended.

log.trace('this worker logs everything');
startWorkflows({ pauseMs: 50 });
