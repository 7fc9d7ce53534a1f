import { type PlaneMatch, within } from '../core/hosts.ts';
import { definePlane } from '../core/plane.ts';
import type { Refused } from '../core/refusal.ts';
import { aiRefusalAnswer } from '../governance/envelope.ts';
import { type AiCall, newAiState } from './ai-call.ts';
import { planeLines } from './answer/head.ts';
import { settle } from './money/record.ts';
import { authenticate } from './phases/authenticate.ts';
import { authorize } from './phases/authorize.ts';
import { chooseModel } from './phases/choose-model.ts';
import { clamp } from './phases/clamp.ts';
import { control } from './phases/control.ts';
import { filterTools } from './phases/filter-tools.ts';
import { findAgent } from './phases/find-agent.ts';
import { inspect } from './phases/inspect.ts';
import { judgeStream } from './phases/judge-stream.ts';
import { limit } from './phases/limit.ts';
import { readBody } from './phases/read-body.ts';
import { serve } from './phases/serve.ts';
import { checkOwnership } from './stored-objects.ts';

/** In their normative order (interface rule 51 §5): nothing that costs or leaves happens before every refusal that can be known. */
export const aiPhases = {
  inspect,
  authenticate,
  limit,
  find_agent: findAgent,
  authorize,
  read_body: readBody,
  own_objects: checkOwnership,
  choose_model: chooseModel,
  judge_stream: judgeStream,
  filter_tools: filterTools,
  clamp,
  control,
  serve,
};

export const aiPlaneHooks = {
  name: 'ai',
  matches: (match: PlaneMatch) => (match.plane === 'tenant' || match.plane === 'api') && within('/v1/ai', match.target),
  newState: newAiState,
  refusalAnswer: (call: AiCall, refusal: Refused<string>) => aiRefusalAnswer(call, refusal, planeLines(call)),
  logSubject: ({ target, state: { agent } }: AiCall) => ({
    mode: 'ai',
    route: null,
    environment: agent?.slug ?? '',
    path: pathOf(target),
    query: null,
  }),
  ended: settle,
};

/** Calls of AI agents. */
export const aiPlane = definePlane({ ...aiPlaneHooks, phases: aiPhases });

/** Without the query, in which careless callers put credentials. */
function pathOf(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? target : target.slice(0, mark);
}
