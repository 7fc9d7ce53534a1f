import type { Ctx } from '#server/kernel/context.ts';
import { inTransaction, read, type Tx } from '#server/kernel/database.ts';
import { within } from '#server/platform/databases/deadline.ts';
import type { DatabaseSession, DatabaseTarget } from '#server/platform/databases/engine.ts';
import { DatabaseFault, otherHostKey } from '#server/platform/databases/fault.ts';
import { openDatabase } from '#server/platform/databases/open.ts';
import { iamToken } from './iam.ts';
import { refusalOf } from './refusals.ts';
import { openPasswords, openSshKey, type SshKey } from './seals.ts';
import type { ConnectionRow } from './store.ts';

/** A connection with what opens it. The passwords are those that the server may know, the likeliest first. */
export type Access = {
  row: ConnectionRow;
  passwords: readonly string[];
  ssh_key: SshKey | null;
  /** The workspace's own, for roles of AWS. */
  external_id: string | null;
  /** Of a trial nothing is kept. */
  trial?: true;
  /** No password but these: the login tells whether the server knows one of them. */
  only?: true;
};

/** Work on a server ends after so long, whatever it waits for: a claim on a lease lapses only later. */
export const WORK_MS = 90_000;

/** @throws Refusal tenant_sealed */
export const accessOf = async (tx: Tx, ctx: Ctx, row: ConnectionRow): Promise<Access> => ({
  row,
  passwords: await openPasswords(tx, ctx, row.id),
  external_id:
    row.execution_mode === 'iam'
      ? (await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { kms_external_id: true } })).kms_external_id
      : null,
  ssh_key: row.execution_mode === 'ssh_tunnel' ? await openSshKey(tx, ctx, row.id) : null,
});

export const readAccess = (ctx: Ctx, row: ConnectionRow): Promise<Access> => read(ctx, (tx) => accessOf(tx, ctx, row));

/**
 * Opens the database for one piece of work and closes it. The key that a jump host shows first is pinned. @throws Refusal database_unreachable,
 * database_error, database_timeout, ssh_host_key_mismatch, whatever the work throws
 */
export async function withDatabase<T>(
  ctx: Ctx,
  access: Access,
  work: (session: DatabaseSession) => Promise<T>,
  opening?: Promise<DatabaseSession>,
): Promise<T> {
  let session: DatabaseSession | undefined;
  try {
    const answer = async () => {
      session = await (opening ?? opened(ctx, access));
      if (!access.trial) await pin(ctx, access.row, session.hostKey);
      return work(session);
    };
    return await within(WORK_MS, answer(), () => new DatabaseFault('database_timeout', 'statement', 'the server took too long'));
  } catch (error) {
    throw error instanceof DatabaseFault ? refusalOf(error) : error;
  } finally {
    const closed = session?.close();
    if (opening === undefined) await closed;
  }
}

/**
 * Begins to log in, for `withDatabase` to work with: whoever mints commits a lease meanwhile. Logging in changes nothing on the server. What is not handed
 * on is closed by `forgotten`.
 */
export function openingOf(ctx: Ctx, access: Access): Promise<DatabaseSession> {
  const opening = opened(ctx, access);
  opening.catch(() => {}); // whoever waits for it is told
  return opening;
}

export const forgotten = (opening: Promise<DatabaseSession>): void =>
  void opening.then(
    (session) => session.close(),
    () => {},
  );

/** Logs in with each of the passwords until the server takes one, also with one that a rotation has stored since they were read. */
async function opened(ctx: Ctx, access: Access): Promise<DatabaseSession> {
  const { row } = access;
  if (row.execution_mode === 'iam') return loggedIn(access, [await iamToken(ctx, access)]);
  try {
    return await loggedIn(access, access.passwords);
  } catch (error) {
    if (access.only || access.trial || !(error instanceof DatabaseFault) || error.stage !== 'auth') throw error;
    const { tx: _, ...own } = ctx;
    const { passwords } = await readAccess(own as Ctx, row);
    const others = passwords.filter((password) => !access.passwords.includes(password));
    if (others.length === 0) throw error;
    return loggedIn(access, others);
  }
}

async function loggedIn({ row, ssh_key }: Access, passwords: readonly string[]): Promise<DatabaseSession> {
  let refused: unknown;
  for (const password of passwords)
    try {
      return await openDatabase(targetOf(row, password, ssh_key));
    } catch (error) {
      refused = error;
      if (!(error instanceof DatabaseFault) || error.stage !== 'auth') throw error;
    }
  throw refused ?? new DatabaseFault('database_error', 'auth', 'no password is stored for this connection');
}

export function targetOf(row: ConnectionRow, password: string, ssh: SshKey | null): DatabaseTarget {
  const { engine, host, port, database_name, admin_username, connect_options, ssh_host, ssh_port, ssh_username } = row;
  return {
    engine,
    host,
    port,
    database: database_name,
    username: (row.execution_mode === 'iam' ? row.iam_db_user : admin_username) ?? '',
    password,
    iam: row.execution_mode === 'iam',
    options: connect_options,
    ...(row.execution_mode === 'agent_tunnel' && row.agent_id
      ? { agent: { id: row.agent_id, tenant_id: row.tenant_id, sandbox: row.sandbox } }
      : {}),
    ...(ssh && ssh_host
      ? {
          ssh: {
            host: ssh_host,
            port: ssh_port ?? 22,
            username: ssh_username ?? '',
            privateKey: ssh.private_key,
            passphrase: ssh.passphrase,
            fingerprint: row.ssh_host_fingerprint,
          },
        }
      : {}),
  };
}

/**
 * Trust on first use: from then on another key is refused, also where another session has pinned its own meanwhile (interface rule 44 §3.1). Written past
 * the row's own time, which is that of people's edits. @throws DatabaseFault
 */
async function pin(ctx: Ctx, row: ConnectionRow, hostKey: string | null): Promise<void> {
  if (hostKey === null || row.ssh_host_fingerprint !== null) return;
  const { tx: _, ...own } = ctx;
  const [pinned] = await inTransaction(
    own as Ctx,
    (tx) => tx.$queryRaw<{ key: string }[]>`
      update dyn_db_connections set ssh_host_fingerprint = coalesce(ssh_host_fingerprint, ${hostKey}) where id = ${row.id}::uuid
      returning ssh_host_fingerprint as key`,
  );
  if (pinned !== undefined && pinned.key !== hostKey) throw otherHostKey(hostKey);
}
