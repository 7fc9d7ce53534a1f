import { assertMayEnter, type WorkspaceRow } from '#server/domain/people/service.ts';
import { settingsOf } from '#server/domain/tenants/schema.ts';
import { memberCapabilities } from '#server/kernel/capabilities.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import type { SignedInCtx } from '#server/kernel/person.ts';
import { SCOPE_CATALOGUE, scopesForPerson } from '#server/kernel/scopes.ts';

/** What a login asks for, and of which client. */
export type Wanted = {
  scopes: readonly string[];
  scope_named: boolean;
  /** Whether the client asks for a login that is confirmed with a second factor. */
  confirm: boolean;
  client: { allowed_scopes: readonly string[]; step_up_scopes: readonly string[] };
};

/** What a person can grant of it in one workspace (interface rule 21 §7, 24 §5). */
export type Offer = {
  scopes: string[];
  /** Asked for and beyond the person's role. */
  missing: string[];
  /** Of `scopes`: granted only with a second factor. */
  step_up: string[];
  /** Whether the grant takes a second factor, however fresh the session is. */
  factor: boolean;
  /** Nothing is left, or the client named a scope that the role doesn't have: a login would fail later, so it is denied now. */
  denied: boolean;
};

/** The client's scopes may have been narrowed since it asked: only those it has now count. */
export function offerOf(
  { scopes, scope_named, confirm, client }: Wanted,
  { role, reveal_secrets }: Pick<WorkspaceRow, 'role' | 'reveal_secrets'>,
): Offer {
  const allowed = new Set(client.allowed_scopes);
  const wanted = scope_named
    ? scopes.filter((scope) => allowed.has(scope))
    : client.allowed_scopes.filter((scope) => !client.step_up_scopes.includes(scope) && isForPeople(scope));
  const held = memberCapabilities(role, { reveal_secrets });
  const granted = scopesForPerson(wanted, role, (capability) => held.has(capability));
  const missing = wanted.filter((scope) => !granted.includes(scope));
  const step_up = granted.filter((scope) => client.step_up_scopes.includes(scope)).sort();
  return {
    scopes: [...granted].sort(),
    missing: missing.sort(),
    step_up,
    factor: confirm || step_up.length > 0,
    denied: granted.length === 0 || (scope_named && missing.length > 0),
  };
}

const isForPeople = (scope: string) => {
  const people = SCOPE_CATALOGUE[scope]?.people;
  return people === 'role' || people === 'admin';
};

/**
 * Whether the person's session may log in an application to the workspace: what the dashboard asks of everybody who enters it, and the workspace's own rule
 * about the command line. @throws Refusal session_scope_mismatch, forbidden, sso_required, mfa_required, role_denied
 */
export async function assertMayLogIn(
  tx: Db | Tx,
  ctx: Pick<SignedInCtx, 'session' | 'user' | 'ip'>,
  workspace: WorkspaceRow,
  isCli: boolean,
): Promise<void> {
  await assertMayEnter(tx, workspace, ctx);
  if (!isCli) return;
  const tenant = await tx.tenants.findUniqueOrThrow({ where: { id: workspace.id }, select: { settings: true } });
  if (!settingsOf(tenant.settings).cli_login_enabled)
    throw new Refusal(
      'role_denied',
      `${workspace.name} doesn't allow logins of service-cli. Ask an Owner or Admin to turn them on in Settings.`,
    );
}
