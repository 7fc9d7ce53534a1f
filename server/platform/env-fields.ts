import ipaddr from 'ipaddr.js';
import { z } from 'zod';

// One parser per kind of setting. No message repeats the value: some of them are secrets, and the list of problems is printed.

export const planes = ['api', 'sandbox', 'admin', 'proxy'] as const;
export type Plane = (typeof planes)[number];
/** A range that is exempt from the guard; without a port it stands for every port. */
export type AllowedRange = { cidr: string; port: number | undefined };
export type TestHost = { name: string; port: number; address: string; address_port: number | undefined };

export const text = z.string().min(1);

export const flag = z.enum(['0', '1', 'false', 'true'], 'must be 0 or 1').transform((value) => value === '1' || value === 'true');

export const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`);

/** An http(s) URL without credentials, query or fragment; the trailing slash is dropped. */
export const httpUrl = z
  .string()
  .refine((value) => {
    const url = URL.parse(value);
    return url !== null && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
  }, 'must be an http or https URL without credentials, query or fragment')
  .transform((value) => new URL(value).href.replace(/\/$/, ''));

/** As httpUrl, but the root of its host: planes are told apart by host, not by path. */
export const origin = httpUrl.refine((value) => URL.parse(value)?.pathname === '/', 'must have no path');

export const urlOf = (...schemes: string[]) =>
  z
    .string()
    .refine(
      (value) => schemes.includes(URL.parse(value)?.protocol.slice(0, -1) ?? ''),
      `must be a URL that starts with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
    );

/** As mail headers have it: an address, alone or in angle brackets behind a name. */
export const mailbox = z
  .string()
  .max(320)
  .regex(
    /^(?:[^<>\r\n]{0,200}<[^\s<>@,;]{1,64}@[^\s<>@,;]{1,253}>|[^\s<>@,;]{1,64}@[^\s<>@,;]{1,253})$/,
    'must be an email address, such as Sallyport <no-reply@example.com>',
  );

/** DNS name of at most 253 characters, lower-cased. */
export const hostName = z
  .string()
  .toLowerCase()
  .regex(
    /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/,
    'must be a host name without scheme or port',
  );

export const ipAddress = z.string().refine((value) => ipaddr.isValid(value), 'must be an IP address');

/** Standard base64 of exactly 32 bytes. */
export const key32 = z
  .string()
  .refine(
    (value) => /^[A-Za-z0-9+/]{43}=$/.test(value) && Buffer.from(value, 'base64').toString('base64') === value,
    'must be the base64 of exactly 32 bytes',
  );

const entries = (value: string) =>
  value
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);

/** Canonical `address/bits`, a bare address being its own range; undefined when it is no address. */
function cidrOf(value: string): string | undefined {
  const whole = value.includes('/') ? value : ipaddr.isValid(value) ? `${value}/${ipaddr.parse(value).kind() === 'ipv4' ? 32 : 128}` : '';
  if (!ipaddr.isValidCIDR(whole) || (!whole.includes(':') && !/^(\d{1,3}\.){3}\d{1,3}\//.test(whole))) return undefined;
  const [address, bits] = ipaddr.parseCIDR(whole);
  return `${address.toString()}/${bits}`;
}

export const cidrs = listOf(cidrOf, 'must be a comma-separated list of IP addresses or CIDR ranges');

/** `9.9.9.9`, `127.0.0.1:5353`, `[2620:fe::fe]:53`. */
export const resolvers = listOf<string>((value) => {
  const [, bracketed, bare, port] = /^(?:\[([^\]]+)\]|([\d.]+))(?::(\d{1,5}))?$/.exec(value) ?? [];
  return ipaddr.isValid(bracketed ?? bare ?? value) && (port === undefined || isPort(port)) ? value : undefined;
}, 'must be a comma-separated list of IP addresses, each optionally followed by :port');

/** `10.0.0.0/8`, `127.0.0.1:9000`, `10.0.0.0/8:443`, `fd00::/8`, `[fd00::/8]:443`. */
export const allowedRanges = listOf<AllowedRange>((value) => {
  const [, bracketed, bare, port] = /^(?:\[([^\]]+)\]|(.*?))(?::(\d{1,5}))?$/.exec(value) ?? [];
  const unported = cidrOf(value);
  if (unported) return { cidr: unported, port: undefined };
  const cidr = cidrOf(bracketed ?? bare ?? '');
  return cidr && (port === undefined || isPort(port)) ? { cidr, port: port === undefined ? undefined : Number(port) } : undefined;
}, 'must be a comma-separated list of CIDR ranges, each optionally followed by :port');

