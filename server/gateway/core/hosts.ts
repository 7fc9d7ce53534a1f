import { isUsableSlug } from '#server/domain/tenants/schema.ts';
import type { Space } from '#server/kernel/context.ts';

// Which plane and space a request is for (interface rules 01 §1 and 12 §2): decided by the host and the port it came in on, before
// anything else is read. The dashboard never shares an origin with a tenant: the path mount is not offered on its port.

/** The planes a port can be bound to; null is the one port of a deployment that tells planes apart by Host alone. */
export type PortPlane = 'api' | 'sandbox' | 'admin' | 'proxy' | null;

export type HostConfig = {
  readonly apiUrl: string;
  readonly sandboxUrl: string;
  readonly adminUrl: string;
  readonly hooksUrl: string;
  /** `{slug}.<baseHost>` and `sandbox-{slug}.<baseHost>` are tenant hosts. */
  readonly baseHost: string;
  /** `{52 characters}.<wrapBaseHost>` are gateway-token hosts; undefined or empty turns them off. */
  readonly wrapBaseHost?: string | undefined;
  /** Mounts tenant hosts as `/p/{label}/…` on the api, sandbox and proxy ports. */
  readonly pathMode: boolean;
};

export type PlaneMatch =
  | { plane: 'api'; space: Space; target: string }
  | { plane: 'admin'; target: string }
  /** `mount` is what was cut off the front of the target, '' for the host form. */
  | { plane: 'tenant'; label: string; slug: string; space: Space; mount: string; target: string }
  | { plane: 'hooks'; target: string }
  | { plane: 'wrap'; token: string; target: string }
  | { plane: 'unknown' };

export type HostInput = {
  portPlane: PortPlane;
  /** Host header, or the forwarded one behind a trusted proxy. */
  host: string;
  /** Origin-form request target. */
  target: string;
};

/** Matches a request to its plane. Pure in its input; hosts are remembered per config object, so keep one config for the process. */
export function planeOf({ portPlane, host, target }: HostInput, config: HostConfig): PlaneMatch {
  const table = tableOf(config);
  const found = table.lookup(portPlane, host);
  switch (found.kind) {
    case 'tenant':
      return { plane: 'tenant', label: found.label, slug: found.slug, space: found.space, mount: '', target };
    case 'admin':
      return { plane: 'admin', target };
    case 'wrap':
      return { plane: 'wrap', token: found.token, target };
    case 'hooks': {
      const rest = under(table.hooksPath, target);
      return rest === undefined ? { plane: 'unknown' } : { plane: 'hooks', target: rest };
    }
    case 'api': {
      if (isMounted(target, config)) return mounted(target);
      const hook = table.hooksOnApi && found.space === 'live' ? under(table.hooksPath, target) : undefined;
      return hook === undefined ? { plane: 'api', space: found.space, target } : { plane: 'hooks', target: hook };
    }
    case 'proxy':
      return isMounted(target, config) ? mounted(target) : { plane: 'unknown' };
    case 'unknown':
      return { plane: 'unknown' };
  }
}

/** Paths of workspace hosts that belong to the service and never to a route (interface rule 12 §2). */
export function isServicePath(target: string): boolean {
  return (
    within('/v1', target) ||
    within('/scim', target) ||
    within('/.well-known', target) ||
    within('/oauth', target) ||
    within('/_capture', target)
  );
}

/** By whole segments of a target. */
export function within(prefix: string, target: string): boolean {
  if (!target.startsWith(prefix)) return false;
  const next = target[prefix.length];
  return next === undefined || next === '/' || next === '?';
}

/** `acme` is the live space of acme, `sandbox-acme` its test space; undefined if no workspace can have the label. Case-insensitive. */
export function tenantLabel(text: string): { label: string; slug: string; space: Space } | undefined {
  const label = text.toLowerCase();
  const test = label.startsWith('sandbox-');
  const slug = test ? label.slice(8) : label;
  if (!isUsableSlug(slug)) return undefined;
  return { label, slug, space: test ? 'test' : 'live' };
}

type HostKind =
  | { kind: 'api'; space: Space }
  | { kind: 'admin' }
  | { kind: 'hooks' }
  | { kind: 'proxy' }
  | { kind: 'unknown' }
  | { kind: 'tenant'; label: string; slug: string; space: Space }
  | { kind: 'wrap'; token: string };

type Table = { lookup(portPlane: PortPlane, host: string): HostKind; hooksPath: string; hooksOnApi: boolean };

