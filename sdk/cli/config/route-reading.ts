import type { Entry } from './document.ts';
import { type Note, named, pick } from './kind.ts';
import { inParallel, type Remote, type Row } from './remote.ts';
import { actionsOf } from './route-actions.ts';
import { fieldOf, readSettings, SETTINGS } from './route-settings.ts';

export type Values = Record<string, unknown>;
/** One environment of a route: settings of its own, whether it serves, and who may call. That of the base has no settings: those are the route's. */
export type Environment = Values & { enabled: boolean; clients: string[] };
type Detail = Row & {
  base_environment: string;
  environments: (Values & { environment_name: string; enabled: boolean; overridden_fields: string[] })[];
};

/** A route with all its environments, assignments and actions, as a whole entry. */
export async function readRoute(id: string, remote: Remote, note: Note): Promise<Entry> {
  const detail = await remote.send<Detail>('GET', '/routes/{id}', { path: { id } });
  const assigned = (await remote.rows('clients')).length > 0;
  const environments = await inParallel(detail.environments, async (one): Promise<[string, Environment]> => {
    const { environment_name: name, enabled, overridden_fields } = one;
    const clients = assigned
      ? (await remote.send<{ name: string }[]>('GET', '/routes/{id}/environments/{env}/clients', { path: { id, env: name } })).map(
          (client) => client.name,
        )
      : [];
    const fields = overridden_fields.map(fieldOf).filter((field) => SETTINGS.includes(field));
    const settings = name === detail.base_environment ? {} : await readSettings(one, fields, remote, note, { override: true });
    return [name, { ...settings, enabled, clients: sorted(clients) }];
  });
  return {
    ...pick(detail, ['name', 'slug', 'enabled']),
    name: detail.name,
    collection: await named(remote, 'collections', detail.collection_id, note, 'Its collection'),
    base_environment: detail.base_environment,
    ...(await readSettings(detail, SETTINGS, remote, note, { override: false })),
    environments: ordered(environments),
    actions: await actionsOf(id, remote),
  };
}

export const sorted = (names: unknown): string[] => [...new Set((names ?? []) as string[])].sort();
export const ordered = (environments: readonly [string, Environment][]) =>
  Object.fromEntries([...environments].sort(([a], [b]) => (a < b ? -1 : 1)));
