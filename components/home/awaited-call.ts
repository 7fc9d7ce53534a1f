import { isTestCall, type Log, outcomeOf } from '#components/logs/call-kind.ts';

/**
 * The call the first-call page shows: the newest successful one, else the newest. `streamed` and `listed` are newest first and may overlap: the
 * list has what arrived before the stream connected. Calls from the Test tab don't count.
 */
export function awaitedCall(streamed: readonly Log[], listed: readonly Log[]): { call: Log; succeeded: boolean; more: number } | undefined {
  const calls = [...new Map([...listed, ...streamed].map((log) => [log.request_id, log])).values()]
    .filter((log) => !isTestCall(log))
    .sort((a, b) => b.ts.localeCompare(a.ts));
  const success = calls.find((log) => outcomeOf(log) === 'ok');
  const call = success ?? calls[0];
  return call && { call, succeeded: success !== undefined, more: calls.length - 1 };
}
