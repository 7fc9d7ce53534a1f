import { processState } from '#server/kernel/process-state.ts';
import { inBackground } from '#server/platform/background.ts';
import { sql } from '#server/platform/sql.ts';

// How often and when bindings were last used. A pipeline with a hundred jobs exchanges a hundred tokens at once: its row is written every few seconds, not
// for each of them, and never inside the transaction that issues a token.

const EVERY_MS = 5_000;

type Uses = { n: number; last: Date };
const waiting = processState('binding-uses', () => ({ uses: new Map<string, Uses>(), timer: undefined as NodeJS.Timeout | undefined }));

/** Counts one exchange. The first is written at once, those of the next seconds together. */
export function countUse(bindingId: string, now: Date): void {
  const { n } = waiting.uses.get(bindingId) ?? { n: 0 };
  waiting.uses.set(bindingId, { n: n + 1, last: now });
  if (waiting.timer) return;
  waiting.timer = setTimeout(() => {
    waiting.timer = undefined;
    if (waiting.uses.size > 0) inBackground('count uses of trust bindings', writeUses);
  }, EVERY_MS);
  waiting.timer.unref();
  inBackground('count uses of trust bindings', writeUses);
}

/** What is lost when a process dies is a few seconds of counting. */
export async function writeUses(): Promise<void> {
  const uses = [...waiting.uses];
  waiting.uses.clear();
  if (uses.length === 0) return;
  await sql().query({
    name: 'count-binding-uses',
    text: `update oauth_trust_bindings b set use_count = b.use_count + u.n, last_used_at = greatest(b.last_used_at, u.last)
      from unnest($1::uuid[], $2::int[], $3::timestamptz[]) as u(id, n, last) where b.id = u.id`,
    values: [uses.map(([id]) => id), uses.map(([, { n }]) => n), uses.map(([, { last }]) => last)],
  });
}
