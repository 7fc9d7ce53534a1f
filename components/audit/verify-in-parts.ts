import type { z } from 'zod';
import type { CriticalVerdict } from '#server/domain/audit-logs/schema.ts';

export type Verdict = z.output<typeof CriticalVerdict>;
type Ask = (range: { from?: string; to?: string }) => Promise<Verdict>;

/** Entries of one question: a second of work, so that there is something to tell in between. */
export const PART = 2_000;

/**
 * Verifies a chain from its first entry to its last in parts, each beginning with the link to the part before. The last part is open at its end, so that
 * the checkpoints tell whether entries are missing there. Stops at the first failure, and when told to. @returns undefined when it was stopped
 */
export async function verifyInParts({
  last,
  ask,
  onProgress,
  stopped,
}: {
  last: number;
  ask: Ask;
  onProgress: (checked: number) => void;
  stopped: () => boolean;
}): Promise<Verdict | undefined> {
  let whole: Verdict | undefined;
  for (let from = 1; ; from += PART) {
    if (stopped()) return undefined;
    const open = from + PART > last;
    const part = await ask({ ...(from > 1 ? { from: from.toString() } : {}), ...(open ? {} : { to: (from + PART - 1).toString() }) });
    whole = {
      ...part,
      checked: (whole?.checked ?? 0) + part.checked,
      first: whole?.first ?? part.first,
      last: part.last ?? whole?.last ?? null,
      head_hash: part.head_hash ?? whole?.head_hash ?? null,
    };
    onProgress(whole.checked);
    // A part that ends before its end has lost its end, whatever its own hashes say. Before the baseline an accepted chain may have gaps.
    if (!open && part.valid && part.checked < PART && from > Number(part.baseline?.sequence_number ?? 0))
      return { ...whole, valid: false, failure: { sequence_number: (from + part.checked).toString(), kind: 'gap' } };
    if (!part.valid || open) return whole;
  }
}
