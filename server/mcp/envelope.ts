import { fault, type RpcFault } from './errors.ts';
import { decodeHeaderValue } from './header-values.ts';
import { isObject, type RpcMessage } from './messages.ts';
import { DEFAULT_VERSION, type Era, isLegacyVersion, LEGACY_VERSIONS, META, MODERN_VERSION, SUPPORTED_VERSIONS } from './versions.ts';

/** In which words a message is meant. */
export type Envelope = {
  readonly era: Era;
  readonly version: string;
  /** What a modern client can do; empty for a legacy one, which said so at `initialize`. */
  readonly clientCapabilities: Readonly<Record<string, unknown>>;
};

/** The headers of a request that the protocol gives a meaning. */
export type ProtocolHeaders = {
  readonly version: string | undefined;
  readonly method: string | undefined;
  readonly name: string | undefined;
};

/** Decides the era of a message and checks what its headers say of it (interface rule 52 §3). */
export function readEnvelope(message: RpcMessage, headers: ProtocolHeaders): Envelope | RpcFault {
  const headerVersion = headers.version?.trim();
  const meta = message.kind !== 'response' && isObject(message.params._meta) ? message.params._meta : {};
  const claimed = meta[META.version];
  const modernHeader = headerVersion !== undefined && !isLegacyVersion(headerVersion) && headerVersion >= MODERN_VERSION;
  if (claimed === undefined ? !modernHeader : isLegacyVersion(claimed)) return legacyEnvelope(message, headerVersion);
  return message.kind === 'request'
    ? modernRequest(message.method, nameOf(message), meta, { ...headers, version: headerVersion })
    : modernOther(message, claimed, { ...headers, version: headerVersion });
}

function legacyEnvelope(message: RpcMessage, header: string | undefined): Envelope | RpcFault {
  const version = header ?? DEFAULT_VERSION;
  if (!isLegacyVersion(version) && !(message.kind === 'request' && message.method === 'initialize'))
    return fault('invalid_request', `MCP-Protocol-Version must be one of ${LEGACY_VERSIONS.join(', ')}.`, {
      data: { supported: SUPPORTED_VERSIONS, requested: version },
    });
  return { era: 'legacy', version, clientCapabilities: {} };
}

type Meta = Readonly<Record<string, unknown>>;

/** The order of the checks: what the body says of itself, whether the header says the same, whether we speak it, the other headers. */
function modernRequest(method: string, name: string | undefined, meta: Meta, headers: ProtocolHeaders): Envelope | RpcFault {
  const { [META.version]: version, [META.clientCapabilities]: capabilities } = meta;
  if (typeof version !== 'string') return incomplete(META.version);
  if (!isObject(capabilities)) return incomplete(META.clientCapabilities);
  if (headers.version === undefined) return mismatch('The header MCP-Protocol-Version is missing.');
  if (headers.version !== version) return mismatch('The header MCP-Protocol-Version differs from the version in _meta.');
  if (version !== MODERN_VERSION)
    return fault('unsupported_version', 'This protocol version is not supported.', {
      data: { supported: SUPPORTED_VERSIONS, requested: version },
    });
  if (headers.method === undefined) return mismatch('The header Mcp-Method is missing.');
  if (headers.method.trim() !== method) return mismatch('The header Mcp-Method differs from the method of the body.');
  if (name !== undefined) {
    if (headers.name === undefined) return mismatch('The header Mcp-Name is missing.');
    if (decodeHeaderValue(headers.name.trim()) !== name) return mismatch('The header Mcp-Name differs from the name in the body.');
  }
  return { era: 'modern', version, clientCapabilities: capabilities };
}

/** Of a notification only the header is required. */
function modernOther(message: RpcMessage, claimed: unknown, headers: ProtocolHeaders): Envelope | RpcFault {
  if (message.kind === 'response') return fault('invalid_request', 'Responses are not accepted: this server sends no requests.');
  if (claimed !== undefined && headers.version !== undefined && headers.version !== claimed)
    return mismatch('The header MCP-Protocol-Version differs from the version in _meta.');
  if (headers.method !== undefined && message.kind === 'notification' && headers.method.trim() !== message.method)
    return mismatch('The header Mcp-Method differs from the method of the body.');
  const version = claimed ?? headers.version;
  if (version !== MODERN_VERSION)
    return fault('unsupported_version', 'This protocol version is not supported.', {
      data: { supported: SUPPORTED_VERSIONS, requested: String(version).slice(0, 64) },
    });
  return { era: 'modern', version, clientCapabilities: {} };
}

/** What Mcp-Name mirrors. */
const nameOf = ({ method, params }: Extract<RpcMessage, { kind: 'request' }>): string | undefined =>
  method === 'tools/call' && typeof params.name === 'string' ? params.name : undefined;

const incomplete = (key: string) => fault('invalid_envelope', `params._meta must have ${key}.`, { data: { envelope: { missing: [key] } } });
const mismatch = (message: string) => fault('header_mismatch', message);
