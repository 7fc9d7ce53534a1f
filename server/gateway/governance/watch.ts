import type { AiCode } from '#server/ai/codes.ts';
import { backingFault } from '#server/custody/backing.ts';
import { processState } from '#server/kernel/process-state.ts';
import type { Runtime } from '../core/runtime.ts';
import { CAPABILITY_BACKING, type CapabilityToken } from '../credentials/capability-tokens.ts';
import type { SpaceSnapshot } from '../snapshot/slices.ts';
import type { Principal } from './principal.ts';

// The kill switch and revocations in the middle of streams (interface rule 50 §4, 51 §7.4): no stream goes on for longer than two seconds after it.

export type Watched = {
  readonly principal: Principal;
  /** The token's text, by which its row is looked up again; null for callers that bring none of ours. */
  readonly text: string | null;
  /** Whether what the caller brought instead has ended. A rejection says nothing. */
  readonly hasEnded?: (() => boolean | Promise<boolean>) | undefined;
  /** Whether something else that the call goes through is switched off. */
  readonly isOff?: ((snapshot: SpaceSnapshot) => boolean) | undefined;
  /** Ends the stream, with why. Called at most once. */
  stop(cause: AiCode): void;
};

const EVERY_MS = 500;
const state = processState('ai-streams', (): { streams: Map<Watched, Runtime>; timer: NodeJS.Timeout | undefined } => ({
  streams: new Map(),
  timer: undefined,
}));

/** Watches a stream until the returned function is called. */
export function watchStream(runtime: Runtime, watched: Watched): () => void {
  state.streams.set(watched, runtime);
  state.timer ??= setInterval(checkStreams, EVERY_MS).unref();
  return () => {
    state.streams.delete(watched);
    if (state.streams.size > 0) return;
    clearInterval(state.timer);
    state.timer = undefined;
  };
}

/** Looks at every stream, against the newest picture of its workspace. */
export function checkStreams(): void {
  for (const [watched, runtime] of state.streams) {
    const cause = switchedOff(runtime, watched);
    if (cause) end(watched, cause);
    else if (watched.text !== null) checkToken(runtime, watched, watched.text);
    else if (watched.hasEnded) checkCaller(watched, watched.hasEnded);
  }
}

function end(watched: Watched, cause: AiCode): void {
  if (state.streams.delete(watched)) watched.stop(cause);
}

function switchedOff({ snapshots }: Runtime, { principal, isOff }: Watched): AiCode | undefined {
  const { tenantId, space, token, agent } = principal;
  const entry = snapshots.byId(tenantId);
  if (!entry) return 'tenant_unavailable';
  const snapshot = space === 'test' ? entry.test : entry.live;
  if (!snapshot.tenant.servable) return 'tenant_unavailable';
  // A person's access token is of no gateway until a server is chosen.
  if (token.gatewayId !== '' && !isActive(snapshot.ai.gatewaysById, token.gatewayId)) return 'gateway_not_active';
  if (agent !== null && !isActive(snapshot.ai.agentsById, agent.id)) return 'agent_not_active';
  return isOff?.(snapshot) ? 'gateway_not_active' : undefined;
}

const isActive = (all: SpaceSnapshot['ai']['gatewaysById'] | SpaceSnapshot['ai']['agentsById'], id: string): boolean =>
  all.get(id)?.status === 'active';

/** A look-up is remembered for two seconds, and dropped when a revocation is announced. A database that is away ends no stream. */
function checkToken(runtime: Runtime, watched: Watched, text: string): void {
  const judge = (row: Awaited<ReturnType<Runtime['capabilities']['find']>>) => {
    if (row === 'busy') return;
    // A one-shot token was used up by this very call.
    if (row === null || row.revoked_at !== null || minterEnded(row)) end(watched, 'revoked');
  };
  const found = runtime.capabilities.find(text);
  if (found instanceof Promise) found.then(judge, () => undefined);
  else judge(found);
}

/** The key or client that minted the token may end in the middle of a stream, too. */
const minterEnded = ({ backing }: CapabilityToken): boolean =>
  backingFault(backing, CAPABILITY_BACKING, { now: Date.now(), ip: undefined }) !== null;

function checkCaller(watched: Watched, hasEnded: NonNullable<Watched['hasEnded']>): void {
  const judge = (ended: boolean) => {
    if (ended) end(watched, 'revoked');
  };
  const found = hasEnded();
  if (found instanceof Promise) found.then(judge, () => undefined);
  else judge(found);
}
