/** Prefixes of our tokens and of the keys people paste by mistake most often. */
const CREDENTIAL =
  /^(?:(?:tk|svc\w?|ses|stp|sck|shc|kct|wkt|scim|whsec|pk|rk|gh[opsur]|github_pat|glpat|npm|pypi)[_-]|sk[_-]|AKE[A-Z2-7]|AKIA|ASIA|AIza|xox[abeoprs]-|eyJ|SG\.)/;
/** Long, without a space, with figures and letters in no order a name has; an id is no credential. */
const RANDOM = /^(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9+/_=-]{28,}$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Shorter than this nothing of a prefix says that a secret follows: `sk_` may begin a name. */
const LEAST = 12;
export const SAFE_LENGTH = 8;

export type QueryText = {
  /** What the field keeps: of a credential only its beginning. */
  kept: string;
  /** What may be sent to the server: of an address only its host, since paths and queries carry tokens too. */
  sent: string;
  credential: boolean;
};

/** What of a typed or pasted text stays and what may leave the browser (interface rule 70 §10). */
export function queryText(typed: string): QueryText {
  const secret = typed.split(/[\s"'`,;:=<>()]+/).find(looksLikeCredential);
  if (secret !== undefined) {
    const kept = secret.slice(0, SAFE_LENGTH);
    return { kept, sent: kept, credential: true };
  }
  const host = /^\s*https?:\/\/(?:[^/?#@\s]*@)?([^/?#:\s]+)/i.exec(typed)?.[1];
  return { kept: typed, sent: (host ?? typed.trim()).slice(0, 200), credential: false };
}

const looksLikeCredential = (word: string) =>
  (CREDENTIAL.test(word) && word.length >= LEAST) ||
  word.startsWith('-----BEGIN') ||
  (RANDOM.test(word) && !UUID.test(word.replace(/^req-?/i, '')));
