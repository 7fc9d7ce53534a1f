import { canaryStream, newCanary } from '#server/ai/firewall/canary.ts';
import type { JsonObject } from '#server/ai/json.ts';
import { type OutputSchema, outputSchema, type SchemaFault } from '#server/ai/schema/output-schema.ts';
import { InvalidSchema } from '#server/ai/schema/shape.ts';
import type { Adapter, TextRef, TextRole } from '#server/ai/shapes/adapter.ts';
import type { WaitingStage } from '#server/ai/stream/event.ts';
import { ready, type Steps, taken, type Waits } from '#server/ai/stream/steps.ts';
import { workspaceCanary } from '#server/crypto/canary.ts';
import { withoutMarkers as cutMarkers } from '#server/custody/ai/detectors/canary.ts';
import type { PooledPii, PooledStream } from '#server/custody/ai/detectors/pii.ts';
import { raiseFromCall } from '../../core/events.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { AiAgentConfig } from '../../snapshot/ai-config.ts';
import type { SpaceSnapshot } from '../../snapshot/slices.ts';
import { type AiRefused, aiRefusal } from '../envelope.ts';
import { channelStage, inSlices } from './channel-stage.ts';
import { ControlFailed } from './control-failed.ts';
import { judgePrompt } from './firewall.ts';
import { askGuardrail, type GuardrailQuestion } from './guardrail.ts';
import { openPii, orPiiUnavailable } from './pii.ts';

/** A call of an agent, as its controls see it. */
export type ControlledCall = {
  runtime: Runtime;
  snapshot: SpaceSnapshot;
  requestId: string;
  agent: AiAgentConfig;
  gateway: { id: string; slug: string } | null;
  tokenId: string;
  user: string | null;
  model: string;
  provider: string | null;
  operation: string;
  /** The caller's id of the conversation, or the root of a stored chain; null: the first text of the user stands for it. */
  conversation: string | null;
  /** `X-Svc-AI-Warnings`, which the controls add to. */
  warnings: string[];
  /** Shown the request after personal data was replaced and before a canary stands in it: what an answer depends on. */
  onPlain?: ((body: JsonObject) => void) | undefined;
};

/** An answer as the controls see it, wherever it was read. */
export type AnswerView = {
  texts: () => readonly TextRef[];
  /** The assistant's text of the first choice, as it is by then. */
  text: () => Waits<string>;
};

/** What the log says of the controls. */
export type ControlReport = { firewall: string[]; pii: Record<string, number>; guardrail: string | null };

/**
 * The content controls of one call (interface rule 51 §5, steps 10 to 12 and 17): `openControls` judges and changes the request; then the answer goes through
 * `answer`, or a stream through `stages`. All that can't run refuses.
 */
export type CallControls = {
  /** What refused the request, if anything did. */
  refusal: AiRefused | undefined;
  report: () => ControlReport;
  /** Whether the answer repeated a canary. */
  leaked: () => boolean;
  /** What doesn't fit the output schema of the agent, of the assistant's text before it is restored. */
  schemaFaults: (answer: string) => readonly SchemaFault[];
  /** Takes markers out of an answer, asks the guardrail, and replaces and restores values, in this order. The schema is judged between, by `judge`. */
  answer: (answer: AnswerView, judge?: (text: string) => AiRefused | undefined) => Promise<AiRefused | undefined>;
  /** Whether a stream must be collected and judged whole by `collected` before anything of it leaves. */
  collects: boolean;
  /** Judges what was collected of a stream, by its assistant's text. */
  collected: (text: string, judge?: (text: string) => AiRefused | undefined) => Promise<AiRefused | undefined>;
  /** Stages of a stream; they throw ControlFailed. */
  stages: (adapter: Adapter) => WaitingStage[];
};

