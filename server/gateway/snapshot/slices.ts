import type { Space } from '#server/kernel/context.ts';
import type { EgressSettings } from '#server/platform/http-out/settings.ts';
import { aiCircuits } from './ai-circuits.ts';
import { aiConfig } from './ai-config.ts';
import { aiPolicies } from './ai-policies.ts';
import { aiSpend } from './ai-spend.ts';
import { apiKeys } from './api-keys.ts';
import { clients } from './clients.ts';
import { elementOrigins } from './element-origins.ts';
import { environments } from './environments.ts';
import { mcpServers } from './mcp-servers.ts';
import type { Tenant } from './model.ts';
import { policies } from './policies.ts';
import { routes } from './routes.ts';
import { secrets } from './secrets.ts';
import type { RowLists, Slice } from './slice.ts';
import { compileTenant, type TenantRow } from './tenant.ts';
import { variables } from './variables.ts';

/** What a snapshot is made of. A new slice is a file beside this one and a line here. */
const slices = {
  routes,
  clients,
  apiKeys,
  variables,
  secrets,
  policies,
  elementOrigins,
  environments,
  aiConfig,
  aiPolicies,
  aiSpend,
  aiCircuits,
  mcpServers,
};

type Slices = typeof slices;
type AnyCompile = { compile(rows: never, egress: never): object };
type RowsOf<S extends AnyCompile> = Parameters<S['compile']>[0];
type PartOf<S extends AnyCompile> = ReturnType<S['compile']>;
type Merged<Union> = (Union extends unknown ? (part: Union) => void : never) extends (all: infer All) => void ? All : never;

/** What the gateway knows of one workspace and space, as plain JSON: it is compiled for serving and written to disk as it is. */
export type SpaceRows = { tenant: TenantRow; space: Space } & Merged<{ [Name in keyof Slices]: RowsOf<Slices[Name]> }[keyof Slices]>;

/**
 * The compiled, immutable picture of one workspace and space that calls are served from. A call takes one at its start and uses nothing newer, so
 * it sees the old configuration or the new one, never a mixture.
 */
export type SpaceSnapshot = { readonly tenant: Tenant; readonly space: Space; readonly sandbox: boolean } & Readonly<
  Merged<{ [Name in keyof Slices]: PartOf<Slices[Name]> }[keyof Slices]>
>;

/** A slice as code sees it that treats all alike. */
export type AnySlice = Slice<RowLists, object>;
export const SLICES = Object.values(slices) as unknown as readonly AnySlice[];

/** Compiled parts by the name of their slice. */
export type Parts = ReadonlyMap<string, object>;

/** Compiles the given slices anew and takes the others over from `before`. */
export function compileParts(rows: SpaceRows, changed: readonly AnySlice[], before: Parts, egress: EgressSettings): Parts {
  const parts = new Map(before);
  for (const slice of changed) parts.set(slice.name, slice.compile(rows as unknown as RowLists, egress));
  return parts;
}

/** Puts the picture together. All are built in the same order, so that the engine sees a single shape. */
export function composeSpace({ tenant, space }: SpaceRows, parts: Parts): SpaceSnapshot {
  const picture = { tenant: compileTenant(tenant), space, sandbox: space === 'test' };
  for (const { name } of SLICES) Object.assign(picture, parts.get(name));
  return picture as SpaceSnapshot;
}

/** Whether rows that were read from disk have every list of this release: one that is missing must not be taken for an empty one. */
export const isComplete = (rows: object): rows is SpaceRows =>
  'tenant' in rows &&
  SLICES.every(({ queries }) => Object.keys(queries).every((list) => Array.isArray((rows as Record<string, unknown>)[list])));
