import type { HotCtx } from '#server/kernel/context.ts';
import { isUuid } from '#server/kernel/fields.ts';
import { batching } from '#server/platform/batching.ts';
import { ownQuery, ownRows } from '#server/platform/own-rows.ts';
import type { StoredFormat } from './formats/table.ts';

/** Where vaults are looked for: what of a context this folder asks for. */
export type VaultSpace = Pick<HotCtx, 'tenant_id' | 'sandbox'>;

/** A vault as the database has it at the time of the question. */
export type UsableVault = {
  id: string;
  tenant_id: string;
  sandbox: boolean;
  name: string;
  token_format: StoredFormat | 'ff1';
  /** Of ff1: the characters that values and tokens are made of. */
  alphabet: string | null;
  crypto_key_id: string;
  custody_mode: 'managed' | 'dual';
  default_ttl_seconds: number | null;
  enabled: boolean;
  dedupe: boolean;
  /** Hosts to which the proxy may send its values (the matching of interface rule 30 §13); null = any. */
  allowed_hosts: string[] | null;
  /** The sealed key of the blind index, of vaults with dedupe. */
  value_ct: Buffer | null;
  cek_wrapped: Buffer | null;
  tmk_version: number | null;
};

/**
 * The vault of this name or ID; null when there is none in this space. It is read from the database at every use, so that a disabled or deleted vault
 * serves nobody; all uses that arrive together share one statement.
 */
export const findVault = async (space: VaultSpace, nameOrId: string): Promise<UsableVault | null> =>
  isUuid(nameOrId) || NAME.test(nameOrId) ? read(`${space.tenant_id}:${space.sandbox}`, { space, ref: nameOrId }) : null;

/** What a name may be made of; anything else is no vault's name (interface rule 42 §1.1). */
const NAME = /^[A-Za-z0-9 ._-]{1,128}$/;

type Question = { space: VaultSpace; ref: string };

const read = batching<Question, UsableVault | null>('vaults', {
  most: 1_000,
  async run(questions) {
    const [{ space }] = questions as readonly [Question];
    const refs = [...new Set(questions.map(({ ref }) => ref))];
    const rows = await ownRows<UsableVault>(
      space,
      VAULTS,
      refs.filter(isUuid),
      refs.filter((ref) => !isUuid(ref)),
    );
    const found = new Map(rows.flatMap((row) => [[row.id, row] as const, [row.name, row] as const]));
    return questions.map(({ ref }) => found.get(isUuid(ref) ? ref.toLowerCase() : ref) ?? null);
  },
});

const COLUMNS = `id, tenant_id, sandbox, name, token_format, alphabet, crypto_key_id, custody_mode, default_ttl_seconds, enabled, dedupe,
  allowed_hosts, value_ct, cek_wrapped, tmk_version`;
const VAULTS = ownQuery(
  'custody-vaults',
  `select ${COLUMNS} from vaults where tenant_id = $1 and sandbox = $2 and deleted_at is null and id = any($3::uuid[])
   union all select ${COLUMNS} from vaults where tenant_id = $1 and sandbox = $2 and deleted_at is null and name = any($4::text[])`,
);
