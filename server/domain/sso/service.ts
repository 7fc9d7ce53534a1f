import type { z } from 'zod';
import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { certificateFacts, certificatePem, serviceMetadata } from '#server/crypto/saml.ts';
import { confirmMove } from '#server/domain/reveals/service.ts';
import { changesOf } from '#server/kernel/changes.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { read, type Tx } from '#server/kernel/database.ts';
import { invalid, notFound, Refusal } from '#server/kernel/errors.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { newId } from '#server/kernel/ids.ts';
import { originOf } from '#server/kernel/moves.ts';
import { type AuditEntry, audited, mutate } from '#server/kernel/mutate.ts';
import { holdLock } from '#server/kernel/named-lock.ts';
import { egress } from '#server/platform/egress.ts';
import { parseTarget } from '#server/platform/http-out/target-url.ts';
import { keyring } from '#server/platform/keys.ts';
import { redirectUriOf, serviceOf } from './addresses.ts';
import { providerOf } from './saml-reading.ts';
import type { CreateSsoConnection, SsoKind, UpdateSsoConnection } from './schema.ts';
import { isSsoRequired } from './settings.ts';

export { getSsoSettings, updateSsoSettings } from './settings.ts';

const MOST_CONNECTIONS = 5;

type Row = Awaited<ReturnType<typeof connectionById>>;
type Settings = Omit<z.output<typeof CreateSsoConnection>, 'kind'>;

/** All connections of the workspace by age; they are the same in both spaces. */
export async function listConnections(ctx: Ctx) {
  const rows = await read(ctx, (tx) =>
    tx.sso_connections.findMany({ where: { tenant_id: ctx.tenant_id }, orderBy: { created_at: 'asc' } }),
  );
  return rows.map(view);
}

/** @throws Refusal not_found */
export const getConnection = (ctx: Ctx, input: { id: string }) => read(ctx, async (tx) => view(await connectionById(tx, ctx, input.id)));

/** @throws Refusal validation_error, conflict for one too many, tenant_sealed */
export async function createConnection(ctx: Ctx, { kind, ...input }: z.output<typeof CreateSsoConnection>) {
  const id = newId();
  const columns = await columnsOf(ctx.tenant_id, kind, input);
  for (const field of kind === 'oidc' ? (['issuer', 'client_id'] as const) : (['issuer', 'sso_url', 'certificates'] as const))
    if (columns[field] === undefined) throw invalid(kind === 'saml' && field === 'issuer' ? 'entity_id' : field, REQUIRED[kind]);
  const sealed = input.client_secret ? await sealSecret(ctx, id, input.client_secret) : {};
  return mutate(ctx, async (tx) => {
    await inTurn(tx, ctx);
    if ((await tx.sso_connections.count({ where: { tenant_id: ctx.tenant_id } })) >= MOST_CONNECTIONS)
      throw new Refusal('conflict', `A workspace can have at most ${MOST_CONNECTIONS} connections. Delete one first.`);
    const row = await tx.sso_connections.create({
      data: {
        ...sealed,
        ...columns,
        issuer: columns.issuer ?? '',
        name: input.name,
        id,
        kind,
        tenant_id: ctx.tenant_id,
        created_at: ctx.now,
        updated_at: ctx.now,
      },
    });
    return audited(view(row), { action: 'create', ...entryOf(row), details: { kind, issuer: row.issuer } });
  });
}

const REQUIRED = {
  oidc: 'is required for OpenID Connect',
  saml: 'is required for SAML. Send metadata_xml, or entity_id, sso_url and certificates',
} as const;

/**
 * A change of where identities come from asks for a new test. The client secret never follows to another issuer, unless it is given again; the confirmation
 * that the operation asks for anyway counts as that of its move. @throws Refusal not_found, validation_error, conflict, tenant_sealed, what `confirmMove` throws
 */
