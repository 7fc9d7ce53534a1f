import type { z } from 'zod';
import { whenSealed } from '#server/domain/secrets/service.ts';
import type { Prisma } from '#server/generated/prisma/client.ts';
import { changesOf } from '#server/kernel/changes.ts';
import { confirmLoosening } from '#server/kernel/confirmations.ts';
import { onUnique } from '#server/kernel/conflicts.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { type Looser, later, loosened, turnedOn } from '#server/kernel/loosening.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { env } from '#server/platform/env.ts';
import { keyring } from '#server/platform/keys.ts';
import { confirmAdmissions } from './admission.ts';
import { materialOf } from './credential-material.ts';
import type { CreateCredential, CredentialKind, UpdateCredential } from './schema.ts';
import { entryOf, forgetCredentials } from './service.ts';
import { admissionsOf, bumpRoutesOf, clientById, lockedClient } from './store.ts';

/** How many credentials of a group one client may have (interface rule 11 §3). */
const GROUPS: { kinds: CredentialKind[]; most: number; what: string }[] = [
  { kinds: ['ip'], most: 50, what: 'addresses' },
  { kinds: ['mtls_thumbprint'], most: 20, what: 'certificates' },
  { kinds: ['signature_hmac', 'signature_ed25519'], most: 10, what: 'signature keys' },
];

/** The primary address first, then by age. */
export const listCredentials = (ctx: Ctx, input: { id: string }) =>
  read(ctx, async (tx) => {
    const client = await clientById(tx, ctx, input.id);
    const rows = await tx.client_credentials.findMany({
      where: { ...own(ctx), client_id: client.id },
      select: PUBLIC,
      orderBy: [{ is_primary: 'desc' }, { created_at: 'asc' }, { id: 'asc' }],
    });
    return withMatches(tx, ctx, rows);
  });

/**
 * A credential; what only the caller may know is in `reveal`, here and never again.
 * @throws Refusal not_found, conflict, tenant_sealed, what `confirmAdmissions` throws
 */
export async function createCredential(ctx: Ctx, input: z.output<typeof CreateCredential>) {
  // Unwraps the workspace's key before the transaction, so that no lock waits for it.
  await keyring().activeTmk(ctx.tenant_id).catch(whenSealed);
  return mutate(ctx, async (tx) => {
    const client = await lockedClient(tx, ctx, input.id);
    await refuseTooMany(tx, ctx, client.id, input.kind);
    await confirmAdmissions(tx, ctx, await admissionsOf(tx, ctx, [client.id]));
    const id = newId();
    const { columns, reveal, secret_id } = await materialOf(input.kind, input.data, { tx, ctx, client, id });
    if (columns.ip_range) await refuseTwin(tx, ctx, client.id, columns.ip_range);
    const { label = null, enabled = true, expires_at = null } = input;
    const row = await tx.client_credentials
      .create({
        data: {
          ...own(ctx),
          ...columns,
          id,
          client_id: client.id,
          kind: input.kind,
          label,
          enabled,
          expires_at,
          created_at: ctx.now,
          updated_at: ctx.now,
        },
        select: PUBLIC,
      })
      .catch(onUnique(TAKEN));
    if (secret_id)
      await tx.secret_references.create({
        data: { ...own(ctx), id: newId(), secret_id, kind: 'client_credential', referrer_id: id, field_path: 'data.secret_id', by: 'id' },
        select: { id: true },
      });
    await bumpRoutesOf(tx, ctx, client.id);
    return audited(
      { ...asCredential(row), last_matched_at: null, ...(reveal ? { reveal } : {}) },
      entryOf(client, 'update', { change: 'credential.create', credential_id: id, kind: input.kind }),
    );
  });
}

/** Which changes make a stolen credential of a client worth more. */
export const CREDENTIAL_PROTECTIONS: Looser<Omit<z.output<typeof UpdateCredential>, 'id' | 'credentialId'>> = {
  label: 'harmless',
  enabled: turnedOn,
  expires_at: later,
};

