import { perform } from '#server/api/perform.ts';
import { operations } from '#server/api/operations.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { AnyOperation } from '#server/kernel/operation.ts';

/** A valid input of an operation in a fresh workspace; what it needs to exist is made first, by operations as a caller would. */
export type Sample = (ctx: Ctx) => Promise<Record<string, unknown>>;

let counter = 0;
/** A name nobody used yet in this process. */
export const fresh = (word: string) => `${word}-${process.pid}-${++counter}`;

export const operationById = (id: string): AnyOperation => {
  const op = operations.find((o) => o.id === id);
  if (!op) throw new Error(`no operation ${id}`);
  return op;
};

/** Runs an operation for its output. */
// biome-ignore lint/suspicious/noExplicitAny: outputs of every shape
export const made = async (ctx: Ctx, id: string, input: Record<string, unknown> = {}): Promise<any> => (await perform(operationById(id), ctx, input)).output;

const nothing: Sample = async () => ({});
const idOf = (id: string, input: Sample): Sample => async (ctx) => ({ id: (await made(ctx, id, await input(ctx))).id });

const environment: Sample = async () => ({ name: fresh('env') });
const apiKey: Sample = async () => ({ name: fresh('key') });

/** One sample per operation id; `every operation has a sample` fails for a row without one. */
export const samples: Record<string, Sample> = {
  'account.get': nothing,
  'account.update': async () => ({ name: fresh('Workspace') }),
  'account.usage': nothing,
  'account.plan': nothing,
  'api_keys.list': nothing,
  'api_keys.get': idOf('api_keys.create', apiKey),
  'api_keys.create': apiKey,
  'api_keys.update': async (ctx) => ({ ...(await idOf('api_keys.create', apiKey)(ctx)), name: fresh('renamed') }),
  'api_keys.rotate': idOf('api_keys.create', apiKey),
  'api_keys.revoke': idOf('api_keys.create', apiKey),
  'environments.list': nothing,
  'environments.get': idOf('environments.create', environment),
  'environments.create': environment,
  'environments.update': async (ctx) => ({ ...(await idOf('environments.create', environment)(ctx)), display_name: 'Renamed' }),
  'environments.delete': idOf('environments.create', environment),
  'roles.list': nothing,
};
