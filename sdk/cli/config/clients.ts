import { isDeepStrictEqual } from 'node:util';
import { storedAddress } from './addresses.ts';
import type { Entry } from './document.ts';
import { differing, isoTime, type Kind, type Making, type Note, named, pick, without } from './kind.ts';
import type { Remote } from './remote.ts';

const FIELDS = ['type', 'ip_address', 'ip_notes', 'description', 'enabled', 'collection'];
const DEFAULTS = { type: 'server', ip_notes: {}, description: null, enabled: true, collection: null, credentials: [] };

/** A credential that a file can hold: an address, a thumbprint, a public key, or the secret that holds a shared one. */
type Credential = {
  kind: string;
  data: { value?: string; thumbprint?: string; public_key?: string; secret?: string };
  label: string | null;
  enabled: boolean;
  expires_at: string | null;
};
type Stored = Credential & { id: string; is_primary: boolean; data: Credential['data'] & { secret_id?: string } };

export const clients: Kind = {
  name: 'clients',
  read: async (row, remote, note) => ({
    name: row.name,
    ...pick(row, FIELDS),
    collection: await named(remote, 'collections', row.collection_id, note, 'Its collection'),
    credentials: (await credentialsOf(row.id, remote, note)).map(({ credential }) => credential),
  }),
  whole: async (entry) => ({
    ...DEFAULTS,
    ...entry,
    ip_address: storedAddress(String(entry.ip_address)),
    credentials: ((entry.credentials ?? []) as Partial<Credential>[]).map(wholeCredential).sort(byIdentity),
  }),
  brief: (entry) => {
    const credentials = (entry.credentials as Credential[]).map((one) =>
      without({ name: '', ...one }, { name: '', label: null, enabled: true, expires_at: null }),
    );
    return without({ ...entry, credentials }, DEFAULTS);
  },
  references: ({ collection, credentials }) => [
    ...(typeof collection === 'string' ? [{ kind: 'collections' as const, name: collection, at: 'collection' }] : []),
    ...(credentials as Credential[]).flatMap(({ data }) =>
      data.secret ? [{ kind: 'secrets' as const, name: data.secret, at: 'credentials' }] : [],
    ),
  ],
  problems: ({ credentials }) =>
    (credentials as Credential[]).flatMap(({ kind, data }) =>
      Object.keys(data).length === 1
        ? []
        : [`has a credential of kind ${kind} without exactly one of value, thumbprint, public_key and secret.`],
    ),
  create: async (wanted, making, made) => {
    const body = await bodyOf(wanted, ['name', ...FIELDS], making);
    const { id } = await making.remote.send<{ id: string }>('POST', '/clients', { body });
    made(id);
    await writeCredentials(id, wanted, making);
  },
  update: async (id, wanted, current, making) => {
    const fields = differing(FIELDS, wanted, current);
    if (fields.length > 0) await making.remote.send('PATCH', '/clients/{id}', { path: { id }, body: await bodyOf(wanted, fields, making) });
    await writeCredentials(id, wanted, making);
  },
};

const identityOf = ({ kind, data }: Pick<Credential, 'kind' | 'data'>) =>
  `${kind} ${data.value ?? data.thumbprint ?? data.public_key ?? data.secret}`;
const byIdentity = (a: Credential, b: Credential) => (identityOf(a) < identityOf(b) ? -1 : 1);

function wholeCredential({ kind = '', data = {}, label, enabled, expires_at }: Partial<Credential>): Credential {
  const { value, thumbprint } = data;
  return {
    kind,
    data: {
      ...data,
      ...(value === undefined ? {} : { value: storedAddress(value) }),
      ...(thumbprint === undefined ? {} : { thumbprint: thumbprint.replaceAll(':', '').toLowerCase() }),
    },
    label: label || null,
    enabled: enabled ?? true,
    expires_at: expires_at ? String(isoTime(expires_at)) : null,
  };
}

/** Without the primary one, which is the address of the client. */
async function credentialsOf(client: string, remote: Remote, note: Note): Promise<{ id: string; credential: Credential }[]> {
  const stored = await remote.send<Stored[]>('GET', '/clients/{id}/credentials', { path: { id: client } });
  const credentials: { id: string; credential: Credential }[] = [];
  for (const one of stored) {
    if (one.is_primary) continue;
    const data = await dataOf(one, remote, note);
    if (data) credentials.push({ id: one.id, credential: { kind: one.kind, data, ...pickSettings(one) } });
  }
  return credentials.sort((a, b) => byIdentity(a.credential, b.credential));
}

const pickSettings = ({ label, enabled, expires_at }: Stored) => ({ label, enabled, expires_at });

async function dataOf({ kind, data }: Stored, remote: Remote, note: Note): Promise<Credential['data'] | undefined> {
  if (kind === 'ip' && data.value) return { value: data.value };
  if (kind === 'mtls_thumbprint' && data.thumbprint) return { thumbprint: data.thumbprint };
  if (kind === 'signature_ed25519' && data.public_key) return { public_key: data.public_key };
  const secret = data.secret_id ? await named(remote, 'secrets', data.secret_id, note, 'The secret of a credential') : null;
  if (secret !== null) return { secret };
  note('has a shared secret of its own, which a file can’t hold: it is left as it is. Store it as a secret to have it in the file.');
  return undefined;
}

/** Credentials are made and ended; what is the same but for its settings is changed. Those that a file can't hold stay. */
async function writeCredentials(id: string, wanted: Entry, { remote }: Making): Promise<void> {
  const path = '/clients/{id}/credentials';
  const stored = await credentialsOf(id, remote, () => {});
  const desired = wanted.credentials as Credential[];
  for (const credential of desired) {
    const same = stored.find((one) => identityOf(one.credential) === identityOf(credential));
    if (same && isDeepStrictEqual(same.credential, credential)) continue;
    const { kind, data, ...settings } = credential;
    if (same) {
      await remote.send('PATCH', `${path}/{credentialId}`, { path: { id, credentialId: same.id }, body: settings });
      continue;
    }
    const material = data.secret
      ? { mode: 'import', secret_id: await remote.idOf('secrets', data.secret) }
      : { ...data, ...(data.thumbprint ? { mode: 'register' } : {}) };
    await remote.send('POST', path, { path: { id }, body: { kind, data: material, ...settings } });
  }
  for (const one of stored)
    if (!desired.some((credential) => identityOf(credential) === identityOf(one.credential)))
      await remote.send('DELETE', `${path}/{credentialId}`, { path: { id, credentialId: one.id } });
}

async function bodyOf(wanted: Entry, fields: readonly string[], { remote }: Making): Promise<Record<string, unknown>> {
  const { collection, ...body } = pick(wanted, fields);
  if (!fields.includes('collection')) return body;
  return { ...body, collection_id: typeof collection === 'string' ? await remote.idOf('collections', collection) : null };
}
