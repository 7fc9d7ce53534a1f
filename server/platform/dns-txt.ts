import { promises as dns } from 'node:dns';
import { processState } from '#server/kernel/process-state.ts';
import { env } from './env.ts';

/** What one resolver said: the values of the name, none, or nothing at all within the time. */
export type TxtAnswer = { resolver: string; reached: boolean; values: readonly string[] };

const TIMEOUT_MS = 5_000;
/** Answers that say for certain that there is no such record. */
const NONE = new Set(['ENOTFOUND', 'ENODATA']);

/** Resolvers in place of the configured ones; tests set them. */
export const resolversInUse = processState('dns-txt', (): { list?: readonly string[] } => ({}));

/** The TXT records of a name as each configured resolver has them; the strings of one record are one value (RFC 7208 §3.3). Never throws. */
export const lookupTxt = (name: string): Promise<TxtAnswer[]> =>
  Promise.all((resolversInUse.list ?? env.DNS_RESOLVERS).map((resolver) => askOne(name, resolver)));

async function askOne(name: string, resolver: string): Promise<TxtAnswer> {
  const asked = new dns.Resolver({ timeout: 2_000, tries: 2 });
  asked.setServers([resolver]);
  const timer = setTimeout(() => asked.cancel(), TIMEOUT_MS);
  try {
    const records = await asked.resolveTxt(name);
    return { resolver, reached: true, values: records.map((parts) => parts.join('')) };
  } catch (error) {
    return { resolver, reached: NONE.has((error as NodeJS.ErrnoException).code ?? ''), values: [] };
  } finally {
    clearTimeout(timer);
  }
}
