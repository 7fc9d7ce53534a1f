/** The dashboard's cookies by their bare names; over TLS they carry the prefix `__Host-` (interface rule 22 §3.1). */
export const DASHBOARD_COOKIES = {
  session: 'svc_session',
  signup: 'svc_signup',
  device: 'svc_device',
  mfa: 'svc_mfa',
  sso: 'svc_sso',
} as const;

const OURS = /^(?:__Host-)?(?:svc_session|svc_signup|svc_device|svc_mfa|svc_sso)$/;

/** Whether a cookie pair (`name=value`, with or without attributes) is one of them. Browsers keep `=name=value` without a name and send `name=value`. */
export const isDashboardCookie = (pair: string): boolean =>
  OURS.test(
    pair
      .replace(/^[\s=]+/, '')
      .split('=', 1)[0]
      ?.trim() ?? '',
  );

/** A Cookie header without them; undefined when nothing is left. */
export function withoutDashboardCookies(header: string): string | undefined {
  if (!header.includes('svc_')) return header;
  const kept = header.split(';').filter((pair) => !isDashboardCookie(pair));
  return kept.length === 0 ? undefined : kept.join(';').trimStart();
}
