import { agentSignature, isAgentId, type KeyObject } from '#server/crypto/agent-keys.ts';
import { classifyCredential, digestEquals } from '#server/crypto/tokens.ts';
import { type AgentCaller, agentCalled, keysOf, sessionOf } from '#server/domain/agents/protocol/caller.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { sql } from '#server/platform/sql.ts';
import { throttled } from '#server/platform/throttle.ts';
import type { Edge } from '../edge.ts';

/** The agent that calls. `root` is there for signed calls: the keys of windows come from it. `until`: the end of its session, for calls of one. */
export type Caller = { agent: AgentCaller; root: KeyObject | null; until: Date | null };
type Call = { credential: 'signature' | 'session'; path: string; body: Uint8Array; edge: Edge; now: Date };

const SKEW_S = 120;
const NONCE_MS = 600_000;
/** Failed calls of an address, in a minute. */
const MOST_FAILED = 60;

/** @throws Refusal invalid_signature, invalid_token, clock_skew, nonce_replayed, agent_revoked, wrong_tenant, rate_limit_exceeded, tenant_sealed */
export async function authenticated(req: Request, call: Call): Promise<Caller> {
  const caller = await (call.credential === 'signature' ? bySignature(req, call) : bySession(req, call)).catch(async (error: unknown) => {
    if (error instanceof Refusal && error.status === 401 && error.type !== 'agent_revoked') await countFailure(call);
    throw error;
  });
  if (caller.agent.status === 'revoked') throw new Refusal('agent_revoked', 'This agent was revoked. Remove it from the host.');
  if (caller.agent.sandbox !== (call.edge.space === 'test'))
    throw new Refusal('wrong_tenant', `This agent belongs to ${caller.agent.sandbox ? 'Test' : 'Live'}. Call the address of that space.`);
  return caller;
}

/** Guessing is useless against 256 bits; this keeps it from costing us much. */
const countFailure = ({ edge, now }: Call) =>
  throttled([{ what: 'agent-failed', subject: edge.ip ?? '', limit: MOST_FAILED, window_sec: 60 }], now, 'rate_limit_exceeded');

const wrongSignature = () => new Refusal('invalid_signature', 'The signature of the request isn’t valid for this agent.');
const wrongToken = () => new Refusal('invalid_token', 'The session token is unknown, ended, or of another agent. Open a new session.');

/** The four headers of interface rule 63 §4. An agent that doesn't exist is told from a wrong secret by nobody. */
async function bySignature({ method, headers }: Request, { path, body, now }: Call): Promise<Caller> {
  const header = (name: string) => headers.get(`x-svc-agent-${name}`) ?? '';
  const [id, timestamp, nonce, signature] = [header('id'), header('timestamp'), header('nonce'), header('signature')];
  if (!isAgentId(id) || !/^\d{1,12}$/.test(timestamp) || !/^[0-9a-f]{32}$/.test(nonce) || !/^[0-9a-f]{64}$/.test(signature))
    throw wrongSignature();
  if (Math.abs(Number(timestamp) - now.getTime() / 1_000) > SKEW_S)
    throw new Refusal(
      'clock_skew',
      `The clock of the host is more than ${SKEW_S} seconds off. Compare it with the Date header of this answer.`,
    );
  const agent = await agentCalled(id);
  if (!agent) throw wrongSignature();
  const presented = Buffer.from(signature, 'hex');
  const parts = { method, path, timestamp, nonce, body };
  const keys = (await keysOf(agent, now)).find(({ auth }) => digestEquals(agentSignature(auth, parts), presented));
  if (!keys) throw wrongSignature();
  await useNonce(agent, nonce, now);
  return { agent, root: keys.root, until: null };
}

/** Only what was signed rightly is remembered, so that nobody else can fill the table. @throws Refusal nonce_replayed */
async function useNonce({ id, tenant_id, sandbox }: AgentCaller, nonce: string, now: Date): Promise<void> {
  const { rowCount } = await sql().query({
    name: 'agent-nonce',
    text: 'insert into agent_nonces (agent_id, tenant_id, sandbox, nonce, expires_at) values ($1, $2, $3, $4, $5) on conflict do nothing',
    values: [id, tenant_id, sandbox, Buffer.from(nonce, 'hex'), new Date(now.getTime() + NONCE_MS)],
  });
  if (rowCount !== 1) throw new Refusal('nonce_replayed', 'This request was received before. Sign each request with a new nonce.');
}

/** The token of a session, which dies with the agent. */
async function bySession({ headers }: Request, { now }: Call): Promise<Caller> {
  const [id, token] = [headers.get('x-svc-agent-id') ?? '', headers.get('x-svc-agent-token') ?? ''];
  if (!isAgentId(id) || classifyCredential(token).kind !== 'agent_session') throw wrongToken();
  const session = await sessionOf(id, token);
  if (!session) throw wrongToken();
  // A revoked agent is told so, since it held the token rightly.
  if (session.agent.status !== 'revoked' && (session.revoked_at !== null || session.expires_at <= now)) throw wrongToken();
  return { agent: session.agent, root: null, until: session.expires_at };
}
