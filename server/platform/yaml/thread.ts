import { parentPort, workerData } from 'node:worker_threads';
import { parse } from 'yaml';

// Aliases are counted: a few kilobytes may otherwise stand for gigabytes.
const options = { maxAliasCount: 100, logLevel: 'error', uniqueKeys: false, prettyErrors: false } as const;
parentPort?.postMessage(parse(workerData as string, options));
