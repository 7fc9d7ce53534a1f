import { isDeepStrictEqual } from 'node:util';
import type { Entry } from './document.ts';
import { differing, type Kind, type Making, type Note, named, pick, without } from './kind.ts';
import type { Remote } from './remote.ts';

const FIELDS = ['description', 'color', 'icon'];
const DEFAULTS = { description: null, color: null, icon: null, variables: {}, expected_environments: [], environment_defaults: {} };

type Variable = { value?: string | null; secret?: string | null; description?: string | null };
type Variables = Record<string, Variable>;
type StoredVariable = { id: string; key: string; type: string; value: string | null; secret_id: string | null; description: string | null };
type Defaults = Record<string, { base_url?: string | null; clients?: string[] }>;
type StoredDefaults = {
  expected_environments: string[];
  environments: { environment_name: string; base_url: string | null; default_client_ids: string[] }[];
};

/** Variables and defaults wait until secrets and clients exist, whose names are in them; those may belong to the collection themselves. */
export const collections: Kind = {
  name: 'collections',
  read: async (row, remote, note) => ({
    name: row.name,
    slug: row.slug,
    ...pick(row, FIELDS),
    variables: await variablesOf(row.id, remote, note),
    ...(await defaultsOf(row.id, remote, note)),
  }),
  whole: async (entry, current) => ({
    ...DEFAULTS,
    slug: current?.slug,
    ...entry,
    ...(typeof entry.color === 'string' ? { color: entry.color.toLowerCase() } : {}),
    variables: Object.fromEntries(
      Object.entries((entry.variables ?? {}) as Variables).map(([key, one]) => [
        key,
        one.secret
          ? { secret: one.secret, description: one.description ?? null }
          : { value: one.value ?? '', description: one.description ?? null },
      ]),
    ),
    expected_environments: sorted((entry.expected_environments as string[] | undefined) ?? []),
    environment_defaults: Object.fromEntries(
      Object.entries((entry.environment_defaults ?? {}) as Defaults).map(([name, one]) => [
        name,
        { base_url: one.base_url ?? null, clients: sorted(one.clients ?? []) },
      ]),
    ),
  }),
  brief: (entry) => {
    const variables = Object.entries(entry.variables as Variables).map(([key, one]) => [
      key,
      Object.fromEntries(Object.entries(one).filter(([name, value]) => name !== 'description' || value !== null)),
    ]);
    return without({ ...entry, variables: Object.fromEntries(variables) }, DEFAULTS);
  },
  references: (entry) => [
    ...Object.entries(entry.variables as Variables).flatMap(([key, { secret }]) =>
      secret ? [{ kind: 'secrets' as const, name: secret, at: `variables.${key}.secret` }] : [],
    ),
    ...(entry.expected_environments as string[]).map((name) => ({ kind: 'environments' as const, name, at: 'expected_environments' })),
    ...Object.entries(entry.environment_defaults as Defaults).flatMap(([name, { clients = [] }]) => [
      { kind: 'environments' as const, name, at: `environment_defaults.${name}` },
      ...clients.map((client) => ({ kind: 'clients' as const, name: client, at: `environment_defaults.${name}.clients` })),
    ]),
  ],
  problems: (wanted, current) => [
    ...(current && wanted.slug !== current.slug ? [`has the slug ${current.slug}, which can't be changed to ${wanted.slug}.`] : []),
    ...Object.entries(wanted.variables as Variables).flatMap(([key, { value, secret }]) =>
      value && secret ? [`variables.${key} has a value as well as a secret.`] : [],
    ),
  ],
  create: async (wanted, { remote }, made) => {
    const body = { name: wanted.name, ...pick(wanted, ['slug', ...FIELDS]) };
    made((await remote.send<{ id: string }>('POST', '/collections', { body })).id);
  },
  update: async (id, wanted, current, { remote }) => {
    const fields = differing(['name', ...FIELDS], wanted, current);
    if (fields.length > 0) await remote.send('PATCH', '/collections/{id}', { path: { id }, body: pick(wanted, fields) });
  },
  finish: async (id, wanted, making) => {
    await writeVariables(id, wanted.variables as Variables, making);
    const now = await defaultsOf(id, making.remote, () => {});
    if (differing(['expected_environments', 'environment_defaults'], wanted, now).length > 0) await writeDefaults(id, wanted, making);
  },
};

const sorted = (names: readonly string[]) => [...new Set(names)].sort();

const storedVariables = (id: string, remote: Remote) =>
  remote.send<StoredVariable[]>('GET', '/collections/{id}/variables', { path: { id } });

async function variablesOf(id: string, remote: Remote, note: Note): Promise<Variables> {
  const variables: [string, Variable][] = [];
  for (const { key, type, value, secret_id, description } of await storedVariables(id, remote)) {
    const secret = type === 'secret' ? await named(remote, 'secrets', secret_id, note, `The secret of its variable ${key}`) : undefined;
    if (secret === null) continue;
    variables.push([key, secret === undefined ? { value: value ?? '', description } : { secret, description }]);
  }
  return Object.fromEntries(variables.sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function defaultsOf(id: string, remote: Remote, note: Note): Promise<Record<string, unknown>> {
  const stored = await remote.send<StoredDefaults>('GET', '/collections/{id}/environment-defaults', { path: { id } });
  const environments: [string, { base_url: string | null; clients: string[] }][] = [];
  for (const { environment_name, base_url, default_client_ids } of stored.environments) {
    const clients: string[] = [];
    for (const client of default_client_ids) {
      const name = await named(remote, 'clients', client, note, `A default client in ${environment_name}`);
      if (name !== null) clients.push(name);
    }
    environments.push([environment_name, { base_url, clients: sorted(clients) }]);
  }
  return { expected_environments: sorted(stored.expected_environments), environment_defaults: Object.fromEntries(environments) };
}

async function writeVariables(id: string, wanted: Variables, { remote }: Making): Promise<void> {
  const path = '/collections/{id}/variables';
  const stored = await storedVariables(id, remote);
  const now = await variablesOf(id, remote, () => {});
  for (const [key, variable] of Object.entries(wanted)) {
    if (isDeepStrictEqual(now[key], variable)) continue;
    const body = variable.secret
      ? { type: 'secret', secret_id: await remote.idOf('secrets', variable.secret), description: variable.description }
      : { type: 'value', value: variable.value, description: variable.description };
    const existing = stored.find((one) => one.key === key);
    if (existing) await remote.send('PATCH', `${path}/{variableId}`, { path: { id, variableId: existing.id }, body });
    else await remote.send('POST', path, { path: { id }, body: { key, ...body } });
  }
  for (const { id: variableId, key } of stored)
    if (!Object.hasOwn(wanted, key)) await remote.send('DELETE', `${path}/{variableId}`, { path: { id, variableId } });
}

async function writeDefaults(id: string, wanted: Entry, { remote }: Making): Promise<void> {
  const environments: unknown[] = [];
  for (const [environment_name, { base_url, clients = [] }] of Object.entries(wanted.environment_defaults as Defaults)) {
    const ids: string[] = [];
    for (const client of clients) ids.push(await remote.idOf('clients', client));
    environments.push({ environment_name, base_url, default_client_ids: ids });
  }
  const body = { expected_environments: wanted.expected_environments, environments };
  await remote.send('PUT', '/collections/{id}/environment-defaults', { path: { id }, body });
}