const tables = new WeakMap<HostConfig, Table>();
const MAX_REMEMBERED = 10_000;

function tableOf(config: HostConfig): Table {
  let table = tables.get(config);
  if (table === undefined) {
    table = buildTable(config);
    tables.set(config, table);
  }
  return table;
}

function buildTable(config: HostConfig): Table {
  const urls = { api: new URL(config.apiUrl), sandbox: new URL(config.sandboxUrl), admin: new URL(config.adminUrl) };
  const hooks = new URL(config.hooksUrl);
  const remembered = new Map<string, HostKind>();
  return {
    hooksPath: hooks.pathname.replace(/\/$/, ''),
    hooksOnApi: hooks.host === urls.api.host && hooks.pathname !== '/',
    lookup(portPlane, host) {
      const key = `${portPlane ?? ''} ${host}`;
      let kind = remembered.get(key);
      if (kind === undefined) {
        kind = judge(portPlane, host, config, urls, hooks);
        if (remembered.size >= MAX_REMEMBERED) remembered.delete(remembered.keys().next().value as string);
        if (host.length <= 260) remembered.set(key, kind);
      }
      return kind;
    },
  };
}

type PublicUrls = { api: URL; sandbox: URL; admin: URL };
const KIND = { api: { kind: 'api', space: 'live' }, sandbox: { kind: 'api', space: 'test' }, admin: { kind: 'admin' } } as const;
const UNKNOWN = { kind: 'unknown' } as const;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

function judge(portPlane: PortPlane, host: string, config: HostConfig, urls: PublicUrls, hooks: URL): HostKind {
  const [, name, port] = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::(\d{1,5}))?$/.exec(host.toLowerCase()) ?? [];
  if (name === undefined || name.endsWith('.')) return UNKNOWN;

  if (portPlane === null) {
    const planes = (['api', 'sandbox', 'admin'] as const).filter((plane) => urls[plane].hostname === name);
    const exact = planes.filter((plane) => samePort(urls[plane], port));
    const plane = planes.length === 1 ? planes[0] : exact.length === 1 ? exact[0] : undefined;
    if (plane !== undefined) return KIND[plane];
    if (planes.length > 1) return UNKNOWN;
    if (hooks.hostname === name) return { kind: 'hooks' };
  } else {
    const mine = portPlane === 'proxy' ? config.baseHost : urls[portPlane].hostname;
    if (name === mine || LOOPBACK.has(name)) return portPlane === 'proxy' ? { kind: 'proxy' } : KIND[portPlane];
    if (hooks.hostname === name && !Object.values(urls).some((url) => url.hostname === name)) return { kind: 'hooks' };
  }

  if (config.wrapBaseHost && name.endsWith(`.${config.wrapBaseHost}`)) {
    const token = name.slice(0, -config.wrapBaseHost.length - 1);
    return /^[a-z2-7]{52}$/.test(token) ? { kind: 'wrap', token } : UNKNOWN;
  }
  // A public host of the service may stand under the base host; on a foreign port it is not a tenant either.
  if (Object.values(urls).some((url) => url.hostname === name) || !name.endsWith(`.${config.baseHost}`)) return UNKNOWN;
  const tenant = tenantLabel(name.slice(0, -config.baseHost.length - 1));
  return tenant ? { kind: 'tenant', ...tenant } : UNKNOWN;
}

function samePort(url: URL, port: string | undefined): boolean {
  return port === undefined
    ? url.port === ''
    : url.port === port || (url.port === '' && port === (url.protocol === 'https:' ? '443' : '80'));
}

function isMounted(target: string, config: HostConfig): boolean {
  return config.pathMode && target.startsWith('/p/');
}

/** `/p/acme/orders?x` is `/orders?x` at acme. The label isn't decoded. */
function mounted(target: string): PlaneMatch {
  const [, text = '', rest = ''] = /^\/p\/([^/?]*)(.*)$/s.exec(target) ?? [];
  const tenant = tenantLabel(text);
  if (!tenant) return { plane: 'unknown' };
  return { plane: 'tenant', ...tenant, mount: `/p/${text}`, target: rest.startsWith('/') ? rest : `/${rest}` };
}

/** The part of a target below a prefix, with its leading slash; undefined when it is not below it. */
function under(prefix: string, target: string): string | undefined {
  if (!target.startsWith(prefix)) return undefined;
  const rest = target.slice(prefix.length);
  if (rest.startsWith('/')) return rest;
  return rest === '' || rest.startsWith('?') ? `/${rest}` : undefined;
}