export async function updateConnection(ctx: Ctx, { id, ...input }: z.output<typeof UpdateSsoConnection>) {
  const { kind } = await read(ctx, (tx) => connectionById(tx, ctx, id));
  const columns = await columnsOf(ctx.tenant_id, kind as SsoKind, input);
  const sealed = input.client_secret ? await sealSecret(ctx, id, input.client_secret) : input.client_secret === null ? NO_SECRET : {};
  return mutate(ctx, async (tx) => {
    const before = await lockedConnection(tx, ctx, id);
    if (input.active === false) await refuseWhileNeeded(tx, ctx, before);
    const move = await confirmMove(tx, ctx, {
      moved: originOf(input.issuer ?? before.issuer) === originOf(before.issuer) ? [] : ['issuer'],
      kept: before.value_ct && input.client_secret === undefined ? ['client_secret'] : [],
      again: ['client_secret'],
      reveal: { class: 'B', policy: 'secret:reveal' },
      about: [before],
      route: 'sso.update',
    });
    const source = (['issuer', 'client_id', 'sso_url'] as const).some(
      (field) => columns[field] !== undefined && columns[field] !== before[field],
    );
    const after = await tx.sso_connections.update({
      where: { id: before.id },
      data: { ...columns, ...sealed, ...(source ? { tested_at: null } : {}), updated_at: ctx.now },
    });
    if (source && before.active) await refuseWhileNeeded(tx, ctx, before);
    const fields = Object.keys(columns).filter((field) => field !== 'certificates');
    return audited(view(after), {
      action: 'update',
      ...entryOf(after),
      details: move,
      changes: [
        ...changesOf(before, after, fields),
        ...(input.client_secret === undefined ? [] : [{ field: 'client_secret', changed: true as const }]),
        ...changesOf({ certificates: before.certificates.map(fingerprint) }, { certificates: after.certificates.map(fingerprint) }, [
          'certificates',
        ]),
      ],
    });
  });
}

/** People who signed in by it keep their accounts and memberships; their links to this provider go. @throws Refusal not_found, conflict */
export function deleteConnection(ctx: Ctx, input: { id: string }) {
  return mutate(ctx, async (tx) => {
    const row = await lockedConnection(tx, ctx, input.id);
    await refuseWhileNeeded(tx, ctx, row);
    await tx.sso_connections.delete({ where: { id: row.id } });
    return audited({ deleted: true as const }, { action: 'delete', ...entryOf(row), details: { kind: row.kind, issuer: row.issuer } });
  });
}

/** The metadata document that an administrator uploads to a SAML provider. */
export const getMetadata = (ctx: Ctx, input: { id: string }) =>
  read(ctx, async (tx) => ({ xml: serviceMetadata(serviceOf((await connectionById(tx, ctx, input.id)).id)) }));

/** @throws Refusal not_found */
export async function connectionById(tx: Tx, ctx: Ctx, id: string) {
  const row = isUuid(id) ? await tx.sso_connections.findFirst({ where: { id, tenant_id: ctx.tenant_id } }) : null;
  if (!row) throw notFound();
  return row;
}

/** As by id; changes of a workspace's connections and of its settings run one after the other. */
export async function lockedConnection(tx: Tx, ctx: Ctx, id: string) {
  await inTurn(tx, ctx);
  return connectionById(tx, ctx, id);
}

const inTurn = (tx: Tx, ctx: Ctx) => holdLock(tx, `${ctx.tenant_id}:sso`);

/** The last tested connection of a workspace that requires single sign-on is what its members sign in by. */
async function refuseWhileNeeded(tx: Tx, ctx: Ctx, row: Row): Promise<void> {
  if (!row.active || !(await isSsoRequired(tx, ctx.tenant_id))) return;
  const others = await tx.sso_connections.count({
    where: { tenant_id: ctx.tenant_id, active: true, tested_at: { not: null }, id: { not: row.id } },
  });
  if (others === 0)
    throw new Refusal(
      'conflict',
      'Members must use single sign-on, and this is the only tested connection. Add and test another one, or stop requiring single sign-on first.',
    );
}

