import type { AiCode } from '#server/ai/codes.ts';
import { insideWindow } from '#server/ai/valid-window.ts';
import { type CapabilityFault, capabilityHolds, parseCapability } from '#server/crypto/capability-tokens.ts';
import type { TenantKey } from '#server/crypto/envelope.ts';
import { TenantKeyUnavailable } from '#server/crypto/keyring.ts';
import { backingFault } from '#server/custody/backing.ts';
import { log } from '#server/platform/log.ts';
import type { Runtime } from '../core/runtime.ts';
import { CAPABILITY_BACKING, type CapabilityToken } from '../credentials/capability-tokens.ts';
import type { Busy } from '../credentials/keyed-lookup.ts';
import { recordDenial } from './denials.ts';
import { type AiRefused, aiRefusal, aiStatus } from './envelope.ts';
import { countFailure, floodWait } from './flood.ts';
import type { GovernedCall } from './governed-call.ts';
import { consumeOneshot } from './oneshot.ts';
import { presentedToAi, presentedToMcp } from './presented.ts';
import { factsOf, type PresentedToken } from './principal.ts';
import { judgeProof } from './proof.ts';
import { judgeTravel } from './travel.ts';

export type GovernedPlane = {
  readonly name: 'ai' | 'mcp';
  /** The slug in the path, of the agent or the server, for the audit. */
  slugOf(call: GovernedCall): string | null;
  /** `WWW-Authenticate` of a refusal. */
  challenge(call: GovernedCall, code: AiCode, presented: boolean): string | undefined;
};

type Outcome = AiRefused | undefined;
type Result = Outcome | Promise<Outcome>;

/**
 * The authentication stage (interface rule 51 §3, rows 0 to 12; the MCP plane goes on with its own). Its order is normative: with several faults the first
 * answers. What is refused for a tenant is audited before the answer.
 */
export function authenticate(call: GovernedCall, runtime: Runtime, plane: GovernedPlane): Result {
  const judged = judge(call, runtime, plane);
  return judged instanceof Promise ? judged.then((refusal) => told(call, plane, refusal)) : told(call, plane, judged);
}

/** Refuses for a reason of the stage that a plane found itself, such as an audience that isn't the token's: counted, audited, challenged. */
export function deny(call: GovernedCall, plane: GovernedPlane, refusal: AiRefused): AiRefused | Promise<AiRefused> {
  return told(call, plane, refusal) as AiRefused | Promise<AiRefused>;
}

/** Row 14, after everything else of the stage. Whatever refuses the call later, the token is used up. */
export function consume(call: GovernedCall, plane: GovernedPlane): Result {
  const { token } = call.state;
  if (token?.kind !== 'oneshot') return undefined;
  if (token.row === undefined) return told(call, plane, aiRefusal('oneshot_consume_error', UNRECORDED));
  return consumeOneshot(token.row).then(
    (won) => (won ? undefined : told(call, plane, aiRefusal('oneshot_already_used', USED))),
    (error: unknown) => {
      log.error({ err: error, request_id: call.requestId }, 'a one-shot token could not be consumed');
      return told(call, plane, aiRefusal('oneshot_consume_error', UNRECORDED));
    },
  );
}

const UNRECORDED = "The use of this one-shot token can't be recorded, so the call was refused.";
const USED = 'This one-shot token was used already.';
const UNDECIDED = aiRefusal('dependency_unavailable', "The gateway can't check the token. Try again shortly.");

function told(call: GovernedCall, plane: GovernedPlane, refusal: Outcome): Result {
  if (refusal === undefined) return undefined;
  const { code } = refusal;
  if (code === 'dependency_unavailable' || code === 'ai_gateway_unavailable' || code === 'rate_limited') return refusal;
  call.state.authFailure = code;
  countFailure(call.sourceAddress, call.receivedAt);
  const challenges = [plane.challenge(call, code, call.state.presented !== null), refusal.challenge].filter((one) => one !== undefined);
  const challenged = { ...refusal, challenge: challenges.length === 0 ? undefined : challenges.join(', ') };
  const written = recordDenial(call, { code, status: aiStatus(refusal), plane: plane.name, slug: plane.slugOf(call) });
  return written === undefined ? challenged : written.then(() => challenged);
}

