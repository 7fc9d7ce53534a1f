import { openedSecret, SecretUnusable } from '#server/custody/mcp/secrets.ts';
import { assertUsesSecrets, secretsScopeMissing } from '#server/domain/policies/service.ts';
import { listReferences, parseTemplate, type Reference } from '#server/domain/templates/grammar.ts';
import { filledTexts, mapTexts, textsIn } from '#server/domain/templates/texts.shared.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { ownQuery, ownRows } from '#server/platform/own-rows.ts';
import type { AuthType } from './options.shared.ts';
import type { AuthConfig, Presented } from './sealing.ts';

// auth_config and request_headers may name secrets as {{secret:NAME}} and {{secret_id:UUID}}. They are stored as they were written and put in at each
// attempt, for the host that the attempt goes to.

/** What an auth_type takes. @throws Refusal validation_error */
export function checkAuth(type: AuthType, config: AuthConfig & { secret?: string }): AuthConfig {
  const { members, needed } = SHAPES[type];
  for (const name of Object.keys(config))
    if (!members.includes(name)) throw invalid(`auth_config.${name}`, `isn't a member for auth_type ${type}`);
  for (const name of needed)
    if (!config[name as keyof AuthConfig]) throw invalid(`auth_config.${name}`, `is required for auth_type ${type}`);
  const { secret: _, ...stored } = config;
  return stored;
}

const shape = (needed: readonly string[], more: readonly string[] = []) => ({ needed, members: [...needed, ...more] });
const SHAPES: Record<AuthType, { needed: readonly string[]; members: readonly string[] }> = {
  none: shape([]),
  hmac: shape([], ['secret']),
  basic: shape(['username', 'password']),
  bearer: shape(['token']),
  header: shape(['name', 'value']),
};
export const needsConfig = (type: AuthType): boolean => SHAPES[type].needed.length > 0;

type Named = { field: string; reference: Extract<Reference, { kind: 'secret' | 'secret_id' }> };

/** Every secret that is named, with the field it is named in. @throws Refusal validation_error for other placeholders and malformed ones */
export function secretsNamed({ auth_config, request_headers }: Presented): Named[] {
  return textsIn({ auth_config, request_headers }).flatMap(({ path: field, text }) => {
    const parsed = parseTemplate(text, { context: false, most: MOST_PLACEHOLDERS });
    if (!parsed.ok) throw invalid(field, parsed.message);
    return listReferences(parsed.template).map((reference) => {
      if (reference.kind !== 'secret' && reference.kind !== 'secret_id') throw invalid(field, 'can only hold placeholders of secrets');
      return { field, reference };
    });
  });
}
const MOST_PLACEHOLDERS = 20;

/** The members that hold text of their own instead of a placeholder. User names and names of headers are no credentials. */
export function literalsOf({ auth_config, request_headers }: Presented): ('auth_config' | 'request_headers')[] {
  const { username: _, name: __, ...credentials } = auth_config;
  const holdsText = (texts: object) =>
    Object.values(texts).some((text: string) => {
      const parsed = parseTemplate(text, { context: false });
      return !parsed.ok || listReferences(parsed.template).length === 0;
    });
  return [
    ...(holdsText(credentials) ? (['auth_config'] as const) : []),
    ...(holdsText(request_headers) ? (['request_headers'] as const) : []),
  ];
}

/**
 * Whoever names a secret, or says where a named one is sent, must be able to read it: else a key that can't could have it sent to a host of its own.
 * @returns the secrets, by the place they are named at. @throws Refusal forbidden, role_denied, validation_error
 */