/** The columns that an input sets. @throws Refusal validation_error naming the field */
async function columnsOf(owner: string, kind: SsoKind, input: Partial<Settings>) {
  const { name, active, trust_mfa } = input;
  const common = { ...given({ name, active, trust_mfa }) };
  const foreign = (kind === 'oidc' ? SAML_FIELDS : OIDC_FIELDS).find((field) => input[field] !== undefined);
  if (foreign) throw invalid(foreign, `doesn't belong to a connection of ${kind === 'oidc' ? 'OpenID Connect' : 'SAML'}`);
  if (kind === 'oidc') {
    if (input.issuer !== undefined) assertCallable('issuer', input.issuer);
    return { ...common, ...given({ issuer: input.issuer, client_id: input.client_id, token_auth: input.token_auth }), ...NO_SAML };
  }
  const metadata = input.metadata_xml === undefined ? undefined : await providerOf(input.metadata_xml, owner);
  if (input.metadata_xml !== undefined && !metadata)
    throw invalid(
      'metadata_xml',
      'must be the metadata of one SAML identity provider with sign-on by HTTP-Redirect and a signing certificate',
    );
  const certificates = input.certificates?.map((text, i) => {
    const pem = certificatePem(text);
    if (pem === undefined)
      throw invalid(
        `certificates.${i}`,
        'must be an X.509 certificate with an RSA key of at least 2048 bits, or a key on a named elliptic curve',
      );
    return pem;
  });
  return {
    ...common,
    ...given({
      issuer: input.entity_id ?? metadata?.entity_id,
      sso_url: input.sso_url ?? metadata?.sso_url,
      certificates: certificates ?? metadata?.certificates.slice(0, 4),
      allow_idp_initiated: input.allow_idp_initiated,
    }),
    ...NO_OIDC,
  };
}

const OIDC_FIELDS = ['issuer', 'client_id', 'client_secret', 'token_auth'] as const;
const SAML_FIELDS = ['metadata_xml', 'entity_id', 'sso_url', 'certificates', 'allow_idp_initiated'] as const;
// So that both kinds have one type.
const NO_SAML: { sso_url?: string; certificates?: string[]; allow_idp_initiated?: boolean } = {};
const NO_OIDC: { client_id?: string; token_auth?: 'basic' | 'post' } = {};

const given = <T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;

/** Names are judged now and addresses at every call. */
function assertCallable(field: string, url: string): void {
  const target = parseTarget(url, egress().settings);
  if (!target.ok) throw invalid(field, target.message);
  if (target.hasVariables) throw invalid(field, 'must be a URL');
}

const NO_SECRET = { value_ct: null, cek_wrapped: null, tmk_version: null } as const;

/** Sealed before the transaction opens, so that no lock waits for a key. @throws Refusal tenant_sealed */
async function sealSecret(ctx: Ctx, id: string, secret: string) {
  const bytes = Buffer.from(secret);
  try {
    return await keyring()
      .sealValue({ tenant_id: ctx.tenant_id, space: '-', purpose: 'sso_secret', row_id: id }, bytes)
      .catch((error: unknown) => {
        if (!(error instanceof TenantKeyUnavailable)) throw error;
        throw new Refusal('tenant_sealed', "This workspace's key is sealed, so the client secret can't be stored.", { cause: error });
      });
  } finally {
    bytes.fill(0);
  }
}

const fingerprint = (pem: string) => certificateFacts(pem).fingerprint;

function view({ value_ct, certificates, ...row }: Row) {
  return {
    ...row,
    kind: row.kind as SsoKind,
    token_auth: row.token_auth as 'basic' | 'post',
    has_client_secret: value_ct !== null,
    certificates: certificates.map((pem) => ({ pem, ...certificateFacts(pem) })),
    service: { redirect_uri: redirectUriOf(row.tenant_id), ...serviceOf(row.id) },
  };
}

const entryOf = (row: { id: string; name: string }): Omit<AuditEntry, 'action'> => ({
  resource_type: 'sso_connection',
  resource_id: row.id,
  name: row.name,
  workspace_level: true,
});
