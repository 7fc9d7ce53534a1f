import { ClientSecretCredential, ManagedIdentityCredential, type TokenCredential } from '@azure/identity';
import { CryptographyClient } from '@azure/keyvault-keys';
import type { KmsPlace } from '#server/crypto/keyring.ts';
import { digest, digestEquals } from '#server/crypto/tokens.ts';
import { processState } from '#server/kernel/process-state.ts';
import { env } from '../env.ts';
import { answerLimitPolicy } from './answer-limit.ts';
import { testHttpClient } from './azure-test.ts';
import { bindingText, KmsFailure, type KmsProvider } from './kms.ts';

const credentials = processState('kms-azure', () => new Map<string, TokenCredential>());
const LIMIT = 500;
const ALGORITHM = 'RSA-OAEP-256';

/**
 * Azure Key Vault: an app registration whose secret an environment variable holds, or the managed identity of the machine. RSA-OAEP takes no associated data, so the
 * wrapped text is the key followed by the SHA-256 of its binding.
 */
export const azure: KmsProvider = {
  async wrap(place, binding, key, abortSignal) {
    const plaintext = Buffer.concat([key, digest(bindingText(binding))]);
    try {
      const { result, keyID } = await client(place, binding.tenantId, null).wrapKey(ALGORITHM, plaintext, { abortSignal });
      return { blob: new Uint8Array(result), key_version: keyID?.split('/').at(-1) ?? null };
    } finally {
      plaintext.fill(0);
    }
  },

  async unwrap(place, binding, blob, abortSignal) {
    const { result } = await client(place, binding.tenantId, place.key_version).unwrapKey(ALGORITHM, blob, { abortSignal });
    const plaintext = Buffer.from(result);
    result.fill(0);
    try {
      const bound = plaintext.length === 64 && digestEquals(plaintext.subarray(32), digest(bindingText(binding)));
      if (!bound) throw new KmsFailure('access_denied', 'WrongPlaintext');
      return new Uint8Array(plaintext.subarray(0, 32));
    } finally {
      plaintext.fill(0);
    }
  },

  refusalOf(error) {
    const { name = '', statusCode, code } = error as { name?: string; statusCode?: number; code?: unknown };
    const detail = typeof code === 'string' ? code : `HTTP ${statusCode}`;
    if (statusCode !== undefined) return statusCode >= 500 || statusCode === 429 || statusCode === 408 ? undefined : detail.slice(0, 60);
    // What the directory answers instead of a token has no status of its own in every version of the library.
    return /^(AuthenticationError|AuthenticationRequiredError)$/.test(name) ? 'AuthenticationError' : undefined;
  },

  forget: () => credentials.clear(),
};

function client(place: KmsPlace, tenantId: string, version: string | null): CryptographyClient {
  const key = version === null ? place.key_ref : `${place.key_ref}/${version}`;
  return new CryptographyClient(key, credential(place.config, tenantId), { ...options(), disableChallengeResourceVerification: false });
}

/** No redirects and no retries of the SDK's own: what is asked is the vault that was validated, and how often is decided above. */
const options = () => ({
  retryOptions: { maxRetries: 0 },
  redirectOptions: { maxRetries: 0 },
  additionalPolicies: [{ policy: answerLimitPolicy, position: 'perRetry' as const }],
  ...(env.KMS_TEST_AZURE_URL === undefined ? {} : { httpClient: testHttpClient(env.KMS_TEST_AZURE_URL) }),
});

function credential(config: KmsPlace['config'], tenantId: string): TokenCredential {
  const name = JSON.stringify([tenantId, config]);
  const known = credentials.get(name);
  if (known) return known;
  if (credentials.size >= LIMIT) credentials.clear();
  const made = identity(config);
  credentials.set(name, made);
  return made;
}

function identity({ azure_tenant_id, client_id, client_secret_env_var }: KmsPlace['config']): TokenCredential {
  if (client_secret_env_var === undefined) return managedIdentity(client_id);
  const secret = env.AZURE_BYOK[client_secret_env_var];
  if (!secret || !azure_tenant_id || !client_id) throw new KmsFailure('access_denied', 'MissingClientSecret');
  return new ClientSecretCredential(azure_tenant_id, client_id, secret, options());
}

const managedIdentity = (clientId: string | undefined): TokenCredential =>
  clientId === undefined ? new ManagedIdentityCredential(options()) : new ManagedIdentityCredential({ clientId, ...options() });
