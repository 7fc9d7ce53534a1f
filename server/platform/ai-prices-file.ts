import { readFileSync } from 'node:fs';
import { env } from './env.ts';

/** The operator's price list, or null without one. @throws when the file can't be read */
export const aiPricesText = (): string | null => (env.AI_PRICES_FILE === undefined ? null : readFileSync(env.AI_PRICES_FILE, 'utf8'));
