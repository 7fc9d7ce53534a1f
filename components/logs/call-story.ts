import { FAULT_OF_UPSTREAM, type Log } from './call-kind.ts';
import { reasonOf } from './refusal-reasons.ts';

/** What a call's row remarks beside its outcome. */
export function wordsOfWarning(warning: string): string {
  const colon = warning.indexOf(':');
  const what = warning.slice(colon + 1);
  switch (warning.slice(0, Math.max(0, colon))) {
    case 'expired':
      return `The secret ${what} had expired, and was used all the same because its expiry is not enforced.`;
    case 'unconfirmed':
      return `The gateway could not ask for changes at the time: this was served with settings ${Math.max(1, Math.round(Number(what) / 60))} min old.`;
    case 'suppressed':
      return `${what} more calls like this one, from the same network in the same minute, were counted and not listed.`;
    default:
      return warning;
  }
}

/** What happened to a call, in one sentence. */
export function summaryOf(
  log: Pick<Log, 'status_code' | 'origin' | 'error' | 'latency_ms' | 'upstream_ms' | 'upstream_status' | 'upstream_host' | 'attempts'>,
): string {
  const why = log.error && reasonOf(log.error);
  if (log.status_code === null || log.error === 'client_closed') return `The caller went away before an answer${after(log.latency_ms)}.`;
  if (why && FAULT_OF_UPSTREAM.test(log.error ?? '')) return `Answered ${log.status_code} by us: ${why}${after(log.latency_ms)}.`;
  if (why && log.origin === 'service') return `Refused by us with ${log.status_code}: ${why}.`;
  if (why) return `Answered ${log.status_code}, but ${why}.`;
  const host = log.upstream_host ?? 'The upstream';
  const spent =
    log.upstream_ms === null || log.latency_ms === null
      ? ''
      : ` in ${log.upstream_ms} ms; ${Math.max(0, log.latency_ms - log.upstream_ms)} ms were ours`;
  const tries = (log.attempts ?? 1) > 1 ? `, at attempt ${log.attempts}` : '';
  return `${host} answered ${log.upstream_status ?? log.status_code}${tries}${spent}.`;
}

const after = (ms: number | null) => (ms === null ? '' : ` after ${ms} ms`);

const METHODS: Record<string, string> = {
  ip: 'by its address',
  api_key: 'by the key it sent',
  dashboard_user: 'from this dashboard',
};
/** How the client of a call was recognised. */
export const matchedHow = (method: string | null | undefined): string | undefined => (method ? (METHODS[method] ?? method) : undefined);
