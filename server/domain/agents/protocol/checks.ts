import { compileRanges } from '#server/kernel/address.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { env } from '#server/platform/env.ts';
import { isKnownBuild } from '../builds.ts';
import { buildRefused, fingerprintMismatch } from '../letters.ts';
import type { AgentCaller } from './caller.ts';
import { noteTamper } from './tampering.ts';

/** @throws Refusal source_not_allowed */
export function assertSource(ctx: Pick<Ctx, 'ip'>, { allowed_cidrs }: Pick<AgentCaller, 'allowed_cidrs'>): void {
  if (allowed_cidrs.length === 0 || (ctx.ip !== null && compileRanges(allowed_cidrs)(ctx.ip))) return;
  throw new Refusal('source_not_allowed', "This address isn't among the addresses the agent may call from.");
}

/** Another machine than the one the agent is bound to is told of and refused. @throws Refusal fingerprint_mismatch */
export async function assertMachine(
  ctx: Ctx,
  agent: AgentCaller,
  reported: { machine_fingerprint: string; version: string; build_sig: string },
): Promise<void> {
  if (agent.fingerprint === null || agent.fingerprint === reported.machine_fingerprint) return;
  await noteTamper(ctx, agent, {
    ...{ kind: 'fingerprint_mismatch', action_taken: 'refused', version: reported.version, build_sig: reported.build_sig },
    letter: { kind: 'agent_fingerprint_mismatch', of: (about) => fingerprintMismatch(about, { ip: ctx.ip, at: ctx.now }) },
  });
  throw new Refusal(
    'fingerprint_mismatch',
    'This secret belongs to another machine. If the host was rebuilt, reset the fingerprint of the agent in the dashboard.',
  );
}

type Reported = { version: string; build_sig: string; os?: string | undefined; arch?: string | undefined };

/** Whether the build is known. One that isn't is told of, and refused where that is demanded. @throws Refusal unverified_build */
export async function assertBuild(ctx: Ctx, agent: AgentCaller, { version, build_sig, os, arch }: Reported): Promise<boolean> {
  if (await isKnownBuild({ version, build_sig, os: os ?? agent.os ?? '', arch: arch ?? agent.arch ?? '' })) return true;
  const strict = agent.require_verified_build || env.SVC_STRICT_BUILD_CHECK;
  await noteTamper(ctx, agent, {
    ...{ kind: 'unknown_build', action_taken: strict ? 'refused' : 'alerted', version, build_sig: build_sig || null },
    ...(strict
      ? { letter: { kind: 'agent_build_refused', of: (about) => buildRefused(about, { version, ip: ctx.ip, at: ctx.now }) } }
      : {}),
  });
  if (strict)
    throw new Refusal(
      'unverified_build',
      "This build of the agent isn't known, and only known ones get a session. Install the agent again from the dashboard.",
    );
  return false;
}
