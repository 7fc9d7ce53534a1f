import { uuidV7 } from '#server/crypto/random.ts';
import { approval } from '#server/custody/mcp/approvals.ts';
import { noteToolCalled } from '#server/custody/mcp/tools.ts';
import { copyJson } from '#server/kernel/lossless-json.ts';
import { argumentFaults } from '#server/mcp/arguments.ts';
import type { Envelope } from '#server/mcp/envelope.ts';
import { fault, GATEWAY_PAUSED, isFault, type RpcFault, SERVER_PAUSED } from '#server/mcp/errors.ts';
import { isObject, type Params, type RpcRequest } from '#server/mcp/messages.ts';
import { parameterMismatch } from '#server/mcp/parameter-headers.ts';
import { asksForInput, asksOnlyForForms, isToolResult, relayedResult } from '#server/mcp/results.ts';
import type { Reply } from '#server/mcp/upstream/reply.ts';
import { log } from '#server/platform/log.ts';
import type { ANSWERED } from '../../core/plane.ts';
import type { Runtime } from '../../core/runtime.ts';
import { watchStream } from '../../governance/watch.ts';
import { AnswerStream, answerFault, gone } from '../answer.ts';
import { brokenRule } from '../argument-rules.ts';
import { cancelable } from '../cancellation.ts';
import { callRoute } from '../collection.ts';
import { type Controls, controlsOf, shownArguments } from '../controls.ts';
import { faultOf } from '../faults.ts';
import { clientOf } from '../links.ts';
import type { McpCall } from '../mcp-call.ts';
import { charge, reservePrice } from '../money.ts';
import { findOffer, type Offer } from '../offers.ts';
import { Progress } from '../progress.ts';
import type { Sending } from '../sending.ts';
import { serverInfo } from '../server-info.ts';
import { serverWait } from '../server-rate.ts';
import { callUpstream } from '../upstream-call.ts';

const MOST_ARGUMENTS = 256 * 1024;

/** One call of a tool, through the stages of interface rule 52 §6 in their order: nothing leaves before every refusal that can be known. */
export async function callTool(call: McpCall, runtime: Runtime, request: RpcRequest, envelope: Envelope): Promise<typeof ANSWERED> {
  const { name, arguments: given = {} } = request.params;
  if (typeof name !== 'string' || name === '') return answerFault(call, fault('invalid_params', 'params.name must name a tool.'));
  call.state.tool = name.slice(0, 300);
  const { controller, done } = cancelable(call);
  let stopWatching = watch(call, runtime, controller);
  const stream = new AnswerStream(call);
  try {
    const offer = await findOffer(call, runtime, name, clientOf(request.params));
    if (isFault(offer)) return answerFault(call, offer);
    call.state.target = offer.server;
    // In the aggregate a person's token is of no gateway before.
    stopWatching();
    stopWatching = watch(call, runtime, controller);
    const checked = await judge(call, runtime, offer, given, controller.signal);
    if (isFault(checked)) return answerFault(call, checked);
    const controls = controlsOf(call, runtime, offer);
    const inputs = inputsOf(request.params, offer);
    const refused = await controls.arguments({ arguments: checked.args, ...inputs });
    if (refused) return answerFault(call, refused);
    const progress = new Progress(call, stream, controls, request.params);
    const reply = await send({ call, runtime, request, envelope, offer, args: checked.args, inputs, signal: controller.signal, progress });
    await progress.done();
    return await finish(call, offer, envelope, controls, stream, reply, controller.signal);
  } finally {
    stopWatching();
    done();
  }
}

/** A person's answers to what the tool asked for before, and the upstream's own state, which is passed both ways unchanged. */
function inputsOf({ inputResponses, requestState }: Params, { server }: Offer): Params {
  if (!server.allowElicitation) return {};
  return {
    ...(isObject(inputResponses) && { inputResponses: copyJson(inputResponses) }),
    ...(typeof requestState === 'string' && { requestState }),
  };
}

