import { asRefusal, Refusal } from '#server/kernel/errors.ts';
import { logFailure } from '#server/platform/log-failure.ts';
import { type Edge, edgeOf } from '../edge.ts';
import { managementFailure } from '../envelope.ts';
import { bodyOf, parseJsonObject } from '../input.ts';
import { json, refusalHeaders, respond, type Wire } from '../respond.ts';
import { authenticated } from './authenticate.ts';
import { callOf } from './calls.ts';

/** The plane of on-host agents (interface rule 63 §5) as one function. Success is bare JSON, a refusal the envelope of the Management API. */
export async function handleAgents(req: Request, edge: Edge | null = edgeOf(req.headers), now = new Date()): Promise<Response> {
  if (!edge) return new Response(null, { status: 404 });
  let wire: Wire;
  try {
    wire = await answer(req, edge, now);
  } catch (error) {
    const refusal = asRefusal(error);
    logFailure(refusal, edge.request_id, 'a call of an agent failed');
    const revoked = refusal.type === 'agent_revoked' ? { revoked: true } : {};
    wire = json(refusal.status, { ...managementFailure(refusal, edge.request_id), ...revoked }, refusalHeaders(refusal));
  }
  // The agent corrects its clock by it.
  return respond({ ...wire, headers: { date: now.toUTCString(), ...wire.headers } }, edge.request_id, 'uncompressed');
}

async function answer(req: Request, edge: Edge, now: Date): Promise<Wire> {
  const url = new URL(req.url);
  const { call, id, allow } = callOf(req.method, url.pathname);
  if (allow === undefined) throw new Refusal('not_found', 'No such path.');
  if (!call) throw new Refusal('method_not_allowed', `Method not allowed. This path supports ${allow}.`, { headers: { allow } });
  if (edge.fault) throw new Refusal(edge.fault, 'The request is too large.');
  const body = await bodyOf(req, call.limit);
  const asked = { ip: edge.ip, user_agent: edge.user_agent, request_id: edge.request_id, now };
  const fields = () => (req.method === 'GET' ? {} : parseJsonObject(body));
  if (call.credential === 'none') return call.run({ asked, edge, fields: fields() });
  const caller = await authenticated(req, { credential: call.credential, path: url.pathname, body, edge, now });
  return call.run({ asked, edge, caller, fields: fields(), headers: req.headers, id });
}
