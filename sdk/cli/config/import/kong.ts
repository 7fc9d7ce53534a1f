import { CliError } from '../../exit.ts';
import type { Entry } from '../document.ts';
import { type Applied, consumerOf, pluginOn } from './kong-plugins.ts';
import { freeName, type Imported, listOf, objectOf, type Source, slugOf, textOf, textsOf } from './source.ts';

/** A declarative file of Kong (decK, formats 1.1 to 3.0) as routes of ours. What has no counterpart is in `warnings`, member by member. @throws CliError */
export function fromKong(value: unknown): Imported {
  const file = objectOf(value);
  if (file._format_version === undefined) throw new CliError('The file has no _format_version: it is not a declarative file of Kong.');
  const imported: Imported = { secrets: [], clients: [], routes: [], warnings: [] };
  const { warnings } = imported;
  const services = listOf(file.services).map(objectOf);
  const attached = listOf(file.plugins).map(objectOf);
  const taken = { names: new Set<string>(), slugs: new Set<string>() };
  for (const service of services) {
    const at = `services[${nameOf(service)}]`;
    const base = serviceOf(service, at, file, warnings);
    if (!base) continue;
    const routes = [
      ...listOf(service.routes).map(objectOf),
      ...listOf(file.routes)
        .map(objectOf)
        .filter((route) => isOf(route.service, service)),
    ];
    if (routes.length === 0) warnings.push(`${at}: has no route, so callers can't reach it; left out.`);
    for (const route of routes) {
      const on = `${at}.routes[${nameOf(route)}]`;
      // The most specific plugin of a name wins, as in Kong.
      const plugins = new Map<string, Applied>();
      for (const plugin of attached.filter(isGlobal))
        plugins.set(textOf(plugin.name), { plugin, at: `plugins[${textOf(plugin.name)}]`, owner: 'kong' });
      for (const [owner, list, place] of [
        [service, [...listOf(service.plugins), ...attached.filter((one) => isOf(one.service, service) && !one.route)], at],
        [route, [...listOf(route.plugins), ...attached.filter((one) => isOf(one.route, route))], on],
      ] as const)
        for (const one of list.map(objectOf)) {
          if (one.consumer !== undefined)
            warnings.push(
              `${place}.plugins[${textOf(one.name)}]: for the consumer of one ${owner === route ? 'route' : 'service'} only; left out.`,
            );
          else plugins.set(textOf(one.name), { plugin: one, at: `${place}.plugins[${textOf(one.name)}]`, owner: nameOf(owner) });
        }
      for (const path of pathsOf(route, on, warnings)) {
        const entry = routeOf(service, route, path, base, on, taken, warnings);
        for (const applied of plugins.values()) pluginOn(entry, applied, imported);
        imported.routes.push(entry);
      }
    }
  }
  for (const route of listOf(file.routes).map(objectOf))
    if (!services.some((service) => isOf(route.service, service)))
      warnings.push(`routes[${nameOf(route)}]: has no service in the file; left out.`);
  for (const plugin of attached)
    if (plugin.consumer !== undefined)
      warnings.push(
        `plugins[${textOf(plugin.name)}]: for the consumer ${textOf(objectOf(plugin.consumer).username ?? plugin.consumer)} only; left out.`,
      );
  for (const consumer of listOf(file.consumers)) consumerOf(objectOf(consumer), imported);
  for (const [part, why] of Object.entries(OTHER_PARTS)) if (listOf(file[part]).length > 0) warnings.push(`${part}: ${why}`);
  const known = new Set([
    '_format_version',
    '_transform',
    '_comment',
    '_workspace',
    'services',
    'routes',
    'plugins',
    'consumers',
    ...Object.keys(OTHER_PARTS),
  ]);
  for (const part of Object.keys(file)) if (!known.has(part)) warnings.push(`${part}: left out.`);
  imported.warnings = [...new Set(warnings)];
  return imported;
}

const OTHER_PARTS: Readonly<Record<string, string>> = {
  upstreams: 'a route has one target; targets and health checks were left out.',
  certificates: 'certificates of the gateway’s own names are set up in the dashboard; left out.',
  snis: 'left out, as certificates are.',
  ca_certificates: 'store them as certificate secrets and name them in upstream_ca_certificate; left out.',
  consumer_groups: 'left out.',
  vaults: 'Sallyport holds secrets itself: see the migrations of the dashboard; left out.',
  keys: 'left out.',
  key_sets: 'left out.',
  licenses: 'left out.',
  rbac_roles: 'left out.',
  _info: 'selects what decK manages; left out.',
  _plugin_configs: 'shared plugin configurations are not resolved; left out.',
};

const nameOf = (one: Source): string => textOf(one.name) || textOf(one.id) || '?';
const isGlobal = (plugin: Source) => plugin.service === undefined && plugin.route === undefined && plugin.consumer === undefined;

