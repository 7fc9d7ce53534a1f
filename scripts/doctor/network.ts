import dns from 'node:dns/promises';
import { type Env, METRICS_OFFSETS } from '../../server/platform/env.ts';
import { readDatabase } from '../../server/platform/geoip.ts';
import { accepts, hostBehind, publicPorts, whyNotFree } from '../ports.ts';
import { bad, type Finding, ok, warn } from './finding.ts';

/** The ports of calls and of metrics, free or served by Sallyport. */
export async function ports(env: Env): Promise<Finding[]> {
  if (await accepts({ path: `${env.WEB_SOCKET}.run` })) {
    const host = hostBehind(env.BIND_ADDRESS);
    const listed = publicPorts(env).map(({ port }) => port);
    const silent: number[] = [];
    for (const port of listed) if (!(await accepts({ port, host }))) silent.push(port);
    return silent.length === 0
      ? [ok(`${listed.join(', ')}: Sallyport is running here`)]
      : [
          warn(
            `Sallyport runs from ${env.DATA_DIR}, but nothing responds on ${silent.join(', ')}`,
            'It may still be starting. Otherwise, run doctor with the settings it was started with (PLANE_PORTS, PORT, BIND_ADDRESS).',
          ),
        ];
  }
  const findings = await Promise.all(
    [...publicPorts(env).map((port) => ({ port, address: env.BIND_ADDRESS, fault: bad })), ...metricsPorts(env)].map(
      async ({ port, address, fault }) => {
        const problem = await whyNotFree(port, address);
        if (problem === undefined) return ok(`${port.port} is free on ${address}`);
        return fault(problem, fault === bad ? 'Then start again.' : "The service works without it: that process doesn't serve metrics.");
      },
    ),
  );
  // An address that isn't of this machine is the same problem for each port.
  return findings.filter((one, place) => findings.findIndex(({ says }) => says === one.says) === place);
}

/** Addresses on this machine that lead to a port on which nothing of ours will listen: the start prints them, and nobody answers there. */
export function localAddresses(env: Env): Finding[] {
  if (!env.SALLYPORT_ROLES.includes('gateway')) return [];
  const places = { PUBLIC_API_URL: 'api', PUBLIC_SANDBOX_API_URL: 'sandbox', PUBLIC_ADMIN_URL: 'admin' } as const;
  const one = Object.keys(env.PLANE_PORTS).length === 0;
  return Object.entries(places).flatMap(([setting, plane]) => {
    const { hostname, port, protocol, origin } = new URL(env[setting as keyof typeof places]);
    if (!/^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)) return [];
    const listens = one ? env.PORT : env.PLANE_PORTS[plane];
    if (listens === Number(port || (protocol === 'https:' ? 443 : 80))) return [];
    const next = one
      ? `PORT listens on ${listens}`
      : listens === undefined
        ? `PLANE_PORTS has no port for ${plane}`
        : `PLANE_PORTS has ${plane}:${listens}`;
    return [
      warn(`${setting} is ${origin}, but ${next}`, `Set ${setting} to the address that browsers and callers use, or change the port.`),
    ];
  });
}

/** That none of them is one of calls the settings have already been judged by. */
function metricsPorts({ METRICS_PORT, METRICS_HOST, SALLYPORT_ROLES }: Env) {
  if (METRICS_PORT === undefined) return [];
  return SALLYPORT_ROLES.map((role) => ({
    port: { port: METRICS_PORT + METRICS_OFFSETS[role], setting: 'METRICS_PORT' },
    address: METRICS_HOST,
    fault: warn,
  }));
}

export async function names(env: Env): Promise<Finding[]> {
  const hosts = [env.PUBLIC_API_URL, env.PUBLIC_SANDBOX_API_URL, env.PUBLIC_ADMIN_URL, env.PUBLIC_HOOKS_URL].map(
    (url) => new URL(url).hostname,
  );
  const wildcard = `doctor-test.${env.PROXY_BASE_HOST}`;
  return Promise.all(
    [...new Set([...hosts, wildcard])].map(async (host) => {
      const found = await dns.lookup(host).catch(() => undefined);
      if (found) return ok(`${host} is ${found.address}`);
      if (host === wildcard && env.PROXY_PATH_MODE)
        return warn(
          `${host} doesn't resolve on this machine`,
          `Browsers and curl resolve names under localhost on their own. Other clients can use ${env.PUBLIC_API_URL}/p/{workspace}/...`,
        );
      return bad(
        `${host} doesn't resolve`,
        host === wildcard ? `Add a wildcard DNS record *.${env.PROXY_BASE_HOST}.` : 'Add a DNS record for it, or fix the PUBLIC_ setting.',
      );
    }),
  );
}

export async function mail(env: Env): Promise<Finding> {
  if (!env.SMTP_URL) return warn('SMTP_URL is not set: emails are written to the log', 'Set SMTP_URL before other people sign up.');
  return reachable(env.SMTP_URL, 25, 'SMTP_URL', 'Until then, emails wait and are sent later.');
}

/** Nothing stands or falls with it: what is wrong with the file costs the countries and nothing else. */
export async function countries(file: string): Promise<Finding> {
  try {
    const { type, built } = await readDatabase(file);
    const says = `${type} of ${built.toISOString().slice(0, 10)}, from ${file}`;
    if (!/country|city|enterprise|insights/i.test(type))
      return warn(`${says}, may not contain countries`, 'Use a country or city database.');
    const days = (Date.now() - built.getTime()) / 86_400_000;
    return days > 60 ? warn(`${says}, is ${Math.floor(days)} days old`, 'Replace the file. Address locations change over time.') : ok(says);
  } catch (error) {
    return warn(`${file}: ${(error as Error).message}`, 'Fix GEOIP_DB_PATH or the file, or unset it. Until then, countries are not shown.');
  }
}

/** The service works without it: `meanwhile` says what doesn't. */
export async function reachable(address: string, usual: number, setting: string, meanwhile: string): Promise<Finding> {
  const url = new URL(address);
  const port = Number(url.port) || (url.protocol === 'smtps:' ? 465 : usual);
  const open = await accepts({ host: url.hostname, port });
  return open
    ? ok(`${url.hostname}:${port} accepts connections`)
    : warn(`${url.hostname}:${port} doesn't accept connections`, `Check ${setting} and the firewall. ${meanwhile}`);
}
