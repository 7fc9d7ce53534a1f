// Revisions of the Model Context Protocol (interface rule 52 §3). Up to 2025-11-25 a client begins with `initialize` ("legacy"); since 2026-07-28 every
// request says in its own `_meta` what it speaks ("modern").

export type Era = 'legacy' | 'modern';

export const LEGACY_VERSIONS = ['2025-03-26', '2025-06-18', '2025-11-25'] as const;
export const LATEST_LEGACY = '2025-11-25';
export const MODERN_VERSION = '2026-07-28';
export const SUPPORTED_VERSIONS: readonly string[] = [...LEGACY_VERSIONS, MODERN_VERSION];

/** What a legacy request without the header speaks. */
export const DEFAULT_VERSION = '2025-03-26';

/** Members of `_meta` that the protocol reserves. */
export const META = {
  version: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
} as const;

export const isLegacyVersion = (version: unknown): version is (typeof LEGACY_VERSIONS)[number] =>
  (LEGACY_VERSIONS as readonly unknown[]).includes(version);

/** What `initialize` answers: the version asked for, or the latest one that has a handshake. */
export const negotiate = (asked: unknown): string => (isLegacyVersion(asked) ? asked : LATEST_LEGACY);
