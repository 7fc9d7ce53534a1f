import { cosine } from '#server/ai/cache/key.ts';
import { MOST_EXACT } from '#server/ai/json.ts';
import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { DecryptFailed } from '#server/crypto/svt1.ts';
import { decrypt, encrypt, parseCipherText } from '#server/crypto/transit/cipher-text.ts';
import { parseExactWithin } from '#server/kernel/bounded-text.ts';
import { type HotCtx, spaceOf } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { keyring } from '#server/platform/keys.ts';
import { ownQuery, ownRows } from '#server/platform/own-rows.ts';
import { inOwnTransaction } from '#server/platform/own-transaction.ts';
import { countUse } from '../counts.ts';
import { keyById } from '../keys.ts';
import { material } from '../material.ts';

// Cached answers of agents (interface rule 51 §7.7): sealed under the workspace's key, and before it encrypted with the agent's own key if it has one.

type Space = Pick<HotCtx, 'tenant_id' | 'sandbox'>;
export type Keeper = { readonly id: string; readonly cmek_key_id: string | null };
type Row = { id: string; value_ct: Buffer; cek_wrapped: Buffer; tmk_version: number; created_at: Date };

export type KeptAnswer = { readonly answer: unknown /** Epoch ms. */; readonly keptAt: number };
/** Where an answer is found again, and by what it can be compared with others. */
export type AnswerPlace = { readonly key: Buffer; readonly near?: { readonly scope: Buffer; readonly vector: Float32Array } | undefined };

/** As many earlier questions of one scope are compared, the newest. */
const COMPARED = 200;

/** The answer under a key; undefined when there is none that can be opened. Rejects when the database doesn't answer. */
export async function keptAnswer(space: Space, agent: Keeper, key: Buffer): Promise<KeptAnswer | undefined> {
  const [row] = await ownRows<Row>(space, BY_KEY, agent.id, key);
  const bytes = row && (await opened(space, agent, row));
  const answer = bytes && readAnswer(bytes.toString('utf8'));
  return row && answer !== undefined ? { answer, keptAt: row.created_at.getTime() } : undefined;
}

/** Undefined for one whose numbers would take too long. */
function readAnswer(text: string): unknown {
  try {
    return parseExactWithin(text, MOST_EXACT);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

/** The answer to the nearest question of the scope, when it is as near as the threshold. */
export async function nearestAnswer(
  space: Space,
  agent: Keeper,
  { scope, vector }: { scope: Buffer; vector: Float32Array },
  threshold: number,
): Promise<KeptAnswer | undefined> {
  let best: { key: Buffer; likeness: number } | undefined;
  for (const row of await ownRows<Row>(space, OF_SCOPE, agent.id, scope)) {
    const bytes = await opened(space, agent, row);
    if (!bytes || bytes.length <= 32) continue;
    const likeness = cosine(vector, new Float32Array(new Uint8Array(bytes.subarray(32)).buffer));
    if (likeness >= threshold && likeness > (best?.likeness ?? 0)) best = { key: Buffer.from(bytes.subarray(0, 32)), likeness };
  }
  return best && keptAnswer(space, agent, best.key);
}

/** Keeps an answer, as JSON, in place of one that was there. A key that can't be used keeps nothing. */
export async function keepAnswer(space: Space, agent: Keeper, { key, near }: AnswerPlace, answer: string, until: Date): Promise<void> {
  await write(space, agent, key, null, Buffer.from(answer), until);
  if (!near) return;
  const vector = Buffer.from(near.vector.buffer, near.vector.byteOffset, near.vector.byteLength);
  // A question's row is found by its scope alone; its key only has to be its own.
  await write(
    space,
    agent,
    Buffer.concat([key.subarray(0, 31), Buffer.from([(key[31] as number) ^ 1])]),
    near.scope,
    Buffer.concat([key, vector]),
    until,
  );
}

async function write(space: Space, agent: Keeper, key: Buffer, scope: Buffer | null, plaintext: Buffer, until: Date): Promise<void> {
  const id = newId();
  const bytes = agent.cmek_key_id === null ? plaintext : await encrypted(space, agent.cmek_key_id, id, plaintext);
  const sealed = await keyring().sealValue(placeOf(space, id), bytes);
  await inOwnTransaction(space, (client) =>
    client.query({
      name: 'ai-cache-keep',
      text: `insert into ai_cache_entries (id, tenant_id, sandbox, agent_id, key, scope, value_ct, cek_wrapped, tmk_version, expires_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        on conflict (tenant_id, sandbox, agent_id, key) do update set id = excluded.id, scope = excluded.scope, value_ct = excluded.value_ct,
          cek_wrapped = excluded.cek_wrapped, tmk_version = excluded.tmk_version, created_at = now(), expires_at = excluded.expires_at`,
      values: [id, space.tenant_id, space.sandbox, agent.id, key, scope, sealed.value_ct, sealed.cek_wrapped, sealed.tmk_version, until],
    }),
  );
}

/** Undefined when the workspace's key, or the agent's, can't be used: there is nothing to answer with then. */
async function opened(space: Space, agent: Keeper, row: Row): Promise<Buffer | undefined> {
  try {
    const bytes = await keyring().openValue(placeOf(space, row.id), row);
    return agent.cmek_key_id === null ? bytes : await decrypted(space, agent.cmek_key_id, row.id, bytes);
  } catch (error) {
    if (error instanceof TenantKeyUnavailable || error instanceof DecryptFailed || error instanceof Refusal) return undefined;
    throw error;
  }
}

async function encrypted(space: Space, keyId: string, id: string, plaintext: Buffer): Promise<Buffer> {
  const key = await usable(space, keyId);
  const opened = await material(key, key.current_version);
  countUse({ now: new Date() }, key, 'encrypt', 1, key.current_version);
  return Buffer.from(encrypt(opened, key.current_version, plaintext, Buffer.from(id)));
}

async function decrypted(space: Space, keyId: string, id: string, bytes: Buffer): Promise<Buffer> {
  const key = await usable(space, keyId);
  const parsed = parseCipherText(bytes.toString());
  const opened = await material(key, parsed.version);
  countUse({ now: new Date() }, key, 'decrypt', 1);
  return decrypt(opened, parsed, Buffer.from(id));
}

/** @throws Refusal not_found when it is gone, or isn't one that encrypts as it is */
async function usable(space: Space, id: string) {
  const key = await keyById(space, id);
  if (!key || key.key_type !== 'aes256-gcm' || key.derived || key.convergent)
    throw new Refusal('not_found', 'The key that encrypts the answers of this agent is not there.');
  return key;
}

const placeOf = ({ tenant_id, sandbox }: Space, id: string) =>
  ({ tenant_id, space: spaceOf(sandbox), purpose: 'ai_cache', row_id: id }) as const;

const COLUMNS = 'id, value_ct, cek_wrapped, tmk_version, created_at';
const BY_KEY = ownQuery(
  'ai-cache-by-key',
  `select ${COLUMNS} from ai_cache_entries
    where tenant_id = $1 and sandbox = $2 and agent_id = $3::uuid and key = $4::bytea and scope is null and expires_at > now()`,
);
const OF_SCOPE = ownQuery(
  'ai-cache-of-scope',
  `select ${COLUMNS} from ai_cache_entries
    where tenant_id = $1 and sandbox = $2 and agent_id = $3::uuid and scope = $4::bytea and expires_at > now() order by created_at desc limit ${COMPARED}`,
);
