import { Refusal } from './errors.ts';

/** Members that hold a credential which would work for whoever has it (interface rule 31 §7.2), without case and separators. */
const STATIC = new Set(
  [
    'access_key_id',
    'secret_access_key',
    'aws_access_key_id',
    'aws_secret_access_key',
    'session_token',
    'aws_session_token',
    'private_key',
    'private_key_id',
    'service_account_json',
    'service_account_key',
    'credentials_json',
    'client_secret',
    'password',
    'certificate',
  ].map(plain),
);

/**
 * Only federated grants are accepted: a stored key is what customers come here to get rid of. Looks at member names at any depth, and for key material in
 * texts. @throws Refusal static_credentials_rejected naming the member, never its value
 */
export function refuseStaticCredentials(value: unknown, path: readonly string[] = []): void {
  if (typeof value === 'string') {
    if (/-----BEGIN [A-Z ]*PRIVATE KEY-----|"private_key"\s*:/.test(value)) throw refused(path);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const at = [...path, name];
    if (STATIC.has(plain(name))) throw refused(at);
    refuseStaticCredentials(member, at);
  }
}

const refused = (path: readonly string[]) =>
  new Refusal(
    'static_credentials_rejected',
    `${path.join('.').slice(0, 200)}: static credentials are never accepted. Grant access by federation instead; the documentation shows how.`,
  );

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}
