import { type AgentKeys, agentKeysOf, splitAgentKeys } from '#server/crypto/agent-keys.ts';
import { type Ctx, spaceOf } from '#server/kernel/context.ts';
import { newId } from '#server/kernel/ids.ts';
import { keyring } from '#server/platform/keys.ts';

type Place = Pick<Ctx, 'tenant_id' | 'sandbox'>;
type Bytes = Uint8Array<ArrayBuffer>;
export type SealedKeys = { id: string; value_ct: Bytes; cek_wrapped: Bytes; tmk_version: number };
type Stored = { id: string; value_ct: Uint8Array; cek_wrapped: Uint8Array; tmk_version: number };

/** The two keys of a secret as the columns of a new row; the secret itself is kept nowhere. @throws TenantKeyUnavailable */
export async function sealAgentKeys(place: Place, agentId: string, secret: string): Promise<SealedKeys> {
  const id = newId();
  const bytes = agentKeysOf(agentId, secret);
  try {
    return { id, ...((await keyring().sealValue(placeOf(place, id), bytes)) as Omit<SealedKeys, 'id'>) };
  } finally {
    bytes.fill(0);
  }
}

/** What signs the agent's requests, and what the keys of its windows come from. @throws TenantKeyUnavailable, DecryptFailed */
export async function openAgentKeys(place: Place, row: Stored): Promise<AgentKeys> {
  const { value_ct, cek_wrapped, tmk_version } = row;
  return splitAgentKeys(await keyring().openValue(placeOf(place, row.id), { value_ct, cek_wrapped, tmk_version }));
}

const placeOf = ({ tenant_id, sandbox }: Place, row_id: string) =>
  ({ tenant_id, space: spaceOf(sandbox), purpose: 'agent_key' as const, row_id }) as const;
