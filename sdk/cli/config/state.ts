import fs from 'node:fs';
import { CliError } from '../exit.ts';
import { KIND_NAMES, type KindName } from './document.ts';

/**
 * What apply made, so that `--prune` deletes nothing else. Most resources have no place for such a mark, and a mark that anybody can edit would let them
 * have things deleted; so it is a file of whoever applies, as other tools keep it.
 */
export type State = { host: string; workspace: string; made: { kind: KindName; id: string; name: string }[] };

/** The file, or an empty state for a new one. @throws CliError for a file of another workspace */
export function readState(file: string, owner: { host: string; workspace: string }): State {
  if (!fs.existsSync(file)) return { ...owner, made: [] };
  const state = parsed(file);
  if (state.host !== owner.host || state.workspace !== owner.workspace)
    throw new CliError(`${file} is the state of ${state.workspace} at ${state.host}, not of ${owner.workspace} at ${owner.host}.`);
  return state;
}

function parsed(file: string): State {
  try {
    const state = JSON.parse(fs.readFileSync(file, 'utf8')) as State;
    const isMade = (one: { kind: string; id: unknown; name: unknown }) =>
      KIND_NAMES.includes(one.kind as KindName) && typeof one.id === 'string' && typeof one.name === 'string';
    if (typeof state.host === 'string' && typeof state.workspace === 'string' && state.made.every(isMade)) return state;
  } catch {
    // refused below
  }
  throw new CliError(`${file} is not a state file of service-cli.`);
}

/** Written aside and moved into place: a reader finds the old one or the new one. */
export function writeState(file: string, state: State): void {
  const aside = `${file}.${process.pid}.new`;
  fs.writeFileSync(aside, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  fs.renameSync(aside, file);
}
