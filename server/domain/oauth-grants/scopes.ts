import { PERSON_FORBIDDEN_SCOPES, unknownScopes } from '#server/kernel/scopes.ts';
import type { OAuthClient } from './client.ts';

export type ScopeAnswer = { scopes: string[] } | { problem: string };

/** Named only together with an MCP server as `resource`: such a token is worth nothing elsewhere (interface rule 21 §12). */
const MCP_SCOPE = 'mcp:tools';

/** The scopes of a `scope` parameter, once each; null when it was not sent. */
export function parseScopes(scope: string | undefined): string[] | null {
  const named = scope?.split(' ').filter((name) => name !== '');
  return named && named.length > 0 ? [...new Set(named)] : null;
}

/**
 * What a token without a person may carry (interface rule 21 §4.1): everything the client may have but what needs a second factor, or exactly what was
 * asked for. Never less than asked without saying so. `allowed` is the client's own list, or that of a trust binding within it.
 */
export function machineScopes(
  asked: readonly string[] | null,
  { allowed_scopes, step_up_scopes }: Pick<OAuthClient, 'allowed_scopes' | 'step_up_scopes'>,
  allowed: readonly string[] = allowed_scopes,
): ScopeAnswer {
  const within = allowed.filter((scope) => allowed_scopes.includes(scope));
  if (asked === null) return { scopes: within.filter((scope) => scope !== MCP_SCOPE && !step_up_scopes.includes(scope)).sort() };
  const problem =
    unknownOrRefused(asked, within) ??
    asked
      .filter((scope) => step_up_scopes.includes(scope))
      .map(
        (scope) => `The scope ${scope} needs a person who confirms it with a second factor. Use the authorization code or device grant.`,
      )[0];
  return problem === undefined ? { scopes: [...asked].sort() } : { problem };
}

/** What a refresh may ask for: a subset of the grant. Absent: all of it. */
export function narrowedScopes(asked: readonly string[] | null, granted: readonly string[]): ScopeAnswer {
  if (asked === null) return { scopes: [...granted].sort() };
  const problem = unknownOrRefused(asked, granted);
  return problem === undefined ? { scopes: [...asked].sort() } : { problem };
}

/** Without what no token of a person carries (interface rule 24 §5). */
export const personScopes = (scopes: readonly string[]): string[] => scopes.filter((scope) => !PERSON_FORBIDDEN_SCOPES.includes(scope));

/** The first scope that is unknown or not allowed, in the order of asking. */
export function unknownOrRefused(asked: readonly string[], allowed: readonly string[]): string | undefined {
  const unknown = new Set(unknownScopes(asked));
  for (const scope of asked) {
    if (unknown.has(scope)) return `Unknown scope ${shown(scope)}. scopes_supported of the server metadata lists all scopes.`;
    if (scope === MCP_SCOPE) return `The scope ${scope} needs a resource parameter that names an MCP server.`;
    if (!allowed.includes(scope)) return `The scope ${scope} is not allowed for this client.`;
  }
  return undefined;
}

/** RFC 6749 §5.2: a description holds printable ASCII without quotes and backslashes. */
const shown = (scope: string): string => scope.slice(0, 80).replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?');
