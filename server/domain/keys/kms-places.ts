import { z } from 'zod';
import type { KmsPlace } from '#server/crypto/keyring.ts';
import { invalid, Refusal } from '#server/kernel/errors.ts';
import { env } from '#server/platform/env.ts';
import type { OnboardKms } from './schema.ts';

/** Members that hold a credential, whatever the provider: the service takes roles and identities only (interface rule 31 §7.2). */
const STATIC = new Set([
  'access_key_id',
  'secret_access_key',
  'aws_access_key_id',
  'aws_secret_access_key',
  'session_token',
  'private_key',
  'private_key_id',
  'service_account_json',
  'credentials_json',
  'client_secret',
  'password',
  'certificate',
]);

/** @throws Refusal static_credentials_rejected for such a member anywhere, without its value */
export function refuseCredentials(value: unknown): void {
  if (typeof value === 'string') {
    // A service account's file, pasted into a field as text.
    if (/"private_key(?:_id)?"\s*:/i.test(value)) throw rejected('private_key');
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (STATIC.has(name.toLowerCase())) throw rejected(name.toLowerCase());
    refuseCredentials(member);
  }
}

const rejected = (name: string) =>
  new Refusal(
    'static_credentials_rejected',
    `${name} is a static credential. Grant access to the service's own identity instead, and revoke the credential if it was real.`,
  );

const guid = z.string().regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i, 'must be a GUID');
const AWS_KEY = /^arn:aws(?:-cn|-us-gov)?:kms:([a-z0-9-]{1,30}):\d{12}:(?:key\/[A-Za-z0-9-]{1,64}|alias\/[\w/-]{1,250})$/;
const AWS_ROLE = /^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/;
const REGION = /^[a-z]{2}(?:-[a-z]{2,12}){1,3}-\d{1,2}$/;
const GCP_KEY = /^projects\/[a-z0-9][a-z0-9.:-]{2,62}\/locations\/[a-z0-9-]{1,40}\/keyRings\/[\w-]{1,63}\/cryptoKeys\/[\w-]{1,63}$/;
const GCP_ACCOUNT = /^[a-z0-9-]{1,63}@[a-z0-9.-]{1,100}\.iam\.gserviceaccount\.com$/;
const VAULT = /^[a-z0-9-]{3,24}\.vault\.(?:azure\.net|usgovcloudapi\.net|azure\.cn)$/;
const AZURE_KEY = /^https:\/\/([a-z0-9.-]{1,80})\/keys\/[A-Za-z0-9-]{1,127}$/;
const SECRET_VARIABLE = /^AZURE_BYOK_[A-Z0-9_]{1,48}$/;

const config = {
  aws: z.strictObject({
    region: z.string().regex(REGION, 'must be a region such as eu-central-1'),
    role_arn: z.string().regex(AWS_ROLE, 'must be the ARN of a role'),
    external_id: z.string().optional(),
  }),
  gcp: z.strictObject({
    impersonate_service_account: z.string().regex(GCP_ACCOUNT, 'must be the email address of a service account'),
    project_id: z
      .string()
      .regex(/^[a-z0-9][a-z0-9.:-]{2,62}$/, 'must be the ID of a project')
      .optional(),
  }),
  azure: z.strictObject({
    vault_url: z.string().transform((url) => url.replace(/\/$/, '')),
    azure_tenant_id: guid.optional(),
    client_id: guid.optional(),
    client_secret_env_var: z.string().optional(),
  }),
  fake: z.strictObject({}),
};

/**
 * The key that an onboarding names, with every host it will be reached at decided by patterns (interface rule 31 §7.2, §8). `externalId` is the workspace's.
 * @throws Refusal validation_error
 */
export function kmsPlace({ provider, kms_key_ref, config: given }: z.output<typeof OnboardKms>, externalId: string): KmsPlace {
  const checked = Object.hasOwn(CHECKS, provider) ? CHECKS[provider as keyof typeof CHECKS] : undefined;
  if (!checked || (provider === 'fake' && !env.SVC_TEST_MODE)) throw invalid('provider', 'must be aws, gcp or azure');
  return { provider, key_ref: kms_key_ref, config: checked(kms_key_ref, given, externalId), key_version: null };
}

const CHECKS = {
  aws(ref: string, given: unknown, externalId: string): Record<string, string> {
    const region = AWS_KEY.exec(ref)?.[1];
    if (region === undefined)
      throw invalid('kms_key_ref', 'must be the ARN of a key, such as arn:aws:kms:eu-central-1:111122223333:key/…, or of an alias');
    const { external_id = externalId, ...rest } = parsed(config.aws, given);
    if (rest.region !== region) throw invalid('config.region', `must be the region of the key, ${region}`);
    // A workspace that could choose it could use a role that trusts the service for another workspace.
    if (external_id !== externalId) throw invalid('config.external_id', 'must be the external ID of this workspace, or left out');
    return { ...rest, external_id };
  },
  gcp(ref: string, given: unknown): Record<string, string> {
    if (!GCP_KEY.test(ref)) throw invalid('kms_key_ref', 'must be projects/…/locations/…/keyRings/…/cryptoKeys/…');
    return defined(parsed(config.gcp, given));
  },
  azure(ref: string, given: unknown): Record<string, string> {
    const host = AZURE_KEY.exec(ref)?.[1];
    if (host === undefined || !VAULT.test(host))
      throw invalid('kms_key_ref', 'must be https://VAULT.vault.azure.net/keys/NAME, without a version');
    const found = parsed(config.azure, given);
    if (found.vault_url !== `https://${host}`) throw invalid('config.vault_url', `must be the vault of the key, https://${host}`);
    const variable = found.client_secret_env_var;
    if (variable !== undefined) {
      // Without the prefix a workspace could name any variable of the server and have it sent to a directory of its own.
      if (!SECRET_VARIABLE.test(variable)) throw invalid('config.client_secret_env_var', 'must start with AZURE_BYOK_');
      if (!env.AZURE_BYOK[variable]) throw invalid('config.client_secret_env_var', 'is not set on this server. Ask its operator to set it');
      if (!found.azure_tenant_id || !found.client_id)
        throw invalid('config', 'azure_tenant_id and client_id are required with client_secret_env_var');
    }
    return defined(found);
  },
  fake(ref: string, given: unknown): Record<string, string> {
    parsed(config.fake, given);
    if (!/^fake:[\w-]{1,100}$/.test(ref)) throw invalid('kms_key_ref', 'must be fake:NAME');
    return {};
  },
};

function parsed<T extends z.ZodType>(schema: T, given: unknown): z.output<T> {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  if (issue?.code === 'unrecognized_keys') throw invalid('config', `doesn't know ${issue.keys[0]} for this provider`);
  const problem = issue?.code === 'invalid_type' ? 'is required and must be a string' : (issue?.message ?? 'is invalid');
  throw invalid(['config', ...(issue?.path ?? [])].join('.'), problem);
}

const defined = (object: Record<string, string | undefined>) =>
  Object.fromEntries(Object.entries(object).filter((entry): entry is [string, string] => entry[1] !== undefined));