/** A reference is a name, or an object with a name or ID. */
function isOf(reference: unknown, owner: Source): boolean {
  const { name, id } = objectOf(reference);
  const given = textOf(reference) || textOf(name) || textOf(id);
  return given !== '' && (given === textOf(owner.name) || given === textOf(owner.id));
}

type Base = { url: URL; settings: Source };

/** Target and settings that all routes of a service share; undefined when nothing can be called. */
function serviceOf(service: Source, at: string, file: Source, warnings: string[]): Base | undefined {
  const protocol = textOf(service.protocol) || 'http';
  const port = textOf(service.port);
  const given = textOf(service.url) || `${protocol}://${textOf(service.host)}${port ? `:${port}` : ''}${textOf(service.path)}`;
  const url = URL.parse(given);
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    warnings.push(`${at}: ${given.slice(0, 100)} is not an http or https address; left out.`);
    return undefined;
  }
  if (url.protocol === 'http:') warnings.push(`${at}: calls its upstream by http; most installations only allow https targets.`);
  if (listOf(file.upstreams).some((upstream) => textOf(objectOf(upstream).name) === url.hostname))
    warnings.push(`${at}: ${url.hostname} is the name of an upstream, not of a host. Write a real host into target_base_url.`);
  const settings: Source = {};
  if (typeof service.read_timeout === 'number') settings.timeout_ms = Math.min(Math.max(service.read_timeout, 100), 120_000);
  if (typeof service.read_timeout === 'number' && settings.timeout_ms !== service.read_timeout)
    warnings.push(`${at}.read_timeout: became ${settings.timeout_ms}, the nearest that is allowed.`);
  if (typeof service.retries === 'number') settings.retry_attempts = Math.min(service.retries, 3);
  if (typeof service.retries === 'number' && service.retries > 3) warnings.push(`${at}.retries: became 3, the most that is allowed.`);
  if (service.enabled === false) settings.enabled = false;
  others(
    service,
    ['name', 'id', 'url', 'protocol', 'host', 'port', 'path', 'read_timeout', 'retries', 'enabled', 'routes', 'plugins'],
    at,
    warnings,
  );
  return { url, settings };
}

function others(one: Source, known: readonly string[], at: string, warnings: string[]): void {
  for (const [name, value] of Object.entries(one))
    if (!known.includes(name) && value !== null && !(Array.isArray(value) && value.length === 0)) warnings.push(`${at}.${name}: left out.`);
}

/** One of our routes is reached at one address: each path of a route becomes one. */
function pathsOf(route: Source, on: string, warnings: string[]): string[] {
  const paths = textsOf(route.paths);
  const plain = paths.filter((path) => !path.startsWith('~') && !/[\\^$*+?()[\]{}|]/.test(path));
  for (const path of paths)
    if (!plain.includes(path))
      warnings.push(`${on}.paths: ${path.slice(0, 100)} is a regular expression, and routes are found by a fixed name; left out.`);
  if (paths.length === 0) return ['/'];
  if (plain.length > 1) warnings.push(`${on}.paths: became ${plain.length} routes, one a path.`);
  return plain;
}

function routeOf(
  service: Source,
  route: Source,
  path: string,
  { url, settings }: Base,
  on: string,
  taken: { names: Set<string>; slugs: Set<string> },
  warnings: string[],
): Entry {
  const wanted = (textOf(route.name) || textOf(service.name) || slugOf(path) || 'route').slice(0, 90);
  const name = freeName(wanted, taken.names);
  const slug = freeName(slugOf(path) || slugOf(name) || 'route', taken.slugs, '-');
  // Kong takes the matched path off unless it is told not to; a route of ours always takes its slug off.
  const kept = route.strip_path === false ? path : '';
  const joined = `${url.pathname}/${kept}`.replace(/\/+/g, '/').replace(/\/$/, '');
  if (`/${slug}` !== path.replace(/\/$/, '')) warnings.push(`${on}: callers of ${path} call /${slug} instead.`);
  const methods = textsOf(route.methods).map((method) => method.toUpperCase());
  const allowed = methods.filter((method) => ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].includes(method));
  for (const method of methods) if (!allowed.includes(method)) warnings.push(`${on}.methods: ${method} is not supported; left out.`);
  if (textsOf(route.hosts).length > 0) warnings.push(`${on}.hosts: all routes are called at the workspace's host; left out.`);
  if (route.headers !== undefined)
    warnings.push(`${on}.headers: routes are not chosen by headers; left out, so that calls without them are accepted too.`);
  if (route.preserve_host === true) warnings.push(`${on}.preserve_host: the upstream sees the host of its own address; left out.`);
  others(
    route,
    [
      'name',
      'id',
      'service',
      'paths',
      'methods',
      'hosts',
      'headers',
      'strip_path',
      'preserve_host',
      'plugins',
      'protocols',
      'path_handling',
      'https_redirect_status_code',
    ],
    on,
    warnings,
  );
  return {
    name,
    slug,
    target_base_url: `${url.origin}${joined}`,
    ...settings,
    ...(allowed.length > 0 ? { allowed_methods: allowed } : {}),
  };
}
