import { KEY_ROLES } from '#server/domain/roles/catalogue.shared.ts';

export type Purpose = 'call' | 'build' | 'watch';
export type Where = 'fixed' | 'anywhere';
/** `expires_in_days` is null for a key that never expires. */
export type Advice = { title: string; role_ids: string[]; expires_in_days: number | null; reasons: string[] };

const EXPIRY_DAYS = 90;

const ROLE = { call: 'Key - Invoke', build: 'Key - Editor', watch: 'Key - Read-only' } as const;
const WHY = {
  call: 'It calls routes and can change nothing, so a leaked one gives nobody your configuration.',
  build: 'It builds routes, secrets, clients and environments, and never reads a value back.',
  watch: 'It reads configuration and metadata and calls nothing.',
} as const;

/** Which key serves a purpose best: the narrowest role, the address rule, and an expiry if it should have one. */
export function adviceOf(purpose: Purpose, where: Where, ends: boolean, space: 'live' | 'test'): Advice {
  return {
    title: space === 'test' ? 'A test key' : 'A standard key',
    role_ids: KEY_ROLES.filter((role) => role.name === ROLE[purpose]).map((role) => role.id),
    expires_in_days: ends ? EXPIRY_DAYS : null,
    reasons: [
      WHY[purpose],
      where === 'fixed'
        ? 'Put its address under Allowed addresses: from anywhere else it is refused.'
        : 'Its address changes, so leave Allowed addresses empty and set a rate limit instead.',
      ...(ends ? [`It expires in ${EXPIRY_DAYS} days. You can choose another date below.`] : []),
    ],
  };
}
