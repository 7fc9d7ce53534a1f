import type { Ctx } from '#server/kernel/context.ts';
import type { SentOperation } from './patch/patch.ts';
import type { ResourceType } from './schema/attribute.ts';
import type { ScimObject } from './schema/read.ts';

/** An authenticated call. `ctx.sandbox` is the credential's space. */
export type ScimCall = { ctx: Ctx };

export type ListQuery = {
  /** As it was sent; null lists everything. */
  filter: string | null;
  /** 1-based. */
  startIndex: number;
  /** 0 to 200. */
  count: number;
};
export type ListResult = { total: number; resources: ScimObject[] };

/**
 * One resource type. The plane parses queries and bodies, and adds `meta.location`, projection and status codes; a resource applies what was asked and
 * answers with the whole resource. Every verb throws `ScimProblem`, or a `Refusal` of the domain.
 */
export type ScimResource = {
  type: ResourceType;
  /** What a credential must have beyond the plan. @throws ScimProblem */
  admits?: (call: ScimCall) => void;
  list: (call: ScimCall, query: ListQuery) => Promise<ListResult>;
  get: (call: ScimCall, id: string) => Promise<ScimObject>;
  create: (call: ScimCall, body: ScimObject) => Promise<ScimObject>;
  replace: (call: ScimCall, id: string, body: ScimObject) => Promise<ScimObject>;
  patch: (call: ScimCall, id: string, operations: readonly SentOperation[]) => Promise<ScimObject>;
  remove: (call: ScimCall, id: string) => Promise<void>;
};
