import { coveredScopes } from '#server/domain/api-keys/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { invalid } from '#server/kernel/errors.ts';
import { scopesForScim } from '#server/kernel/scopes.ts';
import { type GrantType, isInteractive, PUBLIC_GRANTS } from './grants.shared.ts';
import { type ClientType, canonicalRedirectUri, redirectUriProblem } from './redirect-uris.shared.ts';

export type ClientSettings = {
  type: ClientType;
  grant_types: readonly GrantType[];
  allowed_scopes: readonly string[];
  step_up_scopes: readonly string[];
  redirect_uris: readonly string[];
};

/** What has to hold among the settings of one client, whoever writes them (interface rule 21 §13). @throws Refusal validation_error */
export function assertConsistent({ type, grant_types, allowed_scopes, step_up_scopes, redirect_uris }: ClientSettings): void {
  const forbidden = type === 'public' && grant_types.find((grant) => !PUBLIC_GRANTS.includes(grant));
  if (forbidden) throw invalid('grant_types', `a public client can't use ${forbidden}: it has no secret`);
  if (grant_types.includes('authorization_code') && redirect_uris.length === 0)
    throw invalid('redirect_uris', 'authorization_code requires at least one redirect URI');
  const extra = step_up_scopes.find((scope) => !allowed_scopes.includes(scope));
  if (extra) throw invalid('step_up_scopes', `${extra} is not among allowed_scopes`);
}

/** Redirect URIs in their stored form, once each. @throws Refusal validation_error naming the first that can't be registered */
export function registrable(uris: readonly string[], type: ClientType): string[] {
  return [
    ...new Set(
      uris.map((uri, index) => {
        const problem = redirectUriProblem(uri, type);
        if (problem) throw invalid(`redirect_uris.${index}`, problem);
        return canonicalRedirectUri(uri) as string;
      }),
    ),
  ];
}

/**
 * The scopes once each, sorted. Nobody allows a client more than they hold themselves; SCIM, which holds none, allows what the register lets it.
 * @throws Refusal privilege_escalation, validation_error
 */
export async function grantable(ctx: Ctx, scopes: readonly string[]): Promise<string[]> {
  if (ctx.actor.type !== 'scim') return coveredScopes(ctx, scopes, 'client');
  const refused = scopes.find((scope) => scopesForScim([scope]).length === 0);
  if (refused !== undefined) throw invalid('allowed_scopes', `SCIM can't allow a client the scope ${refused}`);
  return sorted(scopes);
}

export const sorted = (values: readonly string[]): string[] => [...new Set(values)].sort();

/** What doesn't stop a change but probably isn't meant. */
export function adviceOn({ grant_types, allowed_scopes }: Pick<ClientSettings, 'grant_types' | 'allowed_scopes'>): string | undefined {
  const advice = [
    ...(allowed_scopes.length === 0
      ? ['The client has no allowed scopes, so its tokens are refused everywhere. Add scopes to allowed_scopes.']
      : []),
    ...(grant_types.includes('refresh_token') && !isInteractive(grant_types)
      ? ['refresh_token has no effect without authorization_code or the device flow.']
      : []),
  ];
  return advice.length === 0 ? undefined : advice.join(' ');
}
