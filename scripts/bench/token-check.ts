import { mintApiKey, mintToken } from '#server/crypto/tokens.ts';
import type { AccessToken } from '#server/domain/oauth-grants/access-tokens.ts';
import { BAD_CREDENTIAL, type Call } from '#server/gateway/core/call.ts';
import { verify } from '#server/gateway/core/presented-credential.ts';
import { verifyToken } from '#server/gateway/core/presented-token.ts';
import type { Runtime } from '#server/gateway/core/runtime.ts';
import { keyedLookup } from '#server/gateway/credentials/keyed-lookup.ts';
import type { Caller } from '#server/gateway/snapshot/model.ts';
import type { SpaceSnapshot } from '#server/gateway/snapshot/slices.ts';
import { median } from './machine.ts';
import { micros, type Row, say } from './report.ts';

const CREDENTIALS = 1_000;
const CALLS = 200_000;
const ROUNDS = 5;
const MOST_US = 5;

/** CPU of judging a remembered access token on the data plane, beside an API key of the snapshot: the functions of a call, without the call. */
export async function measureTokenCheck(): Promise<Row[]> {
  const tokens = new Map(Array.from({ length: CREDENTIALS }, (_, i) => tokenOf(i)));
  const lookup = keyedLookup<AccessToken>({ load: async (text) => tokens.get(text), max: CREDENTIALS, ttl_ms: 1e9, negative_ttl_ms: 1e9 });
  const keys = new Map(Array.from({ length: CREDENTIALS }, keyOf));
  const byId = new Map([...keys.values()].map((key) => [key.label, key]));
  const snapshot = { tenant: { id: 't' }, sandbox: false, key: (id: string) => byId.get(id) } as unknown as SpaceSnapshot;
  const call = { snapshot, receivedAt: Date.now(), credential: BAD_CREDENTIAL } as unknown as Call;
  const runtime = { tokens: lookup } as unknown as Runtime;
  const texts = { token: [...tokens.keys()], key: [...keys.keys()] };
  for (const text of texts.token) await verifyToken(call, text, 'bearer', runtime);
  const check = {
    token: (text: string) => void verifyToken(call, text, 'bearer', runtime),
    key: (text: string) => {
      call.credential = verify(text, snapshot, snapshot, call.receivedAt);
    },
  };
  const cost = { token: [] as number[], key: [] as number[] };
  for (let round = 0; round <= ROUNDS; round++)
    for (const kind of ['token', 'key'] as const) {
      const before = process.cpuUsage();
      for (let i = 0; i < CALLS; i++) check[kind](texts[kind][i % CREDENTIALS] as string);
      const { user, system } = process.cpuUsage(before);
      if (call.credential.state !== 'valid') throw new Error(`the ${kind} was refused`);
      if (round > 0) cost[kind].push((user + system) / CALLS);
    }
  const us = median(cost.token);
  say(`token check: ${micros(us)} (${micros(Math.min(...cost.token))} to ${micros(Math.max(...cost.token))})`);
  return [
    {
      what: 'remembered token, CPU a check',
      measured: micros(us),
      against: `API key ${micros(median(cost.key))}`,
      value: micros(us),
      target: `<= ${MOST_US} us`,
      pass: us <= MOST_US,
    },
  ];
}

function tokenOf(i: number): [string, AccessToken] {
  const { token, digest } = mintToken('oauth_token_live');
  const row: Partial<AccessToken> = {
    ...{
      id: String(i),
      digest,
      tenant_id: 't',
      sandbox: false,
      kind: 'client',
      client_row_id: 'c',
      client_id: 'svc_client_x',
      client_name: 'x',
    },
    ...{
      allowed_scopes: ['proxy:invoke'],
      step_up_scopes: [],
      scopes: ['proxy:invoke'],
      ceiling: ['proxy:invoke'],
      aud: null,
      cnf_jkt: null,
    },
    ...{ expires_at: new Date(Date.now() + 3_600_000), step_up_at: null, user_id: null, role: null, key_row_id: null, ip_allowlist: null },
    ...{ key_expires_at: null, key_revoke_at: null },
  };
  return [token, row as AccessToken];
}

function keyOf(): [string, Caller] {
  const { token, digest, key_id } = mintApiKey('live');
  const caller: Partial<Caller> = { id: key_id, kind: 'api_key', ref: key_id, label: key_id, digest, mayInvoke: true, endsAt: Infinity };
  return [token, caller as Caller];
}