/** A token that is revoked, and a gateway or a server that is paused, end what is under way. */
function watch(call: McpCall, runtime: Runtime, controller: AbortController): () => void {
  const { principal, presented, person, target, server } = call.state;
  if (!principal) return () => undefined;
  const { token } = principal;
  const served = target ?? server;
  const text = presented?.text ?? null;
  let isPaused = false;
  return watchStream(runtime, {
    principal: { ...principal, token: { ...token, gatewayId: served?.gatewayId ?? token.gatewayId } },
    text: person === null ? text : null,
    hasEnded: person === null || text === null ? undefined : () => hasEnded(runtime, text, token.expiresAt),
    isOff({ mcp }) {
      isPaused = served !== null && mcp.serversById.get(served.id)?.status !== 'active';
      return isPaused;
    },
    stop: (cause) => controller.abort(isPaused ? 'server_not_active' : cause),
  });
}

/** Whether an access token was revoked, or its person may no longer use it. One that only ran out lets a call end that it began. */
function hasEnded({ tokens }: Runtime, text: string, expiresAt: number): boolean | Promise<boolean> {
  if (Date.now() >= expiresAt) return false;
  const found = tokens.find(text);
  return found instanceof Promise ? found.then((token) => token === null) : found === null;
}

/** Stages 5 to 7: the arguments, the rules about them, a person's word, and the budgets. */
async function judge(
  call: McpCall,
  runtime: Runtime,
  offer: Offer,
  given: unknown,
  signal: AbortSignal,
): Promise<{ args: Params } | RpcFault> {
  if (!isObject(given)) return fault('invalid_arguments', 'params.arguments must be an object.');
  const text = JSON.stringify(given);
  if (Buffer.byteLength(text) > MOST_ARGUMENTS) return fault('invalid_arguments', 'The arguments must not exceed 256 KiB.');
  const mirrored =
    call.state.era === 'modern' ? parameterMismatch(offer.listed.parameters, given, (name) => headerOf(call, name)) : undefined;
  if (mirrored) return fault('header_mismatch', mirrored);
  const faults = await argumentFaults(offer.tool.inputSchema, given);
  if (faults === null) call.state.warnings.push('arguments_unchecked');
  else if (faults.length > 0)
    return fault(
      'invalid_arguments',
      `The arguments don't fit the tool's schema: ${faults.map(({ path, message }) => `${path} ${message}`).join('; ')}.`,
      {
        data: { errors: faults },
      },
    );
  const { row } = offer;
  const broken = row ? await brokenRule(row.rules, given, { characters: text.length, owner: call.snapshot.tenant.id }) : null;
  if (broken && isFault(broken)) return broken;
  if (broken)
    return fault('argument_rule', `A rule of this workspace forbids these arguments (${broken.op} at ${broken.path}).`, {
      data: { rule: broken },
    });
  // In the aggregate the server is known only now.
  const wait = call.state.server === offer.server ? 0 : await serverWait(offer.server, call.receivedAt);
  if (wait > 0)
    return fault('rate_limited', `Rate limit of this MCP server exceeded: ${offer.server.rpm} calls per minute.`, { retryAfter: wait });
  const held = row?.needsApproval ? await awaitApproval(call, runtime, offer, given, signal) : undefined;
  return held ?? (await reservePrice(call, offer)) ?? { args: copyJson(given) };
}

const headerOf = ({ req }: McpCall, name: string): string | undefined => {
  const value = req.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
};

