import os from 'node:os';
import path from 'node:path';

// The only reader of the agent's environment.

/** Written by the build; a development copy has none. */
export const VERSION = '1.0.0';

export type Settings = {
  home: string;
  apiBase: string | undefined;
  /** A self-hosted data plane gets its identity by the environment; others from the credentials file. */
  agentId: string | undefined;
  agentSecret: string | undefined;
  controlPlaneKey: string | undefined;
  /** A file whose content names the machine where host names change, such as the ID of a mounted volume. */
  idFile: string | undefined;
  port: number;
  /** Where modes server and proxy serve routes. Beyond loopback only with a key for callers. */
  listen: { host: string; port: number };
  /** What callers of served routes send in X-Svc-Key; undefined for none. */
  callerKey: string | undefined;
  heartbeatMs: number;
  manifestMs: number;
  offlineGraceHours: number;
  /** Databases that the service may reach through the tunnel, as `host` or `host:port`; undefined for all, none when it is `off`. */
  tunnelHosts: readonly string[] | undefined;
  /** Accounts of this host whose programs may use the forward proxy; undefined for all. */
  allowedUids: readonly number[] | undefined;
  environment: Readonly<Record<string, string | undefined>>;
};

/** Throws with the name of a variable that can't be used. */
export function readSettings(from: Readonly<Record<string, string | undefined>> = process.env): Settings {
  return {
    home: from.SVC_AGENT_HOME || path.join(os.homedir(), '.sallyport-agent'),
    apiBase: from.SVC_AGENT_API || undefined,
    agentId: from.SVC_AGENT_ID || undefined,
    agentSecret: from.SVC_AGENT_SECRET || undefined,
    controlPlaneKey: from.SVC_AGENT_CONTROL_PLANE_KEY?.replaceAll('\\n', '\n') || undefined,
    idFile: from.SVC_AGENT_ID_FILE || undefined,
    port: number(from, 'SVC_AGENT_PORT', 7742, 0, 65_535),
    ...listenerOf(from.SVC_AGENT_LISTEN, from.SVC_AGENT_CALLER_KEY),
    heartbeatMs: number(from, 'SVC_AGENT_HEARTBEAT_SECONDS', 60, 1, 170) * 1000,
    manifestMs: number(from, 'SVC_AGENT_MANIFEST_SECONDS', 30, 1, 300) * 1000,
    offlineGraceHours: number(from, 'SVC_AGENT_OFFLINE_GRACE_HOURS', 0, 0, 24),
    allowedUids: uidsOf(from.SVC_AGENT_ALLOWED_UIDS),
    tunnelHosts: hostsOf(from.SVC_AGENT_TUNNEL_HOSTS),
    environment: from,
  };
}

function listenerOf(text: string | undefined, key: string | undefined): Pick<Settings, 'listen' | 'callerKey'> {
  const callerKey = key?.trim() || undefined;
  const [, host = '', port = ''] = /^(\[[0-9a-fA-F:]+\]|[0-9.]+):(\d{1,5})$/.exec(text?.trim() || '127.0.0.1:7743') ?? [];
  if (host === '' || Number(port) > 65_535) throw new Error('SVC_AGENT_LISTEN must be address:port, such as 0.0.0.0:7743.');
  if (callerKey !== undefined && callerKey.length < 24) throw new Error('SVC_AGENT_CALLER_KEY must have at least 24 characters.');
  const address = host.replace(/^\[|\]$/g, '');
  if (callerKey === undefined && !/^127\.|^::1$/.test(address))
    throw new Error(`Set SVC_AGENT_CALLER_KEY to serve on ${address}: everybody who reaches it could use the routes and their secrets.`);
  return { listen: { host: address, port: Number(port) }, callerKey };
}

function hostsOf(text: string | undefined): string[] | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  return text.trim() === 'off'
    ? []
    : text
        .split(',')
        .map((one) => one.trim().toLowerCase())
        .filter(Boolean);
}

function uidsOf(text: string | undefined): number[] | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const uids = text.split(',').map((one) => Number(one.trim()));
  if (uids.every((uid) => Number.isInteger(uid) && uid >= 0)) return uids;
  throw new Error('SVC_AGENT_ALLOWED_UIDS must be user IDs, separated by commas.');
}

function number(from: Readonly<Record<string, string | undefined>>, name: string, otherwise: number, least: number, most: number): number {
  const given = from[name];
  if (given === undefined || given === '') return otherwise;
  const value = Number(given);
  if (!Number.isInteger(value) || value < least || value > most)
    throw new Error(`${name} must be a whole number from ${least} to ${most}.`);
  return value;
}
