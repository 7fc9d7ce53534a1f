import type { z } from 'zod';
import { parseRequest } from '#server/crypto/pki/csr.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { invalid } from '#server/kernel/errors.ts';
import { issueForKey } from './issuing.ts';
import type { SignRequest } from './schema.ts';

/**
 * Certifies the key of a certificate request. Of the request only the key and its names count; names in the call stand instead of those.
 * @throws Refusal not_found, validation_error, root_not_active, plan_limit, rate_limit_exceeded, tenant_sealed
 */
export async function signRequest(ctx: Ctx, { csr_pem, san_dns, san_ip, ...call }: z.output<typeof SignRequest>) {
  const request = parseRequest(csr_pem);
  if ('refused' in request) throw invalid('csr_pem', request.message);
  const own = san_dns !== undefined || san_ip !== undefined;
  const names = own ? { san_dns: san_dns ?? [], san_ip: san_ip ?? [] } : { san_dns: request.sanDns, san_ip: request.sanIp };
  if (names.san_dns.length > 100 || names.san_ip.length > 20) throw invalid('csr_pem', 'may have at most 100 host names and 20 addresses');
  if (names.san_dns.length + names.san_ip.length === 0)
    throw invalid('csr_pem', 'must name hosts or addresses in a subjectAltName; the common name of a request is not used');
  return issueForKey(ctx, { ...call, ...names, subject: namedBy(names.san_dns), source: 'sign', publicKey: request.publicKey });
}

/** Readers of certificates show the common name: the first host that fits is one, and is judged with the others. */
export function namedBy(hosts: readonly string[]): { common_name?: string } {
  const first = hosts.find((host) => host.length <= 64 && !host.startsWith('*'));
  return first === undefined ? {} : { common_name: first };
}
