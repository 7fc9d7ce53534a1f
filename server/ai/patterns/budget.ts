/** Time that detectors may take over one text. */
export type Budget = {
  /** @throws BudgetExceeded when the time is used up */
  check: () => void;
};

/** The detectors took longer than allowed; the call is refused, never served unchecked. */
export class BudgetExceeded extends Error {}

/** 50 ms of work per 100 KiB of text, and never less than 50 ms (interface rule 50 §7.3). */
export function budgetFor(characters: number): Budget {
  const allowed = MS_PER_CHUNK * Math.max(1, characters / CHUNK);
  const started = performance.now();
  let worked: number | undefined;
  return {
    check() {
      if (performance.now() - started <= allowed) return;
      // A busy machine isn't the text's fault: only time that this process worked counts. Reading it costs more than most texts, so it is read when it is late.
      worked ??= workedMs();
      if (workedMs() - worked > allowed) throw new BudgetExceeded('The detectors took too long.');
    },
  };
}

function workedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

const MS_PER_CHUNK = 50;
const CHUNK = 100 * 1024;
