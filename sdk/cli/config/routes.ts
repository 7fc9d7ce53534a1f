import { CliError } from '../exit.ts';
import type { Entry } from './document.ts';
import { differing, type Kind, pick } from './kind.ts';
import { wholeActions } from './route-actions.ts';
import { type Environment, ordered, readRoute, sorted, type Values } from './route-reading.ts';
import { SETTING_DEFAULTS, SETTINGS, secretsOf, settingsBody, wholeSettings } from './route-settings.ts';
import { membership, writeRoute } from './route-writing.ts';

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
    // Calls wait until environments, assignments and actions are there: a route that encrypts must not pass plain text before.
    const waits = Object.keys(wanted.environments as object).length > 1 || (wanted.actions as unknown[]).length > 0 || isPaused(wanted);
    const first = waits ? { ...wanted, enabled: false } : wanted;
    const body = {
      ...pick(first, ['name', 'slug', 'enabled', 'base_environment']),
      // Templates may name its variables.
      ...(wanted.collection === null ? {} : await membership(wanted.collection, remote)),
      ...(await settingsBody(wanted, differing(SETTINGS, wanted, SETTING_DEFAULTS), remote)),
    };
    const { id } = await remote.send<{ id: string }>('POST', '/routes', { body });
    made(id);
    await writeRoute(id, first, making);
    if (waits && wanted.enabled) await remote.send('PATCH', '/routes/{id}', { path: { id }, body: { enabled: true } });
  },
  update: (id, wanted, _current, making) => writeRoute(id, wanted, making),
};

/** Whether its base environment doesn't serve, which can only be said after the route is made. */
const isPaused = ({ environments, base_environment }: Entry) =>
  (environments as Record<string, Environment>)[String(base_environment)]?.enabled === false;

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
