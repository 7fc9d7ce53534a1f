import type { Command } from 'commander';
import type { Shared } from '../shared.ts';
import { addCreateAgent } from './create-agent.ts';
import { addImport } from './import.ts';

/** What takes several operations of the AI gateway to do. */
export function addAiCommands(program: Command, shared: Shared): void {
  const ai = program.command('ai').description('Set up AI agents: a key in, and what an SDK needs out.');
  addCreateAgent(ai, shared);
  addImport(ai, shared);
}
