import { knowBuild } from '#server/domain/agents/service.ts';
import { refuse } from './acting.ts';

type Given = { version: string; sha256: string; os?: string; arch?: string };

/** Adds a build of the on-host agent to the known ones (interface rule 63 §5.2). @returns its seal, to be put beside the program */
export async function knowAgentBuild({ version, sha256, os = 'any', arch = 'any' }: Given) {
  if (!/^[\w.+-]{1,64}$/.test(version)) throw refuse('--version must be one word of at most 64 characters');
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw refuse('--sha256 must be 64 hexadecimal digits');
  for (const [name, value] of Object.entries({ os, arch })) if (!/^\w{1,32}$/.test(value)) throw refuse(`--${name} must be one word`);
  const build = { version, os, arch, sha256 };
  return { ...build, seal: await knowBuild(build) };
}