async function awaitApproval(
  call: McpCall,
  runtime: Runtime,
  offer: Offer,
  args: Params,
  signal: AbortSignal,
): Promise<RpcFault | undefined> {
  const { principal } = call.state;
  if (!principal) return fault('missing_auth', 'The call was not authenticated.');
  const shown = await shownArguments(call, runtime, offer, args);
  if (isFault(shown)) return shown;
  const { tenant, sandbox } = call.snapshot;
  const { token, user } = principal;
  const held = {
    serverId: offer.server.id,
    tool: offer.tool.name,
    token: { id: token.id, label: token.name ?? token.prefix },
    user: token.scope.user ?? user?.externalId ?? null,
    args,
    shown,
    requestId: call.requestId,
  };
  const { outcome, approvalId } = await approval({ tenant_id: tenant.id, sandbox }, held, { signal });
  if (outcome === 'approved') return undefined;
  const message =
    outcome === 'denied'
      ? 'A person has denied this call.'
      : outcome === 'too_large'
        ? "This call needs a person's approval, and its arguments are too large to be shown whole. Send smaller ones."
        : 'A person must approve this call first. Repeat it with the same arguments after the approval.';
  return fault('approval_required', message, { data: { approval_id: approvalId, outcome } });
}

/** Stages 11 and 12: the credential, and the call itself, which is made once. */
async function send(sending: Sending): Promise<Reply | RpcFault> {
  const { call, offer } = sending;
  if (sending.signal.aborted) return { kind: 'canceled' };
  const { row } = offer;
  if (row) {
    const { tenant, sandbox } = call.snapshot;
    noteToolCalled({ tenant_id: tenant.id, sandbox }, row.id).catch((error: unknown) =>
      log.debug({ err: error }, 'a call of a tool was not noted'),
    );
  }
  const began = performance.now();
  const reply = offer.server.type === 'collection' ? await callRoute(sending) : await callUpstream(sending, uuidV7());
  call.upstreamMs = Math.round(performance.now() - began);
  if (!isFault(reply) || reply.code.startsWith('upstream_') || reply.code === 'result_too_large') charge(call, offer);
  return reply;
}

/** Stages 13 and 14: what came back, as the caller may read it. */
async function finish(
  call: McpCall,
  offer: Offer,
  { era }: Envelope,
  controls: Controls,
  stream: AnswerStream,
  reply: Reply | RpcFault,
  signal: AbortSignal,
): Promise<typeof ANSWERED> {
  const refuse = (refusal: RpcFault): typeof ANSWERED => stream.fault(refusal);
  if (signal.aborted && typeof signal.reason === 'string') return refuse(endedBy(signal.reason));
  if (isFault(reply)) return refuse(reply);
  if (reply.kind === 'canceled') return call.res.destroyed ? gone(call) : refuse(fault('canceled', 'The call was canceled.'));
  if (reply.kind === 'error') {
    // Models read these as well as results.
    const told = { type: 'text', text: reply.message };
    const blocked = await controls.result({ content: [told] });
    if (blocked) return refuse(blocked);
    call.origin = 'upstream';
    call.upstreamStatus = reply.status;
    call.state.outcome = 'ok';
    return stream.relayed(reply.code, told.text);
  }
  if (reply.kind !== 'result') return refuse(faultOf(reply));
  const { result } = reply;
  if (asksForInput(result)) {
    if (!offer.server.allowElicitation || era !== 'modern' || !asksOnlyForForms(result))
      return refuse(fault('input_required_refused', 'The tool asked for input that this MCP server may not ask for.'));
  } else if (!isToolResult(result)) return refuse(fault('upstream_invalid_response', "The tool's answer is not a valid result."));
  const blocked = await controls.result(result);
  if (blocked) return refuse(blocked);
  call.origin = 'upstream';
  if (result.isError === true) call.error = 'tool_error';
  call.state.outcome = 'ok';
  return stream.result(
    asksForInput(result) ? result : relayedResult(era, result, serverInfo(call)),
    result.isError === true ? 'tool_error' : null,
  );
}

function endedBy(cause: string): RpcFault {
  if (cause === 'revoked') return fault('missing_auth', 'The call was ended because its token was revoked. Get a new token.');
  if (cause === 'server_not_active') return fault('server_not_active', `The call was ended. ${SERVER_PAUSED}`);
  return fault('gateway_not_active', `The call was ended. ${GATEWAY_PAUSED}`);
}
