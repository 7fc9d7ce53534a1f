import type { z } from 'zod';
import { invalid } from '#server/kernel/errors.ts';
import { trimEnd } from '#server/kernel/trim-end.ts';
import type { ProviderName } from './register.shared.ts';
import type { CreateMigration } from './schema.ts';

type Input = z.output<typeof CreateMigration>;

/** What discovery needs, sealed while it may be needed. Federation parameters only, but for Vault's own token and the text of a file. */
export type Grant =
  | {
      provider: 'aws_sm' | 'aws_ssm';
      role_arn: string;
      external_id: string;
      regions: string[];
      arn_allowlist: string[];
      path_prefixes: string[];
    }
  | { provider: 'azure_kv'; tenant_id: string; client_id: string; subscription_id: string | null; vault_names: string[] }
  | {
      provider: 'gcp_sm';
      project_number: string;
      pool: string;
      pool_provider: string;
      service_account_email: string;
      project_ids: string[];
    }
  | { provider: 'hashicorp_vault'; address: string; mounts: string[]; path_prefixes: string[]; auth: VaultGrantAuth }
  | { provider: 'env_file'; content: string; file_name: string };
export type VaultGrantAuth =
  | { method: 'jwt'; role: string; mount: string }
  | { method: 'wrapped_token'; token: string }
  | { method: 'token'; token: string };

export type Described = {
  grant: Grant;
  scope: Record<string, unknown>;
  /** What is shown of the grant. */
  summary: Record<string, string>;
  region: string;
};

const ROLE_ARN = /^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/;
const REGION = /^[a-z]{2}(?:-[a-z]+){1,3}-\d{1,2}$/;
const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const VAULT_NAME = /^[A-Za-z](?:[A-Za-z0-9]|-(?=[A-Za-z0-9])){1,22}[A-Za-z0-9]$/;
const PROJECT = /^[a-z][a-z0-9-]{4,28}[a-z0-9]$/;
const POOL = /^[a-z0-9-]{4,32}$/;
const SERVICE_ACCOUNT = /^[a-z0-9-]{1,63}@[a-z0-9.-]{1,200}\.iam\.gserviceaccount\.com$/;
const OUR_EXTERNAL_ID = /^sallyport-[0-9a-f-]{36}$/;

/** The ID that a workspace's roles ask us for. Only this workspace can name it, so that nobody reads another's store through us (confused deputy). */
export const externalIdOf = (tenantId: string) => `sallyport-${tenantId}`;

/** The grant and scope of a provider, every host in them derived from validated parts. @throws Refusal validation_error */
export function described(input: Input, tenantId: string): Described {
  const pulled = input.provider === 'env_file' || input.provider === 'hashicorp_vault';
  if (pulled && input.mode !== 'pull') throw invalid('mode', `must be pull for ${input.provider}`);
  const foreign = FOREIGN[input.provider === 'env_file' ? 'store' : 'file'].find((name) => input[name] !== undefined);
  if (foreign) throw invalid(foreign, `is not used by ${input.provider}`);
  return READERS[input.provider](input, tenantId);
}

const FOREIGN = { store: ['credentials', 'scope'], file: ['content', 'file_name'] } as const;

const READERS: Record<ProviderName, (input: Input, tenantId: string) => Described> = {
  aws_sm: aws,
  aws_ssm: aws,
  azure_kv: azure,
  gcp_sm: gcp,
  hashicorp_vault: vault,
  env_file: file,
};

function aws({ provider, credentials = {}, scope = {} }: Input, tenantId: string): Described {
  if (provider !== 'aws_sm' && provider !== 'aws_ssm') throw new Error('no store of AWS');
  only('credentials', credentials, ['role_arn', 'external_id']);
  only('scope', scope, ['regions', 'arn_allowlist', ...(provider === 'aws_ssm' ? ['path_prefixes'] : [])]);
  const role_arn = text('credentials.role_arn', credentials.role_arn, ROLE_ARN, 'must be the ARN of an IAM role');
  const external_id = credentials.external_id ?? externalIdOf(tenantId);
  if (!/^[\w+=,.@:/-]+$/.test(external_id))
    throw invalid('credentials.external_id', 'can only contain letters, digits and _ + = , . @ : / -');
  if (OUR_EXTERNAL_ID.test(external_id.toLowerCase()) && external_id !== externalIdOf(tenantId))
    throw invalid('credentials.external_id', `must be this workspace's own: ${externalIdOf(tenantId)}`);
  const regions = list('scope.regions', scope.regions, REGION, 'must be an AWS region such as us-east-1');
  const { arn_allowlist = [], path_prefixes = [] } = scope;
  if (path_prefixes.some((prefix) => !/^\/[\w.\-/]*$/.test(prefix))) throw invalid('scope.path_prefixes', 'must each start with /');
  return {
    grant: { provider, role_arn, external_id, regions, arn_allowlist, path_prefixes },
    scope: { regions, arn_allowlist, ...(provider === 'aws_ssm' ? { path_prefixes } : {}) },
    summary: { role_arn },
    region: regions.join(','),
  };
}

