import { pemOf } from '#server/crypto/pki/pem.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { signingIntermediates } from './store.ts';

/** A file that relying parties fetch (interface rule 43 §8). */
export type PublicFile = { type: 'application/pkix-cert' | 'application/pkix-crl' | 'text/x-pem-file'; body: Uint8Array<ArrayBuffer> };

/**
 * `file` is the path below the root's address: root.crt, issuers/{id}.crt, ca.pem, root.crl or crl/{id}.crl. Null for what is unknown or not published.
 */
export function publicFile(ctx: Ctx, rootId: string, file: string): Promise<PublicFile | null> {
  return read(ctx, async (tx) => {
    const root = await tx.pki_roots.findFirst({ where: { ...own(ctx), id: rootId, publish: true } });
    if (!root) return null;
    if (file === 'root.crt') return certificate(root.certificate);
    if (file === 'ca.pem') {
      const issuers = await signingIntermediates(tx, ctx, root.id);
      const text = [...issuers, root].map((row) => pemOf('CERTIFICATE', row.certificate)).join('');
      return { type: 'text/x-pem-file', body: new TextEncoder().encode(text) };
    }
    const [, folder, name = '', ending] = FILE.exec(file) ?? [];
    const id = file === 'root.crl' ? root.id : name.toLowerCase();
    if (!isUuid(id)) return null;
    const where = { ...own(ctx), ca_root_id: root.id, id };
    if (file === 'root.crl' || (folder === 'crl' && ending === 'crl' && id !== root.id)) {
      const crl = await tx.pki_crls.findFirst({ where, select: { der: true } });
      return crl?.der ? { type: 'application/pkix-crl', body: crl.der } : null;
    }
    if (folder !== 'issuers' || ending !== 'crt') return null;
    const issuer = await tx.pki_intermediates.findFirst({ where, select: { certificate: true } });
    return issuer && certificate(issuer.certificate);
  });
}

const FILE = /^(crl|issuers)\/([0-9A-Fa-f-]+)\.(crl|crt)$/;

const certificate = (body: Uint8Array<ArrayBuffer>): PublicFile => ({ type: 'application/pkix-cert', body });
