import { outcomeOf, scan } from '#server/ai/firewall/scan.ts';
import type { CompiledPolicy } from '#server/ai/pii/policy.ts';
import { applied, editsOf, marks, type Rewriting, rewritten } from '#server/ai/pii/rewrite.ts';
import type { Tokenizer } from '#server/ai/pii/tokenizer.ts';
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
};

export function controlsOf(call: McpCall, runtime: Runtime, offer: Offer): Controls {
  return {
    async arguments(args) {
      const slots = textSlots(args);
      return (
        firewall(call, offer, slots.map(({ text }) => text).join('\n'), 'person') ??
        (await replaceInArguments(call, runtime, offer, args)) ??
        (await guardrail(call, runtime, offer, 'request', JSON.stringify(args)))
      );
    },
    async result(result) {
      const { running, structured, binary } = resultTexts(result);
      if (binary) note(call, 'unscanned_binary');
      const texts = [...running, ...structured].map(({ text }) => text);
      return (
        firewall(call, offer, texts.join('\n'), 'data') ??
        // An order that was cut in two is one again where the model reads it.
        (running.length > 1 ? firewall(call, offer, running.map(({ text }) => text).join(''), 'data') : undefined) ??
        (await replaceInResult(call, runtime, offer, result)) ??
        (await guardrail(call, runtime, offer, 'response', shownTo(result)))
      );
    },
  };
}

/** The arguments as a person may see them who decides about the call. */
export async function shownArguments(call: McpCall, runtime: Runtime, { server }: Offer, args: Params): Promise<Params | RpcFault> {
  if (!server.piiInspection) return args;
  const copy = structuredClone(args);
  try {
    const rewriting = await rewritingOf(call, runtime, server, 'answer', false);
    for (const slot of textSlots(copy)) slot.replace(rewritten(slot.text, rewriting));
    return copy;
  } catch (error) {
    return unavailable(call, 'pii_unavailable', 'The arguments of this call could not be searched for personal data.', error);
  }
}

function note({ state }: McpCall, warning: string): void {
  if (!state.warnings.includes(warning)) state.warnings.push(warning);
}

function firewall(call: McpCall, { server, name }: Offer, text: string, source: 'person' | 'data'): RpcFault | undefined {
  if (text === '') return undefined;
  try {
    const policy = call.snapshot.aiPolicies.firewall(server.firewallPolicyId);
    const hits = scan(text, policy, source);
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

async function replaceInArguments(call: McpCall, runtime: Runtime, { server }: Offer, args: Params): Promise<RpcFault | undefined> {
  if (!server.piiInspection) return undefined;
  try {
    const rewriting = await rewritingOf(call, runtime, server, 'request', false);
    for (const slot of textSlots(args)) slot.replace(rewritten(slot.text, rewriting));
    count(call, rewriting);
    return undefined;
  } catch (error) {
    return unavailable(call, 'pii_unavailable', 'The arguments of this call could not be searched for personal data.', error);
  }
}

async function replaceInResult(call: McpCall, runtime: Runtime, { server }: Offer, result: Params): Promise<RpcFault | undefined> {
  if (!server.piiInspection) return undefined;
  try {
    const rewriting = await rewritingOf(call, runtime, server, 'answer', true);
    const { running, structured } = resultTexts(result);
    rewriteRunning(running, rewriting);
    for (const slot of structured) slot.replace(rewritten(slot.text, rewriting));
    count(call, rewriting);
    return undefined;
  } catch (error) {
    return unavailable(call, 'pii_unavailable', "The tool's answer could not be searched for personal data.", error);
  }
}

/**
 * Texts that are read one after another: each is searched by itself, and all of them as one, so that a value that is cut in two is found as well. What is found
 * across a border is replaced in the first of its texts and taken out of the others.
 */
export function rewriteRunning(slots: readonly TextSlot[], rewriting: Rewriting): void {
  const joined = slots.map(({ text }) => text).join('');
  const starts: number[] = [];
  for (let i = 0, at = 0; i < slots.length; i++) {
    starts.push(at);
    at += (slots[i] as TextSlot).text.length;
  }
  const own = slots.flatMap(({ text }, i) =>
    marks(text, 0, rewriting).map((mark) => ({
      ...mark,
      start: mark.start + (starts[i] as number),
      end: mark.end + (starts[i] as number),
    })),
  );
  // What one text holds by itself isn't continued by the next.
  const isNew = ({ start, end }: { start: number; end: number }) =>
    starts.some((at) => start < at && at < end) && !own.some((mark) => mark.start < end && start < mark.end);
  const across = slots.length > 1 ? marks(joined, 0, rewriting).filter(isNew) : [];
  let last = 0;
  const edits = editsOf(joined, [...own, ...across], rewriting).filter(({ start, end }) => {
    const fits = start >= last;
    if (fits) last = end;
    return fits;
  });
  slots.forEach((slot, i) => {
    const from = starts[i] as number;
    const to = from + slot.text.length;
    const mine = edits
      .filter(({ start, end }) => start < to && end > from)
      .map((edit) => ({
        start: Math.max(edit.start, from),
        end: Math.min(edit.end, to),
        replacement: edit.start >= from ? edit.replacement : '',
        counted: edit.start >= from ? edit.counted : undefined,
      }));
    if (mine.length > 0) slot.replace(applied(joined, from, to, mine, rewriting.counts));
  });
}

async function rewritingOf(
  call: McpCall,
  runtime: Runtime,
  server: Offer['server'],
  direction: Rewriting['direction'],
  restores: boolean,
): Promise<Rewriting> {
  const policy: CompiledPolicy = call.snapshot.aiPolicies.pii(server.piiPolicyId);
  const tokenizer: Tokenizer = await tokenizerFor(call, runtime, server);
  return { policy, tokenizer, direction, restores, counts: new Map() };
}

function count({ state }: McpCall, { counts }: Rewriting): void {
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
