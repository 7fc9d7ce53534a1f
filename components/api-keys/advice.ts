import { KEY_ROLES } from '#server/domain/roles/catalogue.shared.ts';

export type Purpose = 'call' | 'build' | 'watch';
export type Where = 'fixed' | 'anywhere';
/** `expires_in_days` is null for a key that never expires. */
export type Advice = { title: string; role_ids: string[]; expires_in_days: number | null; reasons: string[] };

const EXPIRY_DAYS = 90;

const ROLE = { call: 'Key - Invoke', build: 'Key - Editor', watch: 'Key - Read-only' } as const;
const WHY = {
  call: 'It can only call routes. If it leaks, your configuration can’t be changed.',
  build: 'It manages routes, secrets, clients and environments, but can’t read secret values.',
  watch: 'It can only read configuration and metadata.',
} as const;

/** Which key serves a purpose best: the narrowest role, the address rule, and an expiry if it should have one. */
export function adviceOf(purpose: Purpose, where: Where, ends: boolean, space: 'live' | 'test'): Advice {
  return {
    title: space === 'test' ? 'Test key' : 'Standard key',
    role_ids: KEY_ROLES.filter((role) => role.name === ROLE[purpose]).map((role) => role.id),
    expires_in_days: ends ? EXPIRY_DAYS : null,
    reasons: [
      WHY[purpose],
      where === 'fixed'
        ? 'Add its IP address under Allowed IP addresses, so it can’t be used from anywhere else.'
        : 'Its IP address changes, so set a rate limit instead of allowed IP addresses.',
      ...(ends ? [`It expires in ${EXPIRY_DAYS} days. You can change the date below.`] : []),
    ],
  };
}
