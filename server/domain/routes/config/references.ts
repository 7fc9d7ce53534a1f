import {
  listReferences,
  MAX_PLACEHOLDERS,
  MAX_SECRETS,
  parseTemplate,
  printReference,
  type Reference,
} from '#server/domain/templates/grammar.ts';
import { NAME_WITH_PLACEHOLDER, type Text, textsIn } from '#server/domain/templates/texts.shared.ts';
import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import type { ConfigField } from '../effective.ts';
import type { Draft, Local } from './draft.ts';

export type Slot = { environment: string; field: ConfigField } & Text;
export type Found = Slot & { reference: Reference };

/**
 * Parses every template of the draft, refuses what cannot resolve, and rewrites the route's rows of secret_references, which answer
 * "who uses this secret" (interface rules 10 §7.3, 30 §15). `touched` says which slots the caller is writing: a reference that broke
 * earlier in another field (a renamed secret) does not stop an unrelated change.
 * @throws Refusal validation_error naming the field
 */
export async function saveReferences(
  tx: Tx,
  ctx: Ctx,
  route: { id: string; collection_id: string | null },
  draft: Draft,
  touched: (environment: string, field: ConfigField) => boolean,
): Promise<void> {
  for (const [environment, local] of draft.locals)
    for (const { field, path, text, place } of slotsOf(environment, local))
      if (place === 'name' && touched(environment, field) && holdsPlaceholder(text)) throw invalid(path, NAME_WITH_PLACEHOLDER);
  const found = [...draft.locals].flatMap(([environment, local]) => referencesIn(environment, local));
  const secrets = await secretsOf(tx, ctx, found);
  await checkVariables(
    tx,
    ctx,
    route,
    found.filter((f) => touched(f.environment, f.field)),
  );

  const rows = found.flatMap((f) => {
    if (f.reference.kind !== 'secret' && f.reference.kind !== 'secret_id') return [];
    const secret = f.reference.kind === 'secret' ? secrets.byName.get(f.reference.name) : secrets.byId.get(f.reference.id);
    if (touched(f.environment, f.field)) {
      if (!secret && isCertificateField(f.field)) throw invalid(f.path, 'no such certificate');
      if (!secret) throw invalid(f.path, `refers to an unknown secret: ${printReference(f.reference)}`);
      if (isCertificateField(f.field)) assertCertificate(f, secret);
      else if (secret.secret_type === 'certificate')
        throw invalid(f.path, `refers to a certificate, which can't be injected: ${printReference(f.reference)}`);
      if (f.field === 'upstream_auth' && secret.secret_type !== 'string') throw invalid(f.path, 'must be a string secret');
    }
    if (!secret) return [];
    const by = f.reference.kind === 'secret' ? 'name' : 'id';
    return [
      {
        ...own(ctx),
        id: newId(),
        secret_id: secret.id,
        kind: 'route_environment',
        referrer_id: route.id,
        referrer_env: f.environment,
        field_path: f.path,
        by,
      },
    ];
  });
  await forgetReferences(tx, ctx, route.id);
  if (rows.length > 0) await tx.secret_references.createMany({ data: rows });
}

/** For a deleted route, or one of its environments. */
export const forgetReferences = (tx: Tx, ctx: Ctx, routeId: string, environment?: string) =>
  tx.secret_references.deleteMany({
    where: {
      ...own(ctx),
      kind: 'route_environment',
      referrer_id: routeId,
      ...(environment === undefined ? {} : { referrer_env: environment }),
    },
  });

function referencesIn(environment: string, local: Local): Found[] {
  const found = referencesOf(environment, local);
  if (found.length > MAX_PLACEHOLDERS)
    throw invalid('inject_headers_json', `the configuration of ${environment} has more than ${MAX_PLACEHOLDERS} placeholders`);
  const secrets = new Set(found.flatMap(({ reference: r }) => (r.kind === 'secret' || r.kind === 'secret_id' ? [printReference(r)] : [])));
  if (secrets.size > MAX_SECRETS)
    throw invalid('inject_headers_json', `the configuration of ${environment} refers to more than ${MAX_SECRETS} secrets`);
  return found;
}

const holdsPlaceholder = (text: string): boolean => {
  const parsed = parseTemplate(text);
  return !parsed.ok || listReferences(parsed.template).length > 0;
};

/**
 * Everything the templates of one environment's settings refer to, however much it is. Names of members count although they are never filled: older
 * settings have such placeholders. @throws Refusal validation_error for a malformed template
 */
export function referencesOf(environment: string, local: Local): Found[] {
  return slotsOf(environment, local).flatMap((slot) => {
    const parsed = parseTemplate(slot.text);
    if (!parsed.ok && slot.place === 'name') return [];
    if (!parsed.ok) throw invalid(slot.path, parsed.message);
    return listReferences(parsed.template).map((reference) => ({ ...slot, reference }));
  });
}

