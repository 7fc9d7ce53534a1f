import { isDeepStrictEqual } from 'node:util';
import type { Entry } from './document.ts';
import { differing, type Making, pick } from './kind.ts';
import type { Remote } from './remote.ts';
import { writeActions } from './route-actions.ts';
import { type Environment, readRoute, type Values } from './route-reading.ts';
import { SETTINGS, settingsBody } from './route-settings.ts';

export const membership = async (collection: unknown, remote: Remote): Promise<Values> => ({
  collection_id: typeof collection === 'string' ? await remote.idOf('collections', collection) : null,
});

const IDENTITY = ['name', 'slug', 'enabled', 'collection'];

/**
 * Brings a route to what is wanted, part by part. It is read again after each part that reaches others: a base setting may be fanned out to every
 * environment, and joining a collection adds its environments and clients.
 */
export async function writeRoute(id: string, wanted: Entry, { remote }: Making): Promise<void> {
  const read = () => readRoute(id, remote, () => {});
  const patch = (body: Values) => remote.send('PATCH', '/routes/{id}', { path: { id }, body });
  const put = (env: string, body: Values) => remote.send('PUT', '/routes/{id}/environments/{env}', { path: { id, env }, body });
  const base = String(wanted.base_environment);
  const target = wanted.environments as Record<string, Environment>;
  let now = await read();
  if (now.base_environment !== base) {
    if (!Object.hasOwn(now.environments as object, base)) await put(base, {});
    await patch({ base_environment: base });
    now = await read();
  }
  await removeEnvironments(id, now, target, remote);
  const fields = differing(SETTINGS, wanted, now);
  // A slug that the file doesn't name is the service's to choose.
  const identity = differing(IDENTITY, wanted, now).filter((field) => wanted[field] !== undefined);
  if (fields.some((field) => COUPLED.includes(field))) {
    // What inherits a burst would be held against it as soon as its own limit changes.
    if (fields.includes('rate_limit_burst') && now.rate_limit_burst !== null) await patch({ rate_limit_burst: null });
    await pinEnvironments(now, wanted, put, remote);
  }
  if (fields.includes('requires_clients') && wanted.requires_clients === false) await pauseClosed(now, target, put);
  if (fields.length + identity.length > 0) {
    const { collection, ...rest } = pick(wanted, identity);
    const joined = identity.includes('collection') ? await membership(collection, remote) : {};
    await patch({ ...rest, ...joined, ...(await settingsBody(wanted, fields, remote)) });
    now = await read();
    await removeEnvironments(id, now, target, remote);
  }
  for (const [name, one] of Object.entries(target)) {
    const before = (now.environments as Record<string, Environment>)[name];
    const body = {
      ...(await settingsBody(one, differing(SETTINGS, one, before ?? {}), remote)),
      ...(before?.enabled === one.enabled ? {} : { enabled: one.enabled }),
    };
    if (!before || Object.keys(body).length > 0) await put(name, body);
    if (!isDeepStrictEqual(before?.clients ?? [], one.clients)) await assign(id, name, one.clients, remote);
  }
  await writeActions(id, wanted.actions, remote);
}

async function removeEnvironments(id: string, now: Entry, target: Record<string, Environment>, remote: Remote): Promise<void> {
  for (const env of Object.keys(now.environments as object))
    if (!Object.hasOwn(target, env)) await remote.send('DELETE', '/routes/{id}/environments/{env}', { path: { id, env } });
}

/** `requires_clients` of the base reaches every environment: one that goes on requiring them serves nobody until it says so again. */
async function pauseClosed(
  now: Entry,
  target: Record<string, Environment>,
  put: (env: string, body: Values) => Promise<unknown>,
): Promise<void> {
  for (const [name, before] of Object.entries(now.environments as Record<string, Environment>))
    if (before.enabled && target[name]?.requires_clients === true) await put(name, { enabled: false });
}

async function assign(id: string, env: string, clients: readonly string[], remote: Remote): Promise<void> {
  const client_ids: string[] = [];
  for (const client of clients) client_ids.push(await remote.idOf('clients', client));
  await remote.send('PUT', '/routes/{id}/environments/{env}/clients', { path: { id, env }, body: { client_ids } });
}

/** Settings that the service holds against each other, in each environment with what it inherits. */
const COUPLED = [
  'rate_limit_enabled',
  'rate_limit_requests',
  'rate_limit_window_sec',
  'rate_limit_burst',
  'http_method_restrictions_enabled',
  'allowed_methods',
  'use_method_specific_configs',
  'method_configs',
  'signature_scheme',
  'signature_require_nonce',
  'upstream_auth',
  'inject_headers_json',
];
const NOTHING: Readonly<Record<string, unknown>> = { allowed_methods: [], method_configs: [], upstream_auth: { type: 'none' } };

/**
 * Gives every environment, for the moment, all coupled settings that it is going to have, so that none contradicts the base while that changes. What it
 * is to inherit is inherited again afterwards.
 */
async function pinEnvironments(
  now: Entry,
  wanted: Entry,
  put: (env: string, body: Values) => Promise<unknown>,
  remote: Remote,
): Promise<void> {
  const target = wanted.environments as Record<string, Environment>;
  for (const [name, before] of Object.entries(now.environments as Record<string, Environment>)) {
    const own = target[name];
    if (!own || name === wanted.base_environment) continue;
    const pinned = Object.fromEntries(COUPLED.map((field) => [field, own[field] ?? wanted[field] ?? NOTHING[field]]));
    const changed = differing(COUPLED, pinned, before);
    if (changed.length > 0) await put(name, await settingsBody(pinned, changed, remote));
  }
}
