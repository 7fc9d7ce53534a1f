import { streamForm } from '#server/ai/cache/streamed.ts';
import { isObject, objectOf } from '#server/ai/json.ts';
import { streamWriter } from '#server/ai/stream/writer.ts';
import { type KeptAnswer, keptAnswer, nearestAnswer } from '#server/custody/ai/answers.ts';
import { log } from '#server/platform/log.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { AiRefused } from '../../governance/envelope.ts';
import { type AiCall, detectedOf } from '../ai-call.ts';
import type { CallerGone } from '../upstream/caller.ts';
import { embed } from '../upstream/embed.ts';
import { ASK_AGAIN, judgeWhole } from './judge.ts';
import { sendWhole } from './whole.ts';

/** Step 13: the answer that was kept of the same request. It passes every control of answers again. Undefined: there is none. */
export async function answerFromCache(call: AiCall): Promise<'sent' | AiRefused | undefined> {
  const { state } = call;
  const { agent, cachePlan } = state;
  if (!agent || agent.cache_mode === 'off') {
    state.cache = 'off';
    return undefined;
  }
  state.cache = cachePlan ? (cachePlan.reads ? 'miss' : 'bypass') : 'bypass';
  if (!cachePlan) return undefined;
  // Without an embedding model a semantic cache has nothing to answer by.
  if (agent.cache_mode === 'semantic' && agent.cache_embedding_model === null) return degraded(call, true);
  if (!cachePlan.reads) return undefined;
  try {
    return await give(call, await keptAnswer(spaceOf(call), agent, cachePlan.key), 'hit');
  } catch (error) {
    log.warn({ err: error, request_id: call.requestId }, 'kept answers could not be looked up');
    return degraded(call, false);
  }
}

/** The answer to the nearest question of the same meaning. The question's embedding is made by the agent's provider and charged to the call. */
export async function answerFromNeighbours(call: AiCall, runtime: Runtime, caller: CallerGone): Promise<'sent' | AiRefused | undefined> {
  const { agent, cachePlan, cache } = call.state;
  if (!agent || !cachePlan?.question || cache === 'degraded') return undefined;
  const vector = await embed(call, runtime, caller, cachePlan.question.text);
  if (vector === null) return degraded(call, false);
  cachePlan.vector = vector;
  if (!cachePlan.reads) return undefined;
  try {
    const near = { scope: cachePlan.question.scope, vector };
    return await give(call, await nearestAnswer(spaceOf(call), agent, near, agent.cacheSimilarity), 'semantic-hit');
  } catch (error) {
    log.warn({ err: error, request_id: call.requestId }, 'kept answers could not be compared');
    return degraded(call, false);
  }
}

const spaceOf = ({ snapshot }: AiCall) => ({ tenant_id: snapshot.tenant.id, sandbox: snapshot.sandbox });

/** The cache can't do what it is for: the provider answers, and the header says so. */
function degraded({ state }: AiCall, forgets: boolean): undefined {
  state.cache = 'degraded';
  if (forgets) state.cachePlan = null;
}

async function give(call: AiCall, kept: KeptAnswer | undefined, how: 'hit' | 'semantic-hit'): Promise<'sent' | AiRefused | undefined> {
  const { state } = call;
  const { adapter } = state;
  if (!kept || !adapter || !isObject(kept.answer)) return undefined;
  const detected = detectedOf(call);
  const form = streamForm(detected.shape);
  const asked = { usage: objectOf(state.body?.stream_options).include_usage === true };
  if (state.stream && !form?.replayed(kept.answer, asked)) return undefined;
  const { verdict } = await judgeWhole(call, adapter, kept.answer);
  // It no longer fits the output schema: the provider is asked, with the correction that is now part of the request.
  if (verdict === ASK_AGAIN) return undefined;
  state.cache = how;
  state.lines += `Age: ${Math.max(0, Math.floor((call.receivedAt - kept.keptAt) / 1000))}\r\n`;
  if (verdict) return verdict;
  const events = state.stream ? form?.replayed(kept.answer, asked) : undefined;
  if (!events) {
    sendWhole(call, { status: 200, contentType: 'application/json; charset=utf-8', headers: [], body: JSON.stringify(kept.answer) }, []);
    return 'sent';
  }
  const writer = streamWriter(adapter.stream.wire);
  sendWhole(
    call,
    { status: 200, contentType: writer.contentType, headers: [], body: Buffer.concat([writer.bytes(events), writer.end()]) },
    [],
  );
  return 'sent';
}
