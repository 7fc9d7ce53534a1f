import { storedAddress } from '../addresses.ts';
import type { Entry } from '../document.ts';
import { isLiteralCredential } from '../literals.ts';
import { type Imported, listOf, objectOf, referTo, type Source, secretNameOf, textOf, textsOf } from './source.ts';

/** A plugin that takes effect on a route, where it stands, and the name of what it belongs to. */
export type Applied = { plugin: Source; at: string; owner: string };

const WINDOWS: readonly [string, number][] = [
  ['second', 1],
  ['minute', 60],
  ['hour', 3_600],
  ['day', 86_400],
];
const MOST_SECONDS = 86_400;

/** Carries one plugin over to a route. */
export function pluginOn(route: Entry, applied: Applied, imported: Imported): void {
  const { plugin, at } = applied;
  const { warnings } = imported;
  if (plugin.enabled === false) {
    warnings.push(`${at}: is switched off; left out.`);
    return;
  }
  const config = objectOf(plugin.config);
  const name = textOf(plugin.name).replace(/-advanced$/, '');
  if (name === 'key-auth') keyAuth(config, at, warnings);
  else if (name === 'rate-limiting') rateLimit(route, config, at, warnings);
  else if (name === 'ip-restriction') addresses(route, config, at, warnings);
  else if (name === 'request-transformer') transform(route, config, applied, imported);
  else warnings.push(`${at}: has no counterpart here; left out.`);
}

function keyAuth(config: Source, at: string, warnings: string[]): void {
  warnings.push(`${at}: every call needs an API key here, so it is not needed. Callers send theirs as Authorization: Bearer or x-svc-key.`);
  for (const name of Object.keys(config))
    warnings.push(`${at}.config.${name}: ${name === 'anonymous' ? 'calls without a key are always refused; ' : ''}left out.`);
}

function rateLimit(route: Entry, config: Source, at: string, warnings: string[]): void {
  const [limits, sizes] = [listOf(config.limit).map(Number), listOf(config.window_size).map(Number)];
  const advanced = limits.map((limit, i) => ({ limit, seconds: sizes[i] ?? 0, name: `limit[${i}]` }));
  const simple = WINDOWS.flatMap(([name, seconds]) => (typeof config[name] === 'number' ? [{ limit: config[name], seconds, name }] : []));
  const usable = [...advanced, ...simple].filter(
    ({ limit, seconds }) => limit >= 1 && limit <= 1_000_000 && seconds >= 1 && seconds <= MOST_SECONDS,
  );
  for (const name of ['month', 'year'])
    if (config[name] !== undefined) warnings.push(`${at}.config.${name}: a window has at most a day; left out.`);
  for (const one of advanced)
    if (!usable.includes(one)) warnings.push(`${at}.config.${one.name}: the limit or its window is not allowed here; left out.`);
  // The one that lets the fewest calls through over time.
  const [chosen, ...rest] = usable.sort((a, b) => a.limit / a.seconds - b.limit / b.seconds);
  if (!chosen) {
    warnings.push(`${at}: has no limit that can be carried over; left out.`);
    return;
  }
  for (const { name } of rest) warnings.push(`${at}.config.${name}: a route has one limit, that of ${chosen.name}; left out.`);
  const perCaller = !/^service$|^path$/.test(textOf(config.limit_by) || textOf(config.identifier) || 'consumer');
  Object.assign(route, {
    rate_limit_enabled: true,
    rate_limit_requests: chosen.limit,
    rate_limit_window_sec: chosen.seconds,
    ...(perCaller ? { rate_limit_per_client: true } : {}),
  });
  for (const name of [
    'header_name',
    'path',
    'error_code',
    'error_message',
    'hide_client_headers',
    'fault_tolerant',
    'strategy',
    'policy',
    'sync_rate',
    'redis',
  ])
    if (config[name] !== undefined && config[name] !== null) warnings.push(`${at}.config.${name}: left out.`);
}

