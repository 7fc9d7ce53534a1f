import { openDeploymentValue, sealDeploymentValue } from '#server/crypto/deployment-value.ts';
import { rootKeys } from '#server/platform/keys.ts';

type Body = { text: string; html: string | null };
type StoredBody = Body & { id: string; sealed: Uint8Array | null; root_key_id: string | null };

/** The name that binds a sealed body to its row. */
export const mailName = (id: string) => `mail:${id}`;

/** The columns of a mail whose text signs its reader in: a copy of the database must not. */
export function sealBody(id: string, body: Body) {
  const plaintext = Buffer.from(JSON.stringify(body), 'utf8');
  const sealed = sealDeploymentValue(rootKeys().current, mailName(id), plaintext);
  plaintext.fill(0);
  return { text: '', html: null, ...sealed };
}

/** The mail with its text. @throws DecryptFailed when its root key is gone */
export function openMail<M extends StoredBody>(mail: M): M {
  const { sealed, root_key_id } = mail;
  if (!sealed || root_key_id === null) return mail;
  const plaintext = openDeploymentValue(rootKeys(), mailName(mail.id), { sealed, root_key_id });
  const { text, html } = JSON.parse(plaintext.toString('utf8')) as Body;
  plaintext.fill(0);
  return { ...mail, text, html };
}
