import { isOutage, Refusal } from '../kernel/errors.ts';
import { isOurs } from '../kernel/outage.ts';
import { processState } from '../kernel/process-state.ts';

// While a database is away every call, poll and retry would say so. The first line of each message is written as it is; those of the next minute are counted,
// and one line says how many they were. What sockets say may be of anybody's system (an upstream, a mail server, a customer's KMS or database): where the error is
// not marked as ours, only lines about the same thing are counted together. So is what callers can cause at will: refusals, and the ends that bounds put to work.

const WINDOW_MS = 60_000;
/** Messages are of the code, and few; a message that holds a name could make more. */
const MOST_MESSAGES = 400;
/** Lines about others' systems leave room for our own. */
const MOST_OF_OTHERS = 200;

type Write = (details: object, message: string) => void;
type Held = { message: string; timer: NodeJS.Timeout; repeated: number; since: Date; details: object; write: Write };

const held = processState('outage-lines', () => ({ messages: new Map<string, Held>() }), { lasting: true });

/** Whether the line is one of an outage that was told within a minute, so that it is counted and not written. `write` is how the count is told. */
export function isCounted(args: readonly unknown[], write: Write): boolean {
  const [details, message] = args;
  const error = details instanceof Error ? details : (details as { err?: unknown } | null)?.err;
  if (typeof message !== 'string' || typeof details !== 'object' || details === null || !(isExpected(error) || 'fault' in details))
    return false;
  const own = isOurs(error);
  const kind = error instanceof Refusal ? error.type : '';
  const key = own ? message : `${message}\0${kind}\0${aboutOf(details)}`;
  const known = held.messages.get(key);
  if (known) {
    known.repeated++;
    known.details = details;
    known.write = write;
    return true;
  }
  if (held.messages.size >= (own ? MOST_MESSAGES : MOST_OF_OTHERS)) return false;
  const entry: Held = {
    message,
    timer: setTimeout(() => tell(key, entry), WINDOW_MS).unref(),
    repeated: 0,
    since: new Date(),
    details,
    write,
  };
  held.messages.set(key, entry);
  return false;
}

/** Bounds that ended work: that is what they are for. Their errors need no stack. */
const BOUNDS = new Set(['WorkTooSlow', 'WorkTooLarge', 'BudgetExceeded', 'TooManyMatches', 'HeldTooLong']);
/** What systems that workspaces name did wrong, whatever they said. */
const FAULTS = new Set(['UpstreamFault', 'DatabaseFault', 'KmsFailure', 'TokenFault', 'OidcFault', 'ConnectFault', 'IssuerFault']);

/** Whether the failure is no fault of this code, which is told each time. A line that must not show its error, such as one with an address, names it as `fault`. */
function isExpected(error: unknown): boolean {
  if (error instanceof Refusal) return error.type !== 'internal_error';
  return isOutage(error) || (error instanceof Error && (BOUNDS.has(error.name) || FAULTS.has(error.name)));
}

/** Whether a bound or a rule did its work and nothing failed: such a line needs no stack. */
export const isDeliberate = (error: unknown): boolean =>
  error instanceof Error &&
  (BOUNDS.has(error.name) || (error instanceof Refusal && error.type !== 'internal_error' && error.cause === undefined));

/** New with each call, job or event. */
const OF_ONE_CALL = new Set(['request_id', 'execution_id', 'delivery_id', 'event_id']);

/** What the line is about: its workspace, and the things and hosts that it names. */
function aboutOf(details: object): string {
  const named = Object.entries(details).filter(([name, value]) => typeof value === 'string' && !OF_ONE_CALL.has(name));
  return details instanceof Error ? '' : JSON.stringify(named).slice(0, 1_000);
}

function tell(key: string, entry: Held): void {
  if (entry.repeated === 0) {
    held.messages.delete(key);
    return;
  }
  const { repeated, since, details } = entry;
  entry.repeated = 0;
  entry.since = new Date();
  entry.timer = setTimeout(() => tell(key, entry), WINDOW_MS).unref();
  entry.write({ ...(details instanceof Error ? { err: details } : details), repeated, since: since.toISOString() }, entry.message);
}

/** Writes what was counted so far, and begins anew: for tests. */
export function tellOutages(): void {
  for (const entry of held.messages.values()) {
    clearTimeout(entry.timer);
    if (entry.repeated > 0) entry.write({ repeated: entry.repeated, since: entry.since.toISOString() }, entry.message);
  }
  held.messages.clear();
}
