import { ROLE_PROTECTIONS } from './roles.ts';
// @peculiar/x509 refuses to load without this polyfill.
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import type { Ctx } from '#server/kernel/context.ts';
import { type Fixture, fresh, made, nothing, type Sample } from '#server/testing/factories.ts';

export const root: Sample = async () => ({ name: fresh('root'), subject: { CN: 'Acme Internal CA', O: 'Acme' } });
const rootName: Sample = async (ctx) => ({ name: (await made(ctx, 'pki.create_root', await root(ctx))).root.name });

/** A root with a role for example.com. */
export const roleOfRoot = async (ctx: Ctx, rules: Record<string, unknown> = {}): Promise<{ name: string; role: string }> => {
  const { name } = (await rootName(ctx)) as { name: string };
  const role = fresh('role');
  await made(ctx, 'pki.create_role', { name, role_name: role, allowed_domains: ['example.com'], ...rules });
  return { name, role };
};

/** A certificate request of a fresh key, by an implementation that isn't ours. */
export async function requestFor(hosts: readonly string[], addresses: readonly string[] = []): Promise<string> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const names = [...hosts.map((value) => ({ type: 'dns' as const, value })), ...addresses.map((value) => ({ type: 'ip' as const, value }))];
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: 'CN=asked for',
    keys,
    signingAlgorithm: algorithm,
    extensions: [new x509.SubjectAlternativeNameExtension(names)],
  });
  return request.toString('pem');
}

const wanted: Sample = async (ctx) => ({ ...(await roleOfRoot(ctx)), subject: { CN: 'api.example.com' } });
const issued = async (ctx: Ctx) => {
  const { name, role } = await roleOfRoot(ctx);
  const { serial_hex } = await made(ctx, 'pki.issue', { name, role, subject: { CN: 'api.example.com' } });
  return { name, serial_hex };
};

const roleRef = (ctx: Ctx) => roleOfRoot(ctx);

export const samples: Record<string, Sample> = {
  'pki.list_roots': nothing,
  'pki.create_root': root,
  'pki.get_root': rootName,
  'pki.update_root': async (ctx) => ({ ...(await rootName(ctx)), intermediate_ttl_seconds: 864_000 }),
  'pki.delete_root': rootName,
  'pki.root_certificate': rootName,
  'pki.root_chain': rootName,
  'pki.rotate_intermediate': rootName,
  'pki.revoke_intermediate': async (ctx) => {
    const { root: made_ } = await made(ctx, 'pki.create_root', await root(ctx));
    return { name: made_.name, id: made_.intermediate.id };
  },
  'pki.crl': rootName,
  'pki.list_roles': rootName,
  'pki.create_role': async (ctx) => ({ ...(await rootName(ctx)), role_name: fresh('role'), allowed_domains: ['example.com'] }),
  'pki.get_role': roleRef,
  'pki.update_role': async (ctx) => ({ ...(await roleRef(ctx)), allow_wildcards: true }),
  'pki.delete_role': roleRef,
  'pki.issue': wanted,
  'pki.sign': async (ctx) => ({ ...(await roleRef(ctx)), csr_pem: await requestFor(['api.example.com']) }),
  'pki.revoke': issued,
  'pki.list_certificates': rootName,
  'pki.get_certificate': issued,
  'pki.summaries': nothing,
  'pki.overview': rootName,
  'pki.reveal_issue': wanted,
};

export const confirmedSamples: Fixture['confirmedSamples'] = {
  'pki.update_root': async (ctx) => ({ ...(await rootName(ctx)), status: 'revoked' }),
};
export const freeSamples: Fixture['freeSamples'] = {
  // It issued nothing.
  'pki.delete_role': (ctx) => roleOfRoot(ctx, { allowed_domains: [] }),
};
/** Names are judged by the role, requests by their signature. */
export const dependsOnState = [
  /must be a host name, in which/,
  /^(?:subject|san_dns|san_ip)\b/,
  /^csr_pem: /,
  /is given as .* already/,
  /default_ttl_seconds/,
  /^issuer: is required with format der/,
  /can't be changed/,
];
export const shownOnce = { 'pki.issue': ['private_key_pem'] };
export const revealed: Fixture['revealed'] = { 'pki.reveal_issue': ({ private_key_pem }) => [private_key_pem] };

export const harmless = {
  // Revoking asks for pki.revoke_root; the rest says what is published.
  'pki.update_root': ['status', 'intermediate_ttl_seconds', 'publish', 'subject', 'ttl_seconds'],
};

export const loosening: Fixture['loosening'] = {
  'pki.update_role': {
    rules: ROLE_PROTECTIONS,
    of: (ctx) => roleOfRoot(ctx),
    pairs: {
      allowed_domains: { strict: { allowed_domains: ['example.com'] }, loose: { allowed_domains: ['example.com', 'example.org'] } },
      allow_subdomains: { strict: { allow_subdomains: false }, loose: { allow_subdomains: true } },
      allow_wildcards: { strict: { allow_wildcards: false }, loose: { allow_wildcards: true } },
      allow_ip_sans: { strict: { allow_ip_sans: false }, loose: { allow_ip_sans: true } },
      max_ttl_seconds: {
        strict: { default_ttl_seconds: 3_600, max_ttl_seconds: 3_600 },
        loose: { max_ttl_seconds: 7_200 },
      },
    },
  },
};
