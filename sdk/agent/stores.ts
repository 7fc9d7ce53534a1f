import type { StoreAnswer } from './forward-proxy.ts';
import { openSealed } from './keys.ts';
import type { InterceptRule, WrappedSecret } from './protocol.ts';
import type { Session } from './session.ts';

/**
 * Opens a secret of the bundle for this one use: its value of this environment, or the only one there is when none is named. Undefined when the bundle has
 * no such value. Throws when it can't be opened: it was made for another window, agent or secret.
 */
export function openSecret(
  session: Session,
  secretId: string,
  environment?: string | null,
): { secret: WrappedSecret; value: string } | undefined {
  const found = session.bundle()?.secrets.filter(({ id }) => id === secretId) ?? [];
  const secret = environment ? found.find((one) => one.environment === environment) : found[0];
  return secret && session.key() ? { secret, value: openedValue(session, secret) } : undefined;
}

/** Throws when it can't be opened. */
export function openedValue(session: Session, secret: WrappedSecret): string {
  const [bundle, key] = [session.bundle(), session.key()];
  if (!bundle || !key) throw new Error('the bundle has expired');
  const about = [bundle.tenant_id, bundle.agent_id, secret.id, secret.version, bundle.window].join('|');
  const cek = openSealed(key, secret.wrap_nonce, secret.wrapped_cek, about);
  try {
    return openSealed(cek, secret.nonce, secret.ciphertext, about).toString();
  } finally {
    cek.fill(0);
    key.fill(0);
  }
}

/** What the secret store would have answered, in its own format, with the value from custody. */
export function storeAnswer(rule: InterceptRule, secret: WrappedSecret, value: string, now = new Date()): StoreAnswer {
  const seconds = Math.floor(now.getTime() / 1000);
  const ref = rule.match_secret_ref || secret.name;
  const json = (body: unknown, contentType = 'application/json'): StoreAnswer => ({ status: 200, contentType, body: JSON.stringify(body) });
  switch (rule.response_format) {
    case 'aws_sm':
      return json(
        {
          ARN: ref,
          Name: ref.replace(/^arn:[^/]*:secret:/, '').replace(/-[A-Za-z0-9]{6}$/, ''),
          VersionId: `sallyport-${String(secret.version).padStart(22, '0')}`,
          SecretString: value,
          VersionStages: ['AWSCURRENT'],
          CreatedDate: seconds,
        },
        'application/x-amz-json-1.1',
      );
    case 'aws_ssm':
      return json(
        {
          Parameter: {
            Name: ref,
            Type: 'SecureString',
            Value: value,
            Version: secret.version,
            ARN: ref,
            LastModifiedDate: seconds,
            DataType: 'text',
          },
        },
        'application/x-amz-json-1.1',
      );
    case 'azure_kv':
      return json({
        value,
        id: `https://${rule.match_host}/secrets/${ref}/${secret.version}`,
        attributes: { enabled: true, created: seconds, updated: seconds, recoveryLevel: 'Recoverable' },
      });
    case 'gcp_sm':
      return json({
        name: `${ref}/versions/${secret.version}`,
        payload: { data: Buffer.from(value).toString('base64'), dataCrc32c: String(crc32c(Buffer.from(value))) },
      });
    case 'plain':
      return { status: 200, contentType: 'text/plain; charset=utf-8', body: value };
  }
}

/** CRC-32C (RFC 3720, appendix B.4), which Google's client checks. */
export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
