import type { HotCtx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { auditFirst } from '../uses.ts';
import { type DetokenizeOptions, detokenizeEntry, lookUp, open, withinMonth } from './detokenize.ts';
import { assertNotGuessing, countMisses } from './misses.ts';

/**
 * The values of tokens of any vaults of the space, in order: all of them or none. Each opening is in the audit log before the first value is read, and nothing
 * is opened or written when one token is refused.
 * @throws Refusal as of `detokenize`
 */
export async function detokenizeAll(ctx: HotCtx, tokens: readonly string[], options: DetokenizeOptions): Promise<string[]> {
  await assertNotGuessing(ctx);
  const found = await Promise.allSettled(tokens.map((token) => lookUp(ctx, null, token, options)));
  const failed = found.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  const misses = failed.filter((error) => error instanceof Refusal && error.type === 'not_found').length;
  if (misses > 0) await countMisses(ctx, misses);
  if (failed.length > 0) throw failed[0];
  const openable = found.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  await withinMonth(ctx, openable.length);
  await auditFirst(
    ctx,
    openable.map((one) => detokenizeEntry(one, options)),
  );
  return Promise.all(openable.map(async (one) => (await open(ctx, one)).value));
}
