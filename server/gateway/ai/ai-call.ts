import type { CachedCall, Question } from '#server/ai/cache/key.ts';
import type { JsonObject } from '#server/ai/json.ts';
import type { Adapter } from '#server/ai/shapes/adapter.ts';
import type { Detected, Undetected } from '#server/ai/shapes/detect.ts';
import type { Call } from '../core/call.ts';
import type { CallControls } from '../governance/controls/call-controls.ts';
import { type GovernedState, newGovernedState } from '../governance/governed-call.ts';
import type { Reserved } from '../governance/ledger/ledger.ts';
import type { CounterKey } from '../governance/ledger/subjects.ts';
import type { Charge } from '../governance/log/row.ts';
import type { AiAgentConfig, AiGatewayConfig } from '../snapshot/ai-config.ts';
import type { TemplateState } from '../templates/template-call.ts';
import type { ImageUpload } from './image-upload.ts';

export type AiCall = Call<AiState>;

/** What a call asked for, and what it gets (interface rule 51 §5.7). */
export type CallModel = { readonly requested: string; readonly final: string };

/** How a call may use the answers that are kept of its agent. */
export type CachePlan = {
  readonly call: CachedCall;
  readonly key: Buffer;
  /** What the call can be compared with others by; undefined where only the same request has the same answer. */
  readonly question: Question | undefined;
  /** The question's embedding, once its provider made it. */
  vector: Float32Array | null;
  readonly reads: boolean;
  writes: boolean;
};

/** What the phases of the AI plane note of a call. */
export type AiState = GovernedState &
  TemplateState & {
    // inspect
    slug: string;
    /** What follows the slug, with its query. */
    rest: string;
    userHeader: string | null;
    conversationId: string | null;
    sessionId: string | null;
    tagsHeader: string | null;
    cacheControl: string | null;
    anthropicVersion: boolean;

    // find_agent
    agent: AiAgentConfig | null;
    gateway: AiGatewayConfig | null;

    // authorize
    detected: Detected | Undetected | null;

    // read_body
    adapter: Adapter | null;
    body: JsonObject | null;
    /** A body that isn't JSON, as it came: uploads of audio and images. */
    multipart: boolean;
    /** What the fields of an upload ask for, where it is one for images. */
    upload: ImageUpload | null;

    // choose_model and after it
    model: CallModel | null;
    stream: boolean;
    /** The most output tokens of this call, when something limits them. */
    ceiling: number | null;

    /** The key of the agent that was sent last; null: the route's own secret. */
    providerKey: string | null;
    /** The provider that was called last. */
    provider: string;
    /** The model that it was asked for; null before a call. */
    sentModel: string | null;
    /** How it stands with the cache, for `X-Svc-AI-Cache`; null for calls that have none. */
    cache: 'off' | 'hit' | 'semantic-hit' | 'miss' | 'bypass' | 'degraded' | null;
    /** Null: nothing is looked up or kept for this call. */
    cachePlan: CachePlan | null;
    fallback: 'route' | 'agent' | null;
    /** Whose route and model serve the call, and whose budget pays for it, since the agent's own is used up. All policies stay the agent's. */
    backup: AiAgentConfig | null;
    /** The caller had not asked for the count of tokens at the end of its stream. */
    hidesUsage: boolean | null;
    /** The provider was told what was wrong with its answer, which happens once. */
    corrected: boolean;
    /** What its attempts cost, each counted by itself. */
    charges: Charge[];
    reserved: Reserved | null;
    /** Was charged as reserved, since it goes on in the background. */
    background: boolean;
    /** Where a correction of an earlier call is counted; null: where this call is. */
    countedIn: readonly CounterKey[] | null;
    firstByteMs: number | null;
    /** Of the log: how the call ended, where its HTTP status doesn't say. */
    outcome: 'ok' | 'refused' | 'upstream_error' | 'stream_failed' | 'client_closed' | null;
    /** Why a stream was cut. */
    cause: string | null;

    /** `X-Svc-AI-Warnings`. */
    warnings: string[];
    /** Further header lines of the answer, each with its line end. */
    lines: string;

    /** Firewall, personal data and guardrail, once they have judged the request. */
    controls: CallControls | null;
  };

export const newAiState = (): AiState => ({
  ...newGovernedState(),
  route: null,
  environmentName: '',
  config: null,
  query: null,
  test: null,
  slug: '',
  rest: '',
  userHeader: null,
  conversationId: null,
  sessionId: null,
  tagsHeader: null,
  cacheControl: null,
  anthropicVersion: false,
  agent: null,
  gateway: null,
  detected: null,
  adapter: null,
  body: null,
  multipart: false,
  upload: null,
  model: null,
  stream: false,
  ceiling: null,
  providerKey: null,
  sentModel: null,
  provider: '',
  cache: null,
  cachePlan: null,
  fallback: null,
  backup: null,
  hidesUsage: null,
  corrected: false,
  charges: [],
  reserved: null,
  background: false,
  countedIn: null,
  firstByteMs: null,
  outcome: null,
  cause: null,
  warnings: [],
  lines: '',
  controls: null,
});

/** What the call asks for, once its path was judged. */
export function detectedOf({ state: { detected } }: AiCall): Detected {
  if (detected === null || 'refuse' in detected) throw new Error('a phase ran before the path was judged');
  return detected;
}

/** The model that answered, or else the one that was chosen. */
export const modelOf = ({ sentModel, model }: AiCall['state']): string | null => sentModel ?? model?.final ?? null;
