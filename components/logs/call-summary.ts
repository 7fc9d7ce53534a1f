import { FAULT_OF_UPSTREAM, type Log } from './call-kind.ts';
import { reasonOf } from './refusal-reasons.ts';

/** What a call's row remarks beside its outcome. */
export function wordsOfWarning(warning: string): string {
  const colon = warning.indexOf(':');
  const what = warning.slice(colon + 1);
  switch (warning.slice(0, Math.max(0, colon))) {
    case 'expired':
      return `The secret ${what} had expired but was still used because its expiry isn’t enforced.`;
    case 'unconfirmed':
      return `The gateway couldn’t refresh its settings. This call used settings from ${Math.max(1, Math.round(Number(what) / 60))} min earlier.`;
    case 'suppressed':
      return `${what} similar calls from the same network in the same minute were counted but not listed.`;
    default:
      return warning;
  }
}

/** What happened to a call, in one sentence. */
export function summaryOf(
  log: Pick<Log, 'status_code' | 'origin' | 'error' | 'latency_ms' | 'upstream_ms' | 'upstream_status' | 'upstream_host' | 'attempts'>,
): string {
  const why = log.error && reasonOf(log.error);
  if (log.status_code === null || log.error === 'client_closed')
    return `The caller disconnected before the response${after(log.latency_ms)}.`;
  if (why && FAULT_OF_UPSTREAM.test(log.error ?? '')) return `${log.status_code} from the gateway: ${why}${after(log.latency_ms)}.`;
  if (why && log.origin === 'service') return `${log.status_code} from the gateway: ${why}.`;
  if (why) return `${log.status_code}, but ${why}.`;
  const host = log.upstream_host ?? 'The upstream';
  const spent =
    log.upstream_ms === null || log.latency_ms === null
      ? ''
      : ` in ${log.upstream_ms} ms, ${Math.max(0, log.latency_ms - log.upstream_ms)} ms gateway`;
  const tries = (log.attempts ?? 1) > 1 ? `, on attempt ${log.attempts}` : '';
  return `${host} answered ${log.upstream_status ?? log.status_code}${tries}${spent}.`;
}

const after = (ms: number | null) => (ms === null ? '' : ` after ${ms} ms`);

const METHODS: Record<string, string> = {
  ip: 'by IP address',
  api_key: 'by API key',
  oauth_token: 'by access token',
  dashboard_user: 'from the dashboard',
};
/** How the client of a call was recognised. */
export const matchedHow = (method: string | null | undefined): string | undefined => (method ? (METHODS[method] ?? method) : undefined);
