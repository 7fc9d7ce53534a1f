import { KEY_ROLES } from '#server/domain/roles/catalogue.shared.ts';

export type Purpose = 'call' | 'build' | 'watch';
export type Where = 'fixed' | 'anywhere';
export type Advice = { title: string; role_ids: string[]; key_type: 'standard' | 'access_key'; reasons: string[] };

const ROLE = { call: 'Key - Invoke', build: 'Key - Editor', watch: 'Key - Read-only' } as const;
const WHY = {
  call: 'It calls routes and can change nothing, so a leaked one gives nobody your configuration.',
  build: 'It builds routes, secrets, clients and environments, and never reads a value back.',
  watch: 'It reads configuration and metadata and calls nothing.',
} as const;

/** Which key serves a purpose best: the narrowest role, the address rule, and whether it can end by itself in this space. */
export function adviceOf(purpose: Purpose, where: Where, ends: boolean, space: 'live' | 'test'): Advice {
  const access = ends && space === 'live';
  return {
    title: access ? 'An access key' : space === 'test' ? 'A test key' : 'A standard key',
    role_ids: KEY_ROLES.filter((role) => role.name === ROLE[purpose]).map((role) => role.id),
    key_type: access ? 'access_key' : 'standard',
    reasons: [
      WHY[purpose],
      where === 'fixed'
        ? 'Put its address under Allowed addresses: from anywhere else it is refused.'
        : 'Its address changes, so leave Allowed addresses empty and set a rate limit instead.',
      ...(access ? ['Access keys take an expiry date; they need a plan that has them.'] : []),
      ...(ends && !access ? ['Test keys have no date; revoke it when it is done.'] : []),
    ],
  };
}
