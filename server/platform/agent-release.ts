import fs from 'node:fs';
import path from 'node:path';
import { digest } from '#server/crypto/tokens.ts';
import { processState } from '#server/kernel/process-state.ts';

// The on-host agent (`sdk/agent`), made into one file by scripts/agent.ts, and the script that installs it.

const FOLDER = 'server/generated/agent';

export type AgentRelease = {
  version: string;
  /** Of the program, lower-case hex. */
  sha256: string;
  program: Buffer;
  /** With the places that are filled in for a deployment: `__API__` and `__PUBLIC_KEY__`. */
  installScript: string;
};

const held = processState('agent-release', (): { release?: AgentRelease | undefined } => ({}));

/** Reads it once a process: what is served until the next start. */
export function agentRelease(): AgentRelease {
  held.release ??= readRelease();
  return held.release;
}

function readRelease(): AgentRelease {
  const program = fs.readFileSync(path.join(FOLDER, 'agent.mjs'));
  const [, version] = /^const VERSION = '([\w.-]{1,64})';$/m.exec(program.toString()) ?? [];
  if (version === undefined) throw new Error('the agent names no version');
  return {
    version,
    sha256: digest(program).toString('hex'),
    program,
    installScript: fs.readFileSync(path.join(FOLDER, 'install.sh'), 'utf8'),
  };
}
