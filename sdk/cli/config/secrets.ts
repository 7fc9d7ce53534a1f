import type { Entry } from './document.ts';
import { differing, isoTime, type Kind, type Making, named, pick } from './kind.ts';

// Values are never read, compared or shown: an entry only says in which environments there is one.

const SETTINGS = ['description', 'collection', 'expires_at', 'strict_expiry_enforcement', 'tags', 'allowed_hosts', 'rotate_every_days'];
const DEFAULTS: Record<string, unknown> = {
  description: null,
  collection: null,
  expires_at: null,
  strict_expiry_enforcement: false,
  tags: [],
  allowed_hosts: null,
  rotate_every_days: null,
};
const FROM = 'from $';
type From = { value_from?: { env: string } };
type Values = Record<string, string>;

/** `stripe.key` in staging -> `STRIPE_KEY_STAGING` */
const variableOf = (...parts: string[]) =>
  parts
    .join('_')
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^(?=[0-9])/, '_');

/** Where an entry of a file says its values come from, by environment; '' is the base environment of a new secret. */
function sourcesOf(entry: Entry, base: string | undefined): Values {
  const given = (entry.environments as Record<string, From> | undefined) ?? {};
  const own = (entry as From).value_from?.env;
  return {
    ...Object.fromEntries(Object.entries(given).flatMap(([name, { value_from }]) => (value_from ? [[name, value_from.env]] : []))),
    ...(own === undefined ? {} : { [(entry.environment as string | undefined) ?? base ?? '']: own }),
  };
}

/**
 * Settings are only compared where the file names them: an entry with a name alone is a reference, and must not lift a pin that somebody set.
 * `values` says per environment whether there is one; those that the file has a source for are wanted.
 */
export const secrets: Kind = {
  name: 'secrets',
  read: async (row, remote, note) => {
    const detail = await remote.send<Record<string, unknown>>('GET', '/secrets/{id}', { path: { id: row.id } });
    const type = detail.secret_type;
    if (type !== 'string') note(`is of type ${type}: the file refers to it, and it must be made in the dashboard where it is missing.`);
    if (detail.shared)
      note('belongs to another workspace: the file refers to it, and it must be shared with the workspace where it is missing.');
    return {
      name: row.name,
      type: type === 'string' ? undefined : type,
      environment: detail.base_environment,
      ...pick(detail, SETTINGS),
      collection: await named(remote, 'collections', detail.collection_id, note, 'Its collection'),
      linked: detail.shared ? true : undefined,
      values: Object.fromEntries((detail.environment_names as string[]).map((name) => [name, 'stored'])),
    };
  },
  whole: async (entry, current, remote) => {
    const base = current ? String(current.environment) : (await remote.rows('environments')).find((one) => one.is_default)?.name;
    const sources = sourcesOf(entry, base);
    const stored = (current?.values ?? {}) as Values;
    return {
      ...(current ?? DEFAULTS),
      name: entry.name,
      type: entry.type === 'string' ? undefined : (entry.type ?? current?.type),
      environment: current ? current.environment : (entry.environment ?? base),
      ...pick(entry, SETTINGS),
      ...(typeof entry.expires_at === 'string' ? { expires_at: isoTime(entry.expires_at) } : {}),
      values: { ...Object.fromEntries(Object.entries(sources).map(([name, variable]) => [name, `${FROM}${variable}`])), ...stored },
    };
  },
  brief: ({ name, type, environment, values, linked, ...settings }) => {
    if (linked) return { name };
    const changed = Object.fromEntries(
      SETTINGS.filter((one) => JSON.stringify(settings[one]) !== JSON.stringify(DEFAULTS[one])).map((one) => [one, settings[one]]),
    );
    if (type !== undefined) return { name, type, ...changed };
    const held = Object.keys((values ?? {}) as Values).sort();
    const others = held.filter((one) => one !== environment);
    // Of what the workspace holds the name says where a value may come from; of what a file says, the file.
    const source = (one: string, ...names: string[]) => {
      const state = (values as Values)[one] ?? '';
      return { value_from: { env: state.startsWith(FROM) ? state.slice(FROM.length) : variableOf(...names) } };
    };
    return {
      name,
      environment,
      ...changed,
      ...(held.includes(String(environment)) ? source(String(environment), name) : {}),
      ...(others.length > 0 ? { environments: Object.fromEntries(others.map((one) => [one, source(one, name, one)])) } : {}),
    };
  },
  references: ({ collection, values, environment }) => [
    ...(typeof collection === 'string' ? [{ kind: 'collections' as const, name: collection, at: 'collection' }] : []),
    ...[...new Set([...Object.keys((values ?? {}) as Values), String(environment)])].map((name) => ({
      kind: 'environments' as const,
      name,
      at: 'environments',
    })),
  ],
  problems: (wanted, current, env) => {
    if (!current && wanted.type !== undefined)
      return [`is of type ${wanted.type}, which only the dashboard and the API can make. Create it there first.`];
    const missing = missingValues(wanted);
    if (!current && missing.length === 0)
      return ['does not exist. Create it, or write value_from: { env: NAME } to have it made from an environment variable.'];
    return missing.flatMap(([, variable]) => {
      // A file from elsewhere could have the credential of whoever applies it stored, and sent to a host of its own.
      if (/^SERVICE_/i.test(variable)) return [`takes its value from ${variable}, which is for service-cli itself.`];
      return env[variable] ? [] : [`takes its value from ${variable}, which is not set.`];
    });
  },
  create: async (wanted, { remote, env }, made) => {
    const values = missingValues(wanted);
    const [first = ['', '']] = [...values].sort(([a], [b]) => Number(b === wanted.environment) - Number(a === wanted.environment));
    const body = {
      name: wanted.name,
      environment: first[0],
      value: env[first[1]],
      ...(await settingsBody(wanted, SETTINGS, { remote, env })),
    };
    const { id } = await remote.send<{ id: string }>('POST', '/secrets', { body });
    made(id);
    for (const one of values) if (one !== first) await putValue(id, one, { remote, env });
  },
  update: async (id, wanted, current, making) => {
    const fields = differing(SETTINGS, wanted, current);
    if (fields.length > 0)
      await making.remote.send('PATCH', '/secrets/{id}', { path: { id }, body: await settingsBody(wanted, fields, making) });
    for (const one of missingValues(wanted)) await putValue(id, one, making);
  },
};

/** Environments whose value is to be taken from a variable: those without one. */
const missingValues = (wanted: Entry): [string, string][] =>
  Object.entries((wanted.values ?? {}) as Values).flatMap(([name, state]) =>
    state.startsWith(FROM) ? [[name, state.slice(FROM.length)] as [string, string]] : [],
  );

const putValue = (id: string, [environment, variable]: [string, string], { remote, env }: Making) =>
  remote.send('PUT', '/secrets/{id}/value', { path: { id }, body: { environment, value: env[variable] } });

async function settingsBody(wanted: Entry, fields: readonly string[], { remote }: Making): Promise<Record<string, unknown>> {
  const body = pick(wanted, fields);
  if ('collection' in body) {
    const { collection } = body;
    delete body.collection;
    body.collection_id = typeof collection === 'string' ? await remote.idOf('collections', collection) : null;
  }
  return body;
}
