import { z } from 'zod';
import type { Runtime } from '../../core/runtime.ts';
import { type AiRefused, aiRefusal } from '../../governance/envelope.ts';
import type { CallConfig } from '../../snapshot/model.ts';
import type { Resolution } from '../../templates/resolution.ts';
import type { AiCall } from '../ai-call.ts';
import { assumedRole, CredentialRefused, googleToken } from './exchanged-credential.ts';

/** What a provider is sent in place of a stored credential, or besides it. */
export type ProviderCredential = {
  /** Of the service account, for Vertex AI's paths. */
  readonly project: string;
  /** Replaces the signature. */
  readonly bearer: string | null;
};

const AwsSecret = z.object({
  access_key_id: z.string().regex(/^[\w.-]{1,128}$/),
  secret_access_key: z.string().min(1).max(1_024),
  session_token: z.string().max(8_192).optional(),
  role_arn: z
    .string()
    .regex(/^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/)
    .optional(),
  sts_endpoint_url: z.url().max(300).optional(),
});
const ServiceAccount = z.object({
  type: z.literal('service_account'),
  project_id: z.string().regex(/^[a-z0-9][a-z0-9.:-]{3,62}$/),
  client_email: z.string().min(3).max(320),
  private_key: z.string().min(100).max(20_000),
  token_uri: z.url().max(300).default('https://oauth2.googleapis.com/token'),
});
/** A long or short API key of Bedrock; anything in braces is taken for JSON that has to fit. */
const API_KEY = /^[\x21-\x7a\x7c\x7e]{20,4096}$/;

/**
 * Makes of the stored credential what the provider takes: an access token of a Google service account, the temporary credentials of an AWS role, an API key of
 * Bedrock as it is. A credential that fits none refuses, and nothing is sent.
 */
export async function providerCredential(
  call: AiCall,
  runtime: Runtime,
  config: CallConfig,
  provider: string,
  resolution: Resolution,
): Promise<ProviderCredential | AiRefused> {
  try {
    if (provider === 'vertex') return { project: await asGoogleToken(call, runtime, resolution), bearer: null };
    if (config.upstreamAuth?.auth.type === 'aws_sigv4' && config.upstreamAuth.auth.service === 'bedrock')
      return { project: '', bearer: await asBedrock(call, runtime, config, resolution) };
    return AS_IT_IS;
  } catch (error) {
    if (error instanceof CredentialRefused) return aiRefusal('upstream_credential_unavailable', error.message, { cause: error });
    throw error;
  }
}

const AS_IT_IS: ProviderCredential = { project: '', bearer: null };

async function asGoogleToken(call: AiCall, runtime: Runtime, resolution: Resolution): Promise<string> {
  for (const [reference, value] of resolution.configuration) {
    const account = ServiceAccount.safeParse(parsed(value));
    if (!account.success) continue;
    const token = await googleToken(call, runtime, account.data);
    resolution.configuration.set(reference, token);
    keep(resolution, 'google_access_token', token);
    return account.data.project_id;
  }
  throw new CredentialRefused('The secret of this route must hold the JSON key of a Google service account.');
}

/** The API key to send as it is, or null when the call is signed. */
async function asBedrock(call: AiCall, runtime: Runtime, { upstreamAuth }: CallConfig, resolution: Resolution): Promise<string | null> {
  if (upstreamAuth?.auth.type !== 'aws_sigv4' || upstreamAuth.secret === null) return null;
  const material = resolution.configuration.get(upstreamAuth.secret)?.trim() ?? '';
  if (API_KEY.test(material)) return material;
  const secret = AwsSecret.safeParse(parsed(material));
  if (!secret.success)
    throw new CredentialRefused(
      'The secret of this route must hold a Bedrock API key, or JSON with access_key_id, secret_access_key and optionally session_token and role_arn.',
    );
  if (secret.data.role_arn === undefined) return null;
  const { role_arn, ...own } = secret.data;
  const assumed = await assumedRole(call, runtime, { ...own, role_arn, region: upstreamAuth.auth.region });
  resolution.configuration.set(upstreamAuth.secret, JSON.stringify(assumed));
  keep(resolution, 'assumed_role.secret_access_key', assumed.secret_access_key);
  keep(resolution, 'assumed_role.session_token', assumed.session_token);
  return null;
}

/** What was obtained for a secret is masked as the secret is. */
function keep({ secrets, useOnly }: Resolution, name: string, value: string): void {
  secrets.set(name, value);
  if (useOnly.size > 0) useOnly.set(name, value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