/** Steps 10 to 12: firewall, PII, guardrail. Changes the body in place. Rejects with nothing: what fails is in `refusal`. */
export async function openControls(call: ControlledCall, adapter: Adapter, body: JsonObject): Promise<CallControls> {
  const { agent, snapshot, runtime } = call;
  const owner = snapshot.tenant.id;
  const report: ControlReport = { firewall: [], pii: {}, guardrail: null };
  const codes: string[] = [];
  let pii: PooledPii | undefined;
  let blocksLeaks = false;
  let schema: OutputSchema | undefined;

  const prepare = async (): Promise<AiRefused | undefined> => {
    const texts = adapter.texts(body);
    const { firewall, rules, outcome } = await judgePrompt(snapshot, agent.firewall_policy_id, scannedTexts(texts));
    report.firewall = [...rules];
    blocksLeaks = firewall.action === 'block';
    if (outcome === 'warn') call.warnings.push(`firewall:${rules.join(',')}`);
    if (outcome === 'block') {
      raise(call, 'ai.firewall.blocked', { rules, policy_id: firewall.id, policy: firewall.name, version: firewall.version });
      return aiRefusal('firewall_block', `The prompt matches the firewall rule ${rules[0]}.`, { extra: { rule: rules[0] } });
    }
    pii = await openPii(runtime, snapshot, {
      id: agent.id,
      policyId: agent.pii_redact_policy_id,
      tokenId: call.tokenId,
      anchor: call.conversation ?? texts.find(({ role }) => role === 'user')?.text ?? '',
      requestMode: agent.pii_request_mode,
      responseMode: agent.pii_response_mode,
      streamingMode: agent.pii_streaming_mode,
      holdbackChars: agent.pii_streaming_holdback_chars,
    });
    if (agent.pii_request_mode !== 'off') await replace(texts, pii.request);
    call.onPlain?.(body);
    if (firewall.canary) {
      const { key } = await runtime.keyring.activeTmk(snapshot.tenant.id);
      const canary = newCanary(workspaceCanary(key, snapshot.tenant.id));
      codes.push(canary.code, workspaceCanary(key, snapshot.tenant.id));
      adapter.appendSystem(body, canary.line);
    }
    if (agent.output_schema !== null) schema = await schemaOf(agent.output_schema);
    const before = agent.guardrail_webhook_mode;
    return before === 'request' || before === 'both' ? guard('request', await messagesOf(adapter.texts(body), codes, owner)) : undefined;
  };

  const guard = async (phase: GuardrailQuestion['phase'], messages: GuardrailQuestion['messages']): Promise<AiRefused | undefined> => {
    const { requestId, gateway, user, model, provider, operation } = call;
    const verdict = await askGuardrail(runtime, snapshot, agent, {
      phase,
      plane: 'ai',
      requestId,
      gateway,
      user,
      model,
      provider,
      operation,
      messages,
    });
    report.guardrail = verdict.action;
    if (verdict.action === 'block')
      return aiRefusal('guardrail_block', 'The guardrail of this agent blocked the call.', {
        extra: { guardrail_message: verdict.message },
      });
    if (verdict.action === 'allow') return undefined;
    if (agent.guardrail_webhook_failure_action === 'fail_closed')
      return aiRefusal('guardrail_unavailable', 'The guardrail of this agent gave no verdict.');
    call.warnings.push('guardrail_unavailable');
    return undefined;
  };
  const asksAnswers = agent.guardrail_webhook_mode === 'response' || agent.guardrail_webhook_mode === 'both';
  const leaked = (): void => raise(call, 'ai.canary.leaked', { blocked: blocksLeaks });
  /** Once a call, however many texts have it. */
  let told = false;
  const tellLeak = (): void => {
    if (!told) leaked();
    told = true;
  };

  const refusal = await prepare().catch(refusalOf);
  return {
    refusal,
    report: () => ({ ...report, pii: counted(pii) }),
    leaked: () => told,
    schemaFaults: (text) => schema?.faults(text) ?? [],
    async answer(answer, judge) {
      try {
        const refs = codes.length === 0 ? [] : answer.texts();
        const clean = await withoutMarkers(textsOf(refs), codes, owner);
        if (clean.leaked) {
          tellLeak();
          if (blocksLeaks) return aiRefusal('canary_leak', 'The answer repeats the system prompt, so it was withheld.');
          setAll(refs, clean.texts);
        }
        const unfit = judge?.(await answer.text());
        if (unfit) return unfit;
        const guarded = asksAnswers ? await guard('response', await messagesOf(answer.texts(), codes, owner)) : undefined;
        if (guarded) return guarded;
        const session = pii;
        if (session) await replace(answer.texts(), session.answer);
        return undefined;
      } catch (error) {
        return refusalOf(error);
      }
    },
    collects:
      (asksAnswers && agent.guardrail_webhook_failure_action === 'fail_closed') ||
      (agent.output_schema !== null && agent.output_validation_action !== 'warn'),
    async collected(text, judge) {
      try {
        const [clean = ''] = (await withoutMarkers([text], codes, owner)).texts;
        return judge?.(clean) ?? (asksAnswers ? await guard('response', [{ role: 'assistant', text: clean }]) : undefined);
      } catch (error) {
        return refusalOf(error);
      }
    },
    stages({ stream: grammar }) {
      if (asksAnswers && agent.guardrail_webhook_failure_action === 'fail_open') call.warnings.push('guardrail_stream_skipped');
      const session = pii;
      const onLeak = (): void => {
        tellLeak();
        if (blocksLeaks) throw new ControlFailed('canary_leak');
      };
      function* cut(text: string): Steps<string> {
        const { texts, leaked } = yield* ready(withoutMarkers([text], codes, owner));
        if (leaked) onLeak();
        return texts[0] ?? '';
      }
      const guarded =
        codes.length === 0
          ? []
          : [channelStage({ grammar, open: () => inSlices(canaryStream(codes, onLeak)), whole: (text) => taken(cut(text)) })];
      return session
        ? [
            ...guarded,
            channelStage({
              grammar,
              open: (kind) => failing(session.stream(kind === 'tool_args' ? 'json' : 'text')),
              whole: (text) => (text === '' ? '' : orPiiUnavailable(async () => (await session.answer([text]))[0] ?? text)),
            }),
          ]
        : guarded;
    },
  };
}

