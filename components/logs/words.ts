import { FAULT_OF_UPSTREAM, type Log } from './call-kind.ts';
import { type Fix, REFUSALS, type Told } from './refusals.ts';

export const toldOf = (code: string | null | undefined): Told | undefined =>
  code ? (REFUSALS[code] ?? { why: code.replaceAll('_', ' '), next: '' }) : undefined;

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
  const told = toldOf(log.error);
  if (log.status_code === null || log.error === 'client_closed') return `The caller went away before an answer${after(log.latency_ms)}.`;
  if (told && FAULT_OF_UPSTREAM.test(log.error ?? '')) return `Answered ${log.status_code} by us: ${told.why}${after(log.latency_ms)}.`;
  if (told && log.origin === 'service') return `Refused by us with ${log.status_code}: ${told.why}.`;
  if (told) return `Answered ${log.status_code}, but ${told.why}.`;
  const host = log.upstream_host ?? 'The upstream';
  const spent =
    log.upstream_ms === null || log.latency_ms === null
      ? ''
      : ` in ${log.upstream_ms} ms; ${Math.max(0, log.latency_ms - log.upstream_ms)} ms were ours`;
  const tries = (log.attempts ?? 1) > 1 ? `, at attempt ${log.attempts}` : '';
  return `${host} answered ${log.upstream_status ?? log.status_code}${tries}${spent}.`;
}

const after = (ms: number | null) => (ms === null ? '' : ` after ${ms} ms`);

export const OUTCOME_WORDS = { ok: 'Went through', failed: 'Failed', refused: 'Refused by us' } as const;
export const MODE_WORDS = { route: 'Calls of programs', test: 'Test tab' } as const;

const METHODS: Record<string, string> = {
  ip: 'by its address',
  api_key: 'by the key it sent',
  dashboard_user: 'from this dashboard',
};
export const matchedHow = (method: string | null | undefined): string | undefined => (method ? (METHODS[method] ?? method) : undefined);

/** The page on which a refusal can be mended; undefined when the route is not known. */
export function fixHref(fix: Fix, routeId: string | null, path: (path: string) => string, slug: string): string | undefined {
  if (fix.where === 'usage') return `/${slug}/settings/usage`;
  if (fix.where === 'keys') return path('/api-keys');
  if (fix.where === 'secrets' || fix.where === 'routes' || fix.where === 'environments') return path(`/${fix.where}`);
  if (!routeId) return path('/routes');
  const tab = fix.where.split(':')[1];
  return path(`/routes/${routeId}${tab ? `?tab=${tab}` : ''}`);
}
