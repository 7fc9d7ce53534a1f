import { issuerOf } from '#server/domain/oauth-grants/addresses.ts';
import { metadataDocument } from '#server/domain/tenants/addresses-mcp.ts';
import type { PhaseResult } from '../../core/plane.ts';
import { answer } from '../answer.ts';
import type { McpCall } from '../mcp-call.ts';
import { connectUrl, documentOf } from '../resources.ts';

const ANYWHERE = ['Access-Control-Allow-Origin', '*', 'Access-Control-Allow-Methods', 'GET', 'Access-Control-Allow-Headers', '*'];

/**
 * The metadata of a server (RFC 9728), public: with it a client finds where to sign in. `resource` is the URL that the client has dialed, which is what it
 * compares. An unknown server looks like an unknown workspace.
 */
export function describe(call: McpCall): PhaseResult {
  const mark = call.target.indexOf('?');
  const place = documentOf(mark < 0 ? call.target : call.target.slice(0, mark));
  if (place === undefined) return undefined;
  const { tenant, space, mcp } = call.snapshot;
  if (call.method === 'OPTIONS') return answer(call, { status: 204, body: '', fields: ANYWHERE });
  if (call.method !== 'GET' && call.method !== 'HEAD') {
    const error = { type: 'method_not_allowed', message: 'Method not allowed. This path supports GET, HEAD.', request_id: call.requestId };
    return answer(call, { status: 405, body: JSON.stringify({ error }), code: error.type, fields: [...ANYWHERE, 'Allow', 'GET, HEAD'] });
  }
  const server = place.kind === 'server' ? mcp.serversBySlug.get(place.slug) : undefined;
  if (place.kind === 'nothing' || (place.kind === 'server' && !server)) {
    const error = { type: 'tenant_not_found', message: 'No workspace found at this address.', request_id: call.requestId };
    return answer(call, { status: 404, body: JSON.stringify({ error }), code: error.type, fields: ANYWHERE });
  }
  const body = JSON.stringify(metadataDocument(connectUrl(tenant.slug, space, place), issuerOf(space), server?.name ?? tenant.slug));
  return answer(call, { status: 200, body, fields: [...ANYWHERE, 'Cache-Control', 'public, max-age=300'] });
}
