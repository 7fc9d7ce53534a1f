import type { z } from 'zod';
import type { CertificateUpload, ReadCertificate } from '#server/crypto/certificates.ts';
import { decodeCertificate, type StoredCertificate } from '#server/custody/connections/certificates.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import type { Reveal } from '#server/kernel/operation.ts';
import type { RawBody } from '#server/kernel/raw-body.ts';
import { onThread, WorkTooLarge, WorkTooSlow, work } from '#server/platform/threads/pool.ts';
import { lockedEnvironment } from '../scope.ts';
import { insertSealed } from '../service.ts';
import { lockedSecret, secretById } from '../store.ts';
import { openVersion, type SealedNewValue, sealNewValue, writeValue } from '../values.ts';
import { type Reading, run } from './certificate.thread.ts';
import type { CreateCertificate, DownloadCertificate, UpdateCertificate } from './schema.ts';

type Material = Pick<z.output<typeof CreateCertificate>, 'certificate_content' | 'private_key' | 'passphrase' | 'certificate_type'>;

/** @throws Refusal validation_error, plan_limit, conflict, tenant_sealed */
export async function createCertificate(ctx: Ctx, input: z.output<typeof CreateCertificate>) {
  const { facts, sealed } = await sealedCertificate(ctx, input);
  return mutate(ctx, async (tx) => {
    const typed = { secret_type: 'certificate' as const, cert_metadata: facts };
    const { row, entry } = await insertSealed(tx, ctx, input, sealed, typed);
    return audited({ ...row, certificate_type: input.certificate_type, metadata: facts }, entry);
  });
}

/** Another certificate in the place of one; gateways present it on their next connection. @throws Refusal not_found, invalid_type, validation_error */
export async function updateCertificate(ctx: Ctx, { id, ...input }: z.output<typeof UpdateCertificate>) {
  const { facts, sealed } = await sealedCertificate(ctx, input);
  return mutate(ctx, async (tx) => {
    const environment = await lockedEnvironment(tx, ctx, { id, environment: input.environment });
    const secret = await lockedSecret(tx, ctx, id, { for: 'change' });
    requireCertificate(secret);
    const place = { secret_id: secret.id, environment_name: environment };
    const version = (await writeValue(tx, ctx, place, sealed)) as number;
    await tx.secret_environments.updateMany({ where: { ...own(ctx), ...place }, data: { cert_metadata: facts } });
    await tx.secrets.update({
      where: { id: secret.id, ...own(ctx) },
      data: { updated_at: ctx.now, ...(secret.base_environment === null ? { base_environment: environment } : {}) },
      select: { id: true },
    });
    return audited(
      { id: secret.id, name: secret.name, environment, value_version: version, metadata: facts },
      {
        action: 'rotate',
        resource_type: 'secret',
        resource_id: secret.id,
        name: secret.name,
        details: { environment, value_version: version, kind: 'certificate_set' },
      },
    );
  });
}

type Facts = ReadCertificate['facts'] & { certificate_type: string };

/** @throws Refusal validation_error, tenant_sealed, dependency_unavailable when many are read at once */
export async function sealedCertificate(
  ctx: Ctx,
  input: Material,
): Promise<{ facts: Facts & Prisma.InputJsonObject; sealed: SealedNewValue }> {
  const { certificate_content: content, private_key, passphrase, certificate_type } = input;
  const found = await readUpload(ctx, { content, private_key, passphrase, format: certificate_type });
  ctx.warnings.push(...found.warnings);
  const stored: StoredCertificate = {
    certificate_pem: found.certificate_pem,
    private_key_pem: found.private_key_pem,
    original: { content, private_key, passphrase, format: certificate_type },
  };
  return { facts: { ...found.facts, certificate_type }, sealed: await sealNewValue(ctx, JSON.stringify(stored)) };
}

const READ = work<CertificateUpload, Reading>('server/domain/secrets/certificates/certificate.thread.ts');
const MS = 10_000;
/** Holds a few certificates, which take a few milliseconds. */
const SHORT = 8 * 1_024;

