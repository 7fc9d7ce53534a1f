import { outcomeOf } from '#server/ai/firewall/scan.ts';
import type { PiiCounts } from '#server/ai/pii/rewrite.ts';
import type { PiiModes } from '#server/ai/pii/session.ts';
import { scanTexts } from '#server/custody/ai/detectors/firewall.ts';
import { type PooledPii, pooledPii } from '#server/custody/ai/detectors/pii.ts';
import { copyJson } from '#server/kernel/lossless-json.ts';
import { fault, type RpcFault } from '#server/mcp/errors.ts';
import type { Params } from '#server/mcp/messages.ts';
import { resultTexts, type TextSlot, textSlots } from '#server/mcp/text-slots.ts';
import { log } from '#server/platform/log.ts';
import { raiseFromCall } from '../core/events.ts';
import type { Runtime } from '../core/runtime.ts';
import { askGuardrail } from '../governance/controls/guardrail.ts';
import type { McpCall } from './mcp-call.ts';
import type { Offer } from './offers.ts';
import { tokenizerFor } from './pii-memory.ts';

// What stands between a caller and a tool (interface rule 52 §6, stages 8 to 10 and 14). A control that can't run refuses the call.

export type Controls = {
  /** Changes the arguments in place: what leaves is what was checked. */
  arguments(args: Params): Promise<RpcFault | undefined>;
  result(result: Params): Promise<RpcFault | undefined>;
  /** Changes what is told on the way in place. False: its words may not be passed on. */
  progress(params: Params): Promise<boolean>;
};

export function controlsOf(call: McpCall, runtime: Runtime, offer: Offer): Controls {
  return {
    async arguments(args) {
      const slots = textSlots(args);
      return (
        (await firewall(call, offer, [slots.map(({ text }) => text).join('\n')], 'person')) ??
        (await replaceInArguments(call, runtime, offer, args)) ??
        (await guardrail(call, runtime, offer, 'request', JSON.stringify(args)))
      );
    },
    async progress(params) {
      const slots = textSlots(params).filter(({ text }) => text !== params.progressToken);
      if (slots.length === 0) return true;
      // A guardrail is asked about whole answers: one question for each word on the way would be a flood of them.
      const { guardrail: webhook } = offer.server;
      if (webhook !== null && webhook.mode !== 'request') return false;
      const refused =
        (await firewall(call, offer, [slots.map(({ text }) => text).join('\n')], 'data')) ??
        (await replaceInAnswer(call, runtime, offer, slots));
      return refused === undefined;
    },
    async result(result) {
      const { running, structured, binary } = resultTexts(result);
      if (binary) note(call, 'unscanned_binary');
      const texts = [...running, ...structured].map(({ text }) => text);
      return (
        // An order that was cut in two is one again where the model reads it.
        (await firewall(
          call,
          offer,
          [texts.join('\n'), ...(running.length > 1 ? [running.map(({ text }) => text).join('')] : [])],
          'data',
        )) ??
        (await replaceInResult(call, runtime, offer, result)) ??
        (await guardrail(call, runtime, offer, 'response', shownTo(result)))
      );
    },
  };
}

/** The arguments as a person may see them who decides about the call. */
export async function shownArguments(call: McpCall, runtime: Runtime, offer: Offer, args: Params): Promise<Params | RpcFault> {
  if (!offer.server.piiInspection) return args;
  const copy = copyJson(args);
  try {
    await replace(textSlots(copy), (await piiOf(call, runtime, offer, 'redact')).answer);
    return copy;
  } catch (error) {
    return unavailable(call, 'pii_unavailable', 'The arguments of this call could not be searched for personal data.', error);
  }
}

function note({ state }: McpCall, warning: string): void {
  if (!state.warnings.includes(warning)) state.warnings.push(warning);
}

async function firewall(
  call: McpCall,
  { server, name }: Offer,
  texts: readonly string[],
  source: 'person' | 'data',
): Promise<RpcFault | undefined> {
  if (texts.every((text) => text === '')) return undefined;
  try {
    const policy = call.snapshot.aiPolicies.firewall(server.firewallPolicyId);
    const scanned = texts.map((text) => ({ text, source }));
    const hits = (await scanTexts(policy, scanned, call.snapshot.tenant.id)).flat();
    const outcome = outcomeOf(hits, policy);
    if (outcome === undefined) return undefined;
    const rules = [...new Set(hits.map(({ rule }) => rule))];
    for (const rule of rules) if (!call.state.firewall.includes(rule)) call.state.firewall.push(rule);
    if (outcome !== 'block') return undefined;
    const { tenant, sandbox } = call.snapshot;
    const data = {
      plane: 'mcp',
      request_id: call.requestId,
      mcp_server_id: server.id,
      tool: name,
      rule: rules[0],
      phase: source === 'data' ? 'response' : 'request',
    };
    raiseFromCall({ tenant_id: tenant.id, sandbox, type: 'ai.firewall.blocked', source_id: server.id, data });
    const what = source === 'data' ? "The tool's answer" : 'The arguments';
    return fault('firewall_block', `${what} matched the rule ${rules[0]} of the prompt firewall.`, { data: { rule: rules[0] } });
  } catch (error) {
    return unavailable(call, 'firewall_unavailable', 'The prompt firewall could not check this call.', error);
  }
}

