import { z } from 'zod';
import { environmentName } from '#server/domain/environments/schema.ts';
import { canonicalAddress } from '#server/kernel/address.ts';
import { addressRange } from '#server/kernel/address-field.ts';
import { atLeastOne, flag, isoTime, label, optionalLabel, pathId, secret, shownOnce, text, time, uuid } from '#server/kernel/fields.ts';
import { anyObject, columnObject, storedJson } from '#server/kernel/json-fields.ts';
import { listQuery } from '#server/kernel/page.ts';

const CLIENT_TYPES = ['server', 'user'] as const;
export const CREDENTIAL_KINDS = ['ip', 'mtls_thumbprint', 'signature_hmac', 'signature_ed25519'] as const;
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number];

const core = {
  id: z.uuid(),
  name: z.string(),
  type: z.enum(CLIENT_TYPES),
  ip_address: z.string(),
  ip_notes: columnObject(),
  description: z.string().nullable(),
  enabled: z.boolean(),
  collection_id: z.uuid().nullable(),
  created_at: time(),
  updated_at: time(),
};

/** A machine or person allowed to call routes (interface rule 11 §2.1). */
export const Client = z
  .object({
    ...core,
    credential_count: z.int(),
    /** Credentials per kind, absent kinds left out. */
    credential_kinds: z.partialRecord(z.enum(CREDENTIAL_KINDS), z.int()),
    assigned_route_count: z.int(),
    /** Newest match of any of its credentials. */
    last_matched_at: time().nullable(),
    /** ISO 3166-1 alpha-2 of its address; of a network when all of it is in one country. */
    ip_country: z.string().nullable(),
  })
  .meta({ id: 'Client' });

export const RouteAssignment = z
  .object({ route_id: z.uuid(), route_name: z.string(), environment_name: z.string() })
  .meta({ id: 'RouteAssignment' });

export const ClientDetail = Client.extend({ route_assignments: z.array(RouteAssignment) }).meta({ id: 'ClientDetail' });

/** POST and PATCH answer the whole row. */
export const ClientRecord = z
  .object({
    ...core,
    tenant_id: z.uuid(),
    created_by: z.string().nullable(),
    agent_version: z.string().nullable(),
    agent_os: z.string().nullable(),
    agent_arch: z.string().nullable(),
    agent_hostname: z.string().nullable(),
    agent_last_seen: time().nullable(),
    agent_mode: z.string().nullable(),
  })
  .meta({ id: 'ClientRecord' });

/** In the one stored spelling; refused with what is wrong (interface rule 11 §2.2). */
export const address = () =>
  addressRange().transform((given) => {
    const verdict = canonicalAddress(given);
    return verdict.ok ? verdict.value : given;
  });

const NOTES_BYTES = 4_096;

const notes = () =>
  anyObject()
    .refine((v) => new TextEncoder().encode(JSON.stringify(v)).length <= NOTES_BYTES, 'must be at most 4096 bytes of JSON')
    .refine(isStorable, 'must not contain NUL or invalid Unicode');

/** jsonb refuses NUL and lone surrogates, in keys as in values. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\u0000');
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, v]) => isStorable(key) && isStorable(v));
}

const editable = {
  name: label(100),
  type: z.enum(CLIENT_TYPES),
  ip_address: address(),
  ip_notes: storedJson(notes()),
  description: text(500),
  enabled: z.boolean(),
  collection_id: uuid().nullable(),
};

export const CreateClient = z.object(editable).partial().required({ name: true, ip_address: true });
export const UpdateClient = atLeastOne(z.object({ id: pathId(), ...z.object(editable).partial().shape }));
export const ClientRef = z.object({ id: pathId() });

export const ListClients = listQuery({
  sorts: ['created_at', 'name', 'type', 'ip_address'],
  sort: 'created_at',
  order: 'desc',
  filters: {
    type: z.enum(CLIENT_TYPES).optional(),
    /** Part of the name or of the address. */
    q: z.string().max(100).optional(),
    enabled: flag().optional(),
    collection_id: uuid().optional(),
  },
});

