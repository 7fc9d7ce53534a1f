import { counter, histogram, tally } from '#server/platform/telemetry/meters.ts';
import type { Call } from './call.ts';

const PLANES = ['route', 'ai', 'mcp', 'proxy', 'capture', 'other'] as const;
/** By the hundred; `none` when nothing was sent to the caller. */
const CLASSES = ['none', '1xx', '2xx', '3xx', '4xx', '5xx'] as const;
const OUTCOMES = ['forwarded', 'answered', 'refused', 'broken', 'client_gone'] as const;
const [FORWARDED, ANSWERED, REFUSED, BROKEN, CLIENT_GONE] = [0, 1, 2, 3, 4] as const;
const LATENCY = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const OVERHEAD = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];

const calls = counter(
  { name: 'sallyport_calls', help: 'Calls that ended, by plane, class of status, and outcome' },
  { plane: PLANES, status: CLASSES, outcome: OUTCOMES },
);
const latency = histogram(
  { name: 'sallyport_call_duration_seconds', help: 'From the head of a call to the end of its answer', unit: 's' },
  LATENCY,
  'plane',
  PLANES,
);
const overhead = histogram(
  { name: 'sallyport_call_overhead_seconds', help: 'The part of it that was not spent waiting for the upstream', unit: 's' },
  OVERHEAD,
  'plane',
  PLANES,
);
const refusals = tally({ name: 'sallyport_refusals', help: 'Calls that were refused, by reason' }, 'reason');
const upstreamFailures = tally({ name: 'sallyport_stream_failures', help: 'Answers that were cut off, by reason' }, 'reason');

/** Counts a request that was refused before it was a call of a plane. */
export const countRefusal = (reason: string): void => refusals.add(reason);

export type CallMeter = (call: Call) => void;

/** What counts the calls of a plane that have ended: one look at the clock and a few additions, for every call there is. */
export function callMeter(planeName: string): CallMeter {
  const plane = (PLANES as readonly string[]).includes(planeName) ? planeName : 'other';
  const first = calls.index(plane, CLASSES[0], OUTCOMES[0]);
  const row = latency.row(plane);
  const { cells } = calls;
  return (call) => {
    const seconds = (performance.now() - call.began) / 1_000;
    const outcome = outcomeOf(call);
    const cell = first + classOf(call.status) * OUTCOMES.length + outcome;
    cells[cell] = (cells[cell] as number) + 1;
    // A WebSocket ends when somebody closes it.
    if (call.status !== 101) latency.observe(seconds, row);
    if (call.phase === 'complete') overhead.observe(Math.max(0, seconds - waitedFor(call)), row);
    else {
      // Of a stream only what came before it was sent can be told from what the upstream took.
      const { phaseTimings } = call;
      overhead.observe((phaseTimings[phaseTimings.length - 1] ?? 0) / 1_000, row);
    }
    if (outcome === REFUSED) refusals.add(call.refusal?.code ?? '');
    else if (outcome === BROKEN) upstreamFailures.add(call.error ?? '');
  };
}

function outcomeOf({ refusal, status, error, origin }: Call): number {
  if (refusal !== null) return REFUSED;
  if (status === 0) return CLIENT_GONE;
  if (error !== null) return BROKEN;
  return origin === 'upstream' ? FORWARDED : ANSWERED;
}

const classOf = (status: number): number => (status < 100 || status > 599 ? 0 : Math.floor(status / 100));

/** Seconds. Planes that ask their upstreams themselves know whole milliseconds only. */
const waitedFor = ({ upstreamSpent, upstreamMs }: Call): number => (upstreamSpent > 0 ? upstreamSpent : Math.max(0, upstreamMs)) / 1_000;