function addresses(route: Entry, config: Source, at: string, warnings: string[]): void {
  const allow = [...textsOf(config.allow), ...textsOf(config.whitelist)];
  if (allow.length > 0) route.ip_allowlist = [...new Set(allow.map(storedAddress))].slice(0, 100);
  if (allow.length > 100) warnings.push(`${at}.config.allow: a route allows at most 100 addresses; the others were left out.`);
  if (listOf(config.deny).length + listOf(config.blacklist).length > 0)
    warnings.push(
      `${at}.config.deny: addresses can only be allowed here; left out, so that denied addresses can call unless others are allowed.`,
    );
  for (const name of ['status', 'message']) if (config[name] !== undefined) warnings.push(`${at}.config.${name}: left out.`);
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;

function transform(route: Entry, config: Source, { at, owner }: Applied, imported: Imported): void {
  const { warnings } = imported;
  const headers: Record<string, string | null> = { ...(route.inject_headers_json as object | undefined) };
  const query: Record<string, string> = {};
  const body: Record<string, string> = {};
  for (const verb of ['add', 'replace'] as const) {
    const section = objectOf(config[verb]);
    for (const [place, target] of [
      ['headers', headers],
      ['querystring', query],
      ['body', body],
    ] as const)
      for (const pair of textsOf(section[place])) {
        const where = `${at}.config.${verb}.${place}`;
        const [name, value] = pairOf(pair);
        if (name === undefined || value === undefined || (place === 'headers' && !TOKEN.test(name)))
          warnings.push(`${where}: an entry is not name:value; left out.`);
        else if (value.includes('$(')) warnings.push(`${where}.${name}: templates of Kong are not supported; left out.`);
        else {
          target[name] = safe(owner, name, value, where, imported);
          if (verb === 'replace') warnings.push(`${where}.${name}: is always sent here, not only in place of what the caller sent.`);
          else if (place === 'headers') warnings.push(`${where}.${name}: replaces what the caller sent, where Kong would keep it.`);
        }
      }
    if (textOf(section.uri)) warnings.push(`${at}.config.${verb}.uri: left out.`);
  }
  for (const name of textsOf(objectOf(config.remove).headers)) if (TOKEN.test(name)) headers[name] = null;
  for (const [verb, places] of Object.entries(config)) {
    if (verb === 'add' || verb === 'replace') continue;
    for (const [place, list] of Object.entries(objectOf(places)))
      if (listOf(list).length > 0 && !(verb === 'remove' && place === 'headers')) warnings.push(`${at}.config.${verb}.${place}: left out.`);
  }
  if (config.http_method) warnings.push(`${at}.config.http_method: left out.`);
  if (Object.keys(headers).length > 0) route.inject_headers_json = headers;
  if (Object.keys(query).length > 0) route.inject_query_json = query;
  if (Object.keys(body).length > 0) route.inject_body_json = body;
}

function pairOf(pair: string): [string | undefined, string | undefined] {
  const at = pair.indexOf(':');
  return at < 1 ? [undefined, undefined] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
}

/** A credential becomes a reference to a secret, and its text goes nowhere. */
function safe(owner: string, name: string, value: string, where: string, { secrets, warnings }: Imported): string {
  if (!isLiteralCredential(name, value)) return value;
  const [, scheme = ''] = /^((?:bearer|basic|token|apikey)\s+)/i.exec(value) ?? [];
  const secret = secretNameOf(owner, name);
  warnings.push(
    `${where}.${name}: looks like a credential. It was not copied: set the environment variable ${secret} to it when you apply.`,
  );
  return `${scheme}${referTo(secret, secrets)}`;
}

/** A consumer that is known by its address becomes a client. Keys stay where they are: Sallyport makes its own. */
export function consumerOf(consumer: Source, { clients, warnings }: Imported): void {
  const name = textOf(consumer.username) || textOf(consumer.custom_id) || textOf(consumer.id) || '?';
  const at = `consumers[${name}]`;
  const keys = listOf(consumer.keyauth_credentials).length;
  if (keys > 0)
    warnings.push(
      `${at}.keyauth_credentials: ${keys === 1 ? 'its key was' : `its ${keys} keys were`} not copied. Create an API key for this caller: service-cli api-keys create --name ${slugText(name)}`,
    );
  for (const plugin of listOf(consumer.plugins).map(objectOf)) {
    const allow =
      plugin.name === 'ip-restriction' && plugin.enabled !== false ? textsOf(objectOf(plugin.config).allow).map(storedAddress) : [];
    const [first, ...more] = [...new Set(allow)];
    if (first === undefined) {
      warnings.push(`${at}.plugins[${textOf(plugin.name)}]: has no counterpart for one caller; left out.`);
      continue;
    }
    if (clients.some((client) => client.name === name)) continue;
    clients.push({
      name,
      ip_address: first,
      ...(more.length > 0 ? { credentials: more.slice(0, 49).map((value) => ({ kind: 'ip', data: { value } })) } : {}),
    });
    warnings.push(`${at}: became a client with its addresses. Assign it to the routes it may call, and set requires_clients there.`);
  }
  for (const member of Object.keys(consumer))
    if (!['username', 'id', 'custom_id', 'keyauth_credentials', 'plugins'].includes(member)) warnings.push(`${at}.${member}: left out.`);
  if (consumer.custom_id !== undefined && consumer.username !== undefined) warnings.push(`${at}.custom_id: left out.`);
  if (keys === 0 && listOf(consumer.plugins).length === 0) warnings.push(`${at}: has nothing that can be carried over.`);
}

const slugText = (name: string) => (/^[\w.-]+$/.test(name) ? name : 'NAME');
