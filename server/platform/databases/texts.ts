const LONGEST = 500;
/** Servers quote statements and cut them off, so parts of a password count from here on. */
const PART = 8;

/** What must not be told. Passwords are found in parts too; names only as a whole. */
export type Concealed = { names: Set<string>; passwords: Set<string> };

export const concealedOf = ({ username, password }: { username: string; password: string }): Concealed => ({
  names: new Set([username]),
  passwords: new Set([password]),
});

/** The text of a server as one short line without what is concealed. */
export function fitText(text: string, { names, passwords }: Concealed): string {
  // A server may send megabytes; what is looked through is bounded, and cut before the end of what may be a password.
  let line = text.slice(0, 8 * LONGEST).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ');
  line = withoutParts(line, [...passwords].flatMap(spellings));
  for (const name of [...names].sort((a, b) => b.length - a.length)) line = withoutName(line, name);
  return line.trim().slice(0, LONGEST).trim();
}

const STRUCK = '***';

/** As it is, as in URLs, and as in SQL. */
const spellings = (password: string): string[] => {
  const url = encodeURIComponent(password.toWellFormed());
  const strict = url.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  return [...new Set([password, url, strict, password.replaceAll("'", "''"), password.replaceAll('\\', '\\\\')])];
};

/** Looks for all spellings before anything is struck out: one may hold what another has only in parts. */
function withoutParts(text: string, secrets: readonly string[]): string {
  const struck = new Uint8Array(text.length);
  for (const secret of secrets) {
    const part = Math.min(PART, secret.length);
    if (part === 0) continue;
    for (let at = 0; at + part <= text.length; at++) if (secret.includes(text.slice(at, at + part))) struck.fill(1, at, at + part);
  }
  let out = '';
  for (let at = 0; at < text.length; at++) {
    if (struck[at] === 0) out += text[at];
    else if (at === 0 || struck[at - 1] === 0) out += STRUCK;
  }
  return out;
}

/** Not inside of a longer word: a user named `sa` must not strike out half of `sales`. */
function withoutName(text: string, name: string): string {
  let out = '';
  let copied = 0;
  if (name === '') return text;
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const end = at + name.length;
    if (at < copied || isWord(text[at - 1]) || isWord(text[end])) continue;
    out += text.slice(copied, at) + STRUCK;
    copied = end;
  }
  return out + text.slice(copied);
}

const isWord = (char: string | undefined) => char !== undefined && /[\p{L}\p{N}_]/u.test(char);
