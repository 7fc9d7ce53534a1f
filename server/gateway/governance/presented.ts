import type { IncomingMessage } from 'node:http';

/** A head, as far as credentials are in it; `names` are lower-cased, one per pair of raw headers. */
type Head = { readonly authorization: string | null; readonly names: readonly string[]; readonly req: Pick<IncomingMessage, 'rawHeaders'> };

/** A credential as it came, before anything is known of it (interface rule 51 §2). */
export type Presented = {
  /** '' for one that is named and empty. */
  readonly text: string;
  readonly scheme: 'bearer' | 'dpop' | 'basic' | 'header' | 'other';
};

/** `conflict`: two different tokens came. */
export type Presentation = Presented | 'none' | 'conflict';

/** Where SDKs put their key, in the order in which they are looked at. `authorization` comes before them. */
const KEY_HEADERS = ['x-api-key', 'api-key', 'x-goog-api-key'] as const;
export const CREDENTIAL_HEADERS: ReadonlySet<string> = new Set(['authorization', ...KEY_HEADERS, 'dpop']);

/** The credential of an AI call: the first that looks like a token, else the first at all. Needs the head to be read. */
export function presentedToAi(head: Head): Presentation {
  const all: Presented[] = [];
  const { authorization, names, req } = head;
  if (authorization !== null) all.push(...ofAuthorization(authorization, true));
  for (const wanted of KEY_HEADERS)
    for (let i = 0; i < names.length; i++)
      if (names[i] === wanted) all.push({ text: (req.rawHeaders[i * 2 + 1] as string).trim(), scheme: 'header' });
  if (all.length === 0) return 'none';
  const tokens = all.filter(({ text, scheme }) => scheme !== 'other' && text.startsWith('svcp_'));
  const first = tokens[0] ?? (all[0] as Presented);
  return tokens.some(({ text }) => text !== first.text) ? 'conflict' : first;
}

/** The credential of an MCP call: of `Authorization`, and nowhere else (interface rule 52 §4). */
export function presentedToMcp({ authorization }: Head): Presentation {
  return authorization === null ? 'none' : (ofAuthorization(authorization, false)[0] ?? 'none');
}

function ofAuthorization(value: string, basic: boolean): Presented[] {
  const space = value.indexOf(' ');
  const scheme = (space < 0 ? value : value.slice(0, space)).toLowerCase();
  const text = space < 0 ? '' : value.slice(space + 1).trim();
  if (scheme === 'bearer' || scheme === 'dpop') return [{ text, scheme }];
  // A signature that an SDK of Bedrock made with whatever it had: the call is signed anew.
  if (scheme.startsWith('aws4-')) return [];
  if (basic && scheme === 'basic') {
    const pair = Buffer.from(text, 'base64').toString('latin1');
    return [{ text: pair.slice(pair.indexOf(':') + 1), scheme: 'basic' }];
  }
  return [{ text: value.trim(), scheme: 'other' }];
}
