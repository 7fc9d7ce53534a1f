import { edgeOf } from '#server/api/edge.ts';
import { stepUpDigest } from '#server/api/step-up.ts';
import { personOf } from '#server/auth/person.ts';
import { assertSameOrigin } from '#server/auth/same-origin.ts';
import { batchedSessionLimit } from '#server/auth/session-rate-limit.ts';
import { memberCtx } from '#server/domain/people/service.ts';
import type { Ctx, Space } from '#server/kernel/context.ts';
import { announced } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import type { DashboardContext } from './from-operation.ts';

/** The call of a signed-in person, before anything is known about their right to make it. */
export type DashboardCall = {
  headers: Headers;
  method: string;
  /** X-Tenant-ID: a workspace's id or slug; null leaves the choice to the session (interface rule 22 §3.2). */
  workspace: string | null;
  /** X-Svc-Space; null when the header is missing. */
  space: Space | null;
};

/** Reads workspace and space from the headers of a request. @throws Refusal invalid for another space */
export function callOf(req: Request): DashboardCall {
  const space = req.headers.get('x-svc-space');
  if (space !== null && space !== 'live' && space !== 'test') throw new Refusal('invalid', 'X-Svc-Space: must be live or test');
  return { headers: req.headers, method: req.method, workspace: req.headers.get('x-tenant-id'), space };
}

export type TrackedContext = DashboardContext & { changes: Set<string> };

/** The dashboard context of one request: request id from the front door, the member resolved and authorised when first asked for. */
export function dashboardContext(call: DashboardCall): TrackedContext {
  const edge = edgeOf(call.headers);
  const request_id = edge?.request_id ?? newId();
  const changes = new Set<string>();
  let person: ReturnType<typeof personOf> | undefined; // one answer for all calls of a batch
  const keepPace = batchedSessionLimit();
  return {
    request_id,
    changes,
    changed: (ctx) => {
      for (const change of announced(ctx)) changes.add(change);
    },
    member: async ({ space: needed }): Promise<Ctx> => {
      if (!edge) throw new Refusal('not_authenticated', 'Sign in to continue.');
      person ??= personOf(call.headers);
      const signedIn = await person;
      if (!signedIn) throw new Refusal('not_authenticated', 'Sign in to continue.');
      if (call.method !== 'GET' && call.method !== 'HEAD') assertSameOrigin(call.headers, signedIn.session);
      await keepPace(signedIn, new Date());
      if (needed && call.space === null) throw new Refusal('invalid', 'X-Svc-Space: is required for changes and must be live or test');
      const ctx = await memberCtx({
        person: signedIn,
        workspace: call.workspace,
        space: call.space ?? 'live',
        request_id,
        ip: edge.ip,
        user_agent: edge.user_agent,
      });
      return Object.assign(ctx, {
        step_up_digest: stepUpDigest(call.headers),
        reveal_reason: call.headers.get('x-reveal-reason') ?? undefined,
      });
    },
  };
}
