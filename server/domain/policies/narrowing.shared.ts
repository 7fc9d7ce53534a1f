import type { Capability } from '#server/domain/roles/matrix.shared.ts';

/**
 * Where the objects of a resource are: the path segment before their ID, their table, and the columns besides `id` that name one. `refs` are those that
 * stand in a path instead of the ID, `tombstones` the column that is set when an object is gone, `document` the type under which search finds one if it isn't the resource.
 */
type Narrowable = {
  segment: string;
  table: string;
  names: readonly string[];
  refs?: readonly string[];
  tombstones?: 'deleted_at';
  document?: string;
};

const ROUTES: Narrowable = { segment: 'routes', table: 'routes', names: ['name', 'slug'], refs: ['slug'] };

/**
 * Resources of capabilities that a policy can narrow to single objects. A family whose objects are addressed as `/<segment>/{id}` adds its line here, and
 * every operation on such an address obeys.
 */
export const NARROWABLE: Readonly<Record<string, Narrowable>> = {
  route: ROUTES,
  proxy: ROUTES,
  secret: { segment: 'secrets', table: 'secrets', names: ['name', 'shortcode_name'] },
  client: { segment: 'clients', table: 'clients', names: ['name'] },
  environment: { segment: 'environments', table: 'environments', names: ['name'] },
  collection: { segment: 'collections', table: 'collections', names: ['name', 'slug'] },
  transit: { segment: 'keys', table: 'crypto_keys', names: ['name'], refs: ['name'], tombstones: 'deleted_at', document: 'crypto_key' },
  vault: { segment: 'vaults', table: 'vaults', names: ['name'], refs: ['name'], tombstones: 'deleted_at' },
  pki: { segment: 'roots', table: 'pki_roots', names: ['name'], refs: ['name'], document: 'pki_root' },
  api_key: { segment: 'api-keys', table: 'api_keys', names: ['name'], refs: ['key_id'] },
};

/** `route` of `route:read` and of `route:*`. */
export const resourceOf = (action: string): string => action.slice(0, action.indexOf(':'));

/** Whether rules that name this action can be narrowed. */
export const isNarrowable = (action: string): boolean => Object.hasOwn(NARROWABLE, resourceOf(action));

/** What an operation says of the object a capability is about. `refs` are IDs or what stands for them; `names` are names it gets by the call. */
export type Target = { refs: readonly string[]; names: readonly string[] };

/** What is asked of an operation row here. */
type Row = { http: string; kind: string; asks_policies?: true };

/**
 * The object that a call is about, as far as one capability is concerned, from the operation's address and input: `/routes/{id}`, a parameter `routeId`,
 * a field `route_id`, or the name of what `POST /routes` creates. `unknown`: it changes something and doesn't say which. Undefined: it only reads, and
 * isn't about one object, or asks about each object itself.
 */
export function targetOf(op: Row, capability: Capability, input: Record<string, unknown>): Target | 'unknown' | undefined {
  if (op.asks_policies) return undefined;
  const resource = resourceOf(capability);
  const kind = NARROWABLE[resource];
  if (!kind) return op.kind === 'read' ? undefined : 'unknown';
  const [method, path] = op.http.split(' ') as [string, string];
  const singular = kind.table.slice(0, -1);
  const camel = singular.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const parameter = parameterAfter(path, kind.segment) ?? (path.includes(`{${camel}Id}`) ? `${camel}Id` : undefined);
  const refs = [parameter === undefined ? undefined : input[parameter], input[`${singular}_id`]].filter(isText);
  const creates = method === 'POST' && path.endsWith(`/${kind.segment}`);
  const renames = parameter !== undefined && path.endsWith(`/${kind.segment}/{${parameter}}`);
  const copies = parameter !== undefined && path.endsWith('/duplicate');
  const names = creates || renames || copies ? kind.names.map((name) => input[name]).filter(isText) : [];
  if (refs.length > 0 || creates) return { refs, names };
  return op.kind === 'read' ? undefined : 'unknown';
}

/** The capability whose denial hides rows of a list, or undefined: the rows of `/routes` and `/admin/routes/overview` are routes. */
export function listedResource(op: Pick<Row, 'http'>, capability: Capability): string | undefined {
  const resource = resourceOf(capability);
  const kind = NARROWABLE[resource];
  const [, path = ''] = op.http.split(' ');
  return kind && !path.includes('{') && path.split('/').includes(kind.segment) ? resource : undefined;
}

function parameterAfter(path: string, segment: string): string | undefined {
  const parts = path.split('/');
  const next = parts[parts.indexOf(segment) + 1] ?? '';
  return parts.includes(segment) && next.startsWith('{') ? next.slice(1, -1) : undefined;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