/** @throws ControlFailed firewall_unavailable, also as a rejection, when no thread could look */
function withoutMarkers(...asked: Parameters<typeof cutMarkers>): ReturnType<typeof cutMarkers> {
  const cut = cutMarkers(...asked);
  return cut instanceof Promise
    ? cut.catch((error: unknown) => {
        throw new ControlFailed('firewall_unavailable', error);
      })
    : cut;
}

const textsOf = (refs: readonly TextRef[]): string[] => refs.map(({ text }) => text);

function setAll(refs: readonly TextRef[], texts: readonly string[]): void {
  for (const [i, ref] of refs.entries()) if (texts[i] !== ref.text) ref.set(texts[i] as string);
}

/** Replaces all texts by what a step of PII makes of them. */
async function replace(refs: readonly TextRef[], step: PooledPii['request']): Promise<void> {
  setAll(refs, await orPiiUnavailable(() => step(textsOf(refs))));
}

/** A stream whose failures are those of the control. */
function failing(stream: PooledStream): PooledStream {
  return { push: (text) => orPiiUnavailable(() => stream.push(text)), flush: () => orPiiUnavailable(() => stream.flush()) };
}

/** What a person, a tool or a document says; of assistants only what the answer is to begin with. */
function scannedTexts(texts: readonly TextRef[]) {
  const last = texts.at(-1);
  return texts
    .filter((ref) => SCANNED.has(ref.role) || (ref === last && ref.role === 'assistant'))
    .map(({ role, text }) => ({ text, source: role === 'tool_result' ? ('data' as const) : ('person' as const) }));
}

const SCANNED: ReadonlySet<TextRole> = new Set<TextRole>(['user', 'tool_result']);

/** Without the markers, which are no one's business. */
async function messagesOf(texts: readonly TextRef[], codes: readonly string[], owner: string) {
  const refs = texts.filter(({ role }) => role !== 'metadata');
  const clean = await withoutMarkers(textsOf(refs), codes, owner);
  return refs.map(({ role }, i) => ({ role, text: clean.texts[i] as string }));
}

function counted(pii: PooledPii | undefined): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const map of pii ? [pii.requestCounts, pii.answerCounts] : [])
    for (const [entity, n] of map) counts[entity] = (counts[entity] ?? 0) + n;
  return counts;
}

const preparedSchemas = new WeakMap<object, Promise<OutputSchema>>();

/** Prepared once a version of the agent. @throws InvalidSchema for a stored schema that can't be run any more */
function schemaOf(schema: object): Promise<OutputSchema> {
  let prepared = preparedSchemas.get(schema);
  if (prepared === undefined) {
    prepared = outputSchema(schema);
    preparedSchemas.set(schema, prepared);
  }
  return prepared;
}

function refusalOf(error: unknown): AiRefused {
  // Whoever manages the agent can mend it, and learns here what is wrong with it.
  if (error instanceof InvalidSchema)
    return aiRefusal('output_schema_unavailable', `The output schema of this agent can't be run: ${error.message}. Change the schema.`, {
      cause: error,
    });
  const code = error instanceof ControlFailed ? error.code : 'internal_error';
  return aiRefusal(code, DESCRIPTIONS[code] ?? 'Something went wrong on our side.', { cause: error });
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  firewall_unavailable: 'The prompt firewall could not run, so the call was refused.',
  pii_unavailable: 'Personal data in this call could not be checked, so the call was refused.',
  canary_leak: 'The answer repeats the system prompt, so it was withheld.',
};

function raise(
  { snapshot, agent, gateway, requestId, user, model }: ControlledCall,
  type: 'ai.firewall.blocked' | 'ai.canary.leaked',
  data: Record<string, unknown>,
): void {
  raiseFromCall({
    tenant_id: snapshot.tenant.id,
    sandbox: snapshot.sandbox,
    type,
    source_id: agent.id,
    data: { agent_id: agent.id, agent: agent.slug, gateway_id: gateway?.id ?? null, request_id: requestId, user, model, ...data },
  });
}
