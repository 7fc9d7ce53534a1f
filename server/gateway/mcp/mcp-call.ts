import type { RpcId } from '#server/mcp/messages.ts';
import type { SessionClaims } from '#server/mcp/sessions.ts';
import type { Era } from '#server/mcp/versions.ts';
import type { Call } from '../core/call.ts';
import type { InProcess } from '../core/in-process.ts';
import { newGovernedState } from '../governance/governed-call.ts';
import type { Reserved } from '../governance/ledger/ledger.ts';
import type { Subject } from '../governance/ledger/subjects.ts';
import type { CallFacts, Charge } from '../governance/log/row.ts';
import type { McpServer } from '../snapshot/mcp-servers.ts';

/** What a path of the plane names. */
export type Place = { readonly kind: 'server'; readonly slug: string } | { readonly kind: 'aggregate' } | { readonly kind: 'nothing' };

export type McpCall = Call<McpState>;
export type McpState = ReturnType<typeof newMcpState>;

/** What the phases of the MCP plane note of a call. */
export function newMcpState() {
  return {
    ...newGovernedState(),

    /** Calls of the workspace's own routes. */
    routes: null as InProcess | null,

    // inspect
    place: { kind: 'nothing' } as Place,
    /** Of the web page that calls, when its origin is allowed; CORS headers name it. */
    origin: null as string | null,

    // guard
    /** The server that the path names; null for the aggregate of all. */
    server: null as McpServer | null,
    /** The person whom an access token acts for. */
    person: null as string | null,

    // serve
    id: null as RpcId | null,
    era: 'legacy' as Era,
    version: '',
    /** Null for a body that is no message. */
    method: null as string | null,
    session: null as SessionClaims | null,
    sessionId: null as string | null,

    // tools/call
    tool: null as string | null,
    /** The server that has the tool: in the aggregate not that of the path. */
    target: null as McpServer | null,
    subjects: [] as readonly Subject[],
    reserved: null as Reserved | null,
    charges: [] as Charge[],
    outcome: null as CallFacts['status'] | null,
    firewall: [] as string[],
    pii: {} as Record<string, number>,
    guardrail: null as string | null,
    warnings: [] as string[],
  };
}
