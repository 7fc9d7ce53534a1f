import { isOutage } from '../kernel/errors.ts';
import { processState } from '../kernel/process-state.ts';

// While a database is away every call, poll and retry would say so. The first line of each message is written as it is; those of the next minute are counted,
// and one line says how many they were.

const WINDOW_MS = 60_000;
/** Messages are of the code, and few; a message that holds a name could make more. */
const MOST_MESSAGES = 200;

type Write = (details: object, message: string) => void;
type Held = { timer: NodeJS.Timeout; repeated: number; since: Date; details: object; write: Write };

const held = processState('outage-lines', () => ({ messages: new Map<string, Held>() }), { lasting: true });

/** Whether the line is one of an outage that was told within a minute, so that it is counted and not written. `write` is how the count is told. */
export function isCounted(args: readonly unknown[], write: Write): boolean {
  const [details, message] = args;
  const error = details instanceof Error ? details : (details as { err?: unknown } | null)?.err;
  if (typeof message !== 'string' || typeof details !== 'object' || details === null || !isOutage(error)) return false;
  const known = held.messages.get(message);
  if (known) {
    known.repeated++;
    known.details = details;
    known.write = write;
    return true;
  }
  if (held.messages.size >= MOST_MESSAGES) return false;
  const entry: Held = { timer: setTimeout(() => tell(message, entry), WINDOW_MS).unref(), repeated: 0, since: new Date(), details, write };
  held.messages.set(message, entry);
  return false;
}

function tell(message: string, entry: Held): void {
  if (entry.repeated === 0) {
    held.messages.delete(message);
    return;
  }
  const { repeated, since, details } = entry;
  entry.repeated = 0;
  entry.since = new Date();
  entry.timer = setTimeout(() => tell(message, entry), WINDOW_MS).unref();
  entry.write({ ...(details instanceof Error ? { err: details } : details), repeated, since: since.toISOString() }, message);
}

/** Writes what was counted so far, and begins anew: for tests. */
export function tellOutages(): void {
  for (const [message, entry] of held.messages) {
    clearTimeout(entry.timer);
    if (entry.repeated > 0) entry.write({ repeated: entry.repeated, since: entry.since.toISOString() }, message);
  }
  held.messages.clear();
}
