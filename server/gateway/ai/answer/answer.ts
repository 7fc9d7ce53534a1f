import { isAiCode } from '#server/ai/codes.ts';
import { parsedJson } from '#server/ai/json.ts';
import { errorMessage } from '#server/ai/providers/serve.ts';
import type { Adapter } from '#server/ai/shapes/adapter.ts';
import { adapterOf } from '#server/ai/shapes/adapters.ts';
import { timesAt } from '#server/ai/shapes/common-body.ts';
import type { WaitingStage } from '#server/ai/stream/event.ts';
import { hiddenUsage } from '#server/ai/stream/hidden-usage.ts';
import { toolGuard } from '#server/ai/stream/tool-guard.ts';
import { usageMeter } from '#server/ai/stream/usage-meter.ts';
import { patientRedactor } from '#server/custody/redaction/redaction.ts';
import { redactCredentials } from '#server/kernel/credential-patterns.ts';
import { UpstreamFault } from '#server/platform/http-out/faults.ts';
import type { Runtime } from '../../core/runtime.ts';
import { fieldOf } from '../../core/upstream-response.ts';
import { type AiRefused, aiRefusal } from '../../governance/envelope.ts';
import { type AiCall, detectedOf } from '../ai-call.ts';
import { keep, recorder } from '../cache/keep.ts';
import { charge } from '../money/record.ts';
import { sentTo } from '../money/sent.ts';
import { notingStage } from '../stored-objects.ts';
import type { Answered } from '../upstream/ask.ts';
import { AnswerTooLarge } from '../upstream/attempt.ts';
import type { CallerGone } from '../upstream/caller.ts';
import { refusalOfFault } from '../upstream/fault.ts';
import { ASK_AGAIN, type Judged, judged, schemaJudge } from './judge.ts';
import { relay } from './stream.ts';
import { sendAnswer } from './unstreamed.ts';
import { sendWhole } from './whole.ts';

const LARGEST_ERROR = 64 * 1024;

/** Step 17: what the provider answered, on its way to the caller. Undefined when the answer was sent. */
export async function answer(call: AiCall, runtime: Runtime, caller: CallerGone, found: Answered): Promise<Judged> {
  const { status } = found.attempt;
  if (found.whole) return sendAnswer(call, found, found.whole);
  if (status < 300) return streamed(call, runtime, caller, found);
  if (status === 401 || status === 403) return authFailed(call, found);
  return relayError(call, runtime, found);
}

/** Its message may quote the key, so that only the log has it, masked. */
async function authFailed(call: AiCall, { attempt, resolution }: Answered): Promise<AiRefused> {
  const bytes = await attempt.collect(LARGEST_ERROR, () => true).catch(() => Buffer.alloc(0));
  const masked = await patientRedactor(resolution.secrets)(bytes);
  const told = masked && errorMessage(parsedJson(masked.toString()));
  if (told) call.errorDetail = redactCredentials(told).slice(0, 200);
  return aiRefusal('upstream_auth_failed', 'The provider refused the credential of this agent. Check the secret of its route.', {
    upstreamStatus: attempt.status,
  });
}

/** A provider's own refusal, with its status and its words, but without our credential. */
async function relayError(call: AiCall, runtime: Runtime, { attempt, resolution, outgoing }: Answered): Promise<AiRefused | undefined> {
  const { status, headers } = attempt;
  try {
    const bytes = await attempt.collect(LARGEST_ERROR, (held) => runtime.bodies.hold(call, call.requestBytes + held));
    const body = await patientRedactor(resolution.secrets)(bytes);
    if (body === null) return aiRefusal('upstream_error', `The provider answered with status ${status}.`, { upstreamStatus: status });
    call.origin = 'upstream';
    const secrets = [...resolution.secrets.values()];
    if (outgoing.translation === null) {
      sendWhole(call, { status, contentType: fieldOf(headers, 'content-type') ?? 'application/json', headers, body }, secrets);
      return undefined;
    }
    const told = outgoing.translation.error(status, parsedJson(body.toString()));
    sendWhole(call, { status: told.status, contentType: JSON_TYPE, headers, body: JSON.stringify(told.body) }, secrets);
    return undefined;
  } catch (error) {
    if (error instanceof UpstreamFault) return { ...refusalOfFault(error), upstreamStatus: status };
    if (error instanceof AnswerTooLarge)
      return aiRefusal('upstream_error', `The provider answered with status ${status} and a long body.`, { upstreamStatus: status });
    throw error;
  }
}

const JSON_TYPE = 'application/json; charset=utf-8';
async function streamed(call: AiCall, runtime: Runtime, caller: CallerGone, found: Answered): Promise<Judged> {
  const { attempt, outgoing, resolution, candidate } = found;
  const theirs = adapterOf(outgoing.way.shape);
  const { wire } = theirs.stream;
  const meter = usageMeter(theirs.stream, timesAt(call.state.body ?? {}, 'n'));
  const recorded = recorder(call, outgoing.translation);
  try {
    const sent = await relay(call, runtime, caller, {
      attempt,
      from: wire === 'json-list' ? 'sse' : wire,
      to: detectedOf(call).format === 'json' ? 'json-list' : (call.state.adapter?.stream.wire ?? wire),
      meter,
      stages: [
        ...(recorded === null ? [] : [recorded.stage]),
        ...stagesFor(call, theirs),
        ...(outgoing.translation === null ? [] : [outgoing.translation.stream()]),
      ],
      collected: call.state.controls?.collects ? collectedJudge(call) : null,
      held: () => recorded?.held() ?? 0,
      secrets: [...resolution.secrets.values()],
      grammar: theirs.stream,
      native: outgoing.way.kind !== 'translate',
    });
    if (sent === 'sent') {
      if (recorded !== null && call.state.outcome === 'ok') await keep(call, recorded.answer(), resolution.secrets.values());
      return undefined;
    }
    if (sent !== 'nothing') return sent === ASK_AGAIN ? sent : { ...sent, upstreamStatus: attempt.status };
    const { cause } = call.state;
    const known = cause !== null && cause !== 'upstream_stream_failed' && isAiCode(cause) ? cause : null;
    return aiRefusal(
      known ?? 'upstream_invalid_response',
      known ? 'The answer was withheld before its first event.' : "The provider's stream ended before its first event.",
      { upstreamStatus: attempt.status },
    );
  } finally {
    charge(call, candidate.provider, outgoing.model, meter.usage(sentTo(call)));
  }
}

/** What a stream goes through: the tools and the content first, what the caller hadn't asked for last. */
function stagesFor(call: AiCall, theirs: Adapter): WaitingStage[] {
  const { agent, controls, hidesUsage, warnings } = call.state;
  const noting = notingStage(call);
  const allowed = agent?.allowedTools;
  const blocked = () => {
    if (!warnings.includes('tool_blocked')) warnings.push('tool_blocked');
  };
  return [
    ...(noting === null ? [] : [noting]),
    ...(allowed ? [toolGuard(theirs.shape, (name) => allowed.has(name), blocked)] : []),
    ...(controls?.stages(theirs) ?? []),
    ...(hidesUsage === true && theirs.shape === 'openai-chat' ? [hiddenUsage()] : []),
  ];
}

/** Judges the text of a stream that is sent only after it was judged whole. */
const collectedJudge = (call: AiCall) => async (text: string) => judged(await call.state.controls?.collected(text, schemaJudge(call)));