/** @throws Refusal not_found, conflict when an enabled credential holds the same certificate */
export function updateCredential(ctx: Ctx, { id, credentialId, ...input }: z.output<typeof UpdateCredential>) {
  return mutate(ctx, async (tx) => {
    const client = await lockedClient(tx, ctx, id);
    const before = await credentialById(tx, ctx, client.id, credentialId);
    const looser = loosened(before, input, CREDENTIAL_PROTECTIONS);
    if (looser.length > 0) await confirmAdmissions(tx, ctx, await admissionsOf(tx, ctx, [client.id]));
    await confirmLoosening(tx, ctx, env.PUBLIC_ADMIN_URL, looser);
    const after = await tx.client_credentials
      .update({
        where: { id: before.id, ...own(ctx) },
        data: { ...input, ...(input.expires_at === undefined ? {} : { told_days: null }), updated_at: ctx.now },
        select: PUBLIC,
      })
      .catch(onUnique(TAKEN));
    await bumpRoutesOf(tx, ctx, client.id);
    const [row] = await withMatches(tx, ctx, [after]);
    if (!row) throw notFound();
    return audited(row, {
      ...entryOf(client, 'update', { change: 'credential.update', credential_id: before.id, kind: before.kind }),
      changes: changesOf(before, after, ['label', 'enabled', 'expires_at']),
    });
  });
}

/** @throws Refusal not_found, validation_error for the primary address */
export function deleteCredential(ctx: Ctx, input: { id: string; credentialId: string }) {
  return mutate(ctx, async (tx) => {
    const client = await lockedClient(tx, ctx, input.id);
    const row = await credentialById(tx, ctx, client.id, input.credentialId);
    if (row.is_primary)
      throw new Refusal('validation_error', "The client's primary address can't be deleted. Change it on the client, or disable it.");
    await forgetCredentials(tx, ctx, [row.id]);
    await tx.client_credentials.delete({ where: { id: row.id, ...own(ctx) }, select: { id: true } });
    await bumpRoutesOf(tx, ctx, client.id);
    return audited(
      { deleted: true as const },
      entryOf(client, 'update', { change: 'credential.delete', credential_id: row.id, kind: row.kind }),
    );
  });
}

/** What may leave the store; sealed material is not even read. */
const PUBLIC = {
  id: true,
  client_id: true,
  tenant_id: true,
  kind: true,
  label: true,
  data: true,
  is_primary: true,
  enabled: true,
  expires_at: true,
  created_at: true,
  updated_at: true,
} as const satisfies Prisma.client_credentialsSelect;
type PublicRow = Prisma.client_credentialsGetPayload<{ select: typeof PUBLIC }>;

const TAKEN = 'Another enabled credential in this space uses the same certificate.';

const asCredential = (row: PublicRow) => ({ ...row, kind: row.kind as CredentialKind, data: row.data as Record<string, string> });

async function withMatches(tx: Tx, ctx: Ctx, rows: PublicRow[]) {
  const usage = await tx.credential_usage.findMany({
    where: { ...own(ctx), id: { in: rows.map((r) => r.id) } },
    select: { id: true, last_used_at: true },
  });
  const matched = new Map(usage.map((u) => [u.id, u.last_used_at]));
  return rows.map((row) => ({ ...asCredential(row), last_matched_at: matched.get(row.id) ?? null }));
}

async function credentialById(tx: Tx, ctx: Ctx, clientId: string, id: string): Promise<PublicRow> {
  const row = isUuid(id)
    ? await tx.client_credentials.findFirst({ where: { ...own(ctx), client_id: clientId, id }, select: PUBLIC })
    : null;
  if (!row) throw notFound();
  return row;
}

async function refuseTooMany(tx: Tx, ctx: Ctx, clientId: string, kind: CredentialKind): Promise<void> {
  const group = GROUPS.find((g) => g.kinds.includes(kind));
  if (!group) return;
  const used = await tx.client_credentials.count({ where: { ...own(ctx), client_id: clientId, kind: { in: group.kinds } } });
  if (used >= group.most) throw new Refusal('validation_error', `kind: a client can have at most ${group.most} ${group.what}`);
}

async function refuseTwin(tx: Tx, ctx: Ctx, clientId: string, range: string): Promise<void> {
  const twin = await tx.client_credentials.findFirst({
    where: { ...own(ctx), client_id: clientId, kind: 'ip', ip_range: range },
    select: { id: true },
  });
  if (twin) throw new Refusal('conflict', `${range} is already a credential of this client.`);
}
