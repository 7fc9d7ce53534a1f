import { domainHolders } from '#server/domain/domains/service.ts';
import { type PlanName, planFeature } from '#server/domain/plans/schema.ts';
import type { MemberRole } from '#server/kernel/capabilities.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Db, Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import type { LiveSession } from '#server/kernel/person.ts';
import { env } from '#server/platform/env.ts';

type Rule = { id: string; slug: string; name: string; plan: Ctx['plan']; role: MemberRole; sso_required: boolean };
/** How somebody signs in: the first factor, and whether a second one is proven or will be asked for. */
type SigningIn = { method: string; second_factor: boolean; scope_tenant_id: string | null };

/**
 * A workspace may require that members with an address of its domains sign in through its identity provider (interface rule 22 §9). Its Owners keep password
 * and second factor, or a passkey, for the day the provider is down; everybody may still sign in to another workspace alone. Asked once a person has proven
 * who they are, so that it tells a stranger nothing. @throws Refusal sso_required
 */
export async function assertSsoAtSignIn(tx: Tx, email: string, workspaces: readonly Rule[], how: SigningIn): Promise<void> {
  if (how.method === 'sso' || how.method === 'signup') return;
  const rule = await ruleFor(tx, email, workspaces);
  if (!rule || (how.scope_tenant_id !== null && how.scope_tenant_id !== rule.id)) return;
  const breakGlass = how.method === 'passkey' || (how.method === 'password' && how.second_factor);
  if (rule.role === 'owner' && breakGlass) return;
  throw ssoRequired(rule, rule.role === 'owner' ? ' As an Owner, you can also sign in with your password and a second factor.' : '');
}

/** The same for a session that began another way: before the rule, before the person joined, or for other workspaces. @throws Refusal sso_required */
export async function assertSsoInSession(
  db: Db | Tx,
  email: string,
  workspace: Rule,
  session: Pick<LiveSession, 'auth_methods'>,
): Promise<void> {
  if (
    !workspace.sso_required ||
    workspace.role === 'owner' ||
    session.auth_methods.some((method) => method === 'sso' || method === 'operator')
  )
    return;
  if (await ruleFor(db, email, [workspace])) throw ssoRequired(workspace, '');
}

async function ruleFor(db: Db | Tx, email: string, workspaces: readonly Rule[]): Promise<Rule | undefined> {
  const required = workspaces.filter(({ sso_required, plan }) => sso_required && planFeature(plan as PlanName, 'sso'));
  if (required.length === 0) return undefined;
  const holder = (await domainHolders(db, email)).find(({ sso_required }) => sso_required);
  return required.find(({ id }) => id === holder?.tenant_id);
}

const ssoRequired = ({ name, slug }: Rule, more: string) =>
  new Refusal('sso_required', `${name} requires you to sign in with single sign-on.${more}`, {
    extra: { sso_url: `${env.PUBLIC_ADMIN_URL}/auth/sso/start?tenant=${slug}` },
  });
