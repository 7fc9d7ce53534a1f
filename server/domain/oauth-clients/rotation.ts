import type { z } from 'zod';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import { audited, mutate } from '#server/kernel/mutate.ts';
import { insertSecret } from './creation.ts';
import { notifySecretRotated } from './notices.ts';
import { grantable } from './rules.ts';
import type { RotateOAuthClientSecret } from './schema.ts';
import { assertEditable, lockedClient } from './store.ts';
import { endTokens } from './tokens.ts';

const CONTAINED = 'The old secret no longer works, and every token that was obtained with it has been revoked.';

/**
 * A new secret. Without an overlap this contains a leak: the old secret and every token that it obtained end in the same transaction, or nothing changes
 * (interface rule 21 §13.2). With one, the old secret works that much longer and its tokens live on; a secret before it ends now.
 * @throws Refusal validation_error for a public client, system_client_protected, privilege_escalation, conflict, not_found
 */
export async function rotateSecret(ctx: Ctx, { id, overlap_seconds }: z.output<typeof RotateOAuthClientSecret>) {
  let notify = () => {};
  const made = await mutate(ctx, async (tx) => {
    const row = await lockedClient(tx, ctx, id);
    assertEditable(row);
    if (row.type === 'public') throw invalid('id', 'a public client has no secret');
    // Whoever gets the new secret can do what the client can.
    await grantable(ctx, row.allowed_scopes);
    const worksUntil = overlap_seconds === 0 ? null : await retireSecrets(tx, ctx, row.id, overlap_seconds);
    const ended = worksUntil ? {} : await contain(tx, ctx, row.id);
    const client_secret = await insertSecret(tx, ctx, row.id);
    await tx.oauth_clients.update({ where: { id: row.id, ...own(ctx) }, data: { updated_at: ctx.now } });
    notify = await notifySecretRotated(tx, ctx, row, worksUntil);
    const warning = worksUntil ? `The old secret works until ${worksUntil.toISOString()}. Tokens stay valid.` : CONTAINED;
    return audited(
      { client_id: row.client_id, client_secret, previous_secret_expires_at: worksUntil, warning },
      {
        action: 'rotate',
        resource_type: 'oauth_client',
        resource_id: row.id,
        name: row.name,
        details: { client_id: row.client_id, overlap_seconds, ...ended },
      },
    );
  });
  notify();
  return made;
}

/** The newest secret works until the overlap ends; those before it end now, so that never more than two work. @returns when it ends */
async function retireSecrets(tx: Tx, ctx: Ctx, clientRowId: string, seconds: number): Promise<Date | null> {
  const working = await tx.oauth_client_secrets.findMany({
    where: { ...own(ctx), client_row_id: clientRowId, revoked_at: null, OR: [{ expires_at: null }, { expires_at: { gt: ctx.now } }] },
    orderBy: [{ created_at: 'desc' }, { id: 'desc' }],
    select: { id: true },
  });
  const [newest, ...older] = working.map((secret) => secret.id);
  if (newest === undefined) return null;
  const ends = new Date(ctx.now.getTime() + seconds * 1000);
  await tx.oauth_client_secrets.updateMany({ where: { ...own(ctx), id: newest }, data: { expires_at: ends } });
  await tx.oauth_client_secrets.updateMany({ where: { ...own(ctx), id: { in: older } }, data: { revoked_at: ctx.now } });
  return ends;
}

async function contain(tx: Tx, ctx: Ctx, clientRowId: string) {
  await tx.oauth_client_secrets.updateMany({
    where: { ...own(ctx), client_row_id: clientRowId, revoked_at: null },
    data: { revoked_at: ctx.now },
  });
  return endTokens(tx, ctx, clientRowId, 'secret_rotated', ['client', 'user']);
}