/** `name:port=address` or `name:port=address:port`, comma-separated. */
export const testHosts = listOf<TestHost>((value) => {
  const [, name, port, address, addressPort] = /^([a-z0-9.-]+):(\d{1,5})=(.+?)(?::(\d{1,5}))?$/i.exec(value) ?? [];
  if (!name || !port || !address || !ipaddr.isValid(address) || !isPort(port) || (addressPort && !isPort(addressPort))) return undefined;
  return { name: name.toLowerCase(), port: Number(port), address, address_port: addressPort ? Number(addressPort) : undefined };
}, 'must be a comma-separated list of name:port=address');

/** `api:4000,sandbox:4001`: a port per plane, each used once. */
export const planePorts = z.string().transform((value, ctx) => {
  const ports: Partial<Record<Plane, number>> = {};
  for (const entry of entries(value)) {
    const [, plane, port] = /^([a-z]+):(\d{1,5})$/.exec(entry) ?? [];
    const known = planes.find((candidate) => candidate === plane);
    if (!known || !port || !isPort(port) || ports[known] !== undefined || Object.values(ports).includes(Number(port))) {
      ctx.addIssue({ code: 'custom', message: `must look like api:4000,sandbox:4001,admin:4002,proxy:4003, each plane and port once` });
      return z.NEVER;
    }
    ports[known] = Number(port);
  }
  return ports;
});

export const PRICED_PLANS = ['starter', 'pro', 'enterprise'] as const;
export const INTERVALS = ['month', 'year'] as const;
/** A price of the payment provider for a plan and an interval. */
export type Price = { plan: (typeof PRICED_PLANS)[number]; interval: (typeof INTERVALS)[number]; id: string };

/** `starter:month=price_1,pro:month=price_2,pro:year=price_3`, each plan and interval at most once. */
export const prices = z.string().transform((value, ctx) => {
  const list = entries(value).map((entry) => /^(starter|pro|enterprise):(month|year)=(\w{1,100})$/.exec(entry));
  const keys = list.map((found) => found?.slice(1, 3).join(':'));
  const ids = list.map((found) => found?.[3]);
  if (list.length === 0 || list.includes(null) || new Set(keys).size < list.length || new Set(ids).size < list.length) {
    ctx.addIssue({
      code: 'custom',
      message: 'must look like pro:month=price_1,pro:year=price_2, with plans starter, pro or enterprise, each once',
    });
    return z.NEVER;
  }
  return list.map((found) => ({ plan: found?.[1], interval: found?.[2], id: found?.[3] }) as Price);
});

export const roles = ['gateway', 'web', 'worker'] as const;
export type Role = (typeof roles)[number];
export const roleList = listOf<Role>(
  (value) => roles.find((role) => role === value),
  'must be a comma-separated list of gateway, web, worker',
);

function isPort(value: string): boolean {
  return Number(value) >= 1 && Number(value) <= 65_535;
}

function listOf<T>(parse: (entry: string) => T | undefined, message: string) {
  return z.string().transform((value, ctx): readonly T[] => {
    const parsed = entries(value).map(parse);
    if (!parsed.includes(undefined)) return parsed as T[]; // the line above has just ruled undefined out
    ctx.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

/** Samplers of OpenTelemetry that need nothing from outside. */
export const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** From 0 to 1. */
export const share = z
  .string()
  .regex(/^(?:0(?:\.\d{1,12})?|1(?:\.0{1,12})?)$/, 'must be a number from 0 to 1')
  .transform(Number);