function azure({ credentials = {}, scope = {} }: Input): Described {
  only('credentials', credentials, ['tenant_id', 'client_id']);
  only('scope', scope, ['subscription_id', 'vault_names']);
  const tenant_id = text('credentials.tenant_id', credentials.tenant_id, GUID, 'must be a GUID').toLowerCase();
  const client_id = text('credentials.client_id', credentials.client_id, GUID, 'must be a GUID').toLowerCase();
  const { subscription_id, vault_names = [] } = scope;
  if ((subscription_id === undefined) === (vault_names.length === 0)) throw invalid('scope', 'needs either subscription_id or vault_names');
  if (subscription_id !== undefined) text('scope.subscription_id', subscription_id, GUID, 'must be a GUID');
  const bad = vault_names.findIndex((name) => !VAULT_NAME.test(name));
  if (bad >= 0) throw invalid(`scope.vault_names.${bad}`, 'must be the name of a key vault: 3 to 24 letters, digits and hyphens');
  const names = [...new Set(vault_names.map((name) => name.toLowerCase()))];
  return {
    grant: { provider: 'azure_kv', tenant_id, client_id, subscription_id: subscription_id?.toLowerCase() ?? null, vault_names: names },
    scope: subscription_id === undefined ? { vault_names: names } : { subscription_id },
    summary: { tenant_id, client_id },
    region: '',
  };
}

function gcp({ credentials = {}, scope = {} }: Input): Described {
  only('credentials', credentials, ['project_number', 'workload_identity_pool', 'workload_identity_provider', 'service_account_email']);
  only('scope', scope, ['project_ids']);
  const number = credentials.project_number === undefined ? undefined : String(credentials.project_number);
  const project_number = text('credentials.project_number', number, /^\d{6,20}$/, 'must be the number of a project');
  const what = 'must be 4 to 32 lowercase letters, digits and hyphens';
  const pool = text('credentials.workload_identity_pool', credentials.workload_identity_pool, POOL, what);
  const pool_provider = text('credentials.workload_identity_provider', credentials.workload_identity_provider, POOL, what);
  const email = text('credentials.service_account_email', credentials.service_account_email, SERVICE_ACCOUNT, 'must be a service account');
  const project_ids = list('scope.project_ids', scope.project_ids, PROJECT, 'must be the ID of a project');
  return {
    grant: { provider: 'gcp_sm', project_number, pool, pool_provider, service_account_email: email, project_ids },
    scope: { project_ids },
    summary: { service_account_email: email, workload_identity_pool: pool },
    region: '',
  };
}

const MOUNT = /^[\w.-]+(?:\/[\w.-]+)*$/;

function vault({ credentials = {}, scope = {} }: Input): Described {
  only('credentials', credentials, ['address', 'auth']);
  only('scope', scope, ['mounts', 'path_prefixes']);
  const address = addressOf(credentials.address);
  const { auth } = credentials;
  if (!auth) throw invalid('credentials.auth', 'is required');
  only('credentials.auth', auth, auth.method === 'jwt' ? ['method', 'role', 'mount'] : ['method', 'token']);
  const mounts = list(
    'scope.mounts',
    scope.mounts?.map((mount) => mount.replace(/\/$/, '')),
    MOUNT,
    'must be the path of a mount',
  );
  const path_prefixes = (scope.path_prefixes ?? []).map((prefix) => prefix.replace(/^\//, ''));
  return {
    grant: { provider: 'hashicorp_vault', address, mounts, path_prefixes, auth: authOf(auth) },
    scope: { mounts, path_prefixes },
    summary: { address, method: auth.method, ...(auth.role === undefined ? {} : { role: auth.role }) },
    region: '',
  };
}

function authOf(auth: NonNullable<NonNullable<Input['credentials']>['auth']>): VaultGrantAuth {
  if (auth.method === 'wrapped_token') {
    const token = text('credentials.auth.token', auth.token, /^[\x21-\x7e]+$/, 'must be a response-wrapping token');
    return { method: 'wrapped_token', token };
  }
  const role = text('credentials.auth.role', auth.role, /^[\w.-]+$/, 'must be the name of a role');
  const mount = text('credentials.auth.mount', auth.mount ?? 'jwt', MOUNT, 'must be the path of an auth mount');
  return { method: 'jwt', role, mount };
}

/** An origin and at most a path. Whether its host may be called, and over http, is the guard's to say at every connection. */
function addressOf(given: string | undefined): string {
  const url = given === undefined ? null : URL.parse(given);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw invalid('credentials.address', 'must be an https URL such as https://vault.example.com:8200');
  if (url.username || url.password || url.search || url.hash || given?.includes('?') || given?.includes('#'))
    throw invalid('credentials.address', 'must have no user name, query or fragment');
  return trimEnd(url.href, '/').replace(/\/v1$/, '');
}

function file({ content, file_name = '.env' }: Input): Described {
  if (content === undefined || content === '') throw invalid('content', 'is required: the text of the file');
  if (Buffer.byteLength(content) > 1_048_576) throw invalid('content', 'must be at most 1 MiB');
  if (file_name.includes('#')) throw invalid('file_name', 'must not contain #');
  return { grant: { provider: 'env_file', content, file_name }, scope: { file_name }, summary: {}, region: '' };
}

/** A member that another provider knows would be believed to do something. */
function only(path: string, given: Record<string, unknown>, names: readonly string[]): void {
  const other = Object.keys(given).find((name) => given[name] !== undefined && !names.includes(name));
  if (other !== undefined) throw invalid(`${path}.${other.slice(0, 60)}`, 'is not used by this provider');
}

function text(path: string, given: string | undefined, pattern: RegExp, problem: string): string {
  if (given === undefined || given === '') throw invalid(path, 'is required');
  if (!pattern.test(given)) throw invalid(path, problem);
  return given;
}

function list(path: string, given: readonly string[] | undefined, pattern: RegExp, problem: string): string[] {
  if (!given || given.length === 0) throw invalid(path, 'needs at least one');
  const bad = given.findIndex((one) => !pattern.test(one));
  if (bad >= 0) throw invalid(`${path}.${bad}`, problem);
  return [...new Set(given)];
}
