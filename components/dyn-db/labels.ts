import type { z } from 'zod';
import type { State } from '#components/ui/badge.tsx';
import type { DynDbConnection, DynDbLease, DynDbRole, ExecutionMode } from '#server/domain/dyn-db/schema.ts';

export type Connection = z.output<typeof DynDbConnection>;
export type Role = z.output<typeof DynDbRole>;
export type Lease = z.output<typeof DynDbLease>;

/** How the service reaches a database, and when to choose it. */
export const MODES: Readonly<Record<ExecutionMode, { title: string; when: string }>> = {
  direct: { title: 'Direct', when: 'The database has an address that this service can reach. The connection is encrypted with TLS.' },
  ssh_tunnel: { title: 'SSH tunnel', when: 'The database is in a private network that has a host you can log in to with SSH.' },
  iam: { title: 'AWS IAM', when: 'Amazon RDS or Aurora with IAM authentication. No password is stored; tokens live 15 minutes.' },
  agent_tunnel: { title: 'Agent', when: 'An agent inside the network connects out to the service. Nothing has to be opened.' },
};

/** Those modes in the order to think of them. */
export const MODE_ORDER = Object.keys(MODES) as ExecutionMode[];

/** The light of a connection. */
export function lightOf({ enabled, status }: Pick<Connection, 'enabled' | 'status'>): { state: State; label: string } {
  if (!enabled) return { state: 'off', label: 'Disabled' };
  if (status === 'ok') return { state: 'ok', label: 'Connected' };
  return status === 'failing' ? { state: 'failing', label: 'Failing' } : { state: 'pending', label: 'Not checked yet' };
}

export const LEASE_STATES: Readonly<Record<Lease['status'], { state: State; label: string }>> = {
  active: { state: 'ok', label: 'Active' },
  renewing: { state: 'pending', label: 'In progress' },
  errored: { state: 'failing', label: 'Errored' },
  expired: { state: 'off', label: 'Expired' },
  revoked: { state: 'off', label: 'Revoked' },
  failed: { state: 'off', label: 'Failed' },
};

/** Where a connection is, as people write it: host and port, or what MongoDB names. */
export const addressOf = ({ host, port }: Pick<Connection, 'host' | 'port'>): string => (port === null ? host : `${host}:${port}`);

/** What to look at when the service can't work on a database, by the stage that its answer begins with. */
export function nextStepFor(error: string): string {
  const stage = error.slice(0, error.indexOf(':'));
  return (NO_DATABASE.test(error) ? undefined : STEPS[stage]) ?? 'Run the grants for the admin user, then test again.';
}

/** A login that fails for want of a right on the database, and not for its password: PostgreSQL, MySQL, SQL Server. */
const NO_DATABASE = /^login: (?:42501|1044|4060|916) /;

const STEPS: Readonly<Record<string, string>> = {
  DNS: 'Check the host name. A name that only a private network knows needs an SSH tunnel.',
  TCP: 'Check host and port, and that a firewall or security group lets this service in.',
  TLS: 'Check the TLS mode, and for a private certificate authority the CA certificates.',
  SSH: 'Check the jump host, its user and key. A changed host key is never accepted by itself: rotate the SSH key to pin the new one.',
  login: 'Check the admin user and its password.',
};
