import { createTokenizer, type Tokenizer } from '#server/ai/pii/tokenizer.ts';
import { agentPiiKey, conversationKey } from '#server/crypto/pii-keys.ts';
import type { Runtime } from '../core/runtime.ts';
import { lru } from '../credentials/lru.ts';
import type { McpServer } from '../snapshot/mcp-servers.ts';
import type { McpCall } from './mcp-call.ts';

// Values that were replaced by tokens on their way to an upstream, so that they can come back in a later result (interface rule 52 §6). One map for each session
// of a legacy client, and for each token and server otherwise; in memory only, and for as long as it is used.

const MOST = 2_000;
const MOST_VALUES = 5_000;
const IDLE_MS = 3_600_000;
type Kept = { tokenizer: Tokenizer; until: number };
const memory = lru<Kept>(MOST);

/** The tokens of this call's session. Rejects when the workspace's key is unavailable. */
export async function tokenizerFor(call: McpCall, runtime: Runtime, server: McpServer): Promise<Tokenizer> {
  const { principal, session } = call.state;
  const token = principal?.token.id ?? '';
  const anchor = session === null ? `${token}:${server.id}` : `${session.s}:${session.t}:${session.u ?? ''}:${session.i}`;
  const { id } = call.snapshot.tenant;
  const key = `${id} ${server.id} ${anchor}`;
  const known = memory.get(key);
  // A map that has become too long is begun anew: its old tokens stay as they are.
  if (known && known.until > Date.now() && known.tokenizer.size < MOST_VALUES) {
    known.until = Date.now() + IDLE_MS;
    return known.tokenizer;
  }
  const master = await runtime.keyring.activeTmk(id);
  const tokenizer = createTokenizer(conversationKey(agentPiiKey(master.key, server.id), token, anchor));
  memory.set(key, { tokenizer, until: Date.now() + IDLE_MS });
  return tokenizer;
}