export async function mayUseSecrets(
  tx: Tx,
  ctx: Ctx,
  presented: Presented,
): Promise<{ field: string; secret_id: string; by: 'id' | 'name' }[]> {
  const named = secretsNamed(presented);
  if (named.length === 0) return [];
  // Before anything is looked up: who may not use secrets doesn't learn here which exist.
  if (!ctx.actor.capabilities.has('secret:read')) throw secretsScopeMissing(ctx, 'a webhook');
  const found = await tx.secrets.findMany({
    where: {
      ...own(ctx),
      OR: [
        { id: { in: named.flatMap(({ reference }) => (reference.kind === 'secret_id' ? [reference.id] : [])) } },
        { shortcode_name: { in: named.flatMap(({ reference }) => (reference.kind === 'secret' ? [reference.name] : [])) } },
      ],
    },
    select: { id: true, shortcode_name: true, secret_type: true },
  });
  const uses = named.map(({ field, reference }) => {
    const secret = found.find((one) => (reference.kind === 'secret_id' ? one.id === reference.id : one.shortcode_name === reference.name));
    if (!secret) throw invalid(field, "names a secret that doesn't exist in this space");
    if (secret.secret_type !== 'string') throw invalid(field, 'must name a secret of type string');
    return { field, secret_id: secret.id, by: reference.kind === 'secret' ? ('name' as const) : ('id' as const) };
  });
  await assertUsesSecrets(
    ctx,
    uses.map(({ secret_id }) => secret_id),
    'a webhook',
  );
  return uses;
}

/** Answers "who uses this secret" (interface rule 30 §15). */
export async function saveReferences(tx: Tx, ctx: Ctx, webhookId: string, uses: Awaited<ReturnType<typeof mayUseSecrets>>): Promise<void> {
  await forgetReferences(tx, ctx, webhookId);
  if (uses.length === 0) return;
  await tx.secret_references.createMany({
    data: uses.map(({ field, secret_id, by }) => ({
      ...own(ctx),
      id: newId(),
      secret_id,
      kind: 'webhook',
      referrer_id: webhookId,
      referrer_env: null,
      field_path: field,
      by,
    })),
  });
}

export const forgetReferences = (tx: Tx, ctx: Ctx, webhookId: string) =>
  tx.secret_references.deleteMany({ where: { ...own(ctx), kind: 'webhook', referrer_id: webhookId } });

type Space = Pick<Ctx, 'tenant_id' | 'sandbox'>;

/**
 * The headers of an attempt that authenticate it and that the webhook adds, with the values of the secrets they name. @throws SecretUnusable when one
 * can't be sent to this URL now
 */
export async function presentedHeaders(
  space: Space,
  type: AuthType,
  presented: Presented,
  url: string,
  now: Date,
): Promise<Record<string, string>> {
  const { auth_config, request_headers } = presented;
  const values = await filledTexts({ auth_config, request_headers }, (text) => filledText(space, text, url, now));
  const filled = mapTexts({ auth_config, request_headers }, ({ text }) => values.get(text)) as typeof presented;
  return { ...authHeader(type, filled.auth_config), ...filled.request_headers };
}

function authHeader(
  type: AuthType,
  { username = '', password = '', token = '', name = '', value = '' }: AuthConfig,
): Record<string, string> {
  switch (type) {
    case 'basic':
      return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
    case 'bearer':
      return { authorization: `Bearer ${token}` };
    case 'header':
      return { [name]: value };
    default:
      return {};
  }
}

async function filledText(space: Space, text: string, url: string, now: Date): Promise<string> {
  const parsed = parseTemplate(text, { context: false });
  if (!parsed.ok) return text;
  const parts = await Promise.all(
    parsed.template.map(async (part) => {
      if (part.kind === 'literal') return part.text;
      if (part.kind !== 'secret' && part.kind !== 'secret_id') return '';
      const id = part.kind === 'secret_id' ? part.id : await idOf(space, part.name);
      const value = (await openedSecret(space, { id, environment: null, url, now })).reveal();
      if (/[^\t\x20-\x7e]/.test(value)) throw new SecretUnusable('not_injectable', 'The secret has characters that no header can carry.');
      return value;
    }),
  );
  return parts.join('');
}

async function idOf(space: Space, name: string): Promise<string> {
  const [row] = await ownRows<{ id: string }>(space, BY_NAME, name);
  if (!row) throw new SecretUnusable('missing', `The secret ${name} doesn't exist.`);
  return row.id;
}

const BY_NAME = ownQuery('webhook-secret-by-name', 'select id from secrets where tenant_id = $1 and sandbox = $2 and shortcode_name = $3');
