import type { Keyring } from '#server/crypto/keyring.ts';
import type { MemoryCounters } from '#server/platform/counters/memory.ts';
import type { Counters } from '#server/platform/counters.ts';
import type { Resolver } from '#server/platform/http-out/resolver.ts';
import type { Pool, UpstreamPools } from '#server/platform/http-out/upstream-pool.ts';
import type { AccessTokens } from '../credentials/access-tokens.ts';
import type { AgentSessions } from '../credentials/agent-sessions.ts';
import type { ApiKeys } from '../credentials/api-keys.ts';
import type { CapabilityTokens } from '../credentials/capability-tokens.ts';
import type { WrapTokens } from '../credentials/wrap-tokens.ts';
import type { Snapshots } from '../snapshot/store.ts';
import type { BodyMemory } from './body-memory.ts';
import type { Call } from './call.ts';
import type { CertificateHeader } from './client-certificate.ts';
import type { LoggedPlane } from './log/logged-plane.ts';
import type { MonthlyCounters } from './monthly.ts';
import type { Quota } from './quota.ts';
import type { SecretValues } from './secret-values.ts';
import type { ShareGuard } from './share-guard.ts';
import type { TlsContexts } from './tls-contexts.ts';
import type { WebSockets } from './websocket/web-sockets.ts';

/** What calls are served with; one per process. */
export type Runtime = {
  snapshots: Snapshots;
  counters: Counters;
  monthly: MonthlyCounters;
  /** Failed authentications per address and workspace. */
  failures: MemoryCounters;
  /** Open WebSockets. */
  webSockets: WebSockets;
  /** Calls of gRPC under way, which may last as long. */
  grpcCalls: WebSockets;
  /** Running calls per workspace id. */
  inFlight: Map<string, number>;
  maxInFlight: number;
  bodies: BodyMemory;
  /** Bytes of bodies that are held for callers who are not admitted yet, per workspace id. */
  strangers: Quota;
  /** Bytes of payloads that are kept for the log, per workspace id. */
  captures: Quota;
  secrets: SecretValues;
  /** Secrets of other workspaces. */
  shares: ShareGuard;
  /** Certificates for upstreams, ready for connections. */
  tls: TlsContexts;
  resolver: Resolver;
  pools: UpstreamPools;
  /** The built-in echo upstream of the demonstration route. */
  echo: Pool | null;
  /** Access tokens, remembered for moments. */
  tokens: Pick<AccessTokens, 'find'>;
  /** Capability tokens of the AI planes, remembered for moments. */
  capabilities: CapabilityTokens;
  /** API keys by their text: they name the workspace of a call on the API host. */
  keys: Pick<ApiKeys, 'find'>;
  /** Gateway tokens, remembered for moments. */
  wraps: Pick<WrapTokens, 'find'>;
  /** Sessions of on-host agents, remembered for moments. */
  agents: Pick<AgentSessions, 'find'>;
  /** Keys of workspaces, as the snapshot holds them. */
  keyring: Keyring;
  /** Lower-case names of load-balancer headers that are not for upstreams. */
  privateHeaders: ReadonlySet<string>;
  /** In which certificates of callers are told; null when nobody tells them. */
  certificateHeader: CertificateHeader | null;
  /** Whether the answers of logged calls end only when their rows are in the journal. */
  journaled: boolean;
  /** Logs a finished call, and lets its answer end. Never throws, never waits. */
  record(call: Call, plane: LoggedPlane): void;
};
