import type { z } from 'zod';
import { changesOf } from '#server/kernel/changes.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import { inTransaction, read, type Tx } from '#server/kernel/database.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { audited, mutate, unchanged } from '#server/kernel/mutate.ts';
import { entryOf } from './connections.ts';
import { confirmPlaces } from './moves.ts';
import type { RotateSshKey } from './schema.ts';
import { insertPassword, putSshKey, sealPassword, sealSshKey } from './seals.ts';
import { accessOf, readAccess, withDatabase } from './sessions.ts';
import { assertSshKey } from './ssh-keys.ts';
import { type ConnectionRow, connectionByName, lockedConnection } from './store.ts';
import { mintedPassword } from './usernames.ts';
import { whenFree } from './waiting.ts';

/**
 * Logs in with the new key before it is stored. Another fingerprint than the pinned one may be another jump host, which the admin's password would reach in
 * that trial already: its move is confirmed and on record before, and the change itself once it is stored. @throws Refusal not_found, validation_error, what `confirmMove` and `withDatabase` throw,
 * tenant_sealed
 */
export async function rotateSshKey(ctx: Ctx, input: z.output<typeof RotateSshKey>) {
  const { connection, ssh_private_key: private_key, ssh_passphrase: passphrase, ssh_host_fingerprint } = input;
  const row = await read(ctx, (tx) => connectionByName(tx, ctx, connection));
  if (row.execution_mode !== 'ssh_tunnel') throw invalid('ssh_private_key', `must be left out with execution_mode ${row.execution_mode}`);
  await assertSshKey(ctx.tenant_id, private_key, passphrase);
  const sealed = await sealSshKey(ctx, { private_key, passphrase });
  if (ssh_host_fingerprint !== undefined) await confirmFingerprint(ctx, connection, ssh_host_fingerprint);
  const access = await readAccess(ctx, row);
  const pinned = ssh_host_fingerprint ?? row.ssh_host_fingerprint;
  const trial = { ...access, trial: true as const, row: { ...row, ssh_host_fingerprint: pinned }, ssh_key: { private_key, passphrase } };
  const seen = await withDatabase(ctx, trial, async ({ hostKey }) => hostKey);
  return mutate(ctx, async (tx) => {
    const before = await lockedConnection(tx, ctx, connection);
    const fingerprint = ssh_host_fingerprint ?? before.ssh_host_fingerprint ?? seen;
    const fingerprint_updated = fingerprint !== row.ssh_host_fingerprint;
    await putSshKey(tx, ctx, before.id, sealed);
    await tx.dyn_db_connections.update({
      where: { id: before.id, ...own(ctx) },
      data: { ssh_host_fingerprint: fingerprint, updated_at: ctx.now },
      select: { id: true },
    });
    return audited(
      { rotated: before.name, fingerprint_updated },
      entryOf('update', before, {
        changes: changesOf(before, { ssh_host_fingerprint: fingerprint }, ['ssh_host_fingerprint']),
        details: { ssh_key: 'rotated', fingerprint_updated, fingerprint },
      }),
    );
  });
}

const confirmFingerprint = (ctx: Ctx, connection: string, fingerprint: string) =>
  mutate(ctx, async (tx) => {
    const before = await lockedConnection(tx, ctx, connection);
    const moved = before.ssh_host_fingerprint !== null && before.ssh_host_fingerprint !== fingerprint ? ['ssh_host_fingerprint'] : [];
    const move = await confirmPlaces(tx, ctx, before, { moved, given: false, again: [], route: 'dyn_db.rotate_ssh_key' });
    if (move.moved === undefined) return unchanged(undefined);
    return audited(undefined, entryOf('update', before, { details: { ssh_key: 'trying', fingerprint, ...move } }));
  });

/** A rotation that is younger may still be under way. */
const UNDER_WAY_MS = 120_000;

/**
 * Gives the admin a random password that nobody sees. It is stored as pending before the server has it, and becomes current once a second login with it
 * worked: whenever the process dies, one of the two that are stored is the server's. @throws Refusal not_found, conflict, what `withDatabase` throws
 */
export async function rotateRoot(ctx: Ctx, { connection }: { connection: string }) {
  const row = await read(ctx, (tx) => connectionByName(tx, ctx, connection));
  if (row.execution_mode === 'iam') throw new Refusal('conflict', 'A connection with execution_mode iam has no admin password.');
  const password = mintedPassword();
  const sealed = await sealPassword(ctx, password);
  const access = await whenFree(ctx, async () => {
    await settlePending(ctx, row);
    return mutate(ctx, async (tx) => {
      const locked = await lockedConnection(tx, ctx, connection);
      const current = await accessOf(tx, ctx, locked);
      if (current.passwords.length > 1) throw underWay();
      await insertPassword(tx, ctx, locked.id, sealed, 'pending');
      return audited(current, entryOf('update', locked, { details: { outcome: 'rotated' } }));
    });
  });
  try {
    await withDatabase(ctx, access, (session) => session.setOwnPassword(password));
  } catch (error) {
    // The server said no, so it has the old one. After anything else either may be true.
    if (error instanceof Refusal && error.type === 'database_error') await forget(ctx, row, 'pending');
    throw error;
  }
  await withDatabase(ctx, { ...access, passwords: [password], only: true }, async () => {});
  await inTransaction(ctx, async (tx) => {
    await promote(tx, ctx, row);
    await tx.$executeRaw`update dyn_db_connections set root_rotated_at = ${ctx.now} where id = ${row.id}::uuid`;
  });
  return { rotated: row.name, rotated_at: ctx.now };
}

const underWay = () =>
  new Refusal('conflict', 'The admin password of this connection is being rotated. Try again in two minutes.', { retryAfter: 60 });

/** What an earlier rotation left undecided: the server tells which of the two it knows. */
async function settlePending(ctx: Ctx, row: ConnectionRow): Promise<void> {
  const where = { ...own(ctx), connection_id: row.id, state: 'pending' };
  const pending = await read(ctx, (tx) => tx.dyn_db_passwords.findFirst({ where, select: { created_at: true } }));
  if (!pending) return;
  if (pending.created_at.getTime() > ctx.now.getTime() - UNDER_WAY_MS) throw underWay();
  const access = await readAccess(ctx, row);
  try {
    await withDatabase(ctx, { ...access, passwords: access.passwords.slice(1), only: true }, async () => {});
  } catch (error) {
    if (!(error instanceof Refusal) || error.type !== 'database_error') throw error;
    await forget(ctx, row, 'pending');
    return;
  }
  await inTransaction(ctx, (tx) => promote(tx, ctx, row));
}

const forget = (ctx: Ctx, row: ConnectionRow, state: 'current' | 'pending') =>
  inTransaction(ctx, (tx) => tx.dyn_db_passwords.deleteMany({ where: { ...own(ctx), connection_id: row.id, state } }));

async function promote(tx: Tx, ctx: Ctx, row: ConnectionRow): Promise<void> {
  const where = { ...own(ctx), connection_id: row.id };
  if ((await tx.dyn_db_passwords.count({ where: { ...where, state: 'pending' } })) === 0) return;
  await tx.dyn_db_passwords.deleteMany({ where: { ...where, state: 'current' } });
  await tx.dyn_db_passwords.updateMany({ where: { ...where, state: 'pending' }, data: { state: 'current' } });
}
