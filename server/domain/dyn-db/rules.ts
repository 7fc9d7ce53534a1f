import ipaddr from 'ipaddr.js';
import type { z } from 'zod';
import { authoritiesProblem } from '#server/crypto/authorities.ts';
import { requireFeature } from '#server/domain/plans/service.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import { egress } from '#server/platform/egress.ts';
import { checkHost } from '#server/platform/http-out/guard.ts';
import { DEFAULT_PORTS, type Engine } from './engines.shared.ts';
import type { ConnectionOptions, CreateDynDbConnection, ExecutionMode } from './schema.ts';

type NewConnection = z.output<typeof CreateDynDbConnection>;

const ADMIN = ['admin_username', 'admin_password'] as const;
const SSH = ['ssh_host', 'ssh_username', 'ssh_private_key'] as const;
const SSH_OPTIONAL = ['ssh_port', 'ssh_passphrase', 'ssh_host_fingerprint'] as const;
const IAM = ['iam_region', 'iam_db_user'] as const;

type Field = keyof NewConnection;
/** What each mode takes beyond host, port and options (interface rule 44 §3.1). */
const FIELDS: Readonly<Record<ExecutionMode, { required: readonly Field[]; optional: readonly Field[] }>> = {
  direct: { required: ADMIN, optional: [] },
  agent_tunnel: { required: [...ADMIN, 'agent_id'], optional: [] },
  ssh_tunnel: { required: [...ADMIN, ...SSH], optional: SSH_OPTIONAL },
  iam: { required: IAM, optional: [] },
};
const OF_MODES: readonly Field[] = [...ADMIN, 'agent_id', ...SSH, ...SSH_OPTIONAL, ...IAM];

/** @throws Refusal validation_error */
export function assertConnection(ctx: Ctx, input: NewConnection): void {
  const { execution_mode: mode, engine } = input;
  const { required, optional } = FIELDS[mode];
  for (const field of required) if (input[field] === undefined) throw invalid(field, `is required with execution_mode ${mode}`);
  for (const field of OF_MODES)
    if (input[field] !== undefined && !required.includes(field) && !optional.includes(field))
      throw invalid(field, `must be left out with execution_mode ${mode}`);
  if (mode === 'iam' && engine !== 'postgres' && engine !== 'mysql')
    throw invalid('execution_mode', 'iam needs the engine postgres or mysql');
  if (mode === 'agent_tunnel') requireFeature(ctx, 'byo_agent');
  assertTarget(ctx, { ...input, connect_options: input.connect_options ?? {} });
  assertAuthorities(input.connect_options);
}

type Target = {
  engine: Engine;
  execution_mode: ExecutionMode;
  host: string;
  port?: number | null | undefined;
  ssh_host?: string | null | undefined;
  ssh_port?: number | null | undefined;
  connect_options: ConnectionOptions;
};

/** What holds after every change: options fit the engine, and the service may connect there. @throws Refusal validation_error */
export function assertTarget(ctx: Ctx, target: Target): void {
  const { engine, execution_mode: mode, connect_options: options } = target;
  for (const key of Object.keys(options) as (keyof ConnectionOptions)[])
    if (options[key] !== undefined && !fits(key, target))
      throw invalid(`connect_options.${key}`, `is not an option of ${engine} with execution_mode ${mode}`);
  const open = options.sslmode === 'disable' || options.tls === false;
  if (open && !ctx.sandbox && mode !== 'ssh_tunnel')
    throw invalid(
      `connect_options.${engine === 'mongo' ? 'tls' : 'sslmode'}`,
      'can be turned off in the Test space or with an SSH tunnel only',
    );
  if (open && mode === 'iam') throw invalid('connect_options.sslmode', "can't be disable with execution_mode iam: the token needs TLS");
  if (mode === 'iam' && options.role_arn === undefined)
    throw invalid('connect_options.role_arn', 'is required with execution_mode iam: the service signs with a role of yours, not as itself');
  if (options.external_id !== undefined && options.role_arn === undefined) throw invalid('connect_options.external_id', 'needs role_arn');
  const hosts = hostsOf(target);
  if (options.srv && mode === 'agent_tunnel')
    throw invalid('connect_options.srv', "can't be used with execution_mode agent_tunnel: name the hosts");
  // Behind a jump host, or an agent, the name means what it means there.
  if (mode === 'agent_tunnel') return;
  if (mode === 'ssh_tunnel') assertReachable('ssh_host', target.ssh_host ?? '', target.ssh_port ?? 22);
  else for (const [host, port] of hosts) assertReachable('host', host, port);
}

