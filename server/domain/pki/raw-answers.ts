import { pemOf } from '#server/crypto/pki/pem.ts';
import { digest } from '#server/crypto/tokens.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { invalid, notFound } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import type { RawBody } from '#server/kernel/raw-body.ts';
import { chainPem, rootPem } from './roots.ts';
import { rootByRef, signingIntermediates } from './store.ts';

/** @throws Refusal not_found */
export const certificateAnswer = async (ctx: Ctx, input: { name: string }): Promise<RawBody> => pem(await rootPem(ctx, input));

/** @throws Refusal not_found */
export const chainAnswer = async (ctx: Ctx, input: { name: string }): Promise<RawBody> => pem(await chainPem(ctx, input));

/**
 * The lists of a root's issuers as PEM, the newest intermediate first and the root last, or that of one issuer, as DER too.
 * @throws Refusal not_found, validation_error for DER of several
 */
export async function crlAnswer(
  ctx: Ctx,
  { name, issuer, format }: { name: string; issuer?: string | undefined; format: 'pem' | 'der' },
): Promise<RawBody> {
  if (format === 'der' && issuer === undefined) throw invalid('issuer', 'is required with format der, which holds one list');
  const lists = await read(ctx, async (tx) => {
    const root = await rootByRef(tx, ctx, name);
    const wanted = issuer === undefined ? null : issuer === 'root' ? root.id : issuer.toLowerCase();
    if (wanted !== null && !isUuid(wanted)) throw notFound();
    const ids = wanted === null ? [...(await signingIntermediates(tx, ctx, root.id)).map(({ id }) => id), root.id] : [wanted];
    const found = await tx.pki_crls.findMany({
      where: { ...own(ctx), ca_root_id: root.id, id: { in: ids } },
      select: { id: true, der: true },
    });
    const byId = new Map(found.map(({ id, der }) => [id, der]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  });
  const [first] = lists;
  if (!first) throw notFound();
  if (format === 'der') return answer('application/pkix-crl', first);
  return answer('text/plain; charset=utf-8', lists.map((der) => pemOf('X509 CRL', der)).join(''));
}

/** Seconds that a list may be kept: revocation is to be seen soon. */
const CRL_MAX_AGE = 300;

const pem = (body: string): RawBody => ({ status: 200, headers: { 'content-type': 'text/x-pem-file' }, body });

const answer = (type: string, body: string | Uint8Array<ArrayBuffer>): RawBody => ({
  status: 200,
  headers: {
    'content-type': type,
    'cache-control': `private, max-age=${CRL_MAX_AGE}`,
    etag: `"${digest(Buffer.from(body as string)).toString('base64url')}"`,
  },
  body,
});
