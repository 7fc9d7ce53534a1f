import { defaultEnvironment, heldEnvironment } from '#server/domain/environments/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { secretById } from './store.ts';

/** @throws Refusal validation_error when the space has no such collection */
export async function requireCollection(tx: Tx, ctx: Ctx, id: string | null | undefined): Promise<void> {
  if (id && !(await tx.collections.findFirst({ where: { ...own(ctx), id }, select: { id: true } })))
    throw invalid('collection_id', 'no such collection');
}

/** The name of the environment asked for, or of the default one, held against rename and deletion until the end. */
export async function environmentFor(tx: Tx, ctx: Ctx, name: string | undefined): Promise<string> {
  const wanted = name ?? (await defaultEnvironment(tx, ctx)).name;
  if (!(await heldEnvironment(tx, ctx, wanted))) throw invalid('environment', 'no such environment');
  return wanted;
}

/** Environments are locked before secrets, everywhere: a rename goes the same way and the two never wait for each other. */
export async function lockedEnvironment(tx: Tx, ctx: Ctx, input: { id: string; environment?: string | undefined }): Promise<string> {
  const base = (await secretById(tx, ctx, input.id)).base_environment;
  const wanted = input.environment ?? base ?? (await defaultEnvironment(tx, ctx)).name;
  if (await heldEnvironment(tx, ctx, wanted)) return wanted;
  if (input.environment !== undefined) throw notFound();
  throw new Refusal('conflict', 'The environment was renamed at the same time. Try again.');
}
