import { DecryptCommand, EncryptCommand, KMSClient } from '@aws-sdk/client-kms';
import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import type { KmsPlace } from '#server/crypto/keyring.ts';
import { processState } from '#server/kernel/process-state.ts';
import { limitAnswers, WHERE_LIMITED } from './answer-limit.ts';
import { type KmsBinding, KmsFailure, type KmsProvider } from './kms.ts';

const clients = processState('kms-aws', () => new Map<string, KMSClient>());
const LIMIT = 500;
/** The shortest that STS gives: as long a trust policy that is taken away still counts. */
const SESSION_SECONDS = 900;

/**
 * AWS KMS: the operator's own identity assumes the customer's role. The host follows from the validated region; AWS_ENDPOINT_URL_KMS and
 * AWS_ENDPOINT_URL_STS of the operator replace it.
 */
export const aws: KmsProvider = {
  async wrap(place, binding, key, signal) {
    const answer = await client(place, binding.tenantId).send(
      new EncryptCommand({ KeyId: place.key_ref, Plaintext: key, EncryptionContext: contextOf(binding) }),
      { abortSignal: signal },
    );
    if (!answer.CiphertextBlob) throw new KmsFailure('access_denied', 'EmptyAnswer');
    return { blob: new Uint8Array(answer.CiphertextBlob), key_version: null };
  },

  async unwrap(place, binding, blob, signal) {
    const answer = await client(place, binding.tenantId).send(
      new DecryptCommand({ KeyId: place.key_ref, CiphertextBlob: blob, EncryptionContext: contextOf(binding) }),
      { abortSignal: signal },
    );
    if (!answer.Plaintext) throw new KmsFailure('access_denied', 'EmptyAnswer');
    return answer.Plaintext;
  },

  refusalOf(error) {
    const { name = '', $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } };
    const status = $metadata?.httpStatusCode;
    // A status below 400 is that of an answer which couldn't be read.
    if (status === undefined || status < 400 || status >= 500 || status === 429 || /Throttl|LimitExceeded|Timeout/.test(name))
      return undefined;
    return name.slice(0, 60);
  },

  forget() {
    for (const each of clients.values()) each.destroy();
    clients.clear();
  },
};

const contextOf = ({ tenantId, version }: KmsBinding) => ({
  svc_tenant: tenantId,
  svc_purpose: 'tmk',
  svc_version: String(version),
});

/** One client per workspace and role, because it holds the session. */
function client({ config }: KmsPlace, tenantId: string): KMSClient {
  const { region = '', role_arn = '', external_id } = config;
  const name = JSON.stringify([tenantId, region, role_arn, external_id]);
  const known = clients.get(name);
  if (known) return known;
  if (clients.size >= LIMIT) aws.forget?.();
  const made = new KMSClient({ region, maxAttempts: 1, credentials: session(region, role_arn, external_id, tenantId) });
  made.middlewareStack.add(limitAnswers, WHERE_LIMITED);
  clients.set(name, made);
  return made;
}

/** Credentials of the customer's role; the SDK keeps them until shortly before they end. */
function session(region: string, roleArn: string, externalId: string | undefined, tenantId: string) {
  return async () => {
    const sts = new STSClient({ region, maxAttempts: 1 });
    sts.middlewareStack.add(limitAnswers, WHERE_LIMITED);
    try {
      const { Credentials: given } = await sts.send(
        new AssumeRoleCommand({
          RoleArn: roleArn,
          RoleSessionName: `sallyport-${tenantId}`,
          DurationSeconds: SESSION_SECONDS,
          ...(externalId === undefined ? {} : { ExternalId: externalId }),
        }),
        { abortSignal: AbortSignal.timeout(3_000) },
      );
      if (!given?.AccessKeyId || !given.SecretAccessKey || !given.SessionToken) throw new KmsFailure('access_denied', 'EmptyAnswer');
      const expiration = given.Expiration ?? new Date(Date.now() + SESSION_SECONDS * 1000);
      return {
        accessKeyId: given.AccessKeyId,
        secretAccessKey: given.SecretAccessKey,
        sessionToken: given.SessionToken,
        expiration,
      };
    } finally {
      sts.destroy();
    }
  };
}
