import type { Ctx } from '#server/kernel/context.ts';
import { backgroundSettled } from '#server/platform/background.ts';
import { type PostgresServer, postgresServer } from '#server/platform/databases/postgres/server.fixture.ts';
import { fresh, made, type Sample } from '#server/testing/factories.ts';
import { oncePerFile, onFileEnd } from '#server/testing/file-end.ts';

/** The PostgreSQL that credentials are made on: one for the file, begun by whoever needs it first. */
export const target: () => Promise<PostgresServer> = oncePerFile(() => postgresServer(onFileEnd));

/** A database that answers. */
export const answering: Sample = async () => {
  const { host, admin } = await target();
  return {
    name: fresh('db'),
    engine: 'postgres',
    host,
    database_name: 'shop',
    admin_username: admin.username,
    admin_password: admin.password,
  };
};

/** A connection to it. */
export const connection: Sample = async (ctx) => ({ connection: await created(ctx, await answering(ctx)) });

/** The name of a new connection, once the check in the background has said what it found. */
export async function created(ctx: Ctx, input: Record<string, unknown>): Promise<string> {
  const { name } = await made(ctx, 'dyn_db.create', input);
  await backgroundSettled();
  return name;
}

/** The same with a role. */
export const role: Sample = async (ctx) => {
  const ref = await connection(ctx);
  const { name } = await made(ctx, 'dyn_db.create_role', { ...ref, name: fresh('role'), template: 'readonly' });
  return { ...ref, role: name };
};