/** The public part of a credential; which members occur depends on its kind (interface rule 11 §3). */
const CredentialData = z.object({
  value: z.string().optional(),
  thumbprint: z.string().optional(),
  subject: z.string().optional(),
  not_after: z.string().optional(),
  serial: z.string().optional(),
  key_id: z.uuid().optional(),
  secret_id: z.uuid().optional(),
  public_key: z.string().optional(),
});

export const Credential = z
  .object({
    id: z.uuid(),
    client_id: z.uuid(),
    tenant_id: z.uuid(),
    kind: z.enum(CREDENTIAL_KINDS),
    label: z.string().nullable(),
    data: CredentialData,
    is_primary: z.boolean(),
    enabled: z.boolean(),
    expires_at: time().nullable(),
    created_at: time(),
    updated_at: time(),
    last_matched_at: time().nullable(),
  })
  .meta({ id: 'ClientCredential' });

export const CreatedCredential = Credential.extend({
  reveal: z
    .object({
      certificate_pem: z.string().optional(),
      private_key_pem: shownOnce(z.string()).optional(),
      ca_chain_pem: z.string().optional(),
      secret: shownOnce(z.string()).optional(),
    })
    .optional(),
}).meta({ id: 'CreatedClientCredential' });

const kind = () =>
  z.enum(CREDENTIAL_KINDS, {
    error: ({ input }) => (input === 'machine_id' || input === 'workload_identity' ? 'kind not available' : undefined),
  });

/** What is given, never what is stored: the modes of each kind are judged together with it. */
export const CredentialInput = z.object({
  value: addressRange().optional(),
  /** Another name of value. */
  ip: addressRange().optional(),
  mode: z.enum(['issue', 'register', 'generate', 'import']).optional(),
  ttl_days: z.int().min(1).max(825).optional(),
  certificate_pem: z.string().max(65_536).optional(),
  thumbprint: z.string().max(200).optional(),
  secret: secret(z.string().max(4_096)).optional(),
  secret_id: uuid().optional(),
  public_key: z.string().max(4_096).optional(),
});

/** What each kind takes; anything else is refused, not ignored. */
const MEMBERS: Record<CredentialKind, readonly (keyof z.output<typeof CredentialInput>)[]> = {
  ip: ['value', 'ip'],
  mtls_thumbprint: ['mode', 'ttl_days', 'certificate_pem', 'thumbprint'],
  signature_hmac: ['mode', 'secret', 'secret_id'],
  signature_ed25519: ['mode', 'public_key'],
};

export const CredentialRef = z.object({ id: pathId(), credentialId: pathId() });
const date = () => isoTime().transform((v) => new Date(v));
const credentialSettings = { label: optionalLabel(100), enabled: z.boolean(), expires_at: date().nullable() };
export const CreateCredential = z
  .object({
    id: pathId(),
    kind: kind(),
    data: CredentialInput,
    ...z.object(credentialSettings).partial().shape,
  })
  .superRefine(({ kind, data }, ctx) => {
    const issue = (name: string, message: string) => ctx.addIssue({ code: 'custom', path: ['data', name], message });
    for (const name of Object.keys(data) as (keyof typeof data)[])
      if (data[name] !== undefined && !MEMBERS[kind].includes(name)) issue(name, `doesn't apply to credentials of kind ${kind}`);
    if (kind !== 'ip') return;
    if (data.value === undefined && data.ip === undefined) issue('value', 'is required');
    if (data.value !== undefined && data.ip !== undefined) issue('ip', 'cannot be combined with value');
  });
export const UpdateCredential = atLeastOne(CredentialRef.extend(z.object(credentialSettings).partial().shape), ['id', 'credentialId']);

const pair = z.object({ route_id: uuid(), environment_name: environmentName() });
export const AssignClient = z.object({ id: pathId(), assignments: z.array(pair).min(1).max(500) });
export const UnassignClient = z.object({ id: pathId(), assignments: z.array(pair).max(500).optional() });
export const Assigned = z.object({ route_assignments: z.array(RouteAssignment) }).meta({ id: 'ClientAssignments' });
export const Unassigned = Assigned.extend({ deleted: z.literal(true) }).meta({ id: 'ClientUnassigned' });
