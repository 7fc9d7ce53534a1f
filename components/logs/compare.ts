import { exactMillis } from '#components/ui/numbers.ts';
import { addressIn } from '#server/domain/tenants/country.shared.ts';
import { outcomeOf } from './call-kind.ts';
import { matchedHow } from './call-summary.ts';
import { MODE_WORDS, OUTCOME_WORDS } from './filter-labels.ts';
import { reasonOf } from './refusal-reasons.ts';
import { blockOf, type Detail, phasesOf, traceOf } from './trace.ts';

export type Pair = {
  label: string;
  a: string | null;
  b: string | null;
  differs: boolean;
  /** How much the second is more or less than the first, where both are numbers. */
  by?: string;
};
export type Comparison = { title: string; pairs: readonly Pair[] }[];

/**
 * Two calls side by side. It knows what the log knows: names of headers and secrets, sizes, times. Values of headers, bodies and secrets are stored
 * nowhere, so there is none that a comparison could show.
 */
export function compareCalls(a: Detail, b: Detail): Comparison {
  const both = <T>(of: (detail: Detail) => T): [T, T] => [of(a), of(b)];
  const text = (label: string, of: (detail: Detail) => string | number | null | undefined): Pair => {
    const [left, right] = both(of).map((value) => (value === null || value === undefined || value === '' ? null : String(value)));
    return { label, a: left ?? null, b: right ?? null, differs: left !== right };
  };
  const amount = (label: string, of: (detail: Detail) => number | null, write: (n: number) => string, least: number): Pair => {
    const [left, right] = both(of);
    const apart = left === null || right === null ? (left === right ? 0 : Number.POSITIVE_INFINITY) : Math.abs(right - left);
    const by =
      left === null || right === null || left === right ? undefined : `${right > left ? '+' : '−'}${write(Math.abs(right - left))}`;
    const pair = { label, a: left === null ? null : write(left), b: right === null ? null : write(right), differs: apart > least };
    return by === undefined || !pair.differs ? pair : { ...pair, by };
  };
  const [left, right] = both(({ log }) => traceOf(log.trace));
  return [
    {
      title: 'Result',
      pairs: [
        text('Status', ({ log }) => log.status_code),
        text('Outcome', ({ log }) => OUTCOME_WORDS[outcomeOf(log)]),
        text('Reason', ({ log }) => log.error && reasonOf(log.error)),
        text('Answered by', ({ log }) => (log.origin === 'service' ? 'gateway' : log.origin && 'upstream')),
        text('Upstream status', ({ log }) => log.upstream_status),
        text('Attempts', ({ log }) => log.attempts),
        text('Warnings', ({ log }) => log.warnings.join(', ')),
      ],
    },
    { title: 'Time', pairs: phasePairs(a, b) },
    {
      title: 'Request',
      pairs: [
        text('Method', ({ log }) => log.method),
        text('Path', ({ log }) => log.path?.split('?')[0]),
        text('Query', ({ log }) => log.path?.split('?').slice(1).join('?')),
        text('Source', ({ log }) => MODE_WORDS[log.proxy_mode as keyof typeof MODE_WORDS] ?? log.proxy_mode),
        amount('Request size', ({ log }) => log.request_bytes, bytes, 0),
        amount('Response size', ({ log }) => log.response_bytes, bytes, 0),
      ],
    },
    {
      title: 'Destination',
      pairs: [
        text('Route', ({ route, log }) => route?.name ?? log.route_name),
        text('Environment', ({ log }) => log.environment),
        text('Upstream', ({ log }) => log.upstream_host),
        text('Secrets used', ({ log }) => log.secrets_used.toSorted().join(', ')),
        text('Injected', ({ log }) => log.injected.toSorted().join(', ')),
      ],
    },
    {
      title: 'Caller',
      pairs: [
        text('Client', ({ client, log }) => client?.name ?? log.client_name),
        text('Identified', ({ log }) => matchedHow(log.identification_method)),
        text('Credential', ({ api_key, log }) => api_key?.name ?? (log.api_key_id && `Deleted key (${log.api_key_id.slice(0, 8)})`)),
        text('IP address', ({ log }) => addressIn(log.src_ip, log.source_ip_country)),
        text('User agent', ({ log }) => log.user_agent),
      ],
    },
    { title: 'Request headers', pairs: headerPairs(left.request_headers, right.request_headers) },
    { title: 'Response headers', pairs: headerPairs(left.response_headers, right.response_headers) },
    { title: 'Rate limits', pairs: limitPairs(a, b) },
  ].map(({ title, pairs }) => ({ title, pairs: pairs.filter((pair) => pair.a !== null || pair.b !== null) }));
}