/** On a thread where it may take long: many certificates, or a passphrase. */
async function readUpload(ctx: Ctx, upload: CertificateUpload): Promise<ReadCertificate> {
  const { content, private_key = '', format, passphrase } = upload;
  const isShort = passphrase === undefined && format !== 'pfx' && format !== 'p12' && content.length + private_key.length <= SHORT;
  const found = isShort ? run(upload) : await onThread(READ, upload, { owner: ctx.tenant_id, ms: MS }).catch(tooCostly);
  if ('read' in found) return found.read;
  throw invalid(found.field, found.message);
}

function tooCostly(error: unknown): never {
  if (error instanceof WorkTooSlow || error instanceof WorkTooLarge)
    throw invalid('certificate_content', 'takes too long to read; send fewer certificates, or a key whose passphrase is hashed less often');
  throw error;
}

function requireCertificate(secret: { secret_type: string }): void {
  if (secret.secret_type !== 'certificate')
    throw new Refusal('invalid_type', `This secret is of type ${secret.secret_type}. This call only supports certificates.`);
}

type Download = z.output<typeof DownloadCertificate>;

/** Row 2 of interface rule 32 §2: the gate applies with the key and without. */
export const revealOfCertificate: Reveal<Download> = {
  class: 'A',
  scope: 'plaintext.reveal',
  policy: 'secret:reveal',
  subject: async (ctx, { id }) => {
    const { name } = await read(ctx, (tx) => secretById(tx, ctx, id));
    return { resource_type: 'secret', resource_id: id, name };
  },
  state: (ctx, { id, environment, include_private_key, format }) =>
    read(ctx, async (tx) => {
      const secret = await secretById(tx, ctx, id);
      requireCertificate(secret);
      const held = await tx.secret_environments.findFirst({
        where: {
          ...own(ctx),
          secret_id: id,
          environment_name: environment ?? secret.base_environment ?? '',
          current_value_id: { not: null },
        },
        select: { environment_name: true, value_version: true },
      });
      if (!held) throw notFound();
      return {
        environment: held.environment_name,
        value_version: held.value_version,
        include_private_key: include_private_key === 'true',
        format,
      };
    }),
};

/** The certificate as a file: normalised PEM, or what was uploaded. */
export async function downloadCertificate(ctx: Ctx, { id, include_private_key, format }: Download): Promise<RawBody> {
  const { environment, value_version } = ctx.granted as { environment: string; value_version: number };
  const { name, plain } = await read(ctx, async (tx) => ({
    name: (await secretById(tx, ctx, id)).name,
    plain: await openVersion(tx, ctx, { secret_id: id, environment_name: environment }, value_version),
  }));
  try {
    const stored = decodeCertificate(plain);
    const { text, type, ending } = fileOf(stored, { withKey: include_private_key === 'true', original: format === 'original' });
    return {
      status: 200,
      headers: {
        'content-type': type,
        'content-disposition': `attachment; filename="${name}-${environment}.${ending}"`,
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      },
      body: text,
    };
  } finally {
    plain.fill(0);
  }
}

const PEM = { type: 'application/x-pem-file', ending: 'pem' };

/** The original is given as it came only where that holds no key, or the key was asked for. A PFX file is given in base64, as it was sent. */
function fileOf(
  { certificate_pem, private_key_pem, original }: StoredCertificate,
  { withKey, original: asked }: { withKey: boolean; original: boolean },
): { text: string; type: string; ending: string } {
  const pfx = original.format === 'pfx' || original.format === 'p12';
  const holdsKey = original.content.includes('PRIVATE KEY-----') || (pfx && private_key_pem !== null);
  if (!asked || (holdsKey && !withKey)) return { ...PEM, text: certificate_pem + (withKey ? (private_key_pem ?? '') : '') };
  const text = [original.content, withKey ? (original.private_key ?? '') : ''].filter((part) => part !== '').join('\n');
  return pfx ? { text, type: 'text/plain; charset=us-ascii', ending: 'pfx.b64' } : { ...PEM, text };
}
