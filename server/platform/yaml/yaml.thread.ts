import { parse } from 'yaml';

// Aliases are counted: a few kilobytes may otherwise stand for gigabytes.
const OPTIONS = { maxAliasCount: 100, logLevel: 'error', uniqueKeys: false, prettyErrors: false } as const;

export const run = (text: string): unknown => parse(text, OPTIONS);
