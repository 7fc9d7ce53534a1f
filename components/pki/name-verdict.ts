import { judgeName, type NameVerdict, normalizeIp } from '#server/domain/pki/names.shared.ts';
import type { Role } from './pki-labels.ts';

/** Whether a role allows a host name or an IP address, in words. */
export function verdictOn(role: Role, text: string): { ok: boolean; text: string } {
  const ip = normalizeIp(text);
  if (ip !== null)
    return role.allow_ip_sans
      ? { ok: true, text: `Allowed: ${ip} as an IP address` }
      : { ok: false, text: 'Not allowed: the role takes no IP addresses' };
  const verdict = judgeName(role, text);
  if (!verdict.allowed) return { ok: false, text: `Not allowed: ${WHY[verdict.why]}` };
  return {
    ok: true,
    text: verdict.pattern === verdict.name ? `Allowed: ${verdict.name}` : `Allowed: ${verdict.name}, by ${verdict.pattern}`,
  };
}

const WHY: Record<Extract<NameVerdict, { allowed: false }>['why'], string> = {
  malformed: 'it isn’t a host name',
  no_domains: 'the role has no domains',
  wildcards_off: 'the role takes no wildcards',
  broad_wildcard: 'a wildcard needs two labels after it',
  no_match: 'no domain of the role matches',
};
