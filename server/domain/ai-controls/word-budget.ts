import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { grouped } from '#server/kernel/numbers.ts';
import { MOST_WORDS_OF_POLICY, MOST_WORDS_OF_SPACE } from './schema.ts';

// Lists of words are held in memory by all who run them, so their sum has a limit: of the lists that a policy names, and of all of a space. It's judged when
// something grows: what is stored runs on, however long it is.

/** `before` and `after` are bytes of the words of a recognizer that is written; `id` is null of a new one. @throws Refusal validation_error */
export async function assertWordBudget(
  tx: Tx,
  ctx: Ctx,
  { id, before, after }: { id: string | null; before: number; after: number },
): Promise<void> {
  if (after <= before) return;
  await lock(tx, ctx);
  const { tenant_id, sandbox } = own(ctx);
  const [others] = await tx.$queryRaw<{ bytes: number }[]>`
    select coalesce(sum(octet_length(pattern)), 0)::int as bytes from ai_pii_recognizers
    where tenant_id = ${tenant_id}::uuid and sandbox = ${sandbox} and kind = 'aho_corasick' and id is distinct from ${id}::uuid`;
  const total = (others?.bytes ?? 0) + after;
  if (total > MOST_WORDS_OF_SPACE)
    throw invalid(
      'pattern',
      `brings the word lists of this space to ${kib(total)} KiB, and ${kib(MOST_WORDS_OF_SPACE)} KiB are allowed. Shorten or delete lists first`,
    );
  const [policy] = await tx.$queryRaw<{ name: string; bytes: number }[]>`
    select p.name, sum(octet_length(r.pattern))::int as bytes from ai_pii_policies p
    join ai_pii_recognizers r on r.id = any(p.recognizer_ids) and r.tenant_id = p.tenant_id and r.sandbox = p.sandbox
    where p.tenant_id = ${tenant_id}::uuid and p.sandbox = ${sandbox} and ${id}::uuid = any(p.recognizer_ids) and r.kind = 'aho_corasick' and r.id <> ${id}::uuid
    group by p.id, p.name order by bytes desc limit 1`;
  const ofPolicy = (policy?.bytes ?? 0) + after;
  if (policy && ofPolicy > MOST_WORDS_OF_POLICY)
    throw invalid(
      'pattern',
      `brings the word lists of the policy ${policy.name} to ${kib(ofPolicy)} KiB, and ${kib(MOST_WORDS_OF_POLICY)} KiB are allowed. Shorten lists, or name fewer`,
    );
}

/** The word lists of recognizers that a policy is to name instead of those before. @throws Refusal validation_error */
export async function assertPolicyWords(tx: Tx, ctx: Ctx, ids: readonly string[], before: readonly string[] = []): Promise<void> {
  if (ids.length === 0) return;
  await lock(tx, ctx);
  const total = await bytesOf(tx, ctx, ids);
  if (total > MOST_WORDS_OF_POLICY && total > (await bytesOf(tx, ctx, before)))
    throw invalid(
      'recognizer_ids',
      `name word lists of ${kib(total)} KiB together, and ${kib(MOST_WORDS_OF_POLICY)} KiB are allowed. Name fewer, or shorten lists`,
    );
}

async function bytesOf(tx: Tx, ctx: Ctx, ids: readonly string[]): Promise<number> {
  const { tenant_id, sandbox } = own(ctx);
  const [sum] = await tx.$queryRaw<{ bytes: number }[]>`
    select coalesce(sum(octet_length(pattern)), 0)::int as bytes from ai_pii_recognizers
    where tenant_id = ${tenant_id}::uuid and sandbox = ${sandbox} and kind = 'aho_corasick' and id = any(${[...ids]}::uuid[])`;
  return sum?.bytes ?? 0;
}

/** One change at a time, so that two that fit alone don't exceed the limit together. */
const lock = (tx: Tx, ctx: Ctx): Promise<unknown> => holdLock(tx, `word-lists:${ctx.tenant_id}:${ctx.sandbox}`);

const kib = (bytes: number): string => grouped(Math.ceil(bytes / 1024));
