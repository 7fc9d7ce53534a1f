import { isDeepStrictEqual } from 'node:util';
import { CliError } from '../exit.ts';
import type { Entry } from './document.ts';
import { differing, type Kind, type Making, type Note, named, pick } from './kind.ts';
import { inParallel, type Remote, type Row } from './remote.ts';
import { actionsOf, wholeActions, writeActions } from './route-actions.ts';
import { fieldOf, readSettings, SETTING_DEFAULTS, SETTINGS, secretsOf, settingsBody, wholeSettings } from './route-settings.ts';

type Values = Record<string, unknown>;
/** One environment of a route: settings of its own, whether it serves, and who may call. That of the base has no settings: those are the route's. */
type Environment = Values & { enabled: boolean; clients: string[] };
type Detail = Row & {
  base_environment: string;
  environments: (Values & { environment_name: string; enabled: boolean; overridden_fields: string[] })[];
};

export const routes: Kind = {
  name: 'routes',
  read: (row, remote, note) => readRoute(row.id, remote, note),
  whole: async (entry, current, remote) => {
    const base = String(
      entry.base_environment ?? current?.base_environment ?? (await remote.rows('environments')).find((one) => one.is_default)?.name,
    );
    const given = (entry.environments ?? {}) as Record<string, Values>;
    const misplaced = Object.keys(given[base] ?? {}).find((field) => field !== 'enabled' && field !== 'clients');
    if (misplaced)
      throw new CliError(`routes[${entry.name}].environments.${base}.${misplaced}: ${base} is the base environment.`, {
        next_step: 'Write its settings at the route itself. Nothing was changed.',
      });
    const environments: [string, Environment][] = [
      [base, { enabled: given[base]?.enabled !== false, clients: sorted(entry.clients ?? given[base]?.clients) }],
    ];
    for (const [name, one] of Object.entries(given))
      if (name !== base)
        environments.push([
          name,
          { ...(await wholeSettings(one, remote, { override: true })), enabled: one.enabled !== false, clients: sorted(one.clients) },
        ]);
    return {
      name: entry.name,
      slug: entry.slug ?? current?.slug,
      enabled: entry.enabled !== false,
      collection: entry.collection ?? null,
      base_environment: base,
      ...SETTING_DEFAULTS,
      ...(await wholeSettings(entry, remote, { override: false })),
      environments: ordered(environments),
      actions: wholeActions(entry.actions, current?.actions),
    };
  },
  brief,
  references: (entry) => [
    ...(typeof entry.collection === 'string' ? [{ kind: 'collections' as const, name: entry.collection, at: 'collection' }] : []),
    ...secretsOf(pick(entry, SETTINGS)).map((one) => ({ kind: 'secrets' as const, ...one })),
    ...Object.entries(entry.environments as Record<string, Environment>).flatMap(([name, one]) => [
      { kind: 'environments' as const, name, at: `environments.${name}` },
      ...one.clients.map((client) => ({ kind: 'clients' as const, name: client, at: `environments.${name}.clients` })),
      ...secretsOf(pick(one, SETTINGS)).map(({ name: secret, at }) => ({
        kind: 'secrets' as const,
        name: secret,
        at: `environments.${name}.${at}`,
      })),
    ]),
  ],
  problems: (wanted, current) =>
    current?.slug && wanted.slug !== current.slug ? [`has the slug ${current.slug}, which can't be changed to ${wanted.slug}.`] : [],
  create: async (wanted, making, made) => {
    const { remote } = making;
    const fields = differing(SETTINGS, wanted, SETTING_DEFAULTS);
    const body = {
      ...pick(wanted, ['name', 'slug', 'enabled', 'base_environment']),
      // Templates may name its variables.
      ...(wanted.collection === null ? {} : await membership(wanted.collection, remote)),
      ...(await settingsBody(wanted, fields, remote)),
    };
    const { id } = await remote.send<{ id: string }>('POST', '/routes', { body });
    made(id);
    await converge(id, wanted, making);
  },
  update: (id, wanted, _current, making) => converge(id, wanted, making),
};

const sorted = (names: unknown): string[] => [...new Set((names ?? []) as string[])].sort();
const ordered = (environments: readonly [string, Environment][]) =>
  Object.fromEntries([...environments].sort(([a], [b]) => (a < b ? -1 : 1)));

