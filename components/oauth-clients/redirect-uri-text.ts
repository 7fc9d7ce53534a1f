import {
  type ClientType,
  MAX_REDIRECT_URIS,
  matchesRedirectUri,
  redirectUriProblem,
} from '#server/domain/oauth-clients/redirect-uris.shared.ts';

/** One URI per line, as it is typed. */
export const urisOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** The first line that can't be registered, and why. */
export function urisProblem(text: string, type: ClientType): string | undefined {
  const uris = urisOf(text);
  if (uris.length > MAX_REDIRECT_URIS) return `At most ${MAX_REDIRECT_URIS} redirect URIs`;
  for (const uri of uris) {
    const problem = redirectUriProblem(uri, type);
    if (problem) return `${uri}: ${problem}`;
  }
  return undefined;
}

export type TestedUri = { ok: true; by: string } | { ok: false; why: string };

/** Whether a login that asks for this address would be let through, and what decides. */
export function testUri(asked: string, registered: readonly string[], type: ClientType): TestedUri {
  const problem = redirectUriProblem(asked, type);
  if (problem) return { ok: false, why: problem };
  const by = registered.find((uri) => matchesRedirectUri(uri, asked));
  if (by !== undefined) return { ok: true, by };
  return {
    ok: false,
    why: 'It isn’t equal to a registered redirect URI. Host, path and query must be the same; only the port of a loopback address is free.',
  };
}
