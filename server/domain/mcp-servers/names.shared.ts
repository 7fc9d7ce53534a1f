/** Slugs that mean something else below `/v1/mcp`, or stand for the service's own server. */
export const RESERVED_SLUGS: ReadonlySet<string> = new Set([
  'sse',
  'message',
  'messages',
  'health',
  'authorize',
  'token',
  'register',
  'sallyport',
]);

/** The MCP server of the Management API itself. */
export const OWN_SLUG = 'sallyport';

const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Why a header can't carry a credential to an upstream, or undefined. */
export function headerProblem(name: string): string | undefined {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/.test(name)) return 'must be a header name';
  const lower = name.toLowerCase();
  if (
    lower === 'host' ||
    lower === 'expect' ||
    HOP_BY_HOP.has(lower) ||
    /^(?:mcp-|content-|x-svc-)/.test(lower) ||
    lower === 'accept' ||
    lower === 'last-event-id'
  )
    return 'is set by the gateway';
  return undefined;
}
