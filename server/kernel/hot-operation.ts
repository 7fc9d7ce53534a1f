import type { z } from 'zod';
import type { HotCtx } from './context.ts';
import type { WorkspaceNeeds } from './needs.ts';
import type { Kind, Method, Operation, Result } from './operation.ts';

/**
 * An operation of /v1 that the gateway serves itself, from the same row as web. It reads, or uses keys and vaults, and it
 * runs without Prisma: by `ownRows` and `server/custody`. Whatever isn't the plain success of a request with a credential is answered by web.
 */
export type HotOperation<
  I extends z.ZodType = z.ZodType,
  O extends z.ZodType = z.ZodType,
  N extends HotNeeds = HotNeeds,
  M extends Method = Method,
  K extends HotKind = HotKind,
> = Omit<Operation<I, O, K, N, M>, 'edits' | 'stream' | 'step_up' | 'run'> & {
  run: (ctx: HotCtx, input: z.output<I>) => Promise<Result<O>>;
};

type HotKind = Extract<Kind, 'read' | 'use'>;
type HotNeeds = Exclude<WorkspaceNeeds, 'anonymous' | 'client_token'>;

/** Declares a hot operation in the `hot.ts` of its family; `server/domain/hot-operations.ts` lists it. */
export const hotOperation = <
  I extends z.ZodType,
  O extends z.ZodType,
  const N extends HotNeeds,
  const M extends Method,
  const K extends HotKind = 'read',
>(
  row: Omit<HotOperation<I, O, N, M, K>, 'kind'> & { kind?: K },
): HotOperation<I, O, N, M, K> => ({ ...row, kind: row.kind ?? ('read' as K) });

// biome-ignore lint/suspicious/noExplicitAny: the list holds operations of every shape; each row was checked where it was declared.
export type AnyHotOperation = HotOperation<any, any>;
