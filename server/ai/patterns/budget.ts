/** Processor time that detectors may take over one text. */
export type Budget = {
  /** @throws BudgetExceeded when the time is used up */
  check: () => void;
};

/** The detectors took longer than allowed; the call is refused, never served unchecked. */
export class BudgetExceeded extends Error {
  override readonly name = 'BudgetExceeded';
}

/**
 * A quarter of a second of processor time, and 50 ms more per 100 KiB of text (interface rule 50 §7.3). Only time that this thread worked counts: neither a busy
 * machine nor the rest of the process is the text's fault.
 */
export function budgetFor(characters: number, baseMs = BASE_MS): Budget {
  const allowed = baseMs + (MS_PER_CHUNK * characters) / CHUNK;
  const started = performance.now();
  let worked: number | undefined;
  return {
    check() {
      if (performance.now() - started <= allowed) return;
      // Reading it costs more than most texts, so it is read when it is late.
      worked ??= workedMs();
      if (workedMs() - worked > allowed) throw new BudgetExceeded('The detectors took too long.');
    },
  };
}

function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

const BASE_MS = 250;
const MS_PER_CHUNK = 50;
const CHUNK = 100 * 1024;