const SQL_ENGINES: readonly Engine[] = ['postgres', 'mysql', 'mssql'];
function fits(key: keyof ConnectionOptions, { engine, execution_mode }: Target): boolean {
  switch (key) {
    case 'sslmode':
      return SQL_ENGINES.includes(engine);
    case 'auth_source':
    case 'replica_set':
    case 'srv':
    case 'tls':
      return engine === 'mongo';
    case 'role_arn':
    case 'external_id':
      return execution_mode === 'iam';
    case 'user_host':
      return engine === 'mysql';
    default:
      return true;
  }
}

/** One host, or for MongoDB several with ports of their own. @throws Refusal validation_error */
function hostsOf({ engine, host, port, connect_options }: Target): [string, number][] {
  const usual = port ?? DEFAULT_PORTS[engine];
  if (engine !== 'mongo' || ipaddr.isValid(host)) {
    if (/[,[\]]/.test(host) || (host.includes(':') && !ipaddr.isValid(host)))
      throw invalid('host', 'must be one host name or address; the port is a field of its own');
    return [[host, usual]];
  }
  const parts = host.split(',');
  if (connect_options.srv && (parts.length > 1 || host.includes(':')))
    throw invalid('host', 'must be one name without port when srv is true');
  return parts.map((part) => {
    const [, bracketed, name, own] = /^(?:\[([0-9a-fA-F:.]{2,45})\]|([^:[\],]{1,253}))(?::([0-9]{1,5}))?$/.exec(part) ?? [];
    const number = own === undefined ? usual : Number(own);
    if (!(bracketed ?? name) || number < 1 || number > 65_535)
      throw invalid('host', 'must be names or addresses, each perhaps with a port, separated by commas');
    return [(bracketed ?? name) as string, number];
  });
}

/** Judged once more at every connection, on the address that is then connected to (interface rule 12 §9). */
function assertReachable(field: 'host' | 'ssh_host', host: string, port: number): void {
  if (!checkHost(host, port, egress().settings).ok) throw invalid(field, 'is not reachable from this deployment');
}

/** Of options that are given: those that were stored before this was asked stay. @throws Refusal validation_error */
export function assertAuthorities(options: ConnectionOptions | undefined): void {
  const problem = options?.ca_cert_pem === undefined ? undefined : authoritiesProblem(options.ca_cert_pem);
  if (problem !== undefined) throw invalid('connect_options.ca_cert_pem', problem);
}

/** Another workspace's role must not be named with the external ID that it asks for. @throws Refusal validation_error */
export async function assertExternalId(tx: Tx, ctx: Ctx, { external_id }: ConnectionOptions): Promise<void> {
  if (external_id === undefined) return;
  const { kms_external_id } = await tx.tenants.findUniqueOrThrow({ where: { id: ctx.tenant_id }, select: { kms_external_id: true } });
  if (external_id !== kms_external_id)
    throw invalid('connect_options.external_id', `must be that of this workspace, ${kms_external_id}, or left out`);
}

/** One of this space that wasn't revoked. @throws Refusal validation_error */
export async function assertAgent(tx: Tx, ctx: Ctx, agentId: string | null | undefined): Promise<void> {
  if (!agentId) return;
  if ((await tx.agents.count({ where: { ...own(ctx), id: agentId, status: 'active' } })) === 0) throw invalid('agent_id', 'no such agent');
}

/** @throws Refusal validation_error */
export function assertTtls(ttls: { default_ttl_seconds: number | null; max_ttl_seconds: number | null }): void {
  const { default_ttl_seconds: usual, max_ttl_seconds: most } = ttls;
  if (usual !== null && most !== null && usual > most) throw invalid('default_ttl_seconds', 'must not exceed max_ttl_seconds');
}
