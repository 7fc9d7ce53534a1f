import type { UpstreamUrl } from '#server/kernel/upstream-url.ts';
import type { Call } from '../core/call.ts';
import type { WrapToken } from '../credentials/wrap-tokens.ts';
import type { Secret } from '../snapshot/model.ts';
import type { Resolution } from '../templates/resolution.ts';
import type { TemplateState } from '../templates/template-call.ts';
import type { Encrypted } from './templates/encrypted.ts';
import type { Scanned } from './templates/scan.ts';

export type EphemeralCall = Call<EphemeralState>;
export type EphemeralState = ReturnType<typeof newEphemeralState>;

/** What the phases of the two planes note of a call: `/v1/proxy`, whose caller names the upstream, and `/wg`, whose token does. */
export function newEphemeralState() {
  return {
    // What templates and secrets ask of every call; there is no route.
    route: null as TemplateState['route'],
    config: null as TemplateState['config'],
    environmentName: '',
    query: null as string | null,
    test: null as TemplateState['test'],

    // inspect
    /** Headers of §2.1 by their lower-case names, trimmed. */
    own: new Map<string, string>(),
    /** The query of the call itself, without `?`. */
    calledQuery: null as string | null,
    mode: 'template' as 'template' | 'transparent',

    // /wg
    token: null as WrapToken | null,
    /** What follows the host: path and query, byte for byte. */
    rest: '/',
    hostSegment: null as string | null,

    // address
    url: null as UpstreamUrl | null,

    // scan
    encrypted: null as Encrypted | null,
    scanned: null as Scanned | null,

    // find_credential
    credentialMode: 'none' as 'none' | 'transit' | 'escrow',
    secret: null as Secret | null,

    // open
    resolution: null as Resolution | null,
    /** Vault token -> value. */
    values: null as ReadonlyMap<string, string> | null,

    /** Ends an answer that goes on for too long. */
    deadline: undefined as NodeJS.Timeout | undefined,
    overdue: false,
  };
}
