import { canonicalJson } from '#server/crypto/canonical-json.ts';
import { heldEnvironment } from '#server/domain/environments/service.ts';
import { assertUsesSecrets } from '#server/domain/policies/service.ts';
import { listReferences, parseTemplate, type Reference } from '#server/domain/templates/grammar.ts';
import { textsIn } from '#server/domain/templates/texts.shared.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { looksLikeCredential } from '#server/kernel/literal-credential.ts';
import { egress } from '#server/platform/egress.ts';
import { checkTargetUrl } from '#server/platform/http-out/target-url.ts';
import type { McpAuth } from './schema.ts';
import type { ServerRow } from './store.ts';

// What a server may be saved with (interface rule 52 §2.1). The first word of a message names the rule.

const refuse = (reason: string, message: string) => new Refusal('validation_error', `${reason}: ${message}`);
const invalidField = (field: string, problem: string) => new Refusal('validation_error', `${field}: ${problem}`);

/**
 * Judges an address that calls will go to, DNS included, so before the transaction. A name that doesn't resolve is a warning. @throws Refusal validation_error
 */
export async function checkAddress(ctx: Ctx, field: string, url: string | null | undefined): Promise<void> {
  if (!url) return;
  const mark = url.indexOf('?');
  const query = mark === -1 ? '' : url.slice(mark + 1);
  const verdict = await checkTargetUrl(mark === -1 ? url : url.slice(0, mark), egress());
  if (!verdict.ok)
    throw ['host', 'own_host', 'not_allowed'].includes(verdict.reason)
      ? refuse('private_address', `${field} ${verdict.message}`)
      : invalidField(field, verdict.message);
  if (verdict.hasVariables || /[^\x21-\x7e]|[#{}]/.test(query))
    throw invalidField(field, 'must not contain templates, spaces or a fragment');
  for (const [name, value] of new URLSearchParams(query)) {
    const kind = looksLikeCredential(name, value);
    if (kind)
      throw refuse('literal_credential', `${field} seems to contain ${kind} in its query. Store it as a secret and send it in a header.`);
  }
  ctx.warnings.push(...verdict.warnings);
}

/** Every header must get its credential from a secret, and hold nothing that looks like one beside it. @throws Refusal validation_error */
export function checkHeaders({ headers = {} }: McpAuth): void {
  for (const [name, value] of Object.entries(headers)) {
    const field = `auth.headers.${name}`;
    const parsed = parseTemplate(value, { context: false });
    if (!parsed.ok) throw invalidField(field, parsed.message);
    const references = listReferences(parsed.template);
    if (references.some((one) => one.kind !== 'secret_id'))
      throw invalidField(field, 'can refer to secrets by their ID only: {{secret_id:<uuid>}}');
    const literal = parsed.template.map((part) => (part.kind === 'literal' ? part.text : '')).join('');
    if (references.length === 0)
      throw refuse(
        'literal_credential',
        `${field} must refer to a secret, such as "Bearer {{secret_id:<uuid>}}": this setting isn't encrypted.`,
      );
    if (!/^[\t\x20-\x7e]*$/.test(literal)) throw invalidField(field, 'must be printable ASCII');
    const kind = looksLikeCredential('value', literal);
    if (kind) throw refuse('literal_credential', `${field} seems to contain ${kind} beside its reference. Store it as a secret.`);
  }
}

/** What fits the type of the server. @throws Refusal validation_error */
export function checkType(
  row: Pick<ServerRow, 'server_type' | 'upstream_url' | 'transport' | 'auth' | 'members' | 'signed_identity'>,
): void {
  const upstream = row.server_type === 'upstream';
  if (upstream && !row.upstream_url) throw invalidField('upstream_url', 'is required for a server of type upstream');
  for (const [field, given] of [
    ['upstream_url', row.upstream_url],
    ['transport', row.transport],
    ['auth', Object.keys(row.auth).length > 0],
    ['signed_identity', row.signed_identity],
  ] as const)
    if (!upstream && given) throw invalidField(field, 'is only for servers of type upstream');
  if (row.server_type !== 'toolset' && row.members.length > 0) throw invalidField('members', 'are only for servers of type toolset');
  if (row.auth.oauth && Object.keys(row.auth.headers ?? {}).some((name) => name.toLowerCase() === 'authorization'))
    throw invalidField('auth.oauth', "can't be combined with an Authorization header: the person's own token is sent there");
}

type Naming = Pick<ServerRow, 'auth' | 'guardrail_webhook_secret_id'>;

/**
 * Whoever names a secret here, or says where the named ones are sent, must be able to read them: else a key that can't could have them sent to a host of its own.
 * @throws Refusal forbidden, role_denied
 */
export const mayUseSecrets = (ctx: Ctx, after: Naming): Promise<void> =>
  assertUsesSecrets(
    ctx,
    secretsOf(after).map(({ id }) => id),
    'an MCP server',
  );

/** Whether a change lets secrets go somewhere else, or lets others go. */
export const movesSecrets = (before: ServerRow, after: ServerRow): boolean =>
  before.upstream_url !== after.upstream_url ||
  before.guardrail_webhook_secret_id !== after.guardrail_webhook_secret_id ||
  canonicalJson(before.auth) !== canonicalJson(after.auth);

/** Secrets, policies, environment and members that a server names must be of this space. @throws Refusal validation_error */
export async function checkReferences(tx: Tx, ctx: Ctx, row: ServerRow): Promise<void> {
  const secrets = secretsOf(row);
  const ids = [...new Set(secrets.map(({ id }) => id))];
  const found =
    ids.length === 0 ? [] : await tx.secrets.findMany({ where: { ...own(ctx), id: { in: ids } }, select: { id: true, secret_type: true } });
  for (const { field, id } of secrets) {
    const secret = found.find((one) => one.id === id);
    if (!secret) throw refuse('foreign_reference', `${field} names a secret that doesn't exist in this space`);
    if (secret.secret_type !== 'string') throw invalidField(field, 'must be a secret of type string');
  }
  const { environment_name } = row.auth;
  if (environment_name !== undefined && !(await heldEnvironment(tx, ctx, environment_name)))
    throw refuse('foreign_reference', "auth.environment_name names an environment that doesn't exist in this space");
  const pii = row.pii_redact_policy_id;
  if (pii && !(await tx.ai_pii_policies.findFirst({ where: { ...own(ctx), id: pii }, select: { id: true } })))
    throw refuse('foreign_reference', "pii_redact_policy_id names a policy that doesn't exist in this space");
  const firewall = row.firewall_policy_id;
  if (firewall && !(await tx.ai_firewall_policies.findFirst({ where: { ...own(ctx), id: firewall }, select: { id: true } })))
    throw refuse('foreign_reference', "firewall_policy_id names a policy that doesn't exist in this space");
  await checkMembers(tx, ctx, row);
}

async function checkMembers(tx: Tx, ctx: Ctx, row: ServerRow): Promise<void> {
  const ids = [...new Set(row.members.map(({ server_id }) => server_id))];
  if (ids.length === 0) return;
  const servers = await tx.mcp_servers.findMany({
    where: { ...own(ctx), id: { in: ids }, gateway_id: row.gateway_id, server_type: { not: 'toolset' }, status: { not: 'archived' } },
    select: { id: true },
  });
  const known = new Set(servers.map(({ id }) => id));
  const missing = row.members.findIndex(({ server_id }) => !known.has(server_id));
  if (missing !== -1)
    throw refuse('foreign_reference', `members.${missing}.server_id must name a server of the same gateway that isn't a toolset`);
}

/** Where a server names secrets. */
export function secretsOf(row: Pick<ServerRow, 'auth' | 'guardrail_webhook_secret_id'>): { field: string; id: string }[] {
  const headers = textsIn(row.auth.headers ?? {}, 'auth.headers').flatMap(({ path: field, text }) => {
    const parsed = parseTemplate(text, { context: false });
    const references: Reference[] = parsed.ok ? listReferences(parsed.template) : [];
    return references.flatMap((one) => (one.kind === 'secret_id' ? [{ field, id: one.id }] : []));
  });
  const client = row.auth.oauth?.client_secret_id;
  const guardrail = row.guardrail_webhook_secret_id;
  return [
    ...headers,
    ...(client ? [{ field: 'auth.oauth.client_secret_id', id: client }] : []),
    ...(guardrail ? [{ field: 'guardrail_webhook_secret_id', id: guardrail }] : []),
  ];
}

/** Answers "who uses this secret" (interface rule 30 §15). */
export async function saveReferences(tx: Tx, ctx: Ctx, row: ServerRow): Promise<void> {
  await forgetReferences(tx, ctx, row.id);
  const named = secretsOf(row);
  if (named.length === 0) return;
  await tx.secret_references.createMany({
    data: named.map(({ field, id }) => ({
      ...own(ctx),
      id: newId(),
      secret_id: id,
      kind: 'mcp_server',
      referrer_id: row.id,
      referrer_env: row.auth.environment_name ?? null,
      field_path: field,
      by: 'id',
    })),
  });
}

export const forgetReferences = (tx: Tx, ctx: Ctx, serverId: string) =>
  tx.secret_references.deleteMany({ where: { ...own(ctx), kind: 'mcp_server', referrer_id: serverId } });