async function replaceInArguments(call: McpCall, runtime: Runtime, offer: Offer, args: Params): Promise<RpcFault | undefined> {
  if (!offer.server.piiInspection) return undefined;
  try {
    const pii = await piiOf(call, runtime, offer, 'redact');
    await replace(textSlots(args), pii.request);
    count(call, pii.requestCounts);
    return undefined;
  } catch (error) {
    return unavailable(call, 'pii_unavailable', 'The arguments of this call could not be searched for personal data.', error);
  }
}

async function replaceInResult(call: McpCall, runtime: Runtime, offer: Offer, result: Params): Promise<RpcFault | undefined> {
  if (!offer.server.piiInspection) return undefined;
  try {
    const pii = await piiOf(call, runtime, offer, 'detokenize');
    const { running, structured } = resultTexts(result);
    await replace(running, pii.running);
    await replace(structured, pii.answer);
    count(call, pii.answerCounts);
    return undefined;
  } catch (error) {
    return unavailable(call, 'pii_unavailable', "The tool's answer could not be searched for personal data.", error);
  }
}

async function replaceInAnswer(call: McpCall, runtime: Runtime, offer: Offer, slots: readonly TextSlot[]): Promise<RpcFault | undefined> {
  if (!offer.server.piiInspection) return undefined;
  try {
    const pii = await piiOf(call, runtime, offer, 'detokenize');
    await replace(slots, pii.answer);
    count(call, pii.answerCounts);
    return undefined;
  } catch (error) {
    return unavailable(call, 'pii_unavailable', 'What the tool told on its way could not be searched for personal data.', error);
  }
}

/** The PII control of the server over texts of one call, which counts what it finds. Rejects where it can't run. */
async function piiOf(call: McpCall, runtime: Runtime, { server }: Offer, responseMode: PiiModes['responseMode']): Promise<PooledPii> {
  const rules = call.snapshot.aiPolicies.pii(server.piiPolicyId);
  if (rules.needsSidecar) throw new Error('a recognizer of the policy needs a sidecar');
  const tokenizer = await tokenizerFor(call, runtime, server);
  return pooledPii({ rules, tokenizer, requestMode: 'tokenize', responseMode, owner: call.snapshot.tenant.id });
}

/** Replaces all texts by what a step makes of them. */
async function replace(slots: readonly TextSlot[], step: PooledPii['request']): Promise<void> {
  const texts = await step(slots.map(({ text }) => text));
  for (const [i, slot] of slots.entries()) slot.replace(texts[i] as string);
}

function count({ state }: McpCall, counts: PiiCounts): void {
  for (const [entity, times] of counts) state.pii[entity] = (state.pii[entity] ?? 0) + times;
}

async function guardrail(
  call: McpCall,
  runtime: Runtime,
  { server, name }: Offer,
  phase: 'request' | 'response',
  text: string,
): Promise<RpcFault | undefined> {
  const { guardrail: webhook } = server;
  if (webhook === null || (webhook.mode !== phase && webhook.mode !== 'both')) return undefined;
  const { state, snapshot, requestId } = call;
  const gateway = snapshot.ai.gatewaysById.get(server.gatewayId);
  const guarded = {
    id: server.id,
    slug: server.slug,
    guardrail_webhook_url: webhook.url,
    guardrail_webhook_secret_id: webhook.secretId,
    guardrail_webhook_timeout_ms: webhook.timeoutMs,
  };
  const verdict = await askGuardrail(runtime, snapshot, guarded, {
    phase,
    plane: 'mcp',
    requestId,
    gateway: gateway ? { id: gateway.id, slug: gateway.slug } : null,
    user: state.principal?.user?.externalId ?? null,
    model: null,
    provider: 'mcp',
    operation: 'tools/call',
    messages: [{ role: 'tool', text, tool_name: name }],
  });
  state.guardrail = verdict.action;
  if (verdict.action === 'allow') return undefined;
  if (verdict.action === 'block')
    return fault('guardrail_block', 'A guardrail of this MCP server blocked the call.', { data: { guardrail_message: verdict.message } });
  if (webhook.failureAction === 'fail_open') {
    note(call, 'guardrail_skipped');
    return undefined;
  }
  return fault('guardrail_unavailable', 'The guardrail of this MCP server gave no verdict, so the call was refused.');
}

/** Texts of a result as one; a guardrail reads no pictures. */
function shownTo(result: Params): string {
  const { running, structured } = resultTexts(result);
  return [...running, ...structured].map(({ text }) => text).join('\n');
}

function unavailable(call: McpCall, code: 'firewall_unavailable' | 'pii_unavailable', message: string, error: unknown): RpcFault {
  log.warn({ err: error, request_id: call.requestId }, 'a control of the MCP plane could not run; the call is refused');
  return fault(code, message, { cause: error });
}
