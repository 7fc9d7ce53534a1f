import { log } from '#server/platform/log.ts';
import { ALERT_TYPES, isOfRequests } from './conditions.shared.ts';
import { readCalls } from './sources/calls.ts';
import { readRecords } from './sources/records.ts';
import { readStates } from './sources/states.ts';
import type { Findings, Watched } from './watched.ts';

/**
 * What each alert finds at a moment. One query or two for each kind of source, however many alerts there are. A source that fails has no findings: its alerts
 * stay as they are until the next look, and all others are looked at.
 */
export async function findAll(alerts: readonly Watched[], now: Date): Promise<Findings> {
  const ofRecords = (type: string) => type === 'reveal_spike' || type === 'audit_match';
  const states = ALERT_TYPES.filter((type) => !isOfRequests(type) && !ofRecords(type));
  const found = await Promise.allSettled([
    readCalls(
      alerts.filter(({ type }) => isOfRequests(type)),
      now,
    ),
    readRecords(
      alerts.filter(({ type }) => ofRecords(type)),
      now,
    ),
    ...states.map((of) =>
      readStates(
        of,
        alerts.filter(({ type }) => type === of),
        now,
      ),
    ),
  ]);
  return new Map(found.flatMap((result) => (result.status === 'fulfilled' ? [...result.value] : unread(result.reason))));
}

function unread(error: unknown): [] {
  log.error({ err: error }, 'a source of alerts cannot be read');
  return [];
}