export const PARSE_MESSAGES: Readonly<Record<CapabilityFault, string>> = {
  empty: 'The credential is empty. Send a capability token of this workspace.',
  bad_prefix: 'The credential is not a capability token: these begin with svcp_.',
  malformed: 'The token is malformed: it must have five parts separated by underscores.',
  bad_env: 'The token names no known environment.',
  bad_kind: 'The token names no known kind.',
  bad_random: 'The token is damaged: its random part must be 32 letters and digits.',
  bad_crc_format: 'The token is damaged: its checksum must be 6 letters and digits.',
  crc_mismatch: "The token's checksum is wrong. It was probably cut or mistyped.",
};

function judge(call: GovernedCall, runtime: Runtime, plane: GovernedPlane): Result {
  if (!runtime.snapshots.fresh) return aiRefusal('ai_gateway_unavailable', 'The gateway is starting. Try again in a minute.');
  const presented = plane.name === 'ai' ? presentedToAi(call) : presentedToMcp(call);
  if (presented === 'none') return aiRefusal('missing_token', 'No credential was sent. Send a capability token as a bearer token.');
  if (presented === 'conflict') return aiRefusal('malformed', 'Two different tokens were sent.');
  call.state.presented = presented;
  if (presented.scheme === 'other') return aiRefusal('bad_prefix', PARSE_MESSAGES.bad_prefix);
  const parsed = parseCapability(presented.text);
  if ('fault' in parsed) return aiRefusal(parsed.fault, PARSE_MESSAGES[parsed.fault]);
  const { space } = call.snapshot;
  if (parsed.env !== space)
    return aiRefusal('bad_env', space === 'live' ? "A Test token can't call the Live host." : "A Live token can't call the Test host.");
  const wait = floodWait(call.sourceAddress, call.receivedAt);
  if (wait > 0)
    return aiRefusal('rate_limited', 'Too many failed authentication attempts from this address. Try again later.', {
      retryAfter: wait,
      extra: { limit: 'address' },
    });
  const found = runtime.capabilities.find(presented.text);
  if (found instanceof Promise)
    return found.then(
      (row) => judgeRow(call, runtime, row),
      (error: unknown) => {
        log.debug({ err: error, request_id: call.requestId }, 'a capability token could not be looked up');
        return UNDECIDED;
      },
    );
  return judgeRow(call, runtime, found);
}

function judgeRow(call: GovernedCall, runtime: Runtime, row: CapabilityToken | null | Busy): Result {
  if (row === 'busy') return UNDECIDED;
  const { tenant, sandbox } = call.snapshot;
  // A token of another workspace isn't told apart from one that doesn't exist.
  if (row === null || row.tenant_id !== tenant.id || row.sandbox !== sandbox) return aiRefusal('unknown_token', 'This token is unknown.');
  const facts = factsOf(row);
  call.state.token = facts;
  if (!tenant.servable) return aiRefusal('tenant_unavailable', "This workspace can't be served: its subscription is not active.");
  if (row.revoked_at !== null) return aiRefusal('revoked', 'This token was revoked.');
  if (row.kind === 'oneshot' && row.oneshot_consumed_at !== null) return aiRefusal('oneshot_already_used', USED);
  const signed = signatureOf(call, runtime, facts);
  return signed instanceof Promise
    ? signed.then((refusal) => refusal ?? judgeUse(call, runtime, facts))
    : (signed ?? judgeUse(call, runtime, facts));
}

/** Rows whose signature held, for as long as they are remembered, by the key that they were judged with. */
const held = new WeakMap<CapabilityToken, TenantKey>();

