import { type Build, isSealOf, signBuild } from '#server/crypto/agent-keys.ts';
import { sql } from '#server/platform/sql.ts';
import { controlPlaneKey } from './control-key.ts';

const NAME = 'agent_builds';
/** Only the newest are kept: an agent that is older than so many releases counts as unknown. */
const MOST = 200;

/** The builds of the agent that this deployment knows, the newest first. */
export async function knownBuilds(): Promise<Build[]> {
  const { rows } = await sql().query<{ value: { builds?: Build[] } }>('select value from deployment_values where name = $1', [NAME]);
  return rows[0]?.value.builds ?? [];
}

export const newestBuild = async (): Promise<string | null> => (await knownBuilds())[0]?.version ?? null;

/**
 * Adds a build to the known ones, for the release pipeline (an operator's command) and for the file that this deployment serves itself. Idempotent.
 * @returns its seal, which the agent shows with each session
 */
export async function knowBuild(build: Build): Promise<string> {
  const mine = JSON.stringify([build]);
  await sql().query(
    `insert into deployment_values (name, value) values ($1, jsonb_build_object('builds', $2::jsonb))
     on conflict (name) do update set updated_at = now(), value = jsonb_build_object('builds', (select jsonb_agg(b order by n) from (
       select b, n from jsonb_array_elements($2::jsonb || (deployment_values.value -> 'builds')) with ordinality as e(b, n) order by n limit ${MOST}) kept))
     where not deployment_values.value -> 'builds' @> $2::jsonb`,
    [NAME, mine],
  );
  return signBuild((await controlPlaneKey()).private, build);
}

/** Whether a seal is of a build that is known, on this system. */
export async function isKnownBuild({
  version,
  os,
  arch,
  build_sig,
}: {
  version: string;
  os: string;
  arch: string;
  build_sig: string;
}): Promise<boolean> {
  const { pem } = await controlPlaneKey();
  const fits = (build: Build) => build.version === version && [os, 'any'].includes(build.os) && [arch, 'any'].includes(build.arch);
  return (await knownBuilds()).some((build) => fits(build) && isSealOf(pem, build, build_sig));
}
