import type { HotCtx } from '#server/kernel/context.ts';
import { isUuid } from '#server/kernel/fields.ts';
import type { KeyType } from '#server/kernel/key-types.ts';
import { processState } from '#server/kernel/process-state.ts';
import { batching } from '#server/platform/batching.ts';
import { ownQuery, ownRows } from '#server/platform/own-rows.ts';

/** Where keys are looked for: what of a context this folder asks for. */
export type KeySpace = Pick<HotCtx, 'tenant_id' | 'sandbox'>;

/** A key as the database has it at the time of the question. */
export type UsableKey = {
  id: string;
  tenant_id: string;
  sandbox: boolean;
  name: string;
  key_type: KeyType;
  managed_by: 'tenant' | 'vault' | 'service';
  /** The active version: new ciphertexts and signatures are made with it. */
  current_version: number;
  /** JWTs are signed with this one while verifiers may hold an older key set (interface rule 40 §5.6); null: with the active one. */
  jwt: { version: number; until: Date } | null;
  min_decryption_version: number;
  min_encryption_version: number;
  /** Each call names a context, from which a subkey is derived. */
  derived: boolean;
  /** Equal plaintexts give equal ciphertexts. */
  convergent: boolean;
  /** Newest first. */
  versions: readonly KeyVersion[];
};

export type KeyVersion = {
  id: string;
  version: number;
  status: 'active' | 'retired' | 'destroyed';
  /** Its destruction is scheduled: until that is undone it refuses every use. */
  scheduled: boolean;
  /** 2^31 encryptions or more: past half of what random IVs allow (interface rule 40 §6.5). */
  worn: boolean;
};

/**
 * The key of this name or ID; null when there is none in this space. State of key and versions is read from the database at every use, so that nothing
 * destroyed is ever used (interface rule 40 §3.4); all uses that arrive together share one statement.
 */
export async function findKey(space: KeySpace, nameOrId: string): Promise<UsableKey | null> {
  return isUuid(nameOrId) || NAME.test(nameOrId) ? read(`${space.tenant_id}:${space.sandbox}`, { space, ref: nameOrId }) : null;
}

/** The same by ID alone. */
export const keyById = async (space: KeySpace, id: string): Promise<UsableKey | null> => (isUuid(id) ? findKey(space, id) : null);

export const versionOf = ({ versions }: UsableKey, version: number): KeyVersion | undefined =>
  // The newest is asked for most.
  versions.find((one) => one.version === version);

/** What a name may be made of; anything else is no key's name (interface rule 40 §1.1). */
const NAME = /^[A-Za-z0-9 ._-]{1,128}$/;

type Question = { space: KeySpace; ref: string };
type Row = { id: string; name: string; state: string };

const read = batching<Question, UsableKey | null>('crypto-keys', {
  most: 1_000,
  async run(questions) {
    const { space } = questions[0] as Question;
    const refs = [...new Set(questions.map(({ ref }) => ref))];
    const rows = await ownRows<Row>(
      space,
      KEYS,
      refs.filter(isUuid),
      refs.filter((ref) => !isUuid(ref)),
    );
    const found = new Map<string, UsableKey>();
    for (const row of rows) {
      const key = parsed(space, row);
      found.set(row.id, key);
      found.set(row.name, key);
    }
    return questions.map(({ ref }) => found.get(isUuid(ref) ? ref.toLowerCase() : ref) ?? null);
  },
});

/** One text says everything about a key's state: while it is the same text, what was read from it is used again. */
function parsed(space: KeySpace, { id, name, state }: Row): UsableKey {
  const held = known.get(id);
  if (held?.state === state) return held.key;
  const [key_type, managed_by, current, minDecryption, minEncryption, derived, convergent, jwtVersion, jwtUntil, versions] =
    state.split('|');
  const key: UsableKey = {
    id,
    tenant_id: space.tenant_id,
    sandbox: space.sandbox,
    name,
    key_type: key_type as KeyType,
    managed_by: managed_by as UsableKey['managed_by'],
    current_version: Number(current),
    jwt: jwtUntil ? { version: Number(jwtVersion), until: new Date(Number(jwtUntil)) } : null,
    min_decryption_version: Number(minDecryption),
    min_encryption_version: Number(minEncryption),
    derived: derived === 't',
    convergent: convergent === 't',
    versions: (versions ?? '').split(',').map(parsedVersion),
  };
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(id, { state, key });
  return key;
}

function parsedVersion(text: string): KeyVersion {
  const [version, id = '', status, scheduled, worn] = text.split(' ');
  return { version: Number(version), id, status: status as KeyVersion['status'], scheduled: scheduled === 't', worn: worn === 't' };
}

const MOST_KNOWN = 10_000;
const known = processState('known-crypto-keys', () => new Map<string, { state: string; key: UsableKey }>());

const state = `concat(k.key_type, '|', k.managed_by, '|', k.current_version, '|', k.min_decryption_version, '|', k.min_encryption_version, '|',
  k.derived, '|', k.convergent, '|', k.jwt_version, '|', (extract(epoch from k.jwt_version_from) * 1000)::bigint, '|',
  (select string_agg(concat_ws(' ', v.version, v.id, v.status, v.destroy_after is not null, v.encrypt_count >= 2147483648), ',' order by v.version desc)
    from crypto_key_versions v where v.key_id = k.id))`;
const KEYS = ownQuery(
  'custody-keys',
  `select k.id, k.name, ${state} as state from crypto_keys k
     where k.tenant_id = $1 and k.sandbox = $2 and k.deleted_at is null and k.id = any($3::uuid[])
   union all
   select k.id, k.name, ${state} as state from crypto_keys k
     where k.tenant_id = $1 and k.sandbox = $2 and k.deleted_at is null and k.name = any($4::text[])`,
);