/** Row 7: nothing that the row says is believed before its signature is. */
function signatureOf(call: GovernedCall, { keyring }: Runtime, { row }: PresentedToken): Result {
  const known = held.get(row);
  if (known !== undefined && keyring.holds(row.tenant_id, known)) return undefined;
  return keyring.tmk(row.tenant_id, row.hmac_key_version).then(
    (tmk) => {
      const { env, kind } = { env: call.snapshot.space, kind: row.kind as PresentedToken['kind'] };
      const { tenant_id, gateway_id, agent_id, digest: token_hash, dpop_jkt, expires_at } = row;
      const capability = { tenant_id, env, kind, gateway_id, agent_id, token_hash, dpop_jkt, expires_at, scope: row.scope_jsonb as object };
      if (!capabilityHolds(tmk.key, capability, row.capability_hmac))
        return aiRefusal('capability_hmac_mismatch', "This token's signature doesn't match what it may do. Mint a new one.");
      held.set(row, tmk);
      return undefined;
    },
    (error: unknown) => {
      if (!(error instanceof TenantKeyUnavailable))
        log.error({ err: error, request_id: call.requestId }, 'a tenant key could not be opened');
      return aiRefusal('tenant_key_missing', "This workspace's encryption key is unavailable.", { cause: error });
    },
  );
}

/** Rows 8 to 12, once the row is believed. */
function judgeUse(call: GovernedCall, runtime: Runtime, facts: PresentedToken): Result {
  if (call.receivedAt >= facts.expiresAt) return aiRefusal('expired', 'This token has expired.');
  return judgeMinter(call, facts) ?? judgeHolder(call, runtime, facts);
}

/** The token is worth no more than the credential that minted it is now: its end, its grants, its addresses and what policies deny it. */
function judgeMinter(call: GovernedCall, { row: { backing }, subjects }: PresentedToken): Outcome {
  if (backing === null) return undefined;
  const fault = backingFault(backing, CAPABILITY_BACKING, { now: call.receivedAt, ip: call.sourceAddress });
  if (fault === 'ended') return MINTER_ENDED;
  if (fault === 'address') return MINTER_ELSEWHERE;
  const rule = call.snapshot.policyAgainstMinting(subjects);
  return rule
    ? aiRefusal(
        'revoked',
        `The tenant policy ${rule.name} denies this to the credential that minted this token. Change the policy, or mint a token with another one.`,
      )
    : undefined;
}

const MINTER_ENDED = aiRefusal(
  'revoked',
  'The credential that minted this token has ended or may no longer mint tokens. Mint a token with another one.',
);
const MINTER_ELSEWHERE = aiRefusal(
  'ip_cidr_mismatch',
  "This token can't be used from this IP address: the API key that minted it is limited to others.",
);

function judgeHolder(call: GovernedCall, runtime: Runtime, facts: PresentedToken): Result {
  const { row } = facts;
  if (row.dpop_jkt === null && !row.dpop_required) return judgePlace(call, runtime, facts);
  return judgeProof(call, row.dpop_jkt).then((refusal) => refusal ?? judgePlace(call, runtime, facts));
}

function judgePlace(call: GovernedCall, runtime: Runtime, facts: PresentedToken): Result {
  if (facts.window !== null && !insideWindow(facts.window, call.receivedAt))
    return aiRefusal('outside_valid_window', "This token can't be used at this time.");
  if (facts.allows !== null && !facts.allows(call.sourceAddress))
    return aiRefusal('ip_cidr_mismatch', "This token can't be used from this IP address.");
  if (facts.row.step_up_required)
    return aiRefusal(
      'step_up_required',
      'This token was used from two places that are too far apart. Somebody must confirm it in the dashboard.',
    );
  const judged = judgeTravel(call, runtime, facts);
  return judged instanceof Promise ? judged.then((refusal) => refusal ?? admit(call, facts)) : (judged ?? admit(call, facts));
}

function admit(call: GovernedCall, facts: PresentedToken): undefined {
  const { ai } = call.snapshot;
  call.state.principal = {
    tenantId: call.snapshot.tenant.id,
    space: call.snapshot.space,
    token: facts,
    gateway: ai.gatewaysById.get(facts.gatewayId) ?? null,
    agent: facts.agentId === null ? null : (ai.agentsById.get(facts.agentId) ?? null),
    user: null,
  };
  call.admitted = true;
  return undefined;
}