/** How many things differ. */
export const differencesIn = (comparison: Comparison): number =>
  comparison.reduce((sum, { pairs }) => sum + pairs.filter((pair) => pair.differs).length, 0);

/** Two measurements are never quite alike: apart by a fifth and two milliseconds they differ. */
function phasePairs(a: Detail, b: Detail): Pair[] {
  const [left, right] = [a, b].map(({ log }) => phasesOf(log, traceOf(log.trace)));
  const time = (label: string, x: number | null, y: number | null): Pair => {
    const [left, right] = [x ?? 0, y ?? 0]; // a phase that was not reached, or too short to be noted, took no time
    const apart =
      Math.abs(left - right) > Math.max(2, Math.max(left, right) / 5) || (label === 'Upstream' && (x === null) !== (y === null));
    const by = apart && x !== null && y !== null ? `${y > x ? '+' : '−'}${exactMillis(Math.abs(y - x))}` : undefined;
    const pair = { label, a: x === null ? null : exactMillis(x), b: y === null ? null : exactMillis(y), differs: apart };
    return by === undefined ? pair : { ...pair, by };
  };
  const names = [...new Set([...(left?.phases ?? []), ...(right?.phases ?? [])].map(({ name }) => name))];
  const of = (side: typeof left, name: string) => side?.phases.find((phase) => phase.name === name)?.ms ?? null;
  return [
    time('Total', a.log.latency_ms, b.log.latency_ms),
    ...names.map((name) => time(name, of(left, name), of(right, name))),
    ...[{ label: 'Stopped at', a: left?.stoppedAt ?? null, b: right?.stoppedAt ?? null, differs: left?.stoppedAt !== right?.stoppedAt }],
  ];
}

/** One line for each name on either side: a header is there or it is not. */
function headerPairs(left: readonly string[], right: readonly string[]): Pair[] {
  const lower = (names: readonly string[]) => new Set(names.map((name) => name.toLowerCase()));
  const [a, b] = [lower(left), lower(right)];
  return [...new Set([...a, ...b])].sort().map((name) => ({
    label: name,
    a: a.has(name) ? 'present' : 'absent',
    b: b.has(name) ? 'present' : 'absent',
    differs: a.has(name) !== b.has(name),
  }));
}

/** What was left of each limit; a number that merely counts down is no difference. */
function limitPairs(a: Detail, b: Detail): Pair[] {
  const of = ({ log }: Detail) => new Map(blockOf(log, traceOf(log.trace)).filter(([name]) => name.startsWith('X-Svc-RateLimit-')));
  const [left, right] = [of(a), of(b)];
  const limit = (value: string | undefined) => value?.split(',')[0];
  return [...new Set([...left.keys(), ...right.keys()])].map((name) => ({
    label: name.slice('X-Svc-RateLimit-'.length),
    a: left.get(name) ?? null,
    b: right.get(name) ?? null,
    differs: limit(left.get(name)) !== limit(right.get(name)),
  }));
}

/** A size in words. */
export const bytes = (count: number): string =>
  count < 1_024 ? `${count} B` : count < 1_048_576 ? `${(count / 1_024).toFixed(1)} KiB` : `${(count / 1_048_576).toFixed(1)} MiB`;
