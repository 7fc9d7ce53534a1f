import type { z } from 'zod';
import { type AccountKey, thumbprintOf } from '#server/crypto/acme/account-key.ts';
import { leafIdentity } from '#server/crypto/acme/leaf.ts';
import { getCertificate, revokeCertificate } from '#server/domain/pki/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { type Directory, NOBODY } from './directory.ts';
import { derOf, type Revoke } from './payloads.ts';
import { AcmeProblem, malformed, unauthorized } from './problem.ts';
import type { AccountRow } from './store.ts';

/** Reasons of RFC 5280 §5.3.1 that a leaf can have, by their numbers. */
const REASONS = {
  0: 'unspecified',
  1: 'key_compromise',
  3: 'affiliation_changed',
  4: 'superseded',
  5: 'cessation_of_operation',
  9: 'privilege_withdrawn',
} as const;

/** Who asks: an account, or whoever holds the key of the certificate. */
export type Revoker = { account: AccountRow; key?: undefined } | { key: AccountKey; account?: undefined };

/** Revokes a certificate of this root (RFC 8555 §7.6). @throws AcmeProblem */
export async function revokeByAcme(directory: Directory, ctx: Ctx, by: Revoker, payload: z.output<typeof Revoke>): Promise<void> {
  const der = derOf('certificate', payload.certificate);
  const identity = leafIdentity(der);
  if (!identity) throw malformed('certificate must be an X.509 certificate.');
  const reason = REASONS[(payload.reason ?? 0) as keyof typeof REASONS];
  if (reason === undefined) throw new AcmeProblem('badRevocationReason', `The reason must be one of ${Object.keys(REASONS).join(', ')}.`);
  const ref = { name: directory.root.id, serial_hex: identity.serial_hex };
  const certificate = await getCertificate(ctx, ref).catch(orNothing);
  if (!certificate || !der.equals(derOfPem(certificate.cert_pem)))
    throw new AcmeProblem('malformed', 'This authority has not issued the certificate.', { status: 404 });
  const allowed = by.account
    ? certificate.role_name === directory.role.name && (await mayRevoke(ctx, by.account, certificate))
    : identity.key !== null && (await thumbprintOf(identity.key)) === (await thumbprintOf(by.key));
  if (!allowed)
    throw unauthorized(
      'The certificate can be revoked by the account that ordered it, by one that is authorized for all its names, or with its own key.',
    );
  if (certificate.status === 'revoked') throw new AcmeProblem('alreadyRevoked', 'The certificate is revoked already.');
  const holder = { ...NOBODY, label: 'Holder of the certificate key' };
  await revokeCertificate(by.account ? ctx : { ...ctx, actor: holder }, { ...ref, reason });
}

/** The account that ordered the certificate, or one that has proven all its names in the meantime. */
const mayRevoke = (
  ctx: Ctx,
  account: AccountRow,
  { serial_hex, san_dns }: { serial_hex: string; san_dns: readonly string[] },
): Promise<boolean> =>
  read(ctx, async (tx) => {
    const own_ = { ...own(ctx), account_id: account.id };
    if (await tx.acme_orders.findFirst({ where: { ...own_, serial_hex }, select: { id: true } })) return true;
    const valid = await tx.acme_authorizations.findMany({
      where: { ...own_, status: 'valid', expires_at: { gt: ctx.now } },
      select: { name: true, wildcard: true },
    });
    const proven = new Set(valid.map(({ name, wildcard }) => (wildcard ? `*.${name}` : name)));
    return san_dns.length > 0 && san_dns.every((name) => proven.has(name));
  });

const derOfPem = (pem: string): Buffer => Buffer.from(pem.replace(/-----[A-Z ]+-----|\s/g, ''), 'base64');

function orNothing(error: unknown): null {
  if (error instanceof Refusal && error.type === 'not_found') return null;
  throw error;
}