/** Every text of a configuration that may hold placeholders, and every name of a member beside them. */
export function slotsOf(environment: string, local: Local): Slot[] {
  const slots = (field: ConfigField, value: unknown, path: string = field): Slot[] =>
    textsIn(value, path).map((text) => ({ environment, field, ...text }));
  const secretId = local.upstream_auth?.secret_id;
  return [
    ...slots('target_base_url', local.target_base_url),
    ...slots('inject_headers_json', local.inject_headers_json),
    ...slots('inject_query_json', local.inject_query_json),
    ...slots('inject_body_json', local.inject_body_json),
    // It holds an ID alone, which counts as a placeholder of it.
    ...(secretId ? slots('upstream_auth', `{{secret_id:${secretId}}}`, 'upstream_auth.secret_id') : []),
    ...CERTIFICATE_FIELDS.flatMap((field) => (local[field] ? slots(field, `{{secret_id:${local[field]}}}`) : [])),
    ...(local.method_configs ?? []).flatMap(({ method, inject_headers_json, inject_query_json, inject_body_json }) =>
      slots('method_configs', { inject_headers_json, inject_query_json, inject_body_json }, `method_configs.${method}`),
    ),
  ];
}

const CERTIFICATE_FIELDS = ['mtls_certificate_id', 'upstream_ca_certificate_id'] as const;
const isCertificateField = (field: ConfigField) => CERTIFICATE_FIELDS.some((one) => one === field);

/** What is presented needs a key, and what is trusted a certificate (interface rule 10 §11). @throws Refusal validation_error */
function assertCertificate({ field, path }: Found, secret: SecretRow): void {
  const presented = field === 'mtls_certificate_id';
  const fits = secret.secret_type === 'certificate' && (presented ? secret.keyed && secret.certified : secret.certified && !secret.keyed);
  if (!fits)
    throw invalid(
      path,
      presented ? 'must be a certificate secret with a private key' : 'must be a certificate secret without a private key',
    );
}

type SecretRow = {
  id: string;
  shortcode_name: string;
  secret_type: string;
  /** In every environment that has a value. */
  keyed: boolean;
  certified: boolean;
};

/** Names are looked up exactly as written; ids of another space are as unknown as any other. */
async function secretsOf(tx: Tx, ctx: Ctx, found: readonly Found[]) {
  const names = found.flatMap(({ reference: r }) => (r.kind === 'secret' ? [r.name] : []));
  const ids = found.flatMap(({ reference: r }) => (r.kind === 'secret_id' ? [r.id] : []));
  const lowered = [...new Set(names.map((n) => n.toLowerCase()))];
  const rows: SecretRow[] =
    lowered.length === 0 && ids.length === 0
      ? []
      : await tx.$queryRaw`
          select s.id::text, s.shortcode_name, s.secret_type,
            s.secret_type = 'certificate' and s.linked_share_id is null and not exists (select from secret_environments e where e.secret_id = s.id and not coalesce((e.cert_metadata->>'has_private_key')::boolean, false)) as keyed,
            s.secret_type = 'certificate' and s.linked_share_id is null and not exists (select from secret_environments e where e.secret_id = s.id and coalesce((e.cert_metadata->>'chain_length')::int, 0) = 0) as certified
          from secrets s where s.tenant_id = ${ctx.tenant_id}::uuid and s.sandbox = ${ctx.sandbox}
            and (lower(s.shortcode_name) = any(${lowered}) or s.id = any(${[...new Set(ids)]}::uuid[]))`;
  return { byName: new Map(rows.map((s) => [s.shortcode_name, s])), byId: new Map(rows.map((s) => [s.id, s])) };
}

/** `{{var:key}}` needs the route's collection; in a target URL only a value may stand, a secret would be logged. */
async function checkVariables(tx: Tx, ctx: Ctx, route: { collection_id: string | null }, found: readonly Found[]): Promise<void> {
  const used = found.flatMap((f) => (f.reference.kind === 'var' ? [{ path: f.path, field: f.field, reference: f.reference }] : []));
  if (used.length === 0) return;
  const slugs = [...new Set(used.flatMap(({ reference: r }) => (r.collection === null ? [] : [r.collection])))];
  const variables = await tx.collection_variables.findMany({
    where: {
      ...own(ctx),
      key: { in: [...new Set(used.map((u) => u.reference.key))] },
      OR: [{ collection: { slug: { in: slugs } } }, ...(route.collection_id === null ? [] : [{ collection_id: route.collection_id }])],
    },
    select: { key: true, type: true, collection_id: true, collection: { select: { slug: true } } },
  });
  for (const { path, field, reference } of used) {
    const match = variables.find(
      (v) =>
        v.key === reference.key &&
        (reference.collection === null ? v.collection_id === route.collection_id : v.collection.slug === reference.collection),
    );
    const name = printReference(reference);
    if (!match && reference.collection === null && route.collection_id === null)
      throw invalid(path, `${name} requires the route to be in a collection`);
    if (!match) throw invalid(path, `refers to an unknown variable: ${name}`);
    if (field === 'target_base_url' && match.type !== 'value') throw invalid(path, `${name} is a secret, which can't be used in a URL`);
  }
}
