import { readFileSync } from 'node:fs';

/** The version of this checkout. */
export const release = (): string => (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version;
