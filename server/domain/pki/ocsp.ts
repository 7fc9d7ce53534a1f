import { newKeyPair, newSerial } from '#server/crypto/pki/authority.ts';
import { certificateParts } from '#server/crypto/pki/certificate-parts.ts';
import type { Reason } from '#server/crypto/pki/crl.ts';
import {
  asksAbout,
  type CertificateStatus,
  type OcspRequest,
  ocspFailure,
  ocspResponse,
  parseOcspRequest,
  responderCertificate,
} from '#server/crypto/pki/ocsp.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { asRefusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { log } from '#server/platform/log.ts';
import { openAuthority, sealKey } from './ca-keys.ts';
import { BACKDATING_MS } from './crls.ts';
import { wholeSecond } from './intermediates.ts';
import { type IntermediateRow, signingIntermediates } from './store.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** How long an answer may be relied on. */
const ANSWER_LASTS_MS = HOUR;
/** How long a responder signs; it is replaced when a day is left, so that no answer outlives the certificate inside of it. */
const RESPONDER_LASTS_MS = 7 * DAY;
const RESPONDER_ENDS_MS = DAY;

/** DER for `application/ocsp-response`. One that is `kept` is the same for everybody who asks within minutes. */
export type OcspAnswered = { der: Buffer; kept: boolean };

/**
 * Answers about leaves of a root's intermediates (interface rule 43 §11.2; RFC 6960). A question about another authority's certificate, or about one of an
 * authority that no longer signs, is not ours to answer: unauthorized. A serial number that was never issued is unknown. `ctx` is the system's, in the
 * root's workspace and space. Never throws.
 */
export async function answerOcsp(ctx: Ctx, rootId: string, request: Buffer): Promise<OcspAnswered> {
  const asked = parseOcspRequest(request);
  if (!asked) return failed('malformedRequest');
  try {
    const found = await lookUp(ctx, rootId, asked);
    if (!found) return failed('unauthorized');
    const responder = await openAuthority(ctx, await currentResponder(ctx, rootId, found.issuer));
    const thisUpdate = new Date(ctx.now.getTime() - BACKDATING_MS);
    const nextUpdate = new Date(Math.min(ctx.now.getTime() + ANSWER_LASTS_MS, responder.notAfter.getTime()));
    const der = ocspResponse({ responder, producedAt: ctx.now, thisUpdate, nextUpdate, answers: found.answers, nonce: asked.nonce });
    return { der, kept: asked.nonce === null };
  } catch (error) {
    const { status } = asRefusal(error);
    if (status !== 503) log.error({ err: error, tenant_id: ctx.tenant_id }, 'cannot answer a question of OCSP');
    return failed(status === 503 ? 'tryLater' : 'internalError');
  }
}

const failed = (what: Parameters<typeof ocspFailure>[0]): OcspAnswered => ({ der: ocspFailure(what), kept: false });

type Found = { issuer: IntermediateRow; answers: ({ certId: Buffer } & CertificateStatus)[] };

/** Null when not every question is about the same intermediate of this root: one responder speaks for one issuer. */
function lookUp(ctx: Ctx, rootId: string, { ids }: OcspRequest): Promise<Found | null> {
  return read(ctx, async (tx) => {
    const issuer = (await signingIntermediates(tx, ctx, rootId)).find((row) => {
      const { subject, publicKey } = certificateParts(Buffer.from(row.certificate));
      return ids.every((id) => asksAbout(id, { subject: subject.der, publicKey: publicKey.der }));
    });
    if (!issuer) return null;
    const rows = await tx.pki_certificates.findMany({
      where: { ...own(ctx), ca_root_id: rootId, intermediate_id: issuer.id, serial_hex: { in: ids.map(({ serial }) => serial) } },
      select: { serial_hex: true, revoked_at: true, revocation_reason: true },
    });
    const bySerial = new Map(rows.map((row) => [row.serial_hex, row]));
    return { issuer, answers: ids.map(({ certId, serial }) => ({ certId, ...statusOf(bySerial.get(serial)) })) };
  });
}

function statusOf(row: { revoked_at: Date | null; revocation_reason: string | null } | undefined): CertificateStatus {
  if (!row) return { status: 'unknown' };
  return row.revoked_at ? { status: 'revoked', revokedAt: row.revoked_at, reason: row.revocation_reason as Reason } : { status: 'good' };
}

/** The intermediate's responder; another one when there is none or it ends soon. @throws Refusal tenant_sealed */
async function currentResponder(ctx: Ctx, rootId: string, issuer: IntermediateRow) {
  const current = await read(ctx, (tx) => responderOf(tx, ctx, issuer.id));
  if (current && !isDue(current, issuer, ctx)) return current;
  return mutate(ctx, async (tx) => {
    // Two who ask at once make one between them.
    await tx.$queryRaw`select 1 from pki_intermediates where id = ${issuer.id}::uuid for no key update`;
    const other = await responderOf(tx, ctx, issuer.id);
    if (other && !isDue(other, issuer, ctx)) return unchanged(other);
    const made = await makeResponder(tx, ctx, issuer);
    const details = { intermediate_id: issuer.id, responder: made.serial_hex, not_after: made.not_after, trigger: 'ocsp' };
    return audited(made, { action: 'rotate', resource_type: 'pki_root', resource_id: rootId, details });
  });
}

const responderOf = (tx: Tx, ctx: Ctx, intermediate_id: string) => tx.pki_responders.findFirst({ where: { ...own(ctx), intermediate_id } });

const isDue = ({ not_after }: { not_after: Date }, issuer: IntermediateRow, { now }: Ctx): boolean =>
  not_after < issuer.not_after && not_after.getTime() - now.getTime() < RESPONDER_ENDS_MS;

async function makeResponder(tx: Tx, ctx: Ctx, issuer: IntermediateRow) {
  const id = newId();
  const key = newKeyPair();
  const serial_hex = newSerial();
  const not_after = wholeSecond(Math.min(ctx.now.getTime() + RESPONDER_LASTS_MS, issuer.not_after.getTime()));
  const certificate = responderCertificate({
    issuer: await openAuthority(ctx, issuer),
    publicKey: key.publicKey,
    subject: { common_name: 'OCSP responder' },
    serial: serial_hex,
    notBefore: wholeSecond(ctx.now.getTime() - BACKDATING_MS),
    notAfter: not_after,
  });
  await tx.pki_responders.deleteMany({ where: { ...own(ctx), intermediate_id: issuer.id } });
  const sealed = await sealKey(ctx, id, key.privateKey);
  return tx.pki_responders.create({
    data: {
      ...own(ctx),
      ...sealed,
      id,
      intermediate_id: issuer.id,
      serial_hex,
      certificate: new Uint8Array(certificate),
      not_after,
      created_at: ctx.now,
    },
  });
}