async function readRoute(id: string, remote: Remote, note: Note): Promise<Entry> {
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

function brief({ name, slug, enabled, collection, base_environment, environments, actions, ...settings }: Entry): Entry {
  const all = environments as Record<string, Environment>;
  const others = Object.entries(all).flatMap(([environment, { enabled: serves, clients, ...own }]): [string, Values][] => {
    const isBase = environment === base_environment;
    if (isBase && serves) return [];
    return [
      [
        environment,
        { ...(serves ? {} : { enabled: false }), ...withoutImplied(own), ...(clients.length > 0 && !isBase ? { clients } : {}) },
      ],
    ];
  });
  const clients = all[String(base_environment)]?.clients ?? [];
  return {
    name,
    ...(slug ? { slug } : {}),
    ...(enabled === false ? { enabled } : {}),
    ...(collection ? { collection } : {}),
    base_environment,
    ...withoutImplied(Object.fromEntries(differing(SETTINGS, settings, SETTING_DEFAULTS).map((field) => [field, settings[field]]))),
    ...(clients.length > 0 ? { clients } : {}),
    ...(others.length > 0 ? { environments: Object.fromEntries(others) } : {}),
    ...((actions as unknown[]).length > 0 ? { actions } : {}),
  };
}

/** A flag that its list switches is not said. */
function withoutImplied(settings: Values): Values {
  const { http_method_restrictions_enabled: restricted, use_method_specific_configs: specific, ...rest } = settings;
  const implied = (list: unknown) => (Array.isArray(list) ? list.length > 0 : undefined);
  return {
    ...rest,
    ...(restricted === undefined || restricted === implied(settings.allowed_methods)
      ? {}
      : { http_method_restrictions_enabled: restricted }),
    ...(specific === undefined || specific === implied(settings.method_configs) ? {} : { use_method_specific_configs: specific }),
  };
}

const membership = async (collection: unknown, remote: Remote): Promise<Values> => ({
  collection_id: typeof collection === 'string' ? await remote.idOf('collections', collection) : null,
});

const IDENTITY = ['name', 'slug', 'enabled', 'collection'];

/**
 * Brings a route to what is wanted, part by part. It is read again after each part that reaches others: a base setting may be fanned out to every
 * environment, and joining a collection adds its environments and clients.
 */
async function converge(id: string, wanted: Entry, { remote }: Making): Promise<void> {
  const path = { id };
  const read = () => readRoute(id, remote, () => {});
  let now = await read();
  const environment = (name: string) => ({ path: { id, env: name } });
  const write = (name: string, body: Values) => remote.send('PUT', '/routes/{id}/environments/{env}', { ...environment(name), body });
  const base = String(wanted.base_environment);
  if (now.base_environment !== base) {
    if (!Object.hasOwn(now.environments as object, base)) await write(base, {});
    await remote.send('PATCH', '/routes/{id}', { path, body: { base_environment: base } });
    now = await read();
  }
  const fields = differing(SETTINGS, wanted, now);
  // A slug that the file doesn't name is the service's to choose.
  const identity = differing(IDENTITY, wanted, now).filter((field) => wanted[field] !== undefined);
  if (fields.length + identity.length > 0) {
    const { collection, ...rest } = pick(wanted, identity);
    const joined = identity.includes('collection') ? await membership(collection, remote) : {};
    await remote.send('PATCH', '/routes/{id}', { path, body: { ...rest, ...joined, ...(await settingsBody(wanted, fields, remote)) } });
    now = await read();
  }
  const [target, present] = [wanted.environments as Record<string, Environment>, now.environments as Record<string, Environment>];
  for (const name of Object.keys(present))
    if (!Object.hasOwn(target, name)) await remote.send('DELETE', '/routes/{id}/environments/{env}', environment(name));
  for (const [name, one] of Object.entries(target)) {
    const before = present[name];
    const changed = differing(SETTINGS, one, before ?? {});
    const body = {
      ...(await settingsBody(one, changed, remote)),
      ...(before && before.enabled === one.enabled ? {} : { enabled: one.enabled }),
    };
    if (!before || Object.keys(body).length > 0) await write(name, body);
    if (isDeepStrictEqual(before?.clients ?? [], one.clients)) continue;
    const client_ids: string[] = [];
    for (const client of one.clients) client_ids.push(await remote.idOf('clients', client));
    await remote.send('PUT', '/routes/{id}/environments/{env}/clients', { ...environment(name), body: { client_ids } });
  }
  await writeActions(id, wanted.actions, remote);
}
