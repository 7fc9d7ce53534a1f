import { flattenedVerify } from 'jose';
import { jsonObject } from '../compact-jws.ts';
import { type AccountKey, accountKey, thumbprintOf } from './account-key.ts';
import { type Flattened, flattened } from './jws.ts';
import { JwsRefused } from './refused.ts';

// External account binding (RFC 8555 §7.3.4): proof, by a key that was handed out beforehand, of whose the new account is.

/** A binding whose form is right; its MAC is for `verifyBinding`. */
export type Binding = { jws: Flattened; kid: string };

/** @throws JwsRefused malformed, bad_algorithm, url */
export function parseBinding(value: unknown, url: string): Binding {
  const jws = flattened(value);
  const { alg, kid, url: named, nonce, jwk } = jws.header;
  if (alg !== 'HS256') throw new JwsRefused('bad_algorithm', 'The external account binding must be made with HS256.');
  if (nonce !== undefined || jwk !== undefined || 'crit' in jws.header || 'b64' in jws.header)
    throw new JwsRefused('malformed', 'The header of the external account binding must have alg, kid and url alone.');
  if (typeof kid !== 'string' || kid === '' || kid.length > 256)
    throw new JwsRefused('malformed', 'The external account binding must name its key in kid.');
  if (named !== url) throw new JwsRefused('url', 'The url of the external account binding is not the URL of this request.');
  return { jws, kid };
}

/** Checks the MAC, and that what it covers is the key of the account. @throws JwsRefused signature, malformed */
export async function verifyBinding({ jws }: Binding, hmacKey: Uint8Array, account: AccountKey): Promise<void> {
  await flattenedVerify({ protected: jws.protected, payload: jws.payload, signature: jws.signature }, hmacKey, {
    algorithms: ['HS256'],
  }).catch(() => {
    throw new JwsRefused('signature', REFUSED);
  });
  const bound = accountKey(jsonObject(jws.content));
  if ((await thumbprintOf(bound)) !== (await thumbprintOf(account)))
    throw new JwsRefused('malformed', 'The payload of the external account binding is not the key of the account.');
}

/** Of an unknown key, a used one, and a wrong MAC: which of them it was is nobody's business. */
export const REFUSED = 'The external account binding is not valid. Check the key ID and the HMAC key, and that they were not used before.';
